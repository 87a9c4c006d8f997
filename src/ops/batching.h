// Batching: a traced function applied to many values at once. Each node is rewritten so that it
// works on all iterations together, along a new first dimension of what differs between them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace graphwright {

// A value of the function: the same in every iteration, or one value per iteration along a first
// dimension of its own.
struct BatchedOperand {
  Operand operand;
  bool batched = false;
};

// Applies the graph's body by ops of the builder, whatever its tier. `inputs`: one for each
// argument and capture. `count`: the number of iterations, an int32 scalar. Results that are the
// same in every iteration are repeated. Unimplemented naming the op that has no batching rule, or
// whose rule needs to know more.
OperandVector apply_batched(Builder& builder, const Graph& graph,
                            std::span<const BatchedOperand> inputs, const Operand& count);

}  // namespace graphwright
