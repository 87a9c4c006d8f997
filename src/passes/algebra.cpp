// Applies the algebraic rules of src/passes/rules, in program order, so that what one rule makes is
// seen by those of the nodes behind.
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "passes/edit.h"
#include "passes/pass.h"
#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr int64_t kMaxConstantElements = 4096;

struct Registry {
  std::vector<const Rule*> all;
  std::unordered_map<const OpDef*, std::vector<const Rule*>> by_op;
  bool resolved = false;
};

// Made by its first user, as the op table is: files register in an unspecified order.
Registry& registry() {
  static Registry* instance = new Registry;
  return *instance;
}

const Registry& resolved_registry() {
  static const Registry& resolved = [&]() -> const Registry& {
    Registry& rules = registry();
    for (const Rule* rule : rules.all) rules.by_op[&get_op(rule->op)].push_back(rule);
    return rules;
  }();
  return resolved;
}

double half_value(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, sizeof half);
  return static_cast<double>(half);
}

double bfloat16_value(uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
}

// An element as a double, exactly; nullopt for dtypes whose numbers do not fit.
std::optional<double> element(const Tensor& tensor, int64_t index) {
  auto exact = [](int64_t value) -> std::optional<double> {
    if (value > (int64_t{1} << 53) || value < -(int64_t{1} << 53)) return std::nullopt;
    return static_cast<double>(value);
  };
  switch (tensor.dtype()) {
    case DType::kFloat:
      return static_cast<double>(tensor.data<float>()[index]);
    case DType::kDouble:
      return tensor.data<double>()[index];
    case DType::kHalf:
      return half_value(tensor.data<uint16_t>()[index]);
    case DType::kBfloat16:
      return bfloat16_value(tensor.data<uint16_t>()[index]);
    case DType::kBool:
      return tensor.data<bool>()[index] ? 1.0 : 0.0;
    case DType::kInt8:
      return tensor.data<int8_t>()[index];
    case DType::kInt16:
      return tensor.data<int16_t>()[index];
    case DType::kInt32:
      return tensor.data<int32_t>()[index];
    case DType::kInt64:
      return exact(tensor.data<int64_t>()[index]);
    case DType::kUint8:
      return tensor.data<uint8_t>()[index];
    case DType::kUint16:
      return tensor.data<uint16_t>()[index];
    case DType::kUint32:
      return tensor.data<uint32_t>()[index];
    case DType::kUint64: {
      uint64_t value = tensor.data<uint64_t>()[index];
      if (value > (uint64_t{1} << 53)) return std::nullopt;
      return static_cast<double>(value);
    }
    default:
      return std::nullopt;
  }
}

bool same_number(double left, double right) {
  return std::bit_cast<uint64_t>(left) == std::bit_cast<uint64_t>(right);
}

class Algebra final : public Rewriter {
 public:
  Algebra(Graph& graph, PassContext& context) : Rewriter(graph), context_(context) {}

 private:
  bool visit(Node& node) override {
    if (node.op->name == "IdentityN") {
      for (size_t i = 0; i < node.outputs.size(); ++i) replace(node.outputs[i], node.inputs[i]);
      return false;
    }
    if (!is_pure_leaf(node) || node.outputs.size() != 1) return true;
    // Where operands may not broadcast, the node must run to say so.
    if (node.op->has(kElementwise) && !node.op->has(kMayFail) && !cannot_fail(node)) return true;
    auto make = [&](const OpDef& op, std::vector<Value*> inputs, Attributes attributes,
                    std::vector<ValueType> types) {
      return make_before(node, op, std::move(inputs), std::move(attributes), std::move(types));
    };
    Match match(node, make);
    for (const Rule* rule : rules_of(*node.op)) {
      Value* result = rule->apply(match);
      if (!result || !Replacements::can_replace(*node.outputs[0], *result)) continue;
      if (context_.on_rule) context_.on_rule(rule->text);
      replace(node.outputs[0], result);
      return false;
    }
    return true;
  }

  PassContext& context_;
};

}  // namespace

void register_rules(std::span<const Rule> rules) {
  for (const Rule& rule : rules) registry().all.push_back(&rule);
}

std::span<const Rule* const> all_rules() { return resolved_registry().all; }

std::span<const Rule* const> rules_of(const OpDef& op) {
  const Registry& rules = resolved_registry();
  auto found = rules.by_op.find(&op);
  if (found == rules.by_op.end()) return {};
  return found->second;
}

bool Match::uniform(size_t index, double* number) const {
  const Tensor* tensor = constant_tensor(*in(index));
  if (!tensor || tensor->element_count() == 0 || tensor->element_count() > kMaxConstantElements) {
    return false;
  }
  for (int64_t i = 0; i < tensor->element_count(); ++i) {
    std::optional<double> value = element(*tensor, i);
    if (!value || (i > 0 && !same_number(*value, *number))) return false;
    *number = *value;
  }
  return true;
}

bool Match::is(size_t index, double number) const {
  double value;
  return uniform(index, &value) && same_number(value, number);
}

bool Match::integers(const Value* value, std::vector<int64_t>* elements) const {
  const Tensor* tensor = constant_tensor(*value);
  if (!tensor || !kIndex.contains(tensor->dtype()) || tensor->rank() > 1 ||
      tensor->element_count() > kMaxRank) {
    return false;
  }
  for (int64_t i = 0; i < tensor->element_count(); ++i) {
    elements->push_back(tensor->dtype() == DType::kInt32 ? tensor->data<int32_t>()[i]
                                                         : tensor->data<int64_t>()[i]);
  }
  return true;
}

const Node* Match::made_by(size_t index, std::string_view op) const {
  const Value& value = *in(index);
  return value.node && value.index == 0 && value.node->op->name == op ? value.node : nullptr;
}

Value* Match::keep(Value* value) const {
  if (!value || value->dtype() != dtype()) return nullptr;
  const PartialShape& wanted = node_.outputs[0]->shape();
  const PartialShape& given = value->shape();
  // Equal unknowns are equal only if they have names.
  bool same = wanted.has_rank() && wanted == given;
  for (Dim dim : given.dims()) same = same && dim != kUnknownDim;
  return same ? value : nullptr;
}

Value* Match::make(std::string_view op, std::vector<Value*> inputs, Attributes attributes) {
  for (const Value* input : inputs) {
    if (!input) return nullptr;
  }
  return make_(get_op(op), std::move(inputs), std::move(attributes), {node_.outputs[0]->type})
      ->outputs[0];
}

Value* Match::constant_like(size_t index, double number) {
  const Tensor* like = constant_tensor(*in(index));
  if (!like) return nullptr;
  Tensor tensor = Tensor::empty(like->dtype(), like->dims());
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if (like->dtype() == DType::kFloat) {
      tensor.mutable_data<float>()[i] = static_cast<float>(number);
    } else if (like->dtype() == DType::kDouble) {
      tensor.mutable_data<double>()[i] = number;
    } else {
      return nullptr;
    }
  }
  const OpDef& op = get_op("Const");
  Attributes attributes = named_attributes(op, {{"value", tensor}, {"dtype", tensor.dtype()}});
  return make_(op, {}, std::move(attributes), {type_of_tensor(tensor)})->outputs[0];
}

Value* Match::integer_vector(const Value* like, std::span<const int64_t> elements) {
  auto count = static_cast<int64_t>(elements.size());
  Tensor tensor = Tensor::empty(like->dtype(), std::span(&count, 1));
  for (size_t i = 0; i < elements.size(); ++i) {
    if (like->dtype() == DType::kInt32) {
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(elements[i]);
    } else {
      tensor.mutable_data<int64_t>()[i] = elements[i];
    }
  }
  const OpDef& op = get_op("Const");
  Attributes attributes = named_attributes(op, {{"value", tensor}, {"dtype", tensor.dtype()}});
  return make_(op, {}, std::move(attributes), {type_of_tensor(tensor)})->outputs[0];
}

void apply_algebra(Graph& graph, PassContext& context) { Algebra(graph, context).run(); }

}  // namespace graphwright::passes
