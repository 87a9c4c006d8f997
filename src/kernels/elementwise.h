// Runs formulas on whole tensors: broadcasting, strided operands and threads.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/formula_kernels.h"
#include "tensor/dtype.h"

namespace graphwright {

struct ElementwiseOperand {
  const void* data = nullptr;
  std::span<const int64_t> dims;     // broadcast against the result's as NumPy does
  std::span<const int64_t> strides;  // in elements; empty: contiguous, row-major
};

// result[i...] = formula(operands[i...]). `dims` are the result's: the broadcast of the operands'.
// The result is contiguous; it may share memory with a contiguous operand of its own dims and
// element size. Bits do not depend on the number of threads. Returns -1, or the least flat index of
// the result at which an element is in error (an integer division by zero). The formula must be
// defined for `type`.
int64_t run_elementwise(const FormulaDescriptor& formula, DType type, void* result,
                        std::span<const int64_t> dims,
                        std::span<const ElementwiseOperand> operands);

// The same where every operand has either the result's dims (step 1) or one element (step 0).
int64_t run_elementwise_flat(ElementwiseKernel kernel, const FormulaSignature& signature,
                             DType type, void* result, const void* const* operands,
                             const int64_t* steps, int64_t count);

}  // namespace graphwright
