#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// A slice from 0 with as many elements in every dimension is the whole; from elsewhere it fails.
constexpr std::array kRules{
    Rule{"Slice", "slice(x) of all = x",
         [](Match& m) {
           return m.in(0)->shape().is_fully_defined() && m.is(1, 0.0) ? m.keep(m.in(0)) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
