// Padding by reflection.
#include <algorithm>

#include "kernels/number.h"
#include "kernels/strided_copy.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// Elements at the edge that a reflection leaves out: one (the edge itself), or none.
int64_t edge_of(const AttributeReader& attributes) {
  return attributes.string("mode") == "REFLECT" ? 1 : 0;
}
void check_padding(int dim, int64_t before, int64_t after, Dim size, int64_t edge) {
  if (before < 0 || after < 0) {
    throw_invalid_argument("paddings must be non-negative: " + std::to_string(before) + " " +
                           std::to_string(after));
  }
  if (!is_known(size)) return;
  if (before <= size - edge && after <= size - edge) return;
  throw_invalid_argument("paddings must be " + std::string(edge ? "less than" : "no greater than") +
                         " the dimension size: " + std::to_string(before) + ", " +
                         std::to_string(after) + " " + (edge ? "not less than" : "greater than") +
                         " " + std::to_string(size) + " in dimension " + std::to_string(dim));
}
// Sign +1 grows the shape by the paddings; -1, for the gradient, shrinks it.
template <int Sign>
void shape_mirror_pad(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  PartialShape paddings = context.require_rank(1, 2);
  if (paddings.has_rank() && is_known(paddings.dim(1)) && paddings.dim(1) != 2) {
    context.fail("paddings must have 2 columns, got shape " + shape_text(paddings));
  }
  if (!input.has_rank()) {
    bool known = paddings.has_rank() && is_known(paddings.dim(0));
    return context.set_output(0, known
                                     ? PartialShape::unknown_dims(static_cast<int>(paddings.dim(0)))
                                     : PartialShape::unknown());
  }
  if (paddings.has_rank() && is_known(paddings.dim(0)) && paddings.dim(0) != input.rank()) {
    context.fail("Shape must be rank " + std::to_string(paddings.dim(0)) + " but is rank " +
                 std::to_string(input.rank()));
  }
  Tensor known = context.constant(1);
  std::vector<Dim> dims(static_cast<size_t>(input.rank()), kUnknownDim);
  for (int i = 0; known && i < input.rank(); ++i) {
    int64_t before = integer_at(known, 2 * i), after = integer_at(known, 2 * i + 1);
    Dim size = input.dim(i);
    if (Sign < 0 && is_known(size)) size -= before + after;
    // Whether the input has the elements is seen when the op runs.
    try {
      check_padding(i, before, after, kUnknownDim, 0);
    } catch (const Error& error) {
      context.fail(error.detail().message);
    }
    if (is_known(size)) {
      dims[static_cast<size_t>(i)] = Sign > 0 ? size + before + after : size;
    } else if (before == 0 && after == 0) {
      dims[static_cast<size_t>(i)] = size;
    }
  }
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}

// For each position of a padded dimension, the position in the original one.
std::vector<int64_t> reflected(int64_t before, int64_t size, int64_t after, int64_t edge) {
  std::vector<int64_t> from;
  for (int64_t i = before; i > 0; --i) from.push_back(i - 1 + edge);
  for (int64_t i = 0; i < size; ++i) from.push_back(i);
  for (int64_t i = 0; i < after; ++i) from.push_back(size - 1 - edge - i);
  return from;
}
// Visits every element of the padded tensor: visit(padded position, original position).
template <class Visit>
void for_each_element(const std::vector<std::vector<int64_t>>& from,
                      const std::vector<int64_t>& strides, Visit visit) {
  size_t rank = from.size();
  std::vector<size_t> at(rank, 0);
  for (const auto& dim : from) {
    if (dim.empty()) return;
  }
  for (int64_t flat = 0;; ++flat) {
    int64_t original = 0;
    for (size_t d = 0; d < rank; ++d) original += from[d][at[d]] * strides[d];
    visit(flat, original);
    size_t d = rank;
    while (d > 0 && ++at[d - 1] == from[d - 1].size()) at[--d] = 0;
    if (d == 0) return;
  }
}
// The maps of all dims, and the original dims in `dims`, which holds the input's.
template <int Sign>
std::vector<std::vector<int64_t>> reflections(KernelContext& context, std::vector<int64_t>& dims) {
  const Tensor& paddings = context.input(1);
  int64_t edge = edge_of(context.attributes());
  if (paddings.rank() != 2 || paddings.dim(1) != 2 ||
      paddings.dim(0) != static_cast<int64_t>(dims.size())) {
    fail(context, "paddings",
         "paddings must be a matrix with 2 columns and a row for each dimension, got shape " +
             dims_to_string(paddings.dims()));
  }
  std::vector<std::vector<int64_t>> from;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t row = static_cast<int64_t>(d);
    int64_t before = integer_at(paddings, 2 * row), after = integer_at(paddings, 2 * row + 1);
    if (Sign < 0) dims[d] -= before + after;
    check_padding(static_cast<int>(d), before, after, dims[d], edge);
    from.push_back(reflected(before, dims[d], after, edge));
  }
  return from;
}
void mirror_pad_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  std::vector<std::vector<int64_t>> from = reflections<1>(context, dims);
  std::vector<int64_t> padded;
  for (const auto& dim : from) padded.push_back(static_cast<int64_t>(dim.size()));
  Tensor& output = context.require_output(0, input.dtype(), padded);
  for_each_element(from, kernels::row_major_strides(dims), [&](int64_t to, int64_t original) {
    kernels::copy_elements(input.dtype(), input.raw_data(), original, output.mutable_raw_data(), to,
                           1);
  });
}
void mirror_pad_gradient_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  std::vector<std::vector<int64_t>> from = reflections<-1>(context, dims);
  Tensor& output = context.require_output(0, input.dtype(), dims);
  kernels::clear_elements(input.dtype(), output.mutable_raw_data(), output.element_count());
  kernels::visit_number(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* source = input.data<T>();
    T* target = output.mutable_data<T>();
    for_each_element(from, kernels::row_major_strides(dims), [&](int64_t at, int64_t original) {
      target[original] = kernels::wrapping_add(target[original], source[at]);
    });
  });
}
template <const char* const& Op>
void gradient_by(GradientContext& context) {
  if (!context.needs(0)) return;
  context.set_dx(
      0, context.builder().op(
             Op, {context.dy(), context.x(1)},
             attributes_of(Op, {{"mode", std::string(context.attributes().string("mode"))}})));
}
constexpr const char* kPad = "MirrorPad";
constexpr const char* kPadGradient = "MirrorPadGrad";

constexpr std::array kTable{
    OpDef{.name = "MirrorPad",
          .signature = "input: T, paddings: Tpaddings; mode: {'REFLECT','SYMMETRIC'} -> output: T",
          .doc = "The input with paddings[i, 0] elements before and paddings[i, 1] after it along "
                 "dimension i, mirrored at the edge, which REFLECT does not repeat and SYMMETRIC "
                 "does. InvalidArgument where there are not enough elements.",
          .traits = kPure | kMayFail,
          .types = {{{"Tpaddings", kIndex}}},
          .shape = shape_mirror_pad<1>,
          .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<mirror_pad_kernel>},
          .gradient = gradient_by<kPadGradient>,
          .forward = forward_first_input,
          .reference = {.reason = "takes paddings: tests/python/test_axis_functions.py"}},
    OpDef{.name = "MirrorPadGrad",
          .signature = "input: T, paddings: Tpaddings; mode: {'REFLECT','SYMMETRIC'} -> output: T",
          .doc = "The gradient of MirrorPad: each element of the original plus the elements that "
                 "are its mirror images.",
          .traits = kPure | kMayFail,
          .types = {{{"T", kNumeric}, {"Tpaddings", kIndex}}},
          .shape = shape_mirror_pad<-1>,
          .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<mirror_pad_gradient_kernel>},
          .gradient = gradient_by<kPad>,
          .forward = forward_first_input,
          .reference = {.reason = "takes paddings: tests/python/test_axis_functions.py"}},
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
