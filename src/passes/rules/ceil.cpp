#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"Ceil", "ceil(ceil(x)) = ceil(x)",
         [](Match& m) { return m.keep(m.made_by(0, "Ceil") ? m.in(0) : nullptr); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
