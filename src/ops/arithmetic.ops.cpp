// Elementwise arithmetic of two numbers.
#include "formulas/complex_functions.h"
#include "formulas/power.h"
#include "formulas/scalar_functions.h"
#include "kernels/formula_family.h"

namespace graphwright::GW_NUMBERS {
namespace {

template <class V>
GW_INLINE MaskOf<V> is_zero(V x) {
  return x == constant<V>(0);
}

// The remainder of x / y rounded towards zero.
template <class V>
GW_INLINE V truncated_remainder(V x, V y) {
  if constexpr (kIsFloating<V>) {
    return call_lanes<FmodFunction>(x, y);
  } else {
    return x - call_lanes<DivideIntegersFunction>(x, y) * y;
  }
}

struct Add : Binary {
  static constexpr DTypeSet kTypes = kNumeric | kFloat8;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x, V y) {
    return x + y;
  }
};

struct Sub : Binary {
  static constexpr DTypeSet kTypes = kNumeric | kFloat8;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x, V y) {
    return x - y;
  }
};

struct Mul : Binary {
  static constexpr DTypeSet kTypes = kNumeric | kFloat8;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x, V y) {
    return x * y;
  }
};

struct RealDiv : Binary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x, V y) {
    return x / y;
  }
};

struct DivNoNan : Binary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x, V y) {
    V zero = real_constant<V>(0);
    return select(y == zero, zero, x / y);
  }
};

struct FloorDiv : Binary {
  static constexpr DTypeSet kTypes = kRealNumeric;
  template <class V>
  static V apply(V x, V y) {
    if constexpr (kIsFloating<V>) {
      return floor(x / y);
    } else {
      V quotient = call_lanes<DivideIntegersFunction>(x, y);
      if constexpr (!kIsSigned<V>) {
        return quotient;
      } else {
        V zero = constant<V>(0);
        V remainder = x - quotient * y;
        MaskOf<V> too_large = (!is_zero(remainder)) & ((remainder < zero) ^ (y < zero));
        return quotient - select(too_large, constant<V>(1), zero);
      }
    }
  }

  template <class V>
  static MaskOf<V> error(V, V y) {
    return is_zero(y);
  }
};

struct FloorMod : Binary {
  static constexpr DTypeSet kTypes = kRealNumeric;
  template <class V>
  static V apply(V x, V y) {
    V remainder = truncated_remainder(x, y);
    if constexpr (kIsSigned<V>) {
      V zero = constant<V>(0);
      MaskOf<V> wrong_sign = (!is_zero(remainder)) & ((remainder < zero) ^ (y < zero));
      return select(wrong_sign, remainder + y, remainder);
    } else {
      return remainder;
    }
  }

  template <class V>
  static MaskOf<V> error(V, V y) {
    return is_zero(y);
  }
};

struct TruncateDiv : Binary {
  static constexpr DTypeSet kTypes = kRealNumeric;
  template <class V>
  static V apply(V x, V y) {
    if constexpr (kIsFloating<V>) {
      return trunc(x / y);
    } else {
      return call_lanes<DivideIntegersFunction>(x, y);
    }
  }

  template <class V>
  static MaskOf<V> error(V, V y) {
    return is_zero(y);
  }
};

struct TruncateMod : Binary {
  static constexpr DTypeSet kTypes = kFloating | kIndex;
  template <class V>
  static V apply(V x, V y) {
    return truncated_remainder(x, y);
  }

  template <class V>
  static MaskOf<V> error(V, V y) {
    return is_zero(y);
  }
};

struct Pow : Binary {
  static constexpr DTypeSet kTypes = kFloating | kSignedInteger | kComplex;
  static constexpr const char* kErrorMessage =
      "Integers to negative integer powers are not allowed";
  template <class V>
  static V apply(V x, V y) {
    if constexpr (kIsFloating<RealOf<V>>) {
      return pow(x, y);
    } else {
      return call_lanes<IntegerPowerFunction>(x, y);
    }
  }

  template <class V>
  static MaskOf<RealOf<V>> error(V, V y) {
    return y < constant<V>(0);
  }
};

// NaN wins; of equal operands the first.
struct Maximum : Binary {
  static constexpr DTypeSet kTypes = kRealNumeric;
  template <class V>
  static V apply(V x, V y) {
    if constexpr (kIsFloating<V>) {
      return select((x < y) | is_nan(y), y, x);
    } else {
      return select(x < y, y, x);
    }
  }
};

struct Minimum : Binary {
  static constexpr DTypeSet kTypes = kRealNumeric;
  template <class V>
  static V apply(V x, V y) {
    if constexpr (kIsFloating<V>) {
      return select((y < x) | is_nan(y), y, x);
    } else {
      return select(y < x, y, x);
    }
  }
};

struct SquaredDifference : Binary {
  static constexpr DTypeSet kTypes = kFloating | kIndex | kComplex;
  template <class V>
  static V apply(V x, V y) {
    V difference = x - y;
    if constexpr (kIsComplex<V>) {
      return difference * conjugate(difference);
    } else {
      return difference * difference;
    }
  }
};

}  // namespace
}  // namespace graphwright::GW_NUMBERS

GW_FORMULA_FAMILY(arithmetic, Add, Sub, Mul, RealDiv, DivNoNan, FloorDiv, FloorMod, TruncateDiv,
                  TruncateMod, Pow, Maximum, Minimum, SquaredDifference)

#ifndef GW_ISA

#include "ops/elementwise_rules.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

using E = Expression;

E is_at_least(const E& x, const E& y) { return x.apply("GreaterEqual", y); }

E ones_of(const E& x) { return {x.builder(), ones_like(x.builder(), x)}; }

E mul_by_x(const E&, const E& y, const E&) { return y; }
E mul_by_y(const E& x, const E&, const E&) { return x; }
E div_by_x(const E&, const E& y, const E&) { return y.apply("Reciprocal"); }
E div_by_y(const E&, const E& y, const E& z) { return -z / y; }
E safe_reciprocal(const E& y) { return ones_of(y).apply("DivNoNan", y); }
E safe_div_by_x(const E&, const E& y, const E&) { return safe_reciprocal(y); }
E safe_div_by_y(const E&, const E& y, const E& z) { return -z * safe_reciprocal(y); }
E floor_mod_by_y(const E& x, const E& y, const E&) { return -x.apply("FloorDiv", y); }
E truncate_mod_by_y(const E& x, const E& y, const E&) { return -x.apply("TruncateDiv", y); }
E pow_by_x(const E& x, const E& y, const E&) { return y * x.apply("Pow", y - 1.0); }
// z log(x) where x is positive (not zero, for complex x), else 0.
E pow_by_y(const E& x, const E&, const E& z) {
  E zero = zeros_like(x);
  E inside = x.apply(is_complex(x.dtype()) ? "NotEqual" : "Greater", zero);
  return z * where(inside, where(inside, x, ones_of(x)).apply("Log"), zero);
}
// Of d = x - y, |d|^2 changes by 2 Re(conj(d) dd): no function of d alone has that derivative.
void squared_difference_gradient(GradientContext& c) {
  E scaled = c.dy() * ((c.x(0) - c.x(1)) * 2.0);
  if (c.needs(0)) c.set_dx_unbroadcast(0, scaled);
  if (c.needs(1)) c.set_dx_unbroadcast(1, -scaled);
}
void squared_difference_forward(ForwardContext& c) {
  E difference = c.x(0) - c.x(1), change = c.dx(0) - c.dx(1);
  c.set_dy(0, conjugated(difference) * change + difference * conjugated(change));
}

// One of the operands is the result: `first` says where it is x.
template <E (*First)(const E& x, const E& y)>
void selection_gradient(GradientContext& c) {
  E first = First(c.x(0), c.x(1)), zero = zeros_like(c.dy());
  if (c.needs(0)) c.set_dx_unbroadcast(0, where(first, c.dy(), zero));
  if (c.needs(1)) c.set_dx_unbroadcast(1, where(first, zero, c.dy()));
}
template <E (*First)(const E& x, const E& y)>
void selection_forward(ForwardContext& c) {
  c.set_dy(0, where(First(c.x(0), c.x(1)), c.dx(0), c.dx(1)));
}
E maximum_is_first(const E& x, const E& y) { return is_at_least(x, y); }
E minimum_is_first(const E& x, const E& y) { return is_at_least(y, x); }

// Remainders: the derivative by x is 1.
template <BinaryDerivative ByY>
void remainder_gradient(GradientContext& c) {
  if (c.needs(0)) c.set_dx_unbroadcast(0, c.dy());
  if (c.needs(1)) c.set_dx_unbroadcast(1, c.dy() * ByY(c.x(0), c.x(1), c.y()));
}
template <BinaryDerivative ByY>
void remainder_forward(ForwardContext& c) {
  c.set_dy(0, c.dx(0) + c.dx(1) * ByY(c.x(0), c.x(1), c.y()));
}

constexpr std::array kArithmeticOps{
    OpDef{.name = "AddV2",
          .signature = "x: T, y: T -> z: T",
          .doc = "x + y of each pair of elements, broadcast as NumPy does. Integers wrap.",
          .traits = kPure | kElementwise | kCommutative,
          .types = {{{"T", kNumeric | kFloat8}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::Add>()},
          .gradient =
              [](GradientContext& c) {
                for (int i = 0; i < 2; ++i) {
                  if (c.needs(i)) c.set_dx_unbroadcast(i, c.dy());
                }
              },
          .forward = &forward_linear,
          .reference = {.numpy = "np.add(x, y)"},
          .in_place_inputs = 3,
          .default_node_name = "add"},
    OpDef{.name = "Sub",
          .signature = "x: T, y: T -> z: T",
          .doc = "x - y of each pair of elements, broadcast as NumPy does. Integers wrap.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kNumeric | kFloat8}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::Sub>()},
          .gradient =
              [](GradientContext& c) {
                if (c.needs(0)) c.set_dx_unbroadcast(0, c.dy());
                if (c.needs(1)) c.set_dx_unbroadcast(1, -c.dy());
              },
          .forward = &forward_linear,
          .reference = {.numpy = "np.subtract(x, y)"},
          .in_place_inputs = 3},
    OpDef{.name = "Mul",
          .signature = "x: T, y: T -> z: T",
          .doc = "x * y of each pair of elements, broadcast as NumPy does. Integers wrap.",
          .traits = kPure | kElementwise | kCommutative,
          .types = {{{"T", kNumeric | kFloat8}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::Mul>()},
          .gradient = &binary_gradient<mul_by_x, mul_by_y>,
          .forward = &binary_forward<mul_by_x, mul_by_y>,
          .reference = {.numpy = "np.multiply(x, y)"},
          .in_place_inputs = 3},
    OpDef{.name = "RealDiv",
          .signature = "x: T, y: T -> z: T",
          .doc = "x / y of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::RealDiv>()},
          .gradient = &binary_gradient<div_by_x, div_by_y>,
          .forward = &binary_forward<div_by_x, div_by_y>,
          .reference = {.numpy = "np.true_divide(x, y)", .second_low = 0.5, .second_high = 4},
          .in_place_inputs = 3,
          .default_node_name = "truediv"},
    OpDef{.name = "DivNoNan",
          .signature = "x: T, y: T -> z: T",
          .doc = "x / y, or 0 where y is 0, of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::DivNoNan>()},
          .gradient = &binary_gradient<safe_div_by_x, safe_div_by_y>,
          .forward = &binary_forward<safe_div_by_x, safe_div_by_y>,
          .reference = {.numpy = "np.where(y == 0, 0, x / np.where(y == 0, 1, y))",
                        .second_low = 0.5,
                        .second_high = 4},
          .in_place_inputs = 3,
          .default_node_name = "div_no_nan"},
    OpDef{.name = "FloorDiv",
          .signature = "x: T, y: T -> z: T",
          .doc = "x / y rounded down of each pair of elements, broadcast as NumPy does. "
                 "InvalidArgument where an integer y is 0.",
          .traits = kPure | kElementwise | kZeroDerivative | kMayFail,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::FloorDiv>()},
          .gradient = Absent{"derivative is zero wherever there is one"},
          .forward = Absent{"derivative is zero wherever there is one"},
          .reference = {.numpy = "np.floor_divide(x, y)", .second_low = 1, .second_high = 4},
          .in_place_inputs = 3,
          .default_node_name = "floordiv"},
    OpDef{.name = "FloorMod",
          .signature = "x: T, y: T -> z: T",
          .doc = "x - y * floor(x / y), which has the sign of y, of each pair of elements, "
                 "broadcast as NumPy does. InvalidArgument where an integer y is 0.",
          .traits = kPure | kElementwise | kMayFail,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::FloorMod>()},
          .gradient = &remainder_gradient<floor_mod_by_y>,
          .forward = &remainder_forward<floor_mod_by_y>,
          .reference = {.numpy = "np.mod(x, y)",
                        .second_low = 1,
                        .second_high = 4,
                        .no_gradient_check = true},
          .in_place_inputs = 3,
          .default_node_name = "FloorMod"},
    OpDef{.name = "TruncateDiv",
          .signature = "x: T, y: T -> z: T",
          .doc = "x / y rounded towards zero of each pair of elements, broadcast as NumPy does. "
                 "InvalidArgument where an integer y is 0.",
          .traits = kPure | kElementwise | kZeroDerivative | kMayFail,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::TruncateDiv>()},
          .gradient = Absent{"derivative is zero wherever there is one"},
          .forward = Absent{"derivative is zero wherever there is one"},
          .reference = {.numpy = "np.trunc(x / y).astype(x.dtype)",
                        .second_low = 1,
                        .second_high = 4},
          .in_place_inputs = 3},
    OpDef{.name = "TruncateMod",
          .signature = "x: T, y: T -> z: T",
          .doc =
              "The remainder of x / y rounded towards zero, which has the sign of x, of each pair "
              "of elements, broadcast as NumPy does. InvalidArgument where an integer y is 0.",
          .traits = kPure | kElementwise | kMayFail,
          .types = {{{"T", kFloating | kIndex}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::TruncateMod>()},
          .gradient = &remainder_gradient<truncate_mod_by_y>,
          .forward = &remainder_forward<truncate_mod_by_y>,
          .reference = {.numpy = "np.fmod(x, y)",
                        .second_low = 1,
                        .second_high = 4,
                        .no_gradient_check = true},
          .in_place_inputs = 3},
    OpDef{.name = "Pow",
          .signature = "x: T, y: T -> z: T",
          .doc = "x to the power y of each pair of elements, broadcast as NumPy does. Integers "
                 "wrap; InvalidArgument where an integer y is negative.",
          .traits = kPure | kElementwise | kMayFail,
          .types = {{{"T", kFloating | kSignedInteger | kComplex}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::Pow>()},
          .gradient = &binary_gradient<pow_by_x, pow_by_y>,
          .forward = &binary_forward<pow_by_x, pow_by_y>,
          .reference =
              {.numpy = "np.power(x, y)", .low = 0.5, .high = 4, .second_low = 1, .second_high = 3},
          .in_place_inputs = 3},
    OpDef{
        .name = "Maximum",
        .signature = "x: T, y: T -> z: T",
        .doc = "The larger of each pair of elements, broadcast as NumPy does. NaN where either is.",
        .traits = kPure | kElementwise,
        .types = {{{"T", kRealNumeric}}},
        .shape = &shape_broadcast,
        .compute = {ComputeKind::kFormula, arithmetic_formula<recording::Maximum>()},
        .gradient = &selection_gradient<maximum_is_first>,
        .forward = &selection_forward<maximum_is_first>,
        .reference = {.numpy = "np.maximum(x, y)"},
        .in_place_inputs = 3,
        .python_names = "maximum math.maximum"},
    OpDef{.name = "Minimum",
          .signature = "x: T, y: T -> z: T",
          .doc =
              "The smaller of each pair of elements, broadcast as NumPy does. NaN where either is.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::Minimum>()},
          .gradient = &selection_gradient<minimum_is_first>,
          .forward = &selection_forward<minimum_is_first>,
          .reference = {.numpy = "np.minimum(x, y)"},
          .in_place_inputs = 3,
          .python_names = "minimum math.minimum"},
    OpDef{.name = "SquaredDifference",
          .signature = "x: T, y: T -> z: T",
          .doc = "(x - y)^2, or |x - y|^2 of complex numbers, of each pair of elements, broadcast "
                 "as NumPy does.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kIndex | kComplex}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, arithmetic_formula<recording::SquaredDifference>()},
          .gradient = &squared_difference_gradient,
          .forward = &squared_difference_forward,
          .reference = {.numpy = "((x - y) * np.conj(x - y)).astype(x.dtype)"},
          .in_place_inputs = 3,
          .python_names = "math.squared_difference"}};

}  // namespace
GW_REGISTER_OPS(kArithmeticOps);
}  // namespace graphwright

#endif
