// The part of a graph between some of its values: what computes the fetches from the feeds.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ir/graph.h"

namespace graphwright {

// A graph whose arguments stand for `feeds`, in order, and whose results are `fetches`; nodes that
// the fetches or `nodes` depend on by data, by control inputs or by the order of effects come
// along. All must belong to the body of `graph`. Captures that are needed stay captures. ValueError
// naming an argument of the graph that is needed but not fed.
std::shared_ptr<Graph> slice_graph(const Graph& graph, std::string name,
                                   std::span<Value* const> feeds, std::span<Value* const> fetches,
                                   std::span<const Node* const> nodes);

}  // namespace graphwright
