#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// A slice with as many elements in every dimension can only be the whole.
constexpr std::array kRules{
    Rule{"Slice", "slice(x) of all = x",
         [](Match& m) { return m.in(0)->shape().is_fully_defined() ? m.keep(m.in(0)) : nullptr; }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
