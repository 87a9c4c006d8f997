// Kernels of formulas, and how the rest of the program finds them.
//
// A file that holds formulas (src/ops/NAME.ops.cpp) ends with GW_FORMULA_FAMILY from
// kernels/formula_family.h. Compiled for a vector width it exports a table of kernels; compiled
// without, one FormulaDescriptor per formula, which op rows point to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "formulas/isa.h"
#include "formulas/signature.h"
#include "tensor/dtype.h"

namespace graphwright {

struct ExpressionGraph;  // formulas/expression.h

// Writes n elements of the result. Operands are contiguous where their step is 1, and one repeated
// element where it is 0; `out` may be an operand of step 1 that has the result's element size, but
// must not overlap operands in any other way. Returns -1, or the index of the first element that is
// in error (an integer division by zero); then elements of `out` from there on are unspecified.
using ElementwiseKernel = int64_t (*)(void* out, const void* const* operands, const int64_t* steps,
                                      int64_t n);

// One element; operands that the formula does not have are ignored. True if it is in error.
using ScalarKernel = bool (*)(void* out, const void* a, const void* b, const void* c);

// By dtype; null where the formula is not defined for it.
struct FormulaKernels {
  ElementwiseKernel elementwise[kDTypeCount];
  ScalarKernel scalar[kDTypeCount];
};

template <int Count>
struct FormulaKernelTable {
  FormulaKernels rows[Count];
};

struct FormulaDescriptor {
  std::string_view name;
  FormulaSignature signature;
  std::array<const FormulaKernels*, kIsaCount> kernels;
  // Records the formula for `type`; null when it is not defined for it.
  void (*record)(DType type, ExpressionGraph& graph);
  // Dtypes of which elements may be in error, and what to say then.
  DTypeSet error_types;
  std::string_view error_message;

  // Null where the formula is not defined for `type`.
  ElementwiseKernel elementwise(DType type) const {
    return kernels[static_cast<size_t>(current_isa())]->elementwise[static_cast<size_t>(type)];
  }
  ScalarKernel scalar(DType type) const {
    return kernels[static_cast<size_t>(current_isa())]->scalar[static_cast<size_t>(type)];
  }
  DType result_dtype(DType type) const { return operand_dtype(signature.result, type); }
};

// Every family of formulas there is, as a list; families add themselves.
struct FormulaFamily {
  FormulaFamily(const char* name, const FormulaDescriptor* formulas, int count);
  const char* name;
  const FormulaDescriptor* formulas;
  int count;
  const FormulaFamily* next;
};
const FormulaFamily* first_formula_family();
// Null if there is none of that name ("Tanh"); the first found where families share a name.
const FormulaDescriptor* find_formula(std::string_view name);

// The formula as an expression. Throws Error(kInvalidArgument) where it is not defined for `type`.
ExpressionGraph record_formula(const FormulaDescriptor& formula, DType type);

}  // namespace graphwright
