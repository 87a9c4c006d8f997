// Ops that rearrange elements: reshape, transpose, broadcast, tile, reverse, pad.
#include <algorithm>
#include <numeric>

#include "kernels/number.h"
#include "kernels/strided_copy.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

using kernels::row_major_strides;

// --- Reshape, ExpandDims, Squeeze ---

// The dims asked for, with at most one -1 replaced. Known input shapes are checked.
PartialShape resolve_reshape(const PartialShape& input, std::span<const int64_t> wanted) {
  std::vector<int64_t> dims(wanted.begin(), wanted.end());
  int64_t known = 1;
  int unknown_axis = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) {
      if (unknown_axis >= 0) {
        throw_invalid_argument("Only one input size may be -1, not both " +
                               std::to_string(unknown_axis) + " and " + std::to_string(i));
      }
      unknown_axis = static_cast<int>(i);
    } else if (dims[i] < 0) {
      throw_invalid_argument("Size " + std::to_string(i) + " must be non-negative, not " +
                             std::to_string(dims[i]));
    } else if (__builtin_mul_overflow(known, dims[i], &known)) {
      throw_invalid_argument("The requested shape " + dims_to_string(dims) +
                             " has more than 2**63 - 1 elements");
    }
  }
  std::optional<int64_t> count =
      input.is_fully_defined() ? input.element_count() : std::optional<int64_t>();
  if (unknown_axis >= 0) {
    if (count) {
      if (known == 0 && *count != 0) {
        throw_invalid_argument(
            "Cannot infer the missing input size for an empty tensor unless all specified input "
            "sizes are non-zero");
      }
      if (known != 0 && *count % known != 0) {
        throw_invalid_argument("Input to reshape is a tensor with " + std::to_string(*count) +
                               " values, but the requested shape requires a multiple of " +
                               std::to_string(known));
      }
      if (known == 0) {
        throw_invalid_argument(
            "reshape cannot infer the missing input size for an empty tensor unless all specified "
            "input sizes are non-zero");
      }
      dims[static_cast<size_t>(unknown_axis)] = *count / known;
    } else if (input.has_rank() && known != 0) {
      // One unknown dim of the input, everything else being known: it may be that very symbol.
      int64_t input_known = 1;
      int unknown_count = 0;
      Dim symbol = kUnknownDim;
      for (Dim dim : input.dims()) {
        if (is_known(dim)) {
          input_known *= dim;
        } else {
          symbol = dim;
          ++unknown_count;
        }
      }
      dims[static_cast<size_t>(unknown_axis)] =
          unknown_count == 1 && input_known == known ? symbol : kUnknownDim;
    }
  } else if (count && *count != known) {
    throw_invalid_argument("Input to reshape is a tensor with " + std::to_string(*count) +
                           " values, but the requested shape has " + std::to_string(known));
  }
  return PartialShape(std::span<const Dim>(dims));
}

// What the one unknown among `dims` must be for the input's elements to fill them, as far as it can
// be told: sizes of one name on both sides cancel.
Dim implied_dim(const PartialShape& input, std::span<const Dim> dims) {
  int64_t given = 1, wanted = 1;
  std::vector<Dim> names;
  for (Dim dim : input.dims()) {
    if (dim == kUnknownDim) return kUnknownDim;
    if (is_symbol(dim)) {
      names.push_back(dim);
    } else if (__builtin_mul_overflow(given, dim, &given)) {
      return kUnknownDim;
    }
  }
  if (!input.has_rank()) return kUnknownDim;
  for (Dim dim : dims) {
    if (is_symbol(dim)) {
      auto found = std::ranges::find(names, dim);
      if (found == names.end()) return kUnknownDim;
      names.erase(found);
    } else if (dim != kUnknownDim && __builtin_mul_overflow(wanted, dim, &wanted)) {
      return kUnknownDim;
    }
  }
  if (wanted == 0) return kUnknownDim;
  if (names.empty() && given % wanted == 0) return given / wanted;
  return names.size() == 1 && given == wanted ? names[0] : kUnknownDim;
}

void shape_reshape(ShapeContext& context) {
  context.require_rank(1, 1);
  PartialShape input = context.input_shape(0);
  if (Tensor wanted = context.constant(1)) {
    if (wanted.rank() != 1) context.fail("shape must be a vector");
    try {
      context.set_output(0, resolve_reshape(input, integer_values(wanted)));
    } catch (const Error& error) {
      context.fail(error.detail().message);
    }
    return;
  }
  std::optional<PartialVector> partial = context.partial_vector(1);
  if (!partial) {
    PartialShape length = context.input_shape(1);
    context.set_output(0, length.has_rank() && length.rank() == 1 && is_known(length.dim(0))
                              ? PartialShape::unknown_dims(static_cast<int>(length.dim(0)))
                              : PartialShape::unknown());
    return;
  }
  // An element not known now may be known by the name of the size it equals.
  std::vector<Dim> dims(partial->values.size(), kUnknownDim);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!partial->known[i] && is_symbol(partial->values[i])) dims[i] = partial->values[i];
    if (partial->known[i]) {
      if (partial->values[i] < -1) {
        context.fail("Size " + std::to_string(i) + " must be non-negative, not " +
                     std::to_string(partial->values[i]));
      }
      dims[i] = partial->values[i] == -1 ? kUnknownDim : partial->values[i];
    }
  }
  if (std::ranges::count(dims, kUnknownDim) == 1) {
    auto open = std::ranges::find(dims, kUnknownDim);
    // What is no -1 must be checked against the input when it is known.
    bool is_rest = partial->known[static_cast<size_t>(open - dims.begin())];
    if (is_rest || input.is_fully_defined()) *open = implied_dim(input, dims);
  }
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
void reshape_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Tensor& shape = context.input(1);
  if (shape.rank() != 1) {
    fail(context, "shape", "sizes input must be 1-D, not " + dims_to_string(shape.dims()));
  }
  PartialShape dims = resolve_reshape(input.shape(), integer_values(shape));
  context.set_output(0, input.reshaped(dims.dims()));
}
void gradient_reshape(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  context.set_dx(0, f.reshape_like(context.dy(), context.x()));
}
// A scalar made a vector, a vector made a scalar, and so on: the same values.
void constant_first_input(ConstantContext& context) {
  if (auto values = partial_constant_vector(context.input(0))) context.set(std::move(*values));
}

void shape_expand_dims(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  Tensor axis = context.constant(1);
  if (axis && axis.element_count() != 1) {
    context.fail("'dim' input must be a tensor with a single value");
  }
  if (!input.has_rank()) return context.set_output(0, PartialShape::unknown());
  if (!axis) return context.set_output(0, PartialShape::unknown_dims(input.rank() + 1));
  int64_t at = integer_at(axis, 0);
  std::optional<int> normal = normalize_axis(at, input.rank() + 1);
  if (!normal) {
    context.fail("Tried to expand dim index " + std::to_string(at) + " for tensor with " +
                 std::to_string(input.rank()) + " dimensions.");
  }
  std::vector<Dim> dims(input.dims().begin(), input.dims().end());
  dims.insert(dims.begin() + *normal, 1);
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
void squeeze_shape(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  const std::vector<int64_t>& axes = context.attributes().integers("squeeze_dims");
  if (!input.has_rank()) return context.set_output(0, PartialShape::unknown());
  std::vector<bool> drop(static_cast<size_t>(input.rank()), false);
  for (int64_t axis : axes) {
    std::optional<int> normal = normalize_axis(axis, input.rank());
    if (!normal) {
      context.fail("Tried to squeeze dim index " + std::to_string(axis) + " for tensor with " +
                   std::to_string(input.rank()) + " dimensions.");
    }
    drop[static_cast<size_t>(*normal)] = true;
  }
  std::vector<Dim> dims;
  for (int i = 0; i < input.rank(); ++i) {
    Dim dim = input.dim(i);
    if (axes.empty()) {
      // Which dims go depends on those not known.
      if (!is_known(dim)) return context.set_output(0, PartialShape::unknown());
      if (dim != 1) dims.push_back(dim);
    } else if (!drop[static_cast<size_t>(i)]) {
      dims.push_back(dim);
    } else if (is_known(dim) && dim != 1) {
      context.fail("Can not squeeze dim[" + std::to_string(i) +
                   "], expected a dimension of 1, got " + std::to_string(dim));
    }
  }
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
// The same elements in the shape that the shape rule gives.
void view_kernel(KernelContext& context) {
  std::vector<ValueType> outputs = infer_outputs(context);
  context.set_output(0, context.input(0).reshaped(outputs[0].shape.dims()));
}

// --- Transpose ---

std::vector<int> checked_permutation(std::span<const int64_t> values, int rank) {
  if (static_cast<int>(values.size()) != rank) {
    throw_invalid_argument("transpose expects a vector of size " + std::to_string(rank) +
                           ". But input(1) is a vector of size " + std::to_string(values.size()));
  }
  std::vector<int> permutation(values.size());
  std::vector<bool> seen(values.size(), false);
  for (size_t i = 0; i < values.size(); ++i) {
    std::optional<int> axis = normalize_axis(values[i], rank);
    if (!axis) {
      throw_invalid_argument(std::to_string(values[i]) + " is out of range [0 .. " +
                             std::to_string(rank) + ")");
    }
    permutation[i] = *axis;
    seen[static_cast<size_t>(*axis)] = true;
  }
  for (int i = 0; i < rank; ++i) {
    if (!seen[static_cast<size_t>(i)]) {
      throw_invalid_argument(std::to_string(i) + " is missing from the permutation");
    }
  }
  return permutation;
}
void shape_transpose(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  PartialShape length = context.require_rank(1, 1);
  int rank = input.has_rank() ? input.rank() : -1;
  if (rank < 0 && length.has_rank() && is_known(length.dim(0))) {
    rank = static_cast<int>(length.dim(0));
    input = PartialShape::unknown_dims(rank);
  }
  if (rank < 0) return context.set_output(0, PartialShape::unknown());
  Tensor permutation = context.constant(1);
  if (!permutation) {
    if (length.has_rank() && is_known(length.dim(0)) && length.dim(0) != rank) {
      context.fail("Dimension must be " + std::to_string(rank) + " but is " +
                   std::to_string(length.dim(0)));
    }
    // A vector of one length dim permuted is itself.
    return context.set_output(0, rank <= 1 ? input : PartialShape::unknown_dims(rank));
  }
  try {
    std::vector<int> axes = checked_permutation(integer_values(permutation), rank);
    std::vector<Dim> dims;
    for (int axis : axes) dims.push_back(input.dim(axis));
    context.set_output(0, PartialShape(std::span<const Dim>(dims)));
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
}
template <bool Conjugate>
void transpose_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Tensor& permutation_tensor = context.input(1);
  if (permutation_tensor.rank() != 1) {
    fail(context, "perm",
         "perm must be rank 1, got shape " + dims_to_string(permutation_tensor.dims()));
  }
  std::vector<int> permutation =
      checked_permutation(integer_values(permutation_tensor), input.rank());
  std::vector<int64_t> dims(permutation.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = input.dim(permutation[i]);
  Tensor& output = context.require_output(0, input.dtype(), dims);
  kernels::transpose(input, permutation, output);
  if constexpr (Conjugate) {
    if (input.dtype() == DType::kComplex64) {
      auto* data = output.mutable_data<std::complex<float>>();
      for (int64_t i = 0; i < output.element_count(); ++i) data[i] = std::conj(data[i]);
    } else if (input.dtype() == DType::kComplex128) {
      auto* data = output.mutable_data<std::complex<double>>();
      for (int64_t i = 0; i < output.element_count(); ++i) data[i] = std::conj(data[i]);
    }
  }
}
void gradient_transpose(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression inverse = f.call("InvertPermutation", {context.x(1)});
  context.set_dx(0, context.builder().op(context.attributes().op().name, {context.dy(), inverse}));
}

// --- InvertPermutation ---

void shape_invert_permutation(ShapeContext& context) {
  context.set_output(0, context.require_rank(0, 1));
}
void invert_permutation_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  if (input.rank() != 1) fail(context, "x", "invert_permutation expects a 1D vector.");
  Tensor& output = context.require_output(0, input.dtype(), input.dims());
  int64_t count = input.element_count();
  std::vector<int64_t> inverse(static_cast<size_t>(count), -1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = integer_at(input, i);
    if (at < 0 || at >= count) {
      fail(context, "x", std::to_string(at) + " is not between 0 and " + std::to_string(count));
    }
    if (inverse[static_cast<size_t>(at)] != -1) {
      fail(context, "x", std::to_string(at) + " is duplicated in the input.");
    }
    inverse[static_cast<size_t>(at)] = i;
  }
  for (int64_t i = 0; i < count; ++i) set_integer(output, i, inverse[static_cast<size_t>(i)]);
}

// --- BroadcastTo, BroadcastGradientArgs ---

// Whether a tensor of shape `input` may be broadcast to `target`; both known.
void check_broadcastable(std::span<const int64_t> input, std::span<const int64_t> target) {
  bool fits = input.size() <= target.size();
  size_t shift = fits ? target.size() - input.size() : 0;
  for (size_t i = 0; fits && i < input.size(); ++i) {
    fits = input[i] == 1 || input[i] == target[i + shift];
  }
  if (!fits) {
    throw_invalid_argument("Incompatible shapes: " + dims_to_string(input) + " vs. " +
                           dims_to_string(target));
  }
}
void shape_broadcast_to(ShapeContext& context) {
  context.require_rank(1, 1);
  if (Tensor wanted = context.constant(1)) {
    std::vector<int64_t> dims = integer_values(wanted);
    PartialShape target{std::span<const Dim>(dims)};
    PartialShape input = context.input_shape(0);
    for (int64_t dim : dims) {
      if (dim < 0) context.fail("shape must not hold negative sizes, got " + std::to_string(dim));
    }
    if (input.has_rank()) {
      std::optional<PartialShape> common = broadcast_shapes(input, target);
      if (input.rank() > target.rank() || !common || !common->is_compatible_with(target)) {
        context.fail("Incompatible shapes: " + shape_text(input) + " vs. " + shape_text(target));
      }
    }
  }
  context.set_output(0, constant_as_shape(context.input(1)));
}
void broadcast_to_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Tensor& shape = context.input(1);
  if (shape.rank() != 1) {
    fail(context, "shape", "shape must be 1-D, not " + dims_to_string(shape.dims()));
  }
  std::vector<int64_t> dims = integer_values(shape);
  checked_element_count(dims);
  check_broadcastable(input.dims(), dims);
  if (std::ranges::equal(dims, input.dims())) return forward_input(context);
  kernels::broadcast_to(input, context.require_output(0, input.dtype(), dims));
}
void gradient_broadcast_to(GradientContext& context) {
  if (context.needs(0) && context.has_dy()) context.set_dx_unbroadcast(0, context.dy());
}

void shape_broadcast_gradient_args(ShapeContext& context) {
  context.require_rank(0, 1);
  context.require_rank(1, 1);
  context.set_output(0, {kUnknownDim});
  context.set_output(1, {kUnknownDim});
}
void broadcast_gradient_args_kernel(KernelContext& context) {
  std::vector<int64_t> shapes[2] = {integer_values(context.input(0)),
                                    integer_values(context.input(1))};
  size_t rank = std::max(shapes[0].size(), shapes[1].size());
  std::vector<int64_t> axes[2];
  for (size_t i = 0; i < rank; ++i) {
    int64_t dims[2];
    for (int side : {0, 1}) {
      size_t shift = rank - shapes[side].size();
      dims[side] = i < shift ? 1 : shapes[side][i - shift];
    }
    if (dims[0] != dims[1] && dims[0] != 1 && dims[1] != 1) {
      fail(context, "Incompatible shapes: " + dims_to_string(shapes[0]) + " vs. " +
                        dims_to_string(shapes[1]));
    }
    for (int side : {0, 1}) {
      bool added = i < rank - shapes[side].size();
      if (added || (dims[side] == 1 && dims[1 - side] != 1)) {
        axes[side].push_back(static_cast<int64_t>(i));
      }
    }
  }
  for (int side : {0, 1}) {
    context.set_output(side, integer_vector(context.input(side).dtype(), axes[side]));
  }
}

// --- Tile, ReverseV2 ---

void shape_tile(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  PartialShape length = context.require_rank(1, 1);
  if (!input.has_rank()) {
    if (length.has_rank() && is_known(length.dim(0))) {
      input = PartialShape::unknown_dims(static_cast<int>(length.dim(0)));
    } else {
      return context.set_output(0, PartialShape::unknown());
    }
  }
  if (length.has_rank() && is_known(length.dim(0)) && length.dim(0) != input.rank()) {
    context.fail("Expected multiples argument to be a vector of length " +
                 std::to_string(input.rank()) + " but got length " + std::to_string(length.dim(0)));
  }
  std::optional<PartialVector> multiples = context.partial_vector(1);
  for (int i = 0; i < input.rank(); ++i) {
    size_t at = static_cast<size_t>(i);
    bool known = multiples && multiples->known[at];
    if (known && multiples->values[at] < 0) {
      context.fail("Expected multiples[" + std::to_string(i) + "] >= 0, but got " +
                   std::to_string(multiples->values[at]));
    }
    if (known && multiples->values[at] == 1) continue;
    int64_t product = kUnknownDim;
    if (known && is_known(input.dim(i)) &&
        __builtin_mul_overflow(input.dim(i), multiples->values[at], &product)) {
      context.fail("the tiled shape overflows");
    }
    input.set_dim(i, product);
  }
  context.set_output(0, std::move(input));
}
void tile_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  std::vector<int64_t> multiples = integer_values(context.input(1));
  Tensor& output = infer_output(context, input.dtype());
  // Each dim d repeated m times is an [m, d] box whose source does not move along m.
  size_t rank = multiples.size();
  std::vector<int64_t> source = row_major_strides(input.dims());
  std::vector<int64_t> target = row_major_strides(output.dims());
  std::vector<int64_t> dims(2 * rank), source_strides(2 * rank, 0), target_strides(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    dims[2 * i] = multiples[i];
    dims[2 * i + 1] = input.dims()[i];
    source_strides[2 * i + 1] = source[i];
    target_strides[2 * i] = target[i] * input.dims()[i];
    target_strides[2 * i + 1] = target[i];
  }
  kernels::strided_copy(input.dtype(), dims, input.raw_data(), 0, source_strides,
                        output.mutable_raw_data(), 0, target_strides);
}
void gradient_tile(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  // dy seen as [m0, d0, m1, d1, ...] and summed over the m's.
  Algebra f(context.builder());
  Expression shape = f.shape_of(context.x(0), dtype_of(context.x(1)));
  Expression pairs =
      f.call("Transpose", {f.call("Pack", {context.x(1), shape}), f.int32_vector({1, 0})});
  Expression split = f.reshape(context.dy(), f.reshape(pairs, f.int32_vector({-1})));
  Expression axes =
      f.call("Range", {f.int32(0), f.cast(f.call("Size", {pairs}), DType::kInt32), f.int32(2)});
  context.set_dx(0, f.reshape(f.sum(split, axes), shape));
}

void shape_reverse(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  context.require_rank(1, 1);
  if (Tensor axes = context.constant(1); axes && input.has_rank()) {
    std::vector<bool> seen(static_cast<size_t>(input.rank()), false);
    for (int64_t axis : integer_values(axes)) {
      std::optional<int> normal = normalize_axis(axis, input.rank());
      if (!normal) {
        context.fail("'axis'[" + std::to_string(axis) + "] is out of valid range [0, " +
                     std::to_string(input.rank() - 1) + "]");
      }
      if (seen[static_cast<size_t>(*normal)]) {
        context.fail("axis " + std::to_string(*normal) + " specified more than once.");
      }
      seen[static_cast<size_t>(*normal)] = true;
    }
  }
  context.set_output(0, std::move(input));
}
void reverse_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  Tensor& output = infer_output(context, input.dtype());
  std::vector<bool> reversed = axis_mask(integer_values(context.input(1)), input.rank());
  std::vector<int64_t> strides = row_major_strides(input.dims());
  std::vector<int64_t> target = strides;
  int64_t offset = 0;
  if (input.element_count() == 0) return;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (!reversed[i]) continue;
    offset += strides[i] * (input.dims()[i] - 1);
    strides[i] = -strides[i];
  }
  kernels::strided_copy(input.dtype(), input.dims(), input.raw_data(), offset, strides,
                        output.mutable_raw_data(), 0, target);
}
void gradient_reverse(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  context.set_dx(0, context.builder().op("ReverseV2", {context.dy(), context.x(1)}));
}

// --- Pad ---

void shape_pad(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  PartialShape paddings_shape = context.require_rank(1, 2);
  if (paddings_shape.has_rank()) {
    if (is_known(paddings_shape.dim(1)) && paddings_shape.dim(1) != 2) {
      context.fail("paddings must be a matrix with 2 columns: " + shape_text(paddings_shape));
    }
    if (is_known(paddings_shape.dim(0))) {
      if (!input.has_rank()) {
        input = PartialShape::unknown_dims(static_cast<int>(paddings_shape.dim(0)));
      } else if (input.rank() != paddings_shape.dim(0)) {
        context.fail("The first dimension of paddings must be the rank of inputs " +
                     shape_text(paddings_shape) + " " + shape_text(input));
      }
    }
  }
  if (context.input_count() > 2) context.require_rank(2, 0);
  if (!input.has_rank()) return context.set_output(0, PartialShape::unknown());
  Tensor paddings = context.constant(1);
  for (int i = 0; i < input.rank(); ++i) {
    if (!paddings) {
      input.set_dim(i, kUnknownDim);
      continue;
    }
    int64_t before = integer_at(paddings, 2 * i), after = integer_at(paddings, 2 * i + 1);
    if (before < 0 || after < 0) {
      context.fail("Paddings must be non-negative: " + std::to_string(before) + " " +
                   std::to_string(after));
    }
    if (before == 0 && after == 0) continue;
    int64_t size = kUnknownDim;
    if (is_known(input.dim(i)) && (__builtin_add_overflow(input.dim(i), before, &size) ||
                                   __builtin_add_overflow(size, after, &size))) {
      context.fail("the padded shape overflows");
    }
    input.set_dim(i, size);
  }
  context.set_output(0, std::move(input));
}
void pad_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  Tensor& output = infer_output(context, input.dtype());
  if (context.input_count() > 2) {
    kernels::fill_elements(input.dtype(), output.mutable_raw_data(), output.element_count(),
                           context.input(2).raw_data());
  } else {
    kernels::clear_elements(input.dtype(), output.mutable_raw_data(), output.element_count());
  }
  std::vector<int64_t> target = row_major_strides(output.dims());
  int64_t offset = 0;
  for (size_t i = 0; i < target.size(); ++i) {
    offset += target[i] * integer_at(context.input(1), static_cast<int64_t>(2 * i));
  }
  kernels::strided_copy(input.dtype(), input.dims(), input.raw_data(), 0,
                        row_major_strides(input.dims()), output.mutable_raw_data(), offset, target);
}
void gradient_pad(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  // The first column of paddings: where x begins in y.
  DType dtype = dtype_of(context.x(1));
  Expression first_column =
      f.call("Slice", {context.x(1), f.int32_vector({0, 0}), f.int32_vector({-1, 1})});
  Expression begin = f.reshape(first_column, f.int32_vector({-1}));
  Expression shape = f.shape_of(context.x(0), dtype);
  Expression inner = f.call("Slice", {context.dy(), begin, shape});
  if (context.needs(0)) context.set_dx(0, inner);
  if (context.input_count() > 2 && context.needs(2)) {
    auto total = [&](const Expression& x) {
      return f.sum(x, f.call("Range", {f.int32(0), f.rank_of(x), f.int32(1)}));
    };
    context.set_dx(2, total(context.dy()) - total(inner));
  }
}
void forward_pad(ForwardContext& context) {
  bool any = context.has_dx(0) || (context.input_count() > 2 && context.has_dx(2));
  if (!any) return;
  if (context.input_count() > 2) {
    context.set_dy(0, context.builder().op("PadV2", {context.dx(0), context.x(1), context.dx(2)}));
  } else {
    context.set_dy(0, context.builder().op("Pad", {context.dx(0), context.x(1)}));
  }
}

constexpr std::array kTable{
    OpDef{
        .name = "Reshape",
        .signature = "tensor: T, shape: Tshape -> output: T",
        .doc = "The elements of `tensor`, in row-major order, in the given shape. `shape` is a "
               "vector of int32 or int64; one entry may be -1 and is inferred. InvalidArgument "
               "when the numbers of elements differ.",
        .traits = kPure,
        .types = {{{"Tshape", kIndex}}},
        .shape = shape_reshape,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<reshape_kernel>},
        .gradient = gradient_reshape,
        .forward = forward_first_input,
        .reference = {.reason = "takes a shape: tests/python/test_array_functions.py"},
        .constant = constant_first_input,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "ExpandDims",
        .signature = "input: T, dim: Tdim -> output: T",
        .doc = "The input with a dimension of size 1 inserted before dimension `dim`, which lies "
               "in [-rank - 1, rank].",
        .traits = kPure,
        .types = {{{"Tdim", kIndex}}},
        .shape = shape_expand_dims,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<view_kernel>},
        .gradient = gradient_reshape,
        .forward = forward_first_input,
        .reference = {.reason = "takes an axis: tests/python/test_array_functions.py"},
        .constant = constant_first_input,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "Squeeze",
        .signature = "input: T; squeeze_dims: list(int)=[] -> output: T",
        .doc = "The input without its dimensions of size 1, or without those listed, which must "
               "be of size 1 (InvalidArgument otherwise).",
        .traits = kPure,
        .shape = squeeze_shape,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<view_kernel>},
        .gradient = gradient_reshape,
        .forward = forward_first_input,
        .reference = {.numpy = "np.squeeze(input)"},
        .constant = constant_first_input,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "Transpose",
        .signature = "x: T, perm: Tperm -> y: T",
        .doc = "y.shape[i] = x.shape[perm[i]]. `perm` is a permutation of [0, rank) as a vector "
               "of int32 or int64.",
        .traits = kPure,
        .types = {{{"Tperm", kIndex}}},
        .shape = shape_transpose,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<transpose_kernel<false>>},
        .gradient = gradient_transpose,
        .forward = forward_first_input,
        .reference = {.reason = "takes a permutation: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "ConjugateTranspose",
        .signature = "x: T, perm: Tperm -> y: T",
        .doc = "Transpose with complex elements conjugated.",
        .traits = kPure,
        .types = {{{"Tperm", kIndex}}},
        .shape = shape_transpose,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<transpose_kernel<true>>},
        .gradient = gradient_transpose,
        .forward = forward_first_input,
        .reference = {.reason = "takes a permutation: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "InvertPermutation",
        .signature = "x: T -> y: T",
        .doc = "y[x[i]] = i for a permutation x of [0, n), a vector of int32 or int64. "
               "InvalidArgument when x is no permutation.",
        .traits = kPure | kMayFail | kZeroDerivative,
        .types = {{{"T", kIndex}}},
        .shape = shape_invert_permutation,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<invert_permutation_kernel>},
        .gradient = Absent{"is a function of integers"},
        .forward = Absent{"is a function of integers"},
        .reference = {.reason = "takes a permutation: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "BroadcastTo",
        .signature = "input: T, shape: Tidx -> output: T",
        .doc = "The input broadcast to `shape` (a vector of int32 or int64) as NumPy does.",
        .traits = kPure,
        .types = {{{"Tidx", kIndex}}},
        .shape = shape_broadcast_to,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<broadcast_to_kernel>},
        .gradient = gradient_broadcast_to,
        .forward = forward_first_input,
        .reference = {.reason = "takes a shape: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "BroadcastGradientArgs",
        .signature = "s0: T, s1: T -> r0: T, r1: T",
        .doc = "For two shapes that broadcast together: the axes of the common shape over which "
               "the gradients of each must be summed.",
        .traits = kPure | kZeroDerivative,
        .types = {{{"T", kIndex}}},
        .shape = shape_broadcast_gradient_args,
        .compute = {.kind = ComputeKind::kLibrary,
                    .kernel = guarded<broadcast_gradient_args_kernel>},
        .gradient = Absent{"is a function of shapes"},
        .forward = Absent{"is a function of shapes"},
        .reference = {.reason = "takes shapes: tests/cpp/ops_array_test.cpp"},
    },
    OpDef{
        .name = "Tile",
        .signature = "input: T, multiples: Tmultiples -> output: T",
        .doc = "The input repeated multiples[i] times along dimension i; `multiples` is a vector "
               "of int32 or int64 with one entry per dimension, all >= 0.",
        .traits = kPure,
        .types = {{{"Tmultiples", kIndex}}},
        .shape = shape_tile,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<tile_kernel>},
        .gradient = gradient_tile,
        .forward = forward_first_input,
        .reference = {.reason = "takes multiples: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "ReverseV2",
        .signature = "tensor: T, axis: Tidx -> output: T",
        .doc = "The tensor with the order of elements reversed along each axis of the vector "
               "`axis`, whose entries lie in [-rank, rank) and are different.",
        .traits = kPure,
        .types = {{{"Tidx", kIndex}}},
        .shape = shape_reverse,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<reverse_kernel>},
        .gradient = gradient_reverse,
        .forward = forward_first_input,
        .reference = {.reason = "takes axes: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "Pad",
        .signature = "input: T, paddings: Tpaddings -> output: T",
        .doc = "The input with paddings[i, 0] zeros before and paddings[i, 1] after it along "
               "dimension i. `paddings` is an int32 or int64 matrix [rank, 2], all >= 0.",
        .traits = kPure,
        .types = {{{"Tpaddings", kIndex}}},
        .shape = shape_pad,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<pad_kernel>},
        .gradient = gradient_pad,
        .forward = forward_pad,
        .reference = {.reason = "takes paddings: tests/python/test_array_functions.py"},
    },
    OpDef{
        .name = "PadV2",
        .signature = "input: T, paddings: Tpaddings, constant_values: T -> output: T",
        .doc = "As Pad, with the scalar `constant_values` in place of zeros.",
        .traits = kPure,
        .types = {{{"Tpaddings", kIndex}}},
        .shape = shape_pad,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<pad_kernel>},
        .gradient = gradient_pad,
        .forward = forward_pad,
        .reference = {.reason = "takes paddings: tests/python/test_array_functions.py"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
