// Arithmetic, comparison, and what is composed of elementwise ops. Functions whose arguments are
// exactly an op's are that op's row itself (python_names in *.ops.cpp).
#include <algorithm>
#include <limits>

#include "ops/function_support.h"

namespace graphwright {
namespace {

// A function of two tensors that is one op under a node name of its own.
template <const char* const& Op>
CallResult binary(CallContext& context) {
  return apply_op(context, Op, {context.operand(0), context.operand(1)});
}
constexpr const char* kSub = "Sub";
constexpr const char* kMul = "Mul";
constexpr const char* kFloorDiv = "FloorDiv";
constexpr const char* kFloorMod = "FloorMod";
constexpr const char* kPow = "Pow";

CallResult add(CallContext& context) {
  bool text = dtype_of(context.operand(0)) == DType::kString;
  return apply_op(context, text ? "Add" : "AddV2", {context.operand(0), context.operand(1)});
}

void check_same_dtype(const Operand& x, const Operand& y) {
  if (dtype_of(x) == dtype_of(y)) return;
  throw_type_error("`x` and `y` must have the same dtype, got " +
                   std::string(dtype_name(dtype_of(x))) +
                   " != " + std::string(dtype_name(dtype_of(y))) + ".");
}
CallResult divide_no_nan(CallContext& context) {
  check_same_dtype(context.operand(0), context.operand(1));
  return apply_op(context, "DivNoNan", {context.operand(0), context.operand(1)});
}

// True division: integers become float64, those of at most 16 bits float32.
CallResult truediv(CallContext& context) {
  Algebra f(context.builder());
  Operand x = context.operand(0), y = context.operand(1);
  DType dtype = dtype_of(x);
  check_same_dtype(x, y);
  if (!kNumeric.contains(dtype)) {
    throw_type_error("Invalid dtype " + std::string(dtype_name(dtype)) +
                     " in __truediv__: only numbers can be divided.");
  }
  if (is_integer(dtype)) {
    DType target = dtype_size(dtype) <= 2 ? DType::kFloat : DType::kDouble;
    x = f.cast(x, target);
    y = f.cast(y, target);
  }
  return apply_op(context, "RealDiv", {x, y}, Attributes(), "truediv");
}

constexpr const char* kEqual = "Equal";
constexpr const char* kNotEqual = "NotEqual";

CallResult logical_xor(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0), y = context.tensor(1);
  Operand either = x.apply("LogicalOr", y);
  Operand not_both = x.apply("LogicalAnd", y).apply("LogicalNot");
  return builder.op("LogicalAnd", {either, not_both}, {}, context.name());
}

// The magnitude, real for complex x.
CallResult absolute(CallContext& context) {
  Operand x = context.operand(0);
  return apply_op(context, is_complex(dtype_of(x)) ? "ComplexAbs" : "Abs", {x});
}
CallResult round(CallContext& context) {
  Operand x = context.operand(0);
  if (is_integer(dtype_of(x))) return x;
  return apply_op(context, "Round", {x});
}
CallResult conj(CallContext& context) {
  Operand x = context.operand(0);
  if (!is_complex(dtype_of(x))) return x;
  return apply_op(context, "Conj", {x});
}

// min(max(t, low), high); bounds broadcast, but must not enlarge t.
CallResult clip_by_value(CallContext& context) {
  Builder& builder = context.builder();
  Expression t = context.tensor(0);
  PartialShape shape = shape_of(t);
  for (int i : {1, 2}) {
    PartialShape bound = shape_of(context.operand(i));
    std::optional<PartialShape> both = broadcast_shapes(shape, bound);
    if (!both || !both->is_compatible_with(shape)) {
      std::string text = "clip_by_value: bounds of shape " + bound.to_string() +
                         " do not fit a tensor of shape " + shape.to_string();
      if (builder.is_eager()) throw_invalid_argument(text);
      throw_value_error(text);
    }
  }
  Expression below = inner_op(builder, "Minimum", {t, context.operand(2)});
  return apply_op(context, "Maximum", {below, context.operand(1)});
}

// The cast that stays within the bounds of the dtype.
CallResult saturate_cast(CallContext& context) {
  Builder& builder = context.builder();
  Expression value = context.tensor(0);
  DType from = value.dtype(), to = context.dtype(1);
  struct Bounds {
    double low, high;
  };
  auto bounds = [](DType type) -> Bounds {
    switch (type) {
      case DType::kInt8:
        return {-128, 127};
      case DType::kInt16:
        return {-32768, 32767};
      case DType::kInt32:
        return {-2147483648.0, 2147483647.0};
      case DType::kInt64:
        return {-0x1p63, 0x1p63 - 1024};
      case DType::kUint8:
        return {0, 255};
      case DType::kUint16:
        return {0, 65535};
      case DType::kUint32:
        return {0, 4294967295.0};
      case DType::kUint64:
        return {0, 0x1p64 - 2048};
      case DType::kHalf:
        return {-65504, 65504};
      case DType::kBfloat16:
        return {-0x1.fep127, 0x1.fep127};
      case DType::kFloat:
        return {-0x1.fffffep127, 0x1.fffffep127};
      default:
        return {-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
    }
  };
  if (is_complex(from) || is_complex(to) || !kRealNumeric.contains(from) ||
      !kRealNumeric.contains(to)) {
    throw_type_error("saturate_cast converts real numbers, not " + std::string(dtype_name(from)) +
                     " to " + std::string(dtype_name(to)));
  }
  Bounds source = bounds(from), target = bounds(to);
  if (target.low > source.low) {
    // The least value of `from` within the target's bounds.
    Operand low = builder.constant(number_like(target.low, from));
    value = value.apply("Maximum", low);
  }
  if (target.high < source.high) {
    double high = target.high;
    if (is_floating(from) && is_integer(to)) {
      // Rounded down to a number that `from` holds: the bound itself may round up and overflow.
      int digits = from == DType::kDouble  ? 53
                   : from == DType::kFloat ? 24
                   : from == DType::kHalf  ? 11
                                           : 8;
      int bits = static_cast<int>(dtype_size(to)) * 8 - (target.low < 0 ? 1 : 0);
      if (bits > digits) {
        double power = 1;
        for (int i = 0; i < bits; ++i) power *= 2;
        double gap = power;
        for (int i = 0; i < digits; ++i) gap /= 2;
        high = power - gap;
      }
    }
    // The largest int64 is no double.
    Tensor bound = from == DType::kUint64 && to == DType::kInt64
                       ? Tensor::scalar<uint64_t>(from, INT64_MAX)
                       : number_like(high, from);
    value = value.apply("Minimum", builder.constant(bound));
  }
  return builder.op("Cast", {value}, attributes_of("Cast", {{"DstT", to}}), context.name());
}

CallResult add_n(CallContext& context) {
  const OperandVector& inputs = context.operands(0);
  if (inputs.empty()) {
    throw Error(ErrorKind::kValueError,
                "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same "
                "dtype and shape.")
        .with_argument("inputs");
  }
  if (inputs.size() == 1) {
    if (!context.name().empty()) return apply_op(context, "Identity", {inputs[0]});
    return inputs[0];
  }
  std::vector<Part> parts(inputs.begin(), inputs.end());
  return apply_op(context, "AddN", std::move(parts));
}

// x / sqrt(max(sum(x^2), epsilon))
CallResult l2_normalize(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0);
  Expression square = x.apply("Square");
  Expression sum = inner_op(builder, "Sum", {square, reduction_axes(context, square, 1)},
                            attributes_of("Sum", {{"keep_dims", true}}));
  Expression bounded = inner_op(builder, "Maximum", {sum, number_like(context.real(2), x.dtype())});
  return builder.op("Mul", {x, bounded.apply("Rsqrt")}, {}, context.name());
}

#define GW_XY "x: T, y: T"

constexpr std::array kTable{
    FunctionDef{.names = "add math.add",
                .signature = GW_XY,
                .doc = "x + y of each pair of elements, broadcast as NumPy does. Integers wrap; "
                       "strings are concatenated.",
                .body = add,
                .types = {{{"T", kNumeric | kFloat8 | DTypeSet::of(DType::kString)}}},
                .node_name = "Add"},
    FunctionDef{.names = "subtract math.subtract",
                .signature = GW_XY,
                .doc = "x - y of each pair of elements, broadcast as NumPy does. Integers wrap.",
                .body = binary<kSub>,
                .types = {{{"T", kNumeric}}},
                .node_name = "Sub"},
    FunctionDef{.names = "multiply math.multiply",
                .signature = GW_XY,
                .doc = "x * y of each pair of elements, broadcast as NumPy does. Integers wrap.",
                .body = binary<kMul>,
                .types = {{{"T", kNumeric}}},
                .node_name = "Mul"},
    FunctionDef{.names = "divide math.divide truediv math.truediv",
                .signature = GW_XY,
                .doc = "x / y of each pair of elements, broadcast as NumPy does. Integers of 32 "
                       "and 64 bits give float64, smaller ones float32. TypeError for bool.",
                .body = truediv,
                .node_name = "truediv"},
    FunctionDef{.names = "math.floordiv floordiv",
                .signature = GW_XY,
                .doc = "x / y rounded down, of each pair of elements, broadcast as NumPy does. "
                       "InvalidArgumentError where an integer y is 0.",
                .body = binary<kFloorDiv>,
                .types = {{{"T", kRealNumeric}}},
                .node_name = "floordiv"},
    FunctionDef{.names = "math.mod math.floormod",
                .signature = GW_XY,
                .doc = "x - y * floor(x / y), which has the sign of y, of each pair of elements, "
                       "broadcast as NumPy does. InvalidArgumentError where an integer y is 0.",
                .body = binary<kFloorMod>,
                .types = {{{"T", kRealNumeric}}},
                .node_name = "FloorMod"},
    FunctionDef{.names = "pow math.pow",
                .signature = GW_XY,
                .doc = "x to the power of y of each pair of elements, broadcast as NumPy does. "
                       "InvalidArgumentError for a negative integer power of an integer.",
                .body = binary<kPow>,
                .types = {{{"T", kNumeric}}},
                .node_name = "Pow"},
    FunctionDef{.names = "math.divide_no_nan",
                .signature = GW_XY,
                .doc = "x / y, or 0 where y is 0, of each pair of elements, broadcast.",
                .body = divide_no_nan,
                .types = {{{"T", kFloating | kComplex}}},
                .node_name = "div_no_nan"},
    FunctionDef{.names = "equal math.equal",
                .signature = GW_XY,
                .doc = "Whether x = y, for each pair of elements, broadcast as NumPy does. NaN "
                       "equals nothing.",
                .body = binary<kEqual>,
                .node_name = "Equal"},
    FunctionDef{.names = "not_equal math.not_equal",
                .signature = GW_XY,
                .doc = "Whether x and y differ, for each pair of elements, broadcast as NumPy "
                       "does. NaN differs from everything.",
                .body = binary<kNotEqual>,
                .node_name = "NotEqual"},
    FunctionDef{.names = "math.logical_xor",
                .signature = "x: bool, y: bool",
                .doc = "Whether exactly one of x and y is true, for each pair of elements.",
                .body = logical_xor,
                .node_name = "LogicalXor"},
    FunctionDef{.names = "abs math.abs",
                .signature = "x: T",
                .doc = "The magnitude of each element; real for complex x. The lowest integer "
                       "stays itself.",
                .body = absolute,
                .types = {{{"T", kNumeric}}},
                .node_name = "Abs"},
    FunctionDef{.names = "round math.round",
                .signature = "x: T",
                .doc = "Each element rounded to the nearest integer, ties to even.",
                .body = round,
                .types = {{{"T", kNumeric}}}},
    FunctionDef{.names = "math.conj",
                .signature = "x: T",
                .doc = "The complex conjugate of each element; x itself if real.",
                .body = conj,
                .types = {{{"T", kNumeric}}}},
    FunctionDef{.names = "clip_by_value",
                .signature = "t: T, clip_value_min: T, clip_value_max: T",
                .doc = "max(min(t, clip_value_max), clip_value_min); the bounds broadcast to t's "
                       "shape. InvalidArgumentError (ValueError while tracing) where they do not.",
                .body = clip_by_value,
                .types = {{{"T", kRealNumeric}}},
                .node_name = "clip_by_value",
                .constants_by_body = true},
    FunctionDef{.names = "saturate_cast dtypes.saturate_cast",
                .signature = "value: tensor, dtype: dtype",
                .doc = "The value converted to dtype, with what lies outside its range moved to "
                       "the nearest bound. TypeError for complex numbers.",
                .body = saturate_cast,
                .node_name = "saturate_cast"},
    FunctionDef{.names = "add_n math.add_n",
                .signature = "inputs: tensors",
                .doc = "The sum of all tensors in the list, which have one shape and dtype "
                       "(InvalidArgumentError). ValueError for an empty list.",
                .body = add_n},
    FunctionDef{.names = "math.l2_normalize nn.l2_normalize linalg.l2_normalize",
                .signature = "x: T, axis: axis? = None, epsilon: float = 1e-12",
                .doc = "x divided by its Euclidean norm over the given axes: x / sqrt(max(sum(x^2),"
                       " epsilon)).",
                .body = l2_normalize,
                .types = {{{"T", kFloating}}},
                .node_name = "l2_normalize"},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
