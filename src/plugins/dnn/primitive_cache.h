// Prepared oneDNN primitives, kept per thread: preparing one takes longer than a small product.
#pragma once

#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include <dnnl.hpp>

namespace graphwright::dnn {

const dnnl::engine& cpu_engine();
dnnl::stream& thread_stream();

// A primitive and the layouts it wants; where one differs from the caller's, execution converts.
struct Prepared {
  dnnl::primitive primitive;
  // Argument number (DNNL_ARG_SRC, ...), the caller's layout, the primitive's.
  struct Argument {
    int number;
    dnnl::memory::desc given;
    dnnl::memory::desc wanted;
  };
  Argument inputs[2];
  Argument output;
};

// Runs it on the caller's arrays, in the order of `inputs`.
void execute(const Prepared& prepared, const void* first, const void* second, void* output);

// Finds what `make()` made earlier in this thread for the same kind and shape. The cache is emptied
// when it is full, which bounds memory in programs whose shapes never repeat.
template <class Shape, class Make>
const Prepared& find_or_make(char kind, const Shape& shape, Make make) {
  constexpr size_t kCapacity = 256;
  thread_local std::unordered_map<std::string, Prepared> cache;
  std::string key(1 + sizeof(Shape), kind);
  std::memcpy(key.data() + 1, &shape, sizeof(Shape));
  auto found = cache.find(key);
  if (found == cache.end()) {
    if (cache.size() >= kCapacity) cache.clear();
    found = cache.emplace(std::move(key), make()).first;
  }
  return found->second;
}

}  // namespace graphwright::dnn
