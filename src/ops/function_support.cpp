#include "ops/function_support.h"

#include <numeric>

#include "kernels/number.h"

namespace graphwright {
namespace {

bool becomes_constant(const Part& part) {
  if (part.is_constant || !part.operand.is_tensor()) return part.is_constant;
  const TensorImpl& tensor = *part.operand.impl();
  return tensor.element_count <= kMaxBodyConstantElements && tensor.dtype != DType::kResource &&
         tensor.dtype != DType::kVariant;
}

OperandVector apply_parts(Builder& builder, const OpDef& op, const std::vector<Part>& inputs,
                          const Attributes& attributes, std::string_view name) {
  OperandVector operands, outputs;
  int last_input = op.signature.input_count - 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Part& part = inputs[i];
    if (becomes_constant(part) && !builder.is_eager()) {
      std::string_view input_name;
      if (last_input >= 0) {
        // Of a counted list of values, every one stands before the inputs that follow it.
        int index = static_cast<int>(i);
        int extra = static_cast<int>(inputs.size()) - op.signature.input_count;
        if (op.signature.variadic) index = index - extra > 0 ? index - extra : 0;
        input_name = op.signature.inputs[static_cast<size_t>(std::min(index, last_input))].name;
      }
      operands.push_back(builder.constant(part.operand.tensor(), input_name));
    } else {
      operands.push_back(part.operand);
    }
  }
  builder.apply(op, operands, attributes, outputs, name);
  return outputs;
}

OperandVector apply_scoped(Builder& builder, const OpDef& op, const std::vector<Part>& inputs,
                           const Attributes& attributes, std::string_view name) {
  bool any_constant = false;
  for (const Part& part : inputs) any_constant = any_constant || becomes_constant(part);
  if (!any_constant || builder.is_eager() || name == kScopeName) {
    return apply_parts(builder, op, inputs, attributes, name);
  }
  if (name.empty()) name = op.default_node_name.empty() ? op.name : op.default_node_name;
  NameScopeGuard scope(builder, name);
  return apply_parts(builder, op, inputs, attributes, kScopeName);
}

}  // namespace

OperandVector apply_op_outputs(CallContext& context, std::string_view op, std::vector<Part> inputs,
                               const Attributes& attributes, std::string_view node_name) {
  std::string_view name = context.name().empty() ? node_name : context.name();
  return apply_scoped(context.builder(), get_op(op), inputs, attributes, name);
}

Operand apply_op(CallContext& context, std::string_view op, std::vector<Part> inputs,
                 const Attributes& attributes, std::string_view node_name) {
  OperandVector outputs = apply_op_outputs(context, op, std::move(inputs), attributes, node_name);
  return outputs.empty() ? Operand() : outputs.front();
}

Operand apply_op(CallContext& context, std::string_view op, std::vector<Part> inputs,
                 std::vector<std::pair<std::string_view, AttributeValue>> attributes,
                 std::string_view node_name) {
  return apply_op(context, op, std::move(inputs), attributes_of(op, std::move(attributes)),
                  node_name);
}

Expression inner_op(Builder& builder, std::string_view op, std::vector<Part> inputs,
                    const Attributes& attributes, std::string_view node_name) {
  return {builder, apply_scoped(builder, get_op(op), inputs, attributes, node_name).front()};
}

Part reduction_axes(Builder& builder, const Argument& axis, const Operand& x) {
  if (const int64_t* one = std::get_if<int64_t>(&axis)) {
    return integer_scalar(DType::kInt32, *one);
  }
  if (const auto* several = std::get_if<std::vector<int64_t>>(&axis)) {
    return integer_vector(DType::kInt32, *several);
  }
  if (const Operand* operand = std::get_if<Operand>(&axis)) return *operand;
  PartialShape shape = shape_of(x);
  if (shape.has_rank()) {
    std::vector<int64_t> all(static_cast<size_t>(shape.rank()));
    std::iota(all.begin(), all.end(), 0);
    Tensor axes = integer_vector(DType::kInt32, all);
    // A node of its own, beside the reduction.
    if (builder.is_eager()) return axes;
    return builder.constant(axes, "Const");
  }
  Expression rank{builder, builder.op("Rank", {x})};
  return inner_op(builder, "Range", {Tensor::int32_scalar(0), rank, Tensor::int32_scalar(1)});
}

Part reduction_axes(CallContext& context, const Operand& x, int index) {
  return reduction_axes(context.builder(), context.argument(index), x);
}

Part axis_scalar(const Argument& axis) {
  if (const int64_t* one = std::get_if<int64_t>(&axis)) {
    return integer_scalar(DType::kInt32, *one);
  }
  if (const auto* several = std::get_if<std::vector<int64_t>>(&axis)) {
    if (several->size() == 1) return integer_scalar(DType::kInt32, several->front());
    throw_value_error("axis must be one integer");
  }
  if (const Operand* operand = std::get_if<Operand>(&axis)) return *operand;
  throw_value_error("axis must be an integer, not None");
}

int64_t static_integer(const Argument& argument, std::string_view name) {
  if (const int64_t* one = std::get_if<int64_t>(&argument)) return *one;
  if (const auto* several = std::get_if<std::vector<int64_t>>(&argument)) {
    if (several->size() == 1) return several->front();
  }
  if (const Operand* operand = std::get_if<Operand>(&argument)) {
    Tensor value = constant_value(*operand);
    if (value && kInteger.contains(value.dtype()) && value.element_count() == 1) {
      return integer_at(value, 0);
    }
  }
  throw Error(ErrorKind::kValueError,
              std::string(name) + " must be an integer that is known while tracing")
      .with_argument(name);
}

Tensor number_like(double value, DType dtype) {
  Tensor result = Tensor::empty(dtype, std::span<const int64_t>());
  if (dtype == DType::kBool) {
    *result.mutable_data<bool>() = value != 0;
    return result;
  }
  bool known = kernels::visit_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, kernels::Half> || std::is_same_v<T, kernels::Bfloat16>) {
      *result.mutable_data<T>() = T(static_cast<float>(value));
    } else {
      *result.mutable_data<T>() = static_cast<T>(value);
    }
  });
  if (!known) {
    throw_type_error("a number has no value of dtype " + std::string(dtype_name(dtype)));
  }
  return result;
}

}  // namespace graphwright
