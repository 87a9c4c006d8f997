#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"Squeeze", "squeeze(x) = x", [](Match& m) { return m.keep(m.in(0)); }},
    Rule{"Squeeze", "squeeze(expand_dims(x)) = x",
         [](Match& m) {
           const Node* n = m.made_by(0, "ExpandDims");
           return m.keep(n ? n->inputs[0] : nullptr);
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
