// The limit of memory (tensor/allocator.h), for what other allocators are asked for.
#pragma once

#include <cstddef>

namespace graphwright {

// Throws Error(kResourceExhausted) where that many bytes more would pass the limit.
void check_memory(size_t bytes);

}  // namespace graphwright
