// Elementwise functions of one number.
#include "formulas/complex_functions.h"
#include "formulas/exponential.h"
#include "formulas/logarithm.h"
#include "formulas/trigonometric.h"
#include "kernels/formula_family.h"

namespace graphwright::GW_NUMBERS {
namespace {

struct Neg : Unary {
  static constexpr DTypeSet kTypes = kFloating | kSignedInteger | kComplex;
  template <class V>
  static V apply(V x) {
    return -x;
  }
};

struct Abs : Unary {
  static constexpr DTypeSet kTypes = kFloating | kSignedInteger;
  template <class V>
  static V apply(V x) {
    return abs(x);
  }
};

struct Sign : Unary {
  static constexpr DTypeSet kTypes = kFloating | kSignedInteger | kComplex;
  template <class V>
  static V apply(V x) {
    if constexpr (kIsComplex<V>) {
      auto magnitude = absolute_value(x);
      V unit = {x.real / magnitude, x.imaginary / magnitude};
      return select(x == real_constant<V>(0), real_constant<V>(0), unit);
    } else {
      V zero = constant<V>(0);
      V sign = select(x > zero, constant<V>(1), select(x < zero, constant<V>(-1), zero));
      if constexpr (kIsFloating<V>) sign = select(is_nan(x), x, sign);
      return sign;
    }
  }
};

struct Square : Unary {
  static constexpr DTypeSet kTypes = kNumeric;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x) {
    return x * x;
  }
};

struct Sqrt : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return sqrt(x);
  }
};

struct Rsqrt : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return real_constant<V>(1) / sqrt(x);
  }
};

struct Reciprocal : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return real_constant<V>(1) / x;
  }
};

struct Exp : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return exp(x);
  }
};

struct Expm1 : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return expm1(x);
  }
};

struct Log : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return log(x);
  }
};

struct Log1p : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return log1p(x);
  }
};

struct Tanh : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return tanh(x);
  }
};

struct Sigmoid : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return sigmoid(x);
  }
};

struct Softsign : Unary {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static V apply(V x) {
    return x / (constant<V>(1) + abs(x));
  }
};

struct Sin : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return sin(x);
  }
};

struct Cos : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return cos(x);
  }
};

struct Tan : Unary {
  static constexpr DTypeSet kTypes = kFloating | kComplex;
  template <class V>
  static V apply(V x) {
    return tan(x);
  }
};

struct Floor : Unary {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static V apply(V x) {
    return floor(x);
  }
};

struct Ceil : Unary {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static V apply(V x) {
    return ceil(x);
  }
};

struct Rint : Unary {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static V apply(V x) {
    return round_to_even(x);
  }
};

// To even; integers are rounded already.
struct Round : Unary {
  static constexpr DTypeSet kTypes = kFloating | kSignedInteger;
  template <class V>
  static V apply(V x) {
    if constexpr (kIsFloating<V>) {
      return round_to_even(x);
    } else {
      return x;
    }
  }
};

struct Conj : Unary {
  static constexpr DTypeSet kTypes = kComplex;
  template <class V>
  static V apply(V x) {
    return conjugate(x);
  }
};

struct IsNan : Predicate {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x) {
    return is_nan(x);
  }
};

struct IsInf : Predicate {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x) {
    return is_infinite(x);
  }
};

struct IsFinite : Predicate {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x) {
    return is_finite(x);
  }
};

struct Relu : Unary {
  static constexpr DTypeSet kTypes = kRealNumeric;
  template <class V>
  static V apply(V x) {
    V zero = constant<V>(0);
    return select(x <= zero, zero, x);
  }
};

// log(1 + e^x) without overflow.
struct Softplus : Unary {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static V apply(V x) {
    V zero = constant<V>(0);
    return select(x < zero, zero, x) + log1p(exp(-abs(x)));
  }
};

}  // namespace
}  // namespace graphwright::GW_NUMBERS

GW_FORMULA_FAMILY(math, Neg, Abs, Sign, Square, Sqrt, Rsqrt, Reciprocal, Exp, Expm1, Log, Log1p,
                  Tanh, Sigmoid, Softsign, Sin, Cos, Tan, Floor, Ceil, Rint, Round, Conj, IsNan,
                  IsInf, IsFinite, Relu, Softplus)

#ifndef GW_ISA

#include "ops/elementwise_rules.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

using E = Expression;

E abs_derivative(const E& x, const E&) { return x.apply("Sign"); }
E square_derivative(const E& x, const E&) { return x * 2.0; }
E sqrt_derivative(const E&, const E& y) { return 0.5 / y; }
E rsqrt_derivative(const E&, const E& y) { return -0.5 * (y * (y * y)); }
E reciprocal_derivative(const E&, const E& y) { return -(y * y); }
E exp_derivative(const E&, const E& y) { return y; }
E expm1_derivative(const E&, const E& y) { return y + 1.0; }
E log_derivative(const E& x, const E&) { return x.apply("Reciprocal"); }
E log1p_derivative(const E& x, const E&) { return (x + 1.0).apply("Reciprocal"); }
E tanh_derivative(const E&, const E& y) { return 1.0 - y * y; }
E softsign_derivative(const E& x, const E&) {
  E s = x.apply("Abs") + 1.0;
  return (s * s).apply("Reciprocal");
}
E sigmoid_derivative(const E&, const E& y) { return y * (1.0 - y); }
E sin_derivative(const E& x, const E&) { return x.apply("Cos"); }
E cos_derivative(const E& x, const E&) { return -x.apply("Sin"); }
E softplus_derivative(const E& x, const E&) { return x.apply("Sigmoid"); }
E tan_derivative(const E&, const E& y) { return 1.0 + y * y; }
constexpr std::array kMathOps{
    OpDef{.name = "Neg",
          .signature = "x: T -> y: T",
          .doc = "-x of each element. Of the most negative integer it is that integer. y has the "
                 "shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kSignedInteger | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Neg>()},
          .gradient = [](GradientContext& c) { c.set_dx(0, -c.dy()); },
          .forward = &forward_linear,
          .reference = {.numpy = "np.negative(x)"},
          .in_place_inputs = 1,
          .python_names = "negative math.negative"},
    OpDef{.name = "Abs",
          .signature = "x: T -> y: T",
          .doc = "Absolute value of each element. Of the most negative integer it is that integer. "
                 "y has the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kSignedInteger}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Abs>()},
          .gradient = &unary_gradient<abs_derivative>,
          .forward = &unary_forward<abs_derivative>,
          .reference = {.numpy = "np.abs(x)"},
          .in_place_inputs = 1},
    OpDef{.name = "Sign",
          .signature = "x: T -> y: T",
          .doc = "-1, 0 or 1 by the sign of each element, NaN for NaN; x / |x| of complex x. y has "
                 "the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kSignedInteger | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Sign>()},
          .gradient = [](GradientContext& c) { c.set_dx(0, zeros_like(c.x())); },
          .forward = [](ForwardContext& c) { c.set_dy(0, zeros_like(c.x())); },
          .reference = {.numpy = "np.sign(x)", .no_gradient_check = true},
          .in_place_inputs = 1,
          .python_names = "sign math.sign"},
    OpDef{.name = "Square",
          .signature = "x: T -> y: T",
          .doc = "x * x of each element. Integers wrap. y has the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kNumeric}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Square>()},
          .gradient = &unary_gradient<square_derivative>,
          .forward = &unary_forward<square_derivative>,
          .reference = {.numpy = "np.square(x)"},
          .in_place_inputs = 1,
          .python_names = "square math.square"},
    OpDef{.name = "Sqrt",
          .signature = "x: T -> y: T",
          .doc = "Square root of each element; NaN for negative x. y has the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Sqrt>()},
          .gradient = &unary_gradient<sqrt_derivative>,
          .forward = &unary_forward<sqrt_derivative>,
          .reference = {.numpy = "np.sqrt(x)", .low = 0.1, .high = 9},
          .in_place_inputs = 1,
          .python_names = "sqrt math.sqrt"},
    OpDef{.name = "Rsqrt",
          .signature = "x: T -> y: T",
          .doc = "1 / sqrt(x) of each element. y has the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Rsqrt>()},
          .gradient = &unary_gradient<rsqrt_derivative>,
          .forward = &unary_forward<rsqrt_derivative>,
          .reference = {.numpy = "1 / np.sqrt(x)", .low = 0.1, .high = 9},
          .in_place_inputs = 1,
          .python_names = "math.rsqrt"},
    OpDef{.name = "Reciprocal",
          .signature = "x: T -> y: T",
          .doc = "1 / x of each element. y has the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Reciprocal>()},
          .gradient = &unary_gradient<reciprocal_derivative>,
          .forward = &unary_forward<reciprocal_derivative>,
          .reference = {.numpy = "np.reciprocal(x)", .low = 0.2, .high = 4},
          .in_place_inputs = 1,
          .python_names = "math.reciprocal"},
    OpDef{.name = "Exp",
          .signature = "x: T -> y: T",
          .doc = "e^x of each element, error below 1.1 ulp. y has the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Exp>()},
          .gradient = &unary_gradient<exp_derivative>,
          .forward = &unary_forward<exp_derivative>,
          .reference = {.numpy = "np.exp(x)"},
          .in_place_inputs = 1,
          .python_names = "exp math.exp"},
    OpDef{.name = "Expm1",
          .signature = "x: T -> y: T",
          .doc = "e^x - 1 of each element, accurate for small x; error below 2 ulp. y has the "
                 "shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Expm1>()},
          .gradient = &unary_gradient<expm1_derivative>,
          .forward = &unary_forward<expm1_derivative>,
          .reference = {.numpy = "np.expm1(x)"},
          .in_place_inputs = 1,
          .python_names = "math.expm1"},
    OpDef{.name = "Log",
          .signature = "x: T -> y: T",
          .doc = "Natural logarithm of each element, error below 1 ulp; NaN for negative x. y has "
                 "the shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Log>()},
          .gradient = &unary_gradient<log_derivative>,
          .forward = &unary_forward<log_derivative>,
          .reference = {.numpy = "np.log(x)", .low = 0.1, .high = 9},
          .in_place_inputs = 1,
          .python_names = "math.log"},
    OpDef{.name = "Log1p",
          .signature = "x: T -> y: T",
          .doc = "log(1 + x) of each element, accurate for small x; error below 2 ulp. y has the "
                 "shape and dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Log1p>()},
          .gradient = &unary_gradient<log1p_derivative>,
          .forward = &unary_forward<log1p_derivative>,
          .reference = {.numpy = "np.log1p(x)", .low = -0.9, .high = 4},
          .in_place_inputs = 1,
          .python_names = "math.log1p"},
    OpDef{.name = "Tanh",
          .signature = "x: T -> y: T",
          .doc = "Hyperbolic tangent of each element, error below 3 ulp. y has the shape and dtype "
                 "of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Tanh>()},
          .gradient = &unary_gradient<tanh_derivative>,
          .forward = &unary_forward<tanh_derivative>,
          .reference = {.numpy = "np.tanh(x)"},
          .in_place_inputs = 1,
          .python_names = "tanh math.tanh nn.tanh"},
    OpDef{
        .name = "Sigmoid",
        .signature = "x: T -> y: T",
        .doc = "1 / (1 + e^-x) of each element, error below 3 ulp. y has the shape and dtype of x.",
        .traits = kPure | kElementwise,
        .types = {{{"T", kFloating | kComplex}}},
        .shape = &shape_unchanged,
        .compute = {ComputeKind::kFormula, math_formula<recording::Sigmoid>()},
        .gradient = &unary_gradient<sigmoid_derivative>,
        .forward = &unary_forward<sigmoid_derivative>,
        .reference = {.numpy = "1 / (1 + np.exp(-x))"},
        .in_place_inputs = 1,
        .python_names = "sigmoid math.sigmoid nn.sigmoid"},
    OpDef{.name = "Softsign",
          .signature = "features: T -> activations: T",
          .doc = "x / (1 + |x|) of each element x. The activations have the shape and dtype of the "
                 "features and lie between -1 and 1.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Softsign>()},
          .gradient = &unary_gradient<softsign_derivative>,
          .forward = &unary_forward<softsign_derivative>,
          .reference = {.numpy = "features / (1 + np.abs(features))"},
          .in_place_inputs = 1,
          .python_names = "nn.softsign"},
    OpDef{
        .name = "Sin",
        .signature = "x: T -> y: T",
        .doc =
            "Sine of each element, in radians; error below 2 ulp. y has the shape and dtype of x.",
        .traits = kPure | kElementwise,
        .types = {{{"T", kFloating | kComplex}}},
        .shape = &shape_unchanged,
        .compute = {ComputeKind::kFormula, math_formula<recording::Sin>()},
        .gradient = &unary_gradient<sin_derivative>,
        .forward = &unary_forward<sin_derivative>,
        .reference = {.numpy = "np.sin(x)"},
        .in_place_inputs = 1,
        .python_names = "sin math.sin"},
    OpDef{.name = "Cos",
          .signature = "x: T -> y: T",
          .doc = "Cosine of each element, in radians; error below 2 ulp. y has the shape and dtype "
                 "of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Cos>()},
          .gradient = &unary_gradient<cos_derivative>,
          .forward = &unary_forward<cos_derivative>,
          .reference = {.numpy = "np.cos(x)"},
          .in_place_inputs = 1,
          .python_names = "cos math.cos"},
    OpDef{.name = "Tan",
          .signature = "x: T -> y: T",
          .doc = "Tangent of each element, in radians; error below 4 ulp. y has the shape and "
                 "dtype of x.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating | kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Tan>()},
          .gradient = &unary_gradient<tan_derivative>,
          .forward = &unary_forward<tan_derivative>,
          .reference = {.numpy = "np.tan(x)", .low = -1.4, .high = 1.4},
          .in_place_inputs = 1,
          .python_names = "tan math.tan"},
    OpDef{.name = "Floor",
          .signature = "x: T -> y: T",
          .doc =
              "The largest integer that is not above each element. y has the shape and dtype of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kFloating}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Floor>()},
          .gradient = Absent{"derivative is zero wherever there is one"},
          .forward = Absent{"derivative is zero wherever there is one"},
          .reference = {.numpy = "np.floor(x)"},
          .in_place_inputs = 1,
          .python_names = "floor math.floor"},
    OpDef{
        .name = "Ceil",
        .signature = "x: T -> y: T",
        .doc =
            "The smallest integer that is not below each element. y has the shape and dtype of x.",
        .traits = kPure | kElementwise | kZeroDerivative,
        .types = {{{"T", kFloating}}},
        .shape = &shape_unchanged,
        .compute = {ComputeKind::kFormula, math_formula<recording::Ceil>()},
        .gradient = Absent{"derivative is zero wherever there is one"},
        .forward = Absent{"derivative is zero wherever there is one"},
        .reference = {.numpy = "np.ceil(x)"},
        .in_place_inputs = 1,
        .python_names = "math.ceil"},
    OpDef{.name = "Rint",
          .signature = "x: T -> y: T",
          .doc = "The integer nearest to each element, of two the even one. y has the shape and "
                 "dtype of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kFloating}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Rint>()},
          .gradient = Absent{"derivative is zero wherever there is one"},
          .forward = Absent{"derivative is zero wherever there is one"},
          .reference = {.numpy = "np.rint(x)"},
          .in_place_inputs = 1,
          .python_names = "math.rint"},
    OpDef{.name = "Round",
          .signature = "x: T -> y: T",
          .doc = "The integer nearest to each element, of two the even one; integers as they are. "
                 "y has the shape and dtype of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kFloating | kSignedInteger}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Round>()},
          .gradient = Absent{"derivative is zero wherever there is one"},
          .forward = Absent{"derivative is zero wherever there is one"},
          .reference = {.numpy = "np.round(x)"},
          .in_place_inputs = 1},
    OpDef{.name = "Conj",
          .signature = "input: T -> output: T",
          .doc = "Complex conjugate of each element.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kComplex}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Conj>()},
          .gradient = [](GradientContext& c) { c.set_dx(0, c.dy().apply("Conj")); },
          .forward = &forward_linear,
          .reference = {.numpy = "np.conj(input)"}},
    OpDef{.name = "IsNan",
          .signature = "x: T -> y: bool",
          .doc = "Whether each element is NaN. y has the shape of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kFloating}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::IsNan>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.isnan(x)"},
          .python_names = "math.is_nan"},
    OpDef{.name = "IsInf",
          .signature = "x: T -> y: bool",
          .doc = "Whether each element is infinite. y has the shape of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kFloating}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::IsInf>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.isinf(x)"},
          .python_names = "math.is_inf"},
    OpDef{.name = "IsFinite",
          .signature = "x: T -> y: bool",
          .doc = "Whether each element is neither infinite nor NaN. y has the shape of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kFloating}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::IsFinite>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.isfinite(x)"},
          .python_names = "math.is_finite"},
    OpDef{.name = "Relu",
          .signature = "features: T -> activations: T",
          .doc = "max(x, 0) of each element; NaN for NaN. The activations have the shape and dtype "
                 "of the features.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Relu>()},
          .gradient =
              [](GradientContext& c) {
                E y = c.y();
                c.set_dx(0, where(y.apply("Greater", zeros_like(y)), c.dy(), zeros_like(y)));
              },
          .forward =
              [](ForwardContext& c) {
                E y = c.y();
                c.set_dy(0, where(y.apply("Greater", zeros_like(y)), c.dx(), zeros_like(y)));
              },
          .reference = {.numpy = "np.maximum(features, 0)"},
          .in_place_inputs = 1,
          .python_names = "nn.relu"},
    OpDef{.name = "Softplus",
          .signature = "features: T -> activations: T",
          .doc = "log(1 + e^x) of each element, without overflow; error below 3 ulp. The "
                 "activations have the shape and dtype of the features.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kFloating}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, math_formula<recording::Softplus>()},
          .gradient = &unary_gradient<softplus_derivative>,
          .forward = &unary_forward<softplus_derivative>,
          .reference = {.numpy = "np.log1p(np.exp(features))"},
          .in_place_inputs = 1,
          .python_names = "math.softplus nn.softplus"}};

}  // namespace
GW_REGISTER_OPS(kMathOps);
}  // namespace graphwright

#endif
