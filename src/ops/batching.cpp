#include "ops/batching.h"

#include <algorithm>
#include <unordered_map>

#include "ir/opdef.h"
#include "ir/rule_context.h"
#include "ops/batching_rules.h"

namespace graphwright {

// --- What rules are told -------------------------------------------------------------------------

void BatchContext::fail(const std::string& reason) const {
  throw_unimplemented("the op " + std::string(attributes_.op().name) +
                      " cannot be vectorized: " + reason);
}

int BatchContext::rank(int index) const {
  PartialShape shape = shape_of(inputs_[static_cast<size_t>(index)].operand);
  if (!shape.has_rank()) fail("the rank of its input is not known");
  return shape.rank() - (batched(index) ? 1 : 0);
}

PartialShape BatchContext::shape(int index) const {
  PartialShape shape = shape_of(inputs_[static_cast<size_t>(index)].operand);
  if (!batched(index) || !shape.has_rank()) return shape;
  std::vector<Dim> dims(shape.dims().begin() + 1, shape.dims().end());
  return PartialShape(dims);
}

Operand BatchContext::ranked(int index, int wanted) {
  Operand operand = inputs_[static_cast<size_t>(index)].operand;
  if (!batched(index)) return operand;
  for (int own = rank(index); own < wanted; ++own) {
    operand = builder_.op("ExpandDims", {operand, builder_.constant(Tensor::int32_scalar(1))});
  }
  return operand;
}

Operand BatchContext::with_count(const Operand& vector) {
  Operand first = builder_.op("ExpandDims", {count_, builder_.constant(Tensor::int32_scalar(0))});
  return joined(first, vector);
}

Operand BatchContext::joined(const Operand& first, const Operand& second) {
  const OpDef& cast = get_op("Cast");
  Operand front = first;
  if (dtype_of(front) != dtype_of(second)) {
    OperandVector converted;
    builder_.apply(cast, std::vector<Operand>{front},
                   named_attributes(cast, {{"DstT", dtype_of(second)}}), converted);
    front = converted[0];
  }
  return builder_.op("ConcatV2", {front, second, builder_.constant(Tensor::int32_scalar(0))});
}

Operand BatchContext::stacked(int index) {
  const BatchedOperand& input = inputs_[static_cast<size_t>(index)];
  return input.batched ? input.operand : repeated(input.operand);
}

Operand BatchContext::repeated(const Operand& operand) {
  Operand shape = builder_.op("Shape", {operand});
  return builder_.op("BroadcastTo", {operand, with_count(shape)});
}

std::vector<int64_t> BatchContext::known_integers(int index) const {
  if (batched(index)) fail("an argument that must be known differs between iterations");
  std::optional<PartialVector> values =
      partial_constant_vector(inputs_[static_cast<size_t>(index)].operand);
  if (!values ||
      std::find(values->known.begin(), values->known.end(), false) != values->known.end()) {
    fail("an argument that must be known is not");
  }
  return values->values;
}

Operand BatchContext::unbatched(int index) const {
  if (batched(index)) fail("an argument that must be the same differs between iterations");
  return inputs_[static_cast<size_t>(index)].operand;
}

Operand BatchContext::integers(int like, std::span<const int64_t> values) {
  DType dtype = dtype_of(inputs_[static_cast<size_t>(like)].operand);
  if (dtype == DType::kInt64) {
    return builder_.constant(Tensor::vector<int64_t>(DType::kInt64, values));
  }
  std::vector<int32_t> narrow(values.begin(), values.end());
  return builder_.constant(Tensor::vector<int32_t>(DType::kInt32, narrow));
}

OperandVector BatchContext::apply(std::string_view op_name, std::span<const Operand> inputs,
                                  const Attributes& attributes) {
  OperandVector outputs;
  builder_.apply(get_op(op_name), inputs, attributes, outputs);
  return outputs;
}

void BatchContext::set_all(OperandVector outputs, bool batched) {
  for (Operand& output : outputs) outputs_.push_back({std::move(output), batched});
}

// --- The walk over a graph -----------------------------------------------------------------------

namespace {

class BatchWalk {
 public:
  BatchWalk(Builder& builder, Operand count) : builder_(builder), count_(std::move(count)) {}

  std::vector<BatchedOperand> run(const Graph& graph, std::span<const BatchedOperand> inputs) {
    std::unordered_map<const Value*, BatchedOperand> values;
    const Block& body = graph.body();
    for (size_t i = 0; i < body.arguments.size(); ++i) values[body.arguments[i]] = inputs[i];
    for (const Node* node : body.nodes) {
      std::vector<BatchedOperand> given;
      for (const Value* input : node->inputs) given.push_back(values.at(input));
      std::vector<BatchedOperand> outputs = apply(*node, given);
      for (size_t i = 0; i < node->outputs.size(); ++i) values[node->outputs[i]] = outputs.at(i);
    }
    std::vector<BatchedOperand> results;
    for (const Value* result : body.results) results.push_back(values.at(result));
    return results;
  }

  Operand repeated(const Operand& operand) {
    static const Attributes none;
    BatchContext context(builder_, get_op("Identity"), none, {}, count_);
    return context.repeated(operand);
  }

 private:
  std::vector<BatchedOperand> apply(const Node& node, std::span<const BatchedOperand> inputs) {
    if (node.callee) return run(node.callee->callee_graph(), inputs);
    const OpDef& op = *node.op;
    if (!node.blocks.empty()) {
      throw_unimplemented("the op " + std::string(op.name) + " cannot be vectorized");
    }
    bool any = std::any_of(inputs.begin(), inputs.end(),
                           [](const BatchedOperand& input) { return input.batched; });
    BatchContext context(builder_, op, node.attributes, inputs, count_);
    if (!any) {
      // The same in every iteration; what has effects would happen once instead of every time.
      const Effects& effects = op.effects;
      if (effects.writes || effects.io || effects.random || effects.opaque) {
        context.fail("it has effects");
      }
      OperandVector operands;
      for (const BatchedOperand& input : inputs) operands.push_back(input.operand);
      context.set_all(context.apply(op.name, operands, node.attributes), false);
      return context.take_outputs();
    }
    BatchRule rule = find_batch_rule(op);
    if (!rule) context.fail("there is no rule for it");
    rule(context);
    return context.take_outputs();
  }

  Builder& builder_;
  Operand count_;
};

}  // namespace

OperandVector apply_batched(Builder& builder, const Graph& graph,
                            std::span<const BatchedOperand> inputs, const Operand& count) {
  BatchWalk walk(builder, count);
  OperandVector results;
  for (BatchedOperand& result : walk.run(graph, inputs)) {
    results.push_back(result.batched ? result.operand : walk.repeated(result.operand));
  }
  return results;
}

}  // namespace graphwright
