#include "ops/strided_slice.h"

#include <algorithm>

#include "base/status.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// Bits of the masks, one per entry of the sparse specification.
bool bit(int64_t mask, size_t index) { return index < 64 && (mask >> index & 1); }

// One entry of the specification, aimed at an input dimension.
struct Entry {
  PartialInteger begin, end, stride = 1;
  bool begin_masked = true, end_masked = true, shrink = false;
};

// How the output's dimensions follow from the input's: an input dimension kept, or a new one.
constexpr int kNewAxis = -1;

}  // namespace

SliceMasks slice_masks(const AttributeReader& attributes) {
  return {attributes.integer("begin_mask"), attributes.integer("end_mask"),
          attributes.integer("ellipsis_mask"), attributes.integer("new_axis_mask"),
          attributes.integer("shrink_axis_mask")};
}

DenseSlice resolve_slice(const PartialShape& input, const std::vector<PartialInteger>& begin,
                         const std::vector<PartialInteger>& end,
                         const std::vector<PartialInteger>& strides, const SliceMasks& masks) {
  const size_t rank = static_cast<size_t>(input.rank());
  const size_t count = begin.size();
  if (end.size() != count || strides.size() != count) {
    throw_invalid_argument(
        "Expected begin, end, and strides to be 1D equal size tensors, but got " +
        std::to_string(count) + ", " + std::to_string(end.size()) + " and " +
        std::to_string(strides.size()) + " elements");
  }
  if (masks.ellipsis & (masks.ellipsis - 1)) {
    throw_invalid_argument("Multiple ellipses in slice spec not allowed");
  }
  size_t consumed = 0;  // input dimensions that entries other than the ellipsis name
  for (size_t i = 0; i < count; ++i) {
    if (!bit(masks.ellipsis, i) && !bit(masks.new_axis, i)) ++consumed;
  }
  // Dense entries, and the order of output dimensions.
  std::vector<Entry> entries;
  std::vector<int> gather;
  bool ellipsis_seen = false;
  auto skip = [&](size_t dims) {
    for (size_t i = 0; i < dims; ++i) {
      gather.push_back(static_cast<int>(entries.size()));
      entries.emplace_back();
    }
  };
  for (size_t i = 0; i < count; ++i) {
    if (bit(masks.ellipsis, i)) {
      ellipsis_seen = true;
      skip(rank > consumed ? rank - consumed : 0);
    } else if (bit(masks.new_axis, i)) {
      gather.push_back(kNewAxis);
    } else {
      if (entries.size() == rank) {
        throw_invalid_argument("Index out of range using input dim " + std::to_string(rank) +
                               "; input has only " + std::to_string(rank) + " dims");
      }
      Entry entry{begin[i],          end[i],
                  strides[i],        bit(masks.begin, i),
                  bit(masks.end, i), bit(masks.shrink_axis, i)};
      if (!entry.shrink) gather.push_back(static_cast<int>(entries.size()));
      entries.push_back(entry);
    }
  }
  if (!ellipsis_seen) skip(rank - std::min(rank, entries.size()));
  if (entries.size() != rank) {
    throw_invalid_argument("Index out of range using input dim " + std::to_string(rank) +
                           "; input has only " + std::to_string(rank) + " dims");
  }

  DenseSlice result;
  for (size_t i = 0; i < rank; ++i) {
    const Entry& entry = entries[i];
    if (entry.stride && *entry.stride == 0) {
      throw_invalid_argument("strides[" + std::to_string(i) + "] must be non-zero");
    }
    if (entry.shrink && entry.stride && *entry.stride <= 0) {
      throw_invalid_argument("only stride 1 allowed on non-range indexing.");
    }
    Dim dim = input.dim(static_cast<int>(i));
    int64_t first = 0;
    int64_t stride = entry.stride.value_or(1);
    Dim extent = kUnknownDim;
    if (entry.shrink) {
      extent = 1;
      if (is_known(dim) && entry.begin) {  // begin_mask is ignored here, as TensorFlow does
        first = *entry.begin < 0 ? *entry.begin + dim : *entry.begin;
        if (first < 0 || first >= dim) {
          throw_invalid_argument("slice index " + std::to_string(*entry.begin) + " of dimension " +
                                 std::to_string(i) + " out of bounds.");
        }
      }
    } else if (!is_known(dim)) {
      // The whole of an unknown dimension is that same dimension.
      bool whole_begin = entry.begin_masked || (entry.begin && *entry.begin == 0);
      if (entry.stride && *entry.stride == 1 && whole_begin && entry.end_masked) extent = dim;
      if (entry.stride && *entry.stride == -1 && entry.begin_masked && entry.end_masked)
        extent = dim;
    } else if (entry.stride && (entry.begin || entry.begin_masked) &&
               (entry.end || entry.end_masked)) {
      int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? dim : dim - 1;
      auto canonical = [&](PartialInteger position, bool masked, bool is_begin) {
        if (masked) return is_begin == (stride > 0) ? low : high;
        int64_t forward = *position;
        if (forward < 0) forward += dim;  // cannot overflow: the signs differ
        return std::clamp(forward, low, high);
      };
      first = canonical(entry.begin, entry.begin_masked, true);
      int64_t last = canonical(entry.end, entry.end_masked, false);
      int64_t length = last - first;
      extent = length == 0 || (length < 0) != (stride < 0)
                   ? 0
                   : length / stride + (length % stride != 0 ? 1 : 0);
    }
    result.begin.push_back(first);
    result.stride.push_back(stride);
    result.processing.push_back(extent);
  }
  std::vector<Dim> dims;
  for (int source : gather) {
    dims.push_back(source == kNewAxis ? 1 : result.processing[static_cast<size_t>(source)]);
  }
  result.final_shape = PartialShape(std::span<const Dim>(dims));
  return result;
}

DenseSlice resolve_slice(std::span<const int64_t> input, const Tensor& begin, const Tensor& end,
                         const Tensor& strides, const SliceMasks& masks) {
  auto known = [](const Tensor& tensor) {
    if (tensor.rank() != 1) {
      throw_invalid_argument("Expected begin, end, and strides to be 1D equal size tensors");
    }
    std::vector<PartialInteger> values(static_cast<size_t>(tensor.element_count()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = integer_at(tensor, static_cast<int64_t>(i));
    }
    return values;
  };
  return resolve_slice(PartialShape(input), known(begin), known(end), known(strides), masks);
}

}  // namespace graphwright
