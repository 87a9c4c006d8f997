#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"Imag", "imag(complex(x, y)) = y",
         [](Match& m) {
           const Node* n = m.made_by(0, "Complex");
           return m.keep(n ? n->inputs[1] : nullptr);
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
