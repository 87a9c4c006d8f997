// Gathering slices, shared by GatherV2 and by gathers from variables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/kernel_context.h"
#include "ir/rule_context.h"
#include "kernels/combine.h"
#include "tensor/tensor.h"

namespace graphwright {

// "[1,2]", the position of a flat index in a tensor of these dims; "" for a scalar.
std::string index_position(int64_t flat, std::span<const int64_t> dims);

// output[batch, outer, i, inner] = params[batch, outer, indices[batch, i], inner], where batch
// stands for the first batch_dims dimensions and the indexed one is `axis`. The output has its
// final shape. InvalidArgument for an index out of bounds.
void gather_along(const Tensor& params, const Tensor& indices, int axis, int batch_dims,
                  Tensor& output);

// indices.shape[:-1] + params.shape[indices.shape[-1]:], as far as it is known.
PartialShape gathered_nd_shape(ShapeContext& context, const PartialShape& params,
                               const PartialShape& indices);
// The kernel of GatherNd: output 0 from slices of `params`. InvalidArgument for an index out of
// bounds.
void gather_nd_slices(KernelContext& context, const Tensor& params, const Tensor& indices);

// Indices and updates must fit a tensor of shape `shape`, as far as shapes are known.
void check_scatter_nd(ShapeContext& context, const PartialShape& indices,
                      const PartialShape& updates, const PartialShape& shape);
// Where in a tensor of these dims the slice that each row of `indices` names starts, in slices.
// InvalidArgument for an index out of bounds, and for updates of the wrong shape.
std::vector<int64_t> scatter_nd_offsets(const Tensor& indices, const Tensor& updates,
                                        std::span<const int64_t> dims);
// Writes the slices of `updates`, one per offset, over those of `target`, which nobody else holds.
kernels::CombineResult scatter_nd_slices(std::span<const int64_t> offsets, const Tensor& updates,
                                         Tensor& target, kernels::Combination combination);

}  // namespace graphwright
