// Conversion of elements from one dtype to another.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace graphwright {

// Whether there is a conversion: between all dtypes with numbers or bools.
bool can_cast(DType from, DType to);

// Converts `count` contiguous elements; the ranges must not overlap. can_cast(from, to) must hold.
// Floating to integer rounds towards zero. What does not fit, NaN included, gives the most negative
// number of int32 and int64, 2^31 of uint32 and 2^63 of uint64; except that negative numbers wrap
// in unsigned types as long as they fit the signed one. To integers of 8 and 16 bits it goes by way
// of int32, and wraps, as integers to smaller ones do. To bool: whether it is not zero. Of complex
// numbers to other types the real part is taken. Rounding is to nearest, ties to even; narrow
// floating types are reached by way of float32.
void cast_elements(DType from, const void* source, DType to, void* target, int64_t count);

}  // namespace graphwright
