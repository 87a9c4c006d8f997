#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"SelectV2", "true ? x : y = x",
         [](Match& m) { return m.keep(m.is(0, 1) ? m.in(1) : nullptr); }},
    Rule{"SelectV2", "false ? x : y = y",
         [](Match& m) { return m.keep(m.is(0, 0.0) ? m.in(2) : nullptr); }},
    Rule{"SelectV2", "c ? x : x = x",
         [](Match& m) { return m.keep(m.in(1) == m.in(2) ? m.in(1) : nullptr); }},
    Rule{"SelectV2", "not c ? x : y = c ? y : x",
         [](Match& m) {
           const Node* n = m.made_by(0, "LogicalNot");
           return n ? m.make("SelectV2", {n->inputs[0], m.in(2), m.in(1)}) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
