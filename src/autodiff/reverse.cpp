#include "autodiff/reverse.h"

#include <utility>

#include <fmt/format.h>

#include "base/status.h"
#include "ir/opdef.h"

namespace graphwright {

bool is_call(const OpDef& op) {
  return op.name == "PartitionedCall" || op.name == "StatefulPartitionedCall";
}
bool is_loop(const OpDef& op) { return op.name == "While" || op.name == "StatelessWhile"; }
bool is_branch(const OpDef& op) {
  return op.name == "If" || op.name == "StatelessIf" || op.name == "Case" ||
         op.name == "StatelessCase";
}

std::vector<Gradient> gradients_of_call(const CalleeDerivative& derivative,
                                        const OperandVector& results) {
  std::vector<Gradient> gradients;
  size_t at = 0;
  for (size_t i = 0; i < derivative.argument_indices.size(); ++i) {
    Gradient gradient{results[at++], {}, {}};
    if (derivative.is_sparse[i]) {
      gradient.indices = results[at++];
      gradient.dense_shape = results[at++];
    }
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

namespace {

void reverse_by_rule(Builder& builder, ReverseStep& step, const ActiveSet& active,
                     std::span<const Gradient> output_gradients, GradientMap& gradients) {
  const OpDef& op = *step.op;
  if (op.has(kZeroDerivative)) return;
  if (!op.gradient) {
    throw Error(ErrorKind::kKeyError,
                fmt::format("No gradient defined for operation '{}': {}", op.name,
                            op.gradient.reason() ? op.gradient.reason() : "it has no rule"));
  }
  std::vector<bool> needed(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    needed[i] =
        active.contains(operand_key(step.inputs[i])) && can_have_gradient(type_of(step.inputs[i]));
  }
  std::vector<Gradient> input_gradients(step.inputs.size());
  GradientContext context(builder, op, step.attributes, step.inputs, step.outputs, output_gradients,
                          needed, input_gradients);
  // Only rules of lists look at sums so far, of inputs that are one list each.
  std::vector<const Gradient*> totals;
  if (!step.inputs.empty() && dtype_of(step.inputs[0]) == DType::kVariant) {
    for (const Operand& input : step.inputs) totals.push_back(gradients.find(input));
    context.give_totals(totals);
  }
  op.gradient.function()(context);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (needed[i] && context.is_total(static_cast<int>(i))) gradients.erase(step.inputs[i]);
    if (needed[i]) gradients.add(builder, step.inputs[i], std::move(input_gradients[i]));
  }
}

void reverse_eager_call(Builder& builder, ReverseStep& step, const ActiveSet& active,
                        std::span<const Gradient> output_gradients, GradientMap& gradients) {
  CalleeDerivative derivative = step.callee->callee_derivative({});
  OperandVector arguments;
  for (int result : derivative.result_indices) {
    const Gradient& gradient = output_gradients[static_cast<size_t>(result)];
    arguments.push_back(gradient ? dense_gradient(builder, gradient)
                                 : zeros_like(builder, step.outputs[static_cast<size_t>(result)]));
  }
  arguments.insert(arguments.end(), step.saved.begin(), step.saved.end());
  OperandVector results;
  derivative.backward->call_with(builder, arguments, results);
  std::vector<Gradient> of_inputs = gradients_of_call(derivative, results);
  for (size_t i = 0; i < of_inputs.size(); ++i) {
    const Operand& input = step.inputs[static_cast<size_t>(derivative.argument_indices[i])];
    if (active.contains(operand_key(input))) gradients.add(builder, input, std::move(of_inputs[i]));
  }
}

}  // namespace

void visit_free_values(const Block& block, const Block& outermost,
                       FunctionRef<void(Value*)> visit) {
  auto is_outside = [&](const Value* value) {
    for (const Block* at = value->block; at; at = at->parent()) {
      if (at == &outermost) return false;
    }
    return true;
  };
  for (const Node* node : block.nodes) {
    for (Value* input : node->inputs) {
      if (is_outside(input)) visit(input);
    }
    for (const auto& inner : node->blocks) visit_free_values(*inner, outermost, visit);
  }
  for (Value* result : block.results) {
    if (is_outside(result)) visit(result);
  }
}

void reverse_step(Builder& builder, ReverseStep& step, const ActiveSet& active,
                  GradientMap& gradients) {
  std::vector<Gradient> output_gradients(step.outputs.size());
  bool any = false;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (const Gradient* gradient = gradients.find(step.outputs[i])) {
      output_gradients[i] = *gradient;
      any = true;
    }
  }
  if (!any) return;
  if (step.custom) {
    std::vector<Gradient> inputs = (*step.custom)(output_gradients);
    for (size_t i = 0; i < step.inputs.size() && i < inputs.size(); ++i) {
      gradients.add(builder, step.inputs[i], std::move(inputs[i]));
    }
    return;
  }
  if (step.callee && !step.node) {
    return reverse_eager_call(builder, step, active, output_gradients, gradients);
  }
  if (step.op->compute.kind == ComputeKind::kControl && step.node) {
    auto& graph_builder = static_cast<GraphBuilder&>(builder);
    if (is_loop(*step.op)) return reverse_while(graph_builder, *step.node, active, gradients);
    if (is_branch(*step.op)) return reverse_if(graph_builder, *step.node, active, gradients);
    if (is_call(*step.op)) return reverse_call(graph_builder, *step.node, active, gradients);
  }
  reverse_by_rule(builder, step, active, output_gradients, gradients);
}

void reverse_block(GraphBuilder& builder, const Block& block, const ActiveSet& active,
                   GradientMap& gradients) {
  // Gradients of a node inside the block may add nodes to it, to save more of it: those need no
  // gradient.
  const std::vector<Node*> nodes = block.nodes;
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* node = nodes[i];
    bool depends = false;
    for (Value* output : node->outputs) depends |= active.contains(operand_key(output));
    if (!depends) continue;
    ReverseStep step;
    step.op = node->op;
    step.attributes = node->attributes;
    step.inputs.assign(node->inputs.begin(), node->inputs.end());
    step.outputs.assign(node->outputs.begin(), node->outputs.end());
    step.node = node;
    Location location = node->location;
    builder.set_location(location);
    reverse_step(builder, step, active, gradients);
    builder.set_location(kNoLocation);
  }
}

void mark_active(const Block& block, ActiveSet& active) {
  for (const Node* node : block.nodes) {
    if (is_loop(*node->op)) {
      const Block& body = *node->blocks[1];
      // Carried values become active through each other: until nothing changes.
      bool changed = true;
      while (changed) {
        changed = false;
        for (size_t i = 1; i < node->inputs.size(); ++i) {
          bool is_active =
              active.contains(operand_key(node->inputs[i])) || active.contains(body.results[i - 1]);
          if (is_active && can_have_gradient(node->inputs[i]->type)) {
            changed |= active.insert(body.arguments[i]).second;
            active.insert(node->outputs[i]);
          }
        }
        size_t before = active.size();
        mark_active(body, active);
        changed |= active.size() != before;
      }
      continue;
    }
    if (is_branch(*node->op)) {
      for (const auto& branch : node->blocks) {
        mark_active(*branch, active);
        for (size_t i = 0; i < branch->results.size(); ++i) {
          if (active.contains(operand_key(branch->results[i]))) active.insert(node->outputs[i]);
        }
      }
      continue;
    }
    if (node->op->has(kZeroDerivative)) continue;
    bool depends = false;
    for (const Value* input : node->inputs) {
      depends |= active.contains(operand_key(const_cast<Value*>(input)));
    }
    if (!depends) continue;
    for (Value* output : node->outputs) {
      if (can_have_gradient(output->type)) active.insert(output);
    }
  }
}

void mark_reached(const Block& block, ActiveSet& reached) {
  auto is_reached = [&](const Value* value) {
    return reached.contains(operand_key(const_cast<Value*>(value)));
  };
  auto add = [&](const Value* value) {
    return reached.insert(operand_key(const_cast<Value*>(value))).second;
  };
  for (size_t n = block.nodes.size(); n-- > 0;) {
    const Node& node = *block.nodes[n];
    if (is_loop(*node.op)) {
      const Block& body = *node.blocks[1];
      bool changed = true;
      while (changed) {
        changed = false;
        for (size_t i = 0; i < body.results.size(); ++i) {
          if (!is_reached(node.outputs[i + 1]) && !is_reached(body.arguments[i + 1])) continue;
          add(node.inputs[i + 1]);
          changed |= add(body.results[i]);
        }
        size_t before = reached.size();
        mark_reached(body, reached);
        changed |= reached.size() != before;
      }
      continue;
    }
    bool any = false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!is_reached(node.outputs[i])) continue;
      any = true;
      if (!is_branch(*node.op)) break;
      for (const auto& branch : node.blocks) add(branch->results[i]);
    }
    if (!any) continue;
    if (is_branch(*node.op)) {
      for (const auto& branch : node.blocks) mark_reached(*branch, reached);
    } else if (!node.op->has(kZeroDerivative)) {
      for (const Value* input : node.inputs) add(input);
    }
  }
}

}  // namespace graphwright
