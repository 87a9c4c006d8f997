// Moves out of loops what is the same in every iteration: loop variables that no iteration changes,
// and pure nodes of values from outside. A node moves only if it cannot fail or would have run
// anyway, before anything that others see; branches inside a loop keep theirs, since they may never
// be taken.
#include <algorithm>

#include "ir/dependence.h"
#include "ir/opdef.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

class LoopInvariants final : public Rewriter {
 public:
  explicit LoopInvariants(Graph& graph) : Rewriter(graph) {}

 private:
  bool visit(Node& node) override {
    if (node.op->name.ends_with("While")) pass_unchanged(node);
    return true;
  }

  // A variable that every iteration hands on as it is: inside and after the loop, its first value
  // serves. The variable itself is left for prune.
  void pass_unchanged(Node& loop) {
    Block& body = *loop.blocks[1];
    for (size_t i = 1; i < loop.inputs.size(); ++i) {
      if (current(body.results[i - 1]) != body.arguments[i]) continue;
      Value* initial = loop.inputs[i];
      bool fits = Replacements::can_replace(*body.arguments[i], *initial) &&
                  Replacements::can_replace(*loop.blocks[0]->arguments[i], *initial) &&
                  Replacements::can_replace(*loop.outputs[i], *initial);
      if (!fits) continue;
      replace(body.arguments[i], initial);
      replace(loop.blocks[0]->arguments[i], initial);
      replace(loop.outputs[i], initial);
    }
  }
};

// Inner loops first, so that what leaves one may leave the next.
class Hoister {
 public:
  explicit Hoister(Graph& graph) : graph_(graph) {}
  void run() {
    walk(graph_.body());
    if (moved_) repair_control_inputs(graph_);
  }

 private:
  void walk(Block& block) {
    std::vector<Node*> nodes;
    nodes.reserve(block.nodes.size());
    for (Node* node : block.nodes) {
      for (const auto& inner : node->blocks) walk(*inner);
      if (node->op->name.ends_with("While")) {
        hoist(*node->blocks[0], block, nodes, true);
        hoist(*node->blocks[1], block, nodes, false);
      }
      nodes.push_back(node);
    }
    block.nodes = std::move(nodes);
  }

  void hoist(Block& from, Block& to, std::vector<Node*>& before, bool surely_runs) {
    std::erase_if(from.nodes, [&](Node* node) {
      if (!movable(*node, from, surely_runs)) {
        // What comes after is seen or not depending on whether this node fails.
        if (!is_pure_leaf(*node) && !constant_tensor_of(*node)) surely_runs = false;
        return false;
      }
      adopt_node(*node, to);
      before.push_back(node);
      moved_ = true;
      return true;
    });
  }

  static bool constant_tensor_of(const Node& node) {
    return !node.outputs.empty() && constant_tensor(*node.outputs[0]);
  }

  static bool movable(const Node& node, const Block& from, bool surely_runs) {
    bool inside = std::any_of(node.inputs.begin(), node.inputs.end(),
                              [&](const Value* input) { return input->block == &from; });
    if (inside) return false;
    if (constant_tensor_of(node)) return true;
    if (!is_pure_leaf(node) || node.outputs.empty() || gives_handles(node)) return false;
    return surely_runs || cannot_fail(node);
  }

  Graph& graph_;
  bool moved_ = false;
};

}  // namespace

void hoist_invariants(Graph& graph, PassContext&) {
  LoopInvariants(graph).run();
  Hoister(graph).run();
}

}  // namespace graphwright::passes
