#include "kernels/conv2d.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/library_loader.h"
#include "kernels/number.h"

namespace graphwright::kernels {
namespace {

constexpr int64_t kLibraryWork = 64 * 1024;  // multiplications below which a call is not worth it

int64_t work_of(const GwConv2d& s) {
  return s.batch * s.out_height * s.out_width * s.out_channels * s.kernel_height * s.kernel_width *
         (s.in_channels / s.groups);
}
const GwDnnInterface* library_for(DType dtype, const GwConv2d& shape) {
  static const GwDnnInterface* const library = []() -> const GwDnnInterface* {
    try {
      return &dnn_library();
    } catch (const Error&) {
      return nullptr;
    }
  }();
  return dtype == DType::kFloat && work_of(shape) >= kLibraryWork ? library : nullptr;
}

// Where element [n, y, x, c] of an image lies.
struct ImageStrides {
  int64_t batch, row, column, channel;
  ImageStrides(int64_t height, int64_t width, int64_t channels, bool channels_last) {
    batch = height * width * channels;
    row = channels_last ? width * channels : width;
    column = channels_last ? channels : 1;
    channel = channels_last ? 1 : height * width;
  }
  int64_t at(int64_t n, int64_t y, int64_t x) const { return n * batch + y * row + x * column; }
};
ImageStrides input_strides(const GwConv2d& s) {
  return {s.in_height, s.in_width, s.in_channels, s.channels_last != 0};
}
ImageStrides output_strides(const GwConv2d& s) {
  return {s.out_height, s.out_width, s.out_channels, s.channels_last != 0};
}

template <class A>
A product_sum(A sum, A a, A b) {
  return wrapping_add(sum, wrapping_multiply(a, b));
}

template <class T>
void forward(const GwConv2d& s, const T* input, const T* filter, T* output) {
  using A = Accumulator<T>;
  ImageStrides in = input_strides(s), out = output_strides(s);
  int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
  int64_t per_row = s.out_width * s.out_channels * s.kernel_height * s.kernel_width * in_group;
  parallel_for(
      s.batch * s.out_height, std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, per_row)),
      [&](int64_t begin, int64_t end) {
        std::vector<A> sums(static_cast<size_t>(s.out_channels));
        for (int64_t row = begin; row < end; ++row) {
          int64_t n = row / s.out_height, y = row % s.out_height;
          for (int64_t x = 0; x < s.out_width; ++x) {
            std::fill(sums.begin(), sums.end(), A(0));
            for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
              int64_t iy = y * s.stride_height - s.pad_top + ky * s.dilation_height;
              if (iy < 0 || iy >= s.in_height) continue;
              for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
                int64_t ix = x * s.stride_width - s.pad_left + kx * s.dilation_width;
                if (ix < 0 || ix >= s.in_width) continue;
                const T* pixel = input + in.at(n, iy, ix);
                const T* weights = filter + (ky * s.kernel_width + kx) * in_group * s.out_channels;
                for (int64_t g = 0; g < s.groups; ++g) {
                  for (int64_t c = 0; c < in_group; ++c) {
                    A value = static_cast<A>(pixel[(g * in_group + c) * in.channel]);
                    const T* weight = weights + c * s.out_channels + g * out_group;
                    A* sum = sums.data() + g * out_group;
                    for (int64_t o = 0; o < out_group; ++o) {
                      sum[o] = product_sum(sum[o], value, static_cast<A>(weight[o]));
                    }
                  }
                }
              }
            }
            T* target = output + out.at(n, y, x);
            for (int64_t o = 0; o < s.out_channels; ++o) {
              target[o * out.channel] = static_cast<T>(sums[static_cast<size_t>(o)]);
            }
          }
        }
      });
}

template <class T>
void backward_input(const GwConv2d& s, const T* filter, const T* gradient, T* result) {
  using A = Accumulator<T>;
  ImageStrides in = input_strides(s), out = output_strides(s);
  int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
  int64_t per_row = s.in_width * s.out_channels * s.kernel_height * s.kernel_width * in_group;
  parallel_for(
      s.batch * s.in_height, std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, per_row)),
      [&](int64_t begin, int64_t end) {
        std::vector<A> sums(static_cast<size_t>(s.in_channels));
        for (int64_t row = begin; row < end; ++row) {
          int64_t n = row / s.in_height, y = row % s.in_height;
          for (int64_t x = 0; x < s.in_width; ++x) {
            std::fill(sums.begin(), sums.end(), A(0));
            for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
              int64_t oy = y + s.pad_top - ky * s.dilation_height;
              if (oy < 0 || oy % s.stride_height != 0) continue;
              oy /= s.stride_height;
              if (oy >= s.out_height) continue;
              for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
                int64_t ox = x + s.pad_left - kx * s.dilation_width;
                if (ox < 0 || ox % s.stride_width != 0) continue;
                ox /= s.stride_width;
                if (ox >= s.out_width) continue;
                const T* pixel = gradient + out.at(n, oy, ox);
                const T* weights = filter + (ky * s.kernel_width + kx) * in_group * s.out_channels;
                for (int64_t g = 0; g < s.groups; ++g) {
                  for (int64_t c = 0; c < in_group; ++c) {
                    const T* weight = weights + c * s.out_channels + g * out_group;
                    A sum = sums[static_cast<size_t>(g * in_group + c)];
                    for (int64_t o = 0; o < out_group; ++o) {
                      sum =
                          product_sum(sum, static_cast<A>(pixel[(g * out_group + o) * out.channel]),
                                      static_cast<A>(weight[o]));
                    }
                    sums[static_cast<size_t>(g * in_group + c)] = sum;
                  }
                }
              }
            }
            T* target = result + in.at(n, y, x);
            for (int64_t c = 0; c < s.in_channels; ++c) {
              target[c * in.channel] = static_cast<T>(sums[static_cast<size_t>(c)]);
            }
          }
        }
      });
}

template <class T>
void backward_filter(const GwConv2d& s, const T* input, const T* gradient, T* result) {
  using A = Accumulator<T>;
  ImageStrides in = input_strides(s), out = output_strides(s);
  int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
  // One row of the filter's last dimension at a time: nobody else writes it.
  int64_t rows = s.kernel_height * s.kernel_width * in_group;
  parallel_for(rows, 1, [&](int64_t begin, int64_t end) {
    std::vector<A> sums(static_cast<size_t>(s.out_channels));
    for (int64_t row = begin; row < end; ++row) {
      int64_t c = row % in_group;
      int64_t kx = row / in_group % s.kernel_width, ky = row / in_group / s.kernel_width;
      std::fill(sums.begin(), sums.end(), A(0));
      for (int64_t n = 0; n < s.batch; ++n) {
        for (int64_t y = 0; y < s.out_height; ++y) {
          int64_t iy = y * s.stride_height - s.pad_top + ky * s.dilation_height;
          if (iy < 0 || iy >= s.in_height) continue;
          for (int64_t x = 0; x < s.out_width; ++x) {
            int64_t ix = x * s.stride_width - s.pad_left + kx * s.dilation_width;
            if (ix < 0 || ix >= s.in_width) continue;
            const T* pixel = input + in.at(n, iy, ix);
            const T* slope = gradient + out.at(n, y, x);
            for (int64_t g = 0; g < s.groups; ++g) {
              A value = static_cast<A>(pixel[(g * in_group + c) * in.channel]);
              A* sum = sums.data() + g * out_group;
              for (int64_t o = 0; o < out_group; ++o) {
                sum[o] = product_sum(sum[o], value,
                                     static_cast<A>(slope[(g * out_group + o) * out.channel]));
              }
            }
          }
        }
      }
      T* target = result + row * s.out_channels;
      for (int64_t o = 0; o < s.out_channels; ++o) {
        target[o] = static_cast<T>(sums[static_cast<size_t>(o)]);
      }
    }
  });
}

}  // namespace

bool conv2d_forward(DType dtype, const GwConv2d& shape, const void* input, const void* filter,
                    void* output) {
  if (const GwDnnInterface* library = library_for(dtype, shape)) {
    if (library->conv2d_forward_f32(&shape, static_cast<const float*>(input),
                                    static_cast<const float*>(filter),
                                    static_cast<float*>(output)) == 0) {
      return true;
    }
  }
  return visit_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    forward(shape, static_cast<const T*>(input), static_cast<const T*>(filter),
            static_cast<T*>(output));
  });
}

bool conv2d_backward_input(DType dtype, const GwConv2d& shape, const void* filter,
                           const void* output_gradient, void* input_gradient) {
  if (const GwDnnInterface* library = library_for(dtype, shape)) {
    if (library->conv2d_backward_input_f32(&shape, static_cast<const float*>(filter),
                                           static_cast<const float*>(output_gradient),
                                           static_cast<float*>(input_gradient)) == 0) {
      return true;
    }
  }
  return visit_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    backward_input(shape, static_cast<const T*>(filter), static_cast<const T*>(output_gradient),
                   static_cast<T*>(input_gradient));
  });
}

bool conv2d_backward_filter(DType dtype, const GwConv2d& shape, const void* input,
                            const void* output_gradient, void* filter_gradient) {
  if (const GwDnnInterface* library = library_for(dtype, shape)) {
    if (library->conv2d_backward_filter_f32(&shape, static_cast<const float*>(input),
                                            static_cast<const float*>(output_gradient),
                                            static_cast<float*>(filter_gradient)) == 0) {
      return true;
    }
  }
  return visit_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    backward_filter(shape, static_cast<const T*>(input), static_cast<const T*>(output_gradient),
                    static_cast<T*>(filter_gradient));
  });
}

}  // namespace graphwright::kernels
