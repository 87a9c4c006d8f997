// Passes: functions that change a graph, each in a file of its own, run by name.
//
// A pass works on a copy of a trace, never on the trace. Whatever the graph's inputs, the changed
// graph gives the same results, bit for bit (NaN's sign and payload excepted), has the same effects
// in the same order and raises the same errors; only what nobody needs may be left out, though it
// would have failed. A pass takes time linear in the size of the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace graphwright {

class Builder;

namespace passes {

struct PassContext {
  // Runs ops at once, for constant folding: the eager builder. Null: nothing is folded.
  Builder* evaluator = nullptr;
  // Told of every algebraic rule that was applied, by its text. For tests.
  std::function<void(std::string_view rule)> on_rule;
};

struct Pass {
  std::string_view name;  // as pipelines are written: "cse"
  std::string_view doc;   // one sentence
  void (*run)(Graph& graph, PassContext& context);
};

// Every pass, in the order in which the standard pipeline runs them.
std::span<const Pass> all_passes();
const Pass* find_pass(std::string_view name);  // null if there is none

// "prune,cse" as passes; "all" stands for the standard pipeline, "" for none. InvalidArgument that
// names a pass that does not exist.
std::vector<const Pass*> parse_pipeline(std::string_view names);

// Runs the passes in order, each on the result of the one before. With `verify`, every result is
// checked: Internal naming the pass that broke a rule.
void run_passes(Graph& graph, std::span<const Pass* const> pipeline, PassContext& context,
                bool verify);

// A copy of the trace after the standard pipeline: what plans are made of. The environment variable
// GRAPHWRIGHT_PASSES names another pipeline ("" for none), GRAPHWRIGHT_VERIFY_PASSES=1 verifies
// after every pass; both are read once.
std::shared_ptr<Graph> optimise(const Graph& trace, Builder& evaluator);

// The passes, in files named after them.
void inline_calls(Graph& graph, PassContext& context);
void refine_shapes(Graph& graph, PassContext& context);
void fold_constants(Graph& graph, PassContext& context);
void apply_algebra(Graph& graph, PassContext& context);
void remove_dead_branches(Graph& graph, PassContext& context);
void convert_ifs(Graph& graph, PassContext& context);
void hoist_invariants(Graph& graph, PassContext& context);
void merge_common_subexpressions(Graph& graph, PassContext& context);
void prune(Graph& graph, PassContext& context);

}  // namespace passes
}  // namespace graphwright
