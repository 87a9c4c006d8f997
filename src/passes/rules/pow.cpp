#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// The square of a float is rounded once, its power not always to the nearest.
constexpr std::array kRules{
    Rule{"Pow", "x ** 1 = x",
         [](Match& m) {
           return m.keep(m.has(kSignedInteger | kFloating) && m.is(1, 1) ? m.in(0) : nullptr);
         }},
    Rule{"Pow", "x ** 2 = x * x",
         [](Match& m) {
           return m.make("Square",
                         {m.keep(m.has(kSignedInteger) && m.is(1, 2) ? m.in(0) : nullptr)});
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
