#include "ir/builder.h"
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

// The shape asked for is the input's, size by size, and -1 at most where nothing can be empty: no
// check is left that could fail.
bool asks_for_own_shape(const Match& m) {
  std::optional<PartialVector> wanted = partial_constant_vector(Operand(m.in(1)));
  if (!wanted) return false;
  bool has_rest = false, all_known = true;
  for (size_t i = 0; i < wanted->values.size(); ++i) {
    if (wanted->known[i]) {
      has_rest = has_rest || wanted->values[i] < 0;
      all_known = all_known && wanted->values[i] != 0;
    } else if (is_symbol(wanted->values[i])) {
      all_known = false;
    } else {
      return false;
    }
  }
  return !has_rest || all_known;
}

constexpr std::array kRules{
    Rule{"Reshape", "reshape(x, shape(x)) = x",
         [](Match& m) { return asks_for_own_shape(m) ? m.keep(m.in(0)) : nullptr; }},
    Rule{"Reshape", "reshape(reshape(x, s), t) = reshape(x, t)",
         [](Match& m) { return m.make("Reshape", {before_reshape(m), m.in(1)}); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
