#include "ir/graph_copy.h"

#include "base/status.h"

namespace graphwright {

ScopeId GraphCopier::copy_scope(const Graph& source, ScopeId scope) {
  if (&source == &target_ || keep_ids_) return scope;
  if (scope == 0) return scope_;
  auto [known, added] = scopes_[&source].try_emplace(scope, 0);
  if (!added) return known->second;
  const NameScope& entry = source.scopes()[scope];
  ScopeId parent = copy_scope(source, entry.parent);
  bool absolute = entry.absolute && scope_ == 0;
  ScopeId copied = target_.add_scope(parent, entry.base_name.view(), target_.body(), absolute);
  scopes_[&source][scope] = copied;
  return copied;
}

Node* GraphCopier::copy_node(const Node& node, Block& target) {
  std::vector<Value*> inputs;
  inputs.reserve(node.inputs.size());
  for (Value* input : node.inputs) inputs.push_back(values_(input));
  std::vector<ValueType> types;
  types.reserve(node.outputs.size());
  for (const Value* output : node.outputs) types.push_back(output->type);
  ScopeId scope = copy_scope(*node.block->graph, node.scope);
  Node* copy =
      target_.add_node(target, *node.op, std::move(inputs), node.attributes, std::move(types));
  if (keep_ids_) copy->id = node.id;
  copy->callee = node.callee;
  copy->scope = scope;
  copy->base_name = node.base_name;
  copy->device = node.device;
  copy->location = node.location;
  for (Node* control_input : node.control_inputs) {
    auto found = nodes_.find(control_input);
    // One that was not copied along is there already, or is ordered by what it does.
    if (found != nodes_.end()) {
      copy->control_inputs.push_back(found->second);
    } else if (control_input->block == &target) {
      copy->control_inputs.push_back(control_input);
    }
  }
  nodes_[&node] = copy;
  for (size_t i = 0; i < node.outputs.size(); ++i) values_.set(node.outputs[i], copy->outputs[i]);
  for (const auto& block : node.blocks) copy_block(*block, *target_.add_block(*copy));
  return copy;
}

void GraphCopier::copy_nodes(const Block& source, Block& target) {
  // The source may be the target itself: only what was there is copied.
  size_t count = source.nodes.size();
  for (size_t i = 0; i < count; ++i) copy_node(*source.nodes[i], target);
}

void GraphCopier::copy_block(const Block& source, Block& target) {
  for (Value* argument : source.arguments) {
    Value* copy = target_.add_argument(target, argument->type, argument->name.view());
    copy->scope = copy_scope(*source.graph, argument->scope);
    if (keep_ids_) copy->made_before = argument->made_before;
    values_.set(argument, copy);
  }
  copy_nodes(source, target);
  for (Value* result : source.results) target.results.push_back(values_(result));
}

std::shared_ptr<Graph> copy_graph(const Graph& graph, ValueMap* value_map) {
  auto copy = std::make_shared<Graph>(graph.name());
  ValueMap own_map;
  ValueMap& values = value_map ? *value_map : own_map;
  GraphCopier copier(*copy, values);
  copier.keep_ids_ = true;
  copier.copy_block(graph.body(), copy->body());
  // Scopes name the blocks they were entered in, which are known only now. A block that was removed
  // since is replaced by the body: nothing is named in it any more.
  std::unordered_map<const Block*, Block*> blocks{{&graph.body(), &copy->body()}};
  for (const auto& [from, to] : copier.nodes_) {
    for (size_t i = 0; i < from->blocks.size(); ++i) {
      blocks[from->blocks[i].get()] = to->blocks[i].get();
    }
  }
  std::vector<NameScope> scopes;
  for (NameScope scope : graph.scopes()) {
    auto found = blocks.find(scope.block);
    scope.block = found == blocks.end() ? &copy->body() : found->second;
    scopes.push_back(scope);
  }
  copy->restore_numbering(std::move(scopes), graph.node_count());
  for (const Capture& capture : graph.captures()) {
    copy->captures().push_back({capture.tensor, capture.outer, values(capture.inner)});
  }
  return copy;
}

std::vector<Value*> inline_block(const Block& source, Block& target,
                                 std::span<Value* const> arguments, ValueMap* value_map,
                                 ScopeId scope) {
  if (arguments.size() != source.arguments.size()) {
    throw_internal("a block with " + std::to_string(source.arguments.size()) +
                   " arguments was inlined with " + std::to_string(arguments.size()));
  }
  ValueMap own_map;
  ValueMap& values = value_map ? *value_map : own_map;
  for (size_t i = 0; i < arguments.size(); ++i) values.set(source.arguments[i], arguments[i]);
  GraphCopier copier(*target.graph, values, scope);
  copier.copy_nodes(source, target);
  std::vector<Value*> results;
  for (Value* result : source.results) results.push_back(values(result));
  return results;
}

}  // namespace graphwright
