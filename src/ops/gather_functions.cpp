// Picking and placing elements by index.
#include "ops/function_support.h"

namespace graphwright {
namespace {

bool is_zero(const Argument& axis) {
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&axis)) {
    return integers->size() == 1 && integers->front() == 0;
  }
  const auto* integer = std::get_if<int64_t>(&axis);
  return integer && *integer == 0;
}

// gather(params, indices, validate_indices, axis, batch_dims)
CallResult gather(CallContext& context) {
  int64_t batch_dims = context.integer(4);
  Part axis =
      context.is_none(3)
          ? Part(Tensor::int32_scalar(static_cast<int32_t>(batch_dims < 0 ? 0 : batch_dims)))
          : axis_scalar(context.argument(3));
  if (context.is_none(3) && batch_dims < 0) {
    PartialShape indices = shape_of(context.operand(1));
    if (!indices.has_rank()) {
      throw_value_error("gather: a negative batch_dims needs indices of known rank");
    }
    axis = Tensor::int32_scalar(static_cast<int32_t>(batch_dims + indices.rank()));
  }
  Operand params = context.operand(0);
  if (dtype_of(params) == DType::kResource) {
    ValueType variable = type_of(params);
    DType dtype = variable.handle ? variable.handle->dtype : DType::kInvalid;
    // Rows of a variable are read without the rest of it, and have a sparse gradient.
    bool rows = batch_dims == 0 && (context.is_none(3) || is_zero(context.argument(3)));
    if (rows) {
      return apply_op(context, "ResourceGather", {params, context.operand(1)}, {{"dtype", dtype}},
                      "Gather");
    }
    std::string_view name = context.name().empty() ? "GatherV2" : context.name();
    NameScopeGuard scope(context.builder(), name);
    params = context.builder().op("ReadVariableOp", {params},
                                  attributes_of("ReadVariableOp", {{"dtype", dtype}}));
    return inner_op(context.builder(), "GatherV2", {params, context.operand(1), axis},
                    attributes_of("GatherV2", {{"batch_dims", batch_dims}}), kScopeName)
        .operand();
  }
  return apply_op(context, "GatherV2", {params, context.operand(1), axis},
                  {{"batch_dims", batch_dims}});
}

// gather_nd(params, indices, batch_dims)
CallResult gather_nd(CallContext& context) {
  Builder& builder = context.builder();
  int64_t batch_dims = context.integer(2);
  Expression params = context.tensor(0), indices = context.tensor(1);
  if (batch_dims == 0) return apply_op(context, "GatherNd", {params, indices});
  if (batch_dims < 0) {
    throw Error(ErrorKind::kValueError,
                "batch_dims must be >= 0, got " + std::to_string(batch_dims))
        .with_argument("batch_dims");
  }
  // The position within the batch becomes the first entries of every index.
  PartialShape params_shape = shape_of(params), index_shape = shape_of(indices);
  if (!params_shape.has_rank() || !index_shape.has_rank()) {
    throw_value_error("gather_nd: batch_dims needs params and indices of known rank");
  }
  int batch = static_cast<int>(batch_dims);
  if (batch >= index_shape.rank() || batch >= params_shape.rank()) {
    throw_value_error("batch_dims = " + std::to_string(batch) +
                      " must be less than the ranks of params and indices");
  }
  Algebra f(builder);
  Expression shape = f.shape_of(indices);
  DType dtype = indices.dtype();
  Expression full =
      f.call("Slice", {shape, f.int32_vector({0}), f.int32_vector({index_shape.rank() - 1})});
  Expression one_column = f.call("ConcatV2", {full, f.int32_vector({1}), f.int32(0)});
  std::vector<Operand> columns;
  for (int d = 0; d < batch; ++d) {
    Expression count = f.call(
        "StridedSlice", {shape, f.int32_vector({d}), f.int32_vector({d + 1}), f.int32_vector({1})},
        {{"shrink_axis_mask", int64_t{1}}});
    Expression position = f.cast(f.call("Range", {f.int32(0), count, f.int32(1)}), dtype);
    std::vector<int64_t> ones(static_cast<size_t>(index_shape.rank()), 1);
    ones[static_cast<size_t>(d)] = -1;
    columns.push_back(
        f.call("BroadcastTo", {f.reshape(position, f.int32_vector(ones)), one_column}));
  }
  columns.push_back(indices);
  columns.push_back(f.int32(-1));
  Operand combined = builder.op("ConcatV2", std::span<const Operand>(columns));
  return builder.op("GatherNd", {params, combined}, {}, context.name());
}

CallResult scatter_nd(CallContext& context) {
  Operand shape = Algebra(context.builder()).cast(context.operand(2), dtype_of(context.operand(0)));
  return apply_op(context, "ScatterNd", {context.operand(0), context.operand(1), shape});
}
template <const char* const& Op>
CallResult tensor_scatter(CallContext& context) {
  return apply_op(context, Op, {context.operand(0), context.operand(1), context.operand(2)});
}
constexpr const char* kScatterUpdate = "TensorScatterUpdate";
constexpr const char* kScatterAdd = "TensorScatterAdd";
constexpr const char* kScatterSub = "TensorScatterSub";
constexpr const char* kScatterMin = "TensorScatterMin";
constexpr const char* kScatterMax = "TensorScatterMax";
CallResult unsorted_segment_sum(CallContext& context) {
  return apply_op(context, "UnsortedSegmentSum",
                  {context.operand(0), context.operand(1), context.operand(2)});
}

// one_hot(indices, depth, on_value, off_value, axis, dtype)
CallResult one_hot(CallContext& context) {
  Algebra f(context.builder());
  DType dtype = DType::kInvalid;
  if (!context.is_none(5)) dtype = context.dtype(5);
  for (int i : {2, 3}) {
    if (context.is_none(i)) continue;
    DType own = dtype_of(context.operand(i));
    if (dtype == DType::kInvalid) dtype = own;
    if (dtype != own) {
      throw Error(ErrorKind::kTypeError, std::string("dtype ") + std::string(dtype_name(own)) +
                                             " of " + (i == 2 ? "on_value" : "off_value") +
                                             " does not match dtype parameter " +
                                             std::string(dtype_name(dtype)))
          .with_argument(i == 2 ? "on_value" : "off_value");
    }
  }
  if (dtype == DType::kInvalid) dtype = DType::kFloat;
  Part on = context.is_none(2) ? Part(number_like(1, dtype)) : Part(context.operand(2));
  Part off = context.is_none(3) ? Part(number_like(0, dtype)) : Part(context.operand(3));
  Operand depth = f.cast(context.operand(1), DType::kInt32);
  int64_t axis = context.is_none(4) ? -1 : context.integer(4);
  // TensorFlow makes the constants of these two first.
  Builder& builder = context.builder();
  auto made = [&](const Part& part, std::string_view name) -> Operand {
    bool constant = part.operand.is_tensor() && !builder.is_eager();
    return constant ? builder.constant(part.operand.tensor(), name) : part.operand;
  };
  Operand on_value = made(on, "on_value"), off_value = made(off, "off_value");
  return apply_op(context, "OneHot", {context.operand(0), depth, on_value, off_value},
                  {{"axis", axis}}, "one_hot");
}

// boolean_mask(tensor, mask, axis): the slices along the mask's dimensions where it is true.
CallResult boolean_mask(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  Expression tensor = context.tensor(0), mask = context.tensor(1);
  PartialShape shape = shape_of(tensor), mask_shape = shape_of(mask);
  if (!mask_shape.has_rank()) {
    throw_value_error(
        "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. "
        "shape=[None] is ok, but shape=None is not.");
  }
  if (mask_shape.rank() == 0) throw_value_error("mask cannot be scalar.");
  int64_t axis = context.is_none(2) ? 0 : static_integer(context.argument(2), "axis");
  if (axis < 0) {
    if (!shape.has_rank()) throw_value_error("a negative axis needs a tensor of known rank");
    axis += shape.rank();
  }
  int rank = mask_shape.rank();
  if (shape.has_rank()) {
    bool fits = axis + rank <= shape.rank();
    for (int i = 0; fits && i < rank; ++i) {
      Dim left = shape.dim(static_cast<int>(axis) + i), right = mask_shape.dim(i);
      fits = !is_known(left) || !is_known(right) || left == right;
    }
    if (!fits) {
      throw_value_error("Shapes " + shape.to_string() + " and " + mask_shape.to_string() +
                        " are incompatible");
    }
  }
  // The mask's dimensions become one, along which the chosen positions are gathered.
  Expression dims = f.shape_of(tensor);
  auto part = [&](int64_t begin, int64_t end, bool to_end) {
    return f.call("StridedSlice",
                  {dims, f.int32_vector({begin}), f.int32_vector({end}), f.int32_vector({1})},
                  {{"end_mask", int64_t{to_end}}});
  };
  Expression leading = inner_op(
      builder, "Prod",
      {part(axis, axis + rank, false), integer_vector(DType::kInt32, std::array<int64_t, 1>{0})},
      attributes_of("Prod", {{"keep_dims", true}}));
  std::vector<Operand> pieces{part(0, axis, false), leading, part(axis + rank, 0, true),
                              f.int32(0)};
  Expression merged = f.reshape(tensor, builder.op("ConcatV2", std::span<const Operand>(pieces)));
  Expression flat = f.reshape(mask, f.int32_vector({-1}));
  Expression chosen =
      f.call("Squeeze", {f.call("Where", {flat})}, {{"squeeze_dims", std::vector<int64_t>{1}}});
  return inner_op(builder, "GatherV2",
                  {merged, chosen, Tensor::int32_scalar(static_cast<int32_t>(axis))})
      .operand();
}

// Indices [batch..., n] of slices as those of elements, [batch..., n, batch rank + 1]: each is
// preceded by the batch that it stands in.
CallResult batch_scatter_indices(CallContext& context) {
  Algebra f(context.builder());
  Expression indices = context.tensor(0);
  PartialShape known = shape_of(indices);
  if (!known.has_rank() || known.rank() == 0) {
    throw_value_error("indices must have a known rank of at least 1");
  }
  int rank = known.rank();
  Expression shape = f.shape_of(indices);
  OperandVector parts;
  for (int i = 0; i + 1 < rank; ++i) {
    Expression size = f.call("GatherV2", {shape, f.int32(i), f.int32(0)});
    Expression batch = f.call("Range", {f.int32(0), size, f.int32(1)});
    std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
    dims[static_cast<size_t>(i)] = -1;
    Expression column = f.reshape(batch, f.int32_vector(dims));
    parts.push_back(f.cast(f.call("BroadcastTo", {column, shape}), indices.dtype()));
  }
  parts.push_back(indices);
  return context.builder().op("Pack", parts, attributes_of("Pack", {{"axis", int64_t{-1}}}));
}

constexpr std::array kTable{
    FunctionDef{.names = "_batch_scatter_indices",
                .signature = "indices: index",
                .doc = "Indices of slices, batch by batch, as indices for a scatter of elements.",
                .body = batch_scatter_indices},
    FunctionDef{.names = "gather",
                .signature = "params: readable, indices: index, validate_indices: any? = None, "
                             "axis: axis? = None, batch_dims: int = 0",
                .doc = "Slices of params along axis (batch_dims if None) at the given int32 or "
                       "int64 indices: the shape is params.shape[:axis] + "
                       "indices.shape[batch_dims:] + params.shape[axis + 1:]. "
                       "InvalidArgumentError for an index out of bounds.",
                .body = gather,
                .constants_by_body = true},
    FunctionDef{.names = "gather_nd",
                .signature = "params: tensor, indices: index, batch_dims: int = 0",
                .doc = "Each row of indices names a slice of params: the shape is "
                       "indices.shape[:-1] + params.shape[indices.shape[-1]:]. The first "
                       "batch_dims dimensions of both go together. InvalidArgumentError for an "
                       "index out of bounds.",
                .body = gather_nd,
                .node_name = "GatherNd"},
    FunctionDef{.names = "scatter_nd",
                .signature = "indices: index, updates: tensor, shape: dim_vector",
                .doc = "Zeros of the given shape to which updates[i] is added at indices[i]; equal "
                       "indices accumulate. InvalidArgumentError for an index out of bounds.",
                .body = scatter_nd,
                .node_name = "ScatterNd"},
    FunctionDef{.names = "tensor_scatter_nd_update",
                .signature = "tensor: T, indices: index, updates: T",
                .doc = "The tensor with the slices at indices replaced by updates.",
                .body = tensor_scatter<kScatterUpdate>,
                .node_name = "TensorScatterUpdate"},
    FunctionDef{.names = "tensor_scatter_nd_add",
                .signature = "tensor: T, indices: index, updates: T",
                .doc = "The tensor with updates added to the slices at indices.",
                .body = tensor_scatter<kScatterAdd>,
                .types = {{{"T", kNumeric}}},
                .node_name = "TensorScatterAdd"},
    FunctionDef{.names = "tensor_scatter_nd_sub",
                .signature = "tensor: T, indices: index, updates: T",
                .doc = "The tensor with updates subtracted from the slices at indices.",
                .body = tensor_scatter<kScatterSub>,
                .types = {{{"T", kNumeric}}},
                .node_name = "TensorScatterSub"},
    FunctionDef{
        .names = "tensor_scatter_nd_min",
        .signature = "tensor: T, indices: index, updates: T",
        .doc =
            "The tensor with the smaller of updates and of the slices at indices in their place.",
        .body = tensor_scatter<kScatterMin>,
        .types = {{{"T", kRealNumeric}}},
        .node_name = "TensorScatterMin"},
    FunctionDef{
        .names = "tensor_scatter_nd_max",
        .signature = "tensor: T, indices: index, updates: T",
        .doc = "The tensor with the larger of updates and of the slices at indices in their place.",
        .body = tensor_scatter<kScatterMax>,
        .types = {{{"T", kRealNumeric}}},
        .node_name = "TensorScatterMax"},
    FunctionDef{.names = "math.unsorted_segment_sum",
                .signature = "data: T, segment_ids: index, num_segments: index",
                .doc = "Row i of the result is the sum of the rows of data with segment id i; rows "
                       "with a negative id are dropped. InvalidArgumentError for an id >= "
                       "num_segments.",
                .body = unsorted_segment_sum,
                .types = {{{"T", kNumeric}}},
                .node_name = "UnsortedSegmentSum"},
    FunctionDef{.names = "one_hot",
                .signature = "indices: index, depth: index, on_value: tensor? = None, "
                             "off_value: tensor? = None, axis: int? = None, dtype: dtype? = None",
                .doc = "off_value (0) everywhere but at the index along the new dimension axis "
                       "(the last if None) of size depth, where it is on_value (1).",
                .body = one_hot,
                .node_name = "one_hot",
                .constants_by_body = true},
    FunctionDef{.names = "boolean_mask",
                .signature = "tensor: tensor, mask: bool, axis: dimension? = None",
                .doc = "The slices of tensor along axis (0 if None) where mask is true; the mask's "
                       "shape is that of the tensor's dimensions from axis on.",
                .body = boolean_mask,
                .node_name = "boolean_mask"},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
