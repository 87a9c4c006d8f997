#include <cstdlib>
#include <optional>

#include "base/status.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

// Calls first, so that everything after sees through them; what the others leave unused goes last.
// Each sees the results of those before: folding makes conditions constant, dead branches make
// values equal, hoisting makes equal nodes of two loops visible to each other.
constexpr Pass kPasses[] = {
    {"inline", "Puts the bodies of small or once-called functions in place of their calls.",
     inline_calls},
    {"shapes", "Learns sizes from what is known by now, and which sizes loops and calls keep.",
     refine_shapes},
    {"fold", "Computes nodes whose inputs are constants, and shapes that are known.",
     fold_constants},
    {"algebra", "Applies the rules of src/passes/rules: x * 1 = x and the like.", apply_algebra},
    {"branches", "Removes branches that are never taken and loops that never run.",
     remove_dead_branches},
    {"if-convert", "Turns branches between cheap scalars into selections.", convert_ifs},
    {"hoist", "Moves what does not change in a loop out of it.", hoist_invariants},
    {"cse", "Computes equal values once; reads are equal between writes.",
     merge_common_subexpressions},
    {"prune", "Removes nodes, loop variables and results of branches that nobody needs.", prune},
};

// What a pass needs to find anything to do. One look at the graph spares small ones the walks.
struct Contents {
  bool calls = false;
  bool blocks = false;
};

void look(const Block& block, Contents& contents) {
  for (const Node* node : block.nodes) {
    if (node->callee) contents.calls = true;
    if (!node->blocks.empty()) contents.blocks = true;
    for (const auto& inner : node->blocks) look(*inner, contents);
  }
}

bool has_work(const Pass& pass, const Contents& contents) {
  if (pass.run == inline_calls) return contents.calls;
  if (pass.run == remove_dead_branches || pass.run == convert_ifs || pass.run == hoist_invariants) {
    return contents.blocks || contents.calls;
  }
  return true;
}

struct Settings {
  std::vector<const Pass*> pipeline;
  bool verify;
};

const Settings& settings() {
  static const Settings instance = [] {
    const char* pipeline = std::getenv("GRAPHWRIGHT_PASSES");
    const char* verify = std::getenv("GRAPHWRIGHT_VERIFY_PASSES");
    return Settings{parse_pipeline(pipeline ? pipeline : "all"),
                    verify && *verify && std::string_view(verify) != "0"};
  }();
  return instance;
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

std::vector<const Pass*> parse_pipeline(std::string_view names) {
  std::vector<const Pass*> pipeline;
  while (!names.empty()) {
    size_t comma = names.find(',');
    std::string_view name = names.substr(0, comma);
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
    if (name == "all") {
      for (const Pass& pass : kPasses) pipeline.push_back(&pass);
    } else if (const Pass* pass = find_pass(name)) {
      pipeline.push_back(pass);
    } else {
      throw_invalid_argument("there is no pass '" + std::string(name) + "'");
    }
  }
  return pipeline;
}

void run_passes(Graph& graph, std::span<const Pass* const> pipeline, PassContext& context,
                bool verify) {
  Contents contents;
  look(graph.body(), contents);
  for (const Pass* pass : pipeline) {
    if (!has_work(*pass, contents)) continue;
    pass->run(graph, context);
    if (!verify) continue;
    try {
      verify_graph(graph);
    } catch (const Error& error) {
      throw_internal("after the pass '" + std::string(pass->name) + "': " + error.what());
    }
  }
}

std::shared_ptr<Graph> optimise(const Graph& trace, Builder& evaluator) {
  std::shared_ptr<Graph> graph = copy_graph(trace);
  PassContext context;
  context.evaluator = &evaluator;
  run_passes(*graph, settings().pipeline, context, settings().verify);
  graph->freeze();
  return graph;
}

}  // namespace graphwright::passes
