#include "runtime/frame.h"

#include <algorithm>
#include <new>

namespace graphwright {

Plan::~Plan() {
  delete spare_frame.load();
  for (runtime::Frame* frame : spare_frames) delete frame;
}

namespace runtime {
namespace {

// Frames kept for later runs, beyond the first; more than that were wanted at once only rarely.
constexpr size_t kSpareFrameLimit = 64;

}  // namespace

Tensor borrowed_tensor(DType dtype, std::span<const int64_t> dims, int64_t element_count,
                       void* data) {
  auto* impl = static_cast<TensorImpl*>(allocate_object());
  new (&impl->references) std::atomic<int32_t>(1);
  impl->dtype = dtype;
  impl->rank = static_cast<uint8_t>(dims.size());
  impl->flags = TensorImpl::kBorrowed;
  impl->device = 0;
  impl->element_count = element_count;
  impl->data = data;
  impl->buffer = nullptr;
  std::copy(dims.begin(), dims.end(), impl->inline_dims);
  return Tensor::adopt(impl);
}

Frame::Frame(const Plan& plan) {
  data.resize(plan.slots.size() + 1, nullptr);
  tensors.resize(plan.slots.size());
  if (plan.arena_bytes > 0) arena_ = allocate_buffer(static_cast<size_t>(plan.arena_bytes));
  try {
    for (size_t i = 0; i < plan.slots.size(); ++i) {
      const Slot& slot = plan.slots[i];
      if (slot.kind == Slot::Kind::kArena && slot.symbolic) {
        const std::vector<int64_t> no_dims(slot.dims.size(), 0);
        tensors[i] = borrowed_tensor(slot.dtype, no_dims, 0, nullptr);
      } else if (slot.kind == Slot::Kind::kArena) {
        data[i] = static_cast<char*>(arena_->data()) + slot.offset;
        tensors[i] = borrowed_tensor(slot.dtype, slot.dims, slot.element_count, data[i]);
      } else if (slot.kind == Slot::Kind::kConstant) {
        tensors[i] = slot.constant;
        data[i] = tensors[i].mutable_raw_data();
      }
    }
    kernel_inputs.reserve(plan.kernel_inputs.size());
    for (int32_t slot : plan.kernel_inputs) {
      kernel_inputs.push_back(&tensors[static_cast<size_t>(slot)]);
    }
  } catch (...) {
    if (arena_) release_buffer(arena_);
    throw;
  }
}

Frame::~Frame() {
  if (arena_) release_buffer(arena_);
  if (computed_arena_) release_buffer(computed_arena_);
}

FrameLease::FrameLease(Plan& plan, RunControl& control) : plan_(plan) {
  take(plan);
  frame_->control = &control;
}

void FrameLease::take(Plan& plan) {
  frame_ = plan.spare_frame.exchange(nullptr, std::memory_order_acquire);
  if (frame_) return;
  {
    std::lock_guard<std::mutex> lock(plan.frames_mutex);
    if (!plan.spare_frames.empty()) {
      frame_ = plan.spare_frames.back();
      plan.spare_frames.pop_back();
      return;
    }
  }
  frame_ = new Frame(plan);
}

FrameLease::~FrameLease() {
  for (int32_t slot : plan_.dynamic_slots) frame_->tensors[static_cast<size_t>(slot)] = Tensor();
  Frame* expected = nullptr;
  if (plan_.spare_frame.compare_exchange_strong(expected, frame_, std::memory_order_release,
                                                std::memory_order_relaxed)) {
    return;
  }
  std::lock_guard<std::mutex> lock(plan_.frames_mutex);
  if (plan_.spare_frames.size() < kSpareFrameLimit) {
    plan_.spare_frames.push_back(frame_);
  } else {
    delete frame_;
  }
}

}  // namespace runtime
}  // namespace graphwright
