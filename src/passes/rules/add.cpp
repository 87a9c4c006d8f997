#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"AddV2", "x + 0 = x",
         [](Match& m) { return m.keep(m.has(kInteger) && m.is(1, 0.0) ? m.in(0) : nullptr); }},
    Rule{"AddV2", "0 + x = x",
         [](Match& m) { return m.keep(m.has(kInteger) && m.is(0, 0.0) ? m.in(1) : nullptr); }},
    Rule{"AddV2", "x + -0.0 = x",
         [](Match& m) { return m.keep(m.has(kFloating) && m.is(1, -0.0) ? m.in(0) : nullptr); }},
    Rule{"AddV2", "-0.0 + x = x",
         [](Match& m) { return m.keep(m.has(kFloating) && m.is(0, -0.0) ? m.in(1) : nullptr); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
