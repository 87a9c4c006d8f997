#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"BroadcastTo", "broadcast_to(x, shape(x)) = x", [](Match& m) { return m.keep(m.in(0)); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
