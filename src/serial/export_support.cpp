#include <algorithm>

#include "ir/opdef.h"
#include "ir/type_inference.h"
#include "serial/function_exporter.h"
#include "serial/library_names.h"

namespace graphwright::serial {
namespace {

bool block_is_stateful(const Block& block) {
  return std::any_of(block.nodes.begin(), block.nodes.end(),
                     [](const Node* node) { return is_stateful(*node); });
}

}  // namespace

AttrValue attribute_message(const AttributeValue& value) {
  struct Visitor {
    AttrValue operator()(std::monostate) const { return {}; }
    AttrValue operator()(bool item) const { return {item}; }
    AttrValue operator()(int64_t item) const { return {item}; }
    AttrValue operator()(double item) const { return {static_cast<float>(item)}; }
    AttrValue operator()(const std::string& item) const { return {item}; }
    AttrValue operator()(DType item) const { return {item}; }
    AttrValue operator()(const PartialShape& item) const { return {item}; }
    AttrValue operator()(const Tensor& item) const { return {item}; }
    AttrValue operator()(const std::vector<int64_t>& items) const {
      ListValue list;
      list.integers = items;
      return {list};
    }
    AttrValue operator()(const std::vector<double>& items) const {
      ListValue list;
      for (double item : items) list.floats.push_back(static_cast<float>(item));
      return {list};
    }
    AttrValue operator()(const std::vector<std::string>& items) const {
      ListValue list;
      list.strings = items;
      return {list};
    }
    AttrValue operator()(const std::vector<DType>& items) const {
      ListValue list;
      list.types = items;
      return {list};
    }
    AttrValue operator()(const std::vector<PartialShape>& items) const {
      ListValue list;
      list.shapes = items;
      return {list};
    }
  };
  return std::visit(Visitor(), value);
}

bool is_stateful(const Node& node) {
  if (node.callee) return block_is_stateful(node.callee->callee_graph().body());
  if (node.blocks.empty()) return node.op->has(kStateful);
  return std::any_of(node.blocks.begin(), node.blocks.end(),
                     [](const auto& block) { return block_is_stateful(*block); });
}

AttrMap node_attributes(const Node& node) {
  AttrMap result;
  std::vector<DType> inputs;
  for (const Value* value : node.inputs) inputs.push_back(value->dtype());
  TypeBindings bindings = resolve_types(*node.op, inputs, node.attributes, Tier::kGraph);
  for (const auto& count : bindings.counts) result[std::string(count.name)] = {count.value};
  for (const auto& variable : bindings.variables) {
    result[std::string(variable.name)] = {variable.dtype};
  }
  for (const auto& list : bindings.lists) {
    ListValue types;
    types.types = list.types;
    result[std::string(list.name)] = {types};
  }
  const Signature& signature = node.op->signature;
  for (int i = 0; i < signature.attribute_count; ++i) {
    const AttributeValue* value = find_attribute(*node.op, node.attributes, i);
    if (!value) continue;
    std::string name(signature.attributes[static_cast<size_t>(i)].name);
    if (const auto* shape = std::get_if<PartialShape>(value)) {
      result[name] = {shape->without_symbols()};
    } else {
      result[name] = attribute_message(*value);
    }
  }
  return result;
}

ListValue shape_list(const std::vector<Value*>& values) {
  ListValue list;
  for (const Value* value : values) list.shapes.push_back(value->shape());
  return list;
}

const std::string& ExportState::export_callee(const Callee& callee) {
  const Graph& graph = callee.callee_graph();
  auto [known, added] = callees.try_emplace(&graph);
  if (!added) return known->second;
  std::string name = callee_function_name(graph, std::string(callee.callee_name()));
  known->second = name;  // known before its body: it may call itself
  NodeNames names(graph);
  FunctionDef function =
      FunctionExporter(*this, names, graph.body(), false).export_graph_body(name);
  result.functions.push_back(std::move(function));
  return callees[&graph];
}

}  // namespace graphwright::serial
