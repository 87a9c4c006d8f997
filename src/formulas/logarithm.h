// log and log1p of real numbers.
#pragma once

#include "formulas/number.h"

namespace graphwright::GW_NUMBERS {

// x = 2^exponent m with m in [sqrt(1/2), sqrt(2)), for positive finite x.
template <class V>
struct LogarithmParts {
  V exponent;
  V m;
};

template <class V>
GW_INLINE LogarithmParts<V> logarithm_parts(V x) {
  using I = IntegerOf<V>;
  using U = WithElement<V, UnsignedOf<ElementOf<V>>>;
  constexpr int kFraction = kFractionBits<V>;
  MaskOf<V> denormal = x < constant<V>(kIsFloat64<V> ? 0x1p-1022 : 0x1p-126);
  V scaled = select(denormal, x * constant<V>(kIsFloat64<V> ? 0x1p52 : 0x1p23), x);
  // Measured from sqrt(1/2), the exponent field counts from there.
  I start = constant<I>(kIsFloat64<V> ? 0x3fe6a09e667f3bcc : 0x3f3504f3);
  I offset = bit_cast<I>(scaled) - start;
  I fraction = offset & constant<I>((int64_t{1} << kFraction) - 1);
  // exponent + bias is positive; as the fraction of a number of unit spacing it becomes a float.
  constexpr int64_t kBias = kExponentBias<V>;
  U biased = bit_cast<U>(offset + constant<I>(kBias << kFraction)) >> kFraction;
  V spacing = constant<V>(kIsFloat64<V> ? 0x1p52 : 0x1p23);
  V exponent = bit_cast<V>(bit_cast<U>(spacing) | biased) -
               constant<V>((kIsFloat64<V> ? 0x1p52 : 0x1p23) + kBias);
  return {select(denormal, exponent - constant<V>(kFraction), exponent),
          bit_cast<V>(fraction + start)};
}

// log(1 + f) + exponent ln 2 for f in [sqrt(1/2) - 1, sqrt(2) - 1].
template <class V>
GW_INLINE V logarithm_of_parts(V exponent, V f) {
  V half_square = constant<V>(0.5) * (f * f);
  if constexpr (kIsFloat64<V>) {
    // log(1 + f) = 2 atanh(s), s = f / (2 + f); arranged so that the largest term, f, is exact.
    V s = f / (constant<V>(2) + f);
    V z = s * s;
    V series = z * polynomial(z, 0x1.5555555555593p-1, 0x1.999999997fb35p-2, 0x1.24924942177ddp-2,
                              0x1.c71c51e80bee4p-3, 0x1.746646299033bp-3, 0x1.39a0f537d8c86p-3,
                              0x1.2f0d8d34cb25fp-3);
    V low = fma(s, half_square + series, exponent * constant<V>(0x1.ef35793c76730p-45));
    // ln 2 in two parts, of which the first times any exponent is exact.
    return fma(exponent, constant<V>(0x1.62e42fefa3800p-1), f - (half_square - low));
  } else {
    V series =
        polynomial(f, 0x1.555546p-2, -0x1.ffffeep-3, 0x1.99a54ap-3, -0x1.5562e8p-3, 0x1.23326ap-3,
                   -0x1.fb4206p-4, 0x1.e654e2p-4, -0x1.e2f28cp-4, 0x1.1b435ap-4);
    V cube = f * (f * f);
    V low = fma(cube, series, exponent * constant<V>(0x1.7f7d1cp-20));
    return fma(exponent, constant<V>(0x1.62e400p-1), f - (half_square - low));
  }
}

// What log gives at the ends of its domain and beyond.
template <class V>
GW_INLINE V logarithm_specials(V x, V result) {
  result = select(x < infinity<V>(), result, x);  // infinity and NaN
  result = select(x == constant<V>(0), -infinity<V>(), result);
  return select(x < constant<V>(0), constant<V>(__builtin_nan("")), result);
}

// Error below 1 ulp.
template <class V>
GW_INLINE V log(V x) {
  LogarithmParts<V> parts = logarithm_parts(x);
  return logarithm_specials(x, logarithm_of_parts(parts.exponent, parts.m - constant<V>(1)));
}

// log(1 + x), error below 2 ulp: log(u) with u = 1 + x rounded, plus what the rounding lost.
template <class V>
GW_INLINE V log1p(V x) {
  V one = constant<V>(1);
  V u = one + x;
  V lost = select(u > constant<V>(2), one - (u - x), x - (u - one));
  LogarithmParts<V> parts = logarithm_parts(u);
  V result = logarithm_of_parts(parts.exponent, parts.m - one) + lost / u;
  result = logarithm_specials(u, result);
  return select(abs(x) < constant<V>(kIsFloat64<V> ? 0x1p-54 : 0x1p-25), x, result);
}

}  // namespace graphwright::GW_NUMBERS
