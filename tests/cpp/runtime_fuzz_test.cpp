// Random programs: plans give what a naive interpreter gives, bit for bit.
#include <cstdlib>

#include <doctest/doctest.h>

#include "random_programs.h"
#include "runtime/plan.h"

namespace graphwright {
namespace {

// One program; false (with a message) where plan and interpreter differ.
bool try_program(uint32_t seed) {
  testing::RandomProgram program(seed);
  const Graph& graph = *program.graph;
  verify_graph(graph);

  program.reset();
  std::vector<Tensor> expected = testing::GraphInterpreter::run(graph, program.inputs);
  Tensor expected_variable = program.variable->read();
  std::shared_ptr<Plan> plan = compile_plan(graph);
  for (int repeat = 0; repeat < 3; ++repeat) {
    program.reset();
    std::vector<Tensor> outputs(expected.size());
    Status status = run_plan(*plan, program.inputs, outputs);
    bool ok = status.ok() && testing::same(program.variable->read(), expected_variable);
    for (size_t i = 0; ok && i < outputs.size(); ++i) {
      ok = testing::same(outputs[i], expected[i]) &&
           !(outputs[i].impl()->flags & TensorImpl::kBorrowed);
    }
    if (!ok) {
      MESSAGE("seed " << seed << ", run " << repeat << ": " << status.message() << "\n"
                      << graph_to_text(graph) << plan_to_text(*plan));
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("random programs run as the interpreter runs them") {
  // GRAPHWRIGHT_FUZZ_PROGRAMS=100000 for more, GRAPHWRIGHT_FUZZ_SEED to start elsewhere.
  const char* count_text = std::getenv("GRAPHWRIGHT_FUZZ_PROGRAMS");
  const char* seed_text = std::getenv("GRAPHWRIGHT_FUZZ_SEED");
  const int count = count_text ? std::atoi(count_text) : 2000;
  const auto first = static_cast<uint32_t>(seed_text ? std::atoi(seed_text) : 1);
  int failures = 0;
  for (int i = 0; i < count && failures < 3; ++i) {
    if (!try_program(first + static_cast<uint32_t>(i))) ++failures;
  }
  CHECK(failures == 0);
}

}  // namespace graphwright
