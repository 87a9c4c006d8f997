// Derivatives of graphs, as graphs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/rule_context.h"

namespace graphwright {

// Forward and backward halves of a graph's reverse derivative.
struct ReverseDerivative {
  // The original's arguments; its results, then the values that `backward` needs.
  std::shared_ptr<Graph> forward;
  int saved_count = 0;
  // Arguments: one dense gradient per result in `result_indices`, then the saved values. Results:
  // one gradient per argument in `argument_indices`: a tensor, or the three parts of IndexedSlices
  // where `is_sparse` says so.
  std::shared_ptr<Graph> backward;
  std::vector<int> result_indices;
  std::vector<int> argument_indices;  // arguments that have a gradient; the others have none
  std::vector<bool> is_sparse;        // for each of argument_indices
};
// `needed[i]`: body argument i (captures included) wants a gradient. `reached[i]`: a gradient of
// result i will be given; empty: of every result that can have one.
ReverseDerivative build_reverse_derivative(const Graph& graph, const std::vector<bool>& needed,
                                           const std::vector<bool>& reached = {});

// Arguments: the original's, then one tangent per argument with has_tangent. Results: the
// original's, then one tangent for each result in `tangent_results`.
struct ForwardDerivative {
  std::shared_ptr<Graph> graph;
  std::vector<int> tangent_results;
};
ForwardDerivative build_forward_derivative(const Graph& graph,
                                           const std::vector<bool>& has_tangent);

}  // namespace graphwright
