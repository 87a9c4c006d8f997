// What a plan is made of: slots, flat instructions, and the records that the less frequent
// instructions point to. See docs/design/plans.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/opdef.h"
#include "kernels/formula_kernels.h"
#include "runtime/plan.h"
#include "runtime/sizes.h"
#include "tensor/tensor.h"

namespace graphwright {
namespace runtime {

struct Frame;

enum class Opcode : uint8_t {
  // Formulas over dense slots.
  kScalar,        // one element: function(out, a, b, c)
  kElementwise,   // n elements, operands of step 0 or 1 (bits of flags)
  kFormula,       // formulas[n]
  kSizedFormula,  // the same, with counts and steps that the prologue finds:
                  // Frame::formula_sites[n]
  kRowSlice,      // row_slices[n]
  kKernel,        // kernels[n]
  kCall,          // calls[n]
  // Moves. Dense slots of equal dtype and shape:
  kCopy4,
  kCopy8,
  kCopyBytes,  // n bytes
  kCopySized,  // as many bytes as there are
  kSwap,       // exchanges the memory of two slots
  // dynamic slots:
  kMoveTensor,   // `a` is empty afterwards
  kShareTensor,  // also from constants and arguments
  kSwapTensors,
  kRelease,  // empties `out`
  // and between them:
  kToDynamic,  // a copy of a dense slot
  kToDense,    // the dynamic slot's tensor must have the dense slot's shape
  // Control. Targets are instruction numbers.
  kJump,
  kJumpUnless,       // dense bool a
  kElement,          // dense scalar out = the one element of tensor a, of n bytes
  kSwitch,           // switches[n] by the dense int32 a
  kZeroCounter,      // dense int32 out = 0
  kIncrement,        // ++ dense int32 out
  kLoopTest,         // to target while dense bool a; looks at the stop flag
  kCountedLoopTest,  // the same; also while counter out < limit b (if not negative); flag 1: then
                     // increments the counter
  kReturn,
};

struct Instruction {
  Opcode opcode = Opcode::kReturn;
  uint8_t flags = 0;
  int32_t out = 0, a = 0, b = 0, c = 0;
  int32_t target = 0;
  int64_t n = 0;
  union {
    ScalarKernel scalar = nullptr;
    ElementwiseKernel elementwise;
  };
  const Node* node = nullptr;  // what errors name; null for moves and jumps
};

// One location of a frame. Dense slots have a fixed dtype and shape, and memory that is theirs for
// a whole run; dynamic ones hold whatever tensor there is.
struct Slot {
  enum class Kind : uint8_t {
    kArena,     // dense, in the frame's arena
    kResult,    // dense, in a tensor of its own that the run hands out at its end
    kArgument,  // dense or not: the caller's tensor
    kConstant,  // the plan's tensor
    kPrologue,  // dense: a value that the prologue computes
    kHeld,      // dense, but each time the tensor that an instruction gave, such as a variable's
    kDynamic,
  };
  Kind kind = Kind::kDynamic;
  bool dense = false;
  bool swapped = false;   // an instruction exchanges its memory: it has some of its own
  bool symbolic = false;  // the prologue computes dims: Frame::dims_of
  DType dtype = DType::kInvalid;
  std::vector<Size> dims;
  int64_t element_count = 0;  // -1 if symbolic
  int64_t bytes = 0;          // -1 if symbolic
  int64_t offset = 0;         // kArena, unless symbolic
  int32_t region = -1;        // kArena, symbolic: of Plan::regions
  size_t first_dim = 0;       // symbolic: in Frame::computed_dims
  Tensor constant;            // kConstant
  int32_t argument = -1;      // kArgument
  int32_t value = -1;         // kPrologue
};

// Memory in the computed part of the arena, for slots that do not live at the same time.
struct Region {
  std::vector<int32_t> slots;
};

// How a formula over computed sizes runs: as a flat loop, or through the driver.
struct FormulaSite {
  int64_t count = 0;
  uint8_t steps = 0;
  bool flat = false;
};

// A formula whose dense operands are broadcast, or which is large enough for several threads.
struct FormulaCall {
  const FormulaDescriptor* formula;
  DType type;
  int32_t arity;
  int32_t operands[kMaxFormulaOperands];
  int32_t out;
  bool sized = false;
};

struct KernelCall {
  const Node* node;
  Kernel kernel;        // null: a formula on tensors whose shapes are not known
  int32_t first_input;  // into Plan::kernel_inputs
  int32_t input_count;
  int32_t first_output;  // slots of the outputs, consecutive
  int32_t output_count;
  int32_t overwritable = -1;  // an input that nobody needs any more and output 0 may overwrite
  bool infer_shapes = false;  // input shapes are not known: run the shape rule first
  bool has_dense_outputs = false;
  std::vector<int32_t> release;             // dynamic slots to empty afterwards
  std::shared_ptr<RandomSite> random_site;  // of random ops; the family's
};

inline constexpr size_t kMaxRowIndices = 4;

struct RowSlice {
  int32_t source, out;  // slots
  int32_t count = 0;
  int32_t indices[kMaxRowIndices] = {};  // slots
  bool wide[kMaxRowIndices] = {};        // int64, else int32
};

struct CallRecord {
  const Node* node;
  std::shared_ptr<Callee> callee;
  std::vector<int32_t> inputs, outputs;  // slots
  std::vector<int32_t> release;
};

struct SwitchTable {
  std::vector<int32_t> targets;  // the last one also serves indices outside
};

// Plans of callees too large to inline, compiled on their first call and shared by a plan and the
// plans below it, so that recursion ends up in the same plan.
struct CalleePlans {
  std::mutex mutex;
  std::unordered_map<const Graph*, std::shared_ptr<Plan>> plans;
  // Of random nodes, by how many of the same node a plan has before (inlined twice, say): whichever
  // form of a plan runs, their sequences go on.
  std::map<std::pair<const Node*, int>, std::shared_ptr<RandomSite>> random_sites;
};

}  // namespace runtime

class Plan {
 public:
  Plan() = default;
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  std::vector<runtime::Instruction> code;
  std::vector<runtime::Slot> slots;
  std::vector<runtime::FormulaCall> formulas;
  std::vector<runtime::KernelCall> kernels;
  std::vector<runtime::RowSlice> row_slices;
  std::vector<int32_t> kernel_inputs;  // slots
  std::vector<runtime::CallRecord> calls;
  std::vector<runtime::SwitchTable> switches;
  std::vector<int32_t> arguments;      // slot per argument; -1: nobody needs it
  std::vector<int32_t> results;        // slot per result
  std::vector<int32_t> result_slots;   // slots of kind kResult, each once
  std::vector<int32_t> dynamic_slots;  // emptied after each run: all but kArena and kConstant
  int64_t arena_bytes = 0;             // of the part whose size is known
  runtime::Prologue prologue;
  std::vector<runtime::Region> regions;  // of the computed part of the arena
  size_t computed_dim_count = 0;
  // What runs where the prologue fails: the shapes do not fit together somewhere, or the memory for
  // everything at once is not to be had. Made when first needed.
  std::shared_ptr<Plan> general_plan;  // under callee_plans->mutex

  std::shared_ptr<const Graph> graph;  // what `node` pointers point into, where it is shared
  std::vector<std::shared_ptr<const Callee>> callees;
  runtime::CalleePlans* callee_plans = nullptr;  // of the outermost plan
  std::unique_ptr<runtime::CalleePlans> own_callee_plans;

  // Frames nobody uses at the moment: one within reach, the others in a list.
  std::atomic<runtime::Frame*> spare_frame{nullptr};
  std::mutex frames_mutex;
  std::vector<runtime::Frame*> spare_frames;
};

}  // namespace graphwright
