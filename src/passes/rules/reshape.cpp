#include "passes/edit.h"
#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// The same elements in the same order, of a node that is certain to succeed.
Value* before_reshape(const Match& m) {
  for (std::string_view op : {"Reshape", "ExpandDims", "Squeeze"}) {
    const Node* n = m.made_by(0, op);
    if (n && cannot_fail(*n)) return n->inputs[0];
  }
  return nullptr;
}

constexpr std::array kRules{
    Rule{"Reshape", "reshape(x, shape(x)) = x", [](Match& m) { return m.keep(m.in(0)); }},
    Rule{"Reshape", "reshape(reshape(x, s), t) = reshape(x, t)",
         [](Match& m) { return m.make("Reshape", {before_reshape(m), m.in(1)}); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
