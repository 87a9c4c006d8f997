// What a write does to the elements that are there already: replaces them, adds to them, ...
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace graphwright::kernels {

enum class Combination { kReplace, kAdd, kSubtract, kMultiply, kDivide, kMinimum, kMaximum };

// target[target_offset + i] = target[...] op source[source_offset + i]. Integers wrap, and their
// quotients are truncated. kFailed where an integer is divided by zero (elements before it are
// written); kUnsupported, with nothing written, for dtypes that the operation lacks: all but
// kReplace are for numbers, kMinimum and kMaximum for real ones.
enum class CombineResult { kDone, kUnsupported, kFailed };
CombineResult combine_elements(DType dtype, Combination combination, const void* source,
                               int64_t source_offset, void* target, int64_t target_offset,
                               int64_t count);

}  // namespace graphwright::kernels
