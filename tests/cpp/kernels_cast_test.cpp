// Casts; the numbers were recorded from TensorFlow 2.21.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/cast.h"
#include "tensor/small_float.h"

namespace graphwright {
namespace {

template <class To, class From>
std::vector<To> cast(DType from, DType to, std::vector<From> values) {
  std::vector<To> result(values.size());
  cast_elements(from, values.data(), to, result.data(), static_cast<int64_t>(values.size()));
  return result;
}

const std::vector<float> kFloats{std::numeric_limits<float>::quiet_NaN(),
                                 std::numeric_limits<float>::infinity(),
                                 -std::numeric_limits<float>::infinity(),
                                 1.5f,
                                 -1.5f,
                                 2.5f,
                                 -0.5f,
                                 300.0f,
                                 -300.0f,
                                 3e9f,
                                 -3e9f,
                                 1e19f,
                                 -1e19f,
                                 65535.0f,
                                 70000.0f,
                                 255.9f};

TEST_CASE("floats to integers") {
  constexpr int32_t kMin = INT32_MIN;
  CHECK(cast<int32_t>(DType::kFloat, DType::kInt32, kFloats) ==
        std::vector<int32_t>{kMin, kMin, kMin, 1, -1, 2, 0, 300, -300, kMin, kMin, kMin, kMin,
                             65535, 70000, 255});
  constexpr uint32_t kTop = 2147483648u;
  CHECK(cast<uint32_t>(DType::kFloat, DType::kUint32, kFloats) ==
        std::vector<uint32_t>{kTop, kTop, kTop, 1, 4294967295u, 2, 0, 300, 4294966996u, 3000000000u,
                              kTop, kTop, kTop, 65535, 70000, 255});
  constexpr int64_t kMin64 = INT64_MIN;
  CHECK(cast<int64_t>(DType::kFloat, DType::kInt64, kFloats) ==
        std::vector<int64_t>{kMin64, kMin64, kMin64, 1, -1, 2, 0, 300, -300, 3000000000,
                             -3000000000, kMin64, kMin64, 65535, 70000, 255});
  constexpr uint64_t kTop64 = 1ull << 63;
  CHECK(cast<uint64_t>(DType::kFloat, DType::kUint64, kFloats) ==
        std::vector<uint64_t>{kTop64, kTop64, kTop64, 1, 18446744073709551615u, 2, 0, 300,
                              18446744073709551316u, 3000000000u, 18446744070709551616u,
                              9999999980506447872u, kTop64, 65535, 70000, 255});
  CHECK(cast<int8_t>(DType::kFloat, DType::kInt8, kFloats) ==
        std::vector<int8_t>{0, 0, 0, 1, -1, 2, 0, 44, -44, 0, 0, 0, 0, -1, 112, -1});
  CHECK(cast<uint8_t>(DType::kFloat, DType::kUint8, kFloats) ==
        std::vector<uint8_t>{0, 0, 0, 1, 255, 2, 0, 44, 212, 0, 0, 0, 0, 255, 112, 255});
  CHECK(cast<char>(DType::kFloat, DType::kBool, std::vector<float>{0, -0.0f, NAN, 0.1f}) ==
        std::vector<char>{0, 0, 1, 1});
}

TEST_CASE("integers to others") {
  const std::vector<int32_t> values{0, 1, 300, 70000, 2147483647, -1};
  CHECK(cast<int8_t>(DType::kInt32, DType::kInt8, values) ==
        std::vector<int8_t>{0, 1, 44, 112, -1, -1});
  CHECK(cast<uint64_t>(DType::kInt32, DType::kUint64, values)[5] == 18446744073709551615u);
  CHECK(cast<float>(DType::kInt32, DType::kFloat, values)[4] == 2147483648.0f);
  CHECK(cast<uint16_t>(DType::kInt32, DType::kHalf, values)[3] == 0x7c00);
  CHECK(cast<uint16_t>(DType::kInt32, DType::kBfloat16, values)[3] == float_to_bfloat16(70144));
  CHECK(cast<float>(DType::kUint64, DType::kFloat, std::vector<uint64_t>{~0ull})[0] ==
        18446744073709551616.0f);
}

TEST_CASE("complex numbers and their parts") {
  using Complex = std::complex<float>;
  const std::vector<Complex> values{{1, 2}, {0, 1}, {-1.5, 0}, {0, 0}};
  CHECK(cast<int32_t>(DType::kComplex64, DType::kInt32, values) ==
        std::vector<int32_t>{1, 0, -1, 0});
  CHECK(cast<char>(DType::kComplex64, DType::kBool, values) == std::vector<char>{1, 0, 1, 0});
  CHECK(cast<std::complex<double>>(DType::kComplex64, DType::kComplex128, values)[0] ==
        std::complex<double>(1, 2));
  CHECK(cast<Complex>(DType::kInt8, DType::kComplex64, std::vector<int8_t>{-3})[0] ==
        Complex(-3, 0));
}

TEST_CASE("small floating types") {
  CHECK(cast<uint8_t>(DType::kFloat, DType::kFloat8E4m3fn,
                      std::vector<float>{1.1f, -448, 464, 465, 1e-9f, 0.001953125f, 0.0009765625f,
                                         0.0009765626f}) ==
        std::vector<uint8_t>{0x39, 0xfe, 0x7e, 0x7f, 0, 1, 0, 1});
  CHECK(cast<uint8_t>(DType::kFloat, DType::kFloat8E5m2,
                      std::vector<float>{57344, 61440, 61439, -1e6f}) ==
        std::vector<uint8_t>{0x7b, 0x7c, 0x7b, 0xfc});
}

TEST_CASE("strings have no casts") {
  CHECK(!can_cast(DType::kString, DType::kInt32));
  CHECK(!can_cast(DType::kInt32, DType::kVariant));
  CHECK(can_cast(DType::kBool, DType::kFloat8E4m3fn));
}

}  // namespace
}  // namespace graphwright
