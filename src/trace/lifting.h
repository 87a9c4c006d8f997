// Initial values of variables that a function makes the first time it is traced.
#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"
#include "trace/build_context.h"

namespace graphwright {

// Computes the initial values in the order the variables were made and assigns them, running only
// the part of the trace that they depend on. `inputs` are the tensors of this call, one per
// declared argument, null where the call gave only a type. ValueError when a value depends on a
// branch, on a loop body, or on an input that is not known.
void initialize_lifted_variables(const Graph& graph, std::span<const LiftedVariable> variables,
                                 std::span<const Tensor> inputs);
// The same after a trace that threw, for those variables whose initial values can be computed: the
// program may hold them, and does not make them again when it calls the function once more.
void initialize_after_failure(const Graph& graph, std::span<const LiftedVariable> variables,
                              std::span<const Tensor> inputs) noexcept;

}  // namespace graphwright
