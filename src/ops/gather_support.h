// Gathering slices, shared by GatherV2 and by gathers from variables.
#pragma once

#include <span>
#include <string>

#include "tensor/tensor.h"

namespace graphwright {

// "[1,2]", the position of a flat index in a tensor of these dims; "" for a scalar.
std::string index_position(int64_t flat, std::span<const int64_t> dims);

// output[batch, outer, i, inner] = params[batch, outer, indices[batch, i], inner], where batch
// stands for the first batch_dims dimensions and the indexed one is `axis`. The output has its
// final shape. InvalidArgument for an index out of bounds.
void gather_along(const Tensor& params, const Tensor& indices, int axis, int batch_dims,
                  Tensor& output);

}  // namespace graphwright
