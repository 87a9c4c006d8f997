// Bindings of src/ir: the operations of a graph, as programs that inspect graphs see them.
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "ir/attribute.h"
#include "ir/graph.h"
#include "ir/node_names.h"
#include "ir/opdef.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/graph_object.h"
#include "python/operation_object.h"
#include "python/tensor_object.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// A node, or an argument of the graph, which shows as the Placeholder that stands for it.
struct Operation {
  std::shared_ptr<Graph> graph;
  const Node* node = nullptr;
  Value* argument = nullptr;

  const void* identity() const {
    return node ? static_cast<const void*>(node) : static_cast<const void*>(argument);
  }
  std::string name() const {
    NodeNames names(*graph);
    if (node) return names.name(*node);
    std::string name = names.value_name(*argument);
    return name.substr(0, name.rfind(':'));
  }
  std::string type() const { return node ? std::string(node->op->name) : "Placeholder"; }
};

nb::object wrapped(Value* value) { return nb::steal(wrap(Operand(value))); }

nb::object attribute_object(const AttributeValue& value) {
  return std::visit(
      [](const auto& item) -> nb::object {
        using Item = std::remove_cvref_t<decltype(item)>;
        if constexpr (std::is_same_v<Item, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<Item, DType>) {
          return nb::steal(dtype_object(item));
        } else if constexpr (std::is_same_v<Item, PartialShape>) {
          return nb::steal(shape_object(item));
        } else if constexpr (std::is_same_v<Item, Tensor>) {
          return nb::steal(tensor_to_numpy(item));
        } else if constexpr (std::is_same_v<Item, std::string>) {
          return nb::bytes(item.data(), item.size());
        } else if constexpr (requires { item.begin(); }) {
          nb::list list;
          for (const auto& element : item) list.append(attribute_object(AttributeValue(element)));
          return list;
        } else {
          return nb::cast(item);
        }
      },
      value);
}

nb::object get_attribute(const Operation& operation, const std::string& name) {
  const Node* node = operation.node;
  int index = node ? node->op->signature.attribute_index(name) : -1;
  const AttributeValue* value =
      index >= 0 ? find_attribute(*node->op, node->attributes, index) : nullptr;
  if (!value) {
    throw_value_error("Operation '" + operation.name() + "' has no attr named '" + name + "'.");
  }
  return attribute_object(*value);
}

}  // namespace

PyObject* wrap_operation_of(const Value& value) {
  Operation operation;
  operation.graph = value.block->graph->shared_from_this();
  operation.node = value.node;
  if (!value.node) operation.argument = const_cast<Value*>(&value);
  return nb::cast(std::move(operation)).release().ptr();
}

void bind_ir(nb::module_& module) {
  nb::class_<Operation>(module, "Operation",
                        "A node of a graph: an op applied to tensors, or an argument of it.")
      .def_prop_ro("name", &Operation::name, "The unique name, \"while/add\".")
      .def_prop_ro("type", &Operation::type, "The op, \"AddV2\".")
      .def_prop_ro("graph", [](const Operation& self) { return nb::steal(wrap_graph(self.graph)); })
      .def_prop_ro("device",
                   [](const Operation& self) {
                     return std::string(self.node ? self.node->device.view() : "");
                   })
      .def_prop_ro("inputs",
                   [](const Operation& self) {
                     nb::list inputs;
                     if (self.node) {
                       for (Value* input : self.node->inputs) inputs.append(wrapped(input));
                     }
                     return nb::tuple(inputs);
                   })
      .def_prop_ro("outputs",
                   [](const Operation& self) {
                     nb::list outputs;
                     if (!self.node) {
                       outputs.append(wrapped(self.argument));
                     } else {
                       for (Value* output : self.node->outputs) outputs.append(wrapped(output));
                     }
                     return outputs;
                   })
      .def_prop_ro("control_inputs",
                   [](const Operation& self) {
                     nb::list operations;
                     if (self.node) {
                       for (const Node* node : self.node->control_inputs) {
                         operations.append(Operation{self.graph, node, nullptr});
                       }
                     }
                     return operations;
                   })
      .def("get_attr", &get_attribute, nb::arg("name"),
           "The attribute's value; ValueError if there is none of this name.")
      .def(
          "__eq__",
          [](const Operation& self, nb::object other) {
            return nb::isinstance<Operation>(other) &&
                   nb::cast<const Operation&>(other).identity() == self.identity();
          },
          nb::arg("other").none())
      .def("__hash__",
           [](const Operation& self) { return reinterpret_cast<intptr_t>(self.identity()) >> 4; })
      .def("__repr__", [](const Operation& self) {
        return "<tf.Operation '" + self.name() + "' type=" + self.type() + ">";
      });
}

}  // namespace graphwright
