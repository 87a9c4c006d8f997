// Gradients of loops, branches and calls inside graphs.
//
// The gradient of a loop is a loop that counts the iterations down. It carries a gradient for each
// carried value and a sum for each value from outside that the body uses; what it needs of
// iteration i it reads from lists that the forward loop fills. The gradient of a branch is a branch
// on the same condition. The gradient of a call is a call of the callee's backward half, once the
// forward call has been made to return what that needs.
#include <algorithm>

#include "autodiff/region_builder.h"
#include "autodiff/reverse.h"
#include "base/status.h"
#include "ir/opdef.h"

namespace graphwright {
namespace {

// Zeros for the gradient of a value; for a variable's handle, of the variable's value.
Operand zero_gradient(Builder& builder, const Operand& of) {
  ValueType type = type_of(of);
  if (type.dtype != DType::kResource) return zeros_like(builder, of);
  if (!type.handle || type.handle->kind != HandleType::Kind::kVariable) {
    throw_unimplemented("a gradient with respect to a resource that is no variable was asked for");
  }
  DType dtype = type.handle->dtype;
  const OpDef& read = get_op("ReadVariableOp");
  return zeros_like(builder,
                    builder.op("ReadVariableOp", {of}, named_attributes(read, {{"dtype", dtype}})));
}

Operand gradient_or_zero(Builder& builder, const GradientMap& gradients, const Operand& of) {
  const Gradient* gradient = gradients.find(of);
  return gradient ? dense_gradient(builder, *gradient) : zero_gradient(builder, of);
}

// Active values from outside the node's blocks that they use, each once.
std::vector<Value*> active_free_values(const Node& node, const ActiveSet& active) {
  std::vector<Value*> values;
  for (const auto& block : node.blocks) {
    visit_free_values(*block, *block, [&](Value* value) {
      if (!active.contains(operand_key(value)) || !can_have_gradient(value->type)) return;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    });
  }
  return values;
}

class CurrentLocation {
 public:
  CurrentLocation(GraphBuilder& builder, Location location) : builder_(builder) {
    builder.set_location(location);
  }
  ~CurrentLocation() { builder_.set_location(kNoLocation); }

 private:
  GraphBuilder& builder_;
};

}  // namespace

void reverse_while(GraphBuilder& builder, Node& node, const ActiveSet& active,
                   GradientMap& gradients) {
  const Block& body = *node.blocks[1];
  size_t carried_count = body.results.size();  // before anything is saved
  ActiveSet inside = active;
  bool changed = true;
  while (changed) {
    size_t before = inside.size();
    for (size_t i = 0; i < carried_count; ++i) {
      if (!can_have_gradient(node.inputs[i + 1]->type)) continue;
      if (inside.contains(operand_key(node.inputs[i + 1])) ||
          inside.contains(operand_key(body.results[i])) || gradients.find(node.outputs[i + 1])) {
        inside.insert(body.arguments[i + 1]);
      }
    }
    mark_active(body, inside);
    changed = inside.size() != before;
  }
  std::vector<size_t> differentiated;
  for (size_t i = 0; i < carried_count; ++i) {
    if (inside.contains(body.arguments[i + 1])) differentiated.push_back(i);
  }
  std::vector<Value*> outside = active_free_values(node, inside);

  OperandVector initial;
  WhileOptions options;
  options.name = "gradients/while";
  for (size_t i : differentiated) {
    initial.push_back(gradient_or_zero(builder, gradients, node.outputs[i + 1]));
    options.shape_invariants.push_back(body.arguments[i + 1]->shape().without_symbols());
  }
  for (Value* value : outside) {
    initial.push_back(zero_gradient(builder, value));
    options.shape_invariants.push_back(shape_of(initial.back()).without_symbols());
  }

  CurrentLocation location(builder, node.location);
  RegionBuilder region(builder, node);
  Operand trip_count = node.outputs[0];
  auto condition = [&](std::span<const Operand> arguments) -> OperandVector {
    return {region.op("Less", {arguments[0], trip_count})};
  };
  auto step = [&](std::span<const Operand> arguments) -> OperandVector {
    Operand last = region.op("Sub", {trip_count, region.scalar(1, DType::kInt32)});
    region.enter_region(body, region.op("Sub", {last, arguments[0]}));
    GradientMap local;
    for (size_t k = 0; k < differentiated.size(); ++k) {
      local.add(region, body.results[differentiated[k]], {arguments[k + 1], {}, {}});
    }
    reverse_block(region, body, inside, local);
    OperandVector results;
    for (size_t i : differentiated) {
      results.push_back(gradient_or_zero(region, local, body.arguments[i + 1]));
    }
    for (size_t k = 0; k < outside.size(); ++k) {
      Operand sum = arguments[differentiated.size() + k + 1];
      if (const Gradient* gradient = local.find(outside[k])) {
        sum = add_gradients(region, {sum, {}, {}}, *gradient).values;
      }
      results.push_back(sum);
    }
    return results;
  };
  OperandVector results = region.while_loop(options, initial, condition, step);
  for (size_t k = 0; k < differentiated.size(); ++k) {
    Value* input = node.inputs[differentiated[k] + 1];
    if (active.contains(operand_key(input)))
      gradients.add(builder, input, {results[k + 1], {}, {}});
  }
  for (size_t k = 0; k < outside.size(); ++k) {
    gradients.add(builder, outside[k], {results[differentiated.size() + k + 1], {}, {}});
  }
}

void reverse_if(GraphBuilder& builder, Node& node, const ActiveSet& active,
                GradientMap& gradients) {
  ActiveSet inside = active;
  for (const auto& block : node.blocks) mark_active(*block, inside);
  std::vector<Value*> outside = active_free_values(node, inside);
  size_t result_count = node.blocks[0]->results.size();  // before anything is saved
  std::vector<std::pair<size_t, Operand>> given;
  for (size_t i = 0; i < result_count; ++i) {
    if (const Gradient* gradient = gradients.find(node.outputs[i])) {
      given.emplace_back(i, dense_gradient(builder, *gradient));
    }
  }
  if (given.empty() || outside.empty()) return;

  CurrentLocation location(builder, node.location);
  RegionBuilder region(builder, node);
  auto branch = [&](size_t index) {
    const Block& block = *node.blocks[index];
    region.enter_region(block, Operand());
    GradientMap local;
    for (const auto& [i, gradient] : given) local.add(region, block.results[i], {gradient, {}, {}});
    reverse_block(region, block, inside, local);
    OperandVector results;
    for (Value* value : outside) results.push_back(gradient_or_zero(region, local, value));
    return results;
  };
  size_t branch_count = node.blocks.size();
  OperandVector results;
  if (node.inputs[0]->dtype() == DType::kBool) {
    auto then_branch = [&](std::span<const Operand>) { return branch(0); };
    auto else_branch = [&](std::span<const Operand>) { return branch(1); };
    results = region.if_else(node.inputs[0], then_branch, else_branch, "gradients/cond");
  } else {
    // A case is a chain of branches; an index that names none takes the last.
    std::function<OperandVector(size_t)> chain = [&](size_t index) -> OperandVector {
      if (index + 1 == branch_count) return branch(index);
      Operand here = region.op(
          "Equal", {node.inputs[0], region.scalar(static_cast<double>(index), DType::kInt32)});
      auto then_branch = [&](std::span<const Operand>) { return branch(index); };
      auto else_branch = [&](std::span<const Operand>) { return chain(index + 1); };
      return region.if_else(here, then_branch, else_branch, "gradients/case");
    };
    results = chain(0);
  }
  for (size_t k = 0; k < outside.size(); ++k) {
    gradients.add(builder, outside[k], {results[k], {}, {}});
  }
}

void reverse_call(GraphBuilder& builder, Node& node, const ActiveSet& active,
                  GradientMap& gradients) {
  CalleeDerivative derivative = node.callee->callee_derivative();
  Graph& graph = *node.block->graph;
  size_t result_count = node.callee->callee_graph().body().results.size();
  // From now on the call also returns what the backward half needs.
  const Graph& forward = derivative.forward->callee_graph();
  node.callee = derivative.forward;
  for (size_t i = result_count; i < forward.body().results.size(); ++i) {
    graph.add_output(node, forward.body().results[i]->type);
  }
  OperandVector arguments;
  for (int result : derivative.result_indices) {
    arguments.push_back(
        gradient_or_zero(builder, gradients, node.outputs[static_cast<size_t>(result)]));
  }
  for (size_t i = result_count; i < node.outputs.size(); ++i)
    arguments.emplace_back(node.outputs[i]);
  OperandVector results;
  derivative.backward->call_with(builder, arguments, results);
  for (size_t i = 0; i < results.size(); ++i) {
    Value* input = node.inputs[static_cast<size_t>(derivative.argument_indices[i])];
    if (active.contains(operand_key(input))) gradients.add(builder, input, {results[i], {}, {}});
  }
}

}  // namespace graphwright
