// The expected texts were recorded from NumPy 2.4 and TensorFlow 2.21.
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tensor/format.h"
#include "tensor/number_text.h"
#include "tensor/small_float.h"

using namespace graphwright;

namespace {

template <class T>
Tensor make(DType dtype, std::vector<int64_t> dims, std::vector<T> values) {
  Tensor tensor = Tensor::empty(dtype, dims);
  for (size_t i = 0; i < values.size(); ++i) tensor.mutable_data<T>()[i] = values[i];
  return tensor;
}

Tensor halves(std::vector<float> values) {
  std::vector<uint16_t> bits;
  for (float value : values) bits.push_back(float_to_half(value));
  return make(DType::kHalf, {static_cast<int64_t>(values.size())}, bits);
}

Tensor iota(std::vector<int64_t> dims) {
  Tensor tensor = Tensor::empty(DType::kInt32, dims);
  std::iota(tensor.mutable_data<int32_t>(), tensor.mutable_data<int32_t>() + tensor.element_count(),
            0);
  return tensor;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("scalars print as Python and NumPy print them") {
  Tensor tenth = Tensor::scalar(DType::kFloat, 0.1f);
  CHECK(tensor_repr(tenth) == "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>");
  CHECK(tensor_str(tenth) == "tf.Tensor(0.1, shape=(), dtype=float32)");
  CHECK(format_array_str(Tensor::scalar(DType::kFloat, 1e-4f)) == "1e-04");
  CHECK(format_array_str(Tensor::scalar(DType::kFloat, 999999.94f)) == "999999.94");
  CHECK(format_array_str(Tensor::scalar(DType::kFloat, 16777216.0f)) == "1.6777216e+07");
  CHECK(format_array_str(Tensor::scalar(DType::kHalf, float_to_half(9999))) == "1e+04");
  CHECK(format_array_str(Tensor::scalar(DType::kDouble, 1e15)) == "1000000000000000.0");
  CHECK(format_array_repr(Tensor::scalar(DType::kFloat, 1e22f)) == "9.999999778196308e+21");
  CHECK(format_array_repr(Tensor::scalar(DType::kFloat, -0.0f)) == "-0.0");
  CHECK(format_array_repr(Tensor::scalar(DType::kFloat, kNan)) == "nan");
  CHECK(format_array_repr(Tensor::bool_scalar(true)) == "True");
  CHECK(format_array_repr(Tensor::string_scalar("h\xc3\xa9llo\n'")) == "b\"h\\xc3\\xa9llo\\n'\"");
  Tensor bfloat = Tensor::scalar(DType::kBfloat16, float_to_bfloat16(0.1f));
  CHECK(format_array_str(bfloat) == "0.100098");
  CHECK(format_array_repr(bfloat) == "0.10009765625");
  using Complex = std::complex<float>;
  CHECK(format_array_str(Tensor::scalar(DType::kComplex64, Complex(0.1f, 0.2f))) == "(0.1+0.2j)");
  CHECK(format_array_repr(Tensor::scalar(DType::kComplex64, Complex(0.1f, 0.2f))) ==
        "(0.10000000149011612+0.20000000298023224j)");
  CHECK(format_array_repr(Tensor::scalar(DType::kComplex64, Complex(0, 1))) == "1j");
  CHECK(format_array_repr(Tensor::scalar(DType::kComplex64, Complex(-0.0f, 1))) == "(-0+1j)");
  CHECK(format_array_repr(Tensor::scalar(DType::kComplex64, Complex(kNan, -kInf))) == "(nan-infj)");
}

TEST_CASE("arrays align their columns") {
  CHECK(format_array_repr(make<float>(DType::kFloat, {2}, {0.1f, 2})) ==
        "array([0.1, 2. ], dtype=float32)");
  CHECK(format_array_str(halves({1e-5f, 1e5f})) == "[1.e-05    inf]");
  CHECK(format_array_str(make<float>(DType::kFloat, {3}, {1.1f, 1e6f, -kInf})) ==
        "[1.1e+00 1.0e+06    -inf]");
  CHECK(format_array_str(make<double>(DType::kDouble, {3}, {1, -20.5, NAN})) ==
        "[  1.  -20.5   nan]");
  CHECK(format_array_str(make<bool>(DType::kBool, {2}, {true, false})) == "[ True False]");
  CHECK(format_array_str(make<int8_t>(DType::kInt8, {3}, {-5, 3, 100})) == "[ -5   3 100]");
  CHECK(format_array_repr(make<std::complex<double>>(
            DType::kComplex128, {2}, {{1, 2}, {0, -10}})) == "array([1. +2.j, 0.-10.j])");
  CHECK(format_array_repr(make<uint8_t>(DType::kFloat8E5m2, {3}, {0x2e, 0x5d, 0x80})) ==
        "array([0.09375, 320, -0], dtype=dtype(float8_e5m2))");
  // A power of two: the shortest text is not the nearest one of its length.
  CHECK(format_array_str(make<float>(DType::kFloat, {2}, {1237940039285380274899124224.0f, 1})) ==
        "[1.2379401e+27 1.0000000e+00]");
}

TEST_CASE("empty arrays name what cannot be seen") {
  CHECK(tensor_repr(Tensor::empty(DType::kFloat, {0})) ==
        "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>");
  CHECK(tensor_repr(Tensor::empty(DType::kFloat, {0, 3})) ==
        "<tf.Tensor: shape=(0, 3), dtype=float32, numpy=array([], shape=(0, 3), dtype=float32)>");
  CHECK(format_array_repr(Tensor::empty(DType::kInt64, {0})) == "array([], dtype=int64)");
  CHECK(format_array_repr(Tensor::empty(DType::kString, {3, 0})) ==
        "array([], shape=(3, 0), dtype=object)");
}

TEST_CASE("several lines, nested brackets and summaries") {
  CHECK(tensor_repr(iota({2, 2, 2})) ==
        "<tf.Tensor: shape=(2, 2, 2), dtype=int32, numpy=\n"
        "array([[[0, 1],\n        [2, 3]],\n\n       [[4, 5],\n        [6, 7]]], dtype=int32)>");
  CHECK(tensor_str(iota({2, 2})) == "tf.Tensor(\n[[0 1]\n [2 3]], shape=(2, 2), dtype=int32)");
  CHECK(format_array_repr(make<float>(DType::kFloat, {2000}, std::vector<float>(2000))) ==
        "array([0., 0., 0., ..., 0., 0., 0.], shape=(2000,), dtype=float32)");
  CHECK(format_array_str(iota({30})) ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29]");
  std::string word(50, 'a');
  CHECK(format_array_repr(make<std::string>(DType::kString, {2}, {word, word})) ==
        "array([b'" + word + "',\n       b'" + word + "'],\n      dtype=object)");
  CHECK(format_array_str(iota({40, 40})) ==
        "[[   0    1    2 ...   37   38   39]\n"
        " [  40   41   42 ...   77   78   79]\n"
        " [  80   81   82 ...  117  118  119]\n"
        " ...\n"
        " [1480 1481 1482 ... 1517 1518 1519]\n"
        " [1520 1521 1522 ... 1557 1558 1559]\n"
        " [1560 1561 1562 ... 1597 1598 1599]]");
}

TEST_CASE("tf.print's text") {
  auto print = [](const Tensor& tensor, int64_t summarize = 3) {
    return format_print(tensor, summarize);
  };
  CHECK(print(make<float>(
                  DType::kFloat, {9},
                  {0.1f, 1 / 3.0f, 1e10f, 1e-5f, 123456.7f, 123456789.0f, -0.0f, kInf, -kInf}),
              -1) == "[0.1 0.333333343 1e+10 1e-05 123456.703 123456792 -0 inf -inf]");
  CHECK(print(make<double>(DType::kDouble, {4}, {1 / 3.0, 1e10, 1e15, 123456.7}), -1) ==
        "[0.33333333333333331 10000000000 1e+15 123456.7]");
  CHECK(print(halves({0.1f, 1234.5f})) == "[0.0999755859 1234]");
  CHECK(print(make<bool>(DType::kBool, {2}, {true, false})) == "[1 0]");
  CHECK(print(Tensor::string_scalar("a\"b\n\\'\x01")) == "\"a\\\"b\\n\\\\\\'\\001\"");
  CHECK(format_print(Tensor::string_scalar("a\nb"), 3, false) == "a\nb");
  CHECK(print(iota({8})) == "[0 1 2 ... 5 6 7]");
  CHECK(print(iota({8}), 0) == "[ ...]");
  CHECK(print(Tensor::int32_scalar(5), 0) == "...");
  CHECK(print(iota({3, 1, 3}), 1) == "[[[0 ... 2]]\n\n ...\n\n [[6 ... 8]]]");
  CHECK(print(Tensor::empty(DType::kFloat, {0, 3})) == "[]");
  CHECK(print(Tensor::empty(DType::kFloat, {2, 0, 3})) == "[\n\n ...]");
}

TEST_CASE("small floats widen exactly and narrow to nearest even") {
  for (int bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    float value = half_to_float(half);
    if (value == value) REQUIRE(float_to_half(value) == half);
    float upper = bfloat16_to_float(half);
    if (upper == upper) REQUIRE(float_to_bfloat16(upper) == half);
  }
  for (int bits = 0; bits < 0x100; ++bits) {
    uint8_t byte = static_cast<uint8_t>(bits);
    float wide = widen<Float8E5m2>(byte), narrow_range = widen<Float8E4m3fn>(byte);
    if (wide == wide) REQUIRE(narrow<Float8E5m2>(wide) == byte);
    if (narrow_range == narrow_range) REQUIRE(narrow<Float8E4m3fn>(narrow_range) == byte);
  }
  CHECK(half_to_float(0x0001) == std::ldexp(1.0f, -24));
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(2049.0f) == float_to_half(2048.0f));  // a tie goes to the even mantissa
  CHECK(double_to_half(std::ldexp(1.0, -25)) == 0);
  CHECK(double_to_half(std::ldexp(1.1, -25)) == 1);
  CHECK(double_to_half(1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -50)) == 0x3c01);  // one rounding
  CHECK(narrow<Float8E4m3fn>(448) == 0x7e);
  CHECK(narrow<Float8E4m3fn>(1000) == 0x7f);
  CHECK(narrow<Float8E5m2>(1e9) == 0x7c);
  CHECK(std::isnan(half_to_float(float_to_half(kNan))));
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(kNan))));
  CHECK(std::isnan(widen<Float8E4m3fn>(narrow<Float8E4m3fn>(kNan))));
}
