// Two-dimensional convolutions (cross-correlations) and both of their gradients.
#pragma once

#include "plugins/dnn_interface.h"
#include "tensor/dtype.h"

namespace graphwright::kernels {

// Images and filters are laid out as GwConv2d says: filters are [height, width, in / groups, out],
// images [batch, height, width, channels] or [batch, channels, height, width]. float32 goes to
// oneDNN where it can be loaded and the work is worth it; otherwise sums run over the kernel's
// rows, columns and channels in this order, those of 16-bit floats in float; integers wrap. False
// for dtypes that are not numbers.
bool conv2d_forward(DType dtype, const GwConv2d& shape, const void* input, const void* filter,
                    void* output);
bool conv2d_backward_input(DType dtype, const GwConv2d& shape, const void* filter,
                           const void* output_gradient, void* input_gradient);
bool conv2d_backward_filter(DType dtype, const GwConv2d& shape, const void* input,
                            const void* output_gradient, void* filter_gradient);

}  // namespace graphwright::kernels
