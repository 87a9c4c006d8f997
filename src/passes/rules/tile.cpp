#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

bool all_are(const Match& m, size_t index, int64_t number) {
  std::vector<int64_t> elements;
  if (!m.integers(m.in(index), &elements)) return false;
  for (int64_t element : elements) {
    if (element != number) return false;
  }
  return true;
}

constexpr std::array kRules{
    Rule{"Tile", "tile(x, 1 1...) = x",
         [](Match& m) { return m.keep(all_are(m, 1, 1) ? m.in(0) : nullptr); }},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
