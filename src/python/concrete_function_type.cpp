// ConcreteFunction and the functions of the module that enter and leave build contexts.
#include <Python.h>

#include <cstddef>

#include <fmt/format.h>
#include <structmember.h>  // needs Python.h in front of it

#include "ir/node_names.h"
#include "python/concrete_function_object.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/graph_object.h"
#include "python/graphdef.h"
#include "python/tensor_array.h"
#include "python/tensor_object.h"
#include "python/trace_module.h"
#include "python/type_spec.h"
#include "python/variable_object.h"
#include "runtime/plan.h"

namespace graphwright {
namespace {

struct ConcreteFunctionObject {
  PyObject ob_base;
  std::shared_ptr<PolymorphicFunction> function;
  std::shared_ptr<Trace> trace;
  PyObject* instance;
  PyObject* dictionary;
  PyObject* weak_references;
};

PyTypeObject* concrete_function_type = nullptr;

ConcreteFunctionObject* as_concrete(PyObject* object) {
  return reinterpret_cast<ConcreteFunctionObject*>(object);
}

// Every tensor leaf of a stored argument as a TensorSpec.
Ref to_specs(const Trace& trace, PyObject* value, size_t& next) {
  auto spec = [&](PyObject* leaf) -> Ref {
    const ValueType& type = trace.input_types[next];
    Ref made = is_tensor_array(leaf)
                   ? checked_ref(PyObject_GetAttrString(leaf, "_type_spec"))
                   : Ref::steal(make_tensor_spec(type.shape, type.dtype, trace.input_names[next]));
    ++next;
    return made;
  };
  return replace_leaves(value, Leaves::kTensors, spec);
}

bool has_tensor_leaf(PyObject* value) {
  bool found = false;
  auto look = [&](PyObject* leaf) {
    found = true;
    return Ref::borrow(leaf);
  };
  replace_leaves(value, Leaves::kTensors, look);
  return found;
}

// Collects what the call gives for the tensor leaves of one stored argument.
void collect_leaves(PyObject* stored, PyObject* given, std::vector<TensorLeaf>& leaves,
                    std::string_view name, const Trace& trace) {
  if (is_tensor_array(stored)) {
    if (!is_tensor_array(given) ||
        tensor_array_in(given).type().dtype != tensor_array_in(stored).type().dtype) {
      throw_type_error(fmt::format("the argument '{}' must be a TensorArray of {}, not {}", name,
                                   dtype_name(tensor_array_in(stored).type().dtype),
                                   repr_of(given)));
    }
    leaves.push_back({tensor_array_list(given), Ref::borrow(given), name});
    return;
  }
  if (is_tensor(stored) || is_variable(stored)) {
    const ValueType& type = trace.input_types[leaves.size()];
    if (is_variable(given) && type.dtype == DType::kResource) {
      leaves.push_back({variable_handle(given), Ref::borrow(given), name});
      return;
    }
    Operand operand = is_tensor(given) ? operand_in(given) : operand_of(given, type.dtype);
    if (dtype_of(operand) != type.dtype || !type.shape.is_compatible_with(shape_of(operand))) {
      throw_type_error(fmt::format(
          "Binding inputs to tf.function failed due to `Can not cast {} to TensorSpec(shape={}, "
          "dtype=tf.{}, name='{}')`.",
          repr_of(given), type.shape.to_string(), dtype_name(type.dtype), name));
    }
    leaves.push_back({std::move(operand), Ref(), name});
    return;
  }
  if (!has_tensor_leaf(stored)) {
    if (PyWeakref_CheckRef(stored)) {
      if (PyWeakref_GetObject(stored) == given) return;
    }
    int equal = PyObject_RichCompareBool(stored, given, Py_EQ);
    if (equal < 0) throw_python_error();
    if (!equal) {
      throw_type_error(fmt::format(
          "the argument '{}' is part of the trace and must be {}, not {}: call the tf.function to "
          "trace for another value",
          name, repr_of(stored), repr_of(given)));
    }
    return;
  }
  std::vector<Ref> inner;
  auto take = [&](PyObject* leaf) {
    inner.push_back(Ref::borrow(leaf));
    return Ref::borrow(leaf);
  };
  replace_leaves(stored, Leaves::kAll, take);
  std::vector<Ref> values;
  auto take_value = [&](PyObject* leaf) {
    values.push_back(Ref::borrow(leaf));
    return Ref::borrow(leaf);
  };
  replace_leaves(given, Leaves::kAll, take_value);
  if (inner.size() != values.size()) {
    throw_type_error(fmt::format("the structure of argument '{}', {}, differs from the traced one",
                                 name, repr_of(given)));
  }
  for (size_t i = 0; i < inner.size(); ++i) {
    collect_leaves(inner[i].get(), values[i].get(), leaves, name, trace);
  }
}

// The leaves of a call that gives one argument per parameter of the traced function.
std::vector<TensorLeaf> bind_structured(ConcreteFunctionObject* object, const Trace* trace,
                                        PyObject* arguments, PyObject* keywords) {
  PyObject* stored_positional = PyTuple_GetItem(trace->arguments.get(), 0);
  PyObject* stored_keywords = PyTuple_GetItem(trace->arguments.get(), 1);
  const auto& parameters = object->function->signature().parameters();
  Py_ssize_t given_count = PyTuple_Size(arguments);
  Py_ssize_t used_keywords = 0;
  std::vector<TensorLeaf> leaves;
  Py_ssize_t position = 0;
  for (const Parameter& parameter : parameters) {
    bool keyword_only = parameter.kind == Parameter::Kind::kKeywordOnly;
    PyObject* stored = keyword_only ? PyDict_GetItemWithError(stored_keywords, parameter.name.get())
                                    : PyTuple_GetItem(stored_positional, position);
    PyObject* given = nullptr;
    if (!keyword_only && position < given_count) given = PyTuple_GetItem(arguments, position);
    if (!keyword_only) ++position;
    if (keywords) {
      if (PyObject* named = PyDict_GetItemWithError(keywords, parameter.name.get())) {
        if (given) {
          throw_type_error(fmt::format("{} got multiple values for argument '{}'",
                                       object->function->name(), parameter.text));
        }
        given = named;
        ++used_keywords;
      }
    }
    if (!given) {
      if (has_tensor_leaf(stored)) {
        throw_type_error(fmt::format(
            "Binding inputs to tf.function failed due to `missing a required argument: '{}'`.",
            parameter.text));
      }
      continue;
    }
    collect_leaves(stored, given, leaves, parameter.text, *trace);
  }
  for (; position < PyTuple_Size(stored_positional); ++position) {
    PyObject* stored = PyTuple_GetItem(stored_positional, position);
    if (position >= given_count) {
      throw_type_error(
          "Binding inputs to tf.function failed due to `missing a required "
          "argument`: the function was traced with more positional arguments.");
    }
    collect_leaves(stored, PyTuple_GetItem(arguments, position), leaves, "args", *trace);
  }
  if (given_count > position) {
    throw_type_error(
        "Binding inputs to tf.function failed due to `too many positional arguments`.");
  }
  if (object->function->signature().has_var_keyword()) {
    Ref names = sorted_mapping_keys(stored_keywords);
    for (Py_ssize_t i = 0; i < PyList_Size(names.get()); ++i) {
      PyObject* name = PyList_GetItem(names.get(), i);
      bool declared = false;
      for (const Parameter& parameter : parameters) declared |= parameter.text == text_of(name);
      if (declared) continue;
      PyObject* given = keywords ? PyDict_GetItemWithError(keywords, name) : nullptr;
      if (!given) {
        throw_type_error(fmt::format(
            "Binding inputs to tf.function failed due to `missing a required argument: '{}'`.",
            text_of(name)));
      }
      ++used_keywords;
      collect_leaves(PyDict_GetItemWithError(stored_keywords, name), given, leaves, text_of(name),
                     *trace);
    }
  }
  if (keywords && PyDict_Size(keywords) > used_keywords) {
    throw_type_error(
        fmt::format("Binding inputs to tf.function failed due to `got an unexpected "
                    "keyword argument`: {}.",
                    repr_of(keywords)));
  }
  return leaves;
}

// The leaves of a call that gives the tensors alone, in order, without the other arguments.
std::vector<TensorLeaf> bind_flat(const Trace& trace, PyObject* arguments) {
  std::vector<TensorLeaf> leaves;
  std::vector<Ref> stored;
  auto take = [&](PyObject* leaf) {
    stored.push_back(Ref::borrow(leaf));
    return Ref::borrow(leaf);
  };
  replace_leaves(trace.arguments.get(), Leaves::kTensors, take);
  if (static_cast<size_t>(PyTuple_Size(arguments)) != stored.size()) return leaves;
  for (size_t i = 0; i < stored.size(); ++i) {
    collect_leaves(stored[i].get(), PyTuple_GetItem(arguments, static_cast<Py_ssize_t>(i)), leaves,
                   trace.input_names[i], trace);
  }
  return leaves;
}

PyObject* call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    ConcreteFunctionObject* object = as_concrete(self);
    std::shared_ptr<Trace> trace = object->trace;
    std::vector<TensorLeaf> leaves;
    try {
      leaves = bind_structured(object, trace.get(), arguments, keywords);
    } catch (const Error&) {
      PyErr_Clear();
      if (keywords && PyDict_Size(keywords) > 0) throw;
      size_t expected = trace->input_types.size();
      if (expected == 0 || static_cast<size_t>(PyTuple_Size(arguments)) != expected) throw;
      leaves = bind_flat(*trace, arguments);
    }
    return call_trace(*trace, leaves).release();
  });
}

PyObject* get_structured_input_signature(PyObject* self, void*) {
  return guarded([&] {
    const Trace& trace = *as_concrete(self)->trace;
    size_t next = 0;
    Ref positional = to_specs(trace, PyTuple_GetItem(trace.arguments.get(), 0), next);
    Ref keywords = to_specs(trace, PyTuple_GetItem(trace.arguments.get(), 1), next);
    return checked(PyTuple_Pack(2, positional.get(), keywords.get()));
  });
}

PyObject* get_structured_outputs(PyObject* self, void*) {
  PyObject* result = as_concrete(self)->trace->result.get();
  Py_INCREF(result);
  return result;
}

// A list of what `property` says of every result, in the structure of the results.
template <class Describe>
PyObject* describe_outputs(PyObject* self, Describe describe) {
  return guarded([&] {
    const Trace& trace = *as_concrete(self)->trace;
    auto replace = [&](PyObject* leaf) { return Ref::steal(describe(leaf)); };
    return replace_leaves(trace.result.get(), Leaves::kTensors, replace).release();
  });
}

PyObject* get_output_dtypes(PyObject* self, void*) {
  return describe_outputs(
      self, [](PyObject* leaf) { return checked(PyObject_GetAttrString(leaf, "dtype")); });
}

PyObject* get_output_shapes(PyObject* self, void*) {
  return describe_outputs(self, [](PyObject* leaf) {
    // Of a TensorArray, that of its list value.
    return is_tensor_array(leaf) ? shape_object(PartialShape::scalar())
                                 : checked(PyObject_GetAttrString(leaf, "shape"));
  });
}

PyObject* get_inputs(PyObject* self, void*) {
  return guarded([&] {
    const Graph& graph = *as_concrete(self)->trace->concrete->graph();
    Ref list = checked_ref(PyList_New(0));
    for (Value* argument : graph.body().arguments) {
      Ref item = Ref::steal(wrap(Operand(argument)));
      if (PyList_Append(list.get(), item.get()) < 0) throw_python_error();
    }
    return list.release();
  });
}

PyObject* get_outputs(PyObject* self, void*) {
  return guarded([&] {
    const Graph& graph = *as_concrete(self)->trace->concrete->graph();
    Ref list = checked_ref(PyList_New(0));
    for (Value* result : graph.body().results) {
      Ref item = Ref::steal(wrap(Operand(result)));
      if (PyList_Append(list.get(), item.get()) < 0) throw_python_error();
    }
    return list.release();
  });
}

PyObject* get_captured_inputs(PyObject* self, void*) {
  return guarded([&] {
    const Graph& graph = *as_concrete(self)->trace->concrete->graph();
    Ref list = checked_ref(PyList_New(0));
    for (const Capture& capture : graph.captures()) {
      Ref item = Ref::steal(wrap(capture.outer ? Operand(capture.outer) : Operand(capture.tensor)));
      if (PyList_Append(list.get(), item.get()) < 0) throw_python_error();
    }
    return list.release();
  });
}

PyObject* get_name(PyObject* self, void*) {
  const std::string& name = as_concrete(self)->trace->concrete->graph()->name();
  return PyBytes_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

PyObject* get_graph(PyObject* self, void*) {
  return guarded(
      [&] { return wrap_traced_graph(as_concrete(self)->trace->concrete->graph(), self); });
}

PyObject* get_function_def(PyObject* self, void*) {
  return guarded([&] {
    return functiondef_message(*as_concrete(self)->trace->concrete->graph()).release().ptr();
  });
}

PyObject* get_variables(PyObject* self, void* trainable_only) {
  return guarded([&] {
    Ref list = checked_ref(PyList_New(0));
    for (const Capture& capture : as_concrete(self)->trace->concrete->graph()->captures()) {
      if (!capture.tensor || capture.tensor.dtype() != DType::kResource) continue;
      Ref variable = Ref::steal(variable_of_handle(capture.tensor));
      if (!variable) continue;
      if (trainable_only && !variable_is_trainable(variable.get())) continue;
      if (PyList_Append(list.get(), variable.get()) < 0) throw_python_error();
    }
    return checked(PyList_AsTuple(list.get()));
  });
}

PyObject* pretty_printed_signature(PyObject* self, PyObject*) {
  return guarded([&] {
    ConcreteFunctionObject* object = as_concrete(self);
    return make_text(trace_signature_text(*object->function, *object->trace)).release();
  });
}

PyObject* plan_text(PyObject* self, PyObject*) {
  return guarded([&] {
    return make_text(plan_to_text(*as_concrete(self)->trace->concrete->plan())).release();
  });
}

PyObject* text(PyObject* self) {
  return guarded([&] {
    ConcreteFunctionObject* object = as_concrete(self);
    return make_text("ConcreteFunction " + trace_signature_text(*object->function, *object->trace))
        .release();
  });
}

void deallocate(PyObject* self) {
  ConcreteFunctionObject* object = as_concrete(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->instance);
  Py_CLEAR(object->dictionary);
  object->function.~shared_ptr<PolymorphicFunction>();
  object->trace.~shared_ptr<Trace>();
  PyTypeObject* type = Py_TYPE(self);
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"pretty_printed_signature", pretty_printed_signature, METH_VARARGS, "The signature as text."},
    {"plan_text", plan_text, METH_NOARGS,
     "What runs, one slot or instruction a line: for reading, of no fixed form."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"structured_input_signature", get_structured_input_signature, nullptr,
     "(args, kwargs) with TensorSpecs for the tensors.", nullptr},
    {"structured_outputs", get_structured_outputs, nullptr,
     "The results with symbolic tensors at the leaves.", nullptr},
    {"output_dtypes", get_output_dtypes, nullptr, "Dtypes in the structure of the results.",
     nullptr},
    {"output_shapes", get_output_shapes, nullptr, "Shapes in the structure of the results.",
     nullptr},
    {"inputs", get_inputs, nullptr, "Symbolic tensors: arguments, then captures.", nullptr},
    {"outputs", get_outputs, nullptr, "Symbolic tensors: the results, flat.", nullptr},
    {"captured_inputs", get_captured_inputs, nullptr, "What the function took from outside.",
     nullptr},
    {"name", get_name, nullptr, "The graph's name, bytes.", nullptr},
    {"function_def", get_function_def, nullptr, "The trace as a FunctionDef message.", nullptr},
    {"graph", get_graph, nullptr, "The graph as traced.", nullptr},
    {"variables", get_variables, nullptr, "The variables that it uses.", nullptr},
    {"trainable_variables", get_variables, nullptr, "The trainable variables that it uses.",
     const_cast<char*>("trainable")},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(ConcreteFunctionObject, dictionary), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ConcreteFunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("One trace of a tf.function, called with the traced signature.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_str, reinterpret_cast<void*>(text)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {0, nullptr}};

PyType_Spec spec = {"graphwright.ConcreteFunction", sizeof(ConcreteFunctionObject), 0,
                    Py_TPFLAGS_DEFAULT, slots};

// "TensorSpec(shape=(2,), dtype=tf.int32, name=None)" for tensors, "Literal[2]" for the rest.
std::string describe_argument(const Trace& trace, PyObject* stored, size_t& next) {
  if (is_tensor(stored) || is_variable(stored)) {
    const ValueType& type = trace.input_types[next++];
    return fmt::format("TensorSpec(shape={}, dtype=tf.{}, name=None)", type.shape.to_string(),
                       dtype_name(type.dtype));
  }
  if (!has_tensor_leaf(stored)) return fmt::format("Literal[{}]", repr_of(stored));
  return repr_of(to_specs(trace, stored, next).get());
}

}  // namespace

PyObject* make_concrete_function(std::shared_ptr<PolymorphicFunction> function,
                                 std::shared_ptr<Trace> trace, PyObject* instance) {
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(concrete_function_type, Py_tp_alloc));
  PyObject* object = checked(allocate(concrete_function_type, 0));
  ConcreteFunctionObject* made = as_concrete(object);
  new (&made->function) std::shared_ptr<PolymorphicFunction>(std::move(function));
  new (&made->trace) std::shared_ptr<Trace>(std::move(trace));
  Py_XINCREF(instance);
  made->instance = instance;
  made->dictionary = nullptr;
  made->weak_references = nullptr;
  return object;
}

std::string trace_signature_text(PolymorphicFunction& function, const Trace& trace) {
  std::string text = "Input Parameters:\n";
  size_t next = 0;
  PyObject* positional = PyTuple_GetItem(trace.arguments.get(), 0);
  PyObject* keywords = PyTuple_GetItem(trace.arguments.get(), 1);
  Py_ssize_t position = 0;
  for (const Parameter& parameter : function.signature().parameters()) {
    bool keyword_only = parameter.kind == Parameter::Kind::kKeywordOnly;
    PyObject* stored = keyword_only ? PyDict_GetItemWithError(keywords, parameter.name.get())
                                    : PyTuple_GetItem(positional, position++);
    text += fmt::format("  {} ({}): {}\n", parameter.text,
                        keyword_only ? "KEYWORD_ONLY" : "POSITIONAL_OR_KEYWORD",
                        describe_argument(trace, stored, next));
  }
  text += "Output Type:\n";
  auto spec = [](PyObject* leaf) -> Ref {
    if (is_tensor_array(leaf)) return checked_ref(PyObject_GetAttrString(leaf, "_type_spec"));
    const Operand& operand = operand_in(leaf);
    return Ref::steal(make_tensor_spec(shape_of(operand), dtype_of(operand)));
  };
  text += "  " + repr_of(replace_leaves(trace.result.get(), Leaves::kTensors, spec).get()) + "\n";
  text += "Captures:\n";
  const auto& captures = trace.concrete->graph()->captures();
  if (captures.empty()) text += "  None";
  for (size_t i = 0; i < captures.size(); ++i) {
    const ValueType& type = captures[i].inner->type;
    text += fmt::format("{}  {}: TensorSpec(shape={}, dtype=tf.{}, name=None)", i ? "\n" : "", i,
                        type.shape.to_string(), dtype_name(type.dtype));
  }
  return text;
}

void create_concrete_function_type(PyObject* module) {
  concrete_function_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  if (PyModule_AddObjectRef(module, "ConcreteFunction",
                            reinterpret_cast<PyObject*>(concrete_function_type)) < 0) {
    throw_python_error();
  }
}

}  // namespace graphwright
