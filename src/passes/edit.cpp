#include "passes/edit.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/type_inference.h"

namespace graphwright::passes {
namespace {

bool is_known_shape(const Value& value) { return value.shape().is_fully_defined(); }

bool is_known_scalar(const Value& value) {
  return value.shape().has_rank() && value.shape().rank() == 0;
}

// Operands of known shapes that were checked, or of one and the same unknown shape beside scalars.
bool always_broadcast(const Node& node) {
  const Value* common = nullptr;
  bool all_known = true;
  for (const Value* input : node.inputs) {
    if (!input->shape().has_rank()) return node.inputs.size() == 1;
    if (is_known_scalar(*input)) continue;
    all_known = all_known && is_known_shape(*input);
    if (!common) common = input;
  }
  if (all_known || node.inputs.size() == 1) return true;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Value* input) {
    if (is_known_scalar(*input) || input == common) return true;
    const PartialShape& shape = input->shape();
    return shape == common->shape() &&
           std::find(shape.dims().begin(), shape.dims().end(), kUnknownDim) == shape.dims().end();
  });
}

// The row's own checks pass on what is known now, and nothing is left to check later: sizes are
// known, and what says how to rearrange is constant.
bool fits_as_typed(const Node& node) {
  OperandVector operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Value* input = node.inputs[i];
    if (!is_known_shape(*input)) return false;
    const Tensor* tensor = constant_tensor(*input);
    if (i > 0 && kIndex.contains(input->dtype()) && !tensor) return false;
    operands.push_back(tensor ? Operand(*tensor) : Operand(input));
  }
  try {
    std::vector<ValueType> types = infer_types(*node.op, operands, node.attributes, Tier::kEager);
    return std::all_of(types.begin(), types.end(),
                       [](const ValueType& type) { return type.shape.is_fully_defined(); });
  } catch (const Error&) {
    return false;
  }
}

void each_block(Block& block, FunctionRef<void(Block&)> visit) {
  visit(block);
  for (Node* node : block.nodes) {
    for (const auto& inner : node->blocks) each_block(*inner, visit);
  }
}

}  // namespace

void for_each_block(Graph& graph, FunctionRef<void(Block&)> visit) {
  each_block(graph.body(), visit);
}

const Tensor* constant_tensor(const Value& value) {
  const Node* node = value.node;
  if (!node || node->op->name != "Const") return nullptr;
  static const int kIndex = node->op->signature.attribute_index("value");
  if (!node->attributes.has(kIndex)) return nullptr;
  const Tensor* tensor = std::get_if<Tensor>(&node->attributes.raw(kIndex));
  return tensor && *tensor ? tensor : nullptr;
}

bool constant_bool(const Value& value, bool* result) {
  const Tensor* tensor = constant_tensor(value);
  if (!tensor || tensor->dtype() != DType::kBool || tensor->element_count() != 1) return false;
  *result = *tensor->data<bool>();
  return true;
}

bool constant_int32(const Value& value, int32_t* result) {
  const Tensor* tensor = constant_tensor(value);
  if (!tensor || tensor->dtype() != DType::kInt32 || tensor->element_count() != 1) return false;
  *result = *tensor->data<int32_t>();
  return true;
}

bool is_pure_leaf(const Node& node) {
  return node.op->has(kPure) && !node.op->has(kStateful) && !node.op->effects.any() &&
         node.blocks.empty() && !node.callee;
}

bool cannot_fail(const Node& node) {
  if (!is_pure_leaf(node) || node.op->has(kMayFail)) return false;
  return node.op->has(kElementwise) ? always_broadcast(node) : fits_as_typed(node);
}

bool gives_handles(const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [](const Value* value) {
    return value->dtype() == DType::kVariant || value->dtype() == DType::kResource;
  });
}

PointerSet::PointerSet(size_t expected) : table_(std::bit_ceil(2 * expected + 8)) {}

const void* const* PointerSet::find(const void* pointer) const {
  const size_t mask = table_.size() - 1;
  size_t at = (reinterpret_cast<size_t>(pointer) >> 4) * 0x9E3779B97F4A7C15ull >> 20 & mask;
  while (table_[at] && table_[at] != pointer) at = (at + 1) & mask;
  return &table_[at];
}

bool PointerSet::insert(const void* pointer) {
  const void* const* place = find(pointer);
  if (*place) return false;
  table_[static_cast<size_t>(place - table_.data())] = pointer;
  if (++count_ * 2 > table_.size()) grow();
  return true;
}

void PointerSet::grow() {
  std::vector<const void*> old(2 * table_.size());
  old.swap(table_);
  for (const void* pointer : old) {
    if (pointer) table_[static_cast<size_t>(find(pointer) - table_.data())] = pointer;
  }
}

size_t count_nodes(const Block& block) {
  size_t count = block.nodes.size();
  for (const Node* node : block.nodes) {
    for (const auto& inner : node->blocks) count += count_nodes(*inner);
  }
  return count;
}

bool Replacements::can_replace(const Value& from, const Value& to) {
  if (from.dtype() != to.dtype() ||
      static_cast<bool>(from.type.handle) != static_cast<bool>(to.type.handle)) {
    return false;
  }
  if (from.type.handle && from.type.handle != to.type.handle &&
      !(*from.type.handle == *to.type.handle)) {
    return false;
  }
  return from.shape().without_symbols().is_supertype_of(to.shape().without_symbols());
}

void Replacements::set(const Value* from, Value* to) {
  to = follow(to);
  if (from == to) return;
  values_[from] = to;
  if (!from->shape().has_rank() || from->shape().rank() != to->shape().rank()) return;
  for (int i = 0; i < from->shape().rank(); ++i) {
    Dim old = follow(from->shape().dim(i));
    Dim now = follow(to->shape().dim(i));
    if (is_symbol(old) && old != now && now != kUnknownDim) dims_[old] = now;
  }
}

Value* Replacements::follow(Value* value) const {
  for (auto found = values_.find(value); found != values_.end(); found = values_.find(value)) {
    value = found->second;
  }
  return value;
}

Dim Replacements::follow(Dim dim) const {
  if (!is_symbol(dim)) return dim;
  for (auto found = dims_.find(dim); found != dims_.end(); found = dims_.find(dim)) {
    dim = found->second;
  }
  return dim;
}

void Replacements::refine(PartialShape& shape) const {
  for (int i = 0; i < shape.rank(); ++i) {
    if (is_symbol(shape.dim(i))) shape.set_dim(i, follow(shape.dim(i)));
  }
}

void Replacements::refine_types(Graph& graph) const {
  if (dims_.empty()) return;
  for_each_block(graph, [this](Block& block) {
    if (block.owner) {
      for (Value* argument : block.arguments) refine(argument->type.shape);
    }
    for (Node* node : block.nodes) {
      for (Value* output : node->outputs) refine(output->type.shape);
    }
  });
}

void Rewriter::run() {
  walk(graph_.body());
  if (!changed_) return;
  repair_control_inputs(graph_);
  replacements_.refine_types(graph_);
}

void Rewriter::walk(Block& block) {
  std::vector<Node*> nodes = std::move(block.nodes);
  block.nodes.clear();
  std::vector<Node*>* outer = emitted_;
  std::vector<Node*> kept;
  kept.reserve(nodes.size());
  emitted_ = &kept;
  enter_block(block);
  for (Node* node : nodes) walk_node(*node);
  replacements_.apply(block.results);
  leave_block(block);
  emitted_ = outer;
  block.nodes = std::move(kept);
}

void Rewriter::walk_node(Node& node) {
  replacements_.apply(node.inputs);
  if (!visit(node)) {
    changed_ = true;
    return;
  }
  emitted_->push_back(&node);
  for (const auto& inner : node.blocks) walk(*inner);
  leave_node(node);
}

Node* Rewriter::make_before(Node& visited, const OpDef& op, std::vector<Value*> inputs,
                            Attributes attributes, std::vector<ValueType> types) {
  Node* node = graph_.make_node(*visited.block, op, std::move(inputs), std::move(attributes),
                                std::move(types));
  node->scope = visited.scope;
  node->base_name = visited.base_name;
  node->device = visited.device;
  node->location = visited.location;
  emitted_->push_back(node);
  changed_ = true;
  return node;
}

Value* Rewriter::make_constant_before(Node& visited, const Tensor& tensor) {
  const OpDef& op = get_op("Const");
  Attributes attributes =
      named_attributes(op, {{"value", tensor.owned()}, {"dtype", tensor.dtype()}});
  return make_before(visited, op, {}, std::move(attributes), {type_of_tensor(tensor)})->outputs[0];
}

void Rewriter::splice_before(Node& visited, Block& inner) {
  changed_ = true;
  std::vector<Node*> nodes = std::move(inner.nodes);
  inner.nodes.clear();
  for (Node* node : nodes) {
    adopt_node(*node, *visited.block);
    walk_node(*node);
  }
  replacements_.apply(inner.results);
}

void adopt_node(Node& node, Block& block) {
  node.block = &block;
  for (Value* output : node.outputs) output->block = &block;
}

void repair_control_inputs(Graph& graph) {
  for_each_block(graph, [](Block& block) {
    if (std::all_of(block.nodes.begin(), block.nodes.end(),
                    [](const Node* node) { return node->control_inputs.empty(); })) {
      return;
    }
    std::unordered_set<const Node*> before;
    for (Node* node : block.nodes) {
      std::erase_if(node->control_inputs,
                    [&](const Node* input) { return !before.contains(input); });
      before.insert(node);
    }
  });
}

void remove_values(std::vector<Value*>& values, const std::vector<bool>& keep) {
  size_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!keep[i]) continue;
    values[count] = values[i];
    values[count]->index = static_cast<uint32_t>(count);
    ++count;
  }
  values.resize(count);
}

}  // namespace graphwright::passes
