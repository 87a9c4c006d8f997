#include "ops/op_support.h"

#include <new>

#include "tensor/tensor.h"

namespace graphwright {

Status run_guarded(void (*body)(KernelContext&), KernelContext& context) {
  try {
    body(context);
    return {};
  } catch (Error& error) {
    return Status(error.with_op(context.op().name).shared_detail());
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, std::string(context.op().name) + ": out of memory.");
  }
}

void forward_input(KernelContext& context, int input, int output) {
  context.set_output(output, context.input(input));
}

std::vector<ValueType> infer_outputs(KernelContext& context) {
  std::vector<Operand> inputs;
  inputs.reserve(static_cast<size_t>(context.input_count()));
  for (int i = 0; i < context.input_count(); ++i) inputs.emplace_back(context.input(i));
  std::vector<ValueType> outputs(static_cast<size_t>(context.output_count()));
  ShapeContext shapes(context.op(), context.attributes().attributes(), inputs, outputs);
  context.op().shape.function()(shapes);
  return outputs;
}

Tensor& infer_output(KernelContext& context, DType dtype) {
  std::vector<ValueType> outputs = infer_outputs(context);
  if (!outputs[0].shape.is_fully_defined()) {
    throw_internal(std::string(context.op().name) + ": the shape of the result is not known.");
  }
  return context.require_output(0, dtype, outputs[0].shape.dims());
}

void fail(KernelContext& context, std::string message) { fail(context, {}, std::move(message)); }

void fail(KernelContext& context, std::string_view argument, std::string message) {
  throw Error(Code::kInvalidArgument, std::move(message))
      .with_op(context.op().name)
      .with_argument(argument);
}

std::string shape_text(const PartialShape& shape) {
  if (!shape.has_rank()) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i) text += ",";
    text += is_known(shape.dim(i)) ? std::to_string(shape.dim(i)) : "?";
  }
  return text + "]";
}

int64_t integer_at(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kInt8:
      return tensor.data<int8_t>()[index];
    case DType::kInt16:
      return tensor.data<int16_t>()[index];
    case DType::kInt32:
      return tensor.data<int32_t>()[index];
    case DType::kInt64:
      return tensor.data<int64_t>()[index];
    case DType::kUint8:
      return tensor.data<uint8_t>()[index];
    case DType::kUint16:
      return tensor.data<uint16_t>()[index];
    case DType::kUint32:
      return tensor.data<uint32_t>()[index];
    case DType::kUint64:
      return static_cast<int64_t>(tensor.data<uint64_t>()[index]);
    default:
      throw_invalid_argument("Expected a tensor of integers, got " +
                             std::string(dtype_name(tensor.dtype())) + ".");
  }
}

std::vector<int64_t> integer_values(const Tensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.element_count()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = integer_at(tensor, static_cast<int64_t>(i));
  }
  return values;
}

void set_integer(Tensor& tensor, int64_t index, int64_t value) {
  switch (tensor.dtype()) {
    case DType::kInt8:
      tensor.mutable_data<int8_t>()[index] = static_cast<int8_t>(value);
      break;
    case DType::kInt16:
      tensor.mutable_data<int16_t>()[index] = static_cast<int16_t>(value);
      break;
    case DType::kInt32:
      tensor.mutable_data<int32_t>()[index] = static_cast<int32_t>(value);
      break;
    case DType::kInt64:
      tensor.mutable_data<int64_t>()[index] = value;
      break;
    case DType::kUint16:
      tensor.mutable_data<uint16_t>()[index] = static_cast<uint16_t>(value);
      break;
    default:
      throw_internal("set_integer: not an index dtype.");
  }
}

Tensor integer_vector(DType dtype, std::span<const int64_t> values) {
  Tensor result = Tensor::empty(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    set_integer(result, static_cast<int64_t>(i), values[i]);
  }
  return result;
}

Tensor integer_scalar(DType dtype, int64_t value) {
  Tensor result = Tensor::empty(dtype, std::span<const int64_t>());
  set_integer(result, 0, value);
  return result;
}

std::optional<int> normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<bool> axis_mask(std::span<const int64_t> axes, int rank) {
  std::vector<bool> mask(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) {
    std::optional<int> normal = normalize_axis(axis, rank);
    if (!normal) {
      throw_invalid_argument("Invalid reduction dimension (" + std::to_string(axis) +
                             " for input with " + std::to_string(rank) + " dimension(s)");
    }
    mask[static_cast<size_t>(*normal)] = true;
  }
  return mask;
}

Attributes attributes_of(std::string_view op_name,
                         std::vector<std::pair<std::string_view, AttributeValue>> values) {
  return named_attributes(get_op(op_name), std::move(values));
}

Attributes copy_attributes(const AttributeReader& from, std::string_view to_op) {
  const OpDef& target = get_op(to_op);
  Attributes result;
  for (int i = 0; i < target.signature.attribute_count; ++i) {
    int source = from.op().signature.attribute_index(
        target.signature.attributes[static_cast<size_t>(i)].name);
    if (source >= 0 && from.attributes().has(source)) {
      result.set(i, from.attributes().raw(source));
    }
  }
  return result;
}

Expression Algebra::shape_of(const Operand& x, DType dtype) const {
  PartialShape shape = graphwright::shape_of(x);
  if (shape.is_fully_defined()) return constant(integer_vector(dtype, shape.dims()));
  return call("Shape", {x}, {{"out_type", dtype}});
}

Expression Algebra::rank_of(const Operand& x) const {
  PartialShape shape = graphwright::shape_of(x);
  if (shape.has_rank()) return int32(shape.rank());
  return call("Rank", {x});
}

Expression Algebra::cast(const Operand& x, DType dtype) const {
  if (dtype_of(x) == dtype) return {builder_, x};
  return call("Cast", {x}, {{"DstT", dtype}});
}

Expression Algebra::zeros_like(const Operand& x) const {
  return {builder_, graphwright::zeros_like(builder_, x)};
}

Expression Algebra::conjugate(const Operand& x) const {
  if (!is_complex(dtype_of(x))) return {builder_, x};
  return call("Conj", {x});
}

Expression Algebra::sum(const Operand& x, const Operand& axes, bool keep_dims) const {
  return call("Sum", {x, axes}, {{"keep_dims", keep_dims}});
}

void forward_first_input(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  OperandVector inputs(context.inputs().begin(), context.inputs().end());
  inputs[0] = context.dx(0);
  OperandVector outputs;
  context.builder().apply(context.attributes().op(), inputs, context.attributes().attributes(),
                          outputs);
  for (size_t i = 0; i < outputs.size(); ++i) context.set_dy(static_cast<int>(i), outputs[i]);
}

}  // namespace graphwright
