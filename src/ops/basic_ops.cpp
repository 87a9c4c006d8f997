// Values as they are: constants, identities, and what is known of a tensor without its elements.
#include <algorithm>

#include "ir/resources.h"
#include "kernels/number.h"
#include "kernels/strided_copy.h"
#include "ops/list_arithmetic.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// --- Const, Placeholder ---

void shape_const(ShapeContext& context) {
  context.set_output(0, context.attributes().tensor("value").shape());
}
void constant_const(ConstantContext& context) {
  const Tensor& value = context.attributes().tensor("value");
  if (!kIndex.contains(value.dtype()) || value.rank() > 1) return;
  PartialVector result;
  result.values = integer_values(value);
  result.known.assign(result.values.size(), true);
  context.set(std::move(result));
}
void const_kernel(KernelContext& context) {
  const Tensor& value = context.attributes().tensor("value");
  if (value.dtype() != context.attributes().type("dtype")) {
    fail(context, "Const: the value has dtype " + std::string(dtype_name(value.dtype())) +
                      ", but the attribute dtype is " +
                      std::string(dtype_name(context.attributes().type("dtype"))));
  }
  context.set_output(0, value);
}

void shape_placeholder(ShapeContext& context) {
  context.set_output(0, context.attributes().shape("shape"));
}
void placeholder_kernel(KernelContext& context) {
  fail(context, "You must feed a value for placeholder tensor of dtype " +
                    std::string(dtype_name(context.attributes().type("dtype"))));
}

// --- Identities ---

void shape_identity(ShapeContext& context) {
  for (int i = 0; i < context.output_count(); ++i) {
    context.output_type(i) = context.input_type(i);
  }
}
void identity_kernel(KernelContext& context) {
  for (int i = 0; i < context.input_count(); ++i) forward_input(context, i, i);
}
void constant_identity(ConstantContext& context) {
  if (auto values = partial_constant_vector(context.input(0))) context.set(std::move(*values));
}
void gradient_identity_n(GradientContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.needs(i) && context.has_dy(i)) context.pass_dy(i, i);
  }
}
void forward_identity(ForwardContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.has_dx(i)) context.set_dy(i, context.dx(i));
  }
}
void gradient_prevented(GradientContext& context) {
  const std::string& message = context.attributes().string("message");
  throw Error(ErrorKind::kKeyError,
              "Gradient explicitly disabled" + (message.empty() ? "." : ". Reason: " + message));
}

// --- Shape, ShapeN, Size, Rank ---

void shape_shape(ShapeContext& context) {
  for (int i = 0; i < context.output_count(); ++i) {
    PartialShape shape = context.input_shape(i);
    context.set_output(i,
                       shape.has_rank() ? PartialShape{shape.rank()} : PartialShape{kUnknownDim});
  }
}
void shape_kernel(KernelContext& context) {
  DType dtype = context.attributes().type("out_type");
  for (int i = 0; i < context.input_count(); ++i) {
    const Tensor& input = context.input(i);
    Tensor& output = context.require_output(i, dtype, vector_dims(input.rank()));
    for (int axis = 0; axis < input.rank(); ++axis) {
      if (dtype == DType::kInt32 && input.dim(axis) > INT32_MAX) {
        fail(context, "Shape output type is 32-bit but dim " + std::to_string(axis) + " is " +
                          std::to_string(input.dim(axis)));
      }
      set_integer(output, axis, input.dim(axis));
    }
  }
}
void constant_shape(ConstantContext& context) {
  PartialShape shape = shape_of(context.input(0));
  if (!shape.has_rank()) return;
  PartialVector result;
  for (Dim dim : shape.dims()) {
    result.values.push_back(dim);
    result.known.push_back(is_known(dim));
  }
  context.set(std::move(result));
}
void size_kernel(KernelContext& context) {
  DType dtype = context.attributes().type("out_type");
  int64_t count = context.input(0).element_count();
  if (dtype == DType::kInt32 && count > INT32_MAX) {
    fail(context, "Number of elements was larger than representable by 32-bit output type");
  }
  set_integer(context.require_output(0, dtype, {}), 0, count);
}
void constant_size(ConstantContext& context) {
  PartialShape shape = shape_of(context.input(0));
  if (shape.is_fully_defined()) context.set({{*shape.element_count()}, {true}});
}
void rank_kernel(KernelContext& context) {
  set_integer(context.require_output(0, DType::kInt32, {}), 0, context.input(0).rank());
}
void constant_rank(ConstantContext& context) {
  PartialShape shape = shape_of(context.input(0));
  if (shape.has_rank()) context.set({{shape.rank()}, {true}});
}

// --- Fill, ZerosLike, OnesLike ---

void shape_fill(ShapeContext& context) {
  context.require_rank(1, 0);
  context.require_rank(0, 1);
  if (Tensor dims = context.constant(0)) {
    for (int64_t i = 0; i < dims.element_count(); ++i) {
      int64_t dim = integer_at(dims, i);
      if (dim < 0) context.fail("Dimension " + std::to_string(dim) + " must be >= 0");
    }
  }
  context.set_output(0, constant_as_shape(context.input(0)));
}
void fill_kernel(KernelContext& context) {
  const Tensor& dims = context.input(0);
  const Tensor& value = context.input(1);
  if (dims.rank() != 1) {
    fail(context, "dims", "dims must represent a vector, got shape " + dims_to_string(dims.dims()));
  }
  if (value.rank() != 0) {
    fail(context, "value",
         "value must represent a scalar, got shape " + dims_to_string(value.dims()));
  }
  std::vector<int64_t> shape = integer_values(dims);
  Tensor& output = context.require_output(0, value.dtype(), shape);
  kernels::fill_elements(value.dtype(), output.mutable_raw_data(), output.element_count(),
                         value.raw_data());
}
void gradient_fill(GradientContext& context) {
  if (!context.needs(1) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression dy = context.dy();
  Expression axes = f.call("Range", {f.int32(0), f.rank_of(dy), f.int32(1)});
  context.set_dx(1, f.sum(dy, axes));
}
void forward_fill(ForwardContext& context) {
  if (!context.has_dx(1)) return;
  Algebra f(context.builder());
  context.set_dy(0, f.call("Fill", {context.x(0), context.dx(1)}));
}

void shape_like(ShapeContext& context) { context.output_type(0) = context.input_type(0); }
void zeros_like_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  if (input.dtype() == DType::kVariant) {
    std::shared_ptr<ListObject> list = list_in(input);
    if (!list) fail(context, "ZerosLike of a variant that is no list");
    return context.set_output(0, Tensor::object(DType::kVariant, zeros_like_list(*list)));
  }
  Tensor& output = context.require_output(0, input.dtype(), input.dims());
  kernels::clear_elements(input.dtype(), output.mutable_raw_data(), output.element_count());
}

void ones_like_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  Tensor& output = context.require_output(0, input.dtype(), input.dims());
  if (input.dtype() == DType::kBool) {
    std::fill_n(output.mutable_data<bool>(), output.element_count(), true);
    return;
  }
  bool known = kernels::visit_number(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(output.mutable_data<T>(), output.element_count(), T(1));
  });
  if (!known) {
    fail(context, "OnesLike is not defined for dtype " + std::string(dtype_name(input.dtype())));
  }
}

constexpr OpDef kConst{
    .name = "Const",
    .signature = "; value: tensor, dtype: type -> output: dtype",
    .doc = "The tensor `value`, whose dtype is `dtype`.",
    .traits = kPure,
    .shape = shape_const,
    .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<const_kernel>},
    .gradient = Absent{"has no inputs"},
    .forward = Absent{"has no inputs"},
    .reference = {.reason = "needs a tensor attribute: tests/cpp/ops_array_test.cpp"},
    .constant = constant_const,
};

constexpr std::array kTable{
    kConst,
    OpDef{
        .name = "Placeholder",
        .signature = "; dtype: type, shape: shape=unknown -> output: dtype",
        .doc = "Stands for an argument of a graph in its exported form. Evaluating one is "
               "InvalidArgument.",
        .shape = shape_placeholder,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<placeholder_kernel>},
        .gradient = Absent{"has no inputs"},
        .forward = Absent{"has no inputs"},
        .reference = {.reason = "has no value of its own"},
    },
    OpDef{
        .name = "Identity",
        .signature = "input: T -> output: T",
        .doc = "The input, of any dtype and shape, sharing its memory.",
        .traits = kPure,
        .shape = shape_identity,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<identity_kernel>},
        .gradient = gradient_identity_n,
        .forward = forward_identity,
        .reference = {.numpy = "input"},
        .constant = constant_identity,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "IdentityN",
        .signature = "input: [T] -> output: [T]",
        .doc = "The inputs, of any dtypes and shapes, in order.",
        .traits = kPure,
        .shape = shape_identity,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<identity_kernel>},
        .gradient = gradient_identity_n,
        .forward = forward_identity,
        .reference = {.reason = "any number of inputs: tests/cpp/ops_array_test.cpp"},
    },
    OpDef{
        .name = "StopGradient",
        .signature = "input: T -> output: T",
        .doc = "The input; no gradient flows through it.",
        .traits = kPure | kZeroDerivative,
        .shape = shape_identity,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<identity_kernel>},
        .gradient = Absent{"stops gradients by definition"},
        .forward = Absent{"stops gradients by definition"},
        .reference = {.numpy = "input"},
        .constant = constant_identity,
    },
    OpDef{
        .name = "PreventGradient",
        .signature = "input: T; message: string='' -> output: T",
        .doc = "The input; asking for a gradient through it is an error with `message`.",
        .traits = kPure,
        .shape = shape_identity,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<identity_kernel>},
        .gradient = gradient_prevented,
        .forward = Absent{"asks not to be differentiated"},
        .reference = {.numpy = "input", .no_gradient_check = true},
    },
    OpDef{
        .name = "Shape",
        .signature = "input: T; out_type: type=int32 -> output: out_type",
        .doc = "The dims of the input as a vector of `out_type` (int32 or int64). "
               "InvalidArgument if a dim does not fit int32.",
        .traits = kPure | kZeroDerivative,
        .types = {{{"out_type", kIndex}}},
        .shape = shape_shape,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<shape_kernel>},
        .gradient = Absent{"does not depend on the elements"},
        .forward = Absent{"does not depend on the elements"},
        .reference = {.numpy = "np.array(input.shape, np.int32)"},
        .constant = constant_shape,
    },
    OpDef{
        .name = "ShapeN",
        .signature = "input: N * T; out_type: type=int32 -> output: N * out_type",
        .doc = "The dims of each input as a vector of `out_type` (int32 or int64).",
        .traits = kPure | kZeroDerivative,
        .types = {{{"out_type", kIndex}}},
        .shape = shape_shape,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<shape_kernel>},
        .gradient = Absent{"does not depend on the elements"},
        .forward = Absent{"does not depend on the elements"},
        .reference = {.reason = "any number of inputs: tests/cpp/ops_array_test.cpp"},
    },
    OpDef{
        .name = "Size",
        .signature = "input: T; out_type: type=int32 -> output: out_type",
        .doc = "The number of elements of the input, a scalar of `out_type` (int32 or int64). "
               "InvalidArgument if it does not fit int32.",
        .traits = kPure | kZeroDerivative,
        .types = {{{"out_type", kIndex}}},
        .shape = shape_scalar,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<size_kernel>},
        .gradient = Absent{"does not depend on the elements"},
        .forward = Absent{"does not depend on the elements"},
        .reference = {.numpy = "np.int32(input.size)"},
        .constant = constant_size,
    },
    OpDef{
        .name = "Rank",
        .signature = "input: T -> output: int32",
        .doc = "The number of dimensions of the input, an int32 scalar.",
        .traits = kPure | kZeroDerivative,
        .shape = shape_scalar,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<rank_kernel>},
        .gradient = Absent{"does not depend on the elements"},
        .forward = Absent{"does not depend on the elements"},
        .reference = {.numpy = "np.int32(input.ndim)"},
        .constant = constant_rank,
    },
    OpDef{
        .name = "Fill",
        .signature = "dims: index_type, value: T; index_type: type=int32 -> output: T",
        .doc = "A tensor of shape `dims` (a vector of int32 or int64, all >= 0) with every element "
               "equal to the scalar `value`.",
        .traits = kPure,
        .types = {{{"index_type", kIndex}}},
        .shape = shape_fill,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<fill_kernel>},
        .gradient = gradient_fill,
        .forward = forward_fill,
        .reference = {.reason = "takes a shape: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "ZerosLike",
        .signature = "x: T -> y: T",
        .doc = "Zeros (empty strings) of the dtype and shape of x.",
        .traits = kPure | kZeroDerivative,
        .shape = shape_like,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<zeros_like_kernel>},
        .gradient = Absent{"does not depend on the elements"},
        .forward = Absent{"does not depend on the elements"},
        .reference = {.numpy = "np.zeros_like(x)"},
    },
    OpDef{
        .name = "OnesLike",
        .signature = "x: T -> y: T",
        .doc = "Ones (True) of the dtype and shape of x.",
        .traits = kPure | kZeroDerivative,
        .types = {{{"T", kNumeric | DTypeSet::of(DType::kBool)}}},
        .shape = shape_like,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<ones_like_kernel>},
        .gradient = Absent{"does not depend on the elements"},
        .forward = Absent{"does not depend on the elements"},
        .reference = {.numpy = "np.ones_like(x)"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
