// Softmax and its logarithm along the last dimension.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace graphwright::kernels {

// Each row of `columns` elements: exp(x - max) / sum(exp(x - max)), or x - max - log(sum(...)).
// half and bfloat16 compute in float32. The exponential is the formula's, the sum's order that of
// reductions, so that bits do not depend on the vector width. Floating dtypes only; columns > 0.
void softmax(DType dtype, const void* input, int64_t rows, int64_t columns, bool logarithm,
             void* output);

}  // namespace graphwright::kernels
