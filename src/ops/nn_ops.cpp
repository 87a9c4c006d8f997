// Ops of neural networks other than convolutions.
#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/reduction.h"
#include "kernels/softmax.h"
#include "ops/gather_support.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// --- Softmax, LogSoftmax ---

void shape_softmax(ShapeContext& context) {
  context.set_output(0, context.require_rank_at_least(0, 1));
}
template <bool Logarithm>
void softmax_kernel(KernelContext& context) {
  const Tensor& logits = context.input(0);
  if (logits.rank() < 1) fail(context, "logits", "logits must have >= 1 dimension, got []");
  Tensor& output = context.require_output(0, logits.dtype(), logits.dims());
  int64_t columns = logits.dim(logits.rank() - 1);
  if (logits.element_count() == 0) return;
  kernels::softmax(logits.dtype(), logits.raw_data(), logits.element_count() / columns, columns,
                   Logarithm, output.mutable_raw_data());
}
Expression last_axis_sum(const Algebra& f, const Expression& x) {
  return f.sum(x, f.int32_vector({-1}), true);
}
void gradient_softmax(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression y = context.y(), dy = context.dy();
  context.set_dx(0, (dy - last_axis_sum(f, dy * y)) * y);
}
void forward_softmax(ForwardContext& context) {
  if (!context.has_dx()) return;
  Algebra f(context.builder());
  Expression y = context.y(), dx = context.dx();
  context.set_dy(0, y * (dx - last_axis_sum(f, y * dx)));
}
void gradient_log_softmax(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression dy = context.dy();
  context.set_dx(0, dy - last_axis_sum(f, dy) * context.y().apply("Exp"));
}
void forward_log_softmax(ForwardContext& context) {
  if (!context.has_dx()) return;
  Algebra f(context.builder());
  Expression dx = context.dx();
  context.set_dy(0, dx - last_axis_sum(f, context.y().apply("Exp") * dx));
}

// --- BiasAdd, BiasAddGrad ---

int channel_axis(const AttributeReader& attributes, int rank) {
  return attributes.string("data_format") == "NCHW" ? 1 : rank - 1;
}
void shape_bias_add(ShapeContext& context) {
  PartialShape value = context.require_rank_at_least(0, 2), bias = context.require_rank(1, 1);
  if (value.has_rank()) {
    int axis = channel_axis(context.attributes(), value.rank());
    if (is_known(value.dim(axis)) && is_known(bias.dim(0)) && value.dim(axis) != bias.dim(0)) {
      context.fail("Must provide as many biases as the last dimension of the input tensor: " +
                   shape_text(bias) + " vs. " + shape_text(value));
    }
  }
  context.set_output(0, std::move(value));
}
void bias_add_kernel(KernelContext& context) {
  const Tensor& value = context.input(0);
  const Tensor& bias = context.input(1);
  Tensor& output = infer_output(context, value.dtype());
  // The bias as a tensor that broadcasts along every dimension but the channels'.
  std::vector<int64_t> dims(static_cast<size_t>(value.rank()), 1);
  dims[static_cast<size_t>(channel_axis(context.attributes(), value.rank()))] = bias.dim(0);
  ElementwiseOperand operands[] = {{value.raw_data(), value.dims(), {}},
                                   {bias.raw_data(), dims, {}}};
  run_elementwise(*find_formula("Add"), value.dtype(), output.mutable_raw_data(), output.dims(),
                  operands);
}
void gradient_bias_add(GradientContext& context) {
  if (!context.has_dy()) return;
  if (context.needs(0)) context.set_dx(0, context.dy());
  if (context.needs(1)) {
    context.set_dx(1, context.builder().op("BiasAddGrad", {context.dy()},
                                           copy_attributes(context.attributes(), "BiasAddGrad")));
  }
}
void shape_bias_add_grad(ShapeContext& context) {
  PartialShape value = context.require_rank_at_least(0, 2);
  context.set_output(0,
                     {value.has_rank() ? value.dim(channel_axis(context.attributes(), value.rank()))
                                       : kUnknownDim});
}
void bias_add_grad_kernel(KernelContext& context) {
  const Tensor& value = context.input(0);
  Tensor& output = infer_output(context, value.dtype());
  std::vector<bool> reduced(static_cast<size_t>(value.rank()), true);
  reduced[static_cast<size_t>(channel_axis(context.attributes(), value.rank()))] = false;
  reduce(ReductionKind::kSum, value.dtype(), value.raw_data(), value.dims(), reduced,
         output.mutable_raw_data());
}
void gradient_bias_add_grad(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  PartialShape shape = shape_of(context.x());
  if (!shape.has_rank()) {
    throw_unimplemented("BiasAddGrad: its gradient needs an input of known rank");
  }
  std::vector<int64_t> dims(static_cast<size_t>(shape.rank()), 1);
  dims[static_cast<size_t>(channel_axis(context.attributes(), shape.rank()))] = -1;
  Expression wide = f.reshape(context.dy(), f.int32_vector(dims));
  context.set_dx(0, f.call("BroadcastTo", {wide, f.shape_of(context.x())}));
}

// --- Cross entropies: the loss of each row, and its gradient by the logits ---

void shape_sparse_cross_entropy(ShapeContext& context) {
  PartialShape features = context.require_rank(0, 2), labels = context.require_rank(1, 1);
  if (is_known(features.dim(0)) && is_known(labels.dim(0)) && features.dim(0) != labels.dim(0)) {
    context.fail("logits and labels must have the same first dimension, got logits shape " +
                 shape_text(features) + " and labels shape " + shape_text(labels));
  }
  context.set_output(0, {is_known(features.dim(0)) ? features.dim(0) : labels.dim(0)});
  context.set_output(1, std::move(features));
}
template <class T>
void sparse_rows(const Tensor& labels, int64_t columns, const T* logarithms, const T* powers,
                 T* loss, T* slope) {
  for (int64_t row = 0; row < labels.element_count(); ++row) {
    int64_t label = integer_at(labels, row);
    for (int64_t i = 0; i < columns; ++i) {
      slope[row * columns + i] = powers[row * columns + i] - (i == label ? T(1) : T(0));
    }
    loss[row] = -logarithms[row * columns + label];
  }
}
void sparse_cross_entropy_kernel(KernelContext& context) {
  const Tensor& features = context.input(0);
  const Tensor& labels = context.input(1);
  std::vector<ValueType> outputs = infer_outputs(context);
  int64_t rows = features.dim(0), columns = features.dim(1);
  DType dtype = features.dtype();
  Tensor& loss = context.require_output(0, dtype, outputs[0].shape.dims());
  Tensor& slope = context.require_output(1, dtype, outputs[1].shape.dims());
  for (int64_t i = 0; i < rows; ++i) {
    int64_t label = integer_at(labels, i);
    if (label < 0 || label >= columns) {
      fail(context, "labels",
           "Received a label value of " + std::to_string(label) +
               " which is outside the valid range of [0, " + std::to_string(columns) + ").");
    }
  }
  if (features.element_count() == 0) return;
  Tensor logarithms = Tensor::empty(dtype, features.dims());
  Tensor powers = Tensor::empty(dtype, features.dims());
  kernels::softmax(dtype, features.raw_data(), rows, columns, true, logarithms.mutable_raw_data());
  kernels::softmax(dtype, features.raw_data(), rows, columns, false, powers.mutable_raw_data());
  if (dtype == DType::kFloat) {
    sparse_rows(labels, columns, logarithms.data<float>(), powers.data<float>(),
                loss.mutable_data<float>(), slope.mutable_data<float>());
  } else {
    sparse_rows(labels, columns, logarithms.data<double>(), powers.data<double>(),
                loss.mutable_data<double>(), slope.mutable_data<double>());
  }
}
Expression as_column(const Algebra& f, const Operand& rows) {
  return f.call("ExpandDims", {rows, f.int32(-1)});
}
// The second output is itself differentiable: softmax minus a constant.
void gradient_cross_entropy(GradientContext& context) {
  if (!context.needs(0)) return;
  Algebra f(context.builder());
  Expression total;
  if (context.has_dy(0)) total = as_column(f, context.dy(0)) * context.y(1);
  if (context.has_dy(1)) {
    Expression dy = context.dy(1), p = context.x(0).apply("Softmax");
    Expression part = (dy - last_axis_sum(f, dy * p)) * p;
    total = total ? total + part : part;
  }
  if (total) context.set_dx(0, total);
}
void forward_cross_entropy(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  Algebra f(context.builder());
  Expression dx = context.dx(0), p = context.x(0).apply("Softmax");
  context.set_dy(0, f.sum(dx * context.y(1), f.int32_vector({-1})));
  context.set_dy(1, p * (dx - last_axis_sum(f, p * dx)));
}

#define GW_DATA_FORMAT "data_format: {'NHWC','NCHW'}='NHWC'"

constexpr std::array kTable{
    OpDef{
        .name = "Softmax",
        .signature = "logits: T -> softmax: T",
        .doc = "exp(x - max) / sum(exp(x - max)) along the last dimension. InvalidArgument for a "
               "scalar.",
        .traits = kPure,
        .types = {{{"T", kFloating}}},
        .shape = shape_softmax,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<softmax_kernel<false>>},
        .gradient = gradient_softmax,
        .forward = forward_softmax,
        .reference = {.reason = "along rows: tests/python/test_nn.py"},
    },
    OpDef{
        .name = "LogSoftmax",
        .signature = "logits: T -> logsoftmax: T",
        .doc = "x - max - log(sum(exp(x - max))) along the last dimension. InvalidArgument for a "
               "scalar.",
        .traits = kPure,
        .types = {{{"T", kFloating}}},
        .shape = shape_softmax,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<softmax_kernel<true>>},
        .gradient = gradient_log_softmax,
        .forward = forward_log_softmax,
        .reference = {.reason = "along rows: tests/python/test_nn.py"},
    },
    OpDef{
        .name = "BiasAdd",
        .signature = "value: T, bias: T; " GW_DATA_FORMAT " -> output: T",
        .doc = "value + bias along the channels: the last dimension, or the second for NCHW. "
               "InvalidArgument unless bias is a vector of that size.",
        .traits = kPure,
        .types = {{{"T", kNumeric}}},
        .shape = shape_bias_add,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<bias_add_kernel>},
        .gradient = gradient_bias_add,
        .forward = forward_linear,
        .reference = {.reason = "takes a vector: tests/python/test_nn.py"},
    },
    OpDef{
        .name = "BiasAddGrad",
        .signature = "out_backprop: T; " GW_DATA_FORMAT " -> output: T",
        .doc = "The sum over all dimensions but the channels'.",
        .traits = kPure,
        .types = {{{"T", kNumeric}}},
        .shape = shape_bias_add_grad,
        .compute = {.kind = ComputeKind::kReduction, .kernel = guarded<bias_add_grad_kernel>},
        .gradient = gradient_bias_add_grad,
        .forward = forward_linear,
        .reference = {.reason = "reduces to a vector: tests/python/test_nn.py"},
    },
    OpDef{
        .name = "SparseSoftmaxCrossEntropyWithLogits",
        .signature = "features: T, labels: Tlabels -> loss: T, backprop: T",
        .doc = "For each row of features [n, classes] and its label: -log(softmax(row)[label]), "
               "and the gradient of that by the row. InvalidArgument for a label outside "
               "[0, classes).",
        .traits = kPure | kMayFail,
        .types = {{{"T", kReal32And64}, {"Tlabels", kIndex}}},
        .shape = shape_sparse_cross_entropy,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<sparse_cross_entropy_kernel>},
        .gradient = gradient_cross_entropy,
        .forward = forward_cross_entropy,
        .reference = {.reason = "takes labels: tests/python/test_nn.py"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
