#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// The opposite of an ordering holds of integers only: NaN is in no order.
Value* opposite(Match& m, std::string_view op, std::string_view opposite_op, bool any_dtype) {
  const Node* n = m.made_by(0, op);
  if (!n || !(any_dtype || kInteger.contains(n->inputs[0]->dtype()))) return nullptr;
  return m.make(opposite_op, {n->inputs[0], n->inputs[1]}, n->attributes);
}

constexpr std::array kRules{
    Rule{"LogicalNot", "not not x = x",
         [](Match& m) {
           const Node* n = m.made_by(0, "LogicalNot");
           return m.keep(n ? n->inputs[0] : nullptr);
         }},
    Rule{"LogicalNot", "not (x == y) = x != y",
         [](Match& m) { return opposite(m, "Equal", "NotEqual", true); }},
    Rule{"LogicalNot", "not (x != y) = x == y",
         [](Match& m) { return opposite(m, "NotEqual", "Equal", true); }},
    Rule{"LogicalNot", "not (x < y) = x >= y",
         [](Match& m) { return opposite(m, "Less", "GreaterEqual", false); }},
    Rule{"LogicalNot", "not (x <= y) = x > y",
         [](Match& m) { return opposite(m, "LessEqual", "Greater", false); }},
    Rule{"LogicalNot", "not (x > y) = x <= y",
         [](Match& m) { return opposite(m, "Greater", "LessEqual", false); }},
    Rule{"LogicalNot", "not (x >= y) = x < y",
         [](Match& m) { return opposite(m, "GreaterEqual", "Less", false); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
