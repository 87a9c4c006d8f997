#include "kernels/library_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "base/status.h"

namespace graphwright {
namespace {

// The folder of the shared object or program that this function was linked into.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&open_library), &info) == 0 || info.dli_fname == nullptr) {
    return ".";
  }
  char* resolved = realpath(info.dli_fname, nullptr);
  std::string path = resolved ? resolved : info.dli_fname;
  std::free(resolved);
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

template <class Interface>
const Interface* load(const std::string& file_name, const std::string& purpose,
                      const char* entry_point, int32_t version) {
  void* library = open_library(file_name, purpose);
  auto entry = reinterpret_cast<const Interface* (*)()>(dlsym(library, entry_point));
  const Interface* functions = entry ? entry() : nullptr;
  if (functions == nullptr || functions->interface_version != version) {
    throw Error(Code::kUnavailable, file_name + ", needed for " + purpose +
                                        ", is not the one that belongs to this build of "
                                        "graphwright; please reinstall the package");
  }
  return functions;
}

}  // namespace

void* open_library(const std::string& file_name, const std::string& purpose) {
  // Beside an extension module, beside a C++ library, in the same folder, beside a program.
  static constexpr const char* kFolders[] = {"/lib/", "/graphwright/", "/", "/../lib/"};
  const std::string folder = own_folder();
  std::string reasons;
  for (const char* relative : kFolders) {
    std::string path = folder + relative + file_name;
    if (access(path.c_str(), F_OK) != 0) continue;
    // Symbols stay local, so that another copy of these libraries in the process is not disturbed.
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* reason = dlerror();
    reasons += std::string("; ") + (reason ? reason : path.c_str());
  }
  if (reasons.empty()) {
    reasons =
        ", was not found in " + folder + " or the folders lib, graphwright and ../lib beside it";
  } else {
    reasons = ", could not be loaded" + reasons;
  }
  throw Error(Code::kUnavailable, file_name + ", needed for " + purpose + reasons);
}

const GwDnnInterface& dnn_library() {
  static const GwDnnInterface* const functions =
      load<GwDnnInterface>("libgraphwright_dnn.so", "matrix products and convolutions",
                           kGwDnnEntryPoint, kGwDnnInterfaceVersion);
  return *functions;
}

const GwLapackInterface& lapack_library() {
  static const GwLapackInterface* const functions = [] {
    // OpenBLAS starts threads of its own while it is loaded unless this says otherwise. The
    // variable is taken back at once: NumPy in a child process must not inherit it.
    const bool set_here = getenv("OPENBLAS_NUM_THREADS") == nullptr;
    if (set_here) setenv("OPENBLAS_NUM_THREADS", "1", 1);
    struct Restore {
      bool active;
      ~Restore() {
        if (active) unsetenv("OPENBLAS_NUM_THREADS");
      }
    } restore{set_here};
    return load<GwLapackInterface>("libgraphwright_lapack.so", "linear algebra",
                                   kGwLapackEntryPoint, kGwLapackInterfaceVersion);
  }();
  return *functions;
}

}  // namespace graphwright
