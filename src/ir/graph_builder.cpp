#include "ir/graph_builder.h"

#include <algorithm>
#include <atomic>

#include "base/status.h"
#include "ir/observer.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "ir/type_inference.h"

namespace graphwright {
namespace {

std::atomic<LocationSource> location_source{nullptr};

// Sets a variable while it lives.
template <class T>
class Restore {
 public:
  Restore(T& variable, T value) : variable_(variable), saved_(variable) {
    variable_ = std::move(value);
  }
  ~Restore() { variable_ = std::move(saved_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& variable_;
  T saved_;
};

std::string variable_name(const WhileOptions& options, size_t index) {
  if (index < options.variable_names.size() && !options.variable_names[index].empty()) {
    return "'" + options.variable_names[index] + "'";
  }
  return "loop variable #" + std::to_string(index);
}

// Shapes of loop variables hold over all iterations, so an unknown dimension is a new unknown in
// every block and after the loop: the symbol of the initial value need not hold later.
ValueType loop_type(const Value& initial, const WhileOptions& options, size_t index) {
  ValueType type = initial.type;
  if (!options.shape_invariants.empty()) type.shape = options.shape_invariants[index];
  type.shape = type.shape.without_symbols();
  name_unknown_dims(type.shape);
  return type;
}

void check_iteration(const WhileOptions& options, size_t index, const ValueType& before,
                     const ValueType& after) {
  std::string name = variable_name(options, index);
  if (before.dtype != after.dtype) {
    throw_type_error(name + " has dtype " + std::string(dtype_name(before.dtype)) +
                     " before the loop, but dtype " + std::string(dtype_name(after.dtype)) +
                     " after one iteration");
  }
  PartialShape wanted = before.shape.without_symbols();
  PartialShape given = after.shape.without_symbols();
  if (wanted.is_supertype_of(given)) return;
  if (options.shape_invariants.empty()) {
    throw_value_error(name + " has shape " + wanted.to_string() + " before the loop, but shape " +
                      given.to_string() +
                      " after one iteration. Use shape_invariants to allow its shape to vary "
                      "across iterations.");
  }
  throw_value_error(name + " has shape " + given.to_string() +
                    " after one iteration, which does not conform with the shape invariant " +
                    wanted.to_string() + ".");
}

// The branches' names in messages.
std::string branch_name(const Node& node, size_t index) {
  if (node.op->name != "If") return "branch " + std::to_string(index);
  return index == 0 ? "the main branch" : "the else branch";
}

// What holds of a result whichever branch is taken.
void widen_type(ValueType& type, const ValueType& other, const Node& node, size_t output,
                size_t branch) {
  auto fail = [&](const char* what, const std::string& first, const std::string& second) {
    throw_type_error("the branches of a conditional must return " + std::string(what) +
                     ", but output #" + std::to_string(output) + " is " + first + " in " +
                     branch_name(node, 0) + " and " + second + " in " + branch_name(node, branch));
  };
  if (type.dtype != other.dtype) {
    fail("values of the same dtype", std::string(dtype_name(type.dtype)),
         std::string(dtype_name(other.dtype)));
  }
  type.shape = type.shape.common_supertype(other.shape);
  if (!type.handle || !other.handle || *type.handle == *other.handle) return;
  HandleType both = *type.handle;
  if (both.kind != other.handle->kind || both.dtype != other.handle->dtype) {
    fail("handles of the same kind", type.to_string(), other.to_string());
  }
  both.shape = both.shape.common_supertype(other.handle->shape);
  type.handle = std::make_shared<HandleType>(std::move(both));
}

// What was appended since the graph had made so many nodes. Nodes that were put in front of older
// ones meanwhile, to save values or for tangents, stay: they are in use.
void drop_nodes_since(Block& block, size_t node_count) {
  while (!block.nodes.empty() && block.nodes.back()->id >= node_count) block.nodes.pop_back();
}

}  // namespace

void set_location_source(LocationSource source) { location_source.store(source); }

Location current_location() {
  LocationSource source = location_source.load(std::memory_order_relaxed);
  return source ? source() : kNoLocation;
}

GraphBuilder::GraphBuilder(Graph& graph) : GraphBuilder(graph, graph.body()) {}

GraphBuilder::GraphBuilder(Graph& graph, Block& block) : graph_(graph), block_(&block) {}

void GraphBuilder::enter_scope(std::string_view name) {
  scopes_.push_back(graph_.add_scope(scope(), name, *block_));
}

void GraphBuilder::enter_absolute_scope(std::string_view path) {
  scopes_.push_back(graph_.add_scope(scope(), path, *block_, /*absolute=*/true));
}

void GraphBuilder::leave_scope() {
  if (scopes_.size() == 1) throw_internal("left a name scope that was not entered");
  scopes_.pop_back();
}

void GraphBuilder::label(Node& node, std::string_view name) {
  node.scope = scope();
  if (name != kScopeName) {
    if (name.empty()) name = node.op->default_node_name;
    node.base_name = InternedString(name.empty() ? node.op->name : name);
  }
  node.location = location_ != kNoLocation ? location_ : current_location();
  node.device = device_;
  if (!control_scopes_.empty()) add_control_inputs(node);
}

void GraphBuilder::enter_control_scope(std::vector<Node*> nodes, bool clears) {
  control_scopes_.push_back({std::move(nodes), clears, {}});
}

void GraphBuilder::leave_control_scope() {
  if (control_scopes_.empty()) throw_internal("left a control scope that was not entered");
  control_scopes_.pop_back();
}

void GraphBuilder::add_control_inputs(Node& node) {
  size_t first = control_scopes_.size();
  bool cleared = false;
  while (first > 0 && !cleared) {
    --first;
    cleared = control_scopes_[first].clears;
  }
  for (size_t i = first; i < control_scopes_.size(); ++i) {
    ControlScope& scope = control_scopes_[i];
    auto waits = [&](const Value* input) {
      return input->node && scope.made.contains(input->node);
    };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), waits)) {
      for (Node* awaited : scope.nodes) add_control_input(node, *awaited);
    }
  }
  for (size_t i = first; i < control_scopes_.size(); ++i) control_scopes_[i].made.insert(&node);
}

void GraphBuilder::add_control_input(Node& node, Node& awaited) {
  Node* waiting = &node;
  while (waiting && waiting->block != awaited.block) waiting = waiting->block->owner;
  // What another graph has made is there before this one runs.
  if (!waiting || waiting == &awaited) return;
  bool is_input = std::any_of(waiting->inputs.begin(), waiting->inputs.end(),
                              [&](const Value* input) { return input->node == &awaited; });
  std::vector<Node*>& inputs = waiting->control_inputs;
  if (is_input || std::find(inputs.begin(), inputs.end(), &awaited) != inputs.end()) return;
  inputs.push_back(&awaited);
}

void GraphBuilder::notify(Node& node, std::span<const Operand> inputs) {
  if (!(thread_state.bits & ThreadState::kObserving)) return;
  OperandVector outputs(node.outputs.begin(), node.outputs.end());
  // Observers may come and go while they are told.
  std::vector<OpObserver*> observers = thread_state.observers;
  for (OpObserver* observer : observers) {
    observer->on_op(*node.op, node.attributes, inputs, outputs, &node);
  }
}

Node* GraphBuilder::add(const OpDef& op, std::vector<Value*> inputs, Attributes attributes,
                        std::vector<ValueType> output_types, std::string_view name) {
  Node* node = graph_.add_node(*block_, op, std::move(inputs), std::move(attributes),
                               std::move(output_types));
  label(*node, name);
  return node;
}

Value* GraphBuilder::import(const Operand& operand) {
  if (operand.is_tensor()) return add_constant(operand.tensor(), {});
  Value* value = operand.value();
  if (!value) throw_internal("an op was given no value for an input");
  if (!block_->sees(*value) || (value->node && value->node->scope == kShownScope)) {
    throw_type_error("A symbolic tensor of " + value->type.to_string() +
                     " is out of scope and cannot be used here: it was made in another function, "
                     "branch or loop body. Return it from there instead.");
  }
  return value;
}

Value* GraphBuilder::add_constant(const Tensor& tensor, std::string_view name) {
  const OpDef& op = get_op("Const");
  Attributes attributes =
      named_attributes(op, {{"value", tensor.owned()}, {"dtype", tensor.dtype()}});
  return add(op, {}, std::move(attributes), {type_of_tensor(tensor)}, name)->outputs[0];
}

Operand GraphBuilder::constant(const Tensor& tensor, std::string_view name) {
  return add_constant(tensor, name);
}

void GraphBuilder::apply(const OpDef& op, std::span<const Operand> inputs,
                         const Attributes& attributes, OperandVector& outputs,
                         std::string_view name) {
  // Shapes first: a refused op must leave no constants behind. Eager tensors infer as well as the
  // nodes that will stand for them.
  std::vector<ValueType> types = infer_types(op, inputs, attributes, Tier::kGraph);
  std::vector<Value*> values;
  values.reserve(inputs.size());
  for (const Operand& input : inputs) values.push_back(import(input));
  Node* node = add(op, std::move(values), attributes, std::move(types), name);
  outputs.insert(outputs.end(), node->outputs.begin(), node->outputs.end());
  notify(*node, inputs);
}

void GraphBuilder::call(const OpDef& op, std::shared_ptr<Callee> callee,
                        std::span<const Operand> inputs, OperandVector& outputs,
                        std::string_view name) {
  const Block& body = callee->callee_graph().body();
  if (inputs.size() != body.arguments.size()) {
    throw_internal("a call of " + std::string(callee->callee_name()) + " has " +
                   std::to_string(inputs.size()) + " inputs, but it takes " +
                   std::to_string(body.arguments.size()));
  }
  std::vector<Value*> values;
  for (const Operand& input : inputs) values.push_back(import(input));
  std::vector<ValueType> types;
  for (const Value* result : body.results) {
    ValueType type = result->type;
    type.shape = type.shape.without_symbols();  // the callee's symbols mean nothing here
    name_unknown_dims(type.shape);
    types.push_back(std::move(type));
  }
  Node* node = add(op, std::move(values), {}, std::move(types), name);
  node->callee = std::move(callee);
  outputs.insert(outputs.end(), node->outputs.begin(), node->outputs.end());
  notify(*node, inputs);
}

void GraphBuilder::trace_block(Block& block, BlockFunction function) {
  Restore<Block*> in_block(block_, &block);
  // Control inputs from around a block belong to its node as a whole.
  Restore<std::vector<ControlScope>> no_control_inputs(control_scopes_, {});
  OperandVector arguments(block.arguments.begin(), block.arguments.end());
  for (const Operand& result : function(arguments)) {
    if (!result) throw_internal("a branch or loop body returned no value for a result");
    block.results.push_back(import(result));
  }
}

Value* GraphBuilder::scalar_condition(Value* value, std::string_view what) {
  if (value->dtype() != DType::kBool) {
    throw_value_error("the condition of " + std::string(what) + " must be a bool tensor, but is " +
                      value->type.to_string() + ". Compare it, for example with 0.");
  }
  if (value->shape().has_rank() && value->shape().rank() == 0) return value;
  std::optional<int64_t> count = value->shape().element_count();
  if (count && *count != 1) {
    throw_invalid_argument("The condition of " + std::string(what) +
                           " must be a scalar, but it has shape " + value->shape().to_string() +
                           ". Reduce it, for example with tf.reduce_all.");
  }
  // Of unknown shape: whether it has one element is seen when it runs.
  const OpDef& op = get_op("Squeeze");
  Operand inputs[] = {value};
  std::vector<ValueType> types = infer_types(op, inputs, {}, Tier::kGraph);
  return add(op, {value}, {}, std::move(types))->outputs[0];
}

Value* GraphBuilder::iteration_limit(const Operand& limit) {
  if (!limit) return add_constant(Tensor::int32_scalar(-1), "maximum_iterations");
  if (!kIndex.contains(dtype_of(limit)) ||
      !shape_of(limit).is_compatible_with(PartialShape::scalar())) {
    throw Error(ErrorKind::kTypeError, "maximum_iterations must be an integer scalar, but is " +
                                           type_of(limit).to_string())
        .with_argument("maximum_iterations");
  }
  if (dtype_of(limit) == DType::kInt32) {
    return limit.is_tensor() ? add_constant(limit.tensor(), "maximum_iterations") : import(limit);
  }
  Tensor known = constant_value(limit);
  if (known && known.element_count() == 1) {
    int64_t value = *known.data<int64_t>();
    value = std::clamp<int64_t>(value, -1, INT32_MAX);
    return add_constant(Tensor::int32_scalar(static_cast<int32_t>(value)), "maximum_iterations");
  }
  const OpDef& cast = get_op("Cast");
  OperandVector outputs;
  Operand inputs[] = {limit};
  apply(cast, inputs, named_attributes(cast, {{"DstT", DType::kInt32}}), outputs);
  return outputs[0].value();
}

GraphBuilder::Mark GraphBuilder::mark() const {
  return {graph_.scopes().size(), graph_.node_count(), block_->random_seeds};
}

void GraphBuilder::rollback(const Mark& mark) {
  graph_.truncate_scopes(mark.scope_count);
  drop_nodes_since(*block_, mark.node_count);
  block_->random_seeds = mark.random_seeds;
}

OperandVector GraphBuilder::while_loop(const WhileOptions& options,
                                       std::span<const Operand> carried, BlockFunction condition,
                                       BlockFunction body) {
  if (!options.shape_invariants.empty() && options.shape_invariants.size() != carried.size()) {
    throw_value_error("shape_invariants has " + std::to_string(options.shape_invariants.size()) +
                      " shapes, but there are " + std::to_string(carried.size()) +
                      " loop variables");
  }
  OperandVector inputs;
  std::vector<Value*> initial;
  for (const Operand& operand : carried) initial.push_back(import(operand));
  size_t scope_count = graph_.scopes().size();
  size_t node_count = graph_.node_count();
  enter_scope(options.name);
  Node* node = nullptr;
  try {
    std::vector<Value*> values{iteration_limit(options.maximum_iterations)};
    std::vector<ValueType> types{tensor_type(DType::kInt32, PartialShape::scalar())};
    inputs.emplace_back(values[0]);
    for (size_t i = 0; i < initial.size(); ++i) {
      ValueType type = loop_type(*initial[i], options, i);
      if (!type.shape.without_symbols().is_supertype_of(initial[i]->shape().without_symbols())) {
        throw_value_error("The shape invariant specified for " + variable_name(options, i) +
                          " is not compatible with its initial shape. It enters the loop with "
                          "shape " +
                          initial[i]->shape().to_string() +
                          ", but the specified shape invariant is " + type.shape.to_string() + ".");
      }
      values.push_back(initial[i]);
      types.push_back(std::move(type));
      inputs.push_back(carried[i]);
    }
    const OpDef& op = get_op("While");
    Attributes attributes;
    bool by_hand = graph_.built_by_hand() && !block_->owner;
    bool identities = options.output_identities.value_or(by_hand);
    if (options.parallel_iterations != 10 || identities) {
      attributes = named_attributes(op, {{"parallel_iterations", options.parallel_iterations},
                                         {"output_identities", identities}});
    }
    node =
        graph_.make_node(*block_, op, std::move(values), std::move(attributes), std::move(types));
    trace_loop(*node, options, initial, condition, body);
  } catch (...) {
    leave_scope();
    graph_.truncate_scopes(scope_count);
    drop_nodes_since(*block_, node_count);
    throw;
  }
  label(*node, kScopeName);
  graph_.append_node(*node);
  leave_scope();
  notify(*node, inputs);
  return {node->outputs.begin(), node->outputs.end()};
}

void GraphBuilder::trace_loop(Node& node, const WhileOptions& options,
                              std::span<Value* const> carried, BlockFunction condition,
                              BlockFunction body) {
  auto add_block = [&] {
    Block* block = graph_.add_block(node);
    graph_.add_argument(*block, tensor_type(DType::kInt32, PartialShape::scalar()), "loop_counter");
    for (size_t i = 0; i < carried.size(); ++i) {
      graph_.add_argument(*block, loop_type(*carried[i], options, i));
    }
    return block;
  };
  Block* condition_block = add_block();
  trace_block(*condition_block, condition);
  if (condition_block->results.size() != 1) {
    throw_value_error("the condition of a loop must return one value, but returned " +
                      std::to_string(condition_block->results.size()));
  }
  {
    Restore<Block*> in_block(block_, condition_block);
    condition_block->results[0] = scalar_condition(condition_block->results[0], "a loop");
  }
  Block* body_block = add_block();
  trace_block(*body_block, body);
  if (body_block->results.size() != carried.size()) {
    throw_value_error("the body of a loop must return " + std::to_string(carried.size()) +
                      " values, one per loop variable, but returned " +
                      std::to_string(body_block->results.size()));
  }
  for (size_t i = 0; i < carried.size(); ++i) {
    check_iteration(options, i, body_block->arguments[i + 1]->type, body_block->results[i]->type);
  }
}

OperandVector GraphBuilder::if_else(const Operand& condition, BlockFunction then_branch,
                                    BlockFunction else_branch, std::string_view name) {
  const BlockFunction branches[] = {then_branch, else_branch};
  return branch("If", name.empty() ? "cond" : name, branches,
                [&] { return scalar_condition(import(condition), "a branch"); });
}

OperandVector GraphBuilder::switch_case(const Operand& index,
                                        std::span<const BlockFunction> branches,
                                        std::string_view name) {
  return branch("Case", name.empty() ? "indexed_case" : name, branches, [&] {
    if (dtype_of(index) != DType::kInt32) {
      throw_type_error("Input 'branch_index' of 'Case' Op has type " +
                       std::string(dtype_name(dtype_of(index))) +
                       " that does not match expected type of int32.");
    }
    std::optional<int64_t> count = shape_of(index).element_count();
    if (count && *count != 1) {
      throw_invalid_argument("branch_index must be a scalar, but it has shape " +
                             shape_of(index).to_string());
    }
    return import(index);
  });
}

OperandVector GraphBuilder::branch(std::string_view op, std::string_view name,
                                   std::span<const BlockFunction> branches,
                                   FunctionRef<Value*()> selector) {
  size_t scope_count = graph_.scopes().size();
  size_t node_count = graph_.node_count();
  enter_scope(name);
  Node* node = nullptr;
  try {
    node = graph_.make_node(*block_, get_op(op), {selector()}, {}, {});
    for (BlockFunction branch : branches) trace_block(*graph_.add_block(*node), branch);
    unify_branches(*node);
  } catch (...) {
    leave_scope();
    graph_.truncate_scopes(scope_count);
    drop_nodes_since(*block_, node_count);
    throw;
  }
  label(*node, kScopeName);
  graph_.append_node(*node);
  leave_scope();
  Operand inputs[] = {node->inputs[0]};
  notify(*node, inputs);
  return {node->outputs.begin(), node->outputs.end()};
}

void GraphBuilder::unify_branches(Node& node) {
  const std::vector<Value*>& first = node.blocks[0]->results;
  for (size_t branch = 1; branch < node.blocks.size(); ++branch) {
    size_t count = node.blocks[branch]->results.size();
    if (count == first.size()) continue;
    throw_type_error("the branches of a conditional must return as many values, but return " +
                     std::to_string(first.size()) + " and " + std::to_string(count));
  }
  for (size_t i = 0; i < first.size(); ++i) {
    ValueType type = first[i]->type;
    for (size_t branch = 1; branch < node.blocks.size(); ++branch) {
      widen_type(type, node.blocks[branch]->results[i]->type, node, i, branch);
    }
    name_unknown_dims(type.shape);
    graph_.add_output(node, std::move(type));
  }
}

}  // namespace graphwright
