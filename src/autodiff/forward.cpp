#include "autodiff/forward.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "autodiff/region_builder.h"
#include "autodiff/reverse.h"
#include "base/status.h"
#include "ir/opdef.h"
#include "ir/rule_context.h"
#include "ir/thread_state.h"

namespace graphwright {
namespace {

thread_local std::vector<ForwardAccumulator*> accumulators;  // that record, innermost last

}  // namespace

void ForwardPass::set(const Operand& primal, Operand tangent) {
  tangents_[operand_key(primal)] = std::move(tangent);
}

void ForwardPass::stay_inside(const ForwardPass& outer) {
  made_outside_ = outer.made_outside_;
  made_outside_.push_back(outer.made_);
}

void ForwardPass::made(const Node* node) {
  seen_.insert(node);
  made_->insert(node);
}

bool ForwardPass::is_foreign(const void* node_or_value) const {
  for (const auto& made : made_outside_) {
    if (made->contains(node_or_value)) return true;
  }
  return false;
}

void ForwardPass::alias(const Operand& primal, const Operand& other) {
  const void* key = operand_key(other);
  if (key == operand_key(primal)) return;
  if (Operand known = tangent(primal)) tangents_.try_emplace(key, known);
}

Operand ForwardPass::tangent(const Operand& primal) {
  if (primal.is_value() && primal.value()->node) {
    Value* value = primal.value();
    auto handled = handled_.find(value->node);
    if (handled != handled_.end() && value->index >= handled->second) {
      GraphBuilder builder(*value->block->graph, *value->block);
      extend(builder, *value->node);
    }
  }
  auto found = tangents_.find(operand_key(primal));
  return found == tangents_.end() ? Operand() : found->second;
}

void ForwardPass::apply_rule(Builder& builder, const OpDef& op, const Attributes& attributes,
                             std::span<const Operand> inputs, std::span<const Operand> outputs) {
  OperandVector input_tangents;
  bool any = false;
  for (const Operand& input : inputs) {
    input_tangents.push_back(tangent(input));
    any |= static_cast<bool>(input_tangents.back());
  }
  if (!any || op.has(kZeroDerivative)) return;
  if (!op.forward) {
    throw Error(ErrorKind::kKeyError,
                fmt::format("No forward-mode derivative defined for operation '{}': {}", op.name,
                            op.forward.reason() ? op.forward.reason() : "it has no rule"));
  }
  OperandVector output_tangents(outputs.size());
  ForwardContext context(builder, op, attributes, inputs, outputs, input_tangents, output_tangents);
  op.forward.function()(context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    // Rules that apply the op itself to tangents also get its integers.
    if (!output_tangents[i] || !can_have_gradient(type_of(outputs[i]))) continue;
    // Here, where the node ends, is the place to say what is known of its shape.
    if (outputs[i].is_value() && output_tangents[i].is_value()) {
      output_tangents[i] = with_known_shape(static_cast<GraphBuilder&>(builder), output_tangents[i],
                                            shape_of(outputs[i]).without_symbols());
    }
    set(outputs[i], output_tangents[i]);
  }
}

void ForwardPass::step(Builder& builder, const OpDef& op, const Attributes& attributes,
                       std::span<const Operand> inputs, std::span<const Operand> outputs,
                       Node* node) {
  if (!node) return apply_rule(builder, op, attributes, inputs, outputs);
  auto& graph_builder = static_cast<GraphBuilder&>(builder);
  if (!node->blocks.empty() || node->callee) {
    if (!seen_.contains(node)) extend(graph_builder, *node);
    return;
  }
  if (!seen_.insert(node).second) return;
  std::vector<Node*>& nodes = graph_builder.block().nodes;
  size_t before = nodes.size();
  apply_rule(builder, op, attributes, inputs, outputs);
  for (size_t i = before; i < nodes.size(); ++i) made(nodes[i]);
}

void ForwardPass::block(GraphBuilder& builder, Block& block) {
  std::vector<Node*> nodes = std::exchange(block.nodes, {});
  for (size_t i = 0; i < nodes.size(); ++i) {
    Node* node = nodes[i];
    bool is_control = !node->blocks.empty() || node->callee;
    // What a control node needs for its tangents goes in front of it.
    if (is_foreign(node)) {
      block.nodes.push_back(node);
      continue;
    }
    if (!is_control) block.nodes.push_back(node);
    // The tangents that a pass around this one made come first: it makes tangents of these.
    while (!is_control && i + 1 < nodes.size() && is_foreign(nodes[i + 1])) {
      block.nodes.push_back(nodes[++i]);
    }
    OperandVector inputs(node->inputs.begin(), node->inputs.end());
    OperandVector outputs(node->outputs.begin(), node->outputs.end());
    builder.set_location(node->location);
    step(builder, *node->op, node->attributes, inputs, outputs, node);
    builder.set_location(kNoLocation);
    if (is_control) block.nodes.push_back(node);
  }
}

// A node in front of `node`, which either stands in its block or is about to be put at its end.
Value* ForwardPass::zeros_before(GraphBuilder& builder, Node& node, Value* like) {
  const std::vector<Node*>& nodes = node.block->nodes;
  auto found = std::find(nodes.begin(), nodes.end(), &node);
  Value* zeros;
  if (found == nodes.end()) {
    zeros = builder.add(get_op("ZerosLike"), {like}, {}, {like->type})->outputs[0];
  } else {
    zeros = node.block->graph
                ->insert_node(*node.block, static_cast<size_t>(found - nodes.begin()),
                              get_op("ZerosLike"), {like}, {}, {like->type})
                ->outputs[0];
  }
  made(zeros->node);
  return zeros;
}

// The tangent, with what is known of the shape of its value.
Value* ForwardPass::refined(GraphBuilder& builder, const Operand& tangent, const Value* primal) {
  Value* value = builder.import(tangent);
  PartialShape shape = primal->shape().without_symbols();
  Value* result = with_known_shape(builder, Operand(value), shape).value();
  if (result != value) made(result->node);
  return result;
}

Operand ForwardPass::zeros_behind(GraphBuilder& builder, Value* like) {
  Value* zeros = builder.add(get_op("ZerosLike"), {like}, {}, {like->type})->outputs[0];
  made(zeros->node);
  return zeros;
}

// True if the node hands out tangents that it did not hand out before.
bool ForwardPass::extend(GraphBuilder& builder, Node& node) {
  size_t handled = 0;
  auto known = handled_.find(&node);
  if (known != handled_.end()) handled = known->second;
  if (known != handled_.end() && handled == node.outputs.size()) return false;
  // While it is being extended, it is not extended again.
  handled_[&node] = node.outputs.size();
  if (node.blocks.empty()) {
    extend_call(builder, node, handled);
  } else {
    // What its blocks see from outside may be what another node was made to hand out.
    for (const auto& block : node.blocks) {
      visit_free_values(*block, *block, [&](Value* value) { tangent(Operand(value)); });
    }
    if (is_loop(*node.op)) {
      extend_loop(builder, node, handled);
    } else {
      extend_branches(node, handled);
    }
  }
  handled_[&node] = node.outputs.size();
  return true;
}

void ForwardPass::extend_loop(GraphBuilder& builder, Node& node, size_t handled) {
  Block& body = *node.blocks[1];
  size_t first = handled == 0 ? 0 : handled - 1;  // the trip count is no carried value
  size_t carried_count = body.results.size();
  // Which carried values have tangents: those whose initial value has, and those that the body
  // makes depend on one.
  for (size_t i = first; i < carried_count; ++i) tangent(Operand(node.inputs[i + 1]));
  ActiveSet active;
  for (const auto& [key, tangent] : tangents_) active.insert(key);
  bool changed = true;
  while (changed) {
    size_t before = active.size();
    for (size_t i = 0; i < carried_count; ++i) {
      if (!can_have_gradient(node.inputs[i + 1]->type)) continue;
      if (active.contains(operand_key(Operand(node.inputs[i + 1]))) ||
          active.contains(operand_key(Operand(body.results[i])))) {
        active.insert(body.arguments[i + 1]);
      }
    }
    mark_active(body, active);
    changed = active.size() != before;
  }
  std::vector<std::pair<size_t, CarriedValue>> carried;
  for (size_t i = first; i < carried_count; ++i) {
    if (!active.contains(body.arguments[i + 1]) || is_foreign(body.arguments[i + 1])) continue;
    Value* primal = node.inputs[i + 1];
    Operand known = tangent(Operand(primal));
    Value* initial = known ? refined(builder, known, body.arguments[i + 1])
                           : zeros_before(builder, node, primal);
    // The tangent keeps the type that its value has in the loop.
    CarriedValue value = add_carried_value(node, initial);
    value.body_argument->type = body.arguments[i + 1]->type;
    node.blocks[0]->arguments[value.position + 1]->type = body.arguments[i + 1]->type;
    value.output->type = node.outputs[i + 1]->type;
    carried.emplace_back(i, value);
    made_->insert(value.body_argument);
    made_->insert(value.output);
    set(Operand(body.arguments[i + 1]), Operand(value.body_argument));
  }
  GraphBuilder inner(builder.graph(), body);
  block(inner, body);
  for (const auto& [i, value] : carried) {
    Operand result = tangent(Operand(body.results[i]));
    if (!result) result = zeros_behind(inner, body.results[i]);
    body.results[value.position] = refined(inner, result, body.arguments[i + 1]);
    set(Operand(node.outputs[i + 1]), Operand(value.output));
  }
}

void ForwardPass::extend_branches(Node& node, size_t handled) {
  Graph& graph = *node.block->graph;
  size_t result_count = node.blocks[0]->results.size();
  for (const auto& branch : node.blocks) {
    GraphBuilder inner(graph, *branch);
    block(inner, *branch);
  }
  for (size_t i = handled; i < result_count; ++i) {
    if (is_foreign(node.outputs[i])) continue;
    OperandVector found;
    bool any = false;
    for (const auto& branch : node.blocks) {
      found.push_back(tangent(Operand(branch->results[i])));
      any |= static_cast<bool>(found.back());
    }
    if (!any) continue;
    for (size_t b = 0; b < node.blocks.size(); ++b) {
      Block& branch = *node.blocks[b];
      GraphBuilder inner(graph, branch);
      if (!found[b]) found[b] = zeros_behind(inner, branch.results[i]);
      branch.results.push_back(refined(inner, found[b], branch.results[i]));
    }
    Value* handed_out = graph.add_output(node, node.outputs[i]->type);
    made_->insert(handed_out);
    set(Operand(node.outputs[i]), Operand(handed_out));
  }
}

void ForwardPass::extend_call(GraphBuilder& builder, Node& node, size_t handled) {
  std::vector<bool> has_tangent;
  std::vector<Value*> given;
  for (Value* input : node.inputs) {
    Operand known = tangent(Operand(input));
    has_tangent.push_back(static_cast<bool>(known));
    if (known) given.push_back(builder.import(known));
  }
  if (given.empty()) return;
  // The call itself computes the tangents, so that its effects happen once.
  CalleeTangent extended = node.callee->callee_tangent(has_tangent);
  node.callee = extended.callee;
  node.inputs.insert(node.inputs.end(), given.begin(), given.end());
  for (int result : extended.tangent_results) {
    Value* primal = node.outputs[static_cast<size_t>(result)];
    Value* handed_out = builder.graph().add_output(node, primal->type);
    made_->insert(handed_out);
    if (static_cast<size_t>(result) >= handled) set(Operand(primal), Operand(handed_out));
  }
}

ForwardAccumulator::ForwardAccumulator(std::span<const Operand> primals,
                                       std::span<const Operand> tangents) {
  if (primals.size() != tangents.size()) {
    throw_value_error(fmt::format("ForwardAccumulator was given {} primals and {} tangents",
                                  primals.size(), tangents.size()));
  }
  Builder& builder = current_builder();
  for (size_t i = 0; i < primals.size(); ++i) {
    if (!tangents[i]) continue;
    if (!can_have_gradient(type_of(primals[i]))) {
      throw_value_error(fmt::format("the primal #{} has dtype {}, which has no derivative", i,
                                    dtype_name(dtype_of(primals[i]))));
    }
    // In a graph the tangent is a value of it, which inner blocks can use.
    Operand tangent = tangents[i];
    if (!builder.is_eager()) {
      auto& graph_builder = static_cast<GraphBuilder&>(builder);
      tangent = with_known_shape(graph_builder, Operand(graph_builder.import(tangent)),
                                 shape_of(primals[i]).without_symbols());
    }
    pass_.set(primals[i], std::move(tangent));
    alive_.push_back(primals[i]);
  }
}

ForwardAccumulator::~ForwardAccumulator() {
  if (recording_) stop();
}

void ForwardAccumulator::start() {
  if (recording_) throw_value_error("Accumulator is already recording.");
  Builder& builder = current_builder();
  home_ = builder.is_eager() ? nullptr : &static_cast<GraphBuilder&>(builder).block();
  // What the one around it makes has no tangents here.
  if (!accumulators.empty()) pass_.stay_inside(accumulators.back()->pass_);
  accumulators.push_back(this);
  push_observer(this);
  recording_ = true;
}

void ForwardAccumulator::stop() {
  if (!recording_) throw_value_error("Accumulator is not recording.");
  remove_observer(this);
  std::erase(accumulators, this);
  recording_ = false;
}

bool ForwardAccumulator::is_in_inner_loop(const Block* block) const {
  for (; block && block != home_; block = block->parent()) {
    if (block->owner && is_loop(*block->owner->op)) return true;
  }
  return false;
}

Operand ForwardAccumulator::tangent(const Operand& primal) {
  ObserversAround around(this);
  Operand known = pass_.tangent(primal);
  if (!known && primal.is_value() && is_in_inner_loop(primal.value()->block)) {
    throw_unimplemented(
        "a tangent was asked for inside the body of a loop that its forward accumulator is "
        "around: ask for it after the loop, or put the accumulator into the body");
  }
  return known;
}

void ForwardAccumulator::on_op(const OpDef& op, const Attributes& attributes,
                               std::span<const Operand> inputs, std::span<const Operand> outputs,
                               Node* node) {
  if (working_ || outputs.empty()) return;
  struct Working {
    bool& flag;
    explicit Working(bool& value) : flag(value) { flag = true; }
    ~Working() { flag = false; }
  } working(working_);
  // Its own ops concern the observers around it, not those inside.
  ObserversAround around(this);
  Builder& builder = current_builder();
  if (node) {
    for (size_t i = 0; i < inputs.size() && i < node->inputs.size(); ++i) {
      pass_.alias(inputs[i], Operand(node->inputs[i]));
    }
    // Nodes of a loop's body wait for the loop, where tangents of its variables are known; nodes of
    // a gradient's blocks for the gradient's loop or branch.
    if (node->block != &static_cast<GraphBuilder&>(builder).block()) return;
    if (is_in_inner_loop(node->block)) return;
  }
  size_t before = pass_.size();
  pass_.step(builder, op, attributes, inputs, outputs, node);
  if (!node && pass_.size() != before) alive_.insert(alive_.end(), outputs.begin(), outputs.end());
}

std::vector<Operand> ForwardAccumulator::call_tangents(std::span<const Operand> inputs) {
  std::vector<Operand> tangents;
  if (working_) return tangents;
  bool any = false;
  for (const Operand& input : inputs) {
    tangents.push_back(pass_.tangent(input));
    any |= static_cast<bool>(tangents.back());
  }
  if (!any) tangents.clear();
  return tangents;
}

void ForwardAccumulator::on_call_tangents(std::span<const Operand> outputs,
                                          std::span<const Operand> tangents) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!tangents[i]) continue;
    pass_.set(outputs[i], tangents[i]);
    alive_.push_back(outputs[i]);
  }
}

}  // namespace graphwright
