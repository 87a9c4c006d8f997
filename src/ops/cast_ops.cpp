// Conversion between dtypes.
#include "kernels/cast.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

void cast_kernel(KernelContext& context) {
  const Tensor& x = context.input(0);
  DType to = context.attributes().type("DstT");
  if (x.dtype() == to) return forward_input(context);
  if (!can_cast(x.dtype(), to)) {
    throw Error(Code::kUnimplemented, "Cast " + std::string(dtype_name(x.dtype())) + " to " +
                                          std::string(dtype_name(to)) + " is not supported")
        .with_op("Cast");
  }
  if (context.attributes().boolean("Truncate") && is_floating(to)) {
    throw Error(Code::kUnimplemented,
                "Cast: truncating instead of rounding to floating dtypes is not implemented")
        .with_op("Cast")
        .with_argument("Truncate");
  }
  Tensor& output = context.require_output(0, to, x.dims());
  cast_elements(x.dtype(), x.raw_data(), to, output.mutable_raw_data(), x.element_count());
}
constexpr DTypeSet kDifferentiable = kFloating | kComplex;
bool is_differentiable(DType from, DType to) {
  return kDifferentiable.contains(from) && kDifferentiable.contains(to);
}
void gradient_cast(GradientContext& context) {
  DType from = dtype_of(context.x()), to = dtype_of(context.y());
  if (!context.needs(0) || !context.has_dy() || !is_differentiable(from, to)) return;
  context.set_dx(0, Algebra(context.builder()).cast(context.dy(), from));
}
void forward_cast(ForwardContext& context) {
  DType from = dtype_of(context.x()), to = dtype_of(context.y());
  if (!context.has_dx() || !is_differentiable(from, to)) return;
  context.set_dy(0, Algebra(context.builder()).cast(context.dx(), to));
}
void constant_cast(ConstantContext& context) {
  // Between int32 and int64, for values that fit both.
  if (!kIndex.contains(dtype_of(context.input(0))) ||
      !kIndex.contains(context.attributes().type("DstT"))) {
    return;
  }
  std::optional<PartialVector> values = partial_constant_vector(context.input(0));
  if (!values) return;
  for (size_t i = 0; i < values->values.size(); ++i) {
    int64_t value = values->values[i];
    if (values->known[i] && value != static_cast<int32_t>(value)) return;
  }
  context.set(std::move(*values));
}

constexpr std::array kTable{
    OpDef{
        .name = "Cast",
        .signature = "x: SrcT; DstT: type, Truncate: bool=false -> y: DstT",
        .doc = "x converted to DstT: floating to integer towards zero, with the most negative "
               "number for NaN and what does not fit; integers wrap; complex to real drops the "
               "imaginary part; to bool says whether an element is not zero. Unimplemented for "
               "strings.",
        .traits = kPure,
        .types = {{{"SrcT", kAnyTensor}, {"DstT", kAnyTensor}}},
        .shape = shape_unchanged,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<cast_kernel>},
        .gradient = gradient_cast,
        .forward = forward_cast,
        .reference = {.reason = "between all dtypes: tests/python/test_cast.py"},
        .constant = constant_cast,
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
