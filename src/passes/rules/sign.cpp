#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// Not for complex numbers, whose sign x / |x| rounds.
constexpr std::array kRules{
    Rule{"Sign", "sign(sign(x)) = sign(x)",
         [](Match& m) {
           return m.keep(m.has(kInteger | kFloating) && m.made_by(0, "Sign") ? m.in(0) : nullptr);
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
