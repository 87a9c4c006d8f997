#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/status.h"
#include "kernels/library_loader.h"

namespace graphwright {
namespace {

TEST_CASE("a library that is missing is named with the folders searched") {
  try {
    open_library("libgraphwright_none.so", "nothing at all");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.detail().code == Code::kUnavailable);
    std::string text = error.what();
    CHECK(text.find("libgraphwright_none.so, needed for nothing at all") != std::string::npos);
    CHECK(text.find("was not found in /") != std::string::npos);
  }
}

#ifdef GW_HAS_PLUGINS

TEST_CASE("oneDNN multiplies matrices, transposed, batched and shared") {
  const GwDnnInterface& dnn = dnn_library();
  CHECK(std::string(dnn.description()).substr(0, 7) == "oneDNN ");
  const float a[] = {1, 2, 3, 4, 5, 6};                    // 2x3, or 3x2 transposed
  const float b[] = {1, 0, 2, 1, 0, 1, 1, 1, 1, 3, 0, 2};  // two of 3x2
  float c[8];
  GwMatmul shape = {2, 2, 2, 3, 0, 6, 0, 0};
  REQUIRE(dnn.matmul_f32(&shape, a, b, c) == 0);
  CHECK(std::vector<float>(c, c + 8) == std::vector<float>{5, 5, 14, 11, 3, 13, 9, 31});
  GwMatmul transposed = {1, 2, 2, 3, 6, 6, 1, 0};
  REQUIRE(dnn.matmul_f32(&transposed, a, b, c) == 0);
  CHECK(std::vector<float>(c, c + 4) == std::vector<float>{7, 8, 10, 10});
}

// A convolution by its definition, channels last.
std::vector<float> convolve(const GwConv2d& s, const std::vector<float>& input,
                            const std::vector<float>& filter) {
  std::vector<float> output(s.batch * s.out_height * s.out_width * s.out_channels);
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t y = 0; y < s.out_height; ++y) {
      for (int64_t x = 0; x < s.out_width; ++x) {
        for (int64_t o = 0; o < s.out_channels; ++o) {
          float sum = 0;
          for (int64_t i = 0; i < s.kernel_height; ++i) {
            for (int64_t j = 0; j < s.kernel_width; ++j) {
              int64_t row = y * s.stride_height - s.pad_top + i * s.dilation_height;
              int64_t column = x * s.stride_width - s.pad_left + j * s.dilation_width;
              if (row < 0 || row >= s.in_height || column < 0 || column >= s.in_width) continue;
              for (int64_t c = 0; c < s.in_channels; ++c) {
                sum += input[((n * s.in_height + row) * s.in_width + column) * s.in_channels + c] *
                       filter[((i * s.kernel_width + j) * s.in_channels + c) * s.out_channels + o];
              }
            }
          }
          output[((n * s.out_height + y) * s.out_width + x) * s.out_channels + o] = sum;
        }
      }
    }
  }
  return output;
}

std::vector<float> small_integers(int64_t count, int multiplier) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * multiplier % 7 - 3);
  return values;
}

double inner(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * b[i];
  return sum;
}

TEST_CASE("oneDNN convolves with stride, dilation and uneven padding, and both gradients agree") {
  const GwDnnInterface& dnn = dnn_library();
  for (int64_t channels : {1, 3}) {
    CAPTURE(channels);
    // Height: (7 + 1 + 2 - (2 * (3 - 1) + 1)) / 2 + 1; width: (6 + 0 + 1 - 2) / 1 + 1.
    GwConv2d s = {2, 1, channels, 7, 6, 4, 3, 6, 3, 2, 2, 1, 2, 1, 1, 2, 0, 1, 1, 0};
    auto input = small_integers(s.batch * s.in_height * s.in_width * s.in_channels, 5);
    auto filter = small_integers(s.kernel_height * s.kernel_width * s.in_channels * 4, 3);
    auto expected = convolve(s, input, filter);
    std::vector<float> output(expected.size());
    REQUIRE(dnn.conv2d_forward_f32(&s, input.data(), filter.data(), output.data()) == 0);
    CHECK(output == expected);

    // Convolution is linear in either operand, so each gradient is its adjoint.
    auto gradient = small_integers(static_cast<int64_t>(output.size()), 11);
    std::vector<float> input_gradient(input.size()), filter_gradient(filter.size());
    REQUIRE(dnn.conv2d_backward_input_f32(&s, filter.data(), gradient.data(),
                                          input_gradient.data()) == 0);
    REQUIRE(dnn.conv2d_backward_filter_f32(&s, input.data(), gradient.data(),
                                           filter_gradient.data()) == 0);
    CHECK(inner(input, input_gradient) == doctest::Approx(inner(expected, gradient)));
    CHECK(inner(filter, filter_gradient) == doctest::Approx(inner(expected, gradient)));
  }
}

TEST_CASE("oneDNN reports a shape that it cannot take") {
  GwConv2d wrong = {1, 1, 1, 2, 2, 1, 9, 9, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0};
  float data[81] = {};
  CHECK(dnn_library().conv2d_forward_f32(&wrong, data, data, data) != 0);
  CHECK(std::string(dnn_library().last_error()) != "");
}

TEST_CASE("OpenBLAS multiplies matrices of both precisions") {
  const GwLapackInterface& lapack = lapack_library();
  CHECK(std::string(lapack.description()).find("OpenBLAS") != std::string::npos);
  const double a[] = {1, 2, 3, 4, 5, 6};
  const double b[] = {1, 0, 2, 1, 0, 1};
  double c[] = {1, 1, 1, 1};
  lapack.dgemm(0, 0, 2, 2, 3, 1.0, a, 3, b, 2, 2.0, c, 2);
  CHECK(std::vector<double>(c, c + 4) == std::vector<double>{7, 7, 16, 13});
  const float a32[] = {1, 2, 3, 4, 5, 6};
  const float b32[] = {1, 2, 0, 0, 1, 1};
  float c32[4];
  lapack.sgemm(0, 1, 2, 2, 3, 1.0f, a32, 3, b32, 3, 0.0f, c32, 2);
  CHECK(std::vector<float>(c32, c32 + 4) == std::vector<float>{5, 5, 14, 11});
}

#endif  // GW_HAS_PLUGINS

}  // namespace
}  // namespace graphwright
