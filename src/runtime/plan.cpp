#include "runtime/plan.h"

#include <algorithm>

#include "passes/pass.h"
#include "runtime/eager.h"
#include "runtime/frame.h"
#include "runtime/lowering.h"
#include "runtime/op_dispatch.h"

namespace graphwright {
namespace {

using runtime::Frame;
using runtime::FrameLease;
using runtime::Opcode;
using runtime::Slot;

Status argument_error(const Plan& plan, size_t index, std::string what) {
  std::string name = plan.graph ? " of " + plan.graph->name() : std::string();
  return Status(Code::kInvalidArgument,
                "Argument #" + std::to_string(index) + name + " " + std::move(what) + ".");
}

bool fits(std::span<const int64_t> dims, std::span<const runtime::Size> wanted) {
  return std::ranges::equal(dims, wanted, [](int64_t dim, runtime::Size size) {
    return dim == size || runtime::is_computed(size);
  });
}

Status bind_arguments(const Plan& plan, Frame& frame, std::span<const Tensor> inputs) {
  if (inputs.size() != plan.arguments.size()) {
    return Status(Code::kInvalidArgument, "A plan takes " + std::to_string(plan.arguments.size()) +
                                              " arguments, but got " +
                                              std::to_string(inputs.size()) + ".");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int32_t index = plan.arguments[i];
    if (index < 0) continue;
    const Slot& slot = plan.slots[static_cast<size_t>(index)];
    if (!inputs[i]) return argument_error(plan, i, "is missing");
    if (inputs[i].dtype() != slot.dtype) {
      return argument_error(plan, i,
                            "has dtype " + std::string(dtype_name(inputs[i].dtype())) +
                                ", but the program takes " + std::string(dtype_name(slot.dtype)));
    }
    if (slot.dense && !fits(inputs[i].dims(), slot.dims)) {
      return argument_error(plan, i,
                            "has shape " + dims_to_string(inputs[i].dims()) +
                                ", but the program takes " + runtime::dims_to_text(slot.dims));
    }
    frame.tensors[static_cast<size_t>(index)] = inputs[i];
    frame.data[static_cast<size_t>(index)] = inputs[i].impl()->data;
  }
  return Status();
}

// Tensors for the results that are made in place. They count as borrowed while the program runs, so
// that no kernel shares memory that is written again.
void prepare_results(const Plan& plan, Frame& frame) {
  for (int32_t index : plan.result_slots) {
    const Slot& slot = plan.slots[static_cast<size_t>(index)];
    Tensor tensor = Tensor::empty(slot.dtype, frame.dims_of(slot));
    tensor.impl()->flags |= TensorImpl::kBorrowed;
    frame.data[static_cast<size_t>(index)] = tensor.mutable_raw_data();
    frame.tensors[static_cast<size_t>(index)] = std::move(tensor);
  }
}

void take_results(const Plan& plan, Frame& frame, std::span<Tensor> outputs) {
  for (int32_t index : plan.result_slots) {
    TensorImpl* impl = frame.tensors[static_cast<size_t>(index)].impl();
    impl->flags = static_cast<uint8_t>(impl->flags & ~TensorImpl::kBorrowed);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = frame.tensors[static_cast<size_t>(plan.results[i])].owned();
  }
}

std::shared_ptr<Plan> general_plan(Plan& plan) {
  std::lock_guard<std::mutex> lock(plan.callee_plans->mutex);
  if (!plan.general_plan) {
    plan.general_plan = runtime::lower_graph(*plan.graph, plan.callee_plans, false);
  }
  return plan.general_plan;
}

Status run_under(Plan& plan, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                 RunControl& control) {
  FrameLease frame(plan, control);
  Status status = bind_arguments(plan, *frame, inputs);
  if (!status.ok()) return status;
  if (!plan.prologue.steps.empty() && !frame->prepare_sizes(plan, inputs)) {
    return run_under(*general_plan(plan), inputs, outputs, control);
  }
  prepare_results(plan, *frame);
  status = runtime::execute(plan, *frame);
  if (!status.ok()) return status;
  take_results(plan, *frame, outputs);
  return Status();
}

}  // namespace

std::shared_ptr<Plan> compile_plan(const Graph& graph) {
  // The plan keeps the optimised copy, which its instructions point into.
  return runtime::lower_graph(*passes::optimise(graph, eager_builder()), nullptr);
}

Status run_plan(Plan& plan, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                const RunOptions& options) {
  if (outputs.size() != plan.results.size()) {
    return Status(Code::kInternal, "A plan with " + std::to_string(plan.results.size()) +
                                       " results was asked for " + std::to_string(outputs.size()) +
                                       ".");
  }
  try {
    // Nested runs end with the run around them.
    RunControl* outer = RunControl::current();
    if (!outer || (options.stop && options.stop != outer->caller_stop())) {
      RunControl control(options.stop ? options.stop : ambient_stop());
      return run_under(plan, inputs, outputs, control);
    }
    return run_under(plan, inputs, outputs, *outer);
  } catch (...) {
    return runtime::status_of_exception();
  }
}

PlanStatistics plan_statistics(const Plan& plan) {
  return {static_cast<int64_t>(plan.code.size()), static_cast<int64_t>(plan.slots.size()),
          static_cast<int64_t>(plan.results.size()), plan.arena_bytes};
}

}  // namespace graphwright
