// The C interface of libgraphwright_dnn.so, which wraps oneDNN. It is a separate shared object
// because oneDNN is fifteen times the size of the core: programs without products and convolutions
// never load it. Plain C types only, so that no C++ symbol or exception crosses the boundary.
//
// All functions return 0, or a nonzero code whose text `last_error` gives for the calling thread.
// They may be called from any thread; matrices and images are dense, row-major float32.
#pragma once

#include <cstdint>

extern "C" {

// c[batch, m, n] = op(a)[batch, m, k] * op(b)[batch, k, n]; op transposes the last two axes. A
// batch stride is in elements from one matrix to the next, 0 where all products share the operand.
struct GwMatmul {
  int64_t batch, m, n, k;
  int64_t batch_stride_a, batch_stride_b;
  int32_t transpose_a, transpose_b;
};

// A two-dimensional convolution (cross-correlation, as in TensorFlow's Conv2D). The filter is
// stored as [kernel_height, kernel_width, in_channels / groups, out_channels]; images as [batch,
// height, width, channels] when channels_last is nonzero and [batch, channels, height, width]
// otherwise. Dilation 1 is a dense kernel. Paddings are counts of zero rows and columns and may be
// 0 only, or positive.
struct GwConv2d {
  int64_t batch, groups;
  int64_t in_channels, in_height, in_width;
  int64_t out_channels, out_height, out_width;
  int64_t kernel_height, kernel_width;
  int64_t stride_height, stride_width;
  int64_t dilation_height, dilation_width;
  int64_t pad_top, pad_bottom, pad_left, pad_right;
  int32_t channels_last;
  int32_t reserved;
};

struct GwDnnInterface {
  int32_t interface_version;
  const char* (*description)();  // name and version of the library behind it
  const char* (*last_error)();
  int (*matmul_f32)(const GwMatmul* shape, const float* a, const float* b, float* c);
  int (*conv2d_forward_f32)(const GwConv2d* shape, const float* input, const float* filter,
                            float* output);
  int (*conv2d_backward_input_f32)(const GwConv2d* shape, const float* filter,
                                   const float* output_gradient, float* input_gradient);
  int (*conv2d_backward_filter_f32)(const GwConv2d* shape, const float* input,
                                    const float* output_gradient, float* filter_gradient);
};

// The one symbol that the shared object exports.
typedef const GwDnnInterface* (*GwDnnEntryPoint)();
}

constexpr int32_t kGwDnnInterfaceVersion = 1;
constexpr const char* kGwDnnEntryPoint = "gw_dnn_interface";
