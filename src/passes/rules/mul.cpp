#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// Not for complex numbers: of inf * (1 + 0i), the imaginary part is NaN.
constexpr DTypeSet kReal = kInteger | kFloating;
constexpr DTypeSet kSigned = kSignedInteger | kFloating;
constexpr std::array kRules{
    Rule{"Mul", "x * 1 = x",
         [](Match& m) { return m.keep(m.has(kReal) && m.is(1, 1) ? m.in(0) : nullptr); }},
    Rule{"Mul", "1 * x = x",
         [](Match& m) { return m.keep(m.has(kReal) && m.is(0, 1) ? m.in(1) : nullptr); }},
    Rule{"Mul", "x * -1 = -x",
         [](Match& m) {
           return m.make("Neg", {m.keep(m.has(kSigned) && m.is(1, -1) ? m.in(0) : nullptr)});
         }},
    Rule{"Mul", "-1 * x = -x",
         [](Match& m) {
           return m.make("Neg", {m.keep(m.has(kSigned) && m.is(0, -1) ? m.in(1) : nullptr)});
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
