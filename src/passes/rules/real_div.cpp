#include <cmath>

#include "passes/rules/rule.h"

namespace graphwright::passes {
namespace {

// 1/c where dividing by c and multiplying by it round the same number: c and 1/c are powers of two.
bool exact_reciprocal(const Match& m, double* reciprocal) {
  double number;
  if (!m.has(kReal32And64) || !m.uniform(1, &number) || !std::isnormal(number)) return false;
  int exponent;
  if (std::fabs(std::frexp(number, &exponent)) != 0.5) return false;
  *reciprocal = 1 / number;
  return m.dtype() == DType::kDouble ? std::isnormal(*reciprocal)
                                     : std::isnormal(static_cast<float>(*reciprocal));
}

Value* multiply_instead(Match& m) {
  double reciprocal;
  if (!exact_reciprocal(m, &reciprocal)) return nullptr;
  return m.make("Mul", {m.in(0), m.constant_like(1, reciprocal)});
}

constexpr std::array kRules{
    Rule{"RealDiv", "x / 1 = x",
         [](Match& m) { return m.keep(m.has(kFloating) && m.is(1, 1) ? m.in(0) : nullptr); }},
    Rule{"RealDiv", "x / -1 = -x",
         [](Match& m) {
           return m.make("Neg", {m.keep(m.has(kFloating) && m.is(1, -1) ? m.in(0) : nullptr)});
         }},
    Rule{"RealDiv", "x / 2^k = x * 2^-k", multiply_instead},
};

}  // namespace
GW_REGISTER_RULES(kRules)
}  // namespace graphwright::passes
