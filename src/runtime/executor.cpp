// The loop that runs a plan. The frequent instructions work on addresses; whatever allocates, calls
// kernels or can fail in several ways stands in functions of its own.
#include <algorithm>
#include <cstring>

#include "ir/node_names.h"
#include "kernels/elementwise.h"
#include "passes/pass.h"
#include "runtime/eager.h"
#include "runtime/frame.h"
#include "runtime/lowering.h"
#include "runtime/op_dispatch.h"
#include "runtime/row_slices.h"

namespace graphwright::runtime {
namespace {

Tensor& tensor_at(Frame& frame, int32_t slot) { return frame.tensors[static_cast<size_t>(slot)]; }

// --- Errors --------------------------------------------------------------------------------------

// Says where it happened, unless an inner frame has said so already.
[[gnu::noinline, gnu::cold]] Status at_node(Status status, const Node* node) {
  ErrorDetail& detail = *status.detail();
  if (!node) return status;
  if (detail.node_name.empty()) {
    detail.node_name = NodeNames(*node->block->graph).name(*node);
    if (detail.op.empty()) detail.op = node->op->name;
    if (detail.location == kNoLocation) detail.location = node->location;
  }
  return status;
}

[[gnu::noinline, gnu::cold]] Status stopped(const Frame& frame, const Node* node) {
  return at_node(frame.control->reason(), node);
}

[[gnu::noinline, gnu::cold]] Status wrong_shape(const Node* node, std::span<const int64_t> found,
                                                std::span<const int64_t> wanted) {
  return at_node(Status(Code::kInvalidArgument, "A value of shape " + dims_to_string(found) +
                                                    " comes where the program says " +
                                                    dims_to_string(wanted) + "."),
                 node);
}

// --- Ops -----------------------------------------------------------------------------------------

Status run_formula_call(const FormulaCall& call, Frame& frame, const Node& node) {
  ElementwiseOperand operands[kMaxFormulaOperands];
  for (int32_t i = 0; i < call.arity; ++i) {
    const Tensor& operand = tensor_at(frame, call.operands[i]);
    operands[i].data = operand.raw_data();
    operands[i].dims = operand.dims();
  }
  const Tensor& out = tensor_at(frame, call.out);
  int64_t error =
      run_elementwise(*call.formula, call.type, frame.data[static_cast<size_t>(call.out)],
                      out.dims(), std::span(operands, static_cast<size_t>(call.arity)));
  if (frame.control->stopped()) [[unlikely]]
    return frame.control->reason();
  return error >= 0 ? formula_error(*node.op) : Status();
}

// Puts a new tensor of the dense slot's own dtype and dims into it.
Status settle_dense_output(const Plan& plan, Frame& frame, int32_t index, const TensorImpl* before,
                           const Node& node) {
  const Slot& slot = plan.slots[static_cast<size_t>(index)];
  Tensor& tensor = tensor_at(frame, index);
  if (slot.kind != Slot::Kind::kHeld && tensor.impl() == before) return Status();
  if (!tensor) {
    return Status(Code::kInternal,
                  "The kernel of " + std::string(node.op->name) + " left an output unset.");
  }
  if (slot.kind == Slot::Kind::kHeld && tensor.dtype() == slot.dtype &&
      std::ranges::equal(tensor.dims(), frame.dims_of(slot))) {
    if (tensor.impl()->flags & TensorImpl::kBorrowed) tensor = tensor.copy();
    frame.data[static_cast<size_t>(index)] = tensor.mutable_raw_data();
    return Status();
  }
  // The kernel made a tensor of its own where memory was prepared: its shape is another.
  Tensor found = std::move(tensor);
  if (slot.kind == Slot::Kind::kArena) {
    const std::span<const int64_t> dims = frame.dims_of(slot);
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    tensor = borrowed_tensor(slot.dtype, dims, count, frame.data[static_cast<size_t>(index)]);
  }
  return wrong_shape(&node, found.dims(), frame.dims_of(slot));
}

[[gnu::noinline]] Status run_kernel_call(const Plan& plan, const KernelCall& call, Frame& frame) {
  const Node& node = *call.node;
  const std::span<const Tensor* const> inputs(frame.kernel_inputs.data() + call.first_input,
                                              static_cast<size_t>(call.input_count));
  const auto output_count = static_cast<size_t>(call.output_count);
  const std::span<Tensor> outputs(frame.tensors.data() + call.first_output, output_count);
  const TensorImpl* before[kMaxSignatureOutputs] = {};
  for (size_t i = 0; i < output_count; ++i) {
    const Slot::Kind kind = plan.slots[static_cast<size_t>(call.first_output) + i].kind;
    if (kind == Slot::Kind::kDynamic || kind == Slot::Kind::kHeld) {
      outputs[i] = Tensor();
    } else if (i < kMaxSignatureOutputs) {
      before[i] = outputs[i].impl();
    }
  }
  if (call.overwritable >= 0 && output_count > 0 && !before[0]) {
    const Tensor& input = *inputs[static_cast<size_t>(call.overwritable)];
    if (input.is_unique()) outputs[0] = input;
  }
  if (call.infer_shapes) {
    std::vector<ValueType> types;
    types.reserve(output_count);
    for (const Value* output : node.outputs) types.push_back(output->type);
    Status status = check_shapes(*node.op, node.attributes, inputs, types);
    if (!status.ok()) return status;
  }
  Status status;
  if (call.kernel) {
    KernelContext context(*node.op, node.attributes, inputs, outputs, frame.control->caller_stop(),
                          call.random_site.get());
    status = call_kernel(call.kernel, context);
  } else {
    status = run_formula(*node.op, inputs, outputs[0]);
  }
  if (frame.control->stopped()) [[unlikely]]
    return frame.control->reason();
  if (!status.ok()) return status;
  for (size_t i = 0; i < output_count; ++i) {
    const int32_t index = call.first_output + static_cast<int32_t>(i);
    if (plan.slots[static_cast<size_t>(index)].dense) {
      status = settle_dense_output(plan, frame, index,
                                   i < kMaxSignatureOutputs ? before[i] : nullptr, node);
      if (!status.ok()) return status;
    } else if (!outputs[i]) {
      return Status(Code::kInternal,
                    "The kernel of " + std::string(node.op->name) + " left an output unset.");
    } else if (outputs[i].impl()->flags & TensorImpl::kBorrowed) {
      outputs[i] = outputs[i].copy();
    }
  }
  for (int32_t slot : call.release) tensor_at(frame, slot) = Tensor();
  return Status();
}

// --- Calls ---------------------------------------------------------------------------------------

// Deeper recursion would run out of stack.
constexpr int kCallDepthLimit = 500;
thread_local int call_depth = 0;

struct CallDepth {
  CallDepth() { ++call_depth; }
  ~CallDepth() { --call_depth; }
};

std::shared_ptr<Plan> callee_plan(Plan& plan, const Callee& callee) {
  const Graph& graph = callee.callee_graph();
  CalleePlans& family = *plan.callee_plans;
  std::lock_guard<std::mutex> lock(family.mutex);
  std::shared_ptr<Plan>& entry = family.plans[&graph];
  if (!entry) entry = lower_graph(*passes::optimise(graph, eager_builder()), &family);
  return entry;
}

[[gnu::noinline]] Status run_call(Plan& plan, const CallRecord& call, Frame& frame) {
  if (call_depth >= kCallDepthLimit) {
    return Status(Code::kResourceExhausted,
                  "Calls nest more than " + std::to_string(kCallDepthLimit) + " deep: " +
                      std::string(call.callee->callee_name()) + " recurses without end?");
  }
  CallDepth depth;
  if (frame.control->must_stop()) return frame.control->reason();
  try {
    std::shared_ptr<Plan> callee = callee_plan(plan, *call.callee);
    std::vector<Tensor> inputs;
    inputs.reserve(call.inputs.size());
    for (int32_t slot : call.inputs) inputs.push_back(tensor_at(frame, slot));
    // So that the callee may hold the only reference.
    for (int32_t slot : call.release) tensor_at(frame, slot) = Tensor();
    std::vector<Tensor> outputs(callee->results.size());
    Status status = run_plan(*callee, inputs, outputs);
    if (!status.ok()) return status;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const int32_t index = call.outputs[i];
      if (index < 0) continue;
      const Slot& slot = plan.slots[static_cast<size_t>(index)];
      if (!slot.dense) {
        tensor_at(frame, index) = std::move(outputs[i]).owned();
        continue;
      }
      const std::span<const int64_t> dims = frame.dims_of(slot);
      if (outputs[i].dtype() != slot.dtype || !std::ranges::equal(outputs[i].dims(), dims)) {
        return wrong_shape(call.node, outputs[i].dims(), dims);
      }
      if (outputs[i].element_count() == 0) continue;
      std::memcpy(frame.data[static_cast<size_t>(index)], outputs[i].raw_data(),
                  outputs[i].byte_size());
    }
    return Status();
  } catch (...) {
    return status_of_exception();
  }
}

// --- Moves between kinds of slots ----------------------------------------------------------------

Status copy_to_dynamic(Frame& frame, const Instruction& at) {
  try {
    tensor_at(frame, at.out) = tensor_at(frame, at.a).copy();
    return Status();
  } catch (...) {
    return status_of_exception();
  }
}

Status copy_to_dense(const Plan& plan, Frame& frame, const Instruction& at) {
  const Slot& slot = plan.slots[static_cast<size_t>(at.out)];
  const Tensor& source = tensor_at(frame, at.a);
  const std::span<const int64_t> dims = frame.dims_of(slot);
  if (source.dtype() != slot.dtype || !std::ranges::equal(source.dims(), dims)) {
    return wrong_shape(at.node, source.dims(), dims);
  }
  if (source.element_count() > 0) {
    std::memcpy(frame.data[static_cast<size_t>(at.out)], source.raw_data(), source.byte_size());
  }
  return Status();
}

Status copy_element(Frame& frame, const Instruction& at) {
  const Tensor& source = tensor_at(frame, at.a);
  if (source.element_count() != 1) {
    return Status(Code::kInvalidArgument,
                  "A condition or an index must have one element, but has shape " +
                      dims_to_string(source.dims()) + ".");
  }
  std::memcpy(frame.data[static_cast<size_t>(at.out)], source.raw_data(),
              static_cast<size_t>(at.n));
  return Status();
}

void swap_memory(Frame& frame, const Instruction& at) {
  const auto left = static_cast<size_t>(at.out), right = static_cast<size_t>(at.a);
  std::swap(frame.data[left], frame.data[right]);
  frame.tensors[left].impl()->data = frame.data[left];
  frame.tensors[right].impl()->data = frame.data[right];
}

}  // namespace

Status execute(Plan& plan, Frame& frame) {
  const Instruction* const code = plan.code.data();
  const Instruction* at = code;
  void** const data = frame.data.data();
  RunControl& control = *frame.control;
  const StopFlag& stop = *control.word();
  uint32_t go = control.go();
  int32_t iterations = 16;  // of loops, until the next closer look
  for (;;) {
    switch (at->opcode) {
      case Opcode::kScalar:
        if (at->scalar(data[at->out], data[at->a], data[at->b], data[at->c])) [[unlikely]] {
          return at_node(formula_error(*at->node->op), at->node);
        }
        break;
      case Opcode::kElementwise: {
        const void* operands[kMaxFormulaOperands] = {data[at->a], data[at->b], data[at->c]};
        const int64_t steps[kMaxFormulaOperands] = {at->flags & 1, at->flags >> 1 & 1,
                                                    at->flags >> 2 & 1};
        if (at->elementwise(data[at->out], operands, steps, at->n) >= 0) [[unlikely]] {
          return at_node(formula_error(*at->node->op), at->node);
        }
        break;
      }
      case Opcode::kFormula: {
        Status status =
            run_formula_call(plan.formulas[static_cast<size_t>(at->n)], frame, *at->node);
        if (!status.ok()) [[unlikely]]
          return at_node(std::move(status), at->node);
        break;
      }
      case Opcode::kSizedFormula: {
        const FormulaSite& site = frame.formula_sites[static_cast<size_t>(at->n)];
        if (!site.flat) {
          Status status =
              run_formula_call(plan.formulas[static_cast<size_t>(at->n)], frame, *at->node);
          if (!status.ok()) [[unlikely]]
            return at_node(std::move(status), at->node);
          break;
        }
        const void* operands[kMaxFormulaOperands] = {data[at->a], data[at->b], data[at->c]};
        const int64_t steps[kMaxFormulaOperands] = {site.steps & 1, site.steps >> 1 & 1,
                                                    site.steps >> 2 & 1};
        if (at->elementwise(data[at->out], operands, steps, site.count) >= 0) [[unlikely]] {
          return at_node(formula_error(*at->node->op), at->node);
        }
        break;
      }
      case Opcode::kRowSlice: {
        Status status =
            run_row_slice(plan.row_slices[static_cast<size_t>(at->n)], frame, *at->node);
        if (!status.ok()) [[unlikely]]
          return at_node(std::move(status), at->node);
        break;
      }
      case Opcode::kKernel: {
        Status status = run_kernel_call(plan, plan.kernels[static_cast<size_t>(at->n)], frame);
        if (!status.ok()) [[unlikely]]
          return at_node(std::move(status), at->node);
        break;
      }
      case Opcode::kCall: {
        Status status = run_call(plan, plan.calls[static_cast<size_t>(at->n)], frame);
        if (!status.ok()) [[unlikely]]
          return at_node(std::move(status), at->node);
        break;
      }
      case Opcode::kCopy4:
        std::memcpy(data[at->out], data[at->a], 4);
        break;
      case Opcode::kCopy8:
        std::memcpy(data[at->out], data[at->a], 8);
        break;
      case Opcode::kCopyBytes:
        std::memcpy(data[at->out], data[at->a], static_cast<size_t>(at->n));
        break;
      case Opcode::kCopySized:
        std::memcpy(data[at->out], data[at->a], tensor_at(frame, at->out).byte_size());
        break;
      case Opcode::kSwap:
        swap_memory(frame, *at);
        break;
      case Opcode::kMoveTensor:
        tensor_at(frame, at->out) = std::move(tensor_at(frame, at->a));
        break;
      case Opcode::kShareTensor:
        tensor_at(frame, at->out) = tensor_at(frame, at->a);
        break;
      case Opcode::kSwapTensors:
        std::swap(tensor_at(frame, at->out), tensor_at(frame, at->a));
        break;
      case Opcode::kRelease:
        tensor_at(frame, at->out) = Tensor();
        break;
      case Opcode::kToDynamic: {
        Status status = copy_to_dynamic(frame, *at);
        if (!status.ok()) [[unlikely]]
          return at_node(std::move(status), at->node);
        break;
      }
      case Opcode::kToDense: {
        Status status = copy_to_dense(plan, frame, *at);
        if (!status.ok()) [[unlikely]]
          return at_node(std::move(status), at->node);
        break;
      }
      case Opcode::kElement: {
        Status status = copy_element(frame, *at);
        if (!status.ok()) [[unlikely]]
          return at_node(std::move(status), at->node);
        break;
      }
      case Opcode::kJump:
        at = code + at->target;
        continue;
      case Opcode::kJumpUnless:
        if (!*static_cast<const bool*>(data[at->a])) {
          at = code + at->target;
          continue;
        }
        break;
      case Opcode::kSwitch: {
        const auto& targets = plan.switches[static_cast<size_t>(at->n)].targets;
        const int32_t index = *static_cast<const int32_t*>(data[at->a]);
        const bool inside = index >= 0 && static_cast<size_t>(index) < targets.size();
        at = code + (inside ? targets[static_cast<size_t>(index)] : targets.back());
        continue;
      }
      case Opcode::kZeroCounter:
        *static_cast<int32_t*>(data[at->out]) = 0;
        break;
      case Opcode::kIncrement:
        ++*static_cast<int32_t*>(data[at->out]);
        break;
      case Opcode::kLoopTest:
        if (stop.load(std::memory_order_relaxed) != go || --iterations <= 0) [[unlikely]] {
          if (control.must_stop(iterations)) return stopped(frame, at->node);
          go = control.go();
        }
        if (*static_cast<const bool*>(data[at->a])) {
          at = code + at->target;
          continue;
        }
        break;
      case Opcode::kCountedLoopTest: {
        if (stop.load(std::memory_order_relaxed) != go || --iterations <= 0) [[unlikely]] {
          if (control.must_stop(iterations)) return stopped(frame, at->node);
          go = control.go();
        }
        if (!*static_cast<const bool*>(data[at->a])) break;
        auto* counter = static_cast<int32_t*>(data[at->out]);
        if (at->b >= 0) {
          const int32_t limit = *static_cast<const int32_t*>(data[at->b]);
          if (limit >= 0 && *counter >= limit) break;
        }
        *counter += at->flags;
        at = code + at->target;
        continue;
      }
      case Opcode::kReturn:
        return Status();
    }
    ++at;
  }
}

}  // namespace graphwright::runtime
