#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// A permutation that changes nothing, of a value of known rank.
bool is_identity(const Match& m) {
  std::vector<int64_t> order;
  if (!m.integers(m.in(1), &order) || m.in(0)->shape().rank() != static_cast<int>(order.size()))
    return false;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// transpose(transpose(x, p), q)[..] = transpose(x, p[q]).
Value* combined(Match& m) {
  const Node* inner = m.made_by(0, "Transpose");
  std::vector<int64_t> first, second;
  if (!inner || !m.integers(inner->inputs[1], &first) || !m.integers(m.in(1), &second) ||
      first.size() != second.size())
    return nullptr;
  std::vector<int64_t> order, seen(first.size());
  for (int64_t axis : second) {
    if (axis < 0 || axis >= static_cast<int64_t>(first.size()) || seen[static_cast<size_t>(axis)]++)
      return nullptr;
    order.push_back(first[static_cast<size_t>(axis)]);
  }
  return m.make("Transpose", {inner->inputs[0], m.integer_vector(m.in(1), order)});
}

// Both permutations together change nothing.
Value* undone(Match& m) {
  const Node* inner = m.made_by(0, "Transpose");
  std::vector<int64_t> first, second;
  if (!inner || !m.integers(inner->inputs[1], &first) || !m.integers(m.in(1), &second) ||
      first.size() != second.size())
    return nullptr;
  for (size_t i = 0; i < second.size(); ++i) {
    if (second[i] < 0 || second[i] >= static_cast<int64_t>(first.size()) ||
        first[static_cast<size_t>(second[i])] != static_cast<int64_t>(i))
      return nullptr;
  }
  return m.keep(inner->inputs[0]);
}

constexpr std::array kRules{
    Rule{"Transpose", "transpose(x, 0 1 2...) = x",
         [](Match& m) { return is_identity(m) ? m.keep(m.in(0)) : nullptr; }},
    Rule{"Transpose", "transpose(transpose(x)) = x", undone},
    Rule{"Transpose", "transpose(transpose(x, p), q) = transpose(x, p[q])", combined},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
