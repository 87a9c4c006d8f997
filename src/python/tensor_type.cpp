#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/graph_object.h"
#include "python/operation_object.h"
#include "python/printing.h"
#include "python/python_api.h"
#include "python/tensor_object.h"
#include "python/tensor_slots.h"
#include "serial/graph_view.h"
#include "trace/scope_errors.h"

namespace graphwright {

PyTypeObject* tensor_base_type = nullptr;
PyTypeObject* eager_tensor_type = nullptr;
PyTypeObject* symbolic_tensor_type = nullptr;

namespace {

constexpr const char* kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

TensorObject* as_tensor(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }

// --- Life ----------------------------------------------------------------------------------------

PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Tensor() takes no arguments: tensors are made by tf.constant, "
                  "tf.convert_to_tensor and ops");
  return nullptr;
}

void release_common(PyObject* self) {
  TensorObject* object = as_tensor(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  object->operand.~Operand();
  Py_XDECREF(object->dictionary);
}

void deallocate_eager(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  release_common(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

void deallocate_symbolic(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  operand_in(self).value()->front_end = nullptr;
  release_common(self);
  reinterpret_cast<SymbolicTensorObject*>(self)->graph.~shared_ptr();
  PyObject_Free(self);
  Py_DECREF(type);
}

TensorObject* allocate(PyTypeObject* type) {
  PyObject* self = reinterpret_cast<PyObject*>(PyObject_New(TensorObject, type));
  if (!self) return nullptr;
  TensorObject* object = as_tensor(self);
  object->dictionary = nullptr;
  object->weak_references = nullptr;
  return object;
}

// --- Attributes ----------------------------------------------------------------------------------

[[noreturn]] void throw_attribute_error(std::string message) {
  throw Error(ErrorKind::kAttributeError, std::move(message));
}

// Attributes that arrays of NumPy have and tensors lack, which deserve a hint.
bool is_numpy_attribute(std::string_view name) {
  for (std::string_view known : {"T", "astype", "ravel", "transpose", "reshape", "clip", "size",
                                 "tolist", "data", "item", "sum", "mean", "max", "min"}) {
    if (name == known) return true;
  }
  return false;
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  // An error raised by a property of ours says more than ours would.
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  Ref type_attribute =
      Ref::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(self)), name));
  if (type_attribute) {
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return guarded([&]() -> PyObject* {
    std::string attribute(text_of(name));
    std::string owner = type_name(self);
    if (is_numpy_attribute(attribute)) {
      throw_attribute_error(owner + " object has no attribute '" + attribute +
                            "'. Use the functions of the package on it, or NumPy's on the array "
                            "that its numpy() method returns.");
    }
    throw_attribute_error("'" + owner + "' object has no attribute '" + attribute + "'");
  });
}

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return shape_object(shape_of(operand_in(self)).without_symbols()); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return dtype_object(dtype_of(operand_in(self))); });
}
PyObject* get_ndim(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    PartialShape shape = shape_of(operand_in(self));
    if (!shape.has_rank()) Py_RETURN_NONE;
    return checked(PyLong_FromLong(shape.rank()));
  });
}
PyObject* get_device(PyObject* self, void*) {
  return PyUnicode_FromString(is_eager_tensor(self) ? kDevice : "");
}
PyObject* get_id(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(operand_in(self).identity());
}

const Value& value_in(PyObject* self, const char* attribute) {
  const Operand& operand = operand_in(self);
  if (operand.is_tensor()) {
    throw_attribute_error(std::string("Tensor.") + attribute +
                          " is undefined when eager execution is enabled.");
  }
  return *operand.value();
}

PyObject* get_name(PyObject* self, void*) {
  return guarded([&] { return make_text(value_name(value_in(self, "name"))).release(); });
}
PyObject* get_value_index(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    std::string name = value_name(value_in(self, "value_index"));
    return checked(PyLong_FromString(name.c_str() + name.rfind(':') + 1, nullptr, 10));
  });
}

PyObject* get_op(PyObject* self, void*) {
  return guarded([&] { return wrap_operation_of(value_in(self, "op")); });
}
PyObject* get_graph(PyObject* self, void*) {
  return guarded(
      [&] { return wrap_graph(value_in(self, "graph").block->graph->shared_from_this()); });
}

// v[...].assign, v being a variable; other tensors have no such attribute.
PyObject* get_assign(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    PyObject* dictionary = as_tensor(self)->dictionary;
    PyObject* origin = dictionary ? PyDict_GetItemString(dictionary, "_slice_of") : nullptr;
    if (!origin) {
      throw_attribute_error("'" + type_name(self) + "' object has no attribute 'assign'");
    }
    return checked(PyObject_CallFunctionObjArgs(
        imported("functools", "partial"), imported("graphwright._core", "_assign_slice"),
        PyTuple_GetItem(origin, 0), PyTuple_GetItem(origin, 1), nullptr));
  });
}

PyGetSetDef tensor_attributes[] = {
    {"shape", get_shape, nullptr, "The tensor's TensorShape, as far as it is known.", nullptr},
    {"dtype", get_dtype, nullptr, "The DType of the elements.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions; None if it is not known.", nullptr},
    {"device", get_device, nullptr, "Where the elements are; '' in a graph.", nullptr},
    {"name", get_name, nullptr, "The name in the graph, 'add:0'; AttributeError if eager.",
     nullptr},
    {"assign", get_assign, nullptr, "Of v[...]: assigns to that part of the variable v.", nullptr},
    {"op", get_op, nullptr, "The operation it is an output of; AttributeError if eager.", nullptr},
    {"graph", get_graph, nullptr, "The graph it belongs to; AttributeError if eager.", nullptr},
    {"value_index", get_value_index, nullptr,
     "Which output of its operation the tensor is; AttributeError if eager.", nullptr},
    {"_id", get_id, nullptr, "Equal only for the same tensor, however often it is wrapped.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// --- Methods -------------------------------------------------------------------------------------

PyObject* method_get_shape(PyObject* self, PyObject*) { return get_shape(self, nullptr); }

PyObject* method_set_shape(PyObject* self, PyObject* argument) {
  return guarded([&]() -> PyObject* {
    PartialShape wanted = shape_from_python(argument);
    const Operand& operand = operand_in(self);
    PartialShape shape = shape_of(operand);
    if (operand.is_tensor()) {
      if (!shape.is_compatible_with(wanted)) {
        throw_value_error("Tensor's shape " + shape.to_string() +
                          " is not compatible with supplied shape " + wanted.to_string() + ".");
      }
      Py_RETURN_NONE;
    }
    operand.value()->type.shape = shape.merged_with(wanted);
    Py_RETURN_NONE;
  });
}

PyObject* method_consumers(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Operand& operand = operand_in(self);
    if (operand.is_tensor()) {
      throw Error(ErrorKind::kNotImplementedError,
                  "Tensor.consumers is undefined when eager execution is enabled.");
    }
    // The graph keeps no uses, and nobody asks for them in a hurry.
    Ref list = checked_ref(PyList_New(0));
    Graph& graph = *operand.value()->block->graph;
    const serial::GraphView& view = view_of(graph);
    std::string name = value_name(*operand.value());
    std::string short_name = name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
    for (size_t i = 0; i < view.definition().nodes.size(); ++i) {
      for (const std::string& input : view.definition().nodes[i].inputs) {
        if (input != name && input != short_name) continue;
        Ref user = Ref::steal(wrap_operation_at(graph, static_cast<int>(i)));
        if (PyList_Append(list.get(), user.get()) < 0) throw_python_error();
      }
    }
    return list.release();
  });
}

PyObject* method_eval(PyObject* self, PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (operand_in(self).is_tensor()) {
      throw Error(ErrorKind::kNotImplementedError,
                  "eval is not supported when eager execution is enabled, is .numpy() what you're "
                  "looking for?");
    }
    throw_value_error(
        "Cannot evaluate tensor using `eval()`: a symbolic tensor has no value before its function "
        "is called; return it from the function instead.");
  });
}

PyObject* method_ref(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    return checked(PyObject_CallFunctionObjArgs(imported("graphwright.reference", "Reference"),
                                                self, nullptr));
  });
}

PyObject* method_shape_tuple(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    PartialShape shape = shape_of(operand_in(self));
    if (!shape.has_rank()) Py_RETURN_NONE;
    Ref tuple = checked_ref(PyTuple_New(shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) {
      PyObject* dim = Py_None;
      if (is_known(shape.dim(i))) {
        dim = checked(PyLong_FromLongLong(shape.dim(i)));
      } else {
        Py_INCREF(dim);
      }
      if (PyTuple_SetItem(tuple.get(), i, dim) < 0) throw_python_error();
    }
    return tuple.release();
  });
}

PyObject* method_rank(PyObject* self, PyObject*) { return get_ndim(self, nullptr); }

PyObject* method_num_elements(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    auto count = shape_of(operand_in(self)).element_count();
    if (!count) Py_RETURN_NONE;
    return checked(PyLong_FromLongLong(*count));
  });
}

template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef tensor_methods[] = {
    {"get_shape", method_get_shape, METH_NOARGS, "The tensor's TensorShape."},
    {"set_shape", method_set_shape, METH_O,
     "Adds what the caller knows about the shape; ValueError if it cannot be so."},
    {"consumers", method_consumers, METH_NOARGS, "Operations that take the tensor, if known."},
    {"eval", as_method(method_eval), METH_VARARGS | METH_KEYWORDS,
     "Not available: call numpy() on eager tensors."},
    {"ref", method_ref, METH_NOARGS, "A hashable reference to the tensor."},
    {"experimental_ref", method_ref, METH_NOARGS, "A hashable reference to the tensor."},
    {"_shape_tuple", method_shape_tuple, METH_NOARGS, "The shape as a tuple."},
    {"_rank", method_rank, METH_NOARGS, "The number of dimensions."},
    {"_num_elements", method_num_elements, METH_NOARGS, "The number of elements."},
    {nullptr, nullptr, 0, nullptr}};

// --- Text ----------------------------------------------------------------------------------------

PyObject* repr(PyObject* self) {
  return guarded([&] {
    const Operand& operand = operand_in(self);
    return make_text(operand.is_tensor() ? printed_repr(operand.tensor()) : symbolic_repr(operand))
        .release();
  });
}
PyObject* str(PyObject* self) {
  return guarded([&] {
    const Operand& operand = operand_in(self);
    return make_text(operand.is_tensor() ? printed_str(operand.tensor()) : symbolic_str(operand))
        .release();
  });
}

Py_hash_t refuse_hash(PyObject*) {
  PyErr_SetString(PyExc_TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
  return -1;
}

// --- Types ---------------------------------------------------------------------------------------

PyMemberDef tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dictionary), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

constexpr const char* kTensorDoc =
    "A multidimensional array of elements of one dtype.\n\n"
    "An eager tensor has its elements now (``numpy()``); a symbolic one stands for a value of a\n"
    "function that is being traced. Both are immutable.";

PyTypeObject* create_type(const char* name, size_t size, std::vector<PyType_Slot> slots,
                          PyTypeObject* base, unsigned long flags) {
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, static_cast<int>(size), 0,
                      static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | flags), slots.data()};
  Ref bases;
  if (base) {
    bases = checked_ref(PyTuple_Pack(1, reinterpret_cast<PyObject*>(base)));
  }
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, bases.get())));
}

void add(std::vector<PyType_Slot>& slots, std::span<const PyType_Slot> more) {
  slots.insert(slots.end(), more.begin(), more.end());
}

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void create_tensor_types(PyObject* module) {
  std::vector<PyType_Slot> slots = {{Py_tp_doc, const_cast<char*>(kTensorDoc)},
                                    {Py_tp_new, slot(refuse_new)},
                                    {Py_tp_dealloc, slot(deallocate_eager)},
                                    {Py_tp_getattro, slot(get_attribute)},
                                    {Py_tp_setattro, slot(PyObject_GenericSetAttr)},
                                    {Py_tp_repr, slot(repr)},
                                    {Py_tp_str, slot(str)},
                                    {Py_tp_hash, slot(refuse_hash)},
                                    {Py_tp_getset, tensor_attributes},
                                    {Py_tp_methods, tensor_methods},
                                    {Py_tp_members, tensor_members},
                                    {Py_mp_subscript, slot(tensor_subscript)}};
  add(slots, operator_slots());
  tensor_base_type =
      create_type("graphwright.Tensor", sizeof(TensorObject), slots, nullptr, Py_TPFLAGS_BASETYPE);
  // Without a tp_dealloc of its own a type gets Python's general one, which is slow.
  slots = {{Py_tp_doc, const_cast<char*>("A tensor whose elements are known now.")},
           {Py_tp_dealloc, slot(deallocate_eager)},
           {Py_tp_methods, eager_protocol_methods}};
  add(slots, eager_protocol_slots());
  add(slots, buffer_slots());
  eager_tensor_type =
      create_type("graphwright.EagerTensor", sizeof(TensorObject), slots, tensor_base_type, 0);
  slots = {{Py_tp_doc, const_cast<char*>("A tensor of a function that is being traced.")},
           {Py_tp_dealloc, slot(deallocate_symbolic)},
           {Py_tp_methods, symbolic_protocol_methods}};
  add(slots, symbolic_protocol_slots());
  symbolic_tensor_type = create_type("graphwright.SymbolicTensor", sizeof(SymbolicTensorObject),
                                     slots, tensor_base_type, 0);
  create_iterator_type();

  // NumPy's operators ask the operand of higher priority first.
  Ref priority = checked_ref(PyLong_FromLong(100));
  if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_base_type), "__array_priority__",
                             priority.get()) < 0) {
    throw_python_error();
  }
  for (auto [name, type] :
       {std::pair{"Tensor", tensor_base_type}, std::pair{"EagerTensor", eager_tensor_type},
        std::pair{"SymbolicTensor", symbolic_tensor_type}}) {
    if (PyObject_SetAttrString(module, name, reinterpret_cast<PyObject*>(type)) < 0) {
      throw_python_error();
    }
  }
}

PyObject* wrap_impl(TensorImpl* impl) {
  TensorObject* object = allocate(eager_tensor_type);
  if (!object) [[unlikely]] {
    Tensor::adopt(impl);
    return nullptr;
  }
  new (&object->operand) Operand(Tensor::adopt(impl));
  return reinterpret_cast<PyObject*>(object);
}

PyObject* wrap(Operand operand) {
  if (!operand) throw_internal("a null operand reached Python");
  if (operand.is_tensor()) {
    TensorObject* object = allocate(eager_tensor_type);
    if (!object) throw_python_error();
    new (&object->operand) Operand(std::move(operand));
    return reinterpret_cast<PyObject*>(object);
  }
  Value* value = operand.value();
  if (value->front_end) return Ref::borrow(static_cast<PyObject*>(value->front_end)).release();
  std::shared_ptr<Graph> graph = value->block->graph->shared_from_this();
  TensorObject* object = allocate(symbolic_tensor_type);
  if (!object) throw_python_error();
  value->front_end = object;
  new (&object->operand) Operand(std::move(operand));
  new (&reinterpret_cast<SymbolicTensorObject*>(object)->graph)
      std::shared_ptr<Graph>(std::move(graph));
  return reinterpret_cast<PyObject*>(object);
}

PyObject* wrap_list(std::span<const Operand> operands) {
  Ref list = checked_ref(PyList_New(static_cast<Py_ssize_t>(operands.size())));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), wrap(operands[i])) < 0) {
      throw_python_error();
    }
  }
  return list.release();
}

std::string symbolic_repr(const Operand& operand) {
  return "<tf.Tensor '" + value_name(*operand.value()) +
         "' shape=" + shape_of(operand).without_symbols().to_string() +
         " dtype=" + std::string(dtype_name(dtype_of(operand))) + ">";
}

std::string symbolic_str(const Operand& operand) {
  PartialShape shape = shape_of(operand).without_symbols();
  std::string text = "Tensor(\"" + value_name(*operand.value()) + "\"";
  if (shape.has_rank()) text += ", shape=" + shape.to_string();
  return text + ", dtype=" + std::string(dtype_name(dtype_of(operand))) + ")";
}

}  // namespace graphwright
