// Finds the dims of a plan's values: numbers where the graph says so, else sizes that a prologue
// can compute from the shapes of arguments. A loop variable keeps the size of its initial value if
// the body gives that size back.
#pragma once

#include "runtime/plan_tree.h"
#include "runtime/sizes.h"

namespace graphwright::runtime {

// Small numbers that the prologue computes: no more elements than this.
inline constexpr int64_t kPrologueElements = 64;

class SizeAnalysis {
 public:
  // With `computed` false, sizes are numbers or unknown: what remains to be done where a prologue
  // has failed.
  SizeAnalysis(PlanTree& tree, bool computed) : tree_(tree), computed_(computed) {}

  // Sets dims, density and prologue values of every value of the tree.
  void run();
  // What the needed part of the tree needs, once it is known.
  Prologue prologue();

 private:
  using Key = std::vector<int64_t>;

  void start_argument(ValueId id);
  void visit(TreeBlock& block);
  void visit_op(TreeNode& node);
  void visit_branches(TreeNode& node);
  void visit_loop(TreeNode& node);
  void finish(TreeValue& value);

  void set_known_dims(ValueId id);
  void set_formula_dims(TreeNode& node);
  void set_rule_dims(TreeNode& node);
  bool make_value(TreeNode& node);
  bool has_unknown_dims(const TreeValue& value) const;

  Size broadcast(Size a, Size b, TreeNode& node);
  Size symbol_size(const TreeNode& node, ValueId id, size_t dim, Dim symbol) const;
  std::vector<StepInput> step_inputs(const TreeNode& node) const;
  Key key_of(SizeStep::Kind kind, const TreeNode& node) const;
  size_t new_size(int64_t sample, size_t step);

  PlanTree& tree_;
  const bool computed_;
  std::vector<SizeStep> steps_;
  std::vector<size_t> step_of_size_, step_of_value_;
  std::map<Key, size_t> known_steps_;
  std::map<Key, bool> failed_;  // rules that cannot tell, nodes that do not run in a prologue
  SizeState sample_;            // sizes and values as they would be for arguments of one size
};

}  // namespace graphwright::runtime
