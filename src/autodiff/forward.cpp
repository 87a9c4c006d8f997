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

Operand tangent_of(const TangentMap& tangents, const Operand& operand) {
  auto found = tangents.find(operand_key(operand));
  return found == tangents.end() ? Operand() : found->second;
}

// Applies the op's rule; sets tangents of the outputs that have one.
void forward_step(Builder& builder, const OpDef& op, const Attributes& attributes,
                  std::span<const Operand> inputs, std::span<const Operand> outputs,
                  TangentMap& tangents) {
  OperandVector input_tangents;
  bool any = false;
  for (const Operand& input : inputs) {
    input_tangents.push_back(tangent_of(tangents, input));
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
    if (output_tangents[i]) tangents[operand_key(outputs[i])] = output_tangents[i];
  }
}

// A node in front of `node`, which either stands in its block or is about to be put at its end.
Value* zeros_before(GraphBuilder& builder, Node& node, Value* like) {
  const std::vector<Node*>& nodes = node.block->nodes;
  auto found = std::find(nodes.begin(), nodes.end(), &node);
  if (found == nodes.end()) return zeros_like(builder, Operand(like)).value();
  return node.block->graph
      ->insert_node(*node.block, static_cast<size_t>(found - nodes.begin()), get_op("ZerosLike"),
                    {like}, {}, {like->type})
      ->outputs[0];
}

void forward_while(GraphBuilder& builder, Node& node, TangentMap& tangents) {
  Block& body = *node.blocks[1];
  size_t carried_count = body.results.size();
  // Which carried values have tangents: those whose initial value has, and those that the body
  // makes depend on one.
  ActiveSet active;
  for (const auto& [key, tangent] : tangents) active.insert(key);
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
  for (size_t i = 0; i < carried_count; ++i) {
    if (!active.contains(body.arguments[i + 1])) continue;
    Value* primal = node.inputs[i + 1];
    Operand tangent = tangent_of(tangents, Operand(primal));
    Value* initial = tangent ? builder.import(tangent) : zeros_before(builder, node, primal);
    // The tangent keeps the type that its value has in the loop.
    CarriedValue value = add_carried_value(node, initial);
    value.body_argument->type = body.arguments[i + 1]->type;
    node.blocks[0]->arguments[value.position + 1]->type = body.arguments[i + 1]->type;
    value.output->type = node.outputs[i + 1]->type;
    carried.emplace_back(i, value);
  }
  TangentMap inside = tangents;
  for (const auto& [i, value] : carried) inside[body.arguments[i + 1]] = value.body_argument;
  GraphBuilder inner(builder.graph(), body);
  forward_block(inner, body, inside);
  for (const auto& [i, value] : carried) {
    Operand tangent = tangent_of(inside, Operand(body.results[i]));
    if (!tangent) tangent = zeros_like(inner, Operand(body.results[i]));
    body.results[value.position] = inner.import(tangent);
    tangents[node.outputs[i + 1]] = value.output;
  }
}

void forward_branches(GraphBuilder& builder, Node& node, TangentMap& tangents) {
  size_t result_count = node.blocks[0]->results.size();
  std::vector<TangentMap> inside(node.blocks.size(), tangents);
  for (size_t b = 0; b < node.blocks.size(); ++b) {
    GraphBuilder inner(builder.graph(), *node.blocks[b]);
    forward_block(inner, *node.blocks[b], inside[b]);
  }
  for (size_t i = 0; i < result_count; ++i) {
    bool any = false;
    for (size_t b = 0; b < node.blocks.size(); ++b) {
      any |= static_cast<bool>(tangent_of(inside[b], Operand(node.blocks[b]->results[i])));
    }
    if (!any) continue;
    for (size_t b = 0; b < node.blocks.size(); ++b) {
      Block& block = *node.blocks[b];
      GraphBuilder inner(builder.graph(), block);
      Operand tangent = tangent_of(inside[b], Operand(block.results[i]));
      if (!tangent) tangent = zeros_like(inner, Operand(block.results[i]));
      block.results.push_back(inner.import(tangent));
    }
    tangents[node.outputs[i]] = builder.graph().add_output(node, node.outputs[i]->type);
  }
}

void forward_call(GraphBuilder& builder, Node& node, TangentMap& tangents) {
  std::vector<bool> has_tangent;
  std::vector<Value*> given;
  for (Value* input : node.inputs) {
    Operand tangent = tangent_of(tangents, Operand(input));
    has_tangent.push_back(static_cast<bool>(tangent));
    if (tangent) given.push_back(builder.import(tangent));
  }
  if (given.empty()) return;
  // The call itself computes the tangents, so that its effects happen once.
  CalleeTangent tangent = node.callee->callee_tangent(has_tangent);
  node.callee = tangent.callee;
  node.inputs.insert(node.inputs.end(), given.begin(), given.end());
  for (int result : tangent.tangent_results) {
    Value* primal = node.outputs[static_cast<size_t>(result)];
    tangents[primal] = builder.graph().add_output(node, primal->type);
  }
}

// True if the node was a control node, which then hands out its tangents.
bool forward_control(GraphBuilder& builder, Node& node, TangentMap& tangents) {
  if (!node.blocks.empty()) {
    if (node.op->name == "While" || node.op->name == "StatelessWhile") {
      forward_while(builder, node, tangents);
    } else {
      forward_branches(builder, node, tangents);
    }
    return true;
  }
  if (!node.callee) return false;
  forward_call(builder, node, tangents);
  return true;
}

}  // namespace

void forward_block(GraphBuilder& builder, Block& block, TangentMap& tangents) {
  std::vector<Node*> nodes = std::exchange(block.nodes, {});
  for (Node* node : nodes) {
    if (forward_control(builder, *node, tangents)) {
      block.nodes.push_back(node);
      continue;
    }
    block.nodes.push_back(node);
    OperandVector inputs(node->inputs.begin(), node->inputs.end());
    OperandVector outputs(node->outputs.begin(), node->outputs.end());
    builder.set_location(node->location);
    forward_step(builder, *node->op, node->attributes, inputs, outputs, tangents);
    builder.set_location(kNoLocation);
  }
}

ForwardAccumulator::ForwardAccumulator(std::span<const Operand> primals,
                                       std::span<const Operand> tangents) {
  if (primals.size() != tangents.size()) {
    throw_value_error(fmt::format("ForwardAccumulator was given {} primals and {} tangents",
                                  primals.size(), tangents.size()));
  }
  for (size_t i = 0; i < primals.size(); ++i) {
    if (!tangents[i]) continue;
    if (!can_have_gradient(type_of(primals[i]))) {
      throw_value_error(fmt::format("the primal #{} has dtype {}, which has no derivative", i,
                                    dtype_name(dtype_of(primals[i]))));
    }
    set_tangent(primals[i], tangents[i]);
  }
}

ForwardAccumulator::~ForwardAccumulator() {
  if (recording_) stop();
}

void ForwardAccumulator::start() {
  if (recording_) throw_value_error("Accumulator is already recording.");
  push_observer(this);
  recording_ = true;
}

void ForwardAccumulator::stop() {
  if (!recording_) throw_value_error("Accumulator is not recording.");
  remove_observer(this);
  recording_ = false;
}

Operand ForwardAccumulator::tangent(const Operand& primal) const {
  return tangent_of(tangents_, primal);
}

void ForwardAccumulator::set_tangent(const Operand& primal, Operand tangent) {
  tangents_[operand_key(primal)] = std::move(tangent);
  alive_.push_back(primal);
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
  Builder& builder = current_builder();
  if (node) {
    // Keys of what the node took are those of its own inputs, too.
    for (size_t i = 0; i < inputs.size() && i < node->inputs.size(); ++i) {
      Operand tangent = tangent_of(tangents_, inputs[i]);
      if (tangent) tangents_.try_emplace(operand_key(Operand(node->inputs[i])), tangent);
    }
    auto check = [&](const Value* input) {
      auto extended = extended_.find(input->node);
      if (extended == extended_.end() || !can_have_gradient(input->type)) return;
      const std::vector<Value*>& handed_out = input->node->outputs;
      auto position = std::find(handed_out.begin(), handed_out.end(), input) - handed_out.begin();
      if (static_cast<size_t>(position) < extended->second) return;
      throw_unimplemented(
          "a forward accumulator around a tape's gradient of a loop, branch or call inside one "
          "function: put the tape and what it records into a function of their own");
    };
    for (const Value* input : node->inputs) check(input);
    for (const auto& block : node->blocks) visit_free_values(*block, *block, check);
    if (forward_control(static_cast<GraphBuilder&>(builder), *node, tangents_)) {
      extended_[node] = node->outputs.size();
      return;
    }
  }
  size_t before = tangents_.size();
  forward_step(builder, op, attributes, inputs, outputs, tangents_);
  if (tangents_.size() != before) alive_.insert(alive_.end(), outputs.begin(), outputs.end());
}

std::vector<Operand> ForwardAccumulator::call_tangents(std::span<const Operand> inputs) {
  std::vector<Operand> tangents;
  if (working_) return tangents;
  bool any = false;
  for (const Operand& input : inputs) {
    tangents.push_back(tangent_of(tangents_, input));
    any |= static_cast<bool>(tangents.back());
  }
  if (!any) tangents.clear();
  return tangents;
}

void ForwardAccumulator::on_call_tangents(std::span<const Operand> outputs,
                                          std::span<const Operand> tangents) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (tangents[i]) set_tangent(outputs[i], tangents[i]);
  }
}

}  // namespace graphwright
