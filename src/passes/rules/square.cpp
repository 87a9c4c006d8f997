#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr DTypeSet kReal = kInteger | kFloating;
constexpr std::array kRules{
    Rule{"Square", "(-x)**2 = x**2",
         [](Match& m) {
           const Node* n = m.has(kReal) ? m.made_by(0, "Neg") : nullptr;
           return n ? m.make("Square", {n->inputs[0]}) : nullptr;
         }},
    Rule{"Square", "abs(x)**2 = x**2",
         [](Match& m) {
           const Node* n = m.has(kReal) ? m.made_by(0, "Abs") : nullptr;
           return n ? m.make("Square", {n->inputs[0]}) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
