// Counts what a test takes from the heap: operator new beside the allocator of tensors.
#pragma once

#include <cstdint>

namespace graphwright::testing {

// Calls of operator new on this thread so far. Always 0 where a sanitizer has an operator new of
// its own.
int64_t new_count();
// new_count() and the blocks and objects that the allocator of tensors has handed out.
int64_t allocation_count();

}  // namespace graphwright::testing
