// Eager tensors that a trace took as constants because they are small.
//
// Whether a tape or accumulator watches such a tensor can change after the trace was made. A call
// that happens while one of them is watched uses a copy of the graph that takes it as a capture, so
// that its derivative exists.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace graphwright {

// Tensors of the graph's Const nodes, those of inner blocks and callees included, that can have a
// derivative. Each once.
std::vector<Tensor> differentiable_constants(const Graph& graph);

// A copy of the graph that captures these tensors. `callee_with_captures` gives the same of what a
// call calls, whose new captures come last.
std::shared_ptr<Graph> with_captured_constants(
    const Graph& graph, std::span<const Tensor> tensors,
    const std::function<std::shared_ptr<Callee>(const std::shared_ptr<Callee>&)>&
        callee_with_captures);

}  // namespace graphwright
