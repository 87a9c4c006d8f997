#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// Every number of `from` is a number of `to`.
bool embeds(DType from, DType to) {
  if (from == to) return true;
  switch (from) {
    case DType::kBool:
      return (kNumeric).contains(to);
    case DType::kInt8:
      return DTypeSet::of(DType::kInt16, DType::kInt32, DType::kInt64, DType::kFloat,
                          DType::kDouble)
          .contains(to);
    case DType::kUint8:
      return DTypeSet::of(DType::kInt16, DType::kUint16, DType::kInt32, DType::kUint32,
                          DType::kInt64, DType::kUint64, DType::kFloat, DType::kDouble)
          .contains(to);
    case DType::kInt16:
      return DTypeSet::of(DType::kInt32, DType::kInt64, DType::kFloat, DType::kDouble).contains(to);
    case DType::kUint16:
      return DTypeSet::of(DType::kInt32, DType::kUint32, DType::kInt64, DType::kUint64,
                          DType::kFloat, DType::kDouble)
          .contains(to);
    case DType::kInt32:
      return DTypeSet::of(DType::kInt64, DType::kDouble).contains(to);
    case DType::kUint32:
      return DTypeSet::of(DType::kInt64, DType::kUint64, DType::kDouble).contains(to);
    case DType::kHalf:
    case DType::kBfloat16:
      return kReal32And64.contains(to);
    case DType::kFloat:
      return to == DType::kDouble;
    default:
      return false;
  }
}

// Through a wider dtype and on: the number is the same, so the last conversion sees the same. From
// floating to integer it would not do: what does not fit an integer depends on the width.
Value* through_wider(Match& m) {
  const Node* inner = m.made_by(0, "Cast");
  if (!inner) return nullptr;
  DType from = inner->inputs[0]->dtype(), wide = m.in(0)->dtype(), to = m.dtype();
  if (!embeds(from, wide)) return nullptr;
  if (from == to) return m.keep(inner->inputs[0]);
  bool integers = kInteger.contains(from) && kInteger.contains(wide) && kInteger.contains(to);
  bool widening = embeds(from, to) && kReal32And64.contains(to);
  return integers || widening ? m.make("Cast", {inner->inputs[0]}, m.node().attributes) : nullptr;
}

constexpr std::array kRules{
    Rule{"Cast", "cast(x, dtype(x)) = x", [](Match& m) { return m.keep(m.in(0)); }},
    Rule{"Cast", "cast(cast(x, wider), t) = cast(x, t)", through_wider},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
