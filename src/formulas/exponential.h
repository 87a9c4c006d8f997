// exp, expm1, tanh and the logistic function of real numbers.
//
// All write x = n ln 2 + r with |r| <= ln(2) / 2 and use e^r = 1 + r + r^2 g(r), where g is the
// polynomial of least relative error in the whole (tools/derive_polynomials.py).
#pragma once

#include "formulas/number.h"

namespace graphwright::GW_NUMBERS {

template <class V>
struct ExponentialParts {
  IntegerOf<V>
      n;  // n plus a multiple of 2^(kBits - kFractionBits): for shifts and differences only
  V n_value;
  V q;  // e^r - 1
};

// Adding this number leaves the nearest integer in the low bits.
template <class V>
GW_INLINE V rounding_shift() {
  return constant<V>(kIsFloat64<V> ? 0x1.8p52 : 0x1.8p23);
}

// |x| below 2^20.
template <class V>
GW_INLINE ExponentialParts<V> exponential_parts(V x) {
  V shifted = fma(x, constant<V>(0x1.71547652b82fep+0), rounding_shift<V>());
  V n = shifted - rounding_shift<V>();
  V r, g;
  if constexpr (kIsFloat64<V>) {
    r = fma(n, constant<V>(-0x1.62e42fefa39efp-1), x);
    r = fma(n, constant<V>(-0x1.abc9e3b39803fp-56), r);
    g = polynomial(r, 0x1.0000000000000p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5,
                   0x1.111111110f699p-7, 0x1.6c16c16c1445dp-10, 0x1.a01a01afeed87p-13,
                   0x1.a01a01b0b514bp-16, 0x1.71ddf83891a3fp-19, 0x1.27e4c5a14835ep-22,
                   0x1.af5ef261bc493p-26, 0x1.1f9567a44ce62p-29);
  } else {
    r = fma(n, constant<V>(-0x1.62e430p-1f), x);
    r = fma(n, constant<V>(0x1.05c610p-29f), r);
    g = polynomial(r, 0x1.000000p-1, 0x1.5554b0p-3, 0x1.555486p-5, 0x1.122838p-7, 0x1.6d996ap-10);
  }
  return {bit_cast<IntegerOf<V>>(shifted), n, fma(r * r, g, r)};
}

// Keeps NaN.
template <class V>
GW_INLINE V clamped(V x, double low, double high) {
  x = select(x > constant<V>(high), constant<V>(high), x);
  return select(x < constant<V>(low), constant<V>(low), x);
}

// Error below 1.1 ulp; gradual underflow.
template <class V>
GW_INLINE V exp(V x) {
  x = kIsFloat64<V> ? clamped(x, -746, 710) : clamped(x, -104, 89);
  ExponentialParts<V> parts = exponential_parts(x);
  // 2^n in two steps, since n may be outside the exponents of normal numbers.
  V half = fma(parts.n_value, constant<V>(0.5), rounding_shift<V>());
  IntegerOf<V> first = bit_cast<IntegerOf<V>>(half);
  V scale = power_of_two<V>(first);
  return fma(scale, parts.q, scale) * power_of_two<V>(parts.n - first);
}

// e^x - 1, error below 2 ulp.
template <class V>
GW_INLINE V expm1(V x) {
  V y = kIsFloat64<V> ? clamped(x, -38, 710) : clamped(x, -18, 89);
  ExponentialParts<V> parts = exponential_parts(y);
  // Half the result, so that 2^n does not overflow before the result does.
  V half_scale = power_of_two<V>(parts.n - constant<IntegerOf<V>>(1));
  V half = fma(half_scale, parts.q, half_scale - constant<V>(0.5));
  MaskOf<V> tiny = abs(x) < constant<V>(kIsFloat64<V> ? 0x1p-54 : 0x1p-25);
  return select(tiny, x, half + half);
}

// float32: x (1 + z P(z)) / Q(z) with z = x^2, up to the limit, where that is 1: the rational
// function that Eigen evaluates for TensorFlow, its coefficients and order of operations included,
// so that the bits are equal; error below 6 ulp. float64: t / (t + 2) with t = e^(2|x|) - 1; error
// below 3 ulp.
template <class V>
GW_INLINE V tanh(V x) {
  if constexpr (kIsFloat64<V>) {
    V a = abs(x);
    V limit = constant<V>(20);  // from there on the result is 1
    a = select(a > limit, limit, a);
    ExponentialParts<V> parts = exponential_parts(a + a);
    V scale = power_of_two<V>(parts.n);
    V t = fma(scale, parts.q, scale - constant<V>(1));
    return copysign(t / (t + constant<V>(2)), x);
  } else {
    V limit = constant<V>(7.90738964080810547);
    x = select(x > limit, limit, x);
    x = select(x < -limit, -limit, x);
    V z = x * x;
    V p = z * constant<V>(1.394553628e-8) + constant<V>(2.102733560e-5);
    V q = z * constant<V>(8.015776984e-7) + constant<V>(3.326951409e-4);
    p = z * p + constant<V>(3.520756727e-3);
    q = z * q + constant<V>(2.597254514e-2);
    p = z * p + constant<V>(1.340216100e-1);
    q = z * q + constant<V>(4.673548340e-1);
    p = (z * x) * p + x;
    q = z * q + constant<V>(1);
    return p / q;
  }
}

// 1 / (1 + e^-x), error below 3 ulp.
template <class V>
GW_INLINE V sigmoid(V x) {
  V e = exp(-abs(x));
  return select(x < constant<V>(0), e, constant<V>(1)) / (constant<V>(1) + e);
}

}  // namespace graphwright::GW_NUMBERS
