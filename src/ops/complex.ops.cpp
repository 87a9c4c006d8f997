// Complex numbers and their parts.
#include "formulas/complex_functions.h"
#include "kernels/formula_family.h"

namespace graphwright::GW_NUMBERS {
namespace {

using PartOfComplex = Formula<OperandRole::kReal, OperandRole::kValue>;

struct Real : PartOfComplex {
  static constexpr DTypeSet kTypes = kComplex;
  template <class V>
  static RealOf<V> apply(V x) {
    return x.real;
  }
};

struct Imag : PartOfComplex {
  static constexpr DTypeSet kTypes = kComplex;
  template <class V>
  static RealOf<V> apply(V x) {
    return x.imaginary;
  }
};

struct ComplexAbs : PartOfComplex {
  static constexpr DTypeSet kTypes = kComplex;
  template <class V>
  static RealOf<V> apply(V x) {
    return absolute_value(x);
  }
};

struct MakeComplex : Formula<OperandRole::kValue, OperandRole::kReal, OperandRole::kReal> {
  static constexpr DTypeSet kTypes = kComplex;
  template <class V>
  static Complex<V> apply(V real, V imaginary) {
    return {real, imaginary};
  }
};

}  // namespace
}  // namespace graphwright::GW_NUMBERS

GW_FORMULA_FAMILY(complex, Real, Imag, ComplexAbs, MakeComplex)

#ifndef GW_ISA

#include "ops/elementwise_rules.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

using E = Expression;

DType real_type(DType type) { return type == DType::kComplex128 ? DType::kDouble : DType::kFloat; }
DType complex_type(DType type) {
  return type == DType::kDouble ? DType::kComplex128 : DType::kComplex64;
}

// The output's dtype follows from the input's, so that Tout may be left out, and must not differ.
void set_output_type(ShapeContext& context, DType expected, DType usual) {
  const DType asked = context.attributes().type("Tout");
  context.output_type(0).dtype = expected;
  if (asked == expected || asked == usual) return;
  context.fail("Tout is " + std::string(dtype_name(asked)) + ", but must be " +
               std::string(dtype_name(expected)) + " for an input of dtype " +
               std::string(dtype_name(context.input_dtype(0))));
}
void shape_part(ShapeContext& context) {
  set_output_type(context, real_type(context.input_dtype(0)), DType::kFloat);
  shape_unchanged(context);
}
void shape_complex(ShapeContext& context) {
  set_output_type(context, complex_type(context.input_dtype(0)), DType::kComplex64);
  shape_broadcast(context);
}

E part(const char* op, const E& x) {
  Attributes attributes = attributes_of(op, {{"Tout", real_type(x.dtype())}});
  return {x.builder(), x.builder().op(op, {x}, attributes)};
}
E from_parts(const E& real, const E& imaginary) {
  Attributes attributes = attributes_of("Complex", {{"Tout", complex_type(real.dtype())}});
  return {real.builder(), real.builder().op("Complex", {real, imaginary}, attributes)};
}

constexpr std::array kComplexOps{
    OpDef{
        .name = "Real",
        .signature = "input: T; Tout: type=float32 -> output: Tout",
        .doc = "Real part of each element, in the real dtype of T. Shape as the input's.",
        .traits = kPure | kElementwise,
        .types = {{{"T", kComplex}, {"Tout", kReal32And64}}},
        .shape = &shape_part,
        .compute = {ComputeKind::kFormula, complex_formula<recording::Real>()},
        .gradient = [](GradientContext& c) { c.set_dx(0, from_parts(c.dy(), zeros_like(c.dy()))); },
        .forward = [](ForwardContext& c) { c.set_dy(0, part("Real", c.dx())); },
        .reference = {.numpy = "np.real(input)"}},
    OpDef{
        .name = "Imag",
        .signature = "input: T; Tout: type=float32 -> output: Tout",
        .doc = "Imaginary part of each element, in the real dtype of T. Shape as the input's.",
        .traits = kPure | kElementwise,
        .types = {{{"T", kComplex}, {"Tout", kReal32And64}}},
        .shape = &shape_part,
        .compute = {ComputeKind::kFormula, complex_formula<recording::Imag>()},
        .gradient = [](GradientContext& c) { c.set_dx(0, from_parts(zeros_like(c.dy()), c.dy())); },
        .forward = [](ForwardContext& c) { c.set_dy(0, part("Imag", c.dx())); },
        .reference = {.numpy = "np.imag(input)"}},
    OpDef{.name = "ComplexAbs",
          .signature = "x: T; Tout: type=float32 -> y: Tout",
          .doc = "|x| of each element, in the real dtype of T, without needless overflow.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kComplex}, {"Tout", kReal32And64}}},
          .shape = &shape_part,
          .compute = {ComputeKind::kFormula, complex_formula<recording::ComplexAbs>()},
          .gradient =
              [](GradientContext& c) {
                c.set_dx(0, from_parts(c.dy(), zeros_like(c.dy())) * c.x().apply("Sign"));
              },
          .forward =
              [](ForwardContext& c) {
                c.set_dy(0, part("Real", c.dx() * c.x().apply("Sign").apply("Conj")));
              },
          .reference = {.numpy = "np.abs(x)"}},
    OpDef{.name = "Complex",
          .signature = "real: T, imag: T; Tout: type=complex64 -> out: Tout",
          .doc = "real + i imag of each pair of elements, broadcast as NumPy does.",
          .traits = kPure | kElementwise,
          .types = {{{"T", kReal32And64}, {"Tout", kComplex}}},
          .shape = &shape_complex,
          .compute = {ComputeKind::kFormula, complex_formula<recording::MakeComplex>()},
          .gradient =
              [](GradientContext& c) {
                if (c.needs(0)) c.set_dx_unbroadcast(0, part("Real", c.dy()));
                if (c.needs(1)) c.set_dx_unbroadcast(1, part("Imag", c.dy()));
              },
          .forward = [](ForwardContext& c) { c.set_dy(0, from_parts(c.dx(0), c.dx(1))); },
          .reference = {.numpy = "real + 1j * imag", .no_gradient_check = true}}};

}  // namespace
GW_REGISTER_OPS(kComplexOps);
}  // namespace graphwright

#endif
