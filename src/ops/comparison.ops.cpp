// Elementwise comparisons, logic and choice.
#include "formulas/complex.h"
#include "kernels/formula_family.h"

namespace graphwright::GW_NUMBERS {
namespace {

struct Equal : Comparison {
  static constexpr DTypeSet kTypes = kDense;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x, V y) {
    return x == y;
  }
};

struct NotEqual : Comparison {
  static constexpr DTypeSet kTypes = kDense;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x, V y) {
    return x != y;
  }
};

struct Less : Comparison {
  static constexpr DTypeSet kTypes = kRealNumeric | kFloat8;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x, V y) {
    return x < y;
  }
};

struct LessEqual : Comparison {
  static constexpr DTypeSet kTypes = kRealNumeric | kFloat8;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x, V y) {
    return x <= y;
  }
};

struct Greater : Comparison {
  static constexpr DTypeSet kTypes = kRealNumeric | kFloat8;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x, V y) {
    return x > y;
  }
};

struct GreaterEqual : Comparison {
  static constexpr DTypeSet kTypes = kRealNumeric | kFloat8;
  template <class V>
  static MaskOf<RealOf<V>> apply(V x, V y) {
    return x >= y;
  }
};

// V is a mask here.
struct LogicalAnd : LogicalBinary {
  static constexpr DTypeSet kTypes = DTypeSet::of(DType::kBool);
  template <class V>
  static V apply(V x, V y) {
    return x & y;
  }
};

struct LogicalOr : LogicalBinary {
  static constexpr DTypeSet kTypes = DTypeSet::of(DType::kBool);
  template <class V>
  static V apply(V x, V y) {
    return x | y;
  }
};

struct LogicalNot : LogicalUnary {
  static constexpr DTypeSet kTypes = DTypeSet::of(DType::kBool);
  template <class V>
  static V apply(V x) {
    return !x;
  }
};

struct Select
    : Formula<OperandRole::kValue, OperandRole::kMask, OperandRole::kValue, OperandRole::kValue> {
  static constexpr DTypeSet kTypes = kDense;
  static constexpr bool kSignAgnostic = true;
  template <class M, class V>
  static V apply(M condition, V t, V e) {
    return select(condition, t, e);
  }
};

}  // namespace
}  // namespace graphwright::GW_NUMBERS

GW_FORMULA_FAMILY(comparison, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, LogicalAnd,
                  LogicalOr, LogicalNot, Select)

#ifndef GW_ISA

#include "ops/elementwise_rules.h"
#include "ops/op_support.h"
#include "ops/string_support.h"

namespace graphwright {
namespace {

using E = Expression;

constexpr std::array kComparisonOps{
    OpDef{
        .name = "Equal",
        .signature = "x: T, y: T -> z: bool",
        .doc =
            "Whether x == y of each pair of elements, broadcast as NumPy does. NaN equals nothing.",
        .traits = kPure | kElementwise | kCommutative | kZeroDerivative,
        .types = {{{"T", kAnyTensor}}},
        .shape = &shape_broadcast,
        .compute = {ComputeKind::kFormula, comparison_formula<recording::Equal>(), string_equal},
        .gradient = Absent{"the output is bool"},
        .forward = Absent{"the output is bool"},
        .reference = {.numpy = "np.equal(x, y)"}},
    OpDef{.name = "NotEqual",
          .signature = "x: T, y: T -> z: bool",
          .doc = "Whether x != y of each pair of elements, broadcast as NumPy does. NaN differs "
                 "from everything.",
          .traits = kPure | kElementwise | kCommutative | kZeroDerivative,
          .types = {{{"T", kAnyTensor}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::NotEqual>(),
                      string_not_equal},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.not_equal(x, y)"}},
    OpDef{.name = "Less",
          .signature = "x: T, y: T -> z: bool",
          .doc = "Whether x < y of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::Less>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.less(x, y)"},
          .python_names = "less math.less"},
    OpDef{.name = "LessEqual",
          .signature = "x: T, y: T -> z: bool",
          .doc = "Whether x <= y of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::LessEqual>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.less_equal(x, y)"},
          .python_names = "less_equal math.less_equal"},
    OpDef{.name = "Greater",
          .signature = "x: T, y: T -> z: bool",
          .doc = "Whether x > y of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::Greater>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.greater(x, y)"},
          .python_names = "greater math.greater"},
    OpDef{.name = "GreaterEqual",
          .signature = "x: T, y: T -> z: bool",
          .doc = "Whether x >= y of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kRealNumeric}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::GreaterEqual>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.greater_equal(x, y)"},
          .python_names = "greater_equal math.greater_equal"},
    OpDef{.name = "LogicalAnd",
          .signature = "x: bool, y: bool -> z: bool",
          .doc = "x and y of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise | kCommutative | kZeroDerivative,
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::LogicalAnd>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.logical_and(x, y)"},
          .python_names = "logical_and math.logical_and"},
    OpDef{.name = "LogicalOr",
          .signature = "x: bool, y: bool -> z: bool",
          .doc = "x or y of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise | kCommutative | kZeroDerivative,
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::LogicalOr>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.logical_or(x, y)"},
          .python_names = "logical_or math.logical_or"},
    OpDef{.name = "LogicalNot",
          .signature = "x: bool -> y: bool",
          .doc = "not x of each element. y has the shape of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, comparison_formula<recording::LogicalNot>()},
          .gradient = Absent{"the output is bool"},
          .forward = Absent{"the output is bool"},
          .reference = {.numpy = "np.logical_not(x)"},
          .python_names = "logical_not math.logical_not"},
    OpDef{
        .name = "SelectV2",
        .signature = "condition: bool, t: T, e: T -> output: T",
        .doc = "t where condition holds, e elsewhere; the three are broadcast as NumPy does.",
        .traits = kPure | kElementwise,
        .types = {{{"T", kAnyTensor}}},
        .shape = &shape_broadcast,
        .compute = {ComputeKind::kFormula, comparison_formula<recording::Select>(), string_select},
        .gradient =
            [](GradientContext& c) {
              E zero = zeros_like(c.dy());
              if (c.needs(1)) c.set_dx_unbroadcast(1, where(c.x(0), c.dy(), zero));
              if (c.needs(2)) c.set_dx_unbroadcast(2, where(c.x(0), zero, c.dy()));
            },
        .forward = [](ForwardContext& c) { c.set_dy(0, where(c.x(0), c.dx(1), c.dx(2))); },
        .reference = {.numpy = "np.where(condition, t, e)"},
        .in_place_inputs = 6}};

}  // namespace
GW_REGISTER_OPS(kComparisonOps);
}  // namespace graphwright

#endif
