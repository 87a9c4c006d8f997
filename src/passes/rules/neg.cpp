#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// -(x - y) = y - x holds of integers only: of equal floats, one side is -0.
constexpr std::array kRules{
    Rule{"Neg", "-(-x) = x",
         [](Match& m) {
           const Node* n = m.made_by(0, "Neg");
           return m.keep(n ? n->inputs[0] : nullptr);
         }},
    Rule{"Neg", "-(x - y) = y - x",
         [](Match& m) {
           const Node* n = m.has(kInteger) ? m.made_by(0, "Sub") : nullptr;
           return n ? m.make("Sub", {n->inputs[1], n->inputs[0]}) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
