// Forward mode: tangents follow values as they are made.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "autodiff/gradient_map.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/observer.h"

namespace graphwright {

// Tangents by operand_key. Values that are not in it have none (zero).
using TangentMap = std::unordered_map<const void*, Operand>;

// Tangents of what the nodes of one graph make, by nodes put behind each. Loops, branches and calls
// are extended to hand out tangents themselves. A node that a gradient makes hand out more values
// later is extended again, by what these need, when the tangent of one of them is asked for.
class ForwardPass {
 public:
  void set(const Operand& primal, Operand tangent);
  // Another handle of the same value: it has the same tangent.
  void alias(const Operand& primal, const Operand& other);
  // Null if there is none.
  Operand tangent(const Operand& primal);
  // Whether it has one, of what has been looked at.
  bool has_tangent(const Operand& primal) const { return tangents_.contains(operand_key(primal)); }
  // The values that have tangents so far.
  size_t size() const { return tangents_.size(); }

  // The outputs of an eager op, or of a node of `builder`'s block that nothing has been put behind
  // yet. KeyError naming an op without a rule.
  void step(Builder& builder, const OpDef& op, const Attributes& attributes,
            std::span<const Operand> inputs, std::span<const Operand> outputs, Node* node);
  // What this pass makes is none of another's business that is inside it: that one leaves it alone.
  void stay_inside(const ForwardPass& outer);

  // The nodes of a block, those that have been looked at already left out. `builder` builds into
  // it.
  void block(GraphBuilder& builder, Block& block);

 private:
  bool extend(GraphBuilder& builder, Node& node);
  void extend_loop(GraphBuilder& builder, Node& node, size_t handled);
  void extend_branches(Node& node, size_t handled);
  void extend_call(GraphBuilder& builder, Node& node, size_t handled);
  void apply_rule(Builder& builder, const OpDef& op, const Attributes& attributes,
                  std::span<const Operand> inputs, std::span<const Operand> outputs);
  Value* zeros_before(GraphBuilder& builder, Node& node, Value* like);
  Value* refined(GraphBuilder& builder, const Operand& tangent, const Value* primal);
  Operand zeros_behind(GraphBuilder& builder, Value* like);
  void made(const Node* node);
  bool is_foreign(const void* node_or_value) const;

  TangentMap tangents_;
  // Control nodes that hand out tangents, and how many outputs they had then.
  std::unordered_map<const Node*, size_t> handled_;
  std::unordered_set<const Node*> seen_;  // nodes with tangents, and nodes made for tangents
  // Nodes, and values that control nodes carry or hand out, made for tangents: by this pass, and by
  // those around it.
  using MadeSet = std::unordered_set<const void*>;
  std::shared_ptr<MadeSet> made_ = std::make_shared<MadeSet>();
  std::vector<std::shared_ptr<const MadeSet>> made_outside_;
};

// tf.autodiff.ForwardAccumulator: the tangents of what is computed from `primals` while it records.
class ForwardAccumulator final : public OpObserver {
 public:
  // ValueError for a primal whose dtype has no derivative, or whose tangent has another shape or
  // dtype.
  ForwardAccumulator(std::span<const Operand> primals, std::span<const Operand> tangents);
  ~ForwardAccumulator() override;
  void start();
  void stop();
  // The tangent of a value; null if it does not depend on the primals. Unimplemented inside the
  // body of a loop that the accumulator is around: tangents of loop variables are not known yet.
  Operand tangent(const Operand& primal);

  void on_op(const OpDef& op, const Attributes& attributes, std::span<const Operand> inputs,
             std::span<const Operand> outputs, Node* node) override;
  std::vector<Operand> call_tangents(std::span<const Operand> inputs) override;
  void on_call_tangents(std::span<const Operand> outputs,
                        std::span<const Operand> tangents) override;
  bool watches(const Operand& value) const override { return pass_.has_tangent(value); }
  bool wants_call(std::span<const Operand>) override { return false; }
  void on_call(const std::shared_ptr<Callee>&, std::span<const Operand>, std::span<const Operand>,
               std::span<const Operand>) override {}
  void on_variable(const std::shared_ptr<VariableResource>&, bool) override {}

 private:
  bool is_in_inner_loop(const Block* block) const;

  ForwardPass pass_;
  OperandVector alive_;          // values with tangents: while they live, their keys are theirs
  const Block* home_ = nullptr;  // where it was started, if in a graph
  bool recording_ = false;
  bool working_ = false;  // its own ops have no tangents
};

}  // namespace graphwright
