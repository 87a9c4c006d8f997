// The memory of one run of a plan.
#pragma once

#include <memory>
#include <vector>

#include "base/run_control.h"
#include "runtime/program.h"

namespace graphwright::runtime {

struct Frame {
  explicit Frame(const Plan& plan);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Per slot: where the elements of a dense slot are, and the slot's tensor (for dense slots in the
  // arena a prebuilt header that is flagged kBorrowed).
  std::vector<void*> data;
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> kernel_inputs;  // addresses in `tensors`, per Plan::kernel_inputs
  // What the prologue computed for the last run: sizes, and what depends on them.
  SizeState sizes;
  std::vector<int64_t> computed_dims;      // of symbolic slots
  std::vector<FormulaSite> formula_sites;  // per Plan::formulas
  int64_t computed_bytes = 0;              // of the computed part of the arena
  std::span<const int64_t> dims_of(const Slot& slot) const {
    if (!slot.symbolic) return slot.dims;
    return {computed_dims.data() + slot.first_dim, slot.dims.size()};
  }
  // Runs the plan's prologue, unless the arguments have the shapes of the last run; false where it
  // fails, and the plan's general form must run.
  bool prepare_sizes(const Plan& plan, std::span<const Tensor> arguments);

  RunControl* control = nullptr;

 private:
  bool same_shapes(const Plan& plan, std::span<const Tensor> arguments) const;
  bool run_prologue(const Plan& plan, std::span<const Tensor> arguments);
  bool lay_out(const Plan& plan);
  void find_sites(const Plan& plan);

  Buffer* arena_ = nullptr;
  Buffer* computed_arena_ = nullptr;
  bool prepared_ = false;
};

// A frame for one run, given back when this goes.
class FrameLease {
 public:
  FrameLease(Plan& plan, RunControl& control);  // throws ResourceExhausted
  ~FrameLease();
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;
  Frame& operator*() const { return *frame_; }
  Frame* operator->() const { return frame_; }

 private:
  void take(Plan& plan);
  Plan& plan_;
  Frame* frame_;
};

// A header for memory that belongs to somebody else. At most kInlineRank dims.
Tensor borrowed_tensor(DType dtype, std::span<const int64_t> dims, int64_t element_count,
                       void* data);

// Runs the plan's instructions over a frame whose arguments are bound.
Status execute(Plan& plan, Frame& frame);

}  // namespace graphwright::runtime
