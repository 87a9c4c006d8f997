// Reading, writing and converting variables.
#include "python/variable_methods.h"

#include <vector>

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/function_type.h"
#include "python/printing.h"
#include "python/tensor_object.h"
#include "python/variable_object.h"

namespace graphwright {
namespace {

template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

std::string display_name(PyObject* variable) {
  Ref name = checked_ref(PyObject_GetAttrString(variable, "name"));
  return std::string(text_of(name.get()));
}

// --- Reading -------------------------------------------------------------------------------------

PyObject* read(PyObject* self, PyObject*) {
  return guarded([&] {
    Builder& builder = current_builder();
    if (builder.is_eager()) return wrap(read_variable(self));
    Operand value;
    {
      NameScopeGuard scope(builder, "Read");
      value = read_variable(self);
    }
    return wrap(builder.op("Identity", {value}));
  });
}

PyObject* numpy(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!current_builder().is_eager()) {
      throw Error(ErrorKind::kNotImplementedError,
                  "numpy() is only available when eager execution is enabled.");
    }
    return tensor_to_numpy(read_variable(self).tensor());
  });
}

// The method or protocol of the value's own tensor.
template <class Function>
PyObject* with_value(PyObject* self, Function function) {
  return guarded([&] {
    Ref value = Ref::steal(wrap(read_variable(self)));
    return checked(function(value.get()));
  });
}

PyObject* array(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return with_value(self, [&](PyObject* value) {
    Ref method = checked_ref(PyObject_GetAttrString(value, "__array__"));
    return PyObject_Call(method.get(), arguments, keywords);
  });
}
PyObject* complex(PyObject* self, PyObject*) {
  return with_value(
      self, [](PyObject* value) { return PyObject_CallMethod(value, "__complex__", nullptr); });
}
PyObject* format(PyObject* self, PyObject* specification) {
  if (PyUnicode_GetLength(specification) == 0) return PyObject_Str(self);
  return with_value(self, [&](PyObject* value) { return PyObject_Format(value, specification); });
}
PyObject* to_int(PyObject* self) { return with_value(self, PyNumber_Long); }
PyObject* to_float(PyObject* self) { return with_value(self, PyNumber_Float); }
PyObject* iterate(PyObject* self) { return with_value(self, PyObject_GetIter); }
int to_bool(PyObject* self) {
  return guarded_int([&] {
    Ref value = Ref::steal(wrap(read_variable(self)));
    int truth = PyObject_IsTrue(value.get());
    if (truth < 0) throw_python_error();
    return truth;
  });
}

PyObject* is_initialized(PyObject* self, PyObject*, PyObject*) {
  return guarded(
      [&] { return wrap(current_builder().op("VarIsInitializedOp", {variable_handle(self)})); });
}

PyObject* get_shape(PyObject* self, PyObject*) {
  return guarded([&] { return shape_object(variable_value_type(self).shape); });
}
PyObject* set_shape(PyObject* self, PyObject* argument) {
  return guarded([&]() -> PyObject* {
    variable_value_type(self).shape.merged_with(shape_from_python(argument));
    Py_RETURN_NONE;
  });
}
PyObject* ref(PyObject* self, PyObject*) {
  return guarded([&] {
    return checked(PyObject_CallFunctionObjArgs(imported("graphwright.reference", "Reference"),
                                                self, nullptr));
  });
}
PyObject* refuse_eval(PyObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_RuntimeError,
                  "This operation is not supported when eager execution is enabled.");
  return nullptr;
}

// --- Writing -------------------------------------------------------------------------------------

struct AssignArguments {
  PyObject *value = nullptr, *use_locking = Py_None, *name = Py_None, *read_value = Py_True;
};

AssignArguments parse_assign(PyObject* arguments, PyObject* keywords, const char* first,
                             const char* format) {
  const char* const names[] = {first, "use_locking", "name", "read_value", nullptr};
  AssignArguments a;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, format, const_cast<char**>(names), &a.value,
                                   &a.use_locking, &a.name, &a.read_value)) {
    throw_python_error();
  }
  return a;
}

PyObject* after_write(PyObject* self, const AssignArguments& a) {
  int read_value = PyObject_IsTrue(a.read_value);
  if (read_value < 0) throw_python_error();
  if (!read_value) Py_RETURN_NONE;
  return unread_variable(self);
}

void write(PyObject* self, const char* op, PyObject* value, PyObject* name) {
  notify_variable_use(self);
  Builder& builder = current_builder();
  auto apply = [&](std::string_view node_name) {
    builder.op_outputs(op,
                       std::vector<Operand>{variable_handle(self), convert_new_value(self, value)},
                       {}, node_name);
  };
  apply(name == Py_None ? std::string_view() : text_of(name));
}

PyObject* assign(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    AssignArguments a = parse_assign(arguments, keywords, "value", "O|OOO:assign");
    PartialShape shape = variable_value_type(self).shape;
    Builder& builder = current_builder();
    const auto& resource = variable_resource(self);
    // The value is converted before anything is written or recorded.
    NameScopeGuard scope(builder, a.name == Py_None ? "AssignVariableOp" : text_of(a.name));
    Operand value = convert_new_value(self, a.value, "value");
    PartialShape given = shape_of(value).without_symbols();
    if (!shape.is_compatible_with(given)) {
      throw_value_error("Cannot assign value to variable ' " + display_name(self) +
                        "': Shape mismatch.The variable shape " + shape.to_string() +
                        ", and the assigned value shape " + given.to_string() +
                        " are incompatible.");
    }
    notify_variable_use(self);
    if (builder.is_eager() && resource) {
      resource->assign(value.tensor().owned()).throw_if_error();
    } else {
      Attributes attributes = named_attributes(get_op("AssignVariableOp"),
                                               {{"validate_shape", shape.is_fully_defined()}});
      builder.op_outputs("AssignVariableOp", std::vector<Operand>{variable_handle(self), value},
                         attributes, kScopeName);
    }
    return after_write(self, a);
  });
}

PyObject* assign_add(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    AssignArguments a = parse_assign(arguments, keywords, "delta", "O|OOO:assign_add");
    write(self, "AssignAddVariableOp", a.value, a.name);
    return after_write(self, a);
  });
}

PyObject* assign_sub(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    AssignArguments a = parse_assign(arguments, keywords, "delta", "O|OOO:assign_sub");
    write(self, "AssignSubVariableOp", a.value, a.name);
    return after_write(self, a);
  });
}

// --- Copies --------------------------------------------------------------------------------------

// (class, (), state) would lose what __init__ checks; a partial call of the class keeps it.
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref value = Ref::steal(numpy(self, nullptr));
    if (!value) throw_python_error();
    Ref options = checked_ref(PyDict_New());
    auto set = [&](const char* key, Ref item) {
      if (PyDict_SetItemString(options.get(), key, item.get()) < 0) throw_python_error();
    };
    ValueType type = variable_value_type(self);
    set("initial_value", value);
    set("dtype", Ref::steal(dtype_object(type.dtype)));
    set("shape", Ref::steal(shape_object(type.shape)));
    set("name", checked_ref(PyObject_GetAttrString(self, "_shared_name")));
    for (const char* attribute : {"trainable", "constraint", "synchronization", "aggregation"}) {
      set(attribute, checked_ref(PyObject_GetAttrString(self, attribute)));
    }
    Ref arguments = checked_ref(PyTuple_Pack(1, public_class(self)));
    Ref make = checked_ref(
        PyObject_Call(imported("functools", "partial"), arguments.get(), options.get()));
    return checked(Py_BuildValue("O()", make.get()));
  });
}

PyObject* deepcopy(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref parts = checked_ref(reduce(self, nullptr));
    return checked(PyObject_CallNoArgs(PyTuple_GetItem(parts.get(), 0)));
  });
}
PyObject* copy(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}

}  // namespace

Operand convert_new_value(PyObject* variable, PyObject* value, std::string_view constant_name) {
  ConversionOptions options;
  options.dtype = variable_value_type(variable).dtype;
  options.name = constant_name;
  return operand_of(value, options);
}

static PyMethodDef methods[] = {
    {"value", read, METH_NOARGS, "The value now, as a tensor."},
    {"read_value", read, METH_NOARGS, "The value now, as a tensor."},
    {"numpy", numpy, METH_NOARGS, "A copy of the value as a NumPy array or scalar."},
    {"assign", as_method(assign), METH_VARARGS | METH_KEYWORDS,
     "assign(value, use_locking=None, name=None, read_value=True): replaces the value."},
    {"assign_add", as_method(assign_add), METH_VARARGS | METH_KEYWORDS,
     "assign_add(delta, use_locking=None, name=None, read_value=True): adds to the value."},
    {"assign_sub", as_method(assign_sub), METH_VARARGS | METH_KEYWORDS,
     "assign_sub(delta, use_locking=None, name=None, read_value=True): subtracts from it."},
    {"is_initialized", as_method(is_initialized), METH_VARARGS | METH_KEYWORDS,
     "Whether there is a value, a bool tensor."},
    {"get_shape", get_shape, METH_NOARGS, "The variable's TensorShape."},
    {"set_shape", set_shape, METH_O, "ValueError unless the shape is compatible."},
    {"ref", ref, METH_NOARGS, "A hashable reference to the variable."},
    {"experimental_ref", ref, METH_NOARGS, "A hashable reference to the variable."},
    {"eval", as_method(refuse_eval), METH_VARARGS | METH_KEYWORDS, "Not available."},
    {"__array__", as_method(array), METH_VARARGS | METH_KEYWORDS, "For NumPy."},
    {"__complex__", complex, METH_NOARGS, "The value of a 0-d variable as a complex."},
    {"__format__", format, METH_O, "Formats as NumPy formats the value."},
    {"__copy__", copy, METH_NOARGS, "The variable itself."},
    {"__deepcopy__", deepcopy, METH_O, "Another variable of the same value."},
    {"__reduce__", reduce, METH_NOARGS, "For pickle."},
};

PyMethodDef* variable_methods() {
  static std::vector<PyMethodDef> all = [] {
    std::vector<PyMethodDef> list(std::begin(methods), std::end(methods));
    std::span<const PyMethodDef> rows = variable_row_methods();
    list.insert(list.end(), rows.begin(), rows.end());
    list.push_back({nullptr, nullptr, 0, nullptr});
    return list;
  }();
  return all.data();
}

std::span<const PyType_Slot> variable_protocol_slots() {
  static const PyType_Slot slots[] = {{Py_nb_int, slot(to_int)},
                                      {Py_nb_float, slot(to_float)},
                                      {Py_nb_bool, slot(to_bool)},
                                      {Py_tp_iter, slot(iterate)}};
  return slots;
}

PyObject* default_synchronization() {
  static PyObject* const value = checked(
      PyObject_GetAttrString(imported("graphwright.variables", "VariableSynchronization"), "AUTO"));
  return value;
}

PyObject* default_aggregation() {
  static PyObject* const value = checked(
      PyObject_GetAttrString(imported("graphwright.variables", "VariableAggregation"), "NONE"));
  return value;
}

std::string array_text(const Tensor& tensor) {
  std::string text = printed_repr(tensor);
  size_t start = text.find(", numpy=");
  return text.substr(start + 8, text.size() - start - 9);
}

}  // namespace graphwright
