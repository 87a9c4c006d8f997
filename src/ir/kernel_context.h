// What a kernel sees when it runs. Kernels return a Status; they do not throw, except through
// allocation, which the caller turns into a Status.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "ir/attribute.h"
#include "tensor/tensor.h"

namespace graphwright {

struct OpDef;

// Shared by everything that runs on behalf of one call; null when nobody can cancel.
using StopFlag = std::atomic<uint32_t>;

// The state of one random op in one place of a program: how much of its sequence its runs have
// taken since the process's seed was last set.
struct RandomSite {
  std::mutex mutex;
  uint64_t epoch = 0;
  uint64_t blocks = 0;
};

class KernelContext {
 public:
  KernelContext(const OpDef& op, const Attributes& attributes,
                std::span<const Tensor* const> inputs, std::span<Tensor> outputs,
                const StopFlag* stop = nullptr, RandomSite* random_site = nullptr)
      : attributes_(op, attributes),
        inputs_(inputs),
        outputs_(outputs),
        stop_(stop),
        random_site_(random_site) {}
  const OpDef& op() const { return attributes_.op(); }
  const AttributeReader& attributes() const { return attributes_; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  // May be borrowed from an arena: keep `.owned()`, never the tensor itself.
  const Tensor& input(int index) const { return *inputs_[static_cast<size_t>(index)]; }
  // Allocated already where the shape rule knew the whole shape; null otherwise, or where the
  // kernel is better off making it (set_output).
  Tensor& output(int index) { return outputs_[static_cast<size_t>(index)]; }
  // Whether output 0 may be made by overwriting this input: the caller says so, at the last use of
  // an input that the row lists in in_place_inputs, by presetting output 0 to the input itself.
  // Objects that the input refers to may still be shared by others.
  bool may_overwrite(int index) const {
    return !outputs_.empty() && outputs_[0] && outputs_[0].is_same(input(index));
  }
  // Output of a data-dependent shape, or shared with an input. Copies into prebound memory if there
  // is some.
  void set_output(int index, Tensor tensor);
  // The preallocated output, or a new one; dims must be those of the preallocated one.
  Tensor& require_output(int index, DType dtype, std::span<const int64_t> dims);
  // Of ops with the random effect; null where the op runs eagerly.
  RandomSite* random_site() const { return random_site_; }
  bool stopped() const { return stop_ && stop_->load(std::memory_order_relaxed) != 0; }

 private:
  AttributeReader attributes_;
  std::span<const Tensor* const> inputs_;
  std::span<Tensor> outputs_;
  const StopFlag* stop_;
  RandomSite* random_site_;
};

}  // namespace graphwright
