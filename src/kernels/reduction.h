// Reductions of tensors over some of their axes.
//
// The order of operations depends on the number of reduced elements alone (reduction_kernels.h), so
// results have the same bits for every vector width, number of threads and layout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formulas/isa.h"
#include "tensor/dtype.h"

namespace graphwright {

enum class ReductionKind : uint8_t {
  kSum,      // integers wrap
  kProduct,  // integers wrap
  kMaximum,  // NaN wins; of nothing: -infinity or the least integer
  kMinimum,
  kMean,  // integers: rounded towards zero; of nothing: NaN, 0 for integers and complex numbers
  kAll,   // of bool
  kAny,
};

// The dtypes that a reduction is defined for.
DTypeSet reduction_types(ReductionKind kind);

// Reduces the axes of `dims` for which reduced[axis] is true. `result` gets the others, in order,
// row-major. half and bfloat16 are accumulated in float32 and rounded once, small integers in wider
// ones and wrapped once. Of a single element the reduction is that element, -0 included.
void reduce(ReductionKind kind, DType type, const void* input, std::span<const int64_t> dims,
            const std::vector<bool>& reduced, void* result);
// The same at a given vector width, which the CPU must have.
void reduce_at_width(Isa isa, ReductionKind kind, DType type, const void* input,
                     std::span<const int64_t> dims, const std::vector<bool>& reduced, void* result);

// The index along the middle dim of the largest (or smallest) of each [outer, size, inner] column;
// the first of equal ones. NaNs are passed over; of nothing but NaNs: 0. size must not be 0. Real
// dtypes and bool.
void arg_reduce(bool largest, DType type, const void* input, int64_t outer, int64_t size,
                int64_t inner, int64_t* result);

}  // namespace graphwright
