#include "ir/builder.h"

#include <complex>
#include <cstring>
#include <limits>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/resources.h"
#include "ir/rule_context.h"

namespace graphwright {
namespace {

// Inference walks from a value to what it is made of. A long chain or a graph whose values are used
// many times must not make that slow: past this many steps the answer is "unknown".
constexpr int kMaxInferenceSteps = 200;
constexpr int kMaxInferenceDepth = 50;
thread_local int inference_steps = 0;
thread_local int inference_depth = 0;

class InferenceStep {
 public:
  InferenceStep() {
    if (inference_depth++ == 0) inference_steps = 0;
    ++inference_steps;
  }
  ~InferenceStep() { --inference_depth; }
  InferenceStep(const InferenceStep&) = delete;
  InferenceStep& operator=(const InferenceStep&) = delete;
  bool within_bounds() const {
    return inference_depth <= kMaxInferenceDepth && inference_steps <= kMaxInferenceSteps;
  }
};

const Tensor* const_node_value(const Value& value) {
  if (!value.node || value.node->op->name != "Const") return nullptr;
  const AttributeValue* found = find_attribute(*value.node->op, value.node->attributes,
                                               value.node->op->signature.attribute_index("value"));
  return found ? std::get_if<Tensor>(found) : nullptr;
}

std::optional<PartialVector> vector_of_tensor(const Tensor& tensor) {
  if (tensor.rank() > 1 || !kIndex.contains(tensor.dtype())) return std::nullopt;
  PartialVector result;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    result.values.push_back(tensor.dtype() == DType::kInt32 ? tensor.data<int32_t>()[i]
                                                            : tensor.data<int64_t>()[i]);
  }
  result.known.assign(result.values.size(), true);
  return result;
}

uint16_t bfloat16_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

template <class Integer>
Tensor integer_scalar(DType dtype, double value) {
  // Converting a double that does not fit is undefined in C++.
  constexpr double low = static_cast<double>(std::numeric_limits<Integer>::min());
  double beyond =
      2.0 * static_cast<double>(Integer{1} << (std::numeric_limits<Integer>::digits - 1));
  if (!(value > low - 1) || !(value < beyond)) {
    throw_invalid_argument("the scalar " + std::to_string(value) + " does not fit " +
                           std::string(dtype_name(dtype)));
  }
  return Tensor::scalar(dtype, static_cast<Integer>(value));
}

Tensor scalar_tensor(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat:
      return Tensor::scalar(dtype, static_cast<float>(value));
    case DType::kDouble:
      return Tensor::scalar(dtype, value);
    case DType::kHalf: {
      _Float16 half = static_cast<_Float16>(value);
      uint16_t bits;
      std::memcpy(&bits, &half, sizeof bits);
      return Tensor::scalar(dtype, bits);
    }
    case DType::kBfloat16:
      return Tensor::scalar(dtype, bfloat16_bits(static_cast<float>(value)));
    case DType::kComplex64:
      return Tensor::scalar(dtype, std::complex<float>(static_cast<float>(value)));
    case DType::kComplex128:
      return Tensor::scalar(dtype, std::complex<double>(value));
    case DType::kBool:
      return Tensor::bool_scalar(value != 0);
    case DType::kInt8:
      return integer_scalar<int8_t>(dtype, value);
    case DType::kInt16:
      return integer_scalar<int16_t>(dtype, value);
    case DType::kInt32:
      return integer_scalar<int32_t>(dtype, value);
    case DType::kInt64:
      return integer_scalar<int64_t>(dtype, value);
    case DType::kUint8:
      return integer_scalar<uint8_t>(dtype, value);
    case DType::kUint16:
      return integer_scalar<uint16_t>(dtype, value);
    case DType::kUint32:
      return integer_scalar<uint32_t>(dtype, value);
    case DType::kUint64:
      return integer_scalar<uint64_t>(dtype, value);
    default:
      throw_type_error("a number has no value of dtype " + std::string(dtype_name(dtype)));
  }
}

Expression binary(std::string_view op, const Expression& left, const Expression& right) {
  return {left.builder(), left.builder().op(op, {left.operand(), right.operand()})};
}

Expression like(const Expression& operand, double value) {
  return {operand.builder(), operand.builder().scalar(value, operand.dtype())};
}

}  // namespace

Operand Builder::op(std::string_view op_name, std::initializer_list<Operand> inputs,
                    const Attributes& attributes, std::string_view name) {
  return op(op_name, std::span(inputs.begin(), inputs.size()), attributes, name);
}

Operand Builder::op(std::string_view op_name, std::span<const Operand> inputs,
                    const Attributes& attributes, std::string_view name) {
  OperandVector outputs = op_outputs(op_name, inputs, attributes, name);
  return outputs.empty() ? Operand() : std::move(outputs.front());
}

OperandVector Builder::op_outputs(std::string_view op_name, std::span<const Operand> inputs,
                                  const Attributes& attributes, std::string_view name) {
  OperandVector outputs;
  apply(get_op(op_name), inputs, attributes, outputs, name);
  return outputs;
}

Operand Builder::scalar(double value, DType dtype) { return constant(scalar_tensor(dtype, value)); }

Operand Builder::int32_vector(std::span<const int64_t> values) {
  auto count = static_cast<int64_t>(values.size());
  Tensor tensor = Tensor::empty(DType::kInt32, std::span(&count, 1));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<int32_t>(values[i])) {
      throw_invalid_argument(std::to_string(values[i]) + " does not fit int32");
    }
    tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  }
  return constant(tensor);
}

DType dtype_of(const Operand& operand) {
  return operand.is_tensor() ? operand.impl()->dtype : operand.value()->type.dtype;
}

PartialShape shape_of(const Operand& operand) {
  if (operand.is_value()) return operand.value()->type.shape;
  const TensorImpl* impl = operand.impl();
  return PartialShape(std::span<const Dim>(impl->dims(), impl->rank));
}

ValueType type_of(const Operand& operand) {
  if (operand.is_value()) return operand.value()->type;
  return type_of_tensor(operand.tensor());
}

ValueType type_of_tensor(const Tensor& tensor) {
  ValueType type = tensor_type(tensor.dtype(), tensor.shape());
  bool is_handle = tensor.dtype() == DType::kResource || tensor.dtype() == DType::kVariant;
  if (!is_handle || tensor.element_count() != 1) return type;
  const Object* object = tensor.object_element().get();
  if (const auto* variable = dynamic_cast<const VariableResource*>(object)) {
    type.handle = variable_type(variable->dtype(), variable->shape(), variable->trainable()).handle;
  } else if (const auto* list = dynamic_cast<const ListObject*>(object)) {
    type.handle = list_type(list->dtype(), list->element_shape()).handle;
  }
  return type;
}

Tensor constant_value(const Operand& operand) {
  if (!operand) return {};
  if (operand.is_tensor()) return operand.tensor();
  const Value& value = *operand.value();
  if (const Tensor* tensor = const_node_value(value)) return *tensor;
  if (!kIndex.contains(value.dtype()) || !value.shape().has_rank() || value.shape().rank() > 1) {
    return {};
  }
  std::optional<PartialVector> vector = partial_constant_vector(operand);
  if (!vector) return {};
  for (bool known : vector->known) {
    if (!known) return {};
  }
  std::vector<int64_t> dims;
  if (value.shape().rank() == 1) dims.push_back(static_cast<int64_t>(vector->values.size()));
  if (dims.empty() && vector->values.size() != 1) return {};
  Tensor result = Tensor::empty(value.dtype(), dims);
  for (size_t i = 0; i < vector->values.size(); ++i) {
    if (value.dtype() == DType::kInt32) {
      result.mutable_data<int32_t>()[i] = static_cast<int32_t>(vector->values[i]);
    } else {
      result.mutable_data<int64_t>()[i] = vector->values[i];
    }
  }
  return result;
}

std::optional<PartialVector> partial_constant_vector(const Operand& operand) {
  if (!operand) return std::nullopt;
  if (operand.is_tensor()) return vector_of_tensor(operand.tensor());
  const Value& value = *operand.value();
  if (const Tensor* tensor = const_node_value(value)) return vector_of_tensor(*tensor);
  InferenceStep step;
  if (!step.within_bounds()) return std::nullopt;
  const Node* node = value.node;
  if (node && node->op->constant && value.index == 0) {
    OperandVector inputs(node->inputs.begin(), node->inputs.end());
    ConstantContext context(*node->op, node->attributes, inputs);
    node->op->constant.function()(context);
    if (context.result()) return std::move(context.result());
  }
  // Nothing is known but perhaps how many there are.
  const PartialShape& shape = value.shape();
  if (!kIndex.contains(value.dtype()) || !shape.has_rank() || shape.rank() > 1) return std::nullopt;
  int64_t count = shape.rank() == 0 ? 1 : shape.dim(0);
  if (!is_known(count) || count > kMaxRank) return std::nullopt;
  PartialVector unknown;
  unknown.values.assign(static_cast<size_t>(count), kUnknownDim);
  unknown.known.assign(static_cast<size_t>(count), false);
  return unknown;
}

PartialShape constant_as_shape(const Operand& operand) {
  std::optional<PartialVector> vector = partial_constant_vector(operand);
  if (!vector) return {};
  std::vector<Dim> dims;
  for (size_t i = 0; i < vector->values.size(); ++i) {
    int64_t value = vector->values[i];
    bool meaningful = vector->known[i] ? value >= 0 : is_symbol(value);
    dims.push_back(meaningful ? value : kUnknownDim);
  }
  return PartialShape(std::span<const Dim>(dims));
}

Expression Expression::apply(std::string_view op_name) const {
  return {*builder_, builder_->op(op_name, {operand_})};
}

Expression Expression::apply(std::string_view op_name, const Operand& other) const {
  return {*builder_, builder_->op(op_name, {operand_, other})};
}

Expression operator+(const Expression& left, const Expression& right) {
  return binary("AddV2", left, right);
}
Expression operator-(const Expression& left, const Expression& right) {
  return binary("Sub", left, right);
}
Expression operator*(const Expression& left, const Expression& right) {
  return binary("Mul", left, right);
}
Expression operator/(const Expression& left, const Expression& right) {
  return binary("RealDiv", left, right);
}
Expression operator+(const Expression& left, double right) { return left + like(left, right); }
Expression operator-(const Expression& left, double right) { return left - like(left, right); }
Expression operator*(const Expression& left, double right) { return left * like(left, right); }
Expression operator/(const Expression& left, double right) { return left / like(left, right); }
Expression operator+(double left, const Expression& right) { return like(right, left) + right; }
Expression operator-(double left, const Expression& right) { return like(right, left) - right; }
Expression operator*(double left, const Expression& right) { return like(right, left) * right; }
Expression operator/(double left, const Expression& right) { return like(right, left) / right; }
Expression operator-(const Expression& operand) { return operand.apply("Neg"); }

}  // namespace graphwright
