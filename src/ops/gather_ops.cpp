// Ops that pick or place elements by index.
#include <algorithm>
#include <numeric>

#include "kernels/gather.h"
#include "kernels/number.h"
#include "kernels/strided_copy.h"
#include "ops/gather_support.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

int64_t product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// --- GatherV2 ---

struct GatherAxes {
  int axis = 0, batch_dims = 0;
};
GatherAxes gather_axes(int64_t axis, int64_t batch_dims, int params_rank, int indices_rank) {
  std::optional<int> batch = batch_dims == indices_rank ? static_cast<int>(batch_dims)
                                                        : normalize_axis(batch_dims, indices_rank);
  if (!batch) {
    throw_invalid_argument("Expected batch_dims in the range [" + std::to_string(-indices_rank) +
                           ", " + std::to_string(indices_rank) + "], but got " +
                           std::to_string(batch_dims));
  }
  std::optional<int> normal = normalize_axis(axis, params_rank);
  if (!normal) {
    throw_invalid_argument("Expected axis in the range [" + std::to_string(-params_rank) + ", " +
                           std::to_string(params_rank) + "), but got " + std::to_string(axis));
  }
  if (*normal < *batch) {
    throw_invalid_argument("batch_dims (" + std::to_string(*batch) +
                           ") must be less than or equal to axis (" + std::to_string(*normal) +
                           ").");
  }
  return {*normal, *batch};
}
void shape_gather(ShapeContext& context) {
  PartialShape params = context.require_rank_at_least(0, 1);
  PartialShape indices = context.input_shape(1);
  context.require_rank(2, 0);
  Tensor axis_tensor = context.constant(2);
  int64_t batch_dims = context.attributes().integer("batch_dims");
  if (!params.has_rank() || !indices.has_rank() || !axis_tensor) {
    bool ranks = params.has_rank() && indices.has_rank() && batch_dims >= 0;
    return context.set_output(0, ranks
                                     ? PartialShape::unknown_dims(params.rank() + indices.rank() -
                                                                  1 - static_cast<int>(batch_dims))
                                     : PartialShape::unknown());
  }
  GatherAxes axes;
  try {
    axes = gather_axes(integer_at(axis_tensor, 0), batch_dims, params.rank(), indices.rank());
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
  std::vector<Dim> dims;
  for (int i = 0; i < axes.axis; ++i) {
    Dim dim = params.dim(i);
    if (i < axes.batch_dims) {
      Dim other = indices.dim(i);
      if (is_known(dim) && is_known(other) && dim != other) {
        context.fail("params.shape[" + std::to_string(i) + "]: " + std::to_string(dim) +
                     " should be equal to indices.shape[" + std::to_string(i) +
                     "]: " + std::to_string(other));
      }
      if (!is_known(dim)) dim = other;
    }
    dims.push_back(dim);
  }
  for (int i = axes.batch_dims; i < indices.rank(); ++i) dims.push_back(indices.dim(i));
  for (int i = axes.axis + 1; i < params.rank(); ++i) dims.push_back(params.dim(i));
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
void gather_kernel(KernelContext& context) {
  const Tensor& params = context.input(0);
  const Tensor& indices = context.input(1);
  Tensor& output = infer_output(context, params.dtype());
  GatherAxes axes =
      gather_axes(integer_at(context.input(2), 0), context.attributes().integer("batch_dims"),
                  params.rank(), indices.rank());
  gather_along(params, indices, axes.axis, axes.batch_dims, output);
}
void gradient_gather(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Tensor axis_tensor = constant_value(context.x(2));
  PartialShape params = shape_of(context.x(0));
  PartialShape indices = shape_of(context.x(1));
  int64_t batch_dims = context.attributes().integer("batch_dims");
  Expression minus_one = f.int32_vector({-1});
  if (axis_tensor && integer_at(axis_tensor, 0) == 0 && batch_dims == 0) {
    Expression shape = f.shape_of(context.x(0));
    Expression rows = f.call("StridedSlice",
                             {shape, f.int32_vector({1}), f.int32_vector({0}), f.int32_vector({1})},
                             {{"end_mask", int64_t{1}}});
    Expression values =
        f.reshape(context.dy(), f.call("ConcatV2", {f.int32_vector({-1}), rows, f.int32(0)}));
    return context.set_dx_slices(0, values, f.reshape(context.x(1), minus_one), shape);
  }
  if (!axis_tensor || !params.has_rank() || !indices.has_rank()) {
    throw_unimplemented(
        "GatherV2: the gradient along an axis other than 0 needs params and indices of known rank "
        "and a constant axis.");
  }
  GatherAxes axes =
      gather_axes(integer_at(axis_tensor, 0), batch_dims, params.rank(), indices.rank());
  int batch = axes.batch_dims, axis = axes.axis;
  int gathered = indices.rank() - batch;  // dims that took the place of the axis
  // dy as [batch, indices, outer, inner]: the rows to add up, one per index.
  std::vector<int64_t> order;
  for (int i = 0; i < batch; ++i) order.push_back(i);
  for (int i = 0; i < gathered; ++i) order.push_back(axis + i);
  for (int i = batch; i < axis; ++i) order.push_back(i);
  for (int i = axis + 1; i < params.rank(); ++i) order.push_back(i - 1 + gathered);
  Expression rows = f.call("Transpose", {context.dy(), f.int32_vector(order)});
  Expression shape = f.shape_of(context.x(0));
  auto dims = [&](std::vector<int64_t> which) {
    return f.call("GatherV2", {shape, f.int32_vector(which), f.int32(0)});
  };
  std::vector<int64_t> batch_axes, row_axes;
  for (int i = 0; i < batch; ++i) batch_axes.push_back(i);
  for (int i = batch; i < params.rank(); ++i) {
    if (i != axis) row_axes.push_back(i);
  }
  Expression row_shape = dims(row_axes);
  Expression along = dims({axis});
  Expression batch_shape = dims(batch_axes);
  Expression batch_size = f.call("Prod", {batch_shape, f.int32_vector({0})});
  Expression flat_indices = f.reshape(context.x(1), minus_one);
  if (batch > 0) {
    // Entries of different batches fall into different segments.
    DType dtype = dtype_of(context.x(1));
    Expression matrix = f.reshape(
        context.x(1),
        f.call("ConcatV2", {f.reshape(batch_size, f.int32_vector({1})), minus_one, f.int32(0)}));
    Expression start = f.call("Range", {f.int32(0), batch_size, f.int32(1)}) *
                       f.reshape(along, f.int32_vector({}));
    Expression column = f.call("ExpandDims", {f.cast(start, dtype), f.int32(1)});
    flat_indices = f.reshape(matrix + column, minus_one);
  }
  Expression flat_rows = f.reshape(rows, f.call("ConcatV2", {minus_one, row_shape, f.int32(0)}));
  Expression segments = batch_size * f.reshape(along, f.int32_vector({}));
  Expression summed = f.call("UnsortedSegmentSum", {flat_rows, flat_indices, segments});
  std::vector<Operand> pieces{batch_shape, along, row_shape, f.int32(0)};
  Expression moved =
      f.reshape(summed, context.builder().op("ConcatV2", std::span<const Operand>(pieces)));
  // [batch, axis, outer, inner] back to the order of params.
  std::vector<int64_t> back;
  for (int i = 0; i < batch; ++i) back.push_back(i);
  for (int i = batch; i < axis; ++i) back.push_back(i + 1);
  back.push_back(batch);
  for (int i = axis + 1; i < params.rank(); ++i) back.push_back(i);
  context.set_dx(0, f.call("Transpose", {moved, f.int32_vector(back)}));
}

// --- GatherNd, ScatterNd and updates ---

void shape_gather_nd(ShapeContext& context) {
  context.set_output(0, gathered_nd_shape(context, context.input_shape(0), context.input_shape(1)));
}
void gather_nd_kernel(KernelContext& context) {
  gather_nd_slices(context, context.input(0), context.input(1));
}
void gradient_gather_nd(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  PartialShape indices = shape_of(context.x(1));
  if (indices.has_rank() && indices.rank() == 2 && indices.dim(1) == 1) {
    Expression flat =
        f.call("Squeeze", {context.x(1)}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
    return context.set_dx_slices(0, context.dy(), flat, f.shape_of(context.x(0)));
  }
  Expression shape = f.shape_of(context.x(0), dtype_of(context.x(1)));
  context.set_dx(0, f.call("ScatterNd", {context.x(1), context.dy(), shape}));
}

void shape_scatter_nd(ShapeContext& context) {
  context.require_rank(2, 1);
  if (Tensor known = context.constant(2)) {
    for (int64_t dim : integer_values(known)) {
      if (dim < 0) context.fail("Dimension " + std::to_string(dim) + " must be >= 0");
    }
  }
  PartialShape shape = constant_as_shape(context.input(2));
  check_scatter_nd(context, context.input_shape(0), context.input_shape(1), shape);
  context.set_output(0, std::move(shape));
}
using kernels::Combination;
void scatter_slices(KernelContext& context, const Tensor& indices, const Tensor& updates,
                    Tensor& output, Combination combination) {
  std::vector<int64_t> offsets = scatter_nd_offsets(indices, updates, output.dims());
  if (scatter_nd_slices(offsets, updates, output, combination) ==
      kernels::CombineResult::kUnsupported) {
    fail(context, std::string(context.op().name) + " does not take dtype " +
                      std::string(dtype_name(updates.dtype())));
  }
}
void scatter_nd_kernel(KernelContext& context) {
  const Tensor& updates = context.input(1);
  Tensor& output = infer_output(context, updates.dtype());
  kernels::clear_elements(updates.dtype(), output.mutable_raw_data(), output.element_count());
  // Strings and the like cannot be added; of equal indices the last one wins.
  bool adds = kNumeric.contains(updates.dtype());
  scatter_slices(context, context.input(0), updates, output,
                 adds ? Combination::kAdd : Combination::kReplace);
}
void gradient_scatter_nd(GradientContext& context) {
  if (!context.needs(1) || !context.has_dy()) return;
  context.set_dx(1, context.builder().op("GatherNd", {context.dy(), context.x(0)}));
}
void forward_scatter_nd(ForwardContext& context) {
  if (!context.has_dx(1)) return;
  context.set_dy(0, context.builder().op("ScatterNd", {context.x(0), context.dx(1), context.x(2)}));
}

void shape_tensor_scatter(ShapeContext& context) {
  PartialShape shape = context.input_shape(0);
  check_scatter_nd(context, context.input_shape(1), context.input_shape(2), shape);
  context.set_output(0, std::move(shape));
}
template <Combination Kind>
void tensor_scatter_kernel(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  Tensor& output = infer_output(context, tensor.dtype());
  kernels::copy_elements(tensor.dtype(), tensor.raw_data(), 0, output.mutable_raw_data(), 0,
                         tensor.element_count());
  scatter_slices(context, context.input(1), context.input(2), output, Kind);
}
void gradient_tensor_scatter_update(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  if (context.needs(0)) {
    context.set_dx(
        0, f.call("TensorScatterUpdate", {context.dy(), context.x(1), f.zeros_like(context.x(2))}));
  }
  if (context.needs(2)) context.set_dx(2, f.call("GatherNd", {context.dy(), context.x(1)}));
}
void gradient_tensor_scatter_add(GradientContext& context) {
  if (!context.has_dy()) return;
  if (context.needs(0)) context.set_dx(0, context.dy());
  if (context.needs(2)) {
    context.set_dx(2, context.builder().op("GatherNd", {context.dy(), context.x(1)}));
  }
}

void gradient_tensor_scatter_sub(GradientContext& context) {
  if (!context.has_dy()) return;
  if (context.needs(0)) context.set_dx(0, context.dy());
  if (context.needs(2)) {
    Expression slices{context.builder(),
                      context.builder().op("GatherNd", {context.dy(), context.x(1)})};
    context.set_dx(2, -slices);
  }
}
// Of equal candidates (the tensor's element and updates to it) each has an equal share.
struct Shares {
  Expression winners, update_winners;  // 1 where the candidate is the result, else 0
  Expression count;                    // of the winners for each element
};
Shares shares_of(Builder& builder, const Expression& tensor, const Expression& indices,
                 const Expression& updates, const Expression& y) {
  Algebra f(builder);
  Expression winners = f.cast(tensor.apply("Equal", y), tensor.dtype());
  Expression picked = f.call("GatherNd", {y, indices});
  Expression update_winners = f.cast(updates.apply("Equal", picked), tensor.dtype());
  return {winners, update_winners, f.call("TensorScatterAdd", {winners, indices, update_winners})};
}
void gradient_tensor_scatter_extremum(GradientContext& context) {
  if (!context.has_dy()) return;
  Expression indices = context.x(1);
  Shares shares = shares_of(context.builder(), context.x(0), indices, context.x(2), context.y());
  Expression share = context.dy() / shares.count;
  if (context.needs(0)) context.set_dx(0, shares.winners * share);
  if (context.needs(2)) {
    context.set_dx(
        2, Algebra(context.builder()).call("GatherNd", {share, indices}) * shares.update_winners);
  }
}
void forward_tensor_scatter_extremum(ForwardContext& context) {
  Expression indices = context.x(1);
  Shares shares = shares_of(context.builder(), context.x(0), indices, context.x(2), context.y());
  Expression sum = Algebra(context.builder())
                       .call("TensorScatterAdd", {context.dx(0) * shares.winners, indices,
                                                  context.dx(2) * shares.update_winners});
  context.set_dy(0, sum / shares.count);
}

// --- UnsortedSegmentSum ---

void shape_segment_sum(ShapeContext& context) {
  PartialShape data = context.input_shape(0);
  PartialShape ids = context.input_shape(1);
  context.require_rank(2, 0);
  if (!data.has_rank() || !ids.has_rank()) return context.set_output(0, PartialShape::unknown());
  bool prefix = ids.rank() <= data.rank();
  for (int i = 0; prefix && i < ids.rank(); ++i) {
    prefix = !is_known(ids.dim(i)) || !is_known(data.dim(i)) || ids.dim(i) == data.dim(i);
  }
  if (!prefix) {
    context.fail("data.shape = " + shape_text(data) +
                 " does not start with segment_ids.shape = " + shape_text(ids));
  }
  std::vector<Dim> dims{kUnknownDim};
  if (Tensor count = context.constant(2)) {
    dims[0] = integer_at(count, 0);
    if (dims[0] < 0) {
      context.fail("Input num_segments == " + std::to_string(dims[0]) + " must not be negative.");
    }
  }
  dims.insert(dims.end(), data.dims().begin() + ids.rank(), data.dims().end());
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
void segment_sum_kernel(KernelContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& ids = context.input(1);
  Tensor& output = infer_output(context, data.dtype());
  kernels::clear_elements(data.dtype(), output.mutable_raw_data(), output.element_count());
  int64_t row = product(data.dims().subspan(static_cast<size_t>(ids.rank())));
  int64_t segments = output.dim(0);
  for (int64_t i = 0; i < ids.element_count(); ++i) {
    int64_t segment = integer_at(ids, i);
    if (segment < 0) continue;  // dropped, as documented
    if (segment >= segments) {
      fail(context, "segment_ids",
           "segment_ids" + index_position(i, ids.dims()) + " = " + std::to_string(segment) +
               " is out of range [0, " + std::to_string(segments) + ")");
    }
    kernels::add_elements(data.dtype(), data.raw_data(), i * row, output.mutable_raw_data(),
                          segment * row, row);
  }
}
void gradient_segment_sum(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  // Rows that a negative id dropped get zero.
  Algebra f(context.builder());
  Expression ids = context.x(1);
  Expression zero = f.zeros_like(ids);
  Expression rows = f.call("GatherV2", {context.dy(), f.call("Maximum", {ids, zero}), f.int32(0)});
  Expression kept = f.call("GreaterEqual", {ids, zero});
  Expression ones = f.call("OnesLike", {f.shape_of(rows)});
  Expression head = f.shape_of(ids);
  // kept with as many trailing dims of size one as rows has more.
  Expression extra =
      f.call("Slice", {ones, f.reshape(f.rank_of(ids), f.int32_vector({1})), f.int32_vector({-1})});
  kept = f.reshape(kept, f.call("ConcatV2", {head, extra, f.int32(0)}));
  context.set_dx(0, f.call("SelectV2", {kept, rows, f.zeros_like(rows)}));
}

// --- Where ---

void shape_where(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  context.set_output(0, {kUnknownDim, input.has_rank() ? Dim{input.rank()} : kUnknownDim});
}
void where_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  std::vector<bool> chosen(static_cast<size_t>(input.element_count()));
  if (input.dtype() == DType::kBool) {
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = input.data<bool>()[i];
  } else {
    kernels::visit_number(input.dtype(), [&](auto zero) {
      using T = decltype(zero);
      using A = kernels::Accumulator<T>;
      const T* data = input.data<T>();
      for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = static_cast<A>(data[i]) != A(0);
    });
  }
  int rank = input.rank();
  int64_t count = std::ranges::count(chosen, true);
  int64_t dims[2] = {count, rank};
  Tensor output = Tensor::empty(DType::kInt64, dims);
  int64_t* row = output.mutable_data<int64_t>();
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    int64_t rest = static_cast<int64_t>(i);
    for (int d = rank; d-- > 0;) {
      row[d] = rest % input.dim(d);
      rest /= input.dim(d);
    }
    row += rank;
  }
  context.set_output(0, std::move(output));
}

// --- OneHot ---

void shape_one_hot(ShapeContext& context) {
  PartialShape indices = context.input_shape(0);
  for (int i : {1, 2, 3}) context.require_rank(i, 0);
  if (!indices.has_rank()) return context.set_output(0, PartialShape::unknown());
  int64_t wanted = context.attributes().integer("axis");
  std::optional<int> axis = normalize_axis(wanted, indices.rank() + 1);
  if (!axis || wanted < -1) {
    context.fail("Expected axis to be -1 or between [0, " + std::to_string(indices.rank() + 1) +
                 ").  But received: " + std::to_string(wanted));
  }
  Dim depth = kUnknownDim;
  if (Tensor known = context.constant(1)) {
    depth = integer_at(known, 0);
    if (depth < 0) context.fail("depth must be non-negative, got: " + std::to_string(depth));
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end());
  dims.insert(dims.begin() + *axis, depth);
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
void one_hot_kernel(KernelContext& context) {
  const Tensor& indices = context.input(0);
  const Tensor& on = context.input(2);
  Tensor& output = infer_output(context, on.dtype());
  kernels::fill_elements(on.dtype(), output.mutable_raw_data(), output.element_count(),
                         context.input(3).raw_data());
  int axis = *normalize_axis(context.attributes().integer("axis"), output.rank());
  int64_t depth = output.dim(axis);
  int64_t inner = product(indices.dims().subspan(static_cast<size_t>(axis)));
  for (int64_t i = 0; i < indices.element_count(); ++i) {
    int64_t index = integer_at(indices, i);
    if (index < 0 || index >= depth) continue;
    int64_t position = (i / inner * depth + index) * inner + i % inner;
    kernels::copy_elements(on.dtype(), on.raw_data(), 0, output.mutable_raw_data(), position, 1);
  }
}

constexpr OpDef tensor_scatter_row(std::string_view name, std::string_view doc, DTypeSet types,
                                   Kernel kernel, GradientRule gradient, ForwardRule forward) {
  return {
      .name = name,
      .signature =
          "tensor: T, indices: Tindices, updates: T; bad_indices_policy: string='' -> "
          "output: T",
      .doc = doc,
      .traits = kPure | kMayFail,
      .types = {{{"T", types}, {"Tindices", kIndex}}},
      .shape = shape_tensor_scatter,
      .compute = {.kind = ComputeKind::kLibrary, .kernel = kernel},
      .gradient = gradient,
      .forward = forward,
      .reference = {.reason = "takes indices: tests/python/test_gather.py"},
  };
}

constexpr std::array kTable{
    OpDef{
        .name = "GatherV2",
        .signature = "params: Tparams, indices: Tindices, axis: Taxis; batch_dims: int=0 -> "
                     "output: Tparams",
        .doc = "Slices of params along `axis` at the given indices: output.shape = "
               "params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]. The "
               "first batch_dims dimensions of params and indices go together. InvalidArgument "
               "for an index outside [0, params.shape[axis]).",
        .traits = kPure | kMayFail,
        .types = {{{"Tindices", kGatherIndex}, {"Taxis", kIndex}}},
        .shape = shape_gather,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<gather_kernel>},
        .gradient = gradient_gather,
        .forward = forward_first_input,
        .reference = {.reason = "takes indices: tests/python/test_gather.py"},
    },
    OpDef{
        .name = "GatherNd",
        .signature = "params: Tparams, indices: Tindices; bad_indices_policy: string='' -> "
                     "output: Tparams",
        .doc = "Each row of indices (its last dimension) names a slice of params: output.shape = "
               "indices.shape[:-1] + params.shape[indices.shape[-1]:]. InvalidArgument for an "
               "index out of bounds.",
        .traits = kPure | kMayFail,
        .types = {{{"Tindices", kGatherIndex}}},
        .shape = shape_gather_nd,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<gather_nd_kernel>},
        .gradient = gradient_gather_nd,
        .forward = forward_first_input,
        .reference = {.reason = "takes indices: tests/python/test_gather.py"},
    },
    OpDef{
        .name = "ScatterNd",
        .signature = "indices: Tindices, updates: T, shape: Tindices; "
                     "bad_indices_policy: string='' -> output: T",
        .doc = "Zeros of the given shape to which the slice updates[i] is added at indices[i]; "
               "equal indices accumulate. InvalidArgument for an index out of bounds.",
        .traits = kPure | kMayFail,
        .types = {{{"Tindices", kGatherIndex}}},
        .shape = shape_scatter_nd,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<scatter_nd_kernel>},
        .gradient = gradient_scatter_nd,
        .forward = forward_scatter_nd,
        .reference = {.reason = "takes indices: tests/python/test_gather.py"},
    },
    OpDef{
        .name = "TensorScatterUpdate",
        .signature = "tensor: T, indices: Tindices, updates: T; bad_indices_policy: string='' -> "
                     "output: T",
        .doc = "The tensor with the slices at indices replaced by updates; of equal indices the "
               "last one wins. InvalidArgument for an index out of bounds.",
        .traits = kPure | kMayFail,
        .types = {{{"Tindices", kGatherIndex | DTypeSet::of(DType::kUint16)}}},
        .shape = shape_tensor_scatter,
        .compute = {.kind = ComputeKind::kLibrary,
                    .kernel = guarded<tensor_scatter_kernel<Combination::kReplace>>},
        .gradient = gradient_tensor_scatter_update,
        .forward = forward_linear,
        .reference = {.reason = "takes indices: tests/python/test_gather.py"},
    },
    tensor_scatter_row("TensorScatterAdd",
                       "The tensor with updates added to the slices at indices; equal indices "
                       "accumulate. InvalidArgument for an index out of bounds.",
                       kNumeric, guarded<tensor_scatter_kernel<Combination::kAdd>>,
                       gradient_tensor_scatter_add, forward_linear),
    tensor_scatter_row("TensorScatterSub",
                       "The tensor with updates subtracted from the slices at indices; equal "
                       "indices accumulate. InvalidArgument for an index out of bounds.",
                       kNumeric, guarded<tensor_scatter_kernel<Combination::kSubtract>>,
                       gradient_tensor_scatter_sub, forward_linear),
    tensor_scatter_row("TensorScatterMin",
                       "The tensor with the smaller of updates and of the slices at indices in "
                       "their place. InvalidArgument for an index out of bounds.",
                       kRealNumeric, guarded<tensor_scatter_kernel<Combination::kMinimum>>,
                       gradient_tensor_scatter_extremum, forward_tensor_scatter_extremum),
    tensor_scatter_row("TensorScatterMax",
                       "The tensor with the larger of updates and of the slices at indices in "
                       "their place. InvalidArgument for an index out of bounds.",
                       kRealNumeric, guarded<tensor_scatter_kernel<Combination::kMaximum>>,
                       gradient_tensor_scatter_extremum, forward_tensor_scatter_extremum),
    OpDef{
        .name = "UnsortedSegmentSum",
        .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        .doc = "output[i] is the sum of data[j...] over all j with segment_ids[j...] = i; the "
               "shape of segment_ids is a prefix of data's. Negative ids drop their row; "
               "InvalidArgument for an id >= num_segments.",
        .traits = kPure | kMayFail,
        .types = {{{"T", kNumeric}, {"Tindices", kGatherIndex}, {"Tnumsegments", kIndex}}},
        .shape = shape_segment_sum,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<segment_sum_kernel>},
        .gradient = gradient_segment_sum,
        .forward = forward_first_input,
        .reference = {.reason = "takes indices: tests/python/test_gather.py"},
    },
    OpDef{
        .name = "Where",
        .signature = "input: T -> index: int64",
        .doc = "The positions of the true (nonzero) elements in row-major order, an int64 matrix "
               "[count, rank].",
        .traits = kPure | kZeroDerivative,
        .types = {{{"T", kNumeric | DTypeSet::of(DType::kBool)}}},
        .shape = shape_where,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<where_kernel>},
        .gradient = Absent{"its result is integers"},
        .forward = Absent{"its result is integers"},
        .reference = {.numpy = "np.argwhere(input)"},
    },
    OpDef{
        .name = "OneHot",
        .signature = "indices: TI, depth: int32, on_value: T, off_value: T; axis: int=-1 -> "
                     "output: T",
        .doc = "off_value everywhere but at output[..., indices[i], ...] along the new dimension "
               "`axis` of size depth, where it is on_value. An index outside [0, depth) gives no "
               "on_value.",
        .traits = kPure | kZeroDerivative,
        .types = {{{"TI", kIndex | DTypeSet::of(DType::kUint8, DType::kInt8)}}},
        .shape = shape_one_hot,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<one_hot_kernel>},
        .gradient = Absent{"not differentiable, as in TensorFlow"},
        .forward = Absent{"not differentiable, as in TensorFlow"},
        .reference = {.reason = "takes a depth: tests/python/test_gather.py"},
        .default_node_name = "one_hot",
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
