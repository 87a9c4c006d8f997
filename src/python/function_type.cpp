#include "python/function_type.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/thread_state.h"
#include "python/errors.h"
#include "python/flat_arguments.h"
#include "python/operation_object.h"
#include "python/python_api.h"
#include "python/row_arguments.h"
#include "python/row_signature.h"
#include "python/tensor_object.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

enum class FastPath : uint8_t { kNone, kUnary, kBinary };

struct FunctionObject {
  PyObject ob_base;
  VectorCall vectorcall;
  const FunctionDef* function;  // one of these two
  const OpDef* op;
  const OpDef* fast_op;  // what serves eager tensors of one dtype and shape
  FastPath fast_path;
  bool keyword_only;
  const char* name_text;  // "math.tanh", as long as name_size
  size_t name_size;
  RowSignature* signature;  // made on first use
  PyObject* output_tuple;   // a namedtuple for several outputs, made on first use
  PyObject* dictionary;
  PyObject* weak_references;

  std::string_view public_name() const { return {name_text, name_size}; }
  std::string_view short_name() const {
    std::string_view name = public_name();
    size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
  }
};

// Function rows that on two tensors of one dtype and shape do no more than their op. Division is
// left out: of integers it is more.
struct FastRow {
  std::string_view function, op;
};
constexpr FastRow kFastRows[] = {{"add", "AddV2"},
                                 {"subtract", "Sub"},
                                 {"multiply", "Mul"},
                                 {"pow", "Pow"},
                                 {"equal", "Equal"},
                                 {"not_equal", "NotEqual"},
                                 {"math.floordiv", "FloorDiv"},
                                 {"math.mod", "FloorMod"}};

PyTypeObject* function_type = nullptr;

FunctionObject* as_function(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

const RowSignature& signature_of(FunctionObject* self) {
  if (!self->signature) {
    self->signature = new RowSignature(self->function ? parse_signature(*self->function)
                                                      : parse_signature(*self->op));
  }
  return *self->signature;
}

// --- Calls ---------------------------------------------------------------------------------------

PyObject* wrap_result(const CallResult& result) {
  if (const Operand* operand = std::get_if<Operand>(&result)) return wrap(*operand);
  if (const OperandVector* operands = std::get_if<OperandVector>(&result)) {
    return wrap_list(*operands);
  }
  Py_RETURN_NONE;
}

PyObject* output_tuple_of(FunctionObject* self) {
  if (!self->output_tuple) {
    Ref fields = checked_ref(PyList_New(0));
    for (int i = 0; i < self->op->signature.output_count; ++i) {
      Ref field = make_text(self->op->signature.outputs[static_cast<size_t>(i)].name);
      if (PyList_Append(fields.get(), field.get()) < 0) throw_python_error();
    }
    Ref name = make_text(self->op->name);
    self->output_tuple = checked(PyObject_CallFunctionObjArgs(imported("collections", "namedtuple"),
                                                              name.get(), fields.get(), nullptr));
  }
  return self->output_tuple;
}

PyObject* wrap_outputs(FunctionObject* self, const OperandVector& outputs) {
  const Signature& signature = self->op->signature;
  if (signature.output_count == 0) {
    auto* builder = dynamic_cast<GraphBuilder*>(&current_builder());
    if (!builder) Py_RETURN_NONE;
    return wrap_operation_of_node(*builder->block().nodes.back());
  }
  if (signature.output_count == 1) {
    if (signature.outputs[0].arity == Arity::kSingle) return wrap(outputs.at(0));
    return wrap_list(outputs);
  }
  Ref values = checked_ref(PyTuple_New(signature.output_count));
  for (int i = 0; i < signature.output_count; ++i) {
    PyTuple_SetItem(values.get(), i, wrap(outputs.at(static_cast<size_t>(i))));
  }
  return checked(PyObject_CallObject(output_tuple_of(self), values.get()));
}

Attributes convert_attributes(FunctionObject* self, const RowSignature& signature,
                              const CallNames& names, std::span<PyObject* const> bound) {
  Attributes attributes;
  for (size_t i = 0; i < bound.size(); ++i) {
    const RowParameter& parameter = signature.parameters[i];
    // Defaults are left to the row: "all defaults" costs nothing.
    if (parameter.attribute < 0 || bound[i] == parameter.default_value) continue;
    AttributeValue value = convert_attribute(parameter, names, bound[i]);
    check_attribute(*self->op, parameter.attribute, value);
    attributes.set(parameter.attribute, std::move(value));
  }
  return attributes;
}

void append_inputs(std::span<const Argument> arguments, OperandVector& inputs) {
  for (const Argument& argument : arguments) {
    if (const Operand* operand = std::get_if<Operand>(&argument)) {
      inputs.push_back(*operand);
    } else if (const OperandVector* list = std::get_if<OperandVector>(&argument)) {
      inputs.insert(inputs.end(), list->begin(), list->end());
    }
  }
}

// The value of name=, or nothing.
std::string name_argument(const RowSignature& signature, std::span<PyObject* const> bound) {
  PyObject* name = bound[static_cast<size_t>(signature.name_parameter)];
  if (name == Py_None) return {};
  if (!PyUnicode_Check(name)) {
    throw_type_error("name must be a str or None, but is " + repr_of(name));
  }
  return std::string(text_of(name));
}

PyObject* call_op(FunctionObject* self, const RowSignature& signature, const CallNames& names,
                  std::span<PyObject* const> bound) {
  const OpDef& op = *self->op;
  Builder& builder = current_builder();
  std::string name = name_argument(signature, bound);
  Attributes attributes = convert_attributes(self, signature, names, bound);
  std::vector<Argument> arguments;
  OperandVector inputs, outputs;
  auto apply = [&](std::string_view node_name) {
    convert_arguments(signature, names, bound, arguments);
    append_inputs(arguments, inputs);
    builder.apply(op, inputs, attributes, outputs, node_name);
  };
  if (builder.is_eager() || needs_no_constants(signature, bound)) {
    apply(name);
  } else {
    // Constants made for the call are named within it: "Mul/y" beside "Mul".
    if (name.empty()) name = op.default_node_name.empty() ? op.name : op.default_node_name;
    NameScopeGuard scope(builder, name);
    apply(kScopeName);
  }
  return wrap_outputs(self, outputs);
}

PyObject* call_row(FunctionObject* self, const RowSignature& signature, const CallNames& names,
                   std::span<PyObject* const> bound) {
  const FunctionDef& row = *self->function;
  Builder& builder = current_builder();
  std::string name = name_argument(signature, bound);
  std::vector<Argument> arguments;
  auto call = [&](std::string_view node_name) {
    convert_arguments(signature, names, bound, arguments);
    CallContext context(builder, row, arguments, node_name);
    return wrap_result(row.body(context));
  };
  if (builder.is_eager() || row.node_name.empty()) return call(name);
  NameScopeGuard scope(builder, name.empty() ? row.node_name : std::string_view(name));
  return call(kScopeName);
}

PyObject* call_slow(FunctionObject* self, PyObject* const* arguments, Py_ssize_t positional,
                    PyObject* keywords) {
  const RowSignature& signature = signature_of(self);
  std::string_view short_name = self->short_name();
  if (self->keyword_only && positional > 0) {
    std::string keys;
    for (const RowParameter& parameter : signature.parameters) {
      keys += (keys.empty() ? "'" : ", '") + parameter.name + "'";
    }
    throw_type_error(std::string(short_name) + " only takes keyword args (possible keys: [" + keys +
                     "]). Please pass these args as kwargs instead.");
  }
  std::vector<PyObject*> bound;
  bind_arguments(signature, short_name, arguments, positional, keywords, bound);
  CallNames names{short_name, self->op ? self->op->name : short_name};
  return self->op ? call_op(self, signature, names, bound)
                  : call_row(self, signature, names, bound);
}

PyObject* call(PyObject* callable, PyObject* const* arguments, size_t flags, PyObject* keywords) {
  FunctionObject* self = as_function(callable);
  Py_ssize_t positional = vectorcall_count(flags);
  if (self->fast_path != FastPath::kNone && !keywords) {
    TensorImpl* result = nullptr;
    try {
      if (self->fast_path == FastPath::kUnary) {
        if (positional == 1 && is_eager_tensor(arguments[0])) {
          result = try_fast_unary(*self->fast_op, operand_in(arguments[0]).impl());
        }
      } else if (positional == 2 && is_eager_tensor(arguments[0]) &&
                 is_eager_tensor(arguments[1])) {
        result = try_fast_binary(*self->fast_op, operand_in(arguments[0]).impl(),
                                 operand_in(arguments[1]).impl());
      }
    } catch (...) {
      set_python_error_from_exception();
      return nullptr;
    }
    if (result) return wrap_impl(result);
  }
  return guarded([&] { return call_slow(self, arguments, positional, keywords); });
}

// --- Attributes ----------------------------------------------------------------------------------

PyObject* get_name(PyObject* self, void*) {
  return guarded([&] { return make_text(as_function(self)->short_name()).release(); });
}

std::string module_name(FunctionObject* self) {
  std::string_view name = self->public_name();
  size_t dot = name.rfind('.');
  return "graphwright" +
         (dot == std::string_view::npos ? "" : "." + std::string(name.substr(0, dot)));
}

PyObject* get_module(PyObject* self, void*) {
  return guarded([&] { return make_text(module_name(as_function(self))).release(); });
}

PyObject* get_doc(PyObject* self, void*) {
  FunctionObject* function = as_function(self);
  return guarded([&] {
    return make_text(function->op ? function->op->doc : function->function->doc).release();
  });
}

PyObject* get_signature(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    FunctionObject* function = as_function(self);
    PyObject* parameter_type = imported("inspect", "Parameter");
    PyObject* kind_name =
        function->keyword_only ? interned("KEYWORD_ONLY") : interned("POSITIONAL_OR_KEYWORD");
    Ref kind = checked_ref(PyObject_GetAttr(parameter_type, kind_name));
    Ref list = checked_ref(PyList_New(0));
    for (const RowParameter& parameter : signature_of(function).parameters) {
      Ref arguments = checked_ref(PyTuple_Pack(2, parameter.interned_name, kind.get()));
      Ref options = checked_ref(PyDict_New());
      if (parameter.default_value &&
          PyDict_SetItemString(options.get(), "default", parameter.default_value) < 0) {
        throw_python_error();
      }
      Ref item = checked_ref(PyObject_Call(parameter_type, arguments.get(), options.get()));
      if (PyList_Append(list.get(), item.get()) < 0) throw_python_error();
    }
    return checked(
        PyObject_CallFunctionObjArgs(imported("inspect", "Signature"), list.get(), nullptr));
  });
}

PyObject* repr(PyObject* self) {
  return guarded([&] {
    FunctionObject* function = as_function(self);
    return make_text("<function " + module_name(function) + "." +
                     std::string(function->short_name()) + ">")
        .release();
  });
}

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    Ref name = make_text(as_function(self)->public_name());
    return checked(
        Py_BuildValue("O(O)", imported("graphwright.pickling", "function_of_name"), name.get()));
  });
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  FunctionObject* function = as_function(self);
  if (function->weak_references) PyObject_ClearWeakRefs(self);
  delete function->signature;
  Py_XDECREF(function->output_tuple);
  Py_XDECREF(function->dictionary);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "functions are made from the op and function tables only");
  return nullptr;
}

PyGetSetDef attributes[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                            {"__qualname__", get_name, nullptr, nullptr, nullptr},
                            {"__module__", get_module, nullptr, nullptr, nullptr},
                            {"__doc__", get_doc, nullptr, nullptr, nullptr},
                            {"__signature__", get_signature, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, "Pickled by name."},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dictionary), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

// tp_call for callers that do not know vectorcall.
PyObject* call_with_tuple(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    FlatArguments flat = flat_arguments(arguments, keywords);
    return checked(
        call(self, flat.values.data(), static_cast<size_t>(flat.positional), flat.names.get()));
  });
}

FunctionObject* allocate(std::string_view name) {
  FunctionObject* self = PyObject_New(FunctionObject, function_type);
  if (!self) throw_python_error();
  self->vectorcall = call;
  self->function = nullptr;
  self->op = nullptr;
  self->fast_op = nullptr;
  self->fast_path = FastPath::kNone;
  self->keyword_only = false;
  self->name_text = name.data();
  self->name_size = name.size();
  self->signature = nullptr;
  self->output_tuple = nullptr;
  self->dictionary = nullptr;
  self->weak_references = nullptr;
  return self;
}

}  // namespace

PyObject* make_function(const FunctionDef& row, std::string_view name) {
  FunctionObject* self = allocate(name);
  self->function = &row;
  for (const FastRow& fast : kFastRows) {
    if (fast.function != row.names.substr(0, row.names.find(' '))) continue;
    self->fast_op = find_op(fast.op);
    if (self->fast_op) self->fast_path = FastPath::kBinary;
  }
  return reinterpret_cast<PyObject*>(self);
}

PyObject* make_function(const OpDef& row, std::string_view name) {
  FunctionObject* self = allocate(name);
  self->op = self->fast_op = &row;
  if (row.compute.kind == ComputeKind::kFormula && row.signature.output_count == 1 &&
      row.signature.attribute_count == 0) {
    if (row.signature.input_count == 1) self->fast_path = FastPath::kUnary;
    if (row.signature.input_count == 2) self->fast_path = FastPath::kBinary;
  }
  return reinterpret_cast<PyObject*>(self);
}

PyObject* make_raw_op(const OpDef& row) {
  FunctionObject* self = allocate(row.name);
  self->op = &row;
  self->keyword_only = true;
  return reinterpret_cast<PyObject*>(self);
}

Operand call_function(std::string_view function, std::initializer_list<Operand> operands,
                      std::string_view node_name) {
  const FunctionDef* row = find_function(function);
  if (!row) throw_unimplemented("there is no function " + std::string(function));
  static auto* const signatures = new std::unordered_map<const FunctionDef*, RowSignature>();
  auto [entry, added] = signatures->try_emplace(row);
  if (added) entry->second = parse_signature(*row);
  const RowSignature& signature = entry->second;
  CallNames names{function, function};
  std::vector<PyObject*> bound;
  for (const RowParameter& parameter : signature.parameters) {
    bound.push_back(parameter.default_value ? parameter.default_value : Py_None);
  }
  // Operands take the place of the first arguments; what was bound there is not looked at.
  std::vector<Argument> rest, arguments(operands.begin(), operands.end());
  RowSignature tail = signature;
  tail.parameters.erase(tail.parameters.begin(),
                        tail.parameters.begin() + static_cast<std::ptrdiff_t>(operands.size()));
  bound.erase(bound.begin(), bound.begin() + static_cast<std::ptrdiff_t>(operands.size()));
  convert_arguments(tail, names, bound, rest);
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  Builder& builder = current_builder();
  std::optional<NameScopeGuard> scope;
  if (node_name.empty() && !row->node_name.empty() && !builder.is_eager()) {
    scope.emplace(builder, row->node_name);
    node_name = kScopeName;
  }
  CallContext context(builder, *row, arguments, node_name);
  CallResult result = row->body(context);
  if (Operand* operand = std::get_if<Operand>(&result)) return *operand;
  throw_internal(std::string(function) + " does not return one tensor");
}

void create_row_function_type(PyObject*) {
  static PyType_Slot slots[] = {{Py_tp_new, slot(refuse_new)},
                                {Py_tp_dealloc, slot(deallocate)},
                                {Py_tp_call, slot(call_with_tuple)},
                                {Py_tp_repr, slot(repr)},
                                {Py_tp_getset, attributes},
                                {Py_tp_methods, methods},
                                {Py_tp_members, members},
                                {0, nullptr}};
  static PyType_Spec spec = {"graphwright.op_function", sizeof(FunctionObject), 0,
                             static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | kVectorCallFlag),
                             slots};
  function_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

}  // namespace graphwright
