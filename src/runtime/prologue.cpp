// Running a plan's prologue: from the shapes of arguments to sizes, the layout of the computed part
// of the arena, the dims of prebuilt headers, and the loops that formulas take.
#include <algorithm>
#include <array>

#include "runtime/frame.h"

namespace graphwright::runtime {
namespace {

// As in lowering.cpp: formulas over more elements go to the driver that uses several threads.
constexpr int64_t kOneThread = 32768;

// The product of dims and element size, or -1 where it overflows.
int64_t byte_count(std::span<const int64_t> dims, DType dtype) {
  int64_t bytes = static_cast<int64_t>(dtype_size(dtype));
  for (int64_t dim : dims) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) return -1;
  }
  return bytes;
}

}  // namespace

bool Frame::prepare_sizes(const Plan& plan, std::span<const Tensor> arguments) {
  if (prepared_ && same_shapes(plan, arguments)) return true;
  prepared_ = run_prologue(plan, arguments) && lay_out(plan);
  if (prepared_) find_sites(plan);
  return prepared_;
}

bool Frame::same_shapes(const Plan& plan, std::span<const Tensor> arguments) const {
  for (const SizeStep& step : plan.prologue.steps) {
    // Arguments come first.
    if (step.kind != SizeStep::Kind::kArgument) break;
    if (arguments[static_cast<size_t>(step.argument)].dim(step.dim) != sizes.sizes[step.out]) {
      return false;
    }
  }
  return true;
}

bool Frame::run_prologue(const Plan& plan, std::span<const Tensor> arguments) {
  sizes.sizes.resize(plan.prologue.size_count);
  sizes.values.resize(plan.prologue.value_count);
  for (const SizeStep& step : plan.prologue.steps) {
    if (run_size_step(step, arguments, sizes) != StepResult::kDone) return false;
  }
  return std::all_of(plan.prologue.checks.begin(), plan.prologue.checks.end(),
                     [&](const auto& check) { return sizes(check.first) == sizes(check.second); });
}

bool Frame::lay_out(const Plan& plan) {
  computed_dims.resize(plan.computed_dim_count);
  for (const Slot& slot : plan.slots) {
    if (!slot.symbolic) continue;
    for (size_t d = 0; d < slot.dims.size(); ++d) {
      const int64_t dim = sizes(slot.dims[d]);
      if (dim < 0) return false;
      computed_dims[slot.first_dim + d] = dim;
    }
  }
  int64_t total = 0;
  std::vector<int64_t> offsets;
  for (const Region& region : plan.regions) {
    int64_t bytes = 0;
    for (int32_t index : region.slots) {
      const Slot& slot = plan.slots[static_cast<size_t>(index)];
      const int64_t own = byte_count(dims_of(slot), slot.dtype);
      if (own < 0) return false;
      bytes = std::max(bytes, own);
    }
    offsets.push_back(total);
    if (bytes > INT64_MAX - 63 || __builtin_add_overflow(total, (bytes + 63) / 64 * 64, &total)) {
      return false;
    }
  }
  if (!computed_arena_ || static_cast<int64_t>(computed_arena_->bytes) < total) {
    if (computed_arena_) release_buffer(std::exchange(computed_arena_, nullptr));
    try {
      computed_arena_ = allocate_buffer(static_cast<size_t>(std::max<int64_t>(total, 64)));
    } catch (const Error&) {
      return false;  // the general form does not need all of it at once
    }
  }
  computed_bytes = total;
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    if (slot.kind == Slot::Kind::kPrologue) {
      tensors[i] = sizes.values[static_cast<size_t>(slot.value)];
      data[i] = tensors[i].mutable_raw_data();
    }
    if (slot.kind != Slot::Kind::kArena || !slot.symbolic) continue;
    TensorImpl& header = *tensors[i].impl();
    const std::span<const int64_t> dims = dims_of(slot);
    std::copy(dims.begin(), dims.end(), header.inline_dims);
    header.element_count =
        byte_count(dims, slot.dtype) / static_cast<int64_t>(dtype_size(slot.dtype));
    data[i] =
        static_cast<char*>(computed_arena_->data()) + offsets[static_cast<size_t>(slot.region)];
    header.data = data[i];
  }
  return true;
}

void Frame::find_sites(const Plan& plan) {
  formula_sites.resize(plan.formulas.size());
  for (size_t i = 0; i < plan.formulas.size(); ++i) {
    const FormulaCall& call = plan.formulas[i];
    if (!call.sized) continue;
    const auto dims = [&](int32_t index) {
      return dims_of(plan.slots[static_cast<size_t>(index)]);
    };
    const auto count_of = [](std::span<const int64_t> own) {
      int64_t count = 1;
      for (int64_t dim : own) count *= dim;
      return count;
    };
    FormulaSite site{count_of(dims(call.out)), 0, true};
    site.flat = site.count <= kOneThread;
    for (int32_t k = 0; k < call.arity; ++k) {
      const int64_t own = count_of(dims(call.operands[k]));
      site.flat = site.flat && (own == site.count || own == 1);
      if (own == site.count && own != 1) site.steps = static_cast<uint8_t>(site.steps | 1u << k);
    }
    formula_sites[i] = site;
  }
}

}  // namespace graphwright::runtime
