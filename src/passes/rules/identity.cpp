#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// Forwards its input as it is, whatever its type.
Value* same(Match& m) { return m.in(0); }

constexpr std::array kRules{
    Rule{"Identity", "identity(x) = x", same},
    Rule{"StopGradient", "stop_gradient(x) = x", same},
    Rule{"PreventGradient", "prevent_gradient(x) = x", same},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
