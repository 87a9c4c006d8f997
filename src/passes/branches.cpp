// Removes branches that are never taken and loops that never run. The nodes that do run take the
// place of the control node.
#include <algorithm>

#include "ir/opdef.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

class DeadBranches final : public Rewriter {
 public:
  explicit DeadBranches(Graph& graph) : Rewriter(graph) {}

 private:
  bool visit(Node& node) override {
    if (node.blocks.empty()) return true;
    if (node.op->name.ends_with("While")) return !remove_loop(node);
    size_t taken = taken_branch(node);
    if (taken < node.blocks.size()) return !take(node, *node.blocks[taken]);
    pass_equal_results(node);
    return true;
  }

  // Inside a branch the condition is known, and so it is for conditionals in it.
  void enter_block(Block& block) override {
    if (block.owner && block.owner->op->name.ends_with("If")) {
      known_.emplace_back(block.owner->inputs[0], block.owner->blocks[0].get() == &block);
    }
  }
  void leave_block(Block& block) override {
    if (block.owner && block.owner->op->name.ends_with("If")) known_.pop_back();
  }

  // The number of blocks if it is not known.
  size_t taken_branch(const Node& node) const {
    const size_t count = node.blocks.size();
    if (node.op->name.ends_with("If")) {
      bool condition;
      if (constant_bool(*node.inputs[0], &condition)) return condition ? 0 : 1;
      for (const auto& [value, truth] : known_) {
        if (value == node.inputs[0]) return truth ? 0 : 1;
      }
      return count;
    }
    int32_t index;
    if (!constant_int32(*node.inputs[0], &index)) return count;
    return index < 0 || static_cast<size_t>(index) >= count ? count - 1
                                                            : static_cast<size_t>(index);
  }

  bool take(Node& node, Block& block) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!Replacements::can_replace(*node.outputs[i], *block.results[i])) return false;
    }
    splice_before(node, block);
    for (size_t i = 0; i < node.outputs.size(); ++i) replace(node.outputs[i], block.results[i]);
    return true;
  }

  // All branches give the same value from outside.
  void pass_equal_results(Node& node) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value* first = current(node.blocks[0]->results[i]);
      bool equal = std::all_of(node.blocks.begin(), node.blocks.end(), [&](const auto& block) {
        return current(block->results[i]) == first;
      });
      bool outside = std::none_of(node.blocks.begin(), node.blocks.end(),
                                  [&](const auto& block) { return first->block == block.get(); });
      if (equal && outside && first != node.outputs[i] &&
          Replacements::can_replace(*node.outputs[i], *first)) {
        replace(node.outputs[i], first);
      }
    }
  }

  // The condition runs once, whatever it says; a body that never runs is not needed.
  bool remove_loop(Node& node) {
    Block& condition = *node.blocks[0];
    bool again = true;
    int32_t limit;
    bool no_iterations = constant_int32(*node.inputs[0], &limit) && limit == 0;
    bool is_false = constant_bool(*current(condition.results[0]), &again) && !again;
    if (!no_iterations && !is_false) return false;
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (!Replacements::can_replace(*node.outputs[i], *node.inputs[i]) ||
          !Replacements::can_replace(*condition.arguments[i], *node.inputs[i])) {
        return false;
      }
    }
    Value* zero = make_constant_before(node, Tensor::int32_scalar(0));
    replace(condition.arguments[0], zero);
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      replace(condition.arguments[i], node.inputs[i]);
    }
    splice_before(node, condition);
    replace(node.outputs[0], zero);
    for (size_t i = 1; i < node.outputs.size(); ++i) replace(node.outputs[i], node.inputs[i]);
    return true;
  }

  std::vector<std::pair<const Value*, bool>> known_;
};

}  // namespace

void remove_dead_branches(Graph& graph, PassContext&) { DeadBranches(graph).run(); }

}  // namespace graphwright::passes
