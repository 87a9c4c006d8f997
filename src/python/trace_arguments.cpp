#include "python/trace_arguments.h"

#include <fmt/format.h>

#include "ir/builder.h"
#include "python/errors.h"
#include "python/tensor_array.h"
#include "python/tensor_object.h"
#include "python/type_spec.h"
#include "python/variable_object.h"

namespace graphwright {
namespace {

bool is_instance(PyObject* value, PyObject* type) {
  int result = PyObject_IsInstance(value, type);
  if (result < 0) throw_python_error();
  return result == 1;
}

bool exactly(PyObject* value, PyTypeObject& type) { return Py_TYPE(value) == &type; }

// RecursionError for structures that are nested too deeply or contain themselves.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" while the arguments of a tf.function are read")) {
      throw_python_error();
    }
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;
};

}  // namespace

int64_t ObjectSerials::serial_of(PyObject* object) {
  Py_hash_t hash = PyObject_Hash(object);
  if (hash == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw_python_error();
    PyErr_Clear();
    throw_type_error(fmt::format(
        "Could not generate a generic TraceType for {}.Please verify that it is "
        "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it.",
        repr_of(object)));
  }
  Ref reference = Ref::steal(PyWeakref_NewRef(object, nullptr));
  bool weak = static_cast<bool>(reference);
  if (!weak) PyErr_Clear();
  Ref& table = weak ? weak_ : strong_;
  if (!table) {
    table = checked_ref(weak ? PyObject_CallNoArgs(imported("weakref", "WeakKeyDictionary"))
                             : PyDict_New());
  }
  Ref known = Ref::steal(PyObject_GetItem(table.get(), object));
  if (known) return PyLong_AsLongLong(known.get());
  if (!PyErr_ExceptionMatches(PyExc_KeyError)) throw_python_error();
  PyErr_Clear();
  Ref serial = checked_ref(PyLong_FromLongLong(++next_));
  if (PyObject_SetItem(table.get(), object, serial.get()) < 0) throw_python_error();
  return next_;
}

namespace {

// Composite tensors are given and returned by their components.
constexpr NestOptions kNest{.expand_composites = true};

}  // namespace

int64_t ObjectSerials::serial_of(const Structure& structure) {
  auto [position, inserted] = structures_.try_emplace(structure, next_ + 1);
  if (inserted) ++next_;
  return position->second;
}

bool is_tensor_leaf(PyObject* value) {
  if (is_tensor(value)) return true;
  return is_instance(value, imported("numpy", "ndarray")) ||
         is_instance(value, imported("numpy", "generic")) ||
         PyObject_HasAttrString(value, "__tf_tensor__");
}

void ArgumentEncoder::add(PyObject* value, std::string_view parameter) {
  parameter_ = parameter;
  PyTypeObject* type = Py_TYPE(value);
  if (type == eager_tensor_type && !shapeless_) {
    const Operand& operand = operand_in(value);
    TensorImpl* impl = operand.impl();
    writer_.tensor(impl->dtype, std::span<const int64_t>(impl->dims(), impl->rank));
    leaves_.push_back({operand, Ref(), parameter_});
  } else {
    add_slow(value);
  }
}

void ArgumentEncoder::add_all(const FunctionSignature& signature, const BoundArguments& bound) {
  const auto& parameters = signature.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) add(bound.values[i], parameters[i].text);
  if (bound.extra_positional) {
    add(bound.extra_positional.get(), signature.var_positional_name());
  }
  if (!bound.extra_keywords) return;
  Ref keys = sorted_mapping_keys(bound.extra_keywords.get());
  for (Py_ssize_t i = 0; i < PyList_Size(keys.get()); ++i) {
    PyObject* key = PyList_GetItem(keys.get(), i);
    writer_.tag(TraceKeyWriter::kName);
    writer_.text(text_of(key));
    add(PyDict_GetItemWithError(bound.extra_keywords.get(), key), text_of(key));
  }
}

void ArgumentEncoder::add_slow(PyObject* value) {
  if (value == Py_None) return writer_.tag(TraceKeyWriter::kNone);
  if (value == Py_True || value == Py_False) {
    writer_.tag(TraceKeyWriter::kBool);
    return writer_.byte(value == Py_True);
  }
  if (exactly(value, PyLong_Type)) return add_int(value);
  if (exactly(value, PyFloat_Type)) {
    writer_.tag(TraceKeyWriter::kFloat);
    return writer_.real(PyFloat_AsDouble(value));
  }
  if (exactly(value, PyUnicode_Type)) {
    writer_.tag(TraceKeyWriter::kString);
    return add_text(value);
  }
  if (is_tensor(value)) {
    const Operand& operand = operand_in(value);
    write_tensor(dtype_of(operand), shape_of(operand));
    leaves_.push_back({operand, Ref(), parameter_});
    return;
  }
  if (exactly(value, PyTuple_Type) || exactly(value, PyList_Type)) {
    return add_sequence(value);
  }
  if (exactly(value, PyBytes_Type)) {
    writer_.tag(TraceKeyWriter::kBytes);
    return writer_.text(
        std::string_view(PyBytes_AsString(value), static_cast<size_t>(PyBytes_Size(value))));
  }
  if (exactly(value, PyComplex_Type)) {
    writer_.tag(TraceKeyWriter::kComplex);
    writer_.real(PyComplex_RealAsDouble(value));
    return writer_.real(PyComplex_ImagAsDouble(value));
  }
  if (value == Py_Ellipsis) return writer_.tag(TraceKeyWriter::kEllipsis);
  if (is_variable(value)) return add_variable(value);
  if (is_tensor_array(value)) return add_tensor_array(value);
  NestKind kind = nest_kind(value, kNest);
  if (kind != NestKind::kComposite && is_tensor_leaf(value)) {
    Operand operand = operand_of(value);
    write_tensor(dtype_of(operand), shape_of(operand));
    leaves_.push_back({std::move(operand), Ref(), parameter_});
    return;
  }
  if (is_tensor_spec(value)) {
    leaves_.push_back({Operand(), Ref::borrow(value), parameter_});
    ValueType type = leaf_type(leaves_.back());
    return write_tensor(type.dtype, type.shape);
  }
  if (PyType_Check(value)) return add_object(value);
  if (kind == NestKind::kLeaf) return add_object(value);
  std::vector<Ref> items;
  Structure structure = nest_flatten(value, items, kNest);
  writer_.tag(TraceKeyWriter::kBegin);
  writer_.word(serials_.serial_of(structure));
  for (const Ref& item : items) add(item.get(), parameter_);
  writer_.tag(TraceKeyWriter::kEnd);
}

void ArgumentEncoder::write_tensor(DType dtype, const PartialShape& shape) {
  writer_.tensor(dtype, shapeless_ ? PartialShape::unknown() : shape);
}

ValueType leaf_type(const TensorLeaf& leaf) {
  if (!leaf.operand) return tensor_spec_type(leaf.source.get());
  if (leaf.source && is_tensor_array(leaf.source.get())) {
    // What is known of the elements is the array's to say: lists of more and less knowledge share
    // the trace.
    return list_type(tensor_array_in(leaf.source.get()).type().dtype, PartialShape::unknown());
  }
  if (leaf.source) {
    ValueType value = variable_value_type(leaf.source.get());
    return variable_type(value.dtype, value.shape, variable_is_trainable(leaf.source.get()));
  }
  return type_of(leaf.operand);
}

void ArgumentEncoder::add_text(PyObject* value) {
  // Lone surrogates have no UTF-8 of their own, and are texts all the same.
  Ref bytes = checked_ref(PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass"));
  writer_.text(std::string_view(PyBytes_AsString(bytes.get()),
                                static_cast<size_t>(PyBytes_Size(bytes.get()))));
}

void ArgumentEncoder::add_int(PyObject* value) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (!overflow) {
    writer_.tag(TraceKeyWriter::kInt);
    return writer_.word(number);
  }
  writer_.tag(TraceKeyWriter::kBigInt);
  writer_.text(repr_of(value));
}

void ArgumentEncoder::add_sequence(PyObject* value) {
  RecursionGuard guard;
  bool is_list = PyList_Check(value);
  Py_ssize_t count = is_list ? PyList_Size(value) : PyTuple_Size(value);
  writer_.tag(TraceKeyWriter::kBegin);
  writer_.word(is_list ? -1 : -2);
  writer_.word(count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    add(is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i), parameter_);
  }
  writer_.tag(TraceKeyWriter::kEnd);
}

void ArgumentEncoder::add_variable(PyObject* value) {
  Operand handle = variable_handle(value);
  // The same variable given twice needs a trace of its own: a write through one name shows in the
  // other. Which variables they are does not matter otherwise.
  size_t alias = leaves_.size();
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (leaves_[i].operand == handle) {
      alias = i;
      break;
    }
  }
  ValueType type = variable_value_type(value);
  writer_.tag(TraceKeyWriter::kVariable);
  writer_.word(static_cast<int64_t>(alias));
  writer_.byte(variable_is_trainable(value));
  write_tensor(type.dtype, type.shape);
  leaves_.push_back({std::move(handle), Ref::borrow(value), parameter_});
}

void ArgumentEncoder::add_tensor_array(PyObject* value) {
  TensorArray& array = tensor_array_in(value);
  writer_.tag(TraceKeyWriter::kTensorArray);
  writer_.word(array.static_size());
  writer_.byte(static_cast<uint8_t>(array.type().dynamic_size | array.type().infer_shape << 1));
  writer_.tensor(array.type().dtype, array.element_shape());
  leaves_.push_back({array.list(), Ref::borrow(value), parameter_});
}

Ref leaf_around(const TensorLeaf& leaf, const Operand& argument) {
  if (!leaf.source || !leaf.operand) return Ref::steal(wrap(argument));
  if (is_tensor_array(leaf.source.get())) return tensor_array_around(leaf.source.get(), argument);
  return Ref::steal(variable_with_handle(leaf.source.get(), argument));
}

Ref result_around(PyObject* leaf, const Operand& operand) {
  if (is_tensor_array(leaf)) return tensor_array_around(leaf, operand);
  return Ref::steal(wrap(operand));
}

void ArgumentEncoder::add_object(PyObject* value) {
  // A bound method is a new object at every look-up: its function and its instance decide.
  if (Py_TYPE(value) == reinterpret_cast<PyTypeObject*>(imported("types", "MethodType"))) {
    Ref instance = checked_ref(PyObject_GetAttrString(value, "__self__"));
    Ref function = checked_ref(PyObject_GetAttrString(value, "__func__"));
    writer_.tag(TraceKeyWriter::kObject);
    writer_.word(serials_.serial_of(instance.get()));
    value = function.get();
    writer_.tag(TraceKeyWriter::kObject);
    writer_.word(serials_.serial_of(value));
    return;
  }
  if (PySlice_Check(value)) {
    writer_.tag(TraceKeyWriter::kHashed);
    for (const char* name : {"start", "stop", "step"}) {
      Ref part = checked_ref(PyObject_GetAttrString(value, name));
      add(part.get(), parameter_);
    }
    return;
  }
  writer_.tag(TraceKeyWriter::kObject);
  writer_.word(serials_.serial_of(value));
}

Ref replace_leaves(PyObject* value, Leaves which, LeafReplacement replacement) {
  auto replace = [&](PyObject* leaf) -> Ref {
    if (leaf == Py_None) return Ref::borrow(leaf);
    if (is_tensor(leaf) || is_variable(leaf) || is_tensor_array(leaf)) return replacement(leaf);
    if (which == Leaves::kAll) return replacement(leaf);
    // Subclasses of these may be NumPy's scalars, which are tensors.
    if (exactly(leaf, PyLong_Type) || exactly(leaf, PyFloat_Type) ||
        exactly(leaf, PyUnicode_Type) || exactly(leaf, PyBytes_Type) || PyType_Check(leaf)) {
      return Ref::borrow(leaf);
    }
    return is_tensor_leaf(leaf) || is_tensor_spec(leaf) ? replacement(leaf) : Ref::borrow(leaf);
  };
  return nest_map(value, replace, kNest);
}

}  // namespace graphwright
