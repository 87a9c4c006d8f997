#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// Subtracting +0 changes no float: -0 - 0 is -0.
constexpr std::array kRules{
    Rule{"Sub", "x - 0 = x",
         [](Match& m) {
           return m.keep(m.has(kInteger | kFloating) && m.is(1, 0.0) ? m.in(0) : nullptr);
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
