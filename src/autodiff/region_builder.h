// The builder of gradients of nodes inside a loop body or a branch. The gradient's nodes go to
// another block than the forward nodes', after them in time; wherever they use a forward value, it
// is recalled: the forward loop or branch is made to hand it out, and what it handed out is read
// here.
#pragma once

#include <unordered_map>

#include "ir/graph_builder.h"

namespace graphwright {

class RegionBuilder final : public GraphBuilder {
 public:
  // Builds into the block where `outer` is now. `node` is the forward loop or branch.
  RegionBuilder(GraphBuilder& outer, Node& node);

  // From here on gradients are of this block of the node. `iteration`: for a loop, the number of
  // the iteration whose gradient is being made, an int32 scalar of the block being built.
  void enter_region(const Block& region, Operand iteration);

  Value* import(const Operand& operand) override;
  // What is asked of a forward list beside its elements is computed where the list is made, and
  // recalled: a list that was kept itself would be copied by the next write.
  void apply(const OpDef& op, std::span<const Operand> inputs, const Attributes& attributes,
             OperandVector& outputs, std::string_view name = {}) override;

 private:
  Value* recall(Value& value);
  Value* recall_from_loop(Value& value);
  Value* list_of_iterations(const Value& value) const;
  Value* push_in_loop(Value& value, const Tensor& element_shape);
  Value* recall_from_branch(Value& value);

  GraphBuilder& outer_;
  Node& node_;
  const Block* region_ = nullptr;
  Block* home_ = nullptr;  // the block being built when the region was entered
  Operand iteration_;
  std::unordered_map<const Value*, Value*> recalled_;
};

// Makes the loop carry one more value; `initial` must be visible where the loop is. The result of
// the body is the argument itself until it is replaced.
struct CarriedValue {
  size_t position;  // among the body's results
  Value* body_argument;
  Value* output;
};
CarriedValue add_carried_value(Node& loop, Value* initial);

}  // namespace graphwright
