// Gradients of loops, branches and calls inside graphs.
//
// The gradient of a loop is a loop that counts the iterations down. It carries a gradient for each
// carried value and a sum for each value from outside that the body uses; what it needs of
// iteration i it reads from lists that the forward loop fills. The gradient of a branch is a branch
// on the same condition. The gradient of a call is a call of the callee's backward half, once the
// forward call has been made to return what that needs.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "autodiff/region_builder.h"
#include "autodiff/reverse.h"
#include "base/status.h"
#include "ir/observer.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "ir/type_inference.h"

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

// Active values from outside the node's blocks that they use and a gradient reaches, each once.
std::vector<Value*> active_free_values(const Node& node, const ActiveSet& active,
                                       const ActiveSet& reached) {
  std::vector<Value*> values;
  for (const auto& block : node.blocks) {
    visit_free_values(*block, *block, [&](Value* value) {
      if (!active.contains(operand_key(value)) || !can_have_gradient(value->type)) return;
      if (!reached.contains(operand_key(value))) return;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    });
  }
  return values;
}

bool is_list(const Value* value) { return value->dtype() == DType::kVariant; }

// The sum of a list's gradients so far, which a loop or branch then goes on with, so that lists are
// changed in place and not added up; null for other values.
const Gradient* total_of_list(const GradientMap& gradients, Value* value) {
  return is_list(value) ? gradients.find(value) : nullptr;
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

Operand with_known_shape(GraphBuilder& builder, const Operand& gradient,
                         const PartialShape& shape) {
  ValueType type = type_of(gradient);
  if (type.handle || shape.is_supertype_of(type.shape.without_symbols())) return gradient;
  if (!shape.is_compatible_with(type.shape)) return gradient;
  type.shape = type.shape.merged_with(shape);
  // Another value, since the shape may hold in one branch only. Observers hear of it, its type
  // known: other derivatives go through it.
  Node* identity = builder.add(get_op("Identity"), {builder.import(gradient)}, {}, {type});
  if (thread_state.bits & ThreadState::kObserving) {
    std::vector<OpObserver*> observers = thread_state.observers;
    OperandVector inputs{gradient}, outputs{Operand(identity->outputs[0])};
    for (OpObserver* observer : observers) {
      observer->on_op(*identity->op, identity->attributes, inputs, outputs, identity);
    }
  }
  return identity->outputs[0];
}

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
          inside.contains(operand_key(body.results[i]))) {
        inside.insert(body.arguments[i + 1]);
      }
    }
    mark_active(body, inside);
    changed = inside.size() != before;
  }
  // Of these, the values that a gradient of an output reaches, in whatever iteration.
  ActiveSet reached;
  auto has_gradient = [&](size_t i) { return gradients.find(node.outputs[i + 1]) != nullptr; };
  changed = true;
  while (changed) {
    size_t before = reached.size();
    for (size_t i = 0; i < carried_count; ++i) {
      if (has_gradient(i) || reached.contains(body.arguments[i + 1])) {
        reached.insert(operand_key(body.results[i]));
      }
    }
    mark_reached(body, reached);
    changed = reached.size() != before;
  }
  std::vector<size_t> differentiated;
  for (size_t i = 0; i < carried_count; ++i) {
    const Value* argument = body.arguments[i + 1];
    if (inside.contains(argument) && (has_gradient(i) || reached.contains(argument))) {
      differentiated.push_back(i);
    }
  }
  std::vector<Value*> outside = active_free_values(node, inside, reached);

  OperandVector initial;
  WhileOptions options;
  options.name = "gradients/while";
  for (size_t i : differentiated) {
    PartialShape shape = body.arguments[i + 1]->shape().without_symbols();
    Operand gradient = gradient_or_zero(builder, gradients, node.outputs[i + 1]);
    initial.push_back(with_known_shape(builder, gradient, shape));
    options.shape_invariants.push_back(std::move(shape));
  }
  for (Value* value : outside) {
    const Gradient* so_far = total_of_list(gradients, value);
    initial.push_back(so_far ? so_far->values : zero_gradient(builder, value));
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
    // Sums of lists start with those of the iterations so far, and are then changed in place.
    auto sum_of = [&](size_t k) { return arguments[differentiated.size() + k + 1]; };
    for (size_t k = 0; k < outside.size(); ++k) {
      if (is_list(outside[k])) local.add(region, outside[k], {sum_of(k), {}, {}});
    }
    reverse_block(region, body, inside, local);
    OperandVector results;
    for (size_t k = 0; k < differentiated.size(); ++k) {
      Operand gradient = gradient_or_zero(region, local, body.arguments[differentiated[k] + 1]);
      results.push_back(with_known_shape(region, gradient, options.shape_invariants[k]));
    }
    for (size_t k = 0; k < outside.size(); ++k) {
      Operand sum = sum_of(k);
      if (const Gradient* gradient = local.find(outside[k]); gradient && is_list(outside[k])) {
        sum = gradient->values;
      } else if (gradient) {
        sum = add_gradients(region, {sum, {}, {}}, *gradient).values;
      }
      const PartialShape& shape = options.shape_invariants[differentiated.size() + k];
      results.push_back(with_known_shape(region, sum, shape));
    }
    return results;
  };
  OperandVector results = region.while_loop(options, initial, condition, step);
  // Sums first: what a list's gradient was before the loop is in them.
  for (size_t k = 0; k < outside.size(); ++k) {
    if (total_of_list(gradients, outside[k])) gradients.erase(outside[k]);
    gradients.add(builder, outside[k], {results[differentiated.size() + k + 1], {}, {}});
  }
  for (size_t k = 0; k < differentiated.size(); ++k) {
    Value* input = node.inputs[differentiated[k] + 1];
    if (active.contains(operand_key(input)))
      gradients.add(builder, input, {results[k + 1], {}, {}});
  }
}

namespace {

// Results of a branch's gradient: for each value from outside a tensor, or three parts of slices.
// The branches must agree.
struct BranchGradients {
  std::vector<Value*> outside;
  std::vector<bool> is_sparse;
  std::vector<std::array<DType, 2>> index_types;  // of indices and dense shapes
  bool decided = false;
};
struct BranchesDisagree {};

// Slices without rows.
Gradient no_slices(Builder& builder, const Operand& dense) {
  Operand empty = builder.int32_vector(std::array<int64_t, 1>{0});
  Operand zero = builder.scalar(0, DType::kInt32);
  return {builder.op("GatherV2", {dense, empty, zero}), empty, builder.op("Shape", {dense})};
}

OperandVector branch_results(Builder& builder, const GradientMap& local, BranchGradients& gradients,
                             bool allow_sparse) {
  OperandVector results;
  for (size_t k = 0; k < gradients.outside.size(); ++k) {
    Operand value(gradients.outside[k]);
    const Gradient* gradient = local.find(value);
    bool sparse = allow_sparse && gradient && gradient->is_indexed_slices();
    if (!gradients.decided) {
      gradients.is_sparse.push_back(sparse);
      gradients.index_types.push_back({});
      if (sparse) {
        gradients.index_types.back() = {dtype_of(gradient->indices),
                                        dtype_of(gradient->dense_shape)};
      }
    }
    if (!gradients.is_sparse[k]) {
      if (sparse && gradients.decided) throw BranchesDisagree();
      results.push_back(gradient_or_zero(builder, local, value));
      continue;
    }
    if (gradient && !sparse) throw BranchesDisagree();
    Gradient slices = gradient ? *gradient : no_slices(builder, zero_gradient(builder, value));
    auto as_type = [&](const Operand& operand, DType dtype) {
      if (dtype_of(operand) == dtype) return operand;
      return builder.op("Cast", {operand}, named_attributes(get_op("Cast"), {{"DstT", dtype}}));
    };
    results.push_back(slices.values);
    results.push_back(as_type(slices.indices, gradients.index_types[k][0]));
    results.push_back(as_type(slices.dense_shape, gradients.index_types[k][1]));
  }
  gradients.decided = true;
  return results;
}

OperandVector reverse_branches(RegionBuilder& region, Node& node, const ActiveSet& inside,
                               const std::vector<std::pair<size_t, Operand>>& given,
                               const GradientMap& so_far, BranchGradients& gradients,
                               bool allow_sparse) {
  auto branch = [&](size_t index) {
    const Block& block = *node.blocks[index];
    region.enter_region(block, Operand());
    GradientMap local;
    for (const auto& [i, gradient] : given) local.add(region, block.results[i], {gradient, {}, {}});
    for (Value* value : gradients.outside) {
      if (const Gradient* total = total_of_list(so_far, value)) local.add(region, value, *total);
    }
    reverse_block(region, block, inside, local);
    return branch_results(region, local, gradients, allow_sparse);
  };
  size_t branch_count = node.blocks.size();
  if (node.inputs[0]->dtype() == DType::kBool) {
    auto then_branch = [&](std::span<const Operand>) { return branch(0); };
    auto else_branch = [&](std::span<const Operand>) { return branch(1); };
    return region.if_else(node.inputs[0], then_branch, else_branch, "gradients/cond");
  }
  // A case is a chain of branches; an index that names none takes the last.
  std::function<OperandVector(size_t)> chain = [&](size_t index) -> OperandVector {
    if (index + 1 == branch_count) return branch(index);
    Operand here = region.op(
        "Equal", {node.inputs[0], region.scalar(static_cast<double>(index), DType::kInt32)});
    auto then_branch = [&](std::span<const Operand>) { return branch(index); };
    auto else_branch = [&](std::span<const Operand>) { return chain(index + 1); };
    return region.if_else(here, then_branch, else_branch, "gradients/case");
  };
  return chain(0);
}

}  // namespace

void reverse_if(GraphBuilder& builder, Node& node, const ActiveSet& active,
                GradientMap& gradients) {
  ActiveSet inside = active;
  for (const auto& block : node.blocks) mark_active(*block, inside);
  size_t result_count = node.blocks[0]->results.size();  // before anything is saved
  std::vector<std::pair<size_t, Operand>> given;
  ActiveSet reached;
  for (size_t i = 0; i < result_count; ++i) {
    if (const Gradient* gradient = gradients.find(node.outputs[i])) {
      given.emplace_back(i, dense_gradient(builder, *gradient));
      for (const auto& block : node.blocks) reached.insert(operand_key(block->results[i]));
    }
  }
  for (const auto& block : node.blocks) mark_reached(*block, reached);
  std::vector<Value*> outside = active_free_values(node, inside, reached);
  if (given.empty() || outside.empty()) return;

  CurrentLocation location(builder, node.location);
  RegionBuilder region(builder, node);
  BranchGradients made{outside, {}, {}, false};
  OperandVector results;
  try {
    results = reverse_branches(region, node, inside, given, gradients, made, /*allow_sparse=*/true);
  } catch (const BranchesDisagree&) {
    // One branch uses rows of a value, another all of it: all gradients dense.
    made = {outside, {}, {}, false};
    results =
        reverse_branches(region, node, inside, given, gradients, made, /*allow_sparse=*/false);
  }
  size_t at = 0;
  for (size_t k = 0; k < outside.size(); ++k) {
    Gradient gradient{results[at++], {}, {}};
    if (made.is_sparse[k]) {
      gradient.indices = results[at++];
      gradient.dense_shape = results[at++];
    }
    if (total_of_list(gradients, outside[k])) gradients.erase(outside[k]);
    gradients.add(builder, outside[k], std::move(gradient));
  }
}

void reverse_call(GraphBuilder& builder, Node& node, const ActiveSet& active,
                  GradientMap& gradients) {
  size_t result_count = node.callee->callee_graph().body().results.size();
  std::vector<bool> reached;
  for (size_t i = 0; i < result_count; ++i) {
    reached.push_back(gradients.find(node.outputs[i]) != nullptr);
  }
  CalleeDerivative derivative = node.callee->callee_derivative(reached);
  Graph& graph = *node.block->graph;
  // From now on the call also returns what the backward half needs.
  const Graph& forward = derivative.forward->callee_graph();
  node.callee = derivative.forward;
  for (size_t i = result_count; i < forward.body().results.size(); ++i) {
    ValueType type = forward.body().results[i]->type;
    type.shape = type.shape.without_symbols();  // the callee's symbols mean nothing here
    name_unknown_dims(type.shape);
    graph.add_output(node, std::move(type));
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
  std::vector<Gradient> of_inputs = gradients_of_call(derivative, results);
  for (size_t i = 0; i < of_inputs.size(); ++i) {
    Value* input = node.inputs[static_cast<size_t>(derivative.argument_indices[i])];
    if (active.contains(operand_key(input))) gradients.add(builder, input, std::move(of_inputs[i]));
  }
}

}  // namespace graphwright
