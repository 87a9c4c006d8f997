// Bindings of src/ir: the operations of a graph, as programs that inspect graphs see them.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "base/location.h"
#include "ir/graph.h"
#include "ir/node_names.h"
#include "ir/opdef.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/graph_companion.h"
#include "python/graph_object.h"
#include "python/graphdef.h"
#include "python/operation_object.h"
#include "python/tensor_object.h"
#include "serial/export_opdef.h"
#include "serial/graph_view.h"

namespace nb = nanobind;

namespace graphwright {

// A node of the exported form: an op applied to tensors, an argument, or what only that form has.
struct Operation {
  std::shared_ptr<Graph> graph;
  serial::ShownNode shown;
};

namespace {

// The operation's place in the graph's view; an operation inside a branch or loop body has none.
int position_of(const Operation& operation) {
  return view_of(*operation.graph).find(serial::key_of(operation.shown));
}

const serial::NodeDef* definition_if_shown(const Operation& operation) {
  int position = position_of(operation);
  if (position < 0) return nullptr;
  return &view_of(*operation.graph).definition().nodes[static_cast<size_t>(position)];
}

// For operations of blocks, which the graph's own list does not have.
serial::NodeDef definition_in_block(const Operation& operation) {
  const Node* node = operation.shown.node;
  if (!node) throw_value_error("The operation is no longer in its graph.");
  NodeNames names(*operation.graph, node->block);
  serial::NodeDef definition{names.name(*node), std::string(node->op->name), {}, {}, {}};
  for (const Value* input : node->inputs) definition.inputs.push_back(names.value_name(*input));
  definition.device = std::string(node->device.view());
  if (node->blocks.empty() && !node->callee) {
    definition.attributes = serial::node_attributes(*node);
  }
  return definition;
}

serial::NodeDef definition_of(const Operation& operation) {
  const serial::NodeDef* shown = definition_if_shown(operation);
  return shown ? *shown : definition_in_block(operation);
}

std::string operation_name(const Operation& operation) {
  const serial::ShownNode& shown = operation.shown;
  if (shown.role == serial::ShownNode::kItself) {
    if (shown.argument) {
      std::string name = names_of(*operation.graph).value_name(*shown.argument);
      return name.substr(0, name.rfind(':'));
    }
    if (!shown.node->block->owner) return names_of(*operation.graph).name(*shown.node);
  }
  return definition_of(operation).name;
}

std::string operation_type(const Operation& operation) {
  if (operation.shown.argument) return "Placeholder";
  const Node* node = operation.shown.node;
  bool plain = node && operation.shown.role == serial::ShownNode::kItself && node->blocks.empty() &&
               !node->callee;
  return plain ? std::string(node->op->name) : definition_of(operation).op;
}

nb::object wrapped(Value* value) { return nb::steal(wrap(Operand(value))); }

nb::object operation_object(Graph& graph, const serial::ShownNode& shown) {
  GraphCompanion& companion = companion_of(graph);
  std::weak_ptr<Operation>& held = companion.operations[serial::key_of(shown)];
  std::shared_ptr<Operation> operation = held.lock();
  if (!operation) {
    operation = std::make_shared<Operation>(Operation{graph.shared_from_this(), shown});
    held = operation;
  }
  return nb::cast(operation);
}

std::vector<Value*> outputs_of(const Operation& operation) {
  const serial::ShownNode& shown = operation.shown;
  if (shown.argument) return {const_cast<Value*>(shown.argument)};
  const serial::GraphView& view = view_of(*operation.graph);
  int position = view.find(serial::key_of(shown));
  if (position >= 0) return view.operations()[static_cast<size_t>(position)].outputs;
  if (!shown.node) throw_value_error("The operation is no longer in its graph.");
  return shown.node->outputs;
}

nb::list output_list(const Operation& operation) {
  nb::list outputs;
  for (Value* output : outputs_of(operation)) outputs.append(wrapped(output));
  return outputs;
}

nb::tuple input_tuple(const Operation& operation) {
  nb::list inputs;
  const serial::NodeDef* definition = definition_if_shown(operation);
  if (!definition) {
    if (operation.shown.node) {
      for (Value* input : operation.shown.node->inputs) inputs.append(wrapped(input));
    }
    return nb::tuple(inputs);
  }
  for (const std::string& name : definition->inputs) {
    if (name.starts_with('^')) continue;
    Value* input = view_of(*operation.graph).input(name);
    if (input) inputs.append(wrapped(input));
  }
  return nb::tuple(inputs);
}

nb::list control_input_list(const Operation& operation) {
  nb::list result;
  const serial::NodeDef* definition = definition_if_shown(operation);
  if (!definition) return result;
  const serial::GraphView& view = view_of(*operation.graph);
  for (const std::string& name : definition->inputs) {
    if (!name.starts_with('^')) continue;
    int position = view.find(std::string_view(name).substr(1));
    if (position < 0) continue;
    result.append(
        operation_object(*operation.graph, view.operations()[static_cast<size_t>(position)].shown));
  }
  return result;
}

nb::object message_of(const char* name, const std::string& bytes) {
  nb::object parse = nb::module_::import_("graphwright._protobuf").attr("message_class");
  return parse(name).attr("FromString")(nb::bytes(bytes.data(), bytes.size()));
}

nb::object bytes_object(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// Dtypes, numbers and bytes as they are; shapes, tensors and functions as messages.
nb::object attribute_object(const serial::AttrValue& attribute) {
  struct Visitor {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(const std::string& value) const { return bytes_object(value); }
    nb::object operator()(int64_t value) const { return nb::int_(value); }
    nb::object operator()(float value) const { return nb::float_(value); }
    nb::object operator()(bool value) const { return nb::bool_(value); }
    nb::object operator()(DType value) const { return nb::steal(dtype_object(value)); }
    nb::object operator()(const PartialShape& value) const {
      return message_of("AttrValue", serial::encode(serial::AttrValue{value})).attr("shape");
    }
    nb::object operator()(const Tensor& value) const {
      return message_of("TensorProto", serial::encode(value));
    }
    nb::object operator()(const serial::NameAttrList& value) const {
      return message_of("AttrValue", serial::encode(serial::AttrValue{value})).attr("func");
    }
    nb::object operator()(const serial::ListValue& value) const {
      nb::list list;
      for (const std::string& item : value.strings) list.append((*this)(item));
      for (int64_t item : value.integers) list.append((*this)(item));
      for (float item : value.floats) list.append((*this)(item));
      for (bool item : value.booleans) list.append((*this)(item));
      for (DType item : value.types) list.append((*this)(item));
      for (const PartialShape& item : value.shapes) list.append((*this)(item));
      for (const Tensor& item : value.tensors) list.append((*this)(item));
      for (const serial::NameAttrList& item : value.functions) list.append((*this)(item));
      return list;
    }
  };
  return std::visit(Visitor(), attribute.value);
}

nb::object get_attribute(const Operation& operation, const std::string& name) {
  serial::NodeDef definition = definition_of(operation);
  auto found = definition.attributes.find(name);
  if (found == definition.attributes.end()) {
    throw_value_error("Operation '" + definition.name + "' has no attr named '" + name + "'.");
  }
  return attribute_object(found->second);
}

nb::list traceback_of(const Operation& operation) {
  nb::list frames;
  if (!operation.shown.node) return frames;
  nb::object make = nb::module_::import_("traceback").attr("FrameSummary");
  for (const SourceFrame& frame : resolve_location(operation.shown.node->location)) {
    frames.append(make(frame.file, frame.line, frame.function));
  }
  return frames;
}

[[noreturn]] void throw_key_error(std::string message) {
  throw Error(ErrorKind::kKeyError, std::move(message));
}

// A name with a colon is a tensor's, one without an operation's.
PyObject* element_of_name(Graph& graph, const std::string& name, bool allow_tensor,
                          bool allow_operation) {
  const serial::GraphView& view = view_of(graph);
  size_t colon = name.find(':');
  if (colon != std::string::npos && allow_tensor) {
    std::string node = name.substr(0, colon), index = name.substr(colon + 1);
    bool number =
        !index.empty() && index.size() < 9 &&
        std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!number || node.empty()) {
      throw_value_error(
          fmt::format("The name '{}' looks a like a Tensor name, but is not a valid "
                      "one. Tensor names must be of the form "
                      "\"<op_name>:<output_index>\".",
                      name));
    }
    int position = view.find(node);
    if (position < 0) {
      throw_key_error(
          fmt::format("The name '{}' refers to a Tensor which does not exist. The "
                      "operation, '{}', does not exist in the graph.",
                      name, node));
    }
    const auto& outputs = view.operations()[static_cast<size_t>(position)].outputs;
    size_t wanted = std::stoul(index);
    if (wanted >= outputs.size()) {
      throw_key_error(
          fmt::format("The name '{}' refers to a Tensor which does not exist. The "
                      "operation, '{}', exists but only has {} outputs.",
                      name, node, outputs.size()));
    }
    return wrap(Operand(outputs[wanted]));
  }
  if (colon != std::string::npos) {
    throw_value_error(
        fmt::format("Name '{}' appears to refer to a Tensor, not a Operation.", name));
  }
  int position = view.find(name);
  if (!allow_operation) {
    if (position >= 0) {
      throw_value_error(
          fmt::format("The name '{}' refers to an Operation, not a Tensor. Tensor "
                      "names must be of the form \"<op_name>:<output_index>\".",
                      name));
    }
    throw_value_error(
        fmt::format("The name '{}' looks like an (invalid) Operation name, not a "
                    "Tensor. Tensor names must be of the form "
                    "\"<op_name>:<output_index>\".",
                    name));
  }
  if (position < 0) {
    throw_key_error(fmt::format("The name '{}' refers to an Operation not in the graph.", name));
  }
  return wrap_operation_at(graph, position);
}

}  // namespace

PyObject* wrap_operation_at(Graph& graph, int position) {
  const serial::ShownNode shown = view_of(graph).operations()[static_cast<size_t>(position)].shown;
  return operation_object(graph, shown).release().ptr();
}

PyObject* wrap_operation_of(const Value& value) {
  Graph& graph = *value.block->graph;
  serial::ShownNode shown;
  bool direct = !value.node || (value.node->scope != kShownScope && value.node->blocks.empty());
  if (!direct) {
    auto [position, output] = view_of(graph).find(value);
    if (position >= 0) return wrap_operation_at(graph, position);
  }
  shown.node = value.node;
  if (!value.node) shown.argument = &value;
  return operation_object(graph, shown).release().ptr();
}

PyObject* wrap_operation_of_node(const Node& node) {
  return operation_object(*node.block->graph, {&node}).release().ptr();
}

bool is_operation(PyObject* object) { return nb::isinstance<Operation>(nb::handle(object)); }

Node* node_of_operation(PyObject* operation) {
  const serial::ShownNode& shown = nb::cast<const Operation&>(nb::handle(operation)).shown;
  // An Identity behind a control node is no node of its own: whoever waits for it waits for that.
  return const_cast<Node*>(shown.node);
}

Graph* graph_of_operation(PyObject* operation) {
  return nb::cast<const Operation&>(nb::handle(operation)).graph.get();
}

PyObject* graph_element(Graph& graph, PyObject* object, bool allow_tensor, bool allow_operation) {
  const char* wanted = allow_tensor && allow_operation ? "Tensor or Operation"
                       : allow_tensor                  ? "Tensor"
                                                       : "Operation";
  if (PyUnicode_Check(object) || PyBytes_Check(object)) {
    std::string name = PyUnicode_Check(object) ? std::string(text_of(object))
                                               : std::string(PyBytes_AsString(object));
    return element_of_name(graph, name, allow_tensor, allow_operation);
  }
  if (is_symbolic_tensor(object) && allow_tensor) {
    if (operand_in(object).value()->block->graph != &graph) {
      Ref shown = checked_ref(PyObject_Str(object));
      throw_value_error(
          fmt::format("Tensor {} is not an element of this graph.", text_of(shown.get())));
    }
    return Ref::borrow(object).release();
  }
  if (is_operation(object) && allow_operation) {
    if (graph_of_operation(object) != &graph) {
      throw_value_error(
          fmt::format("Operation {} is not an element of this graph.", repr_of(object)));
    }
    return Ref::borrow(object).release();
  }
  throw_type_error(fmt::format("Can not convert a {} into a {}.", type_name(object), wanted));
}

void bind_ir(nb::module_& module) {
  nb::class_<Operation>(module, "Operation",
                        "A node of a graph: an op applied to tensors, or an argument of it.",
                        nb::is_weak_referenceable())
      .def_prop_ro("name", &operation_name, "The unique name, \"while/add\".")
      .def_prop_ro("type", &operation_type, "The op, \"AddV2\".")
      .def_prop_ro("graph", [](const Operation& self) { return nb::steal(wrap_graph(self.graph)); })
      .def_prop_ro("device", [](const Operation& self) { return definition_of(self).device; })
      .def_prop_ro("inputs", &input_tuple, "The tensors it takes, a tuple.")
      .def_prop_ro("outputs", &output_list, "The tensors it gives, a list.")
      .def(
          "values", [](const Operation& self) { return nb::tuple(output_list(self)); },
          "The tensors it gives, a tuple.")
      .def_prop_ro("control_inputs", &control_input_list,
                   "The operations that must have run before it.")
      .def_prop_ro(
          "node_def",
          [](const Operation& self) {
            return message_of("NodeDef", serial::encode(definition_of(self)));
          },
          "The NodeDef message.")
      .def_prop_ro(
          "op_def",
          [](const Operation& self) {
            std::string type = operation_type(self);
            const OpDef* op = find_op(type);
            if (!op && self.shown.node) op = self.shown.node->op;
            if (!op) throw_value_error("No op named " + type + " is defined.");
            return message_of("OpDef", serial::encode_op_def(*op, type));
          },
          "The OpDef message.")
      .def("get_attr", &get_attribute, nb::arg("name"),
           "The attribute's value; ValueError if there is none of this name.")
      .def("colocation_groups",
           [](const Operation& self) {
             nb::list groups;
             groups.append(bytes_object("loc:@" + operation_name(self)));
             return groups;
           })
      .def_prop_ro("traceback", &traceback_of, "Where the program made it, outermost frame first.")
      .def(
          "run",
          [](const Operation&, nb::args, nb::kwargs) {
            throw_value_error(
                "Cannot execute operation using `run()`: No default session is registered. Call "
                "the function that the operation is part of instead.");
          },
          "Not available: there are no sessions.")
      .def("__repr__",
           [](const Operation& self) {
             return "<tf.Operation '" + operation_name(self) + "' type=" + operation_type(self) +
                    ">";
           })
      .def("__str__", [](const Operation& self) {
        return nb::str(message_of("NodeDef", serial::encode(definition_of(self))));
      });
}

}  // namespace graphwright
