// Elementwise functions of numbers.
#include "formulas/exponential.h"
#include "kernels/formula_family.h"

namespace graphwright::GW_NUMBERS {
namespace {

struct Tanh : Unary {
  static constexpr DTypeSet kTypes = kFloating;
  template <class V>
  static V apply(V x) {
    return tanh(x);
  }
};

struct Add : Binary {
  static constexpr DTypeSet kTypes = kNumeric | kFloat8;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x, V y) {
    return x + y;
  }
};

}  // namespace
}  // namespace graphwright::GW_NUMBERS

GW_FORMULA_FAMILY(math, Tanh, Add)

#ifndef GW_ISA

#include "ir/opdef.h"
#include "ir/rule_context.h"

namespace graphwright {
namespace {

constexpr std::array<OpDef, 2> kMathOps{{
    {.name = "Tanh",
     .signature = "x: T -> y: T",
     .doc = "Hyperbolic tangent of each element. y has the shape and dtype of x.",
     .traits = kPure | kElementwise,
     .types = {{{"T", kFloating}}},
     .shape = &shape_unchanged,
     .compute = {ComputeKind::kFormula, math_formula<recording::Tanh>()},
     .gradient = [](GradientContext& c) { c.set_dx(0, c.dy() * (1.0 - c.y() * c.y())); },
     .forward = [](ForwardContext& c) { c.set_dy(0, c.dx() * (1.0 - c.y() * c.y())); },
     .reference = {.numpy = "np.tanh(x)"},
     .in_place_inputs = 1,
     .python_names = "tanh math.tanh nn.tanh"},
    {.name = "AddV2",
     .signature = "x: T, y: T -> z: T",
     .doc = "x + y of each pair of elements, broadcast as NumPy does. Integers wrap.",
     .traits = kPure | kElementwise | kCommutative,
     .types = {{{"T", kNumeric | kFloat8}}},
     .shape = &shape_broadcast,
     .compute = {ComputeKind::kFormula, math_formula<recording::Add>()},
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
}};
[[maybe_unused]] const bool math_ops_are_registered = (register_ops(kMathOps), true);

}  // namespace
GW_CHECK_OP_TABLE(kMathOps);
}  // namespace graphwright

#endif
