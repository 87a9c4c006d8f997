// Element types as C++ types, for kernels that take one element at a time. Sixteen-bit floats
// compute in float and round after each operation, as their native instructions would.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"
#include "tensor/small_float.h"

namespace graphwright::kernels {

struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(float_to_half(value)) {}
  explicit operator float() const { return half_to_float(bits); }
};
struct Bfloat16 {
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float value) : bits(float_to_bfloat16(value)) {}
  explicit operator float() const { return bfloat16_to_float(bits); }
};

// What sums of T are kept in, and products are computed in.
template <class T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<Half> {
  using type = float;
};
template <>
struct AccumulatorOf<Bfloat16> {
  using type = float;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

// Integers wrap; C++ leaves signed overflow undefined.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else {
    return a + b;
  }
}
template <class T>
T wrapping_subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return T(static_cast<float>(a) - static_cast<float>(b));
  } else {
    return a - b;
  }
}
template <class T>
T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // Through 64 bits, since small unsigned types promote to a signed int that may overflow.
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

// Calls visit with a value of the element's C++ type. False, without a call, for dtypes that are
// not numbers (float8 included).
template <class Visit>
bool visit_number(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kFloat:
      return visit(float()), true;
    case DType::kDouble:
      return visit(double()), true;
    case DType::kHalf:
      return visit(Half()), true;
    case DType::kBfloat16:
      return visit(Bfloat16()), true;
    case DType::kInt8:
      return visit(int8_t()), true;
    case DType::kInt16:
      return visit(int16_t()), true;
    case DType::kInt32:
      return visit(int32_t()), true;
    case DType::kInt64:
      return visit(int64_t()), true;
    case DType::kUint8:
      return visit(uint8_t()), true;
    case DType::kUint16:
      return visit(uint16_t()), true;
    case DType::kUint32:
      return visit(uint32_t()), true;
    case DType::kUint64:
      return visit(uint64_t()), true;
    case DType::kComplex64:
      return visit(std::complex<float>()), true;
    case DType::kComplex128:
      return visit(std::complex<double>()), true;
    default:
      return false;
  }
}

}  // namespace graphwright::kernels
