// Kernels that pick slices by index, and add up elements.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace graphwright::kernels {

// output[batch, outer, i, inner] = params[batch, outer, indices[batch, i], inner]; indices of
// int16, int32 or int64. Returns -1, or the flat position of an index out of bounds.
int64_t gather(const Tensor& params, const Tensor& indices, int axis, int batch_dims,
               Tensor& output);

// target[target_offset + i] += source[source_offset + i]; integers wrap. False for dtypes that are
// not numbers.
bool add_elements(DType dtype, const void* source, int64_t source_offset, void* target,
                  int64_t target_offset, int64_t count);

}  // namespace graphwright::kernels
