#include "ir/kernel_context.h"

#include <algorithm>
#include <cstring>

namespace graphwright {

void KernelContext::set_output(int index, Tensor tensor) {
  Tensor& output = outputs_[static_cast<size_t>(index)];
  // Memory of the frame's arena must stay where the plan's later instructions expect it.
  bool prebound = output && (output.impl()->flags & TensorImpl::kBorrowed) &&
                  output.dtype() == tensor.dtype() && !has_object_elements(tensor.dtype()) &&
                  output.byte_size() == tensor.byte_size() &&
                  std::ranges::equal(output.dims(), tensor.dims());
  if (!prebound) {
    output = tensor.owned();
  } else if (output.raw_data() != tensor.raw_data()) {
    std::memcpy(output.mutable_raw_data(), tensor.raw_data(), tensor.byte_size());
  }
}

Tensor& KernelContext::require_output(int index, DType dtype, std::span<const int64_t> dims) {
  Tensor& output = outputs_[static_cast<size_t>(index)];
  if (!output || output.dtype() != dtype || !std::ranges::equal(output.dims(), dims)) {
    output = Tensor::empty(dtype, dims);
  }
  return output;
}

}  // namespace graphwright
