// Dtypes that compute in wider ones: conversions of their elements, and kernels that go through
// blocks of the wider type.
#pragma once

#include <cstdint>

#include "formulas/formula.h"
#include "kernels/formula_kernels.h"
#include "kernels/lanes.h"

namespace graphwright::GW_NUMBERS {

// A floating type of 8 or 16 bits with the usual layout: sign, exponent, fraction.
template <int ExponentBits, int FractionBits, bool HasInfinity>
struct SmallFloat {
  static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  static constexpr int kSignShift = 31 - ExponentBits - FractionBits;
  static constexpr int kFractionShift = 23 - FractionBits;
  static constexpr uint32_t kMagnitude = (1u << (ExponentBits + FractionBits)) - 1;
  static constexpr uint32_t kInfinity = kMagnitude & ~((1u << FractionBits) - 1);
  // From here on there is no finite number. Without infinities only the last code is a NaN.
  static constexpr uint32_t kFirstSpecial = HasInfinity ? kInfinity : kMagnitude;
  static constexpr uint32_t kNan = HasInfinity ? kInfinity | 1u << (FractionBits - 1) : kMagnitude;

  template <int N>
  GW_INLINE static Vec<float, N> to_float(Vec<uint32_t, N> code) {
    using U = Vec<uint32_t, N>;
    using F = Vec<float, N>;
    U magnitude = code & constant<U>(kMagnitude);
    U sign = (code & constant<U>(kMagnitude + 1)) << kSignShift;
    // Scaling by a power of two serves normal and denormal numbers alike, exactly.
    F scale = bit_cast<F>(constant<U>(static_cast<uint32_t>(127 + 127 - kBias) << 23));
    U finite = bit_cast<U>(bit_cast<F>(magnitude << kFractionShift) * scale);
    U special = HasInfinity ? (magnitude << kFractionShift) | constant<U>(0x7f800000u)
                            : constant<U>(0x7fc00000u);
    return bit_cast<F>(select(magnitude < constant<U>(kFirstSpecial), finite, special) | sign);
  }

  // To nearest, ties to even.
  template <int N>
  GW_INLINE static Vec<uint32_t, N> from_float(Vec<float, N> value) {
    using U = Vec<uint32_t, N>;
    using F = Vec<float, N>;
    U bits = bit_cast<U>(value);
    U magnitude = bits & constant<U>(0x7fffffffu);
    U sign = (bits >> kSignShift) & constant<U>(kMagnitude + 1);
    U odd = (magnitude >> kFractionShift) & constant<U>(1);
    U rounded = magnitude + constant<U>((1u << (kFractionShift - 1)) - 1) + odd;
    U normal = (rounded - constant<U>(static_cast<uint32_t>(127 - kBias) << 23)) >> kFractionShift;
    // A number whose unit in the last place is the smallest denormal: the sum's fraction is the
    // code.
    U unit = constant<U>(static_cast<uint32_t>(127 + 24 - kBias - FractionBits) << 23);
    U denormal = bit_cast<U>(bit_cast<F>(magnitude) + bit_cast<F>(unit)) - unit;
    U code =
        select(magnitude < constant<U>(static_cast<uint32_t>(128 - kBias) << 23), denormal, normal);
    code = select(code < constant<U>(kFirstSpecial), code, constant<U>(kFirstSpecial));
    code = select(magnitude > constant<U>(0x7f800000u), constant<U>(kNan), code);
    return code | sign;
  }
};
using HalfFloat = SmallFloat<5, 10, true>;
using Float8E5m2 = SmallFloat<5, 2, true>;
using Float8E4m3fn = SmallFloat<4, 3, false>;

template <int N>
GW_INLINE Vec<float, N> bfloat16_to_float(Vec<uint32_t, N> code) {
  return bit_cast<Vec<float, N>>(code << 16);
}
template <int N>
GW_INLINE Vec<uint32_t, N> bfloat16_from_float(Vec<float, N> value) {
  using U = Vec<uint32_t, N>;
  U bits = bit_cast<U>(value);
  U rounded = (bits + constant<U>(0x7fffu) + ((bits >> 16) & constant<U>(1))) >> 16;
  return select(value == value, rounded, (bits >> 16) | constant<U>(0x40u));
}

// The element type in memory of a narrow dtype.
template <DType Type>
using NarrowStorage = std::conditional_t<
    Type == DType::kInt8, int8_t,
    std::conditional_t<Type == DType::kInt16, int16_t,
                       std::conditional_t<Type == DType::kHalf || Type == DType::kBfloat16 ||
                                              Type == DType::kUint16,
                                          uint16_t, uint8_t>>>;

// From the stored integers to the computing type and back.
template <DType Type, int N>
GW_INLINE auto widen(Vec<NarrowStorage<Type>, N> stored) {
  if constexpr (Type == DType::kInt8 || Type == DType::kInt16) {
    return convert<Vec<int32_t, N>>(stored);
  } else {
    Vec<uint32_t, N> code = convert<Vec<uint32_t, N>>(stored);
    if constexpr (Type == DType::kHalf) {
      return HalfFloat::to_float(code);
    } else if constexpr (Type == DType::kBfloat16) {
      return bfloat16_to_float(code);
    } else if constexpr (Type == DType::kFloat8E5m2) {
      return Float8E5m2::to_float(code);
    } else if constexpr (Type == DType::kFloat8E4m3fn) {
      return Float8E4m3fn::to_float(code);
    } else {
      return code;
    }
  }
}
template <DType Type, class T, int N>
GW_INLINE Vec<NarrowStorage<Type>, N> narrow(Vec<T, N> value) {
  using Stored = Vec<NarrowStorage<Type>, N>;
  if constexpr (Type == DType::kHalf) {
    return convert<Stored>(HalfFloat::from_float(value));
  } else if constexpr (Type == DType::kBfloat16) {
    return convert<Stored>(bfloat16_from_float(value));
  } else if constexpr (Type == DType::kFloat8E5m2) {
    return convert<Stored>(Float8E5m2::from_float(value));
  } else if constexpr (Type == DType::kFloat8E4m3fn) {
    return convert<Stored>(Float8E4m3fn::from_float(value));
  } else {
    return convert<Stored>(value);  // wraps
  }
}

// One element of a dtype as the number that it computes in, and back.
template <class Number, DType Type>
GW_INLINE Number load_scalar(const void* from) {
  if constexpr (computing_type(Type) == Type) {
    return Lanes<Number>::load(static_cast<const char*>(from));
  } else {
    return widen<Type>(Lanes<Vec<NarrowStorage<Type>, 1>>::load(static_cast<const char*>(from)));
  }
}
template <DType Type, class Number>
GW_INLINE void store_scalar(void* to, Number value) {
  if constexpr (computing_type(Type) == Type) {
    Lanes<Number>::store(static_cast<char*>(to), value);
  } else {
    Lanes<Vec<NarrowStorage<Type>, 1>>::store(static_cast<char*>(to), narrow<Type>(value));
  }
}

// `count` contiguous elements of a narrow dtype to its computing type, and back.
void widen_elements(DType type, const void* from, void* to, int64_t count);
void narrow_elements(DType type, const void* from, void* to, int64_t count);

// Runs a kernel of the computing type on elements of the narrow dtype `type`.
int64_t run_narrow(ElementwiseKernel kernel, const FormulaSignature& signature, DType type,
                   void* out, const void* const* operands, const int64_t* steps, int64_t n);

}  // namespace graphwright::GW_NUMBERS
