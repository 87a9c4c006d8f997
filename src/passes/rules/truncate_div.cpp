#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"TruncateDiv", "truncate(x / 1) = x",
         [](Match& m) { return m.keep(m.has(kInteger) && m.is(1, 1) ? m.in(0) : nullptr); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
