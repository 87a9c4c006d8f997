#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"Abs", "abs(abs(x)) = abs(x)",
         [](Match& m) { return m.keep(m.made_by(0, "Abs") ? m.in(0) : nullptr); }},
    Rule{"Abs", "abs(-x) = abs(x)",
         [](Match& m) {
           const Node* n = m.made_by(0, "Neg");
           return n ? m.make("Abs", {n->inputs[0]}) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
