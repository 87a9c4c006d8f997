// Control flow and calls. Builders, plans and autodiff know these rows by name: blocks hang on the
// node, not on its attributes (ir/graph.h says which inputs and outputs they have).
#include "ops/op_support.h"

namespace graphwright {
namespace {

// Outputs of control nodes get their types from their blocks when the node is made.
void shape_from_blocks(ShapeContext&) {}
void no_op_kernel(KernelContext&) {}

constexpr Absent kByAutodiff{"is made from the gradients of its blocks, in src/autodiff"};
constexpr Absent kByAutodiffForward{"is made from the derivatives of its blocks, in src/autodiff"};
constexpr Reference kTested{.reason = "runs blocks: tests/cpp/runtime_plan_test.cpp"};

constexpr OpDef if_row(std::string_view name, uint32_t traits) {
  return {
      .name = name,
      .signature =
          "cond: Tcond, input: [Tin]; then_branch: block, else_branch: block, "
          "output_shapes: list(shape)=[] -> output: [Tout]",
      .doc =
          "Runs one of two blocks: the results of then_branch when cond is true, else of "
          "else_branch.",
      .traits = traits | kHasBlocks,
      .shape = shape_from_blocks,
      .compute = {.kind = ComputeKind::kControl},
      .gradient = kByAutodiff,
      .forward = kByAutodiffForward,
      .reference = kTested,
  };
}
constexpr OpDef while_row(std::string_view name, uint32_t traits) {
  return {
      .name = name,
      .signature =
          "input: [T]; cond: block, body: block, output_shapes: list(shape)=[], "
          "parallel_iterations: int=10, output_identities: bool=false -> output: [T]",
      .doc =
          "Runs body on the carried values while cond holds. The first input is the maximum "
          "number of iterations (int32, -1 for none), the first output the number of "
          "iterations run.",
      .traits = traits | kHasBlocks,
      .shape = shape_from_blocks,
      .compute = {.kind = ComputeKind::kControl},
      .gradient = kByAutodiff,
      .forward = kByAutodiffForward,
      .reference = kTested,
  };
}
constexpr OpDef case_row(std::string_view name, uint32_t traits) {
  return {
      .name = name,
      .signature =
          "branch_index: int32, input: [Tin]; output_shapes: list(shape)=[] -> "
          "output: [Tout]",
      .doc =
          "Runs block number branch_index; an index outside [0, number of blocks) means the "
          "last one.",
      .traits = traits | kHasBlocks,
      .shape = shape_from_blocks,
      .compute = {.kind = ComputeKind::kControl},
      .gradient = kByAutodiff,
      .forward = kByAutodiffForward,
      .reference = kTested,
  };
}
constexpr OpDef call_row(std::string_view name, uint32_t traits) {
  return {
      .name = name,
      .signature =
          "args: [Tin]; config: string='', config_proto: string='', "
          "executor_type: string='' -> output: [Tout]",
      .doc = "Calls the node's concrete function with its arguments, then its captures.",
      .traits = traits,
      .shape = shape_from_blocks,
      .compute = {.kind = ComputeKind::kControl},
      .gradient = kByAutodiff,
      .forward = kByAutodiffForward,
      .reference = kTested,
  };
}

constexpr std::array kTable{
    if_row("If", kStateful),
    if_row("StatelessIf", 0),
    while_row("While", kStateful),
    while_row("StatelessWhile", 0),
    case_row("Case", kStateful),
    case_row("StatelessCase", 0),
    call_row("StatefulPartitionedCall", kStateful),
    call_row("PartitionedCall", 0),
    OpDef{
        .name = "NoOp",
        .signature = "->",
        .doc = "Does nothing; exported graphs hang control inputs on it.",
        .shape = shape_none,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<no_op_kernel>},
        .gradient = Absent{"has no output"},
        .forward = Absent{"has no output"},
        .reference = {.reason = "has no output"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
