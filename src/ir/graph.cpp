#include "ir/graph.h"

#include <algorithm>
#include <unordered_set>

#include "base/status.h"
#include "ir/opdef.h"

namespace graphwright {
namespace {

void collect_free(const Block& block, std::unordered_set<const Value*>& defined,
                  std::unordered_set<const Value*>& seen, std::vector<const Value*>& free) {
  auto use = [&](const Value* value) {
    if (!defined.count(value) && seen.insert(value).second) free.push_back(value);
  };
  for (const Value* argument : block.arguments) defined.insert(argument);
  for (const Node* node : block.nodes) {
    for (const Value* input : node->inputs) use(input);
    std::vector<const Value*> inner =
        node->blocks.empty() ? std::vector<const Value*>() : free_values(*node);
    std::stable_partition(inner.begin(), inner.end(),
                          [](const Value* value) { return is_tensor_capture(*value); });
    for (const Value* value : inner) use(value);
    for (const Value* output : node->outputs) defined.insert(output);
  }
  for (const Value* result : block.results) use(result);
}

}  // namespace

bool Block::sees(const Value& value) const {
  for (const Block* block = this; block; block = block->parent()) {
    if (value.block == block) return true;
  }
  return false;
}

std::vector<const Value*> free_values(std::span<const Block* const> blocks) {
  std::vector<const Value*> free;
  std::unordered_set<const Value*> defined, seen;
  for (const Block* block : blocks) collect_free(*block, defined, seen, free);
  return free;
}

std::vector<const Value*> free_values(const Node& node) {
  std::vector<const Block*> blocks;
  for (const auto& block : node.blocks) blocks.push_back(block.get());
  return free_values(blocks);
}

bool is_tensor_capture(const Value& value) {
  if (value.node || value.block->owner) return false;
  const std::vector<Capture>& captures = value.block->graph->captures();
  size_t declared = value.block->arguments.size() - captures.size();
  return value.index >= declared && !captures[value.index - declared].outer;
}

Graph::Graph(std::string name) : name_(std::move(name)), body_(std::make_unique<Block>()) {
  body_->graph = this;
  scopes_.push_back({0, InternedString(), body_.get(), 0});
}

Graph::~Graph() = default;

void Graph::require_mutable() const {
  if (frozen_) {
    throw Error(ErrorKind::kRuntimeError, "Graph is finalized and cannot be modified.");
  }
}

Node* Graph::make_node(Block& block, const OpDef& op, std::vector<Value*> inputs,
                       Attributes attributes, std::vector<ValueType> output_types) {
  require_mutable();
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->op = &op;
  node->attributes = std::move(attributes);
  node->inputs = std::move(inputs);
  node->block = &block;
  node->id = next_id_++;
  nodes_.push_back(std::move(owned));
  node->outputs.reserve(output_types.size());
  for (ValueType& type : output_types) add_output(*node, std::move(type));
  return node;
}

Node* Graph::show_node(const OpDef& op, std::string_view name,
                       std::vector<ValueType> output_types) {
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->op = &op;
  node->block = body_.get();
  node->scope = kShownScope;
  node->base_name = InternedString(name);
  node->id = UINT32_MAX;
  nodes_.push_back(std::move(owned));
  for (ValueType& type : output_types) {
    auto value = std::make_unique<Value>();
    value->type = std::move(type);
    value->node = node;
    value->block = body_.get();
    value->index = static_cast<uint32_t>(node->outputs.size());
    node->outputs.push_back(value.get());
    values_.push_back(std::move(value));
  }
  return node;
}

void Graph::append_node(Node& node) {
  require_mutable();
  node.block->nodes.push_back(&node);
}

Node* Graph::add_node(Block& block, const OpDef& op, std::vector<Value*> inputs,
                      Attributes attributes, std::vector<ValueType> output_types) {
  Node* node =
      make_node(block, op, std::move(inputs), std::move(attributes), std::move(output_types));
  block.nodes.push_back(node);
  return node;
}

Node* Graph::insert_node(Block& block, size_t position, const OpDef& op, std::vector<Value*> inputs,
                         Attributes attributes, std::vector<ValueType> output_types) {
  Node* node =
      make_node(block, op, std::move(inputs), std::move(attributes), std::move(output_types));
  block.nodes.insert(block.nodes.begin() + static_cast<std::ptrdiff_t>(position), node);
  return node;
}

Value* Graph::add_argument(Block& block, ValueType type, std::string_view name) {
  require_mutable();
  auto value = std::make_unique<Value>();
  value->type = std::move(type);
  value->block = &block;
  value->index = static_cast<uint32_t>(block.arguments.size());
  value->name = InternedString(name);
  value->made_before = next_id_;
  block.arguments.push_back(value.get());
  values_.push_back(std::move(value));
  return block.arguments.back();
}

Value* Graph::add_output(Node& node, ValueType type) {
  require_mutable();
  auto value = std::make_unique<Value>();
  value->type = std::move(type);
  value->node = &node;
  value->block = node.block;
  value->index = static_cast<uint32_t>(node.outputs.size());
  node.outputs.push_back(value.get());
  values_.push_back(std::move(value));
  return node.outputs.back();
}

Block* Graph::add_block(Node& node) {
  require_mutable();
  node.blocks.push_back(std::make_unique<Block>());
  Block* block = node.blocks.back().get();
  block->graph = this;
  block->owner = &node;
  return block;
}

void Graph::remove_nodes(Block& block, FunctionRef<bool(const Node&)> dead) {
  require_mutable();
  std::erase_if(block.nodes, [&](const Node* node) { return dead(*node); });
}

ScopeId Graph::add_scope(ScopeId parent, std::string_view base_name, Block& block, bool absolute) {
  require_mutable();
  scopes_.push_back({parent, InternedString(base_name), &block, next_id_, absolute});
  return static_cast<ScopeId>(scopes_.size() - 1);
}

void Graph::truncate_scopes(size_t count) {
  require_mutable();
  scopes_.resize(std::max<size_t>(count, 1));
}

void Graph::restore_numbering(std::vector<NameScope> scopes, uint32_t node_count) {
  require_mutable();
  scopes_ = std::move(scopes);
  next_id_ = std::max(next_id_, node_count);
}

}  // namespace graphwright
