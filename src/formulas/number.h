// The vocabulary that formulas are written in: the number types of this compilation (vectors of one
// width, or the recording type) and what follows from their operations.
#pragma once

#ifdef GW_ISA
#include "formulas/vector.h"
#else
#include "formulas/recorded.h"
#endif

namespace graphwright::GW_NUMBERS {

template <class V>
inline constexpr bool kIsFloat64 = std::is_same_v<ElementOf<V>, double>;
template <class V>
inline constexpr bool kIsFloating = std::is_floating_point_v<ElementOf<V>>;
template <class V>
inline constexpr bool kIsSigned = std::is_signed_v<ElementOf<V>>;

template <class V>
inline constexpr int kBits = 8 * sizeof(ElementOf<V>);
// Of the fraction, without the leading one.
template <class V>
inline constexpr int kFractionBits = kIsFloat64<V> ? 52 : 23;
template <class V>
inline constexpr int kExponentBias = kIsFloat64<V> ? 1023 : 127;

template <class V>
GW_INLINE V infinity() {
  return constant<V>(static_cast<ElementOf<V>>(__builtin_inf()));
}

template <class V>
GW_INLINE MaskOf<V> is_nan(V x) {
  return x != x;
}
template <class V>
GW_INLINE MaskOf<V> is_infinite(V x) {
  return abs(x) == infinity<V>();
}
template <class V>
GW_INLINE MaskOf<V> is_finite(V x) {
  return abs(x) < infinity<V>();
}

template <class V>
GW_INLINE V sign_bit() {
  return constant<V>(1) << (kBits<V> - 1);
}
template <class V>
GW_INLINE MaskOf<V> has_sign_bit(V x) {
  using I = IntegerOf<V>;
  return bit_cast<I>(x) < constant<I>(0);
}
template <class V>
GW_INLINE V copysign(V magnitude, V sign) {
  using I = IntegerOf<V>;
  I bit = sign_bit<I>();
  return bit_cast<V>((bit_cast<I>(magnitude) & ~bit) | (bit_cast<I>(sign) & bit));
}

// c0 + x (c1 + x (c2 + ...)), one fma per step.
template <class V, class... Rest>
GW_INLINE V polynomial(V x, double c0, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return constant<V>(c0);
  } else {
    return fma(x, polynomial(x, rest...), constant<V>(c0));
  }
}

// 2^n for integral n with a normal result.
template <class V>
GW_INLINE V power_of_two(IntegerOf<V> n) {
  using I = IntegerOf<V>;
  return bit_cast<V>((n + constant<I>(kExponentBias<V>)) << kFractionBits<V>);
}

}  // namespace graphwright::GW_NUMBERS
