// Removes nodes, loop variables and results of branches that neither a result nor an effect needs.
#include <algorithm>

#include "ir/dependence.h"
#include "ir/opdef.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

class Pruner {
 public:
  Pruner(Graph& graph, size_t node_count)
      : graph_(graph), needed_values_(node_count), needed_nodes_(node_count) {
    pending_.reserve(node_count);
  }

  void run() {
    for (Value* result : graph_.body().results) mark(result);
    for_each_block(graph_, [this](Block& block) {
      for (Node* node : block.nodes) {
        if (must_run(*node)) mark_node(node);
      }
    });
    while (!pending_.empty()) {
      const Value* value = pending_.back();
      pending_.pop_back();
      follow(*value);
    }
    changed_ = false;
    sweep(graph_.body());
    if (changed_) repair_control_inputs(graph_);
  }

 private:
  // Nodes with blocks run for what is inside, which is asked by itself.
  bool must_run(const Node& node) {
    if (!node.blocks.empty()) return false;
    if (node.callee) return effects_.effects(node).must_run();
    const Effects& effects = node.op->effects;
    if (effects.writes || effects.io || effects.opaque) return true;
    return node.op->has(kStateful) && !effects.any() &&
           node.op->compute.kind != ComputeKind::kControl;
  }

  void mark(const Value* value) {
    if (needed_values_.insert(value)) pending_.push_back(value);
  }

  void mark_node(const Node* node) {
    if (!needed_nodes_.insert(node)) return;
    if (node->blocks.empty()) {
      for (const Value* input : node->inputs) mark(input);
    } else {
      mark(node->inputs[0]);  // a condition, an index or a limit
      if (is_loop(*node)) mark(node->blocks[0]->results[0]);
    }
    if (node->block->owner) mark_node(node->block->owner);
  }

  static bool is_loop(const Node& node) { return node.op->name.ends_with("While"); }

  // What the value is made of.
  void follow(const Value& value) {
    if (const Node* node = value.node) {
      mark_node(node);
      if (node->blocks.empty()) return;
      if (is_loop(*node)) {
        if (value.index > 0) mark_variable(*node, value.index);
      } else {
        for (const auto& block : node->blocks) mark(block->results[value.index]);
      }
    } else if (const Node* owner = value.block->owner) {
      if (is_loop(*owner) && value.index > 0) mark(owner->outputs[value.index]);
    }
  }

  // What the next iteration needs, this one must make.
  void mark_variable(const Node& loop, uint32_t index) {
    mark(loop.inputs[index]);
    mark(loop.blocks[1]->results[index - 1]);
  }

  void sweep(Block& block) {
    size_t before = block.nodes.size();
    std::erase_if(block.nodes, [this](const Node* node) { return !needed_nodes_.contains(node); });
    changed_ |= block.nodes.size() != before;
    for (Node* node : block.nodes) {
      if (node->blocks.empty()) continue;
      drop_outputs(*node);
      for (const auto& inner : node->blocks) sweep(*inner);
    }
  }

  void drop_outputs(Node& node) {
    std::vector<bool> keep(node.outputs.size());
    const bool loop = is_loop(node);
    for (size_t i = 0; i < keep.size(); ++i) {
      keep[i] = (loop && i == 0) || needed_values_.contains(node.outputs[i]);
    }
    if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
    changed_ = true;
    remove_values(node.outputs, keep);
    auto remove_uses = [&](std::vector<Value*>& uses, size_t first) {
      size_t count = 0;
      for (size_t i = 0; i < uses.size(); ++i) {
        if (keep[i + first]) uses[count++] = uses[i];
      }
      uses.resize(count);
    };
    if (!loop) {
      for (const auto& block : node.blocks) remove_uses(block->results, 0);
      return;
    }
    remove_uses(node.inputs, 0);
    remove_uses(node.blocks[1]->results, 1);
    for (const auto& block : node.blocks) remove_values(block->arguments, keep);
  }

  Graph& graph_;
  EffectAnalysis effects_;
  PointerSet needed_values_;
  PointerSet needed_nodes_;
  std::vector<const Value*> pending_;
  bool changed_ = false;
};

}  // namespace

void prune(Graph& graph, PassContext&) { Pruner(graph, count_nodes(graph.body())).run(); }

}  // namespace graphwright::passes
