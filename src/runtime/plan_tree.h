// The first step of lowering: a graph as a tree of nodes over numbered values, with calls inlined,
// identities looked through, and loop variables made one storage location each. What nobody needs
// is marked; every value knows its uses, so that the later steps can ask what is the last one.
//
// Positions number everything in program order (a loop's condition before its body; an `if`'s
// branches one after the other), so that "inside" and "later" are comparisons of numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "runtime/sizes.h"
#include "tensor/tensor.h"

namespace graphwright::runtime {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

struct TreeBlock;

enum class NodeKind : uint8_t { kOp, kIf, kCase, kWhile, kCall };

struct TreeNode {
  NodeKind kind = NodeKind::kOp;
  const Node* node = nullptr;
  bool has_effect = false;
  bool needed = false;
  bool is_row_slice = false;  // see row_slices.h
  int32_t scope = 0;          // which inlined graph it comes from: symbols mean nothing elsewhere
  int32_t rule_step = -1;     // of the prologue: checks the shapes of its inputs
  std::vector<std::pair<Size, Size>> checks;  // sizes that must be equal
  int32_t position = 0;                       // when it reads its inputs
  int32_t end_position = 0;  // after its blocks; equal to `position` without blocks
  TreeBlock* block = nullptr;
  // While: [maximum_iterations, carried...]; outputs are the loop variables, counter first, which
  // are also the arguments of both blocks.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<std::unique_ptr<TreeBlock>> blocks;
};

struct TreeBlock {
  TreeNode* owner = nullptr;  // null at the top
  int32_t begin = 0, end = 0;
  std::vector<std::unique_ptr<TreeNode>> nodes;
  std::vector<ValueId> results;
  TreeBlock* parent() const { return owner ? owner->block : nullptr; }
};

struct Use {
  TreeNode* node;    // null: a result of `block`
  TreeBlock* block;  // where the use stands
  int32_t position;
  int32_t index;  // among the node's inputs or the block's results
};

struct TreeValue {
  DType dtype = DType::kInvalid;
  const ValueType* type = nullptr;  // in its graph
  bool dense = false;     // numbers of a shape that is known when a run starts, at the latest
  bool symbolic = false;  // dense, and the prologue computes some of the dims
  bool needed = false;
  bool has_rank = false;
  std::vector<Size> dims;          // if dense
  int64_t element_count = -1;      // if dense and not symbolic
  int64_t bytes = -1;              // if dense and not symbolic
  int32_t prologue_value = -1;     // the prologue computes it
  Tensor constant;                 // null unless it is a constant
  int32_t argument = -1;           // of the whole graph
  TreeNode* definition = nullptr;  // null for arguments and constants
  TreeBlock* block = nullptr;      // the block of its definition
  std::vector<Use> uses;           // of needed nodes and results, in order of position
  bool is_loop_variable = false;   // of `definition`, a While
  bool is_external() const { return constant || argument >= 0 || prologue_value >= 0; }
};

class PlanTree {
 public:
  // Throws Error(kInternal) for IR that makes no sense, Unimplemented for endless inlining.
  // With `sized` false, only what the graph itself says of shapes counts, and there is no prologue.
  PlanTree(const Graph& graph, bool sized);

  TreeBlock& root() { return *root_; }
  const TreeBlock& root() const { return *root_; }
  std::vector<TreeValue>& values() { return values_; }
  TreeValue& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const TreeValue& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  const std::vector<ValueId>& arguments() const { return arguments_; }
  Prologue& prologue() { return prologue_; }
  // The value, and the dim of it, that had the symbol first.
  std::optional<std::pair<ValueId, size_t>> symbol_source(int32_t scope, Dim symbol) const {
    auto found = symbol_sources_.find({scope, symbol});
    if (found == symbol_sources_.end()) return std::nullopt;
    return found->second;
  }
  // Graphs of inlined calls, which the nodes point into.
  std::vector<std::shared_ptr<const Callee>>& callees() { return callees_; }

  // Whether `later` may run after `earlier` with the same definition of the value in sight:
  // it stands later, and not in another branch of the same `if`.
  static bool may_follow(const TreeBlock* earlier_block, int32_t earlier, const Use& later);
  // Whether no use of the value can come after this one while the value stays as it is.
  bool is_last_use(ValueId id, const Use& use) const;
  // The position up to which the value's storage must stay: its last use, or the end of the
  // outermost loop around a use that does not contain the definition.
  int32_t end_of_life(ValueId id) const;
  int32_t start_of_life(ValueId id) const;

 private:
  class Builder;
  void detach_prologue_values();
  void mark_needed();
  bool mark_block(TreeBlock& block);
  bool mark(ValueId id);
  void number(TreeBlock& block);
  void collect_uses(TreeBlock& block);
  void add_use(ValueId id, TreeNode* node, TreeBlock* block, int32_t position, size_t index);

  std::unique_ptr<TreeBlock> root_;
  std::vector<TreeValue> values_;
  std::vector<ValueId> arguments_;
  std::vector<std::shared_ptr<const Callee>> callees_;
  std::map<std::pair<int32_t, Dim>, std::pair<ValueId, size_t>> symbol_sources_;
  Prologue prologue_;
  int32_t next_position_ = 0;
};

// The node has effects, or holds or calls something that has.
bool has_effects(const Node& node);

}  // namespace graphwright::runtime
