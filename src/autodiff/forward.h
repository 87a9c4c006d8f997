// Forward mode: tangents follow values as they are made.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "autodiff/gradient_map.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/observer.h"

namespace graphwright {

// Tangents by operand_key. Values that are not in it have none (zero).
using TangentMap = std::unordered_map<const void*, Operand>;

// The tangents of the outputs of a block's nodes, by nodes put behind each. `builder` builds into
// the block. Loops, branches and calls are extended to hand out tangents themselves.
void forward_block(GraphBuilder& builder, Block& block, TangentMap& tangents);

// tf.autodiff.ForwardAccumulator: the tangents of what is computed from `primals` while it records.
class ForwardAccumulator final : public OpObserver {
 public:
  // ValueError for a primal whose dtype has no derivative, or whose tangent has another shape or
  // dtype.
  ForwardAccumulator(std::span<const Operand> primals, std::span<const Operand> tangents);
  ~ForwardAccumulator() override;
  void start();
  void stop();
  // The tangent of a value; null if it does not depend on the primals.
  Operand tangent(const Operand& primal) const;

  void on_op(const OpDef& op, const Attributes& attributes, std::span<const Operand> inputs,
             std::span<const Operand> outputs, Node* node) override;
  std::vector<Operand> call_tangents(std::span<const Operand> inputs) override;
  void on_call_tangents(std::span<const Operand> outputs,
                        std::span<const Operand> tangents) override;
  bool wants_call(std::span<const Operand>) override { return false; }
  void on_call(const std::shared_ptr<Callee>&, std::span<const Operand>, std::span<const Operand>,
               std::span<const Operand>) override {}
  void on_variable(const std::shared_ptr<VariableResource>&, bool) override {}

 private:
  void set_tangent(const Operand& primal, Operand tangent);
  TangentMap tangents_;
  // Nodes that hand out tangents, and how many outputs they had then.
  std::unordered_map<const Node*, size_t> extended_;
  OperandVector alive_;  // values with tangents: while they live, their keys are theirs
  bool recording_ = false;
  bool working_ = false;  // its own ops have no tangents
};

}  // namespace graphwright
