#include "kernels/formula_kernels.h"

#include <string>

#include "base/status.h"
#include "formulas/expression.h"

namespace graphwright {

namespace {
const FormulaFamily* families = nullptr;  // set while the library is loaded, read afterwards
}

FormulaFamily::FormulaFamily(const char* family_name, const FormulaDescriptor* first, int size)
    : name(family_name), formulas(first), count(size), next(families) {
  families = this;
}

const FormulaFamily* first_formula_family() { return families; }

const FormulaDescriptor* find_formula(std::string_view name) {
  for (const FormulaFamily* family = families; family; family = family->next) {
    for (int i = 0; i < family->count; ++i) {
      if (family->formulas[i].name == name) return &family->formulas[i];
    }
  }
  return nullptr;
}

ExpressionGraph record_formula(const FormulaDescriptor& formula, DType type) {
  if (!formula.signature.types.contains(type)) {
    throw_invalid_argument(std::string(formula.name) + " is not defined for " +
                           std::string(dtype_name(type)));
  }
  ExpressionGraph graph;
  formula.record(type, graph);
  return graph;
}

}  // namespace graphwright
