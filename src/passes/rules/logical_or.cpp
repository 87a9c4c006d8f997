#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"LogicalOr", "x or x = x",
         [](Match& m) { return m.keep(m.in(0) == m.in(1) ? m.in(0) : nullptr); }},
    Rule{"LogicalOr", "x or false = x",
         [](Match& m) { return m.keep(m.is(1, 0) ? m.in(0) : nullptr); }},
    Rule{"LogicalOr", "false or x = x",
         [](Match& m) { return m.keep(m.is(0, 0) ? m.in(1) : nullptr); }},
    Rule{"LogicalOr", "x or true = true",
         [](Match& m) { return m.keep(m.is(1, 1) ? m.in(1) : nullptr); }},
    Rule{"LogicalOr", "true or x = true",
         [](Match& m) { return m.keep(m.is(0, 1) ? m.in(0) : nullptr); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
