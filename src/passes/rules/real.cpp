#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"Real", "real(complex(x, y)) = x",
         [](Match& m) {
           const Node* n = m.made_by(0, "Complex");
           return m.keep(n ? n->inputs[0] : nullptr);
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
