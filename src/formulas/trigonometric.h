// sin, cos and tan of real numbers, in radians.
//
// x = n pi/2 + r with |r| <= pi/4; then polynomials of least relative error in r^2
// (tools/derive_polynomials.py). pi/2 is taken in three parts, of which the first is subtracted
// exactly. Beyond kLargestReduced a library function is called lane by lane.
#pragma once

#include "formulas/exponential.h"
#include "formulas/number.h"
#include "formulas/scalar_functions.h"

namespace graphwright::GW_NUMBERS {

template <class V>
struct QuarterTurn {
  IntegerOf<V> n;  // quarter turns; the lowest two bits count
  V sine, cosine;  // of what remains
};

template <class V>
inline constexpr double kLargestReduced = kIsFloat64<V> ? 1e8 : 1e5;

template <class V>
GW_INLINE QuarterTurn<V> reduce_to_quarter_turn(V x) {
  V shifted = fma(x, constant<V>(0x1.45f306dc9c883p-1), rounding_shift<V>());
  V n = shifted - rounding_shift<V>();
  V r, s, c;
  if constexpr (kIsFloat64<V>) {
    r = fma(n, constant<V>(-0x1.921fb54442d18p+0), x);
    r = fma(n, constant<V>(-0x1.1a62633145c07p-54), r);
    r = fma(n, constant<V>(0x1.f1976b7ed8fbcp-110), r);
    V z = r * r;
    s = polynomial(z, -0x1.5555555555549p-3, 0x1.111111110f861p-7, -0x1.a01a019c0e4aap-13,
                   0x1.71de3574b97c6p-19, -0x1.ae5e63cd098f3p-26, 0x1.5d9246b25bdcbp-33);
    c = polynomial(z, 0x1.555555555554cp-5, -0x1.6c16c16c15162p-10, 0x1.a01a019caef4dp-16,
                   -0x1.27e4f807d721cp-22, 0x1.1ee9ea6d6a4b0p-29, -0x1.8fadd0c329071p-37);
  } else {
    r = fma(n, constant<V>(-0x1.921fb6p+0), x);
    r = fma(n, constant<V>(0x1.777a5cp-25), r);
    r = fma(n, constant<V>(0x1.ee59dap-50), r);
    V z = r * r;
    s = polynomial(z, -0x1.555546p-3, 0x1.11075cp-7, -0x1.994cfap-13);
    c = polynomial(z, 0x1.55554ap-5, -0x1.6c0c86p-10, 0x1.9a00cep-16);
  }
  V z = r * r;
  // 1 - z/2 + z^2 c with the rounding error of 1 - z/2 added back.
  V half = constant<V>(0.5) * z;
  V one = constant<V>(1);
  V high = one - half;
  return {bit_cast<IntegerOf<V>>(shifted), fma(r * z, s, r),
          high + fma(z * z, c, (one - high) - half)};
}

template <class V>
GW_INLINE MaskOf<V> is_odd(IntegerOf<V> n) {
  using I = IntegerOf<V>;
  return (n & constant<I>(1)) == constant<I>(1);
}
// `value`, negated where bit 1 of n is set.
template <class V>
GW_INLINE V flip_by_half_turns(V value, IntegerOf<V> n) {
  using I = IntegerOf<V>;
  return bit_cast<V>(bit_cast<I>(value) ^ ((n & constant<I>(2)) << (kBits<V> - 2)));
}
template <class V>
GW_INLINE MaskOf<V> is_beyond_reduction(V x) {
  V a = abs(x);
  return (a > constant<V>(kLargestReduced<V>)) & (a < infinity<V>());
}

// Error below 2 ulp.
template <class V>
GW_INLINE V sin(V x) {
  QuarterTurn<V> turn = reduce_to_quarter_turn(x);
  V result = flip_by_half_turns(select(is_odd<V>(turn.n), turn.cosine, turn.sine), turn.n);
  result = select(abs(x) < constant<V>(kIsFloat64<V> ? 0x1p-27 : 0x1p-13), x, result);
  return call_rare_lanes<SinFunction>(is_beyond_reduction(x), x, result);
}

// Error below 2 ulp.
template <class V>
GW_INLINE V cos(V x) {
  QuarterTurn<V> turn = reduce_to_quarter_turn(x);
  V result = flip_by_half_turns(select(is_odd<V>(turn.n), turn.sine, turn.cosine),
                                turn.n + constant<IntegerOf<V>>(1));
  return call_rare_lanes<CosFunction>(is_beyond_reduction(x), x, result);
}

// sin / cos, error below 4 ulp.
template <class V>
GW_INLINE V tan(V x) {
  QuarterTurn<V> turn = reduce_to_quarter_turn(x);
  MaskOf<V> odd = is_odd<V>(turn.n);
  MaskOf<V> beyond = is_beyond_reduction(x);
  V sine = select(odd, turn.cosine, turn.sine);
  V cosine = select(odd, -turn.sine, turn.cosine);
  V large = call_rare_lanes<SinFunction>(beyond, x, constant<V>(0)) /
            call_rare_lanes<CosFunction>(beyond, x, constant<V>(1));
  V result = select(beyond, large, sine / cosine);
  return select(abs(x) < constant<V>(kIsFloat64<V> ? 0x1p-27 : 0x1p-13), x, result);
}

}  // namespace graphwright::GW_NUMBERS
