#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

constexpr std::array kRules{
    Rule{"ConcatV2", "concat([x]) = x",
         [](Match& m) {
           double axis;
           return m.input_count() == 2 && m.uniform(1, &axis) ? m.keep(m.in(0)) : nullptr;
         }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
