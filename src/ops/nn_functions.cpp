// Functions of neural networks.
#include <algorithm>
#include <cctype>

#include "ops/function_support.h"

namespace graphwright {
namespace {

// A function of rows applied along another axis than the last: swapped there and back.
CallResult along_axis(CallContext& context, std::string_view op) {
  Builder& builder = context.builder();
  Algebra f(builder);
  Expression x = context.tensor(0);
  int64_t axis = context.is_none(1) ? -1 : context.integer(1);
  PartialShape shape = shape_of(x);
  if (axis == -1 || (shape.has_rank() && axis == shape.rank() - 1)) {
    return apply_op(context, op, {x});
  }
  if (!shape.has_rank()) throw_value_error("axis other than -1 needs a tensor of known rank");
  std::optional<int> normal = normalize_axis(axis, shape.rank());
  if (!normal) {
    throw Error(Code::kInvalidArgument, "axis " + std::to_string(axis) + " is not in [" +
                                            std::to_string(-shape.rank()) + ", " +
                                            std::to_string(shape.rank()) + ")")
        .with_argument("axis");
  }
  std::vector<int64_t> order;
  for (int64_t i = 0; i < shape.rank(); ++i) order.push_back(i);
  std::swap(order[static_cast<size_t>(*normal)], order.back());
  Expression swapped = f.call("Transpose", {x, f.int32_vector(order)});
  return apply_op(context, "Transpose", {swapped.apply(op), integer_vector(DType::kInt32, order)});
}
CallResult softmax(CallContext& context) { return along_axis(context, "Softmax"); }
CallResult log_softmax(CallContext& context) { return along_axis(context, "LogSoftmax"); }

// An int, or one or two or four ints, as an attribute with one value per dimension.
std::vector<int64_t> per_dimension(const std::vector<int64_t>& values, bool channels_last,
                                   std::string_view name) {
  size_t height = channels_last ? 1 : 2;
  std::vector<int64_t> result(4, 1);
  if (values.size() == 4) return values;
  if (values.size() != 1 && values.size() != 2) {
    throw Error(ErrorKind::kValueError, std::string(name) +
                                            " should be of length 1, 2 or 4 but "
                                            "was " +
                                            std::to_string(values.size()))
        .with_argument(name);
  }
  result[height] = values.front();
  result[height + 1] = values.back();
  return result;
}
// conv2d(input, filters, strides, padding, data_format, dilations)
CallResult conv2d(CallContext& context) {
  std::string format = context.string(4);
  // Formats and paddings that there are not are the op's to refuse.
  bool channels_last = !format.starts_with("NC");
  std::string padding;
  std::vector<int64_t> explicit_paddings;
  if (const auto* text = std::get_if<std::string>(&context.argument(3))) {
    padding = *text;
    if (padding == "EXPLICIT") {
      throw Error(ErrorKind::kValueError,
                  "padding must be SAME, VALID or a list of pairs, got " + *text)
          .with_argument("padding");
    }
  } else {
    Tensor pairs = constant_value(std::get<Operand>(context.argument(3)));
    if (!pairs || pairs.rank() != 2 || pairs.dim(0) != 4 || pairs.dim(1) != 2) {
      throw Error(ErrorKind::kValueError,
                  "explicit padding must be a list of 4 pairs of ints, one per dimension")
          .with_argument("padding");
    }
    padding = "EXPLICIT";
    explicit_paddings = integer_values(pairs);
  }
  std::vector<int64_t> dilations =
      context.is_none(5) ? std::vector<int64_t>(4, 1)
                         : per_dimension(context.integers(5), channels_last, "dilations");
  return apply_op(context, "Conv2D", {context.operand(0), context.operand(1)},
                  {{"strides", per_dimension(context.integers(2), channels_last, "strides")},
                   {"padding", padding},
                   {"explicit_paddings", explicit_paddings},
                   {"data_format", format},
                   {"dilations", dilations}});
}

CallResult bias_add(CallContext& context) {
  std::string format = "NHWC";
  if (!context.is_none(2)) {
    format = context.string(2);
    // Any layout whose channels come second or last.
    if (format.starts_with("NC")) {
      format = "NCHW";
    } else if (format.starts_with("N") && format.ends_with("C")) {
      format = "NHWC";
    } else {
      throw Error(ErrorKind::kValueError,
                  "`data_format` must be of the form `N...C` or `NC...`. "
                  "Received: data_format=" +
                      format)
          .with_argument("data_format");
    }
  }
  return apply_op(context, "BiasAdd", {context.operand(0), context.operand(1)},
                  {{"data_format", format}});
}

// Labels have the dims of logits without the last one.
void check_label_shape(const PartialShape& labels, const PartialShape& logits) {
  if (!labels.has_rank() || !logits.has_rank() || logits.rank() == 0) return;
  bool fits = labels.rank() == logits.rank() - 1;
  for (int i = 0; fits && i < labels.rank(); ++i) {
    Dim left = labels.dim(i), right = logits.dim(i);
    fits = !is_known(left) || !is_known(right) || left == right;
  }
  if (fits) return;
  throw_value_error(
      "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
      "labels.shape=" +
      labels.without_symbols().to_string() +
      " and logits.shape=" + logits.without_symbols().to_string());
}

// sparse_softmax_cross_entropy_with_logits(labels, logits): rows may have any number of dimensions.
CallResult sparse_cross_entropy(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  Expression labels = context.tensor(0), logits = context.tensor(1);
  if (labels.operand().is_tensor() && !builder.is_eager()) {
    labels = {builder, builder.constant(labels.operand().tensor(), "Const")};
  }
  PartialShape shape = shape_of(logits);
  check_label_shape(shape_of(labels), shape);
  DType dtype = logits.dtype();
  bool narrow = dtype == DType::kHalf || dtype == DType::kBfloat16;
  if (narrow) logits = f.cast(logits, DType::kFloat);
  OperandVector outputs;
  const OpDef& op = get_op("SparseSoftmaxCrossEntropyWithLogits");
  if (shape.has_rank() && shape.rank() == 2) {
    Operand inputs[] = {logits, labels};
    builder.apply(op, inputs, {}, outputs);
    Expression loss{builder, outputs[0]};
    return (narrow ? f.cast(loss, dtype) : loss).operand();
  }
  if (shape.has_rank() && shape.rank() == 0) {
    throw_value_error("`logits` cannot be a scalar.");
  }
  Expression classes = f.reshape(
      f.call("StridedSlice",
             {f.shape_of(logits), f.int32_vector({-1}), f.int32_vector({0}), f.int32_vector({1})},
             {{"end_mask", int64_t{1}}}),
      f.int32_vector({1}));
  Expression rows =
      f.reshape(logits, f.call("ConcatV2", {f.int32_vector({-1}), classes, f.int32(0)}));
  Operand inputs[] = {rows, f.reshape(labels, f.int32_vector({-1}))};
  builder.apply(op, inputs, {}, outputs);
  Expression loss = f.reshape_like(outputs[0], labels);
  return (narrow ? f.cast(loss, dtype) : loss).operand();
}

// max(x, 0) - x z + log(1 + exp(-|x|))
CallResult sigmoid_cross_entropy(CallContext& context) {
  Builder& builder = context.builder();
  Expression labels = context.tensor(0), logits = context.tensor(1);
  if (!shape_of(labels).is_compatible_with(shape_of(logits))) {
    throw_value_error("`logits` and `labels` must have the same shape, received (" +
                      shape_of(logits).to_string() + " vs " + shape_of(labels).to_string() + ").");
  }
  Expression zeros{builder, zeros_like(builder, logits)};
  Expression positive = logits.apply("GreaterEqual", zeros);
  Expression relu{builder, builder.op("SelectV2", {positive, logits, zeros})};
  Expression negative{builder, builder.op("SelectV2", {positive, -logits, logits})};
  Expression linear = relu - logits * labels;
  return builder.op("AddV2", {linear, negative.apply("Exp").apply("Log1p")}, {}, context.name());
}

CallResult leaky_relu(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0);
  Expression scaled = x * context.real(1);
  Expression zeros{builder, zeros_like(builder, x)};
  return builder.op("SelectV2", {x.apply("Greater", zeros), x, scaled}, {}, context.name());
}

CallResult l2_loss(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0);
  Expression sum = inner_op(builder, "Sum", {x * x, reduction_axes(builder, NoneValue{}, x)});
  return builder.op("Mul", {sum, builder.scalar(0.5, x.dtype())}, {}, context.name());
}

constexpr std::array kTable{
    FunctionDef{.names = "nn.softmax math.softmax",
                .signature = "logits: T, axis: int? = None",
                .doc = "exp(x - max) / sum(exp(x - max)) along an axis, the last if None.",
                .body = softmax,
                .types = {{{"T", kFloating}}}},
    FunctionDef{.names = "nn.log_softmax math.log_softmax",
                .signature = "logits: T, axis: int? = None",
                .doc = "x - max - log(sum(exp(x - max))) along an axis, the last if None.",
                .body = log_softmax,
                .types = {{{"T", kFloating}}}},
    FunctionDef{.names = "nn.conv2d",
                .signature = "input: T, filters: T, strides: ints, padding: padding, "
                             "data_format: str = 'NHWC', dilations: ints? = None",
                .doc = "Two-dimensional convolution of images [batch, height, width, channels] "
                       "(or NCHW) with filters [height, width, channels / groups, output "
                       "channels]. strides and dilations are one int, two, or four; padding is "
                       "SAME, VALID, or four pairs of ints. InvalidArgumentError (ValueError "
                       "while tracing) where sizes do not fit.",
                .body = conv2d,
                .types = {{{"T", kFloating | DTypeSet::of(DType::kInt32)}}}},
    FunctionDef{.names = "nn.bias_add",
                .signature = "value: T, bias: T, data_format: str? = None",
                .doc = "value + bias along the channels: the last dimension, or the second for "
                       "data formats NC...",
                .body = bias_add,
                .types = {{{"T", kNumeric}}},
                .node_name = "BiasAdd"},
    FunctionDef{.names = "nn.sparse_softmax_cross_entropy_with_logits",
                .signature = "labels: index, logits: T",
                .doc = "-log(softmax(logits)[label]) of each row of logits, the shape of labels. "
                       "InvalidArgumentError for a label outside [0, number of classes).",
                .body = sparse_cross_entropy,
                .types = {{{"T", kFloating}}},
                .node_name = "SparseSoftmaxCrossEntropyWithLogits",
                .constants_by_body = true},
    FunctionDef{.names = "nn.sigmoid_cross_entropy_with_logits",
                .signature = "labels: T, logits: T",
                .doc = "-z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)) for labels z and logits x "
                       "of one shape, without overflow.",
                .body = sigmoid_cross_entropy,
                .types = {{{"T", kFloating}}},
                .node_name = "logistic_loss"},
    FunctionDef{.names = "nn.leaky_relu",
                .signature = "features: T, alpha: float = 0.2",
                .doc = "x where x > 0, else alpha * x.",
                .body = leaky_relu,
                .types = {{{"T", kFloating}}},
                .node_name = "LeakyRelu"},
    FunctionDef{.names = "nn.l2_loss",
                .signature = "t: T",
                .doc = "Half the sum of the squares of all elements.",
                .body = l2_loss,
                .types = {{{"T", kFloating}}},
                .node_name = "L2Loss"},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
