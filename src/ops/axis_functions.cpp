// Functions along one axis: running sums, rotation, repetition, sorting.
#include "ops/function_support.h"

namespace graphwright {
namespace {

// cumsum(x, axis, exclusive, reverse)
template <const char* const& Op>
CallResult scan(CallContext& context) {
  return apply_op(context, Op, {context.operand(0), axis_scalar(context.argument(1))},
                  {{"exclusive", context.boolean(2)}, {"reverse", context.boolean(3)}});
}
constexpr const char* kCumsum = "Cumsum";
constexpr const char* kCumprod = "Cumprod";

CallResult roll(CallContext& context) {
  return apply_op(context, "Roll", {context.operand(0), context.operand(1), context.operand(2)});
}

// An axis in [-rank, rank) made >= 0; ValueError for an unknown rank. Outside, the error is the one
// that an op would raise (`by_tier`), or ValueError.
int known_axis(int64_t axis, const PartialShape& shape, bool by_tier) {
  if (!shape.has_rank()) throw_value_error("the rank of the input must be known here");
  std::optional<int> normal = normalize_axis(axis, shape.rank());
  if (!normal && by_tier) {
    throw_invalid_argument("slice index " + std::to_string(axis) +
                           " of dimension 0 out of bounds.");
  }
  if (!normal) {
    throw_value_error("axis = " + std::to_string(axis) + " is not in [" +
                      std::to_string(-shape.rank()) + ", " + std::to_string(shape.rank()) + ")");
  }
  return *normal;
}

// Every element along the axis `count` times: a new dimension behind the axis, tiled and merged.
Operand repeated_evenly(CallContext& context, const Expression& data, const Expression& count,
                        int axis) {
  Algebra f(context.builder());
  PartialShape shape = shape_of(data);
  int rank = shape.rank();
  Expression spread = f.call("ExpandDims", {data, f.int32(axis + 1)});
  Expression before = f.int32_vector(std::vector<int64_t>(static_cast<size_t>(axis + 1), 1));
  Expression after = f.int32_vector(std::vector<int64_t>(static_cast<size_t>(rank - axis - 1), 1));
  Operand multiples[] = {before, count, after, f.int32(0)};
  Expression tiled = f.call("Tile", {spread, context.builder().op("ConcatV2", multiples)});
  std::vector<int64_t> front, back;
  for (int i = 0; i < axis; ++i) front.push_back(i);
  for (int i = axis + 1; i < rank; ++i) back.push_back(i);
  Expression dims = f.shape_of(data);
  auto picked = [&](const std::vector<int64_t>& which) {
    return f.call("GatherV2", {dims, f.int32_vector(which), f.int32(0)});
  };
  Operand merged[] = {picked(front), picked({axis}) * count, picked(back), f.int32(0)};
  return apply_op(context, "Reshape", {tiled, context.builder().op("ConcatV2", merged)});
}

// repeat(input, repeats, axis): elements one by one, each as often as its entry of repeats says.
CallResult repeat(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  Expression data = context.tensor(0);
  Expression repeats = f.cast(context.operand(1), DType::kInt32);
  int axis = 0;
  if (context.is_none(2)) {
    data = f.reshape(data, f.int32_vector({-1}));
  } else {
    axis = known_axis(context.integer(2), shape_of(data), false);
  }
  PartialShape repeats_shape = shape_of(repeats);
  if (!repeats_shape.has_rank() || repeats_shape.rank() > 1) {
    throw_value_error("repeats must be a scalar or a vector of known rank, not of shape " +
                      repeats_shape.without_symbols().to_string());
  }
  if (repeats_shape.rank() == 0 || repeats_shape.dim(0) == 1) {
    return repeated_evenly(context, data, f.reshape(repeats, f.int32_vector({1})), axis);
  }
  Dim known = shape_of(data).has_rank() ? shape_of(data).dim(axis) : kUnknownDim;
  if (is_known(known) && is_known(repeats_shape.dim(0)) && known != repeats_shape.dim(0)) {
    throw_value_error("repeats has " + std::to_string(repeats_shape.dim(0)) +
                      " elements, but the input has " + std::to_string(known) + " along the axis");
  }
  // Row i of the mask has repeats[i] true elements; the rows of all of them are the indices.
  Expression most = f.call("Maximum", {f.int32(0), f.call("Max", {repeats, f.int32_vector({0})})});
  Expression columns = f.call("Range", {f.int32(0), most, f.int32(1)});
  Expression mask = columns.apply("Less", f.call("ExpandDims", {repeats, f.int32(1)}));
  Expression positions = f.call("Where", {mask});
  Expression indices = f.call(
      "StridedSlice",
      {positions, f.int32_vector({0, 0}), f.int32_vector({0, 1}), f.int32_vector({1, 1})},
      {{"begin_mask", int64_t{1}}, {"end_mask", int64_t{1}}, {"shrink_axis_mask", int64_t{2}}});
  return builder.op("GatherV2", {data, indices, f.int32(axis)}, {}, context.name());
}

// --- Sorting ---

bool is_descending(const std::string& direction) {
  if (direction == "DESCENDING") return true;
  if (direction == "ASCENDING") return false;
  throw Error(ErrorKind::kValueError,
              "Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction=" +
                  direction)
      .with_argument("direction");
}
// Turned around without overflow, so that the largest become the smallest: -x - 1 of signed
// integers, all bits flipped of unsigned ones.
Expression turned_around(const Algebra& f, const Expression& x) {
  DType dtype = x.dtype();
  if (!is_integer(dtype)) return -x;
  return f.call("Invert", {x});
}
// sort or argsort (values, axis, direction): by TopKV2 along the last axis.
CallResult sorted(CallContext& context, bool indices) {
  Builder& builder = context.builder();
  Algebra f(builder);
  Expression values = context.tensor(0);
  bool descending = is_descending(context.string(2));
  PartialShape shape = shape_of(values);
  int axis = known_axis(static_integer(context.argument(1), "axis"), shape, builder.is_eager());
  int last = shape.rank() - 1;
  std::vector<int64_t> order;
  for (int i = 0; i <= last; ++i) order.push_back(i == axis ? last : i == last ? axis : i);
  if (!descending) values = turned_around(f, values);
  if (axis != last) values = f.call("Transpose", {values, f.int32_vector(order)});
  Expression length = f.call("GatherV2", {f.shape_of(values), f.int32(last), f.int32(0)});
  Operand inputs[] = {values, length};
  OperandVector outputs = builder.op_outputs("TopKV2", inputs);
  Expression result{builder, outputs[indices ? 1 : 0]};
  if (axis != last) result = f.call("Transpose", {result, f.int32_vector(order)});
  if (!descending && !indices) result = turned_around(f, result);
  return result.operand();
}
CallResult sort(CallContext& context) { return sorted(context, false); }
CallResult argsort(CallContext& context) { return sorted(context, true); }

constexpr std::array kTable{
    FunctionDef{.names = "cumsum math.cumsum",
                .signature = "x: T, axis: axis = 0, exclusive: bool = False, "
                             "reverse: bool = False",
                .doc = "The sum of the elements up to each one along the axis: from the end with "
                       "reverse, without the element itself with exclusive.",
                .body = scan<kCumsum>,
                .types = {{{"T", kNumeric}}},
                .node_name = "Cumsum"},
    FunctionDef{.names = "math.cumprod",
                .signature = "x: T, axis: axis = 0, exclusive: bool = False, "
                             "reverse: bool = False",
                .doc = "The product of the elements up to each one along the axis: from the end "
                       "with reverse, without the element itself with exclusive.",
                .body = scan<kCumprod>,
                .types = {{{"T", kNumeric}}},
                .node_name = "Cumprod"},
    FunctionDef{.names = "roll",
                .signature = "input: tensor, shift: index, axis: index",
                .doc = "The input with its elements moved on by shift[i] places along axis[i]; "
                       "what leaves at one end comes in at the other.",
                .body = roll,
                .node_name = "Roll"},
    FunctionDef{.names = "repeat",
                .signature = "input: tensor, repeats: index, axis: int? = None",
                .doc = "The elements along the axis, each repeats times, or as often as its own "
                       "entry of a vector says. axis=None flattens the input first.",
                .body = repeat,
                .node_name = "Repeat"},
    FunctionDef{.names = "sort",
                .signature = "values: T, axis: axis = -1, direction: str = 'ASCENDING'",
                .doc = "The values sorted along the axis, ASCENDING or DESCENDING (ValueError for "
                       "another direction).",
                .body = sort,
                .types = {{{"T", kRealNumeric}}},
                .node_name = "sort"},
    FunctionDef{.names = "argsort",
                .signature = "values: T, axis: axis = -1, direction: str = 'ASCENDING', "
                             "stable: bool = False",
                .doc = "The int32 indices that sort the values along the axis. The order of equal "
                       "values is always kept.",
                .body = argsort,
                .types = {{{"T", kRealNumeric}}},
                .node_name = "argsort"},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
