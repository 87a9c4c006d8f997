// What a StridedSlice of a tensor means: the sparse specification (with ellipsis, new axes and
// shrunk axes given by bit masks) made dense, one begin and stride per dimension of the input.
#pragma once

#include <optional>
#include <vector>

#include "ir/attribute.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace graphwright {

struct SliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
};
SliceMasks slice_masks(const AttributeReader& attributes);

// Elements that are not known while tracing are nullopt.
using PartialInteger = std::optional<int64_t>;

struct DenseSlice {
  std::vector<int64_t> begin, stride;  // per input dimension; begin is meaningless where unknown
  std::vector<Dim> processing;         // extent of each input dimension after slicing
  PartialShape final_shape;            // with new axes added and shrunk ones removed
};

// InvalidArgument for zero strides, too many indices, an index out of bounds. The input's rank must
// be known; `begin`, `end` and `strides` have one length.
DenseSlice resolve_slice(const PartialShape& input, const std::vector<PartialInteger>& begin,
                         const std::vector<PartialInteger>& end,
                         const std::vector<PartialInteger>& strides, const SliceMasks& masks);
// All being known.
DenseSlice resolve_slice(std::span<const int64_t> input, const Tensor& begin, const Tensor& end,
                         const Tensor& strides, const SliceMasks& masks);

}  // namespace graphwright
