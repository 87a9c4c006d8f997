// The reference interpreter of scalar expressions: slow, and exact. Kernels and compiled code must
// give the same bits (NaN sign and payload excepted).
#pragma once

#include <cstdint>

#include "formulas/expression.h"

namespace graphwright {

// Computes `count` elements. operands[k] has elements of graph.argument_types[k], `steps[k]`
// elements apart; `result` is contiguous, of graph.result_type. Returns -1, or the index of the
// first element in error.
int64_t interpret_expression(const ExpressionGraph& graph, void* result,
                             const void* const* operands, const int64_t* steps, int64_t count);

}  // namespace graphwright
