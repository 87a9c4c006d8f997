// Memory for tensors. Blocks are 64-byte aligned; small ones come from per-thread caches by size
// class, so that an allocation is a few instructions; a block may be freed on any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace graphwright {

// A reference-counted block. The header takes one cache line in front of the data.
struct alignas(64) Buffer {
  std::atomic<int32_t> references;
  int32_t size_class;  // -1: straight from the system; -2: foreign memory
  size_t bytes;        // usable bytes
  // Called before the memory is given back: destroys object elements, or releases foreign memory.
  void (*destroy)(Buffer*);
  int64_t element_count;  // of object elements
  void* foreign_data;     // data when size_class is -2
  void* foreign_owner;
  void* data() { return size_class == -2 ? foreign_data : this + 1; }
};

// Throws Error(kResourceExhausted) where the limit or the system refuses; never returns null.
// Contents are uninitialised. References start at 1.
Buffer* allocate_buffer(size_t bytes);
// Wraps memory that somebody else owns; `destroy` is called with the buffer when the last reference
// goes.
Buffer* wrap_foreign_memory(void* data, size_t bytes, void* owner, void (*destroy)(Buffer*));
void release_buffer(Buffer* buffer);  // drops one reference
inline void retain_buffer(Buffer* buffer) {
  buffer->references.fetch_add(1, std::memory_order_relaxed);
}

// Fixed 128-byte objects (TensorImpl).
void* allocate_object();
void free_object(void* object);

struct MemoryStatistics {
  int64_t bytes_in_use;      // taken from the system, caches included
  int64_t peak_bytes;        // largest bytes_in_use since the last reset
  int64_t allocation_count;  // blocks and objects handed out since the start: tests count with it
};
MemoryStatistics memory_statistics();
void reset_peak_memory();
// Bytes that may be taken from the system; 0 = no limit. GRAPHWRIGHT_MEMORY_LIMIT sets it at start.
void set_memory_limit(int64_t bytes);
// Gives this thread's and the shared cached blocks back to the system.
void trim_memory();

}  // namespace graphwright
