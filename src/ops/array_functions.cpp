// Making tensors, reshaping and rearranging them.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "kernels/strided_copy.h"
#include "ops/function_support.h"

namespace graphwright {
namespace {

// The dtype that sizes are asked for in: argument out_type, int32 if None.
DType size_dtype(CallContext& context) {
  DType dtype = context.is_none(1) ? DType::kInt32 : context.dtype(1);
  if (!kIndex.contains(dtype)) {
    throw Error(Code::kInvalidArgument, "Value for attr 'out_type' of " +
                                            std::string(dtype_name(dtype)) +
                                            " is not in the list of allowed values: int32, int64")
        .with_argument("out_type");
  }
  return dtype;
}

// --- Identities and shapes ---

CallResult identity(CallContext& context) {
  return apply_op(context, "Identity", {context.operand(0)});
}
CallResult stop_gradient(CallContext& context) {
  return apply_op(context, "StopGradient", {context.operand(0)});
}
// A constant where the shape is known, as TensorFlow's "optimized" shape functions make.
CallResult shape(CallContext& context) {
  DType dtype = size_dtype(context);
  PartialShape known = shape_of(context.operand(0));
  std::string_view name = context.name().empty() ? "Shape" : context.name();
  if (known.is_fully_defined()) {
    return context.builder().constant(integer_vector(dtype, known.dims()), name);
  }
  return context.builder().op("Shape", {context.operand(0)},
                              attributes_of("Shape", {{"out_type", dtype}}), name);
}
CallResult shape_n(CallContext& context) {
  DType dtype = size_dtype(context);
  OperandVector outputs;
  context.builder().apply(get_op("ShapeN"), context.operands(0),
                          attributes_of("ShapeN", {{"out_type", dtype}}), outputs, context.name());
  return outputs;
}
CallResult size(CallContext& context) {
  DType dtype = size_dtype(context);
  PartialShape known = shape_of(context.operand(0));
  std::string_view name = context.name().empty() ? "Size" : context.name();
  if (known.is_fully_defined()) {
    int64_t count = *known.element_count();
    if (dtype == DType::kInt64 || count <= INT32_MAX) {
      return context.builder().constant(integer_scalar(dtype, count), name);
    }
  }
  return context.builder().op("Size", {context.operand(0)},
                              attributes_of("Size", {{"out_type", dtype}}), name);
}
CallResult rank(CallContext& context) {
  PartialShape known = shape_of(context.operand(0));
  std::string_view name = context.name().empty() ? "Rank" : context.name();
  if (known.has_rank()) {
    return context.builder().constant(Tensor::int32_scalar(known.rank()), name);
  }
  return context.builder().op("Rank", {context.operand(0)}, {}, name);
}

// --- Constant tensors ---

// `value` in every element: one constant where the shape is known and small, else a Fill.
Operand filled(CallContext& context, const Operand& shape, const Tensor& value,
               std::string_view node_name) {
  Builder& builder = context.builder();
  std::string_view name = context.name().empty() ? node_name : context.name();
  Tensor known = constant_value(shape);
  if (known && known.rank() == 1 && !builder.is_eager()) {
    for (int64_t dim : integer_values(known)) {
      if (dim < 0) throw_value_error("Dimension " + std::to_string(dim) + " must be >= 0");
    }
  }
  if (known) {
    if (known.rank() != 1) {
      throw_invalid_argument("shape must be a vector of integers, got a tensor of shape " +
                             dims_to_string(known.dims()));
    }
    std::vector<int64_t> dims = integer_values(known);
    int64_t count = checked_element_count(dims);
    // TensorFlow's bound: larger constants would bloat the graph.
    if (builder.is_eager() || count < 1000) {
      Tensor tensor = Tensor::empty(value.dtype(), dims);
      kernels::fill_elements(value.dtype(), tensor.mutable_raw_data(), count, value.raw_data());
      return builder.constant(tensor, name);
    }
  }
  if (builder.is_eager() || name == kScopeName) {
    return builder.op("Fill", {shape, builder.constant(value, "Const")}, {}, name);
  }
  NameScopeGuard scope(builder, name);
  return builder.op("Fill", {shape, builder.constant(value, "Const")}, {}, kScopeName);
}
Tensor one_value(DType dtype, bool one) {
  if (dtype == DType::kString) return Tensor::string_scalar(one ? "1" : "");
  return number_like(one ? 1 : 0, dtype);
}
template <bool Ones>
CallResult zeros_or_ones(CallContext& context) {
  DType dtype = context.dtype(1);
  if (Ones && dtype == DType::kString) {
    throw Error(ErrorKind::kTypeError, "ones: there is no one of dtype string")
        .with_argument("dtype");
  }
  return filled(context, context.operand(0), one_value(dtype, Ones), Ones ? "ones" : "zeros");
}
template <bool Ones>
CallResult zeros_or_ones_like(CallContext& context) {
  Builder& builder = context.builder();
  Operand input = context.operand(0);
  DType dtype = context.is_none(1) ? dtype_of(input) : context.dtype(1);
  PartialShape shape = shape_of(input);
  std::string_view node_name = Ones ? "ones_like" : "zeros_like";
  if (dtype == dtype_of(input) && !(Ones && dtype == DType::kString) && dtype != DType::kVariant) {
    return apply_op(context, Ones ? "OnesLike" : "ZerosLike", {input}, Attributes(), node_name);
  }
  if (dtype == DType::kVariant) {
    return apply_op(context, "ZerosLike", {input}, Attributes(), node_name);
  }
  Operand dims = shape.is_fully_defined() ? Operand(integer_vector(DType::kInt32, shape.dims()))
                                          : builder.op("Shape", {input});
  return filled(context, dims, one_value(dtype, Ones), node_name);
}
CallResult fill(CallContext& context) {
  // Eagerly a vector of one element is a scalar too, as in TensorFlow.
  const Operand& value = context.operand(1);
  if (context.builder().is_eager() && value.is_tensor() && value.impl()->rank == 1 &&
      value.impl()->element_count == 1) {
    Tensor scalar = value.tensor().reshaped(std::span<const int64_t>());
    return apply_op(context, "Fill", {context.operand(0), scalar});
  }
  return apply_op(context, "Fill", {context.operand(0), context.operand(1)});
}

// eye(num_rows, num_columns, batch_shape, dtype): ones where the column is the row.
CallResult eye(CallContext& context) {
  Builder& builder = context.builder();
  DType dtype = context.dtype(3);
  Expression rows = context.tensor(0);
  Expression columns = context.is_none(1) ? rows : context.tensor(1);
  Algebra f(builder);
  Expression depth = f.cast(columns, DType::kInt32);
  Expression indices =
      inner_op(builder, "Range",
               {Tensor::int32_scalar(0), f.cast(rows, DType::kInt32), Tensor::int32_scalar(1)});
  std::string_view name = context.is_none(2) ? context.name() : std::string_view();
  Expression matrix{builder, builder.op("OneHot",
                                        {indices, depth, f.constant(number_like(1, dtype)),
                                         f.constant(number_like(0, dtype))},
                                        {}, name)};
  if (context.is_none(2)) return matrix.operand();
  Expression batch = f.cast(context.tensor(2), DType::kInt32);
  Expression shape{builder, builder.op("ConcatV2", {batch, f.shape_of(matrix), f.int32(0)})};
  return builder.op("BroadcastTo", {matrix, shape}, {}, context.name());
}

// range(start, limit, delta): one positional argument is the limit. Mixed dtypes widen.
CallResult range(CallContext& context) {
  Builder& builder = context.builder();
  Part start = Tensor(), limit = Tensor(), delta = Tensor();
  if (context.is_none(1)) {
    start = Tensor();
    limit = context.operand(0);
  } else {
    start = context.operand(0);
    limit = context.operand(1);
  }
  delta = context.is_none(2) ? Part(Tensor()) : Part(context.operand(2));
  DType dtype = DType::kInvalid;
  if (!context.is_none(3)) {
    dtype = context.dtype(3);
  } else {
    // The widest of those given, in TensorFlow's order.
    constexpr DType kOrder[] = {DType::kInt32, DType::kInt64, DType::kFloat, DType::kDouble};
    int widest = -1;
    for (const Part* part : {&start, &limit, &delta}) {
      if (!part->operand) continue;
      DType own = dtype_of(part->operand);
      const DType* found = std::find(std::begin(kOrder), std::end(kOrder), own);
      if (found == std::end(kOrder)) {
        dtype = own;  // the only one, or the op refuses the mixture
      } else {
        widest = std::max(widest, static_cast<int>(found - kOrder));
      }
    }
    if (dtype == DType::kInvalid) dtype = kOrder[widest];
  }
  auto converted = [&](Part part, double missing) -> Part {
    if (!part.operand) return number_like(missing, dtype);
    if (dtype_of(part.operand) == dtype) return part;
    return Algebra(builder).cast(part.operand, dtype);
  };
  return apply_op(context, "Range", {converted(start, 0), converted(limit, 0), converted(delta, 1)},
                  Attributes(), "range");
}

// linspace(start, stop, num, axis): start + i (stop - start) / (num - 1); the ends are exact.
CallResult linspace(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  Expression start = context.tensor(0), stop = context.tensor(1);
  if (is_integer(start.dtype())) {
    // As in true division.
    DType real = dtype_size(start.dtype()) <= 2 ? DType::kFloat : DType::kDouble;
    start = f.cast(start, real);
    stop = f.cast(stop, real);
  }
  Expression count = f.cast(context.operand(2), DType::kInt32);
  std::optional<PartialShape> shape = broadcast_shapes(shape_of(start), shape_of(stop));
  if (!shape) throw_invalid_argument("linspace: the shapes of start and stop do not broadcast");
  if (!shape->has_rank()) throw_value_error("linspace needs start and stop of known rank");
  if (shape_of(start).rank() != shape_of(stop).rank() || !(shape_of(start) == shape_of(stop))) {
    Expression dims = shape->is_fully_defined()
                          ? f.int32_vector(shape->dims())
                          : Expression(builder, builder.op("Shape", {start + stop}));
    start = f.call("BroadcastTo", {start, dims});
    stop = f.call("BroadcastTo", {stop, dims});
  }
  Expression first = f.call("ExpandDims", {start, axis_scalar(context.argument(3)).operand});
  Expression last = f.call("ExpandDims", {stop, axis_scalar(context.argument(3)).operand});
  int rank = shape->rank() + 1;
  int axis = *normalize_axis(context.integer(3), rank);
  // Where num is negative, the range is refused.
  Expression steps = f.call("Maximum", {count - 1.0, f.int32(1)});
  Expression end =
      f.call("SelectV2", {count.apply("GreaterEqual", f.int32(0)), steps, f.int32(-1)});
  Expression step = (last - first) / f.cast(steps, first.dtype());
  Expression inner = f.cast(f.call("Range", {f.int32(1), end, f.int32(1)}), first.dtype());
  std::vector<int64_t> along(static_cast<size_t>(rank), 1);
  along[static_cast<size_t>(axis)] = -1;
  Expression middle = first + step * f.reshape(inner, f.int32_vector(along));
  Expression all{builder, builder.op("ConcatV2", {first, middle, last, f.int32(axis)})};
  // All three pieces are there even if num is 0 or 1.
  std::vector<int64_t> zeros(static_cast<size_t>(rank), 0);
  Expression before = f.int32_vector(std::vector<int64_t>(static_cast<size_t>(axis), -1));
  Expression after = f.int32_vector(std::vector<int64_t>(static_cast<size_t>(rank - 1 - axis), -1));
  Expression sizes =
      f.call("ConcatV2", {before, f.reshape(count, f.int32_vector({1})), after, f.int32(0)});
  return apply_op(context, "Slice", {all, f.int32_vector(zeros), sizes}, Attributes(), "linspace");
}

// --- Reshaping ---

CallResult reshape(CallContext& context) {
  return apply_op(context, "Reshape", {context.operand(0), context.operand(1)});
}
CallResult expand_dims(CallContext& context) {
  return apply_op(context, "ExpandDims", {context.operand(0), axis_scalar(context.argument(1))});
}
CallResult squeeze(CallContext& context) {
  std::vector<int64_t> axes;
  if (!context.is_none(1)) axes = context.integers(1);
  return apply_op(context, "Squeeze", {context.operand(0)}, {{"squeeze_dims", axes}});
}
// transpose(a, perm, conjugate)
CallResult transpose(CallContext& context) {
  Builder& builder = context.builder();
  Operand a = context.operand(0);
  bool conjugate = context.boolean(2) && is_complex(dtype_of(a));
  std::string_view op = conjugate ? "ConjugateTranspose" : "Transpose";
  if (!context.is_none(1)) {
    return apply_op(context, op, {a, context.operand(1)}, Attributes(), "transpose");
  }
  PartialShape shape = shape_of(a);
  if (shape.has_rank()) {
    std::vector<int64_t> reversed(static_cast<size_t>(shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) {
      reversed[static_cast<size_t>(i)] = shape.rank() - 1 - i;
    }
    return apply_op(context, op, {a, integer_vector(DType::kInt32, reversed)}, Attributes(),
                    "transpose");
  }
  Expression rank{builder, builder.op("Rank", {a})};
  Expression last = inner_op(builder, "Sub", {rank, Tensor::int32_scalar(1)});
  Expression order =
      inner_op(builder, "Range", {Tensor::int32_scalar(0), rank, Tensor::int32_scalar(1)});
  return apply_op(context, op, {a, last - order}, Attributes(), "transpose");
}
CallResult broadcast_to(CallContext& context) {
  return apply_op(context, "BroadcastTo", {context.operand(0), context.operand(1)});
}
CallResult tile(CallContext& context) {
  return apply_op(context, "Tile", {context.operand(0), context.operand(1)});
}
CallResult reverse(CallContext& context) {
  Part axes = context.operand(1);
  if (shape_of(axes.operand).has_rank() && shape_of(axes.operand).rank() == 0) {
    axes = Algebra(context.builder())
               .reshape(axes.operand, Tensor::vector<int32_t>(DType::kInt32, std::array{1}));
  }
  return apply_op(context, "ReverseV2", {context.operand(0), axes});
}

// pad(tensor, paddings, mode, constant_values)
CallResult pad(CallContext& context) {
  Builder& builder = context.builder();
  std::string mode = context.string(2);
  std::ranges::transform(mode, mode.begin(), [](unsigned char c) { return std::toupper(c); });
  if (mode == "REFLECT" || mode == "SYMMETRIC") {
    return apply_op(context, "MirrorPad", {context.operand(0), context.operand(1)},
                    {{"mode", mode}});
  }
  if (mode != "CONSTANT") {
    throw Error(ErrorKind::kValueError,
                "Value of argument `mode` expected to be one of CONSTANT, "
                "REFLECT or SYMMETRIC. Received `mode` = " +
                    mode)
        .with_argument("mode");
  }
  Operand values = context.operand(3);
  Tensor known = constant_value(values);
  if (known && known.element_count() == 1 && known.dtype() != DType::kString) {
    Tensor zero = number_like(0, known.dtype());
    if (std::memcmp(known.raw_data(), zero.raw_data(), zero.byte_size()) == 0) {
      return apply_op(context, "Pad", {context.operand(0), context.operand(1)});
    }
  }
  DType dtype = dtype_of(context.operand(0));
  if (is_floating(dtype_of(values)) && is_integer(dtype)) {
    throw Error(ErrorKind::kTypeError,
                "constant_values of dtype " + std::string(dtype_name(dtype_of(values))) +
                    " cannot fill a tensor of " + std::string(dtype_name(dtype)))
        .with_argument("constant_values");
  }
  return apply_op(context, "PadV2",
                  {context.operand(0), context.operand(1), Algebra(builder).cast(values, dtype)});
}

// --- Joining and taking apart ---

CallResult concat(CallContext& context) {
  const OperandVector& values = context.operands(0);
  if (values.empty()) {
    throw Error(Code::kInvalidArgument, "concat needs at least one value").with_argument("values");
  }
  if (values.size() == 1) {
    return apply_op(context, "Identity", {values[0]}, Attributes(), "concat");
  }
  std::vector<Part> parts(values.begin(), values.end());
  parts.push_back(axis_scalar(context.argument(1)));
  return apply_op(context, "ConcatV2", std::move(parts), Attributes(), "concat");
}
CallResult stack(CallContext& context) {
  const OperandVector& values = context.operands(0);
  if (values.empty()) {
    return context.builder().constant(Tensor::empty(DType::kFloat, {0}), "stack");
  }
  int64_t axis = context.integer(1);
  PartialShape shape = shape_of(values[0]);
  if (shape.has_rank() && !normalize_axis(axis, shape.rank() + 1)) {
    throw Error(ErrorKind::kValueError, "Argument `axis` = " + std::to_string(axis) +
                                            " not in range [" + std::to_string(-shape.rank() - 1) +
                                            ", " + std::to_string(shape.rank() + 1) + ")")
        .with_argument("axis");
  }
  OperandVector outputs;
  context.builder().apply(get_op("Pack"), values, attributes_of("Pack", {{"axis", axis}}), outputs,
                          context.name().empty() ? "stack" : context.name());
  return outputs.front();
}
CallResult unstack(CallContext& context) {
  Operand value = context.operand(0);
  int64_t axis = context.integer(2);
  int64_t count = -1;
  if (!context.is_none(1)) {
    count = context.integer(1);
  } else {
    PartialShape shape = shape_of(value);
    if (shape.has_rank()) {
      std::optional<int> normal = normalize_axis(axis, shape.rank());
      if (!normal) {
        throw Error(ErrorKind::kValueError, "Argument `axis` = " + std::to_string(axis) +
                                                " not in range [" + std::to_string(-shape.rank()) +
                                                ", " + std::to_string(shape.rank()) + ")")
            .with_argument("axis");
      }
      if (is_known(shape.dim(*normal))) count = shape.dim(*normal);
    }
    if (count < 0) {
      throw Error(ErrorKind::kValueError,
                  "Cannot infer argument `num` from shape " + shape.to_string())
          .with_argument("num");
    }
  }
  return apply_op_outputs(context, "Unpack", {value},
                          attributes_of("Unpack", {{"num", count}, {"axis", axis}}), "unstack");
}
// split(value, num_or_size_splits, axis, num)
CallResult split(CallContext& context) {
  Operand value = context.operand(0);
  Part axis = axis_scalar(context.argument(2));
  const Argument& splits = context.argument(1);
  if (const int64_t* count = std::get_if<int64_t>(&splits)) {
    if (*count < 1) {
      throw Error(ErrorKind::kValueError,
                  "num_or_size_splits must be positive, got " + std::to_string(*count))
          .with_argument("num_or_size_splits");
    }
    return apply_op_outputs(context, "Split", {axis, value},
                            attributes_of("Split", {{"num_split", *count}}), "split");
  }
  Part sizes = Tensor();
  int64_t count = context.is_none(3) ? -1 : context.integer(3);
  if (const auto* values = std::get_if<std::vector<int64_t>>(&splits)) {
    Tensor known = integer_vector(DType::kInt32, *values);
    Builder& builder = context.builder();
    sizes = builder.is_eager() ? Operand(known) : builder.constant(known, "Const");
    count = static_cast<int64_t>(values->size());
  } else {
    sizes = std::get<Operand>(splits);
    PartialShape shape = shape_of(sizes.operand);
    if (shape.has_rank() && shape.rank() == 0) {
      count = static_integer(splits, "num_or_size_splits");
      return apply_op_outputs(context, "Split", {axis, value},
                              attributes_of("Split", {{"num_split", count}}), "split");
    }
    if (count < 0 && shape.has_rank() && is_known(shape.dim(0))) count = shape.dim(0);
  }
  if (count < 0) {
    throw Error(ErrorKind::kValueError,
                "Cannot infer argument `num` from the shape of num_or_size_splits")
        .with_argument("num");
  }
  return apply_op_outputs(context, "SplitV", {value, sizes, axis},
                          attributes_of("SplitV", {{"num_split", count}}), "split");
}

CallResult slice(CallContext& context) {
  return apply_op(context, "Slice", {context.operand(0), context.operand(1), context.operand(2)});
}
// strided_slice(input_, begin, end, strides, begin_mask, ...)
CallResult strided_slice(CallContext& context) {
  Builder& builder = context.builder();
  Part strides = Tensor();
  if (context.is_none(3)) {
    Algebra f(builder);
    strides = builder.op("OnesLike", {context.operand(1)});
  } else {
    strides = context.operand(3);
  }
  return apply_op(context, "StridedSlice",
                  {context.operand(0), context.operand(1), context.operand(2), strides},
                  {{"begin_mask", context.integer(4)},
                   {"end_mask", context.integer(5)},
                   {"ellipsis_mask", context.integer(6)},
                   {"new_axis_mask", context.integer(7)},
                   {"shrink_axis_mask", context.integer(8)}},
                  "StridedSlice");
}

// where(condition, x, y): both of x and y, or neither.
CallResult where(CallContext& context) {
  if (context.is_none(1) && context.is_none(2)) {
    return apply_op(context, "Where", {context.operand(0)}, Attributes(), "Where");
  }
  if (context.is_none(1) || context.is_none(2)) {
    throw_value_error("x and y must both be non-None or both be None.");
  }
  return apply_op(context, "SelectV2",
                  {context.operand(0), context.operand(1), context.operand(2)});
}

// cast(x, dtype); x of that dtype already is returned as it is.
CallResult cast(CallContext& context) {
  Operand x = context.operand(0);
  DType dtype = context.dtype(1);
  if (dtype_of(x) == dtype) return x;
  return apply_op(context, "Cast", {x}, {{"DstT", dtype}});
}

constexpr std::array kTable{
    FunctionDef{.names = "identity",
                .signature = "input: tensor",
                .doc = "The input itself, as a new tensor.",
                .body = identity,
                .node_name = "Identity"},
    FunctionDef{.names = "stop_gradient",
                .signature = "input: tensor",
                .doc = "The input; gradients do not flow through it.",
                .body = stop_gradient},
    FunctionDef{.names = "shape",
                .signature = "input: tensor, out_type: dtype? = None",
                .doc = "The dims of the input as a vector of int32, or of out_type.",
                .body = shape},
    FunctionDef{.names = "shape_n",
                .signature = "input: tensors, out_type: dtype? = None",
                .doc = "The dims of each input as a list of vectors of int32, or of out_type.",
                .body = shape_n},
    FunctionDef{.names = "size",
                .signature = "input: tensor, out_type: dtype? = None",
                .doc = "The number of elements of the input, an int32 scalar, or of out_type.",
                .body = size},
    FunctionDef{.names = "rank",
                .signature = "input: tensor",
                .doc = "The number of dimensions of the input, an int32 scalar.",
                .body = rank},
    FunctionDef{.names = "zeros",
                .signature = "shape: shape, dtype: dtype = float32",
                .doc = "Zeros (False, empty strings) of the given shape and dtype.",
                .body = zeros_or_ones<false>},
    FunctionDef{.names = "ones",
                .signature = "shape: shape, dtype: dtype = float32",
                .doc = "Ones (True) of the given shape and dtype. TypeError for strings.",
                .body = zeros_or_ones<true>},
    FunctionDef{.names = "zeros_like",
                .signature = "input: tensor, dtype: dtype? = None",
                .doc = "Zeros of the input's shape, and of its dtype unless another is given.",
                .body = zeros_or_ones_like<false>},
    FunctionDef{.names = "ones_like",
                .signature = "input: tensor, dtype: dtype? = None",
                .doc = "Ones of the input's shape, and of its dtype unless another is given.",
                .body = zeros_or_ones_like<true>},
    FunctionDef{.names = "fill",
                .signature = "dims: dims, value: tensor",
                .doc = "A tensor of shape dims with every element equal to the scalar value.",
                .body = fill,
                .node_name = "Fill",
                .constants_by_body = true},
    FunctionDef{.names = "eye linalg.eye",
                .signature = "num_rows: count, num_columns: count? = None, batch_shape: shape? = "
                             "None, dtype: dtype = float32",
                .doc = "The identity matrix, or a batch of them: ones where row = column, else "
                       "zeros. num_columns is num_rows if None.",
                .body = eye,
                .node_name = "eye"},
    FunctionDef{.names = "range",
                .signature = "start: tensor, limit: tensor? = None, delta: tensor? = None, "
                             "dtype: dtype? = None",
                .doc = "start, start + delta, ... up to but not including limit; range(limit) "
                       "starts at 0, delta is 1 if None. All are scalars; their dtypes are "
                       "widened to one. InvalidArgumentError when delta is 0 or leads away from "
                       "limit.",
                .body = range,
                .node_name = "range",
                .constants_by_body = true},
    FunctionDef{.names = "linspace",
                .signature = "start: T, stop: T, num: count, axis: int = 0",
                .doc = "num evenly spaced numbers from start to stop, both included, along a new "
                       "dimension axis. Integers give float64, those of at most 16 bits float32.",
                .body = linspace,
                .types = {{{"T", kFloating | kInteger}}},
                .node_name = "linspace"},
    FunctionDef{.names = "reshape",
                .signature = "tensor: tensor, shape: dims",
                .doc = "The elements of tensor, in row-major order, in the given shape, of which "
                       "one entry may be -1. InvalidArgumentError (ValueError while tracing) when "
                       "the numbers of elements differ.",
                .body = reshape,
                .node_name = "Reshape"},
    FunctionDef{.names = "expand_dims",
                .signature = "input: tensor, axis: axis",
                .doc = "The input with a dimension of size 1 inserted at axis, in "
                       "[-rank - 1, rank].",
                .body = expand_dims,
                .node_name = "ExpandDims"},
    FunctionDef{.names = "squeeze",
                .signature = "input: tensor, axis: ints? = None",
                .doc = "The input without its dimensions of size 1, or without those listed, "
                       "which must be of size 1 (InvalidArgumentError).",
                .body = squeeze},
    FunctionDef{.names = "transpose",
                .signature = "a: tensor, perm: index? = None, conjugate: bool = False",
                .doc = "Dimension i of the result is dimension perm[i] of a; None reverses the "
                       "order. With conjugate, complex elements are conjugated.",
                .body = transpose,
                .node_name = "transpose"},
    FunctionDef{.names = "broadcast_to",
                .signature = "input: tensor, shape: dim_vector",
                .doc = "The input broadcast to the given shape as NumPy does. "
                       "InvalidArgumentError where it does not fit.",
                .body = broadcast_to,
                .node_name = "BroadcastTo"},
    FunctionDef{.names = "tile",
                .signature = "input: tensor, multiples: index",
                .doc = "The input repeated multiples[i] times along dimension i.",
                .body = tile,
                .node_name = "Tile"},
    FunctionDef{.names = "reverse",
                .signature = "tensor: tensor, axis: index",
                .doc = "The tensor with the order of elements reversed along each of the axes.",
                .body = reverse,
                .node_name = "ReverseV2"},
    FunctionDef{.names = "pad",
                .signature = "tensor: T, paddings: index, mode: str = 'CONSTANT', "
                             "constant_values: tensor = 0",
                .doc = "The tensor with paddings[i, 0] elements before and paddings[i, 1] after it "
                       "along dimension i: equal to the scalar constant_values, or mirrored at the "
                       "edge, which mode REFLECT does not repeat and SYMMETRIC does.",
                .body = pad,
                .node_name = "Pad",
                .constants_by_body = true},
    FunctionDef{.names = "concat",
                .signature = "values: tensors, axis: axis",
                .doc = "The values one after the other along axis. All other dims must agree "
                       "(InvalidArgumentError, ValueError while tracing).",
                .body = concat,
                .node_name = "concat"},
    FunctionDef{.names = "stack",
                .signature = "values: tensors, axis: int = 0",
                .doc = "The values, of one shape and dtype, along a new dimension axis.",
                .body = stack,
                .node_name = "stack"},
    FunctionDef{.names = "unstack",
                .signature = "value: tensor, num: int? = None, axis: int = 0",
                .doc = "The list of the value's slices along axis. ValueError when their number is "
                       "neither known nor given as num.",
                .body = unstack},
    FunctionDef{.names = "split",
                .signature = "value: tensor, num_or_size_splits: axis, axis: axis = 0, "
                             "num: int? = None",
                .doc = "The value cut along axis into that many equal pieces (an int), or into "
                       "pieces of these sizes (a list or vector, of which one may be -1).",
                .body = split},
    FunctionDef{.names = "slice",
                .signature = "input_: tensor, begin: Index, size: Index",
                .doc = "The box of the given size from begin on; a size of -1 means all that "
                       "remain. InvalidArgumentError when the box leaves the input.",
                .body = slice,
                .types = {{{"Index", kIndex}}},
                .node_name = "Slice"},
    FunctionDef{.names = "strided_slice",
                .signature = "input_: tensor, begin: Index, end: Index, strides: Index? = None, "
                             "begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, "
                             "new_axis_mask: int = 0, shrink_axis_mask: int = 0",
                .doc = "input_[begin[0]:end[0]:strides[0], ...]; the masks say per entry that it "
                       "has no begin, no end, is `...`, `None`, or a single index.",
                .body = strided_slice,
                .types = {{{"Index", kIndex}}},
                .node_name = "StridedSlice"},
    FunctionDef{.names = "where",
                .signature = "condition: tensor, x: T? = None, y: T? = None",
                .doc = "x where condition is true, y elsewhere, all three broadcast as NumPy does. "
                       "Without x and y: the positions of the true elements, int64 [count, rank].",
                .body = where,
                .constants_by_body = true},
    FunctionDef{.names = "cast",
                .signature = "x: tensor, dtype: dtype",
                .doc = "x converted to dtype: floats to integers towards zero (NaN and values out "
                       "of range give the lowest integer), complex to real without the imaginary "
                       "part, integers wrap.",
                .body = cast},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
