// Reverse mode over recorded steps: each is an op, or a whole call, with the values it took and
// made. The same engine serves the eager tape, tapes inside functions, and derivatives of graphs.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "autodiff/gradient_map.h"
#include "ir/attribute.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"

namespace graphwright {

struct ReverseStep {
  const OpDef* op = nullptr;  // null for a whole call that ran eagerly
  Attributes attributes;
  OperandVector inputs;
  OperandVector outputs;
  Node* node = nullptr;            // of a step in a graph
  std::shared_ptr<Callee> callee;  // of a whole call: its forward half has run
  OperandVector saved;             // what the call kept for its backward half
  // A gradient that the program defines itself (tf.custom_gradient): given the gradients of the
  // outputs, returns one per input, null for none.
  std::shared_ptr<std::function<std::vector<Gradient>(std::span<const Gradient>)>> custom;
};

// Gradients of the step's active inputs, added to the map. Nothing happens unless an output has
// one. LookupError-like Unimplemented if the op has no gradient, naming it and why.
void reverse_step(Builder& builder, ReverseStep& step, const ActiveSet& active,
                  GradientMap& gradients);

// The nodes of a block from last to first. `builder` makes the gradient's nodes; where it works in
// another block than the nodes', its import() must know how to reach their values.
void reverse_block(GraphBuilder& builder, const Block& block, const ActiveSet& active,
                   GradientMap& gradients);

// Extends `active` by the values of the block, and the blocks inside it, that depend on active
// ones.
void mark_active(const Block& block, ActiveSet& active);
// Extends `reached` by the values that those of the block's values that are in it depend on, values
// from outside included: those that a gradient of the former can reach.
void mark_reached(const Block& block, ActiveSet& reached);

// The gradients of a callee's inputs, one per argument of the derivative, from what its backward
// half returned.
std::vector<Gradient> gradients_of_call(const CalleeDerivative& derivative,
                                        const OperandVector& results);

// A gradient or tangent, known to have the shape of its value where rules do not tell: what loops
// carry and branches return must keep what is known of its shape.
Operand with_known_shape(GraphBuilder& builder, const Operand& gradient, const PartialShape& shape);

bool is_loop(const OpDef& op);
bool is_branch(const OpDef& op);
bool is_call(const OpDef& op);

// Values from outside `outermost` that the block, or a block inside it, uses: each use is visited.
void visit_free_values(const Block& block, const Block& outermost, FunctionRef<void(Value*)> visit);

// Control nodes (control_reverse.cpp).
void reverse_while(GraphBuilder& builder, Node& node, const ActiveSet& active,
                   GradientMap& gradients);
void reverse_if(GraphBuilder& builder, Node& node, const ActiveSet& active, GradientMap& gradients);
void reverse_call(GraphBuilder& builder, Node& node, const ActiveSet& active,
                  GradientMap& gradients);

}  // namespace graphwright
