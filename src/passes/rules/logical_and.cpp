#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"LogicalAnd", "x and x = x",
         [](Match& m) { return m.keep(m.in(0) == m.in(1) ? m.in(0) : nullptr); }},
    Rule{"LogicalAnd", "x and true = x",
         [](Match& m) { return m.keep(m.is(1, 1) ? m.in(0) : nullptr); }},
    Rule{"LogicalAnd", "true and x = x",
         [](Match& m) { return m.keep(m.is(0, 1) ? m.in(1) : nullptr); }},
    Rule{"LogicalAnd", "x and false = false",
         [](Match& m) { return m.keep(m.is(1, 0) ? m.in(1) : nullptr); }},
    Rule{"LogicalAnd", "false and x = false",
         [](Match& m) { return m.keep(m.is(0, 0) ? m.in(0) : nullptr); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
