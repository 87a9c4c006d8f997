#include "serial/graph_view.h"

#include <charconv>

#include "ir/node_names.h"
#include "ir/opdef.h"
#include "serial/export_graph.h"

namespace graphwright::serial {
namespace {

std::vector<ValueType> types_of(const std::vector<const Value*>& values) {
  std::vector<ValueType> types;
  for (const Value* value : values) types.push_back(value->type);
  return types;
}

// A loop's outputs as they are shown: counter, limit, what it carries, what it sees from outside.
std::vector<ValueType> loop_types(const Node& node) {
  std::vector<const Value*> values{node.outputs[0], node.outputs[0]};
  values.insert(values.end(), node.outputs.begin() + 1, node.outputs.end());
  std::vector<const Value*> captures = free_values(node);
  values.insert(values.end(), captures.begin(), captures.end());
  return types_of(values);
}

bool is_loop(const Node& node) { return node.op->name == "While"; }

// The value of the graph that output `index` of a control node, or its Identity, stands for.
Value* value_of_output(const Node& node, size_t index) {
  if (is_loop(node)) {
    if (index == 1) return nullptr;
    if (index > 1) --index;
  }
  return index < node.outputs.size() ? node.outputs[index] : nullptr;
}

class OutputMaker {
 public:
  OutputMaker(Graph& graph, ShownNodes& shown_nodes) : graph_(graph), shown_nodes_(shown_nodes) {}

  std::vector<Value*> outputs(const ShownNode& shown, const NodeDef& definition,
                              bool has_identities) {
    if (shown.argument) return {const_cast<Value*>(shown.argument)};
    if (!shown.node) {
      if (shown.role == ShownNode::kNoOp) return {};
      auto index = static_cast<size_t>(shown.role - ShownNode::kFirstIdentity);
      return made(shown, definition, {graph_.body().results[index]->type});
    }
    const Node& node = *shown.node;
    if (shown.role == ShownNode::kCounter) {
      return made(shown, definition, {tensor_type(DType::kInt32, PartialShape::scalar())});
    }
    std::vector<ValueType> types = node.blocks.empty() ? std::vector<ValueType>()
                                   : is_loop(node)
                                       ? loop_types(node)
                                       : types_of({node.outputs.begin(), node.outputs.end()});
    if (shown.role >= ShownNode::kFirstIdentity) {
      auto index = static_cast<size_t>(shown.role - ShownNode::kFirstIdentity);
      if (Value* own = value_of_output(node, index)) return {own};
      return made(shown, definition, {types[index]});
    }
    if (node.blocks.empty()) return node.outputs;
    std::vector<Value*> result = made(shown, definition, types);
    for (size_t i = 0; i < result.size() && !has_identities; ++i) {
      if (Value* own = value_of_output(node, i)) result[i] = own;
    }
    return result;
  }

 private:
  std::vector<Value*> made(const ShownNode& shown, const NodeDef& definition,
                           std::vector<ValueType> types) {
    Node*& node = shown_nodes_[key_of(shown)];
    if (!node) {
      const OpDef* op = find_op(definition.op);
      node = graph_.show_node(op ? *op : *shown.node->op, definition.name, std::move(types));
    }
    return node->outputs;
  }

  Graph& graph_;
  ShownNodes& shown_nodes_;
};

}  // namespace

GraphView::GraphView(Graph& graph, ShownNodes& shown_nodes) {
  ExportedGraph exported = export_with_origins(graph);
  definition_ = std::move(exported.definition);
  OutputMaker maker(graph, shown_nodes);
  NodeNames names(graph);
  for (size_t i = 0; i < definition_.nodes.size(); ++i) {
    const NodeDef& node = definition_.nodes[i];
    const ShownNode& shown = exported.origins[i];
    auto position = static_cast<int>(i);
    bool has_identities = shown.node && !names.identities(*shown.node).empty();
    operations_.push_back({shown, maker.outputs(shown, node, has_identities)});
    by_name_.emplace(node.name, position);
    by_key_.emplace(key_of(shown), position);
    const std::vector<Value*>& outputs = operations_.back().outputs;
    for (size_t k = 0; k < outputs.size(); ++k) {
      by_value_.emplace(outputs[k], std::pair(position, static_cast<int>(k)));
    }
  }
}

int GraphView::find(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

int GraphView::find(const OperationKey& key) const {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? -1 : found->second;
}

std::pair<int, int> GraphView::find(const Value& value) const {
  auto found = by_value_.find(&value);
  return found == by_value_.end() ? std::pair(-1, 0) : found->second;
}

Value* GraphView::input(std::string_view name) const {
  size_t index = 0;
  size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) {
    const char* end = name.data() + name.size();
    auto [stop, error] = std::from_chars(name.data() + colon + 1, end, index);
    if (error != std::errc() || stop != end) return nullptr;
    name = name.substr(0, colon);
  }
  int position = find(name);
  if (position < 0) return nullptr;
  const std::vector<Value*>& outputs = operations_[static_cast<size_t>(position)].outputs;
  return index < outputs.size() ? outputs[index] : nullptr;
}

}  // namespace graphwright::serial
