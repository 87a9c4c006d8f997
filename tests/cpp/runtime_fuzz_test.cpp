// Random programs: plans give what a naive interpreter gives, bit for bit.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "random_programs.h"
#include "runtime/lowering.h"
#include "runtime/plan.h"

namespace graphwright {
namespace {

// One program; false (with a message) where plan and interpreter differ.
bool try_program(uint32_t seed) {
  testing::RandomProgram program(seed);
  const Graph& graph = *program.graph;
  verify_graph(graph);

  // The shapes of arguments change from run to run, and back.
  const std::vector<Tensor>* inputs[] = {&program.inputs, &program.other_inputs};
  std::vector<Tensor> expected[2];
  Tensor expected_variable[2];
  for (size_t i = 0; i < 2; ++i) {
    program.reset();
    expected[i] = testing::GraphInterpreter::run(graph, *inputs[i]);
    expected_variable[i] = program.variable->read();
  }
  struct {
    std::string form;
    std::shared_ptr<Plan> plan;
  } const plans[] = {{"optimised", compile_plan(graph)},
                     {"plain", runtime::lower_graph(graph, nullptr)},
                     {"general", runtime::lower_graph(graph, nullptr, /*sized=*/false)}};
  for (const auto& [form, plan] : plans) {
    for (size_t repeat = 0; repeat < 4; ++repeat) {
      const size_t which = repeat % 3 % 2;
      program.reset();
      std::vector<Tensor> outputs(expected[which].size());
      Status status = run_plan(*plan, *inputs[which], outputs);
      bool ok = status.ok() && testing::same(program.variable->read(), expected_variable[which]);
      for (size_t i = 0; ok && i < outputs.size(); ++i) {
        ok = testing::same(outputs[i], expected[which][i]) &&
             !(outputs[i].impl()->flags & TensorImpl::kBorrowed);
        if (!ok) MESSAGE("result " << i);
      }
      if (!ok) {
        MESSAGE("seed " << seed << ", " << form << ", run " << repeat << ": " << status.message()
                        << "\n"
                        << graph_to_text(graph) << plan_to_text(*plan));
        return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("random programs run as the interpreter runs them") {
  // GRAPHWRIGHT_FUZZ_PROGRAMS=100000 for more, GRAPHWRIGHT_FUZZ_SEED to start elsewhere.
  const char* count_text = std::getenv("GRAPHWRIGHT_FUZZ_PROGRAMS");
  const char* seed_text = std::getenv("GRAPHWRIGHT_FUZZ_SEED");
  const int count = count_text ? std::atoi(count_text) : 1000;
  const auto first = static_cast<uint32_t>(seed_text ? std::atoi(seed_text) : 1);
  int failures = 0, tried = 0;
  for (; tried < count && failures < 3; ++tried) {
    if (!try_program(first + static_cast<uint32_t>(tried))) ++failures;
  }
  if (count_text) {
    std::printf("%d random programs from seed %u, %d failures\n", tried, first, failures);
  }
  CHECK(failures == 0);
}

}  // namespace graphwright
