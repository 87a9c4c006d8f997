// atan and atan2 of real numbers, in radians.
#pragma once

#include "formulas/number.h"

namespace graphwright::GW_NUMBERS {

// atan of t in [0, 1]: beyond tan(pi/8), pi/4 + atan((t - 1) / (t + 1)); then t + t^3 p(t^2) with p
// of least relative error (tools/derive_polynomials.py).
template <class V>
GW_INLINE V atan_of_unit(V t) {
  V one = constant<V>(1);
  MaskOf<V> upper = t > constant<V>(0x1.a827999fcef32p-2);
  V u = select(upper, (t - one) / (t + one), t);
  V z = u * u;
  V p;
  if constexpr (kIsFloat64<V>) {
    p = polynomial(z, -0x1.555555555553dp-2, 0x1.9999999995864p-3, -0x1.24924922ad9cep-3,
                   0x1.c71c70e632c37p-4, -0x1.745cf8e036116p-4, 0x1.3b11194fb07d0p-4,
                   -0x1.10ebb98ac63b4p-4, 0x1.df0f4c67653fbp-5, -0x1.9cd26ec522d20p-5,
                   0x1.37d40272e246dp-5, -0x1.2564df59bc586p-6);
  } else {
    p = polynomial(z, -0x1.555456p-2, 0x1.992590p-3, -0x1.1c3ebap-3, 0x1.4a0cf8p-4);
  }
  V result = fma(u * z, p, u);
  return select(upper, result + constant<V>(0x1.921fb54442d18p-1), result);
}

// The angle of the point (x, y), in [-pi, pi]; error below 4 ulp. Signs of zeros count.
template <class V>
GW_INLINE V atan2(V y, V x) {
  V ax = abs(x), ay = abs(y);
  MaskOf<V> steep = ay > ax;
  V small = select(steep, ax, ay);
  V large = select(steep, ay, ax);
  V t = small / large;
  t = select(large == constant<V>(0), constant<V>(0), t);
  t = select(small == infinity<V>(), constant<V>(1), t);
  V angle = atan_of_unit(t);
  angle = select(steep, constant<V>(0x1.921fb54442d18p+0) - angle, angle);
  angle = select(has_sign_bit(x), constant<V>(0x1.921fb54442d18p+1) - angle, angle);
  angle = select(is_nan(x) | is_nan(y), constant<V>(__builtin_nan("")), angle);
  return copysign(angle, y);
}

template <class V>
GW_INLINE V atan(V x) {
  return atan2(x, constant<V>(1));
}

}  // namespace graphwright::GW_NUMBERS
