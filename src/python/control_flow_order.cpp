// What says in which order things happen: tf.control_dependencies, tf.group, tf.tuple, tf.no_op,
// and tf.Assert.
#include <algorithm>

#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "ir/resources.h"
#include "ir/thread_state.h"
#include "python/control_flow.h"
#include "python/control_values.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/nest.h"
#include "python/operation_object.h"
#include "python/tensor_object.h"
#include "python/variable_object.h"
#include "tensor/format.h"

namespace graphwright {
namespace {

constexpr NestOptions kNest{.expand_composites = true};

bool is_eager() { return current_builder().is_eager(); }

// The operation of the last node made without outputs.
Ref operation_of(const Node& node) { return Ref::steal(wrap_operation_of_node(node)); }

Node* last_node() { return graph_builder().block().nodes.back(); }

Ref no_op_after(std::vector<Node*> nodes, std::string_view name) {
  GraphBuilder& builder = graph_builder();
  ControlDependencies dependencies(std::move(nodes));
  OperandVector none;
  builder.apply(get_op("NoOp"), {}, {}, none, name);
  return operation_of(*last_node());
}

// The last node of the block that writes the variable.
Node* assignment_of(PyObject* variable) {
  GraphBuilder& builder = graph_builder();
  const Value* handle = builder.import(variable_handle(variable));
  const std::vector<Node*>& nodes = builder.block().nodes;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const std::vector<Value*>& inputs = (*node)->inputs;
    if ((*node)->op->effects.writes && !inputs.empty() && inputs[0] == handle) return *node;
  }
  return nullptr;
}

void append_node(const Operand& operand, std::vector<Node*>& nodes) {
  if (operand.is_value() && operand.value()->node) nodes.push_back(operand.value()->node);
}

}  // namespace

std::vector<Node*> awaited_nodes(PyObject* values) {
  std::vector<Node*> nodes;
  Ref iterator = checked_ref(PyObject_GetIter(values));
  while (Ref value = Ref::steal(PyIter_Next(iterator.get()))) {
    std::vector<Ref> leaves;
    // Composite values are several tensors.
    if (nest_kind(value.get(), kNest) == NestKind::kComposite) {
      nest_flatten(value.get(), leaves, kNest);
    } else {
      leaves.push_back(value);
    }
    for (const Ref& leaf : leaves) {
      if (is_operation(leaf.get())) {
        if (Node* node = node_of_operation(leaf.get())) nodes.push_back(node);
      } else if (is_tensor(leaf.get())) {
        append_node(operand_in(leaf.get()), nodes);
      } else if (is_unread_variable(leaf.get())) {
        if (Node* node = assignment_of(leaf.get())) nodes.push_back(node);
      } else if (is_variable(leaf.get())) {
        append_node(variable_handle(leaf.get()), nodes);
      } else if (value.get() == Py_None) {
        throw_type_error("Can not convert a NoneType into a Tensor or Operation.");
      }
      // Anything else is known before the graph runs.
    }
  }
  if (PyErr_Occurred()) throw_python_error();
  return nodes;
}

void enter_control_dependencies(PyObject* values) {
  if (values == Py_None) {
    graph_builder().enter_control_scope({}, true);
  } else {
    graph_builder().enter_control_scope(awaited_nodes(values));
  }
}

void leave_control_dependencies() { graph_builder().leave_control_scope(); }

ControlDependencies::ControlDependencies(std::vector<Node*> nodes)
    : builder_(is_eager() ? nullptr : &graph_builder()) {
  if (builder_) builder_->enter_control_scope(std::move(nodes));
}
ControlDependencies::~ControlDependencies() {
  if (builder_) builder_->leave_control_scope();
}

Ref control_no_op(PyObject* name) {
  std::string node_name = name_or(name, "");
  if (is_eager()) return Ref::borrow(Py_None);
  return no_op_after({}, node_name);
}

Ref control_group(PyObject* inputs, PyObject* name) {
  std::string node_name = name_or(name, "group_deps");
  if (is_eager()) return Ref::borrow(Py_None);
  std::vector<Ref> leaves;
  nest_flatten(inputs, leaves, kNest);
  Ref list = checked_ref(PyList_New(0));
  for (const Ref& leaf : leaves) {
    PyObject* value = leaf.get();
    if (value == Py_None) continue;
    if (!is_operation(value) && !is_tensor_like(value)) {
      throw_type_error("'inputs' should be zero or more (nested) Tensors. Received '" +
                       std::string(text_of(checked_ref(PyObject_Str(value)).get())) +
                       "' with type '" + repr_of(reinterpret_cast<PyObject*>(Py_TYPE(value))) +
                       "'.");
    }
    PyList_Append(list.get(), value);
  }
  return no_op_after(awaited_nodes(list.get()), node_name);
}

Ref control_tuple(PyObject* tensors, PyObject* control_inputs, PyObject* name) {
  std::string scope = name_or(name, "tuple");
  if (is_eager()) return Ref::borrow(tensors);
  GraphBuilder& builder = graph_builder();
  NameScopeGuard guard(builder, scope);
  Ref list = checked_ref(PySequence_List(tensors));
  std::vector<Node*> nodes;
  bool any = false;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    PyObject* value = PyList_GetItem(list.get(), i);
    if (value == Py_None) continue;
    any = true;
    Ref one = checked_ref(PyTuple_Pack(1, value));
    for (Node* node : awaited_nodes(one.get())) nodes.push_back(node);
  }
  if (!any) {
    throw_value_error("'tensors' must have at least one Tensor. Received: " + repr_of(tensors) +
                      ".");
  }
  if (control_inputs && control_inputs != Py_None) {
    for (Node* node : awaited_nodes(control_inputs)) nodes.push_back(node);
  }
  no_op_after(nodes, "group_deps");
  ControlDependencies dependencies({last_node()});
  Ref results = checked_ref(PyList_New(0));
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    Ref value = Ref::borrow(PyList_GetItem(list.get(), i));
    if (value.get() != Py_None && !is_operation(value.get())) {
      Flat flat(value.get());
      for (size_t leaf = 0; leaf < flat.leaves.size(); ++leaf) {
        if (!flat.carried[leaf]) continue;
        Operand operand = leaf_operand(flat.leaves[leaf].get());
        flat.leaves[leaf] = wrapped(builder.op("Identity", {operand}, {}, "control_dependency"));
      }
      value = flat.value();
    }
    if (PyList_Append(results.get(), value.get()) < 0) throw_python_error();
  }
  return results;
}

// --- Assertions ---

namespace {

// The first elements, as an eager assertion shows them.
std::string summary_of(PyObject* value, int64_t summarize) {
  Tensor tensor = eager_tensor_of(value);
  if (summarize < 0) summarize = tensor.element_count();
  Ref array = Ref::steal(checked(tensor_to_numpy(tensor)));
  Ref flat = checked_ref(PyObject_CallMethod(
      checked_ref(PyObject_CallFunctionObjArgs(imported("numpy", "ravel"), array.get(), nullptr))
          .get(),
      "tolist", nullptr));
  std::string text;
  Py_ssize_t count = PyList_Size(flat.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    if (i == summarize) {
      text += "...";
      break;
    }
    text += text_of(checked_ref(PyObject_Str(PyList_GetItem(flat.get(), i))).get());
  }
  return text;
}

[[noreturn]] void fail_eager(PyObject* condition, PyObject* data, int64_t summarize) {
  Ref values = checked_ref(PySequence_List(data));
  std::string text;
  for (Py_ssize_t i = 0; i < PyList_Size(values.get()); ++i) {
    text += (i > 0 ? "\n" : "") + summary_of(PyList_GetItem(values.get(), i), summarize);
  }
  throw_invalid_argument("Expected '" +
                         std::string(text_of(checked_ref(PyObject_Str(condition)).get())) +
                         "' to be true. Summarized data: " + text);
}

Operand bool_operand(PyObject* condition, std::string_view name) {
  Operand operand =
      operand_of(condition, ConversionOptions{DType::kInvalid, DType::kInvalid, name});
  if (dtype_of(operand) != DType::kBool) {
    throw_type_error("Input 'condition' of 'Assert' Op has type " +
                     std::string(dtype_name(dtype_of(operand))) +
                     " that does not match expected type of bool.");
  }
  return operand;
}

OperandVector data_operands(PyObject* values, std::string_view name) {
  OperandVector operands;
  for (Py_ssize_t i = 0; i < PyList_Size(values); ++i) {
    std::string own = name.empty() ? std::string() : std::string(name) + std::to_string(i);
    operands.push_back(operand_of(PyList_GetItem(values, i),
                                  ConversionOptions{DType::kInvalid, DType::kInvalid, own}));
  }
  return operands;
}

}  // namespace

Ref control_assert(PyObject* condition, PyObject* data, int64_t summarize, PyObject* name) {
  std::string scope_name = name_or(name, "Assert");
  if (is_eager()) {
    int holds = PyObject_IsTrue(condition);
    if (holds < 0) throw_python_error();
    if (!holds) fail_eager(condition, data, summarize);
    return Ref::borrow(Py_None);
  }
  GraphBuilder& builder = graph_builder();
  NameScopeGuard scope(builder, scope_name);
  Ref values = checked_ref(PySequence_List(data));
  const OpDef& op = get_op("Assert");
  Attributes attributes = named_attributes(op, {{"summarize", summarize}});
  auto make = [&] {
    // Constants are named within the node.
    NameScopeGuard inner(builder, "Assert");
    OperandVector inputs{bool_operand(condition, "condition")};
    for (Operand& operand : data_operands(values.get(), "data_")) {
      inputs.push_back(std::move(operand));
    }
    OperandVector none;
    builder.apply(op, inputs, attributes, none, kScopeName);
    return operation_of(*last_node());
  };
  OperandVector operands = data_operands(values.get(), "");
  bool small = std::all_of(operands.begin(), operands.end(), [](const Operand& operand) {
    return dtype_of(operand) == DType::kString || dtype_of(operand) == DType::kInt32;
  });
  if (small) return make();
  // Data that may be large are only brought together when the assertion fails.
  Operand test = bool_operand(condition, "Condition");
  Ref tested = wrapped(test);
  condition = tested.get();
  BranchFunction passes{[] { return control_no_op(nullptr); }, tested.get()};
  BranchFunction fails{[&] { return make(); }, tested.get()};
  passes.function = fails.function = imported("builtins", "callable");
  Ref guard_name = make_text("AssertGuard");
  Ref result = control_cond(condition, passes, fails, guard_name.get());
  return operation_of(*operand_in(result.get()).value()->node);
}

}  // namespace graphwright
