// How tensors behave as Python values: numbers, truth, iteration, NumPy arrays, copies, pickles.
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/printing.h"
#include "python/tensor_slots.h"
#include "tensor/format.h"
#include "trace/scope_errors.h"

namespace graphwright {
namespace {

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}
template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

TensorImpl* impl_of(PyObject* self) { return operand_in(self).impl(); }

// --- Symbolic tensors are no Python values -------------------------------------------------------

[[noreturn]] void throw_not_allowed(const char* what) {
  std::string text =
      std::string(what) +
      " is not allowed: it has no value while its function is traced. Under @tf.function, "
      "AutoGraph "
      "converts `if`, `while`, `for`, `and`, `or`, `not` and `assert` in code whose source it can "
      "see; elsewhere use tf.cond, tf.while_loop, tf.map_fn or tf.unstack, or run eagerly.";
  Ref message = make_text(text);
  PyObject* type = imported("graphwright.errors", "OperatorNotAllowedInGraphError");
  PyErr_SetObject(type, message.get());
  throw_python_error();
}

int symbolic_bool(PyObject*) {
  return guarded_int(
      []() -> int { throw_not_allowed("Using a symbolic `tf.Tensor` as a Python `bool`"); });
}
PyObject* symbolic_iter(PyObject*) {
  return guarded([]() -> PyObject* { throw_not_allowed("Iterating over a symbolic `tf.Tensor`"); });
}
Py_ssize_t symbolic_length(PyObject* self) {
  return guarded_int([&]() -> int {
    std::string name = value_name(*operand_in(self).value());
    throw_type_error("len is not well defined for a symbolic Tensor (" + name +
                     "). Please call `x.shape` rather than `len(x)` for shape information.");
  });
}
PyObject* symbolic_array(PyObject* self, PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    throw Error(ErrorKind::kNotImplementedError,
                "Cannot convert a symbolic tf.Tensor (" + value_name(*operand_in(self).value()) +
                    ") to a numpy array. This error may indicate that you're trying to pass a "
                    "Tensor to a NumPy call, which is not supported.");
  });
}
PyObject* symbolic_reduce(PyObject* self, PyObject*) {
  return guarded(
      [&]() -> PyObject* { throw_type_error("cannot pickle '" + type_name(self) + "' object"); });
}
PyObject* return_self(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}

// --- Numbers -------------------------------------------------------------------------------------

Ref scalar_of(PyObject* self) {
  const Tensor tensor = operand_in(self).tensor();
  if (tensor.rank() != 0) {
    throw_type_error("only 0-dimensional arrays can be converted to Python scalars");
  }
  return Ref::steal(python_scalar(tensor));
}

PyObject* eager_int(PyObject* self) {
  return guarded([&] { return checked(PyNumber_Long(scalar_of(self).get())); });
}
PyObject* eager_float(PyObject* self) {
  return guarded([&]() -> PyObject* {
    TensorImpl* impl = impl_of(self);
    if (impl->rank == 0 && impl->dtype == DType::kFloat) {
      return checked(PyFloat_FromDouble(*static_cast<const float*>(impl->data)));
    }
    return checked(PyNumber_Float(scalar_of(self).get()));
  });
}
PyObject* eager_complex(PyObject* self, PyObject*) {
  return guarded([&] {
    Ref scalar = scalar_of(self);
    return checked(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyComplex_Type),
                                                scalar.get(), nullptr));
  });
}
PyObject* eager_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    TensorImpl* impl = impl_of(self);
    if (impl->rank != 0 || !(is_integer(impl->dtype) || impl->dtype == DType::kBool)) {
      throw_type_error("only integer scalar arrays can be converted to a scalar index");
    }
    return checked(PyNumber_Long(scalar_of(self).get()));
  });
}

int eager_bool(PyObject* self) {
  return guarded_int([&]() -> int {
    const Tensor tensor = operand_in(self).tensor();
    if (tensor.element_count() == 0) return 0;
    if (tensor.element_count() > 1) {
      throw_value_error(
          "The truth value of an array with more than one element is ambiguous. Use a.any() or "
          "a.all()");
    }
    if (tensor.dtype() == DType::kBool) return *tensor.data<bool>();
    Ref scalar = Ref::steal(python_scalar(tensor.rank() == 0 ? tensor : tensor.reshaped({})));
    int truth = PyObject_IsTrue(scalar.get());
    if (truth < 0) throw_python_error();
    return truth;
  });
}

// --- Sequences -----------------------------------------------------------------------------------

Py_ssize_t eager_length(PyObject* self) {
  TensorImpl* impl = impl_of(self);
  if (impl->rank == 0) {
    PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
    return -1;
  }
  return static_cast<Py_ssize_t>(impl->dims()[0]);
}

struct IteratorObject {
  PyObject ob_base;
  PyObject* tensor;
  int64_t next;
};
PyTypeObject* iterator_type = nullptr;

PyObject* eager_iter(PyObject* self) {
  if (impl_of(self)->rank == 0) {
    PyErr_SetString(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    return nullptr;
  }
  IteratorObject* iterator = PyObject_New(IteratorObject, iterator_type);
  if (!iterator) return nullptr;
  Py_INCREF(self);
  iterator->tensor = self;
  iterator->next = 0;
  return reinterpret_cast<PyObject*>(iterator);
}

PyObject* iterator_next(PyObject* self) {
  auto* iterator = reinterpret_cast<IteratorObject*>(self);
  if (iterator->next >= impl_of(iterator->tensor)->dims()[0]) return nullptr;
  return guarded(
      [&] { return wrap(first_dimension_slice(operand_in(iterator->tensor), iterator->next++)); });
}

void iterator_deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(reinterpret_cast<IteratorObject*>(self)->tensor);
  PyObject_Free(self);
  Py_DECREF(type);
}

// --- NumPy and text ------------------------------------------------------------------------------

PyObject* eager_numpy(PyObject* self, PyObject*) {
  return guarded([&] { return tensor_to_numpy(operand_in(self).tensor()); });
}

PyObject* eager_array(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject *dtype = Py_None, *copy = Py_None;
    static const char* const names[] = {"dtype", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:__array__",
                                     const_cast<char**>(names), &dtype, &copy)) {
      throw_python_error();
    }
    if (copy == Py_False) {
      throw_value_error("Unable to avoid copy while creating an array from a tensor");
    }
    // numpy() copies already, so nothing more need be asked of NumPy.
    Tensor tensor = operand_in(self).tensor();
    Ref value = Ref::steal(tensor_to_numpy(tensor));
    // A bytes alone would become an array of fixed-length text.
    if (tensor.dtype() == DType::kString && dtype == Py_None) dtype = numpy_dtype(DType::kString);
    return checked(
        PyObject_CallFunctionObjArgs(imported("numpy", "asarray"), value.get(), dtype, nullptr));
  });
}

PyObject* eager_dlpack(PyObject* self, PyObject*, PyObject*) {
  return guarded([&] { return tensor_to_dlpack(operand_in(self).tensor()); });
}
PyObject* eager_dlpack_device(PyObject*, PyObject*) {
  constexpr int kCpu = 1;
  return Py_BuildValue("(ii)", kCpu, 0);
}

PyObject* eager_format(PyObject* self, PyObject* specification) {
  return guarded([&]() -> PyObject* {
    const Tensor tensor = operand_in(self).tensor();
    if (text_of(specification).empty() && tensor.rank() > 0) {
      return make_text(printed_value_str(tensor)).release();
    }
    Ref value = Ref::steal(tensor_to_numpy(tensor));
    return checked(PyObject_Format(value.get(), specification));
  });
}

// --- Copies --------------------------------------------------------------------------------------

PyObject* eager_deepcopy(PyObject* self, PyObject*) {
  // Tensors are immutable, but a deep copy must not share its identity.
  return guarded([&] { return wrap(operand_in(self).tensor().copy()); });
}

PyObject* eager_reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref value = Ref::steal(tensor_to_numpy(operand_in(self).tensor()));
    Ref dtype = checked_ref(make_text(dtype_name(dtype_of(operand_in(self)))).release());
    PyObject* restore = imported("graphwright.pickling", "restore_tensor");
    return checked(Py_BuildValue("O(OO)", restore, value.get(), dtype.get()));
  });
}

PyObject* eager_device_copy(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}
PyObject* eager_gpu(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_RuntimeError, "GPU:0 unknown device.");
  return nullptr;
}

}  // namespace

PyMethodDef eager_protocol_methods[] = {
    {"__dlpack__", as_method(eager_dlpack), METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule of the elements' memory, which must not be written to."},
    {"__dlpack_device__", eager_dlpack_device, METH_NOARGS, "DLPack's number of the CPU."},
    {"numpy", eager_numpy, METH_NOARGS,
     "A copy of the elements as a NumPy array, or as a NumPy scalar if 0-d."},
    {"__array__", as_method(eager_array), METH_VARARGS | METH_KEYWORDS, "For NumPy."},
    {"__complex__", eager_complex, METH_NOARGS, "The value of a 0-d tensor as a complex."},
    {"__format__", eager_format, METH_O, "Formats as NumPy formats the value."},
    {"__copy__", return_self, METH_NOARGS, "The tensor itself: it cannot change."},
    {"__deepcopy__", eager_deepcopy, METH_O, "A tensor with elements of its own."},
    {"__reduce__", eager_reduce, METH_NOARGS, "For pickle."},
    {"cpu", eager_device_copy, METH_NOARGS, "The tensor on the CPU: itself."},
    {"gpu", eager_gpu, METH_VARARGS, "RuntimeError: there is no GPU."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef symbolic_protocol_methods[] = {
    {"__array__", as_method(symbolic_array), METH_VARARGS | METH_KEYWORDS,
     "NotImplementedError: a symbolic tensor has no elements."},
    {"__copy__", return_self, METH_NOARGS, "The tensor itself: it cannot change."},
    {"__deepcopy__", return_self, METH_O, "The tensor itself: it cannot change."},
    {"__reduce__", symbolic_reduce, METH_NOARGS, "TypeError: it belongs to its graph."},
    {nullptr, nullptr, 0, nullptr}};

std::span<const PyType_Slot> eager_protocol_slots() {
  static const PyType_Slot slots[] = {
      {Py_nb_int, slot(eager_int)},       {Py_nb_float, slot(eager_float)},
      {Py_nb_index, slot(eager_index)},   {Py_nb_bool, slot(eager_bool)},
      {Py_mp_length, slot(eager_length)}, {Py_tp_iter, slot(eager_iter)}};
  return slots;
}

std::span<const PyType_Slot> symbolic_protocol_slots() {
  static const PyType_Slot slots[] = {{Py_nb_bool, slot(symbolic_bool)},
                                      {Py_mp_length, slot(symbolic_length)},
                                      {Py_tp_iter, slot(symbolic_iter)}};
  return slots;
}

PyObject* python_scalar(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return checked(PyFloat_FromDouble(*tensor.data<float>()));
    case DType::kDouble:
      return checked(PyFloat_FromDouble(*tensor.data<double>()));
    case DType::kInt32:
      return checked(PyLong_FromLong(*tensor.data<int32_t>()));
    case DType::kInt64:
      return checked(PyLong_FromLongLong(*tensor.data<int64_t>()));
    case DType::kBool:
      return checked(PyBool_FromLong(*tensor.data<bool>()));
    case DType::kString: {
      const std::string& text = *tensor.data<std::string>();
      return checked(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
    }
    default: {
      Ref value = Ref::steal(tensor_to_numpy(tensor));
      return checked(PyObject_CallMethod(value.get(), "item", nullptr));
    }
  }
}

void create_iterator_type() {
  static PyType_Slot slots[] = {{Py_tp_dealloc, slot(iterator_deallocate)},
                                {Py_tp_iter, slot(PyObject_SelfIter)},
                                {Py_tp_iternext, slot(iterator_next)},
                                {0, nullptr}};
  static PyType_Spec spec = {"graphwright.TensorIterator", sizeof(IteratorObject), 0,
                             static_cast<unsigned int>(Py_TPFLAGS_DEFAULT), slots};
  iterator_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

}  // namespace graphwright
