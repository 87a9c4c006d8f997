// Between the public interface and the core: handles, call sites, errors.
//
// Names: this layer lives in graphwright::api, whose Tensor, DType, Shape and Error are the public
// ones; the core's are written core::Tensor and so on.
#pragma once

#include <new>
#include <utility>

#include <graphwright/error.h>
#include <graphwright/handle.h>
#include <graphwright/tensor.h>

#include "base/status.h"
#include "ir/operand.h"

namespace graphwright::api {
namespace core = ::graphwright;
inline namespace v1 {
namespace detail {

// A handle is the reference of an eager tensor, or a tagged pointer to a SymbolicHandle, which
// keeps the value's graph alive.
core::Operand operand_of(Handle* handle);  // InvalidArgument for a null handle
Handle* handle_of(core::Operand operand);  // a reference for the caller
// The eager tensor. InvalidArgument, saying what needed it, for a symbolic one.
core::Tensor eager_tensor(Handle* handle, const char* use);
// InvalidArgument unless the handle refers to a variable or, for lists, is of variant dtype.
core::DType core_dtype(DType dtype);
core::PartialShape core_shape(const RawShape& shape);

// The place in the program that nodes made meanwhile get, and errors name.
class SiteScope {
 public:
  explicit SiteScope(const Site& site);
  ~SiteScope();
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;

 private:
  const Site* previous_;
};

[[noreturn]] void throw_public(const core::Error& error);
[[noreturn]] void throw_out_of_memory();

// Runs a function of the core's for a call from outside: its errors become public ones. Exceptions
// of the program's own pass.
template <class Function>
auto guarded(const Site& site, Function&& function) {
  SiteScope scope(site);
  try {
    return std::forward<Function>(function)();
  } catch (const core::Error& error) {
    throw_public(error);
  } catch (const std::bad_alloc&) {
    throw_out_of_memory();
  }
}
template <class Function>
auto guarded(Function&& function) {
  return guarded(Site(), std::forward<Function>(function));
}

// Handles that are released if they are not taken: results of bodies that may throw.
class HandleArray {
 public:
  explicit HandleArray(size_t count) : handles_(count, nullptr) {}
  ~HandleArray() {
    for (Handle* handle : handles_) {
      if (handle) release(handle);
    }
  }
  HandleArray(const HandleArray&) = delete;
  HandleArray& operator=(const HandleArray&) = delete;
  Handle** data() { return handles_.data(); }
  size_t size() const { return handles_.size(); }
  Handle*& operator[](size_t index) { return handles_[index]; }

 private:
  std::vector<Handle*> handles_;
};

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
