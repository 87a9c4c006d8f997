#include "passes/edit.h"
#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"ReverseV2", "reverse(reverse(x, a), a) = x",
         [](Match& m) {
           const Node* n = m.made_by(0, "ReverseV2");
           return n && n->inputs[1] == m.in(1) && cannot_fail(*n) ? m.keep(n->inputs[0]) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
