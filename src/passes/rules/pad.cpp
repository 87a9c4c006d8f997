#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"Pad", "pad(x) to its own shape = x",
         [](Match& m) {
           return m.in(0)->shape().is_fully_defined() && m.is(1, 0.0) ? m.keep(m.in(0)) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
