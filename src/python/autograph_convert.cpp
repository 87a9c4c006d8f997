#include "python/autograph_convert.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "autograph/lowering.h"
#include "autograph/unparse.h"
#include "python/autograph_operators.h"
#include "python/autograph_tree.h"
#include "python/errors.h"

namespace graphwright {
namespace {

using namespace autograph;

Ref attribute(PyObject* object, const char* name) {
  return checked_ref(PyObject_GetAttr(object, interned(name)));
}

std::vector<std::string> texts(PyObject* tuple) {
  std::vector<std::string> result;
  Py_ssize_t count = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; ++i) result.emplace_back(text_of(PyTuple_GetItem(tuple, i)));
  return result;
}

struct Parsed {
  PythonTree tree;
  NodeId root = 0;
};

void parse(PyObject* function, Parsed* out) {
  Ref pair = checked_ref(PyObject_CallFunctionObjArgs(
      imported("graphwright.autograph.source", "parse_function"), function, nullptr));
  int offset = static_cast<int>(PyLong_AsLong(PyTuple_GetItem(pair.get(), 1)));
  out->root = walk_ast(&out->tree, PyTuple_GetItem(pair.get(), 0), offset);
}

// What the function sees under a name that is not its own: a closure variable or a global; null if
// nothing.
Ref look_up(PyObject* function, const std::vector<std::string>& free_variables,
            std::string_view name) {
  auto found = std::find(free_variables.begin(), free_variables.end(), name);
  if (found != free_variables.end()) {
    Ref closure = attribute(function, "__closure__");
    PyObject* cell = PyTuple_GetItem(closure.get(), found - free_variables.begin());
    Ref value = Ref::steal(PyObject_GetAttr(cell, interned("cell_contents")));
    if (!value) PyErr_Clear();  // not assigned yet
    return value;
  }
  Ref globals = attribute(function, "__globals__");
  return Ref::borrow(PyDict_GetItemWithError(globals.get(), make_text(name).get()));
}

// The value of a dotted name, as far as it goes through modules; null otherwise.
Ref static_value(const NodeTable& table, NodeId node, PyObject* function,
                 const std::vector<std::string>& free_variables) {
  if (table.kind(node) == Kind::kName) {
    return look_up(function, free_variables, table.string(table.get(node, field::kNameId)));
  }
  if (table.kind(node) != Kind::kAttribute) return {};
  Ref value =
      static_value(table, table.get(node, field::kAttributeValue), function, free_variables);
  if (!value) return {};
  const std::string& name = table.string(table.get(node, field::kAttributeName));
  Ref result = Ref::steal(PyObject_GetAttr(value.get(), make_text(name).get()));
  if (!result) PyErr_Clear();
  return result;
}

// Makes the lowering's questions about the function's surroundings answerable.
struct Surroundings {
  PyObject* function;
  const NodeTable& table;
  std::vector<std::string> free_variables;

  bool has(std::string_view name) const {
    if (std::find(free_variables.begin(), free_variables.end(), name) != free_variables.end())
      return true;
    Ref globals = attribute(function, "__globals__");
    return PyDict_GetItemWithError(globals.get(), make_text(name).get()) != nullptr;
  }
  bool is_loop_options(NodeId node) const {
    Ref value = static_value(table, node, function, free_variables);
    return value && value.get() == imported("graphwright.autograph.directives", "set_loop_options");
  }
};

// --- conversions, kept per code object

// Negative entries of Conversion::closure.
constexpr int kOperatorsCell = -1;
constexpr int kCallCell = -2;

struct Conversion {
  PyObject* code = nullptr;  // owned, lives as long as the interpreter or the original code
  std::vector<int>
      closure;  // per free variable of `code`: a cell of the original, or one of the above
};

struct CodeEntry {
  bool call_directly = false;  // made by a conversion, or found not to need one
  PyObject* owner = nullptr;   // made by a conversion: the name of the user's function
  bool begins_function = false;
  Conversion conversions[2];  // by Recursion
  PyObject* weak_reference = nullptr;
};

std::unordered_map<PyObject*, CodeEntry>& entries() {
  static auto* const entries = new std::unordered_map<PyObject*, CodeEntry>;
  return *entries;
}

PyObject* forget_code(PyObject* address, PyObject* /*weak_reference*/) {
  auto found = entries().find(static_cast<PyObject*>(PyLong_AsVoidPtr(address)));
  if (found != entries().end()) {
    CodeEntry entry = std::move(found->second);
    entries().erase(found);
    for (Conversion& conversion : entry.conversions) Py_XDECREF(conversion.code);
    Py_XDECREF(entry.owner);
    Py_XDECREF(entry.weak_reference);
  }
  Py_RETURN_NONE;
}

PyMethodDef kForgetMethod = {"forget_code", forget_code, METH_O, nullptr};

// The entry of a code object; it goes when the code object goes.
CodeEntry& entry_of(PyObject* code) {
  auto [found, added] = entries().try_emplace(code);
  if (added) {
    Ref address = checked_ref(PyLong_FromVoidPtr(code));
    Ref callback = checked_ref(PyCFunction_NewEx(&kForgetMethod, address.get(), nullptr));
    PyObject* reference = PyWeakref_NewRef(code, callback.get());
    if (reference == nullptr) {
      entries().erase(code);
      throw_python_error();
    }
    found = entries().find(code);
    found->second.weak_reference = reference;
  }
  return found->second;
}

PyObject* code_type() { return imported("types", "CodeType"); }

bool is_code(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == code_type();
}

// The first code object among the constants of another.
Ref first_inner_code(PyObject* code) {
  Ref constants = attribute(code, "co_consts");
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants.get()); ++i) {
    PyObject* constant = PyTuple_GetItem(constants.get(), i);
    if (is_code(constant)) return Ref::borrow(constant);
  }
  throw_internal("a compiled conversion holds no code");
}

// Functions made inside a converted function are converted already. Blocks of the lowering belong
// to the user's function around them.
void mark_converted(PyObject* code, PyObject* owner, bool begins_function,
                    const std::unordered_set<std::string>& made_names) {
  Ref name = attribute(code, "co_name");
  std::string_view text = text_of(name.get());
  if (owner == nullptr || (text != "<lambda>" && made_names.count(std::string(text)) == 0)) {
    owner = name.get();
  }
  CodeEntry& entry = entry_of(code);
  entry.call_directly = true;
  entry.begins_function = begins_function;
  Py_XDECREF(entry.owner);
  entry.owner = Ref::borrow(owner).release();
  Ref constants = attribute(code, "co_consts");
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants.get()); ++i) {
    PyObject* constant = PyTuple_GetItem(constants.get(), i);
    if (is_code(constant)) mark_converted(constant, owner, false, made_names);
  }
}

Conversion convert_code(PyObject* function, PyObject* code) {
  Parsed parsed;
  parse(function, &parsed);
  Ref free_tuple = attribute(code, "co_freevars");
  Surroundings surroundings{function, parsed.tree.table, texts(free_tuple.get())};
  auto in_namespace = [](std::string_view) {
    return false;
  };  // the identifiers of the function are avoided
  auto is_loop_options = [&](NodeId node) { return surroundings.is_loop_options(node); };
  std::unordered_set<std::string> made_names;
  LoweringOptions options{.shape = Shape::kLean,
                          .in_namespace = in_namespace,
                          .is_loop_options = is_loop_options,
                          .made_names = &made_names};
  NodeId root = lower(&parsed.tree.table, parsed.root, options);

  std::vector<std::string> variables = surroundings.free_variables;
  variables.push_back("ag__");
  variables.push_back("ag_call__");
  Ref module = emit_module(parsed.tree, root, variables);
  Ref file_name = attribute(code, "co_filename");
  // The features of `from __future__` that the function's own file asked for.
  Ref code_flags = attribute(code, "co_flags");
  Ref future_mask = Ref::borrow(imported("graphwright.autograph.source", "_FUTURE_FLAGS"));
  Ref flags = checked_ref(PyNumber_And(code_flags.get(), future_mask.get()));
  Ref compiled = checked_ref(
      PyObject_CallFunctionObjArgs(imported("builtins", "compile"), module.get(), file_name.get(),
                                   interned("exec"), flags.get(), Py_True, nullptr));
  Ref scope = first_inner_code(compiled.get());
  Ref inner = first_inner_code(scope.get());

  Conversion conversion;
  Ref inner_free = attribute(inner.get(), "co_freevars");
  for (const std::string& name : texts(inner_free.get())) {
    auto found = std::find(variables.begin(), variables.end(), name);
    int index = static_cast<int>(found - variables.begin());
    int known = static_cast<int>(surroundings.free_variables.size());
    conversion.closure.push_back(index < known    ? index
                                 : index == known ? kOperatorsCell
                                                  : kCallCell);
  }
  mark_converted(inner.get(), nullptr, true, made_names);
  conversion.code = inner.release();
  return conversion;
}

PyObject* cell_with(PyObject* contents) {
  return checked(PyObject_CallFunctionObjArgs(imported("types", "CellType"), contents, nullptr));
}

PyObject* operators_cell() {
  static PyObject* cell = cell_with(autograph_operators());
  return cell;
}

PyObject* call_directly(PyObject*, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* keyword_names);

PyMethodDef kCallMethods[] = {
    {"autograph_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(autograph_call)),
     METH_FASTCALL | METH_KEYWORDS, "Calls a function as converted code does."},
    {"autograph_call_directly",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_directly)),
     METH_FASTCALL | METH_KEYWORDS, "Calls a function without converting it."},
};

PyObject* call_cell(Recursion recursion) {
  static PyObject* cells[] = {
      cell_with(checked_ref(PyCFunction_NewEx(&kCallMethods[0], nullptr, nullptr)).get()),
      cell_with(checked_ref(PyCFunction_NewEx(&kCallMethods[1], nullptr, nullptr)).get())};
  return cells[static_cast<int>(recursion)];
}

// A function that runs `conversion` with the cells, globals and defaults of `function`.
Ref instantiate(const Conversion& conversion, PyObject* function, Recursion recursion) {
  Ref original_closure = attribute(function, "__closure__");
  Ref closure = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(conversion.closure.size())));
  for (size_t i = 0; i < conversion.closure.size(); ++i) {
    int from = conversion.closure[i];
    PyObject* cell = from == kOperatorsCell ? operators_cell()
                     : from == kCallCell    ? call_cell(recursion)
                                            : PyTuple_GetItem(original_closure.get(), from);
    PyTuple_SetItem(closure.get(), static_cast<Py_ssize_t>(i), Ref::borrow(cell).release());
  }
  Ref globals = attribute(function, "__globals__");
  Ref name = attribute(function, "__name__");
  Ref defaults = attribute(function, "__defaults__");
  Ref result = checked_ref(PyObject_CallFunctionObjArgs(imported("types", "FunctionType"),
                                                        conversion.code, globals.get(), name.get(),
                                                        defaults.get(), closure.get(), nullptr));
  Ref qualified_name = attribute(function, "__qualname__");
  if (PyObject_SetAttr(result.get(), interned("__qualname__"), qualified_name.get()) < 0) {
    throw_python_error();
  }
  Ref keyword_defaults = attribute(function, "__kwdefaults__");
  if (keyword_defaults.get() != Py_None &&
      PyObject_SetAttr(result.get(), interned("__kwdefaults__"), keyword_defaults.get()) < 0) {
    throw_python_error();
  }
  return result;
}

// --- calls

extern "C" __attribute__((weak)) PyObject* PyObject_Vectorcall(PyObject*, PyObject* const*, size_t,
                                                               PyObject*);

PyObject* call_object(PyObject* callable, PyObject* const* arguments, Py_ssize_t count,
                      PyObject* keyword_names) {
  if (PyObject_Vectorcall != nullptr) [[likely]] {
    return PyObject_Vectorcall(callable, arguments, static_cast<size_t>(count), keyword_names);
  }
  // Python 3.10 does not export it.
  Ref positional = checked_ref(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SetItem(positional.get(), i, Ref::borrow(arguments[i]).release());
  }
  Ref keywords;
  if (keyword_names != nullptr) {
    keywords = checked_ref(PyDict_New());
    for (Py_ssize_t i = 0; i < PyTuple_Size(keyword_names); ++i) {
      if (PyDict_SetItem(keywords.get(), PyTuple_GetItem(keyword_names, i), arguments[count + i]) <
          0)
        return nullptr;
    }
  }
  return PyObject_Call(callable, positional.get(), keywords.get());
}

PyObject* call_directly(PyObject*, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* keyword_names) {
  return guarded([&] {
    if (count < 1) throw_type_error("the callable is missing");
    PyObject* callable = autograph_overload(arguments[0]);
    return call_object(callable, arguments + 1, count - 1, keyword_names);
  });
}

enum class Decision { kDirect, kConvert };

// Whether a function is to be converted, the first time it is met.
Decision decide(PyObject* function) {
  Ref answer = checked_ref(PyObject_CallFunctionObjArgs(
      imported("graphwright.autograph.policy", "is_converted"), function, nullptr));
  return PyObject_IsTrue(answer.get()) == 1 ? Decision::kConvert : Decision::kDirect;
}

// The function to call in place of a plain Python function; the same one if it is not to be
// converted.
Ref converted_or_same(PyObject* function) {
  Ref code = attribute(function, "__code__");
  auto found = entries().find(code.get());
  if (found != entries().end()) {
    if (found->second.call_directly) return Ref::borrow(function);
    const Conversion& known = found->second.conversions[static_cast<int>(Recursion::kConvert)];
    if (known.code != nullptr) return instantiate(known, function, Recursion::kConvert);
  }
  if (decide(function) == Decision::kDirect) {
    entry_of(code.get()).call_directly = true;
    return Ref::borrow(function);
  }
  try {
    return autograph_convert(function);
  } catch (...) {
    // As TensorFlow does, what cannot be converted runs as it is, with a warning.
    set_python_error_from_exception();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Ref owned_type = Ref::steal(type), owned_value = Ref::steal(value),
        owned_traceback = Ref::steal(traceback);
    entry_of(code.get()).call_directly = true;
    Ref done = checked_ref(
        PyObject_CallFunctionObjArgs(imported("graphwright.autograph.policy", "warn_unconverted"),
                                     function, owned_value.get(), nullptr));
    return Ref::borrow(function);
  }
}

}  // namespace

Ref autograph_convert(PyObject* function, Recursion recursion) {
  Ref code = attribute(function, "__code__");
  Conversion* known = &entry_of(code.get()).conversions[static_cast<int>(recursion)];
  if (known->code == nullptr) {
    Conversion made =
        convert_code(function, code.get());  // may add entries, so the old one is looked up again
    known = &entry_of(code.get()).conversions[static_cast<int>(recursion)];
    *known = std::move(made);
  }
  return instantiate(*known, function, recursion);
}

bool is_converted_code(PyObject* code) {
  auto found = entries().find(code);
  return found != entries().end() && found->second.owner != nullptr;
}

Ref autograph_owner(PyObject* code) {
  auto found = entries().find(code);
  if (found == entries().end() || found->second.owner == nullptr) return {};
  return checked_ref(
      PyTuple_Pack(2, found->second.owner, found->second.begins_function ? Py_True : Py_False));
}

PyObject* autograph_call_traced(PyObject* const* arguments, Py_ssize_t count,
                                PyObject* keyword_names) {
  PyObject* result = autograph_call(nullptr, arguments, count, keyword_names);
  if (result != nullptr) return result;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Ref owned_type = Ref::steal(type), owned_value = Ref::steal(value),
      owned_traceback = Ref::steal(traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Ref told = Ref::steal(PyObject_CallFunctionObjArgs(
      imported("graphwright.autograph.errors", "in_user_code"), value, nullptr));
  if (told && told.get() == value) {
    // The same exception, perhaps without its traceback.
    owned_traceback = Ref::steal(PyException_GetTraceback(value));
  }
  if (!told || told.get() == value) {
    PyErr_Clear();
    PyErr_Restore(owned_type.release(), owned_value.release(), owned_traceback.release());
  } else {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(told.get())), told.get());
  }
  return nullptr;
}

std::string autograph_to_code(PyObject* function, bool recursive,
                              const std::vector<std::string>& features) {
  Parsed parsed;
  parse(function, &parsed);
  // A default is evaluated once, where the user's function is defined; here it only has a place.
  NodeTable& table = parsed.tree.table;
  NodeId arguments =
      table.get(parsed.root, table.kind(parsed.root) == Kind::kLambda ? int{field::kLambdaArgs}
                                                                      : int{field::kFunctionArgs});
  for (int f : {int{field::kDefaults}, int{field::kKwDefaults}}) {
    std::vector<uint32_t> defaults(table.list_field(arguments, f).begin(),
                                   table.list_field(arguments, f).end());
    for (NodeId& node : defaults) {
      if (node == 0) continue;
      Position position = table.position(node);
      node = table.add(Kind::kConstant, position);
      table.set(node, 0, table.add_constant({.type = ConstantType::kNone}));
    }
    table.set(arguments, f, table.add_list(defaults));
  }
  Ref code = attribute(function, "__code__");
  Ref free_tuple = attribute(code.get(), "co_freevars");
  Surroundings surroundings{function, table, texts(free_tuple.get())};
  auto in_namespace = [&](std::string_view name) { return surroundings.has(name); };
  auto is_loop_options = [&](NodeId node) { return surroundings.is_loop_options(node); };
  LoweringOptions options{.shape = Shape::kTensorFlow,
                          .recursive = recursive,
                          .optional_features = features,
                          .in_namespace = in_namespace,
                          .is_loop_options = is_loop_options};
  NodeId root = lower(&table, parsed.root, options);
  return unparse(table, root, 2);
}

PyObject* autograph_call(PyObject*, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    if (count < 1) throw_type_error("the callable is missing");
    PyObject* callable = arguments[0];
    PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(callable));
    if (type == imported("types", "FunctionType")) {
      Ref converted = autograph_enabled() ? converted_or_same(callable) : Ref::borrow(callable);
      return call_object(converted.get(), arguments + 1, count - 1, keyword_names);
    }
    PyObject* overload = autograph_overload(callable);
    if (overload != callable) return call_object(overload, arguments + 1, count - 1, keyword_names);
    if (!autograph_enabled() || type == imported("types", "BuiltinFunctionType") ||
        PyType_Check(callable)) {
      return call_object(callable, arguments + 1, count - 1, keyword_names);
    }
    Ref function, self;
    if (type == imported("types", "MethodType")) {
      function = attribute(callable, "__func__");
      self = attribute(callable, "__self__");
    } else if (type == imported("functools", "partial")) {
      // The function inside is called with all arguments together.
      Ref inner = attribute(callable, "func");
      Ref bound = attribute(callable, "args");
      Ref keywords = attribute(callable, "keywords");
      std::vector<PyObject*> all = {inner.get()};
      for (Py_ssize_t i = 0; i < PyTuple_Size(bound.get()); ++i)
        all.push_back(PyTuple_GetItem(bound.get(), i));
      all.insert(all.end(), arguments + 1, arguments + count);
      Py_ssize_t positional = static_cast<Py_ssize_t>(all.size());
      Ref merged = checked_ref(PyDict_Copy(keywords.get()));
      for (Py_ssize_t i = 0; keyword_names != nullptr && i < PyTuple_Size(keyword_names); ++i) {
        if (PyDict_SetItem(merged.get(), PyTuple_GetItem(keyword_names, i), arguments[count + i]) <
            0)
          return nullptr;
      }
      Ref names_list = checked_ref(PyDict_Keys(merged.get()));
      Ref names = checked_ref(PyList_AsTuple(names_list.get()));
      for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i) {
        all.push_back(PyDict_GetItemWithError(merged.get(), PyTuple_GetItem(names.get(), i)));
      }
      return autograph_call(nullptr, all.data(), positional,
                            PyTuple_Size(names.get()) == 0 ? nullptr : names.get());
    } else {
      // An object with a __call__ written in Python.
      function = Ref::steal(PyObject_GetAttr(type, interned("__call__")));
      if (!function) PyErr_Clear();
      self = Ref::borrow(callable);
    }
    if (!function ||
        reinterpret_cast<PyObject*>(Py_TYPE(function.get())) != imported("types", "FunctionType")) {
      return call_object(callable, arguments + 1, count - 1, keyword_names);
    }
    Ref converted = converted_or_same(function.get());
    if (converted.get() == function.get()) {
      return call_object(callable, arguments + 1, count - 1, keyword_names);
    }
    std::vector<PyObject*> with_self(
        arguments,
        arguments + count + (keyword_names == nullptr ? 0 : PyTuple_Size(keyword_names)));
    with_self[0] = self.get();
    return call_object(converted.get(), with_self.data(), count, keyword_names);
  });
}

}  // namespace graphwright
