// A plan as text, one instruction a line, for tests and debugging.
#include <string>

#include "runtime/program.h"

namespace graphwright {
namespace {

using runtime::Instruction;
using runtime::KernelCall;
using runtime::Opcode;
using runtime::Slot;

const char* opcode_name(Opcode opcode) {
  switch (opcode) {
    case Opcode::kScalar:
      return "scalar";
    case Opcode::kElementwise:
      return "elementwise";
    case Opcode::kFormula:
      return "formula";
    case Opcode::kSizedFormula:
      return "sized_formula";
    case Opcode::kRowSlice:
      return "row_slice";
    case Opcode::kKernel:
      return "kernel";
    case Opcode::kCall:
      return "call";
    case Opcode::kCopy4:
    case Opcode::kCopy8:
    case Opcode::kCopyBytes:
    case Opcode::kCopySized:
      return "copy";
    case Opcode::kSwap:
      return "swap";
    case Opcode::kMoveTensor:
      return "move_tensor";
    case Opcode::kShareTensor:
      return "share_tensor";
    case Opcode::kSwapTensors:
      return "swap_tensors";
    case Opcode::kRelease:
      return "release";
    case Opcode::kToDynamic:
      return "to_dynamic";
    case Opcode::kToDense:
      return "to_dense";
    case Opcode::kJump:
      return "jump";
    case Opcode::kJumpUnless:
      return "jump_unless";
    case Opcode::kElement:
      return "element";
    case Opcode::kSwitch:
      return "switch";
    case Opcode::kZeroCounter:
      return "zero_counter";
    case Opcode::kIncrement:
      return "increment";
    case Opcode::kLoopTest:
      return "loop_test";
    case Opcode::kCountedLoopTest:
      return "counted_loop_test";
    case Opcode::kReturn:
      return "return";
  }
  return "?";
}

std::string slot_name(int32_t slot) { return "%" + std::to_string(slot); }

std::string slot_list(const int32_t* slots, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + slot_name(slots[i]);
  return text;
}

std::string releases(const std::vector<int32_t>& slots) {
  return slots.empty() ? "" : " release " + slot_list(slots.data(), slots.size());
}

// Says which operand the output overwrites: they are one slot, or lie at one place in the arena.
std::string in_place(const Plan& plan, int32_t out, const int32_t* operands, size_t count) {
  const Slot& target = plan.slots[static_cast<size_t>(out)];
  for (size_t i = 0; i < count; ++i) {
    const Slot& source = plan.slots[static_cast<size_t>(operands[i])];
    bool same_place =
        target.kind == Slot::Kind::kArena && source.kind == Slot::Kind::kArena &&
        target.symbolic == source.symbolic &&
        (target.symbolic ? target.region == source.region : target.offset == source.offset);
    if (operands[i] == out || same_place) return " in place of " + slot_name(operands[i]);
  }
  return "";
}

std::string kernel_in_place(const Plan& plan, const KernelCall& call) {
  if (call.overwritable < 0) return "";
  return " in place of " +
         slot_name(plan.kernel_inputs[static_cast<size_t>(call.first_input + call.overwritable)]);
}

std::string operands(const Plan& plan, const Instruction& at) {
  const auto record = static_cast<size_t>(at.n);
  switch (at.opcode) {
    case Opcode::kScalar:
    case Opcode::kElementwise: {
      const int32_t slots[] = {at.a, at.b, at.c};
      return slot_name(at.out) + " = " + std::string(at.node->op->name) + "(" +
             slot_list(slots, at.node->inputs.size()) + ")" +
             (at.opcode == Opcode::kElementwise ? " n=" + std::to_string(at.n) : "") +
             in_place(plan, at.out, slots, at.node->inputs.size());
    }
    case Opcode::kFormula:
    case Opcode::kSizedFormula: {
      const auto& call = plan.formulas[record];
      return slot_name(call.out) + " = " + std::string(call.formula->name) + "(" +
             slot_list(call.operands, static_cast<size_t>(call.arity)) + ")" +
             in_place(plan, call.out, call.operands, static_cast<size_t>(call.arity));
    }
    case Opcode::kRowSlice: {
      const auto& slice = plan.row_slices[record];
      return slot_name(slice.out) + " = " + slot_name(slice.source) + "[" +
             slot_list(slice.indices, static_cast<size_t>(slice.count)) + "]";
    }
    case Opcode::kKernel: {
      const auto& call = plan.kernels[record];
      std::string outputs;
      for (int32_t i = 0; i < call.output_count; ++i) {
        outputs += (i ? ", " : "") + slot_name(call.first_output + i);
      }
      return outputs + (outputs.empty() ? "" : " = ") + std::string(call.node->op->name) + "(" +
             slot_list(plan.kernel_inputs.data() + call.first_input,
                       static_cast<size_t>(call.input_count)) +
             ")" + kernel_in_place(plan, call) + releases(call.release);
    }
    case Opcode::kCall: {
      const auto& call = plan.calls[record];
      return slot_list(call.outputs.data(), call.outputs.size()) + " = " +
             std::string(call.callee->callee_name()) + "(" +
             slot_list(call.inputs.data(), call.inputs.size()) + ")" + releases(call.release);
    }
    case Opcode::kRelease:
    case Opcode::kZeroCounter:
    case Opcode::kIncrement:
      return slot_name(at.out);
    case Opcode::kJump:
      return "-> " + std::to_string(at.target);
    case Opcode::kJumpUnless:
    case Opcode::kLoopTest:
      return slot_name(at.a) + " -> " + std::to_string(at.target);
    case Opcode::kCountedLoopTest:
      return slot_name(at.a) + " counter " + slot_name(at.out) +
             (at.b >= 0 ? " limit " + slot_name(at.b) : "") + (at.flags ? " counting" : "") +
             " -> " + std::to_string(at.target);
    case Opcode::kSwitch: {
      std::string text = slot_name(at.a) + " ->";
      for (int32_t target : plan.switches[record].targets) text += " " + std::to_string(target);
      return text;
    }
    case Opcode::kReturn:
      return slot_list(plan.results.data(), plan.results.size());
    default:
      return slot_name(at.out) + ", " + slot_name(at.a);
  }
}

std::string slot_text(const Slot& slot) {
  static constexpr const char* kNames[] = {"arena",    "result", "argument", "constant",
                                           "prologue", "held",   "dynamic"};
  std::string text = kNames[static_cast<size_t>(slot.kind)];
  text += " " + std::string(dtype_name(slot.dtype));
  if (slot.dense) text += runtime::dims_to_text(slot.dims);
  if (slot.kind == Slot::Kind::kPrologue) text += " v" + std::to_string(slot.value);
  if (slot.kind == Slot::Kind::kArena) {
    text += slot.symbolic ? " in region " + std::to_string(slot.region)
                          : " at " + std::to_string(slot.offset);
  }
  if (slot.swapped) text += " swapped";
  return text;
}

}  // namespace

std::string plan_to_text(const Plan& plan) {
  std::string text;
  for (const runtime::SizeStep& step : plan.prologue.steps) {
    text += "prologue: " + runtime::step_to_text(step) + "\n";
  }
  for (const auto& [left, right] : plan.prologue.checks) {
    text += "prologue: check " + runtime::size_to_text(left) +
            " == " + runtime::size_to_text(right) + "\n";
  }
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    text += slot_name(static_cast<int32_t>(i)) + ": " + slot_text(plan.slots[i]) + "\n";
  }
  for (size_t i = 0; i < plan.code.size(); ++i) {
    text += std::to_string(i) + ": " + opcode_name(plan.code[i].opcode) + " " +
            operands(plan, plan.code[i]) + "\n";
  }
  return text;
}

}  // namespace graphwright
