#include "python/row_arguments.h"

#include <array>
#include <string>

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_object.h"
#include "python/variable_object.h"

namespace graphwright {
namespace {

// --- Binding -------------------------------------------------------------------------------------

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += names.size() == 2 ? " and " : i + 1 == names.size() ? ", and " : ", ";
    text += "'" + names[i] + "'";
  }
  return text;
}

[[noreturn]] void throw_missing(const RowSignature& signature, std::string_view function,
                                std::span<PyObject* const> bound) {
  std::vector<std::string> missing;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!bound[i] && !signature.parameters[i].default_value) {
      missing.push_back(signature.parameters[i].name);
    }
  }
  throw_type_error(std::string(function) + "() missing " + std::to_string(missing.size()) +
                   " required positional argument" + (missing.size() == 1 ? "" : "s") + ": " +
                   quoted_list(missing));
}

[[noreturn]] void throw_too_many(const RowSignature& signature, std::string_view function,
                                 Py_ssize_t given) {
  size_t most = signature.parameters.size();
  std::string text = std::string(function) + "() takes ";
  if (static_cast<size_t>(signature.required) < most) {
    text += "from " + std::to_string(signature.required) + " to ";
  }
  text += std::to_string(most) + " positional argument" + (most == 1 ? "" : "s") + " but " +
          std::to_string(given) + (given == 1 ? " was given" : " were given");
  throw_type_error(text);
}

// --- Conversion ----------------------------------------------------------------------------------

[[noreturn]] void throw_wrong_kind(const RowParameter& parameter, const CallNames& names,
                                   std::string_view wanted, PyObject* value) {
  throw Error(ErrorKind::kTypeError, "Expected " + std::string(wanted) + " for argument '" +
                                         parameter.name + "' of " + std::string(names.function) +
                                         ", but got " + repr_of(value) + " of type '" +
                                         type_name(value) + "'.")
      .with_argument(parameter.name);
}

int64_t convert_int(const RowParameter& parameter, const CallNames& names, PyObject* value) {
  Ref integer = Ref::steal(PyNumber_Index(value));
  if (!integer) {
    PyErr_Clear();
    throw_wrong_kind(parameter, names, "int", value);
  }
  long long result = PyLong_AsLongLong(integer.get());
  if (result == -1 && PyErr_Occurred()) throw_python_error();
  return result;
}

double convert_float(const RowParameter& parameter, const CallNames& names, PyObject* value) {
  double result = PyFloat_AsDouble(value);
  if (result == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw_wrong_kind(parameter, names, "float", value);
  }
  return result;
}

bool convert_bool(const RowParameter& parameter, const CallNames& names, PyObject* value) {
  if (value == Py_True) return true;
  if (value == Py_False) return false;
  // Strings are no truth values here: 'false' would be true.
  if (PyUnicode_Check(value) || PyBytes_Check(value)) {
    throw_wrong_kind(parameter, names, "bool", value);
  }
  int truth = PyObject_IsTrue(value);
  if (truth < 0) throw_python_error();
  return truth != 0;
}

bool convert_flag(const RowParameter& parameter, const CallNames& names, PyObject* value) {
  if (value != Py_True && value != Py_False) throw_wrong_kind(parameter, names, "bool", value);
  return value == Py_True;
}

std::string convert_string(const RowParameter& parameter, const CallNames& names, PyObject* value) {
  if (PyUnicode_Check(value)) return std::string(text_of(value));
  if (PyBytes_Check(value)) {
    char* text = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(value, &text, &size) < 0) throw_python_error();
    return {text, static_cast<size_t>(size)};
  }
  throw_wrong_kind(parameter, names, "str", value);
}

// Calls visit(item) for each item of a list, tuple or other iterable.
template <class Visit>
void for_each_item(const RowParameter& parameter, const CallNames& names, std::string_view wanted,
                   PyObject* value, Visit visit) {
  Ref iterator = Ref::steal(PyUnicode_Check(value) ? nullptr : PyObject_GetIter(value));
  if (!iterator) {
    PyErr_Clear();
    throw_wrong_kind(parameter, names, wanted, value);
  }
  while (Ref item = Ref::steal(PyIter_Next(iterator.get()))) visit(item.get());
  if (PyErr_Occurred()) throw_python_error();
}

std::vector<int64_t> convert_ints(const RowParameter& parameter, const CallNames& names,
                                  PyObject* value) {
  if (PyLong_Check(value)) return {convert_int(parameter, names, value)};
  std::vector<int64_t> result;
  for_each_item(parameter, names, "int or a sequence of ints", value,
                [&](PyObject* item) { result.push_back(convert_int(parameter, names, item)); });
  return result;
}

// Arrays and tensors have a dtype, but are none.
DType convert_type(PyObject* value) {
  if (is_tensor_like(value)) {
    throw_type_error("Cannot convert the argument `type_value`: " + repr_of(value) +
                     " to a TensorFlow DType.");
  }
  return dtype_from_python(value);
}

bool is_sequence(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }

// Whether a wrong dtype is the op's to refuse, in the way of its tier, or always a TypeError.
enum class Refusal { kByTier, kTypeError };

Operand convert_index(const RowParameter& parameter, const CallNames& names, PyObject* value,
                      bool small_is_eager = false, Refusal refusal = Refusal::kByTier) {
  ConversionOptions options;
  options.preferred = DType::kInt32;
  options.name = parameter.name;
  options.small_is_eager = small_is_eager;
  // An empty list has no dtype of its own; as an index it is one of int32.
  if (is_sequence(value) && PyObject_Size(value) == 0) options.dtype = DType::kInt32;
  Operand result = operand_of(value, options);
  if (!kIndex.contains(dtype_of(result))) {
    Error error(Code::kInvalidArgument, "Expected int32 or int64 passed to parameter '" +
                                            parameter.name + "' of op '" + std::string(names.op) +
                                            "', but got " + repr_of(value) + " of type '" +
                                            type_name(value) + "'.");
    // Python's floats are refused before they become tensors.
    bool refused = refusal == Refusal::kTypeError || PyFloat_CheckExact(value);
    if (refused || !current_builder().is_eager()) error.detail().kind = ErrorKind::kTypeError;
    throw error.with_argument(parameter.name);
  }
  return result;
}

// Python values stay eager tensors in graphs too: the function's body decides whether they become
// constants of their own ("Reshape/shape") or part of a larger one ("zeros").
Operand convert_shape(const RowParameter& parameter, const CallNames& names, PyObject* value) {
  if (const PartialShape* shape = shape_if_object(value)) {
    if (!shape->is_fully_defined()) {
      throw_value_error("Cannot convert a partially known TensorShape " + shape->to_string() +
                        " to a Tensor.");
    }
    bool small = true;
    for (Dim dim : shape->dims()) small &= dim <= INT32_MAX;
    Tensor tensor = Tensor::empty(small ? DType::kInt32 : DType::kInt64, {shape->rank()});
    for (int i = 0; i < shape->rank(); ++i) {
      if (small) {
        tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(shape->dim(i));
      } else {
        tensor.mutable_data<int64_t>()[i] = shape->dim(i);
      }
    }
    return tensor;
  }
  if (!is_tensor_like(value) && sequence_contents(value) == SequenceContents::kValues &&
      !becomes_tensor(value)) {
    bool empty = is_sequence(value) && PyObject_Size(value) == 0;
    DType asked = empty ? DType::kInt32 : DType::kInvalid;
    Tensor tensor = tensor_from_python(value, asked, asked);
    if (tensor.dtype() == DType::kBool && parameter.kind == ParameterKind::kShape) {
      tensor = tensor_from_python(value, DType::kInt32);
    }
    bool one_number = parameter.kind == ParameterKind::kShape ||
                      (parameter.kind == ParameterKind::kDims && current_builder().is_eager());
    if (tensor.rank() == 0 && one_number) {
      tensor = tensor.reshaped(std::array<int64_t, 1>{1});
    }
    if (kIndex.contains(tensor.dtype())) return tensor;
  }
  bool by_python = parameter.kind == ParameterKind::kShape && !is_tensor_like(value);
  return convert_index(parameter, names, value, false,
                       by_python ? Refusal::kTypeError : Refusal::kByTier);
}

Argument convert_axis(const RowParameter& parameter, const CallNames& names, PyObject* value,
                      Refusal refusal = Refusal::kByTier) {
  if (is_tensor_like(value)) return convert_index(parameter, names, value, false, refusal);
  if (PyLong_Check(value)) return convert_int(parameter, names, value);
  bool integers = is_sequence(value) || PyObject_TypeCheck(value, &PyRange_Type);
  if (integers && is_sequence(value)) {
    for (Py_ssize_t i = 0, size = PyObject_Size(value); i < size && integers; ++i) {
      integers = PyIndex_Check(PyList_Check(value) ? PyList_GetItem(value, i)
                                                   : PyTuple_GetItem(value, i)) != 0;
    }
  }
  // Everything else is a tensor, and the op says whether it can be an axis.
  return integers ? Argument(convert_ints(parameter, names, value))
                  : Argument(convert_index(parameter, names, value, false, refusal));
}

// The dtype that the arguments of each type variable take, from those that have one already.
std::vector<DType> known_dtypes(const RowSignature& signature, std::span<PyObject* const> bound) {
  std::vector<DType> dtypes(signature.variables.size(), DType::kInvalid);
  auto look_at = [&](int variable, PyObject* value) {
    if (!is_tensor_like(value)) return;
    DType& dtype = dtypes[static_cast<size_t>(variable)];
    if (dtype == DType::kInvalid) dtype = dtype_of_tensor_like(value);
  };
  for (size_t i = 0; i < bound.size(); ++i) {
    const RowParameter& parameter = signature.parameters[i];
    if (parameter.variable < 0) continue;
    PyObject* value = bound[i];
    look_at(parameter.variable, value);
    if (parameter.kind != ParameterKind::kTensors || !is_sequence(value)) continue;
    Py_ssize_t size = PyObject_Size(value);
    for (Py_ssize_t k = 0; k < size; ++k) {
      look_at(parameter.variable,
              PyList_Check(value) ? PyList_GetItem(value, k) : PyTuple_GetItem(value, k));
    }
  }
  return dtypes;
}

class Converter {
 public:
  Converter(const RowSignature& signature, const CallNames& names, std::span<PyObject* const> bound)
      : signature_(signature), names_(names), dtypes_(known_dtypes(signature, bound)) {}

  Argument convert(const RowParameter& parameter, PyObject* value) {
    if (value == Py_None && parameter.optional) return NoneValue{};
    switch (parameter.kind) {
      case ParameterKind::kVariable:
        return variable(parameter, value, parameter.name);
      case ParameterKind::kTensor:
        // A default is no node of a graph unless the body uses it.
        if (value == parameter.default_value) return Operand(tensor_from_python(value));
        return operand_of(value, ConversionOptions{{}, {}, parameter.name, by_body()});
      case ParameterKind::kReadable:
        if (is_variable(value)) return variable_handle(value);
        return operand_of(value, ConversionOptions{{}, {}, parameter.name, by_body()});
      case ParameterKind::kTyped:
        // A tensor of another dtype is for the op to refuse.
        if (is_tensor_like(value)) return operand_of(value);
        return operand_of(value, ConversionOptions{parameter.dtype, {}, parameter.name, by_body()});
      case ParameterKind::kIndex:
        return convert_index(parameter, names_, value, by_body());
      case ParameterKind::kTensors:
      case ParameterKind::kMixed:
        return list(parameter, value);
      case ParameterKind::kInt:
        return convert_int(parameter, names_, value);
      case ParameterKind::kFloat:
        return convert_float(parameter, names_, value);
      case ParameterKind::kBool:
        return convert_bool(parameter, names_, value);
      case ParameterKind::kString:
        return convert_string(parameter, names_, value);
      case ParameterKind::kType:
        return convert_type(value);
      case ParameterKind::kInts:
        return convert_ints(parameter, names_, value);
      case ParameterKind::kAxis:
        return convert_axis(parameter, names_, value);
      case ParameterKind::kDimension:
        return convert_axis(parameter, names_, value, Refusal::kTypeError);
      case ParameterKind::kCount:
        return convert_index(parameter, names_, value, by_body(), Refusal::kTypeError);
      case ParameterKind::kFlag:
        return convert_flag(parameter, names_, value);
      case ParameterKind::kShape:
      case ParameterKind::kDims:
      case ParameterKind::kDimVector:
        return convert_shape(parameter, names_, value);
      case ParameterKind::kOption:
        if (PyLong_Check(value)) return convert_int(parameter, names_, value);
        if (PyFloat_Check(value)) return convert_float(parameter, names_, value);
        return convert_string(parameter, names_, value);
      case ParameterKind::kPadding:
        if (PyUnicode_Check(value) || PyBytes_Check(value) ||
            !(PySequence_Check(value) || is_tensor_like(value))) {
          return convert_string(parameter, names_, value);
        }
        return convert_shape(parameter, names_, value);
      case ParameterKind::kName:
        if (value == Py_None) return NoneValue{};
        return convert_string(parameter, names_, value);
      default:
        return static_cast<void*>(value);
    }
  }

 private:
  bool by_body() const { return signature_.constants_by_body; }

  Operand variable(const RowParameter& parameter, PyObject* value, std::string_view name) {
    DType& dtype = dtypes_[static_cast<size_t>(parameter.variable)];
    ConversionOptions options;
    options.name = name;
    options.small_is_eager = by_body();
    // Sums and products leave what does not fit its own dtype, and the op then reports the two.
    bool lenient = names_.op == "AddV2" || names_.op == "add" || names_.op == "MatMul" ||
                   names_.op == "matmul";
    (lenient ? options.preferred : options.dtype) = dtype;
    if (dtype == DType::kInvalid) {
      options.preferred = only_dtype(parameter);
      // An empty list has no dtype of its own; as an index it is one of int32.
      bool empty = is_sequence(value) && PyObject_Size(value) == 0;
      if (empty && options.preferred == DType::kInt32) options.dtype = DType::kInt32;
    }
    if (is_tensor_like(value)) options.dtype = DType::kInvalid;
    Operand result = operand_of(value, options);
    if (dtype == DType::kInvalid) dtype = dtype_of(result);
    return result;
  }

  // A preference for Python values where the row leaves one dtype only, or is for indices.
  DType only_dtype(const RowParameter& parameter) const {
    uint32_t bits = signature_.allowed[static_cast<size_t>(parameter.variable)].bits();
    if (bits == kIndex.bits()) return DType::kInt32;
    return bits && !(bits & (bits - 1)) ? static_cast<DType>(__builtin_ctz(bits)) : DType::kInvalid;
  }

  // One tensor instead of a list stands for its slices along the first dimension.
  OperandVector unstack(const RowParameter& parameter, const Operand& operand) {
    PartialShape shape = shape_of(operand);
    if (!shape.has_rank() || shape.rank() == 0 || !is_known(shape.dim(0))) {
      throw Error(ErrorKind::kValueError, "Argument '" + parameter.name + "' of " +
                                              std::string(names_.function) +
                                              " must be a list of tensors, or a tensor whose "
                                              "first dimension is known, not one of shape " +
                                              shape.without_symbols().to_string() + ".")
          .with_argument(parameter.name);
    }
    Attributes attributes =
        named_attributes(get_op("Unpack"), {{"num", static_cast<int64_t>(shape.dim(0))}});
    return current_builder().op_outputs("Unpack", std::vector<Operand>{operand}, attributes);
  }

  OperandVector list(const RowParameter& parameter, PyObject* value) {
    OperandVector operands;
    if (is_tensor_like(value)) {
      Operand operand = operand_of(value);
      // tf.concat takes the tensor to be the whole list.
      if (parameter.kind == ParameterKind::kMixed || names_.function == "concat") {
        return {operand};
      }
      return unstack(parameter, operand);
    }
    int index = 0;
    for_each_item(parameter, names_, "a list of tensors", value, [&](PyObject* item) {
      std::string name = parameter.name + "_" + std::to_string(index++);
      if (parameter.variable >= 0) {
        operands.push_back(variable(parameter, item, name));
      } else {
        operands.push_back(
            operand_of(item, ConversionOptions{parameter.dtype, {}, name, by_body()}));
      }
    });
    return operands;
  }

  const RowSignature& signature_;
  const CallNames& names_;
  std::vector<DType> dtypes_;
};

bool is_tensor_kind(ParameterKind kind) {
  return kind == ParameterKind::kVariable || kind == ParameterKind::kTensor ||
         kind == ParameterKind::kTyped || kind == ParameterKind::kIndex;
}

}  // namespace

void bind_arguments(const RowSignature& signature, std::string_view function,
                    PyObject* const* arguments, Py_ssize_t positional, PyObject* keywords,
                    std::vector<PyObject*>& bound) {
  size_t count = signature.parameters.size();
  if (static_cast<size_t>(positional) > count) throw_too_many(signature, function, positional);
  bound.assign(count, nullptr);
  for (Py_ssize_t i = 0; i < positional; ++i) bound[static_cast<size_t>(i)] = arguments[i];
  Py_ssize_t keyword_count = keywords ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t i = 0; i < keyword_count; ++i) {
    PyObject* keyword = PyTuple_GetItem(keywords, i);
    int index = signature.find(keyword);
    if (index < 0) {
      throw_type_error(std::string(function) + "() got an unexpected keyword argument '" +
                       std::string(text_of(keyword)) + "'");
    }
    PyObject*& target = bound[static_cast<size_t>(index)];
    if (target) {
      throw_type_error(std::string(function) + "() got multiple values for argument '" +
                       signature.parameters[static_cast<size_t>(index)].name + "'");
    }
    target = arguments[positional + i];
  }
  for (size_t i = 0; i < count; ++i) {
    if (bound[i]) continue;
    if (!signature.parameters[i].default_value) throw_missing(signature, function, bound);
    bound[i] = signature.parameters[i].default_value;
  }
}

void convert_arguments(const RowSignature& signature, const CallNames& names,
                       std::span<PyObject* const> bound, std::vector<Argument>& converted) {
  Converter converter(signature, names, bound);
  converted.clear();
  converted.reserve(bound.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const RowParameter& parameter = signature.parameters[i];
    if (parameter.attribute >= 0) {
      converted.emplace_back(static_cast<void*>(bound[i]));
    } else {
      converted.push_back(converter.convert(parameter, bound[i]));
    }
  }
}

// A variable is read within the call, too.
bool needs_no_constants(const RowSignature& signature, std::span<PyObject* const> bound) {
  for (size_t i = 0; i < bound.size(); ++i) {
    const RowParameter& parameter = signature.parameters[i];
    if (parameter.attribute >= 0 || parameter.kind == ParameterKind::kName) continue;
    if (bound[i] == Py_None && parameter.optional) continue;
    if (is_tensor_kind(parameter.kind) && is_tensor(bound[i])) continue;
    if (is_tensor_kind(parameter.kind)) return false;
    if (parameter.kind == ParameterKind::kTensors || parameter.kind == ParameterKind::kMixed) {
      if (!is_sequence(bound[i])) return false;
      Py_ssize_t size = PyObject_Size(bound[i]);
      for (Py_ssize_t k = 0; k < size; ++k) {
        PyObject* item =
            PyList_Check(bound[i]) ? PyList_GetItem(bound[i], k) : PyTuple_GetItem(bound[i], k);
        if (!is_tensor(item)) return false;
      }
    }
  }
  return true;
}

AttributeValue convert_attribute(const RowParameter& parameter, const CallNames& names,
                                 PyObject* value) {
  switch (parameter.kind) {
    case ParameterKind::kBool:
      return convert_flag(parameter, names, value);
    case ParameterKind::kInt:
      return convert_int(parameter, names, value);
    case ParameterKind::kFloat:
      return convert_float(parameter, names, value);
    case ParameterKind::kString:
      return convert_string(parameter, names, value);
    case ParameterKind::kType:
      return convert_type(value);
    case ParameterKind::kStaticShape:
      return shape_from_python(value);
    case ParameterKind::kConstant:
      return eager_tensor_of(value);
    case ParameterKind::kInts:
      return convert_ints(parameter, names, value);
    case ParameterKind::kFloats: {
      std::vector<double> result;
      for_each_item(parameter, names, "a list of floats", value, [&](PyObject* item) {
        result.push_back(convert_float(parameter, names, item));
      });
      return result;
    }
    case ParameterKind::kStrings: {
      std::vector<std::string> result;
      for_each_item(parameter, names, "a list of strings", value, [&](PyObject* item) {
        result.push_back(convert_string(parameter, names, item));
      });
      return result;
    }
    case ParameterKind::kTypes: {
      std::vector<DType> result;
      for_each_item(parameter, names, "a list of dtypes", value,
                    [&](PyObject* item) { result.push_back(dtype_from_python(item)); });
      return result;
    }
    case ParameterKind::kStaticShapes: {
      std::vector<PartialShape> result;
      for_each_item(parameter, names, "a list of shapes", value,
                    [&](PyObject* item) { result.push_back(shape_from_python(item)); });
      return result;
    }
    default:
      throw Error(ErrorKind::kNotImplementedError, "argument '" + parameter.name + "' of " +
                                                       std::string(names.function) +
                                                       " cannot be given from Python");
  }
}

}  // namespace graphwright
