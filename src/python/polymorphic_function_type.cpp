// The Python types of tf.function's results: Function and, beside it, ConcreteFunction's binding in
// concrete_function_type.cpp.
#include <Python.h>

#include <cstddef>

#include <fmt/format.h>
#include <structmember.h>  // needs Python.h in front of it

#include "python/concrete_function_object.h"
#include "python/errors.h"
#include "python/flat_arguments.h"
#include "python/polymorphic_function.h"
#include "python/trace_module.h"

namespace graphwright {
namespace {

struct FunctionObject {
  PyObject ob_base;
  VectorCall vectorcall;
  std::shared_ptr<PolymorphicFunction> function;
  PyObject* instance;  // of a bound method: held while this object lives, else null
  PyObject* dictionary;
  PyObject* weak_references;
};

PyTypeObject* function_type = nullptr;

FunctionObject* as_function(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

PyObject* call_function(PyObject* self, PyObject* const* arguments, size_t flags,
                        PyObject* keywords) {
  return guarded([&] {
    FunctionObject* object = as_function(self);
    // The call may drop the last reference to the function, e.g. when it rebinds its own name.
    std::shared_ptr<PolymorphicFunction> function = object->function;
    return function->call(object->instance, arguments, vectorcall_count(flags), keywords).release();
  });
}

PyObject* make_object(std::shared_ptr<PolymorphicFunction> function, PyObject* instance) {
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(function_type, Py_tp_alloc));
  PyObject* object = checked(allocate(function_type, 0));
  FunctionObject* made = as_function(object);
  made->vectorcall = call_function;
  new (&made->function) std::shared_ptr<PolymorphicFunction>(std::move(function));
  Py_XINCREF(instance);
  made->instance = instance;
  made->dictionary = nullptr;
  made->weak_references = nullptr;
  return object;
}

// Function(python_function, name, input_signature, autograph, autograph_options, reduce_retracing,
// jit_compile): the arguments are checked in Python.
PyObject* new_function(PyTypeObject*, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject *python_function, *name, *input_signature, *autograph_options;
    int autograph, reduce_retracing, jit_compile;
    if (!PyArg_ParseTuple(arguments, "OUOpOpp", &python_function, &name, &input_signature,
                          &autograph, &autograph_options, &reduce_retracing, &jit_compile)) {
      throw_python_error();
    }
    FunctionOptions options;
    if (input_signature != Py_None) options.input_signature = Ref::borrow(input_signature);
    options.autograph = autograph;
    if (autograph_options != Py_None) options.autograph_options = Ref::borrow(autograph_options);
    options.reduce_retracing = reduce_retracing;
    options.jit_compile = jit_compile;
    return make_object(
        std::make_shared<PolymorphicFunction>(python_function, std::string(text_of(name)),
                                              std::move(options), /*is_method=*/false),
        nullptr);
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionObject* object = as_function(self);
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(object->instance);
  Py_VISIT(object->dictionary);
  // What the C++ side holds can be seen through only while nobody else shares it: otherwise the
  // collector would count references that are not this object's.
  if (object->function.use_count() == 1) return object->function->visit(visit, arg);
  return 0;
}

int clear(PyObject* self) {
  FunctionObject* object = as_function(self);
  Py_CLEAR(object->instance);
  Py_CLEAR(object->dictionary);
  object->function.reset();
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  FunctionObject* object = as_function(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  clear(self);
  object->function.~shared_ptr<PolymorphicFunction>();
  PyTypeObject* type = Py_TYPE(self);
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

// A function in a class body: its instances get functions of their own.
PyObject* bind_to_instance(PyObject* self, PyObject* instance, PyObject*) {
  return guarded([&]() -> PyObject* {
    FunctionObject* object = as_function(self);
    if (!instance || instance == Py_None || object->instance) {
      Py_INCREF(self);
      return self;
    }
    return make_object(object->function->for_instance(instance), instance);
  });
}

PyObject* get_concrete_function(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    FunctionObject* object = as_function(self);
    FlatArguments flat = flat_arguments(arguments, keywords);
    std::shared_ptr<PolymorphicFunction> function = object->function;
    std::shared_ptr<Trace> trace = function->get_trace(object->instance, flat.values.data(),
                                                       flat.positional, flat.names.get());
    return make_concrete_function(function, std::move(trace), object->instance);
  });
}

PyObject* tracing_count(PyObject* self, PyObject*) {
  return PyLong_FromLong(as_function(self)->function->tracing_count());
}

PyObject* list_concrete_functions(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    FunctionObject* object = as_function(self);
    Ref list = checked_ref(PyList_New(0));
    for (const auto& trace : object->function->traces()) {
      Ref item = Ref::steal(make_concrete_function(object->function, trace, object->instance));
      if (PyList_Append(list.get(), item.get()) < 0) throw_python_error();
    }
    return list.release();
  });
}

PyObject* pretty_printed_concrete_signatures(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::string text;
    FunctionObject* object = as_function(self);
    for (const auto& trace : object->function->traces()) {
      if (!text.empty()) text += "\n\n";
      text += trace_signature_text(*object->function, *trace);
    }
    return make_text(text).release();
  });
}

PyObject* get_python_function(PyObject* self, void*) {
  FunctionObject* object = as_function(self);
  PyObject* function = object->function->python_function();
  if (object->instance) {
    return guarded([&] {
      return checked(PyObject_CallFunctionObjArgs(imported("types", "MethodType"), function,
                                                  object->instance, nullptr));
    });
  }
  Py_INCREF(function);
  return function;
}

PyObject* get_name(PyObject* self, void*) {
  return make_text(as_function(self)->function->name()).release();
}

PyObject* get_input_signature(PyObject* self, void*) {
  PyObject* signature = as_function(self)->function->options().input_signature.get();
  if (!signature) Py_RETURN_NONE;
  Py_INCREF(signature);
  return signature;
}

PyObject* get_instance(PyObject* self, void*) {
  PyObject* instance = as_function(self)->instance;
  if (!instance) Py_RETURN_NONE;
  Py_INCREF(instance);
  return instance;
}

// __doc__, __module__, __qualname__, ... are those of the Python function.
PyObject* get_of_python_function(PyObject* self, void* name) {
  return PyObject_GetAttrString(as_function(self)->function->python_function(),
                                static_cast<const char*>(name));
}

PyObject* represent(PyObject* self) {
  return guarded([&] {
    return make_text(fmt::format("<graphwright.Function {} at {:#x}>",
                                 as_function(self)->function->name(),
                                 reinterpret_cast<uintptr_t>(self)))
        .release();
  });
}

PyMethodDef methods[] = {
    {"get_concrete_function",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(get_concrete_function)),
     METH_VARARGS | METH_KEYWORDS,
     "The ConcreteFunction for these arguments, any of which may be a TensorSpec; traced if there "
     "is "
     "none. Without arguments, that of the input signature."},
    {"experimental_get_tracing_count", tracing_count, METH_NOARGS,
     "How many times the Python function has been traced."},
    {"pretty_printed_concrete_signatures", pretty_printed_concrete_signatures, METH_VARARGS,
     "The signatures of all traces, as text."},
    {"_list_all_concrete_functions", list_concrete_functions, METH_NOARGS,
     "All traces, in the order they were made."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"python_function", get_python_function, nullptr, "The Python function that is traced.",
     nullptr},
    {"__wrapped__", get_python_function, nullptr, "The Python function that is traced.", nullptr},
    {"__self__", get_instance, nullptr, "The instance that a method is bound to, or None.",
     nullptr},
    {"name", get_name, nullptr, "The function's name, as graphs show it.", nullptr},
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"input_signature", get_input_signature, nullptr, "The TensorSpecs given, or None.", nullptr},
    {"__doc__", get_of_python_function, nullptr, nullptr, const_cast<char*>("__doc__")},
    {"__module__", get_of_python_function, nullptr, nullptr, const_cast<char*>("__module__")},
    {"__qualname__", get_of_python_function, nullptr, nullptr, const_cast<char*>("__qualname__")},
    {"__annotations__", get_of_python_function, nullptr, nullptr,
     const_cast<char*>("__annotations__")},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dictionary), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// Calls through tp_call, for callers that do not know vectorcall.
PyObject* call_by_tuple(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    FlatArguments flat = flat_arguments(arguments, keywords);
    return call_function(self, flat.values.data(), static_cast<size_t>(flat.positional),
                         flat.names.get());
  });
}

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_function)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_call, reinterpret_cast<void*>(call_by_tuple)},
                       {Py_tp_repr, reinterpret_cast<void*>(represent)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind_to_instance)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {0, nullptr}};

PyType_Spec spec = {"graphwright.Function", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | kVectorCallFlag, slots};

}  // namespace

void create_function_type(PyObject* module) {
  function_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  if (PyModule_AddObjectRef(module, "Function", reinterpret_cast<PyObject*>(function_type)) < 0) {
    throw_python_error();
  }
}

bool is_function_object(PyObject* object) { return Py_TYPE(object) == function_type; }

}  // namespace graphwright
