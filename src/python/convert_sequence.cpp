// Python scalars and nested sequences as tensors. The first leaf decides the dtype where none is
// asked for, and the first element of each level the shape; a second pass fills the elements in.
#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/thread_state.h"
#include "python/convert_internal.h"
#include "python/errors.h"
#include "python/numpy_array.h"
#include "python/tensor_object.h"
#include "tensor/small_float.h"

namespace graphwright {
namespace {

enum class LeafKind { kBool, kInt, kFloat, kComplex, kText, kOther };

[[noreturn]] void throw_unsupported(PyObject* value, bool in_sequence) {
  bool alone = value == Py_None && !in_sequence;
  throw Error(alone ? ErrorKind::kValueError : unconvertible_kind(),
              "Attempt to convert a value (" + repr_of(value) + ") with an unsupported type (" +
                  repr_of(reinterpret_cast<PyObject*>(Py_TYPE(value))) + ") to a Tensor.");
}
[[noreturn]] void throw_mixed() {
  throw Error(unconvertible_kind(), "Can't convert Python sequence with mixed types to Tensor.");
}
// `dtype` is the one asked for, if any. A graph's constants of numbers are ragged for NumPy, which
// raises ValueError; others are refused for their kind first.
[[noreturn]] void throw_ragged(DType dtype) {
  bool by_kind = dtype == DType::kString || dtype == DType::kBool;
  throw Error(by_kind ? unconvertible_kind() : ErrorKind::kValueError,
              "Can't convert non-rectangular Python sequence to Tensor.");
}
[[noreturn]] void throw_integer_range(DType dtype, bool inferred) {
  bool overflows = !inferred && is_integer(dtype) && unconvertible_kind() == ErrorKind::kTypeError;
  throw Error(overflows ? ErrorKind::kOverflowError : unconvertible_kind(),
              "Can't convert Python sequence with out-of-range integer to Tensor.");
}

// The names of C's types, which messages about conversions use.
std::string c_name(DType dtype) {
  if (dtype == DType::kFloat) return "float";
  if (dtype == DType::kDouble) return "double";
  if (dtype == DType::kHalf) return "half";
  return std::string(dtype_name(dtype));
}

// Scalars are recognised by Python's own types first: NumPy's are rarer and dearer to tell.
LeafKind kind_of(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (type == &PyLong_Type) return LeafKind::kInt;
  if (type == &PyFloat_Type) return LeafKind::kFloat;
  if (type == &PyBool_Type) return LeafKind::kBool;
  if (type == &PyUnicode_Type || type == &PyBytes_Type) return LeafKind::kText;
  if (type == &PyList_Type || type == &PyTuple_Type || value == Py_None) return LeafKind::kOther;
  if (PyLong_Check(value)) return LeafKind::kInt;
  if (PyFloat_Check(value)) return LeafKind::kFloat;
  if (PyComplex_Check(value)) return LeafKind::kComplex;
  if (PyUnicode_Check(value) || PyBytes_Check(value)) return LeafKind::kText;
  if (!is_numpy_scalar(value)) return LeafKind::kOther;
  Ref descriptor = checked_ref(PyObject_GetAttr(value, interned("dtype")));
  DType dtype = dtype_from_numpy(descriptor.get());
  if (dtype == DType::kBool) return LeafKind::kBool;
  if (is_integer(dtype)) return LeafKind::kInt;
  if (is_floating(dtype)) return LeafKind::kFloat;
  if (is_complex(dtype)) return LeafKind::kComplex;
  return LeafKind::kOther;
}

// What the first leaf gives without a dtype asked for.
DType default_dtype(PyObject* leaf, LeafKind kind) {
  switch (kind) {
    case LeafKind::kBool:
      return DType::kBool;
    case LeafKind::kInt:
      return DType::kInt32;
    case LeafKind::kFloat:
      // NumPy's scalars keep their own precision.
      return Py_TYPE(leaf) != &PyFloat_Type && is_numpy_scalar(leaf) ? dtype_of_array(leaf)
                                                                     : DType::kFloat;
    case LeafKind::kComplex:
      return DType::kComplex128;
    case LeafKind::kText:
      return DType::kString;
    case LeafKind::kOther:
      break;
  }
  return DType::kInvalid;
}

bool is_sequence(PyObject* value) {
  if (PyList_Check(value) || PyTuple_Check(value)) return true;
  return PySequence_Check(value) && !PyDict_Check(value) && !PyUnicode_Check(value) &&
         !PyBytes_Check(value) && !is_tensor(value);
}

int64_t length_of(PyObject* sequence) {
  if (PyList_Check(sequence)) return PyList_Size(sequence);
  if (PyTuple_Check(sequence)) return PyTuple_Size(sequence);
  Py_ssize_t length = PySequence_Size(sequence);
  if (length < 0) throw_python_error();
  return length;
}

Ref item_of(PyObject* sequence, int64_t index) {
  if (PyList_Check(sequence)) return Ref::borrow(PyList_GetItem(sequence, index));
  if (PyTuple_Check(sequence)) return Ref::borrow(PyTuple_GetItem(sequence, index));
  return checked_ref(PySequence_GetItem(sequence, index));
}

// Arrays and eager tensors inside sequences are taken as nested lists of their Python values, which
// keeps one set of rules for what may be mixed; everything else stays as it is.
Ref plain_value(PyObject* value) {
  if (PyLong_Check(value) || PyFloat_Check(value) || PyList_Check(value) || PyTuple_Check(value) ||
      PyUnicode_Check(value) || PyBytes_Check(value) || value == Py_None) {
    return Ref::borrow(value);
  }
  Ref array;
  if (is_eager_tensor(value)) {
    array = Ref::steal(tensor_to_numpy(operand_in(value).tensor()));
  } else if (is_numpy_array(value)) {
    array = Ref::borrow(value);
  } else if (is_numpy_scalar(value)) {
    return Ref::borrow(value);
  } else {
    array = array_from_protocol(value);
  }
  if (!array) return Ref::borrow(value);
  if (PyBytes_Check(array.get())) return array;
  return checked_ref(PyObject_CallMethod(array.get(), "tolist", nullptr));
}

// The dtype of an array or tensor found where the first leaf is looked for: its floats keep their
// precision; of integers only the kind counts, as of NumPy's scalars. A tensor keeps its dtype.
DType dtype_by_first_array(PyObject* value) {
  DType dtype = DType::kInvalid;
  if (is_eager_tensor(value)) return operand_in(value).impl()->dtype;
  if (is_numpy_array(value)) dtype = dtype_of_array(value);
  if (is_floating(dtype)) return dtype;
  return DType::kInvalid;
}

// The integer dtypes that an eager tensor of Python bools may be asked for.
constexpr DTypeSet kIntegersOfBools =
    DTypeSet::of(DType::kInt32, DType::kInt64) | DTypeSet::of(DType::kUint64);

// Values of one dtype, written one after the other.
class ElementWriter {
 public:
  // Copies a whole NumPy array at once where that means what writing its elements one by one would;
  // otherwise does nothing and returns false.
  bool write_array(PyObject* array, std::span<const int64_t> dims) {
    DType source = dtype_of_array(array);
    bool widens =
        dtype_ == DType::kInt32 &&
        DTypeSet::of(DType::kUint8, DType::kInt8, DType::kInt16, DType::kUint16).contains(source);
    if (source != dtype_ && !widens) return false;
    if (has_object_elements(dtype_)) return false;
    NumpyArrayView view(array);
    if (!view.is_native() || !std::ranges::equal(view.dims(), dims)) return false;
    size_t size = dtype_size(dtype_);
    char* target =
        static_cast<char*>(tensor_.mutable_raw_data()) + static_cast<size_t>(next_) * size;
    int64_t count = view.element_count();
    if (source == dtype_) {
      copy_elements_of(view, target);
    } else {
      std::vector<char> packed(static_cast<size_t>(count) * dtype_size(source));
      copy_elements_of(view, packed.data());
      auto* integers = reinterpret_cast<int32_t*>(target);
      switch (source) {
        case DType::kUint8:
          widen_integers<uint8_t>(packed.data(), integers, count);
          break;
        case DType::kInt8:
          widen_integers<int8_t>(packed.data(), integers, count);
          break;
        case DType::kInt16:
          widen_integers<int16_t>(packed.data(), integers, count);
          break;
        default:
          widen_integers<uint16_t>(packed.data(), integers, count);
          break;
      }
    }
    next_ += count;
    return true;
  }

  explicit ElementWriter(Tensor& tensor, bool inferred)
      : tensor_(tensor), dtype_(tensor.dtype()), inferred_(inferred) {}

  enum class Outcome { kWritten, kNeedsInt64, kNeedsFloat };

  DType asked_dtype() const { return inferred_ ? DType::kInvalid : dtype_; }

  Outcome write(PyObject* value) {
    LeafKind kind = kind_of(value);
    if (is_integer(dtype_)) return write_integer(value, kind);
    if (is_floating(dtype_)) {
      write_real(real_value(value, kind));
    } else if (is_complex(dtype_)) {
      write_complex(complex_value(value, kind));
    } else if (dtype_ == DType::kBool) {
      if (kind != LeafKind::kBool) refuse(value, kind);
      int truth = PyObject_IsTrue(value);
      if (truth < 0) throw_python_error();
      store<bool>(truth == 1);
    } else if (dtype_ == DType::kString) {
      if (kind != LeafKind::kText) refuse(value, kind);
      tensor_.mutable_data<StringElement>()[next_++] = string_of(value);
    } else {
      refuse(value, kind);
    }
    return Outcome::kWritten;
  }

 private:
  template <class T>
  static void widen_integers(const char* source, int32_t* target, int64_t count) {
    const T* values = reinterpret_cast<const T*>(source);
    std::copy(values, values + count, target);
  }

  template <class T>
  void store(T value) {
    tensor_.mutable_data<T>()[next_++] = value;
  }

  // A value that the dtype does not take. What was asked for is at fault if anything was, otherwise
  // the sequence; the caller turns the first into an error that shows the whole value.
  [[noreturn]] void refuse(PyObject* value, LeafKind kind) {
    if (kind == LeafKind::kOther && next_ == 0 && !is_sequence(value)) {
      throw_unsupported(value, true);
    }
    bool one_kind = dtype_ == DType::kBool || dtype_ == DType::kString;
    if (inferred_ || kind == LeafKind::kOther || (one_kind && next_ > 0)) throw_mixed();
    throw RefusedValue();
  }

  Outcome write_integer(PyObject* value, LeafKind kind) {
    if (kind == LeafKind::kFloat && inferred_) return Outcome::kNeedsFloat;
    if (kind != LeafKind::kInt && kind != LeafKind::kBool) refuse(value, kind);
    bool first_bool = kind == LeafKind::kBool && next_ == 0;
    if (first_bool && !kIntegersOfBools.contains(dtype_) &&
        unconvertible_kind() == ErrorKind::kValueError) {
      refuse(value, kind);
    }
    Ref index;
    if (!PyLong_Check(value)) {
      index = checked_ref(PyNumber_Long(value));  // a NumPy scalar
      value = index.get();
    }
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) {
      if (dtype_ != DType::kUint64 || overflow < 0) throw_integer_range(dtype_, inferred_);
      unsigned long long large = PyLong_AsUnsignedLongLong(value);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        throw_integer_range(dtype_, inferred_);
      }
      store<uint64_t>(large);
      return Outcome::kWritten;
    }
    switch (dtype_) {
      case DType::kInt32:
        if (number != static_cast<int32_t>(number) && inferred_) return Outcome::kNeedsInt64;
        return store_checked<int32_t>(number);
      case DType::kInt64:
        return store_checked<int64_t>(number);
      case DType::kInt16:
        return store_checked<int16_t>(number);
      case DType::kInt8:
        return store_checked<int8_t>(number);
      case DType::kUint8:
        return store_checked<uint8_t>(number);
      case DType::kUint16:
        return store_checked<uint16_t>(number);
      case DType::kUint32:
        return store_checked<uint32_t>(number);
      default:
        if (number < 0) out_of_range(number);
        return store_checked<uint64_t>(number);
    }
  }

  [[noreturn]] void out_of_range(long long number) {
    throw_value_error("The value " + std::to_string(number) + " is out of the range of dtype " +
                      std::string(dtype_name(dtype_)) + ".");
  }

  template <class T>
  Outcome store_checked(long long number) {
    T value = static_cast<T>(number);
    if (static_cast<long long>(value) != number) out_of_range(number);
    store<T>(value);
    return Outcome::kWritten;
  }

  double real_value(PyObject* value, LeafKind kind) {
    if (kind == LeafKind::kFloat || kind == LeafKind::kInt || kind == LeafKind::kBool) {
      double number = PyFloat_Check(value) ? PyFloat_AsDouble(value) : as_double(value);
      if (inferred_ && dtype_ == DType::kFloat && std::isfinite(number) &&
          !std::isfinite(static_cast<float>(number))) {
        throw_value_error(
            "Can't convert Python sequence with a value out of range for a double-precision "
            "float.");
      }
      return number;
    }
    refuse(value, kind);
  }

  double as_double(PyObject* value) const {
    if (PyLong_Check(value)) {
      double number = PyLong_AsDouble(value);
      if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        throw_integer_range(dtype_, inferred_);
      }
      return number;
    }
    Ref number = checked_ref(PyNumber_Float(value));
    return PyFloat_AsDouble(number.get());
  }

  std::complex<double> complex_value(PyObject* value, LeafKind kind) {
    // Graphs take bools for numbers, eager tensors only after a number.
    bool takes_bool = next_ > 0 || unconvertible_kind() == ErrorKind::kTypeError;
    bool real = kind == LeafKind::kFloat || kind == LeafKind::kInt;
    if (real || (kind == LeafKind::kBool && takes_bool)) return as_double_of(value);
    if (kind != LeafKind::kComplex) refuse(value, kind);
    if (PyComplex_Check(value)) {
      return {PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)};
    }
    Ref number = checked_ref(PyObject_CallMethod(value, "item", nullptr));
    return {PyComplex_RealAsDouble(number.get()), PyComplex_ImagAsDouble(number.get())};
  }
  double as_double_of(PyObject* value) const {
    return PyFloat_Check(value) ? PyFloat_AsDouble(value) : as_double(value);
  }

  void write_real(double value) {
    switch (dtype_) {
      case DType::kFloat:
        return store<float>(static_cast<float>(value));
      case DType::kDouble:
        return store<double>(value);
      case DType::kHalf:
        return store<uint16_t>(double_to_half(value));
      case DType::kBfloat16:
        return store<uint16_t>(float_to_bfloat16(static_cast<float>(value)));
      case DType::kFloat8E5m2:
        return store<uint8_t>(narrow<Float8E5m2>(value));
      default:
        return store<uint8_t>(narrow<Float8E4m3fn>(value));
    }
  }

  void write_complex(std::complex<double> value) {
    if (dtype_ == DType::kComplex64) return store(std::complex<float>(value));
    store(value);
  }

 public:
  struct RefusedValue {};

 private:
  Tensor& tensor_;
  DType dtype_;
  bool inferred_;
  int64_t next_ = 0;
};

using Outcome = ElementWriter::Outcome;

Outcome fill(PyObject* value, std::span<const int64_t> dims, ElementWriter& writer) {
  if (!dims.empty() && !PyList_Check(value) && !PyTuple_Check(value) && is_numpy_array(value) &&
      writer.write_array(value, dims)) {
    return Outcome::kWritten;
  }
  Ref plain = plain_value(value);
  if (dims.empty()) {
    if (kind_of(plain.get()) == LeafKind::kOther && is_sequence(plain.get())) {
      throw_ragged(writer.asked_dtype());
    }
    return writer.write(plain.get());
  }
  if (!is_sequence(plain.get())) throw_ragged(writer.asked_dtype());
  if (length_of(plain.get()) != dims[0]) throw_ragged(writer.asked_dtype());
  for (int64_t i = 0; i < dims[0]; ++i) {
    Ref item = item_of(plain.get(), i);
    // The common case, a number at the last level, skips the look at what else it could be.
    PyTypeObject* type = Py_TYPE(item.get());
    bool number = dims.size() == 1 && (type == &PyFloat_Type || type == &PyLong_Type);
    Outcome outcome = number ? writer.write(item.get()) : fill(item.get(), dims.subspan(1), writer);
    if (outcome != Outcome::kWritten) return outcome;
  }
  return Outcome::kWritten;
}

// Shape and, at the first leaf, dtype.
struct Inspection {
  std::vector<int64_t> dims;
  DType dtype = DType::kInvalid;
};

Inspection inspect(PyObject* value) {
  Inspection result;
  Ref current = Ref::borrow(value);
  for (;;) {
    if (result.dtype == DType::kInvalid) result.dtype = dtype_by_first_array(current.get());
    Ref plain = plain_value(current.get());
    LeafKind kind = kind_of(plain.get());
    if (kind != LeafKind::kOther) {
      if (result.dtype == DType::kInvalid) result.dtype = default_dtype(plain.get(), kind);
      return result;
    }
    if (!is_sequence(plain.get())) throw_unsupported(plain.get(), !result.dims.empty());
    int64_t length = length_of(plain.get());
    result.dims.push_back(length);
    if (length == 0) return result;
    if (result.dims.size() > static_cast<size_t>(kMaxRank)) {
      throw_value_error("Can't convert Python sequence with more than " + std::to_string(kMaxRank) +
                        " levels to Tensor.");
    }
    current = item_of(plain.get(), 0);
  }
}

Tensor convert_sequence(PyObject* value, DType dtype) {
  Inspection found = inspect(value);
  bool inferred = dtype == DType::kInvalid;
  if (inferred) dtype = found.dtype;
  if (dtype == DType::kInvalid) {
    dtype = PyObject_TypeCheck(value, &PyRange_Type) ? DType::kInt32 : DType::kFloat;
  }
  for (;;) {
    Tensor result = Tensor::empty(dtype, found.dims);
    ElementWriter writer(result, inferred);
    switch (fill(value, found.dims, writer)) {
      case Outcome::kWritten:
        return result;
      case Outcome::kNeedsInt64:
        dtype = DType::kInt64;
        break;
      case Outcome::kNeedsFloat:
        dtype = DType::kFloat;
        break;
    }
  }
}

Tensor shape_tensor(const PartialShape& shape, DType dtype) {
  if (!shape.is_fully_defined()) {
    throw_value_error("Cannot convert a partially known TensorShape " + shape.to_string() +
                      " to a Tensor.");
  }
  bool large = false;
  for (Dim dim : shape.dims()) large = large || dim > INT32_MAX;
  if (dtype == DType::kInvalid) dtype = large ? DType::kInt64 : DType::kInt32;
  if (dtype == DType::kInt64) return Tensor::vector<int64_t>(dtype, shape.dims());
  if (dtype != DType::kInt32) {
    throw_type_error("Cannot convert TensorShape to dtype: " + std::string(dtype_name(dtype)));
  }
  if (large)
    throw_value_error("Cannot convert a TensorShape with a dimension over 2**31 to int32.");
  std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  return Tensor::vector<int32_t>(dtype, dims);
}

// A NumPy scalar of one of the commonest dtypes, without going through the array interface; null
// for others.
Tensor common_numpy_scalar(PyObject* value) {
  Ref descriptor = checked_ref(PyObject_GetAttr(value, interned("dtype")));
  DType dtype = dtype_from_numpy(descriptor.get());
  if (dtype == DType::kDouble || dtype == DType::kFloat) {
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) throw_python_error();
    return dtype == DType::kDouble ? Tensor::scalar(dtype, number)
                                   : Tensor::scalar(dtype, static_cast<float>(number));
  }
  if (dtype == DType::kInt64 || dtype == DType::kInt32) {
    Ref index = checked_ref(PyNumber_Index(value));
    int64_t number = PyLong_AsLongLong(index.get());
    return dtype == DType::kInt64 ? Tensor::int64_scalar(number)
                                  : Tensor::int32_scalar(static_cast<int32_t>(number));
  }
  return {};
}

Tensor convert(PyObject* value, DType dtype) {
  PyTypeObject* type = Py_TYPE(value);
  // Nothing but a number of Python's own: no look at what else it could be.
  bool plain = type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
               type == &PyUnicode_Type || type == &PyList_Type || type == &PyTuple_Type;
  if (!plain) {
    if (is_eager_tensor(value)) {
      Tensor tensor = operand_in(value).tensor();
      if (dtype == DType::kInvalid || tensor.dtype() == dtype) return tensor;
      throw_value_error("Tensor conversion requested dtype " + std::string(dtype_name(dtype)) +
                        " for Tensor with dtype " + std::string(dtype_name(tensor.dtype())) + ": " +
                        repr_of(value));
    }
    if (is_numpy_array(value)) return tensor_from_numpy(value, dtype);
    if (is_numpy_scalar(value)) {
      Tensor scalar = common_numpy_scalar(value);
      bool fits = scalar && (dtype == DType::kInvalid || dtype == scalar.dtype());
      return fits ? scalar : tensor_from_numpy(value, dtype);
    }
    if (const PartialShape* shape = shape_if_object(value)) return shape_tensor(*shape, dtype);
    if (Ref array = array_from_protocol(value)) return tensor_from_numpy(array.get(), dtype);
    if (!is_sequence(value) && PyObject_HasAttrString(value, "__dlpack__")) {
      return tensor_from_dlpack(value);
    }
  }
  try {
    return convert_sequence(value, dtype);
  } catch (const ElementWriter::RefusedValue&) {
    // What no dtype can hold is said first.
    if (PyList_Check(value) || PyTuple_Check(value) || PyLong_Check(value)) {
      convert_sequence(value, DType::kInvalid);
    }
    throw_type_error("Cannot convert " + repr_of(value) + " to EagerTensor of dtype " +
                     c_name(dtype));
  }
}

}  // namespace

ErrorKind unconvertible_kind() {
  return current_builder().is_eager() ? ErrorKind::kValueError : ErrorKind::kTypeError;
}

std::string string_of(PyObject* text) {
  if (PyUnicode_Check(text)) return std::string(text_of(text));
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(text, &data, &size) < 0) throw_python_error();
  return {data, static_cast<size_t>(size)};
}

Ref array_from_protocol(PyObject* object) {
  if (PyType_Check(object)) return {};
  for (const char* protocol : {"__array__", "__array_interface__", "__array_struct__"}) {
    if (!PyObject_HasAttrString(object, protocol)) continue;
    Ref array =
        checked_ref(PyObject_CallFunctionObjArgs(imported("numpy", "asarray"), object, nullptr));
    return array;
  }
  return {};
}

SequenceContents sequence_contents(PyObject* value) {
  if (is_eager_tensor(value)) return SequenceContents::kEagerTensors;
  if (is_tensor_like(value)) return SequenceContents::kOtherTensors;
  if (!PyList_Check(value) && !PyTuple_Check(value)) return SequenceContents::kValues;
  SequenceContents found = SequenceContents::kValues;
  int64_t length = length_of(value);
  for (int64_t i = 0; i < length; ++i) {
    PyObject* item = PyList_Check(value) ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i);
    PyTypeObject* type = Py_TYPE(item);
    if (type == &PyFloat_Type || type == &PyLong_Type) continue;
    SequenceContents contents = sequence_contents(item);
    if (contents == SequenceContents::kOtherTensors) return contents;
    if (contents == SequenceContents::kEagerTensors) found = contents;
  }
  return found;
}

Tensor tensor_from_python(PyObject* value, DType dtype, DType preferred) {
  if (dtype == DType::kInvalid && preferred != DType::kInvalid) {
    try {
      return convert(value, preferred);
    } catch (const Error&) {
      // Not as preferred then, but as the value itself has it.
      return convert(value, dtype);
    }
  }
  return convert(value, dtype);
}

}  // namespace graphwright
