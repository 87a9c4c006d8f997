// Elementary functions of complex numbers, from those of their parts.
#pragma once

#include "formulas/complex.h"
#include "formulas/exponential.h"
#include "formulas/inverse_trigonometric.h"
#include "formulas/logarithm.h"
#include "formulas/trigonometric.h"

namespace graphwright::GW_NUMBERS {

// |z|, without needless overflow.
template <class V>
GW_INLINE V absolute_value(Complex<V> z) {
  V a = abs(z.real), b = abs(z.imaginary);
  MaskOf<V> swapped = a < b;
  V large = select(swapped, b, a);
  V ratio = select(swapped, a, b) / large;
  V result = large * sqrt(fma(ratio, ratio, constant<V>(1)));
  result = select(large == constant<V>(0), a + b, result);
  return select((a == infinity<V>()) | (b == infinity<V>()), infinity<V>(), result);
}

// The principal square root.
template <class V>
GW_INLINE Complex<V> sqrt(Complex<V> z) {
  V half = constant<V>(0.5);
  V root = sqrt(half * abs(z.real) + half * absolute_value(z));
  V other = abs(z.imaginary) / (root + root);
  MaskOf<V> right = z.real >= constant<V>(0);
  Complex<V> result{select(right, root, other), copysign(select(right, other, root), z.imaginary)};
  MaskOf<V> zero = (z.real == constant<V>(0)) & (z.imaginary == constant<V>(0));
  return {select(zero, constant<V>(0), result.real), select(zero, z.imaginary, result.imaginary)};
}

template <class V>
GW_INLINE Complex<V> exp(Complex<V> z) {
  V scale = exp(z.real);
  V imaginary = scale * sin(z.imaginary);
  return {scale * cos(z.imaginary), select(z.imaginary == constant<V>(0), z.imaginary, imaginary)};
}

// The principal logarithm.
template <class V>
GW_INLINE Complex<V> log(Complex<V> z) {
  return {log(absolute_value(z)), atan2(z.imaginary, z.real)};
}

template <class V>
struct HyperbolicPair {
  V sinh, cosh;
};
template <class V>
GW_INLINE HyperbolicPair<V> hyperbolic_pair(V x) {
  V half = constant<V>(0.5), one = constant<V>(1);
  V a = abs(x);
  V e = exp(a);
  V m = expm1(a);
  V large = half * e - half / e;
  V small = half * (m + m / (m + one));
  return {copysign(select(a < one, small, large), x), half * e + half / e};
}

// A factor of exactly zero stays zero, also times infinity.
template <class V>
GW_INLINE V product_keeping_zero(V a, V b) {
  return select((a == constant<V>(0)) | (b == constant<V>(0)), copysign(constant<V>(0), b), a * b);
}

template <class V>
GW_INLINE Complex<V> sin(Complex<V> z) {
  HyperbolicPair<V> h = hyperbolic_pair(z.imaginary);
  return {product_keeping_zero(h.cosh, sin(z.real)), product_keeping_zero(cos(z.real), h.sinh)};
}
template <class V>
GW_INLINE Complex<V> cos(Complex<V> z) {
  HyperbolicPair<V> h = hyperbolic_pair(z.imaginary);
  return {product_keeping_zero(h.cosh, cos(z.real)), -product_keeping_zero(sin(z.real), h.sinh)};
}

// With t = tan(b), s = sinh(a), beta = 1 + t^2, rho = sqrt(1 + s^2):
// tanh(a + ib) = (beta rho s + i t) / (1 + beta s^2). (W. Kahan, "Branch cuts for complex
// elementary functions", 1987.)
template <class V>
GW_INLINE Complex<V> tanh(Complex<V> z) {
  V one = constant<V>(1);
  V limit = constant<V>(kIsFloat64<V> ? 20 : 10);  // from there on the real part is 1
  MaskOf<V> far = abs(z.real) > limit;
  V a = select(far, copysign(limit, z.real), z.real);
  V t = tan(z.imaginary);
  HyperbolicPair<V> h = hyperbolic_pair(a);
  V beta = fma(t, t, one);
  V divisor = fma(beta * h.sinh, h.sinh, one);
  V real = beta * h.cosh * h.sinh / divisor;
  V imaginary = t / divisor;
  return {select(far, copysign(one, z.real), real),
          select(far, copysign(constant<V>(0), imaginary), imaginary)};
}

// tan(z) = -i tanh(i z).
template <class V>
GW_INLINE Complex<V> tan(Complex<V> z) {
  Complex<V> t = tanh(Complex<V>{-z.imaginary, z.real});
  return {t.imaginary, -t.real};
}

// e^z - 1: with z = a + ib, expm1(a) cos b + (cos b - 1) has no cancellation for small z, as
// cos b - 1 = -2 sin^2(b / 2).
template <class V>
GW_INLINE Complex<V> expm1(Complex<V> z) {
  V half_sine = sin(constant<V>(0.5) * z.imaginary);
  V less_one = constant<V>(-2) * half_sine * half_sine;
  V growth = expm1(z.real);
  V imaginary = exp(z.real) * sin(z.imaginary);
  return {fma(growth, cos(z.imaginary), less_one),
          select(z.imaginary == constant<V>(0), z.imaginary, imaginary)};
}

// log(1 + z): log|1 + z| = log1p(a (2 + a) + b^2) / 2 where that is small.
template <class V>
GW_INLINE Complex<V> log1p(Complex<V> z) {
  V one = constant<V>(1), half = constant<V>(0.5);
  V a = z.real, b = z.imaginary;
  V square_less_one = fma(a, constant<V>(2) + a, b * b);
  V near = half * log1p(square_less_one);
  V far = log(absolute_value(Complex<V>{one + a, b}));
  return {select(abs(square_less_one) < half, near, far), atan2(b, one + a)};
}

// e^(y log x). Of 0 it is 0 where y is real and positive, NaN elsewhere, as C's cpow has it.
template <class V>
GW_INLINE Complex<V> pow(Complex<V> x, Complex<V> y) {
  V zero = constant<V>(0), nan = infinity<V>() - infinity<V>();
  MaskOf<V> of_zero = (x.real == zero) & (x.imaginary == zero);
  MaskOf<V> vanishes = (y.imaginary == zero) & (y.real > zero);
  Complex<V> power = exp(y * log(x));
  V at_zero = select(vanishes, zero, nan);
  return {select(of_zero, at_zero, power.real), select(of_zero, -at_zero, power.imaginary)};
}

template <class V>
GW_INLINE Complex<V> sigmoid(Complex<V> z) {
  Complex<V> one = real_constant<Complex<V>>(1);
  return one / (one + exp(-z));
}

}  // namespace graphwright::GW_NUMBERS
