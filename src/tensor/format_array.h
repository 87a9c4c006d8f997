// Internal to the tensor layer: the parts of array printing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace graphwright {

// NumPy's defaults.
inline constexpr int64_t kPrintThreshold = 1000;  // more elements than this are summarised
inline constexpr int64_t kPrintEdgeItems = 3;     // elements kept at each end of a dimension
inline constexpr int64_t kPrintLineWidth = 75;

// The flat indices of the elements that are shown, in order.
std::vector<int64_t> shown_elements(std::span<const int64_t> dims, bool summarised);

// The text of each shown element of a tensor with at least one dimension, padded so that columns
// align over the whole array.
std::vector<std::string> array_words(const Tensor& tensor, std::span<const int64_t> shown);

// One element alone: str() of a NumPy scalar, and repr() of the Python value.
std::string element_str(const Tensor& tensor, int64_t index);
std::string element_repr(const Tensor& tensor, int64_t index);

}  // namespace graphwright
