#include "ir/rule_context.h"

#include <algorithm>

#include "base/status.h"

namespace graphwright {
namespace {

// "[2,?]": shapes as run-time errors print them.
std::string shape_text(const PartialShape& shape) {
  if (!shape.has_rank()) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i) text += ",";
    text += is_known(shape.dim(i)) ? std::to_string(shape.dim(i)) : "?";
  }
  return text + "]";
}

bool is_differentiable(DType type) { return is_floating(type) || is_complex(type); }

}  // namespace

void ShapeContext::fail(std::string message) const {
  throw Error(Code::kInvalidArgument, std::move(message)).with_op(attributes_.op().name);
}

PartialShape ShapeContext::require_rank(int index, int rank) const {
  PartialShape shape = input_shape(index);
  if (!shape.has_rank()) return PartialShape::unknown_dims(rank);
  if (shape.rank() != rank) {
    fail("Shape must be rank " + std::to_string(rank) + " but is rank " +
         std::to_string(shape.rank()) + ": input #" + std::to_string(index) + " of " +
         std::string(attributes_.op().name) + " has shape " + shape_text(shape));
  }
  return shape;
}

PartialShape ShapeContext::require_rank_at_least(int index, int rank) const {
  PartialShape shape = input_shape(index);
  if (shape.has_rank() && shape.rank() < rank) {
    fail("Shape must be at least rank " + std::to_string(rank) + " but is rank " +
         std::to_string(shape.rank()) + ": input #" + std::to_string(index) + " of " +
         std::string(attributes_.op().name) + " has shape " + shape_text(shape));
  }
  return shape;
}

void shape_unchanged(ShapeContext& context) { context.set_output(0, context.input_shape(0)); }

void shape_broadcast(ShapeContext& context) {
  PartialShape shape = context.input_shape(0);
  for (int i = 1; i < context.input_count(); ++i) {
    PartialShape other = context.input_shape(i);
    std::optional<PartialShape> both = broadcast_shapes(shape, other);
    if (!both) {
      context.fail("Incompatible shapes: " + shape_text(shape) + " vs. " + shape_text(other));
    }
    shape = std::move(*both);
  }
  context.set_output(0, std::move(shape));
}

void shape_scalar(ShapeContext& context) {
  for (int i = 0; i < context.output_count(); ++i) context.set_output(i, PartialShape::scalar());
}

void shape_none(ShapeContext&) {}

void shape_unknown(ShapeContext& context) {
  for (int i = 0; i < context.output_count(); ++i) context.set_output(i, PartialShape::unknown());
}

Expression GradientContext::dy(int output) {
  const Gradient& gradient = output_gradients_[static_cast<size_t>(output)];
  if (!gradient) return {builder_, zeros_like(builder_, outputs_[static_cast<size_t>(output)])};
  return {builder_, dense_gradient(builder_, gradient)};
}

Expression GradientContext::total(int input) {
  size_t i = static_cast<size_t>(input);
  if (i >= totals_.size() || !totals_[i]) return {};
  return {builder_, dense_gradient(builder_, *totals_[i])};
}

void GradientContext::set_dx_unbroadcast(int input, const Expression& gradient) {
  set_dx(input, sum_to_shape_of(builder_, gradient.operand(), inputs_[static_cast<size_t>(input)]));
}

Expression ForwardContext::dx(int input) {
  const Operand& tangent = input_tangents_[static_cast<size_t>(input)];
  if (tangent) return {builder_, tangent};
  return {builder_, zeros_like(builder_, inputs_[static_cast<size_t>(input)])};
}

void forward_linear(ForwardContext& context) {
  OperandVector inputs;
  for (int i = 0; i < context.input_count(); ++i) {
    const Operand& input = context.inputs()[static_cast<size_t>(i)];
    inputs.push_back(is_differentiable(dtype_of(input)) ? context.dx(i).operand() : input);
  }
  OperandVector outputs;
  context.builder().apply(context.attributes().op(), inputs, context.attributes().attributes(),
                          outputs);
  for (int i = 0; i < context.output_count(); ++i) {
    const Operand& output = outputs[static_cast<size_t>(i)];
    if (is_differentiable(dtype_of(output))) context.set_dy(i, output);
  }
}

Operand dense_gradient(Builder& builder, const Gradient& gradient) {
  if (!gradient.is_indexed_slices()) return gradient.values;
  // Rows of equal index add up. The number of rows is the dense shape's first element.
  Operand rows = builder.op("GatherV2", {gradient.dense_shape, builder.scalar(0, DType::kInt32),
                                         builder.scalar(0, DType::kInt32)});
  return builder.op("UnsortedSegmentSum", {gradient.values, gradient.indices, rows});
}

Operand sum_to_shape_of(Builder& builder, const Operand& value, const Operand& like) {
  PartialShape from = shape_of(value);
  PartialShape to = shape_of(like);
  if (from == to && from.has_rank() &&
      std::ranges::none_of(from.dims(), [](Dim dim) { return dim == kUnknownDim; })) {
    return value;
  }
  bool decided = from.has_rank() && to.has_rank() && to.rank() <= from.rank();
  std::vector<int64_t> axes;
  int added = 0;  // leading dimensions that broadcasting added
  bool kept = false;
  if (decided) {
    added = from.rank() - to.rank();
    for (int i = 0; i < added; ++i) axes.push_back(i);
    for (int i = 0; i < to.rank() && decided; ++i) {
      Dim source = from.dim(added + i);
      Dim target = to.dim(i);
      if (target == 1) {
        if (source == 1) continue;
        axes.push_back(added + i);
        kept = true;
      } else if (!is_known(target) && !(is_symbol(target) && source == target)) {
        decided = source == 1;  // broadcasting never shrinks a dimension: then it is 1 already
      }
    }
  }
  auto shape_operand = [&]() -> Operand {
    if (to.is_fully_defined()) return builder.int32_vector(to.dims());
    return builder.op("Shape", {like});
  };
  auto sum = [&](const Operand& over, bool keep) {
    return builder.op("Sum", {value, over}, named_attributes(get_op("Sum"), {{"keep_dims", keep}}));
  };
  if (decided) {
    if (axes.empty()) return value;
    Operand summed = sum(builder.int32_vector(axes), kept);
    if (added == 0 || !kept) return summed;
    return builder.op("Reshape", {summed, shape_operand()});
  }
  Operand like_shape = shape_operand();
  OperandVector shapes{like_shape, builder.op("Shape", {value})};
  Operand reduced = builder.op_outputs("BroadcastGradientArgs", shapes).front();
  return builder.op("Reshape", {sum(reduced, false), like_shape});
}

Operand zeros_like(Builder& builder, const Operand& operand) {
  return builder.op("ZerosLike", {operand});
}

Operand ones_like(Builder& builder, const Operand& operand) {
  return builder.op("OnesLike", {operand});
}

}  // namespace graphwright
