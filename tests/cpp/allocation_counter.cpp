#include "allocation_counter.h"

#include <cstdlib>
#include <new>

#include "tensor/allocator.h"

namespace {
thread_local int64_t calls = 0;
}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(size_t bytes) {
  ++calls;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace graphwright::testing {

int64_t new_count() { return calls; }
int64_t allocation_count() { return calls + memory_statistics().allocation_count; }

}  // namespace graphwright::testing
