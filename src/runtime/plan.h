// Plans: what runs. A graph is lowered once to a flat program of instructions over a frame of
// slots; running it does no allocation, no hash look-up and no dispatch for values of known shape.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "ir/kernel_context.h"
#include "tensor/tensor.h"

namespace graphwright {

class Graph;
class Plan;

struct RunOptions {
  const StopFlag* stop = nullptr;  // set from any thread: the run ends with Cancelled soon after
};

// Lowers a finished graph, which the plan keeps alive where it is shared. Internal for IR that
// verify_graph would refuse, Unimplemented for ops that have no kernel.
std::shared_ptr<Plan> compile_plan(const Graph& graph);

// Runs with one tensor per body argument, captures included; sets one per body result. Thread safe
// and re-entrant: every run takes a frame of its own from the plan's free list. An error names the
// node and its user line.
Status run_plan(Plan& plan, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                const RunOptions& options = {});

struct PlanStatistics {
  int64_t instruction_count;
  int64_t slot_count;
  int64_t result_count;
  int64_t arena_bytes;  // of one frame
};
PlanStatistics plan_statistics(const Plan& plan);
std::string plan_to_text(const Plan& plan);

}  // namespace graphwright
