// Graphs as nested Python rows: what graphwright.show draws.
#include <string>
#include <unordered_set>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/location.h"
#include "ir/node_names.h"
#include "ir/opdef.h"
#include "ir/text.h"
#include "python/errors.h"
#include "python/graph_object.h"
#include "tensor/format.h"

namespace nb = nanobind;

namespace graphwright {

namespace {

constexpr size_t kMaxAttributeText = 200;

std::string type_text(const Value& value) {
  return std::string(dtype_name(value.dtype())) + value.shape().without_symbols().to_string();
}

struct AttributeText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool item) const { return item ? "True" : "False"; }
  std::string operator()(int64_t item) const { return std::to_string(item); }
  std::string operator()(double item) const { return std::to_string(item); }
  std::string operator()(const std::string& item) const { return "'" + item + "'"; }
  std::string operator()(DType item) const { return std::string(dtype_name(item)); }
  std::string operator()(const PartialShape& item) const {
    return item.without_symbols().to_string();
  }
  std::string operator()(const Tensor& item) const {
    std::string type =
        std::string(dtype_name(item.dtype())) + PartialShape(item.shape()).to_string();
    if (item.element_count() > 16 || item.dtype() == DType::kResource ||
        item.dtype() == DType::kVariant) {
      return type;
    }
    return format_print(item, 3) + " " + type;
  }
  template <class T>
  std::string operator()(const std::vector<T>& items) const {
    std::string text = "[";
    for (size_t i = 0; i < items.size(); ++i) {
      text += (i ? ", " : "") + (*this)(items[i]);
    }
    return text + "]";
  }
};

std::string attribute_text(const AttributeValue& value) {
  std::string text = std::visit(AttributeText(), value);
  if (text.size() > kMaxAttributeText) text = text.substr(0, kMaxAttributeText) + "...";
  return text;
}

// One graph's rows. Nodes of inner blocks come with their control node.
class RowMaker {
 public:
  RowMaker(const Graph& graph, nb::dict functions)
      : names_(graph), functions_(std::move(functions)) {}

  nb::dict block(const Block& block, const char* kind) {
    nb::list arguments, nodes, results;
    for (const Value* argument : block.arguments) {
      arguments.append(nb::make_tuple(value(*argument), type_text(*argument)));
    }
    for (const Node* item : block.nodes) nodes.append(node(*item));
    for (const Value* result : block.results) results.append(value(*result));
    nb::dict row;
    row["kind"] = kind;
    row["arguments"] = arguments;
    row["nodes"] = nodes;
    row["results"] = results;
    return row;
  }

 private:
  nb::dict node(const Node& node) {
    nb::dict row;
    row["name"] = names_.name(node);
    row["op"] = std::string(node.op->name);
    nb::list inputs, controls, outputs;
    for (const Value* input : node.inputs) inputs.append(value(*input));
    for (const Node* control : node.control_inputs) controls.append(names_.name(*control));
    for (const Value* output : node.outputs) {
      outputs.append(nb::make_tuple(value(*output), type_text(*output)));
    }
    row["inputs"] = inputs;
    row["controls"] = controls;
    row["outputs"] = outputs;
    nb::dict attributes;
    const Signature& signature = node.op->signature;
    for (int i = 0; i < signature.attribute_count; ++i) {
      const AttributeValue* item = find_attribute(*node.op, node.attributes, i);
      if (!item) continue;
      std::string name(signature.attributes[static_cast<size_t>(i)].name);
      attributes[name.c_str()] = attribute_text(*item);
    }
    row["attributes"] = attributes;
    row["device"] = std::string(node.device.view());
    nb::list lines;
    for (const SourceFrame& frame : resolve_location(node.location)) {
      lines.append(frame.file + ":" + std::to_string(frame.line) + " in " + frame.function);
    }
    row["lines"] = lines;
    row["blocks"] = blocks(node);
    row["function"] = callee(node);
    return row;
  }

  nb::list blocks(const Node& node) {
    nb::list list;
    for (size_t i = 0; i < node.blocks.size(); ++i) {
      std::string kind = "branch " + std::to_string(i);
      if (node.op->name == "While") kind = i == 0 ? "condition" : "body";
      if (node.op->name == "If") kind = i == 0 ? "then" : "else";
      list.append(block(*node.blocks[i], kind.c_str()));
    }
    return list;
  }

  nb::object callee(const Node& node) {
    if (!node.callee) return nb::none();
    std::string name(node.callee->callee_name());
    if (!functions_.contains(name.c_str())) {
      functions_[name.c_str()] = nb::none();  // known before its body: it may call itself
      const Graph& graph = node.callee->callee_graph();
      functions_[name.c_str()] = RowMaker(graph, functions_).block(graph.body(), "function");
    }
    return nb::str(name.c_str());
  }

  std::string value(const Value& value) {
    if (!value.node && value.block->owner) {
      std::string name(value.name.view());
      return name.empty() ? "argument" + std::to_string(value.index) : name;
    }
    return names_.value_name(value);
  }

  NodeNames names_;
  nb::dict functions_;
};

}  // namespace

void bind_show(nb::module_& module) {
  module.def(
      "graph_rows",
      [](nb::object graph) {
        std::shared_ptr<Graph> shown = graph_of_object(graph.ptr());
        nb::dict functions;
        nb::dict row = RowMaker(*shown, functions).block(shown->body(), "graph");
        return nb::make_tuple(row, functions);
      },
      nb::arg("graph"), "(the graph's block, {name: block} of the functions it calls) as dicts.");
}

}  // namespace graphwright
