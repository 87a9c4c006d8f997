// x^y of real numbers.
#pragma once

#include "formulas/exponential.h"
#include "formulas/logarithm.h"
#include "formulas/number.h"

namespace graphwright::GW_NUMBERS {

// An unevaluated sum, low below half an ulp of high or nearly so.
template <class V>
struct TwoPart {
  V high, low;
};

// a + b exactly, |a| >= |b|.
template <class V>
GW_INLINE TwoPart<V> exact_sum(V a, V b) {
  V sum = a + b;
  return {sum, b - (sum - a)};
}
// a * b exactly.
template <class V>
GW_INLINE TwoPart<V> exact_product(V a, V b) {
  V product = a * b;
  return {product, fma(a, b, -product)};
}

// log(x) of positive finite float64 with about 68 bits: the atanh series with its first terms in
// two parts.
template <class V>
GW_INLINE TwoPart<V> two_part_log(V x) {
  LogarithmParts<V> parts = logarithm_parts(x);
  V f = parts.m - constant<V>(1);
  // s = f / (2 + f)
  TwoPart<V> divisor = exact_sum(constant<V>(2), f);
  V s_high = f / divisor.high;
  V s_low = (fma(-s_high, divisor.high, f) - s_high * divisor.low) / divisor.high;
  TwoPart<V> z = exact_product(s_high, s_high);
  V z_low = fma(s_high + s_high, s_low, z.low);
  V tail = z.high * z.high *
           polynomial(z.high, 0x1.9999999999b33p-2, 0x1.249249245781bp-2, 0x1.c71c722de1a45p-3,
                      0x1.745ce9b74d5acp-3, 0x1.3b1ef44ae9b3dp-3, 0x1.0f7f228201c6fp-3,
                      0x1.0e4a20d90ac18p-3);
  // u = 2/3 z + tail
  TwoPart<V> first = exact_product(constant<V>(0x1.5555555555555p-1), z.high);
  V first_low = first.low + fma(constant<V>(0x1.5555555555555p-1), z_low,
                                constant<V>(0x1.5555555555555p-55) * z.high);
  TwoPart<V> u = exact_sum(first.high, first_low + tail);
  // log = exponent ln 2 + 2 s + s u
  TwoPart<V> w = exact_product(s_high, u.high);
  V w_low = w.low + fma(s_high, u.low, s_low * u.high);
  V whole = parts.exponent * constant<V>(0x1.62e42fefa3800p-1);  // exact
  TwoPart<V> sum = exact_sum(whole, s_high + s_high);
  // With exponent 0 the larger term is 2 s, and nothing is lost.
  sum.low = select(parts.exponent == constant<V>(0), constant<V>(0), sum.low);
  TwoPart<V> total = exact_sum(sum.high, w.high);
  V low =
      total.low +
      (sum.low + (w_low + fma(parts.exponent, constant<V>(0x1.ef35793c76730p-45), s_low + s_low)));
  return exact_sum(total.high, low);
}

// e^(high + low).
template <class V>
GW_INLINE V exp_two_part(TwoPart<V> x) {
  V high = clamped(x.high, -746, 710);
  V low = select(high == x.high, x.low, constant<V>(0));
  ExponentialParts<V> parts = exponential_parts(high);
  // e^(r + low) - 1 = q + (1 + q) low, low being below 2^-44.
  V q = fma(parts.q + constant<V>(1), low, parts.q);
  V half = fma(parts.n_value, constant<V>(0.5), rounding_shift<V>());
  IntegerOf<V> first = bit_cast<IntegerOf<V>>(half);
  V scale = power_of_two<V>(first);
  return fma(scale, q, scale) * power_of_two<V>(parts.n - first);
}

// a^y for positive a, to the last bit of float64 or well beyond that of float32.
template <bool ForFloat32, class V>
GW_INLINE V positive_power(V a, V y) {
  if constexpr (ForFloat32) {
    return exp(y * log(a));
  } else {
    TwoPart<V> logarithm = two_part_log(a);
    TwoPart<V> product = exact_product(y, logarithm.high);
    product.low = fma(y, logarithm.low, product.low);
    // Where the exponent is beyond all bounds its low part is NaN.
    product.low = select(abs(product.high) < constant<V>(1000), product.low, constant<V>(0));
    return exp_two_part(product);
  }
}

// In float64, with C's pow's values at the ends: x^0 and 1^y are 1 even for NaN.
template <bool ForFloat32, class V>
GW_INLINE V pow_in_float64(V x, V y) {
  V zero = constant<V>(0), one = constant<V>(1);
  V a = abs(x);
  V result = positive_power<ForFloat32>(a, y);

  MaskOf<V> grows = (a > one) ^ (y < zero);  // away from a = 1 and y = 0
  V end = select(grows, infinity<V>(), zero);
  MaskOf<V> at_end = (a == zero) | (a == infinity<V>()) | (abs(y) == infinity<V>());
  result = select(at_end, end, result);
  result = select(a == one, one, result);

  MaskOf<V> integral = trunc(y) == y;
  V half = y * constant<V>(0.5);
  MaskOf<V> odd = integral & (trunc(half) != half) & (abs(y) < infinity<V>());
  result = select(odd & has_sign_bit(x), -result, result);
  MaskOf<V> outside = (x < zero) & (a < infinity<V>()) & (!integral);
  result = select(outside | is_nan(x) | is_nan(y), constant<V>(__builtin_nan("")), result);
  return select((y == zero) | (x == one), one, result);
}

// Error below 1.3 ulp; of float32, which goes by way of float64, below 0.51 ulp.
template <class V>
GW_INLINE V pow(V x, V y) {
  if constexpr (kIsFloat64<V>) {
    return pow_in_float64<false>(x, y);
  } else {
    return in_double([](auto a, auto b) { return pow_in_float64<true>(a, b); }, x, y);
  }
}

}  // namespace graphwright::GW_NUMBERS
