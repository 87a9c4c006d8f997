#include "ops/gather_support.h"

#include <algorithm>
#include <numeric>

#include "base/status.h"
#include "kernels/gather.h"
#include "kernels/strided_copy.h"
#include "ops/op_support.h"

namespace graphwright {

std::string index_position(int64_t flat, std::span<const int64_t> dims) {
  if (dims.empty()) return "";
  std::string text;
  for (size_t i = dims.size(); i-- > 0;) {
    text = std::to_string(flat % dims[i]) + (text.empty() ? "" : ",") + text;
    flat /= dims[i];
  }
  return "[" + text + "]";
}

void gather_along(const Tensor& params, const Tensor& indices, int axis, int batch_dims,
                  Tensor& output) {
  int64_t bad = kernels::gather(params, indices, axis, batch_dims, output);
  if (bad < 0) return;
  throw Error(Code::kInvalidArgument, "indices" + index_position(bad, indices.dims()) + " = " +
                                          std::to_string(integer_at(indices, bad)) +
                                          " is not in [0, " + std::to_string(params.dim(axis)) +
                                          ")")
      .with_argument("indices");
}

// Indices and updates must fit a tensor of shape `shape`.
PartialShape gathered_nd_shape(ShapeContext& context, const PartialShape& params,
                               const PartialShape& indices) {
  if (!indices.has_rank()) return PartialShape::unknown();
  if (indices.rank() < 1) {
    context.fail("indices must be at least a vector, but have shape " + shape_text(indices));
  }
  if (!params.has_rank() || !is_known(indices.dim(indices.rank() - 1))) {
    return PartialShape::unknown();
  }
  int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank()) {
    context.fail("indices.shape[-1] must be <= params.rank, but saw indices shape: " +
                 shape_text(indices) + " and params shape: " + shape_text(params));
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), params.dims().begin() + depth, params.dims().end());
  return PartialShape(std::span<const Dim>(dims));
}

void check_scatter_nd(ShapeContext& context, const PartialShape& indices,
                      const PartialShape& updates, const PartialShape& shape) {
  if (!indices.has_rank() || !updates.has_rank() || !shape.has_rank()) return;
  if (indices.rank() < 1) context.fail("indices must have at least one dimension");
  Dim depth = indices.dim(indices.rank() - 1);
  if (!is_known(depth)) return;
  if (depth > shape.rank()) {
    context.fail("The inner " + std::to_string(depth) + " dimensions of indices do not fit shape " +
                 shape_text(shape));
  }
  std::vector<Dim> wanted(indices.dims().begin(), indices.dims().end() - 1);
  wanted.insert(wanted.end(), shape.dims().begin() + depth, shape.dims().end());
  PartialShape expected{std::span<const Dim>(wanted)};
  if (!expected.is_compatible_with(updates)) {
    context.fail(
        "Must have updates.shape = indices.shape[:-1] + shape[indices.shape[-1]:], got "
        "updates.shape: " +
        shape_text(updates) + ", indices.shape: " + shape_text(indices) +
        ", shape: " + shape_text(shape));
  }
}
namespace {

int64_t product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

[[noreturn]] void throw_bad_row(const Tensor& indices, int64_t row, int64_t depth,
                                std::span<const int64_t> dims) {
  std::string text;
  for (int64_t k = 0; k < depth; ++k) {
    text += (k ? ", " : "") + std::to_string(integer_at(indices, row * depth + k));
  }
  throw Error(Code::kInvalidArgument,
              "indices" + index_position(row, indices.dims().first(indices.dims().size() - 1)) +
                  " = [" + text + "] does not index into shape " + dims_to_string(dims))
      .with_argument("indices");
}

std::vector<int64_t> row_offsets(const Tensor& indices, std::span<const int64_t> dims) {
  int64_t depth = indices.dim(indices.rank() - 1);
  std::vector<int64_t> offsets(
      static_cast<size_t>(product(indices.dims().first(indices.dims().size() - 1))));
  for (size_t row = 0; row < offsets.size(); ++row) {
    int64_t offset = 0;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t index = integer_at(indices, static_cast<int64_t>(row) * depth + d);
      int64_t dim = dims[static_cast<size_t>(d)];
      if (index < 0 || index >= dim) {
        throw_bad_row(indices, static_cast<int64_t>(row), depth, dims);
      }
      offset = offset * dim + index;
    }
    offsets[row] = offset;
  }
  return offsets;
}

}  // namespace

void gather_nd_slices(KernelContext& context, const Tensor& params, const Tensor& indices) {
  int64_t depth = indices.dim(indices.rank() - 1);
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  std::vector<int64_t> offsets = row_offsets(indices, params.dims());
  dims.insert(dims.end(), params.dims().begin() + depth, params.dims().end());
  Tensor& output = context.require_output(0, params.dtype(), dims);
  int64_t slice = product(params.dims().subspan(static_cast<size_t>(depth)));
  for (size_t row = 0; row < offsets.size(); ++row) {
    kernels::copy_elements(params.dtype(), params.raw_data(), offsets[row] * slice,
                           output.mutable_raw_data(), static_cast<int64_t>(row) * slice, slice);
  }
}

std::vector<int64_t> scatter_nd_offsets(const Tensor& indices, const Tensor& updates,
                                        std::span<const int64_t> dims) {
  if (indices.rank() < 1) throw_invalid_argument("indices must have at least one dimension");
  int64_t depth = indices.dim(indices.rank() - 1);
  std::vector<int64_t> wanted(indices.dims().begin(), indices.dims().end() - 1);
  bool fits = depth <= static_cast<int64_t>(dims.size());
  if (fits) wanted.insert(wanted.end(), dims.begin() + depth, dims.end());
  if (!fits || !std::ranges::equal(wanted, updates.dims())) {
    throw_invalid_argument(
        "Must have updates.shape = indices.shape[:-1] + shape[indices.shape[-1]:], got "
        "updates.shape: " +
        dims_to_string(updates.dims()) + ", indices.shape: " + dims_to_string(indices.dims()) +
        ", shape: " + dims_to_string(dims));
  }
  return row_offsets(indices, dims);
}

kernels::CombineResult scatter_nd_slices(std::span<const int64_t> offsets, const Tensor& updates,
                                         Tensor& target, kernels::Combination combination) {
  int64_t slice =
      offsets.empty() ? 0 : updates.element_count() / static_cast<int64_t>(offsets.size());
  for (size_t row = 0; row < offsets.size(); ++row) {
    kernels::CombineResult result = kernels::combine_elements(
        updates.dtype(), combination, updates.raw_data(), static_cast<int64_t>(row) * slice,
        target.mutable_raw_data(), offsets[row] * slice, slice);
    if (result != kernels::CombineResult::kDone) return result;
  }
  return kernels::CombineResult::kDone;
}

}  // namespace graphwright
