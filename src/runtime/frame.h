// The memory of one run of a plan.
#pragma once

#include <memory>
#include <vector>

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
  // The run goes on while `*stop` is `go`.
  const StopFlag* stop = &interrupt_count;
  uint32_t go = 0;
  const StopFlag* caller_stop =
      nullptr;  // what kernels look at; null: only interrupts stop the run

 private:
  Buffer* arena_ = nullptr;
};

// A frame for one run, given back when this goes.
class FrameLease {
 public:
  FrameLease(Plan& plan, const RunOptions& options);  // throws ResourceExhausted
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
