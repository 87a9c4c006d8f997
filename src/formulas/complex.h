// Complex numbers over a number type.
#pragma once

#include "formulas/number.h"

namespace graphwright::GW_NUMBERS {

template <class V>
struct Complex {
  V real, imaginary;
};

template <class V>
inline constexpr bool kIsComplex = false;
template <class V>
inline constexpr bool kIsComplex<Complex<V>> = true;

template <class V>
struct RealOfNumber {
  using type = V;
};
template <class V>
struct RealOfNumber<Complex<V>> {
  using type = V;
};
// V's real type; V itself if it is real.
template <class V>
using RealOf = typename RealOfNumber<V>::type;

template <class V>
GW_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}
template <class V>
GW_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.real - b.real, a.imaginary - b.imaginary};
}
template <class V>
GW_INLINE Complex<V> operator-(Complex<V> a) {
  return {-a.real, -a.imaginary};
}
// The schoolbook product: infinities may give NaN.
template <class V>
GW_INLINE Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
template <class V>
GW_INLINE Complex<V> operator*(Complex<V> a, V b) {
  return {a.real * b, a.imaginary * b};
}
// Smith's method: scales by the larger part of the divisor, so that nothing overflows needlessly.
template <class V>
GW_INLINE Complex<V> operator/(Complex<V> a, Complex<V> b) {
  auto swapped = abs(b.real) < abs(b.imaginary);
  V large = select(swapped, b.imaginary, b.real);
  V small = select(swapped, b.real, b.imaginary);
  V ratio = small / large;
  V divisor = large + small * ratio;
  V x = select(swapped, a.imaginary, a.real);
  V y = select(swapped, a.real, a.imaginary);
  V real = (x + y * ratio) / divisor;
  V imaginary = (y - x * ratio) / divisor;
  return {real, select(swapped, -imaginary, imaginary)};
}
template <class V>
GW_INLINE auto operator==(Complex<V> a, Complex<V> b) {
  return (a.real == b.real) & (a.imaginary == b.imaginary);
}
template <class V>
GW_INLINE auto operator!=(Complex<V> a, Complex<V> b) {
  return (a.real != b.real) | (a.imaginary != b.imaginary);
}
template <class M, class V>
GW_INLINE Complex<V> select(M mask, Complex<V> a, Complex<V> b) {
  return {select(mask, a.real, b.real), select(mask, a.imaginary, b.imaginary)};
}
template <class V>
GW_INLINE Complex<V> conjugate(Complex<V> a) {
  return {a.real, -a.imaginary};
}

// A real constant as V, which may be complex.
template <class V>
GW_INLINE V real_constant(double value) {
  if constexpr (kIsComplex<V>) {
    return {constant<RealOf<V>>(value), constant<RealOf<V>>(0)};
  } else {
    return constant<V>(value);
  }
}

}  // namespace graphwright::GW_NUMBERS
