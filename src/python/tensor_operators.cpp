// Operators of tensors and variables. Two eager tensors of one dtype and shape go straight to the
// kernel; everything else is converted as TensorFlow's operators convert it, and then applied by
// the builder of the current context.
#include <array>
#include <optional>

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/errors.h"
#include "python/function_type.h"
#include "python/tensor_slots.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

enum BinaryIndex : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kMatrixMultiply,
  kAnd,
  kOr,
  kXor,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kBinaryCount,
};

struct BinaryOperator {
  const char* op;
  const char* node_name;
  // The right operand must be convertible to the dtype of the left one; otherwise it keeps its own
  // dtype, and the op says that the two differ.
  bool strict;
  const char* reflected;  // the method that the right operand's type may have
};

constexpr std::array<BinaryOperator, kBinaryCount> kBinary = {{
    {"AddV2", "add", false, "__radd__"},
    {"Sub", "sub", true, "__rsub__"},
    {"Mul", "mul", true, "__rmul__"},
    {"RealDiv", "truediv", false, "__rtruediv__"},
    {"FloorDiv", "floordiv", true, "__rfloordiv__"},
    {"FloorMod", "mod", true, "__rmod__"},
    {"Pow", "pow", true, "__rpow__"},
    {"MatMul", "matmul", false, "__rmatmul__"},
    {"BitwiseAnd", "and", true, "__rand__"},
    {"BitwiseOr", "or", true, "__ror__"},
    {"BitwiseXor", "xor", true, "__rxor__"},
    {"Less", "Less", true, nullptr},
    {"LessEqual", "LessEqual", true, nullptr},
    {"Equal", "Equal", true, nullptr},
    {"NotEqual", "NotEqual", true, nullptr},
    {"Greater", "Greater", true, nullptr},
    {"GreaterEqual", "GreaterEqual", true, nullptr},
}};

// Rows of the ops, found once; null for an op that the table lacks.
std::array<const OpDef*, kBinaryCount> binary_rows;

bool is_exact_number(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object);
}

Operand cast(Builder& builder, const Operand& operand, DType dtype, std::string_view name = {}) {
  Attributes attributes = named_attributes(get_op("Cast"), {{"DstT", dtype}});
  return builder.op("Cast", {operand}, attributes, name);
}

// Tensors of bool multiply as int32, whatever the other operand is, and give bool.
Operand multiply_bools(Builder& builder, const Operand& left, const Operand& right) {
  Operand x = cast(builder, left, DType::kInt32), y = cast(builder, right, DType::kInt32);
  return cast(builder, builder.op("Mul", {x, y}, {}, kScopeName), DType::kBool);
}

// Dispatch after both operands have their dtype, within the scope of the operator's name.
Operand apply_binary(BinaryIndex index, const Operand& left, const Operand& right) {
  const BinaryOperator& binary = kBinary[index];
  Builder& builder = current_builder();
  DType dtype = dtype_of(left);
  switch (index) {
    case kAdd:
      if (dtype == DType::kString) return builder.op("Add", {left, right}, {}, kScopeName);
      break;
    case kDivide:
      if (is_floating(dtype) && dtype_of(right) == dtype) break;
      return call_function("truediv", {left, right}, kScopeName);
    case kMultiply:
      if (dtype == DType::kBool || dtype_of(right) == DType::kBool) {
        return multiply_bools(builder, left, right);
      }
      break;
    case kMatrixMultiply:
      return call_function("matmul", {left, right}, kScopeName);
    case kAnd:
      if (dtype == DType::kBool) return builder.op("LogicalAnd", {left, right}, {}, kScopeName);
      break;
    case kOr:
      if (dtype == DType::kBool) return builder.op("LogicalOr", {left, right}, {}, kScopeName);
      break;
    case kXor:
      if (dtype == DType::kBool) {
        return call_function("math.logical_xor", {left, right}, kScopeName);
      }
      break;
    case kEqual:
    case kNotEqual: {
      // Shapes that cannot be broadcast are unequal, not an error.
      if (dtype_of(right) == dtype && !broadcast_shapes(shape_of(left), shape_of(right))) {
        return builder.constant(Tensor::bool_scalar(index == kNotEqual), kScopeName);
      }
      const OpDef& op = get_op(binary.op);
      Attributes attributes;
      int attribute = op.signature.attribute_index("incompatible_shape_error");
      if (attribute >= 0) attributes.set(attribute, false);
      return builder.op(binary.op, {left, right}, attributes, kScopeName);
    }
    default:
      break;
  }
  return builder.op(binary.op, {left, right}, {}, kScopeName);
}

// The operand that is no tensor, converted to go with the other one.
Operand convert_other(PyObject* value, DType dtype, bool strict, const char* parameter) {
  ConversionOptions options;
  (strict ? options.dtype : options.preferred) = dtype;
  options.name = parameter;
  return operand_of(value, options);
}

bool is_bitwise(BinaryIndex index) { return index == kAnd || index == kOr || index == kXor; }

// The scopes that an operator's nodes are made in: "add", or "and/BitwiseAnd" for integers.
class OperatorScope {
 public:
  OperatorScope(BinaryIndex index, DType dtype) {
    Builder& builder = current_builder();
    if (builder.is_eager()) return;
    outer_.emplace(builder, kBinary[index].node_name);
    if (is_bitwise(index) && dtype != DType::kBool) inner_.emplace(builder, kBinary[index].op);
  }

 private:
  std::optional<NameScopeGuard> outer_, inner_;  // left in the opposite order
};

PyObject* binary_slow(BinaryIndex index, PyObject* left, PyObject* right) noexcept {
  const BinaryOperator& binary = kBinary[index];
  return guarded([&]() -> PyObject* {
    if (is_tensor_like(left)) {
      Operand x = operand_of(left);
      OperatorScope scope(index, dtype_of(x));
      if (is_tensor_like(right)) return wrap(apply_binary(index, x, operand_of(right)));
      Operand y;
      try {
        // What multiplies bools is cast, so it keeps its own dtype.
        bool strict = binary.strict && !(index == kMultiply && dtype_of(x) == DType::kBool);
        y = convert_other(right, dtype_of(x), strict, "y");
      } catch (const Error&) {
        // The right operand's own type may know what to do with a tensor.
        if (binary.reflected && !is_exact_number(right) &&
            PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(right)), binary.reflected)) {
          Py_RETURN_NOTIMPLEMENTED;
        }
        throw;
      }
      return wrap(apply_binary(index, x, y));
    }
    Operand y = operand_of(right);
    OperatorScope scope(index, dtype_of(y));
    return wrap(apply_binary(index, convert_other(left, dtype_of(y), true, "x"), y));
  });
}

// A Python number as a 0-d tensor of exactly this dtype, or null where that is not plain sailing.
Tensor exact_scalar(PyObject* number, DType dtype) {
  if (PyFloat_CheckExact(number)) {
    double value = PyFloat_AsDouble(number);
    if (dtype == DType::kFloat) return Tensor::scalar(dtype, static_cast<float>(value));
    if (dtype == DType::kDouble) return Tensor::scalar(dtype, value);
    return {};
  }
  if (!PyLong_CheckExact(number)) return {};
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  // Beyond 2^53 the rounding to float takes two steps, which the general way gets right.
  constexpr long long kExactInDouble = 1LL << 53;
  if (overflow) return {};
  if (dtype == DType::kInt64) return Tensor::int64_scalar(value);
  if (dtype == DType::kInt32 && value == static_cast<int32_t>(value)) {
    return Tensor::int32_scalar(static_cast<int32_t>(value));
  }
  if (value > kExactInDouble || value < -kExactInDouble) return {};
  if (dtype == DType::kFloat) return Tensor::scalar(dtype, static_cast<float>(value));
  if (dtype == DType::kDouble) return Tensor::scalar(dtype, static_cast<double>(value));
  return {};
}

// Null when the short way does not apply; an error may be set then (memory).
inline PyObject* binary_fast(BinaryIndex index, PyObject* left, PyObject* right) {
  const OpDef* row = binary_rows[index];
  if (!row || index == kMatrixMultiply) return nullptr;
  bool left_is_eager = is_eager_tensor(left), right_is_eager = is_eager_tensor(right);
  TensorImpl* x = left_is_eager ? operand_in(left).impl() : nullptr;
  TensorImpl* y = right_is_eager ? operand_in(right).impl() : nullptr;
  Tensor scalar;
  if (!x || !y) [[unlikely]] {
    TensorImpl* known = x ? x : y;
    // The kernels broadcast nothing: only a 0-d tensor matches a number.
    if (!known || known->rank != 0 || thread_state.bits != 0) return nullptr;
    scalar = exact_scalar(x ? right : left, known->dtype);
    if (!scalar) return nullptr;
    (x ? y : x) = scalar.impl();
  }
  if (index == kDivide && !is_floating(x->dtype)) return nullptr;
  TensorImpl* result = try_fast_binary(*row, x, y);
  return result ? wrap_impl(result) : nullptr;
}

template <BinaryIndex Index>
PyObject* binary_slot(PyObject* left, PyObject* right) noexcept {
  try {
    if (PyObject* result = binary_fast(Index, left, right)) return result;
  } catch (...) {
    set_python_error_from_exception();
    return nullptr;
  }
  if (PyErr_Occurred()) [[unlikely]]
    return nullptr;
  return binary_slow(Index, left, right);
}

PyObject* power_slot(PyObject* left, PyObject* right, PyObject* modulo) {
  if (modulo != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow() with a modulus is not supported for tensors");
    return nullptr;
  }
  return binary_slot<kPower>(left, right);
}

PyObject* compare(PyObject* left, PyObject* right, int operation) {
  switch (operation) {
    case Py_LT:
      return binary_slot<kLess>(left, right);
    case Py_LE:
      return binary_slot<kLessEqual>(left, right);
    case Py_GT:
      return binary_slot<kGreater>(left, right);
    case Py_GE:
      return binary_slot<kGreaterEqual>(left, right);
    case Py_EQ:
      if (right == Py_None) Py_RETURN_FALSE;
      return binary_slot<kEqual>(left, right);
    case Py_NE:
      if (right == Py_None) Py_RETURN_TRUE;
      return binary_slot<kNotEqual>(left, right);
    default:
      Py_RETURN_NOTIMPLEMENTED;
  }
}

// --- Unary ---------------------------------------------------------------------------------------

PyObject* unary(const char* op, PyObject* self) noexcept {
  return guarded([&]() -> PyObject* {
    if (is_eager_tensor(self)) {
      if (TensorImpl* result = try_fast_unary(get_op(op), operand_in(self).impl())) {
        return checked(wrap_impl(result));
      }
    }
    return wrap(current_builder().op(op, {operand_of(self)}));
  });
}

PyObject* negate(PyObject* self) { return unary("Neg", self); }

PyObject* absolute(PyObject* self) {
  return guarded([&]() -> PyObject* {
    Operand x = operand_of(self);
    if (is_complex(dtype_of(x))) return wrap(call_function("abs", {x}, {}));
    return checked(unary("Abs", self));
  });
}

PyObject* invert(PyObject* self) {
  return guarded([&]() -> PyObject* {
    Operand x = operand_of(self);
    return wrap(current_builder().op(dtype_of(x) == DType::kBool ? "LogicalNot" : "Invert", {x}));
  });
}

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::span<const PyType_Slot> operator_slots() {
  for (size_t i = 0; i < kBinaryCount; ++i) binary_rows[i] = find_op(kBinary[i].op);
  static const PyType_Slot slots[] = {
      {Py_nb_add, slot(binary_slot<kAdd>)},
      {Py_nb_subtract, slot(binary_slot<kSubtract>)},
      {Py_nb_multiply, slot(binary_slot<kMultiply>)},
      {Py_nb_true_divide, slot(binary_slot<kDivide>)},
      {Py_nb_floor_divide, slot(binary_slot<kFloorDivide>)},
      {Py_nb_remainder, slot(binary_slot<kModulo>)},
      {Py_nb_power, slot(power_slot)},
      {Py_nb_matrix_multiply, slot(binary_slot<kMatrixMultiply>)},
      {Py_nb_and, slot(binary_slot<kAnd>)},
      {Py_nb_or, slot(binary_slot<kOr>)},
      {Py_nb_xor, slot(binary_slot<kXor>)},
      {Py_nb_negative, slot(negate)},
      {Py_nb_absolute, slot(absolute)},
      {Py_nb_invert, slot(invert)},
      {Py_tp_richcompare, slot(compare)},
  };
  return slots;
}

}  // namespace graphwright
