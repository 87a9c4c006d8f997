// Reductions, and what is composed of them.
#include "ir/graph.h"
#include "ops/function_support.h"

namespace graphwright {
namespace {

Operand reduce(CallContext& context, std::string_view op, const Operand& x) {
  Operand result = apply_op(context, op, {x, reduction_axes(context, x, 1)},
                            {{"keep_dims", context.boolean(2)}});
  // All axes of a tensor of unknown rank leave a scalar, which the op cannot tell from the axes.
  if (context.is_none(1) && !context.boolean(2) && result.is_value() &&
      !shape_of(result).has_rank()) {
    result.value()->type.shape = PartialShape::scalar();
  }
  return result;
}
template <const char* const& Op>
CallResult reduction(CallContext& context) {
  return reduce(context, Op, context.operand(0));
}
constexpr const char* kSum = "Sum";
constexpr const char* kProd = "Prod";
constexpr const char* kMax = "Max";
constexpr const char* kMin = "Min";
constexpr const char* kMean = "Mean";
constexpr const char* kAll = "All";
constexpr const char* kAny = "Any";

// A reduction in the middle of a composite, over the same axes.
Expression inner_reduce(CallContext& context, std::string_view op, const Operand& x,
                        bool keep_dims) {
  return inner_op(context.builder(), op, {x, reduction_axes(context, x, 1)},
                  attributes_of(op, {{"keep_dims", keep_dims}}));
}

// The mean of squared distances from the mean; real for complex x.
CallResult reduce_variance(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0);
  if (!is_floating(x.dtype()) && !is_complex(x.dtype())) {
    throw Error(ErrorKind::kTypeError, "Input must be either real or complex. Received " +
                                           std::string(dtype_name(x.dtype())))
        .with_argument("input_tensor");
  }
  Expression mean = inner_reduce(context, kMean, x, true);
  Expression difference{builder, builder.op("Sub", {x, mean}, {}, "sub")};
  Expression squared =
      is_complex(x.dtype())
          ? Expression(builder, builder.op("Real", {difference * difference.apply("Conj")}))
          : difference.apply("Square");
  return inner_reduce(context, kMean, squared, context.boolean(2)).operand();
}
CallResult reduce_std(CallContext& context) {
  Builder& builder = context.builder();
  Expression variance;
  {
    NameScopeGuard scope(builder, "reduce_variance");
    variance = {builder, std::get<Operand>(reduce_variance(context))};
  }
  return variance.apply("Sqrt").operand();
}

// log(sum(exp(x))), with the largest finite element taken out of the exponents.
CallResult reduce_logsumexp(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0);
  Expression largest = inner_reduce(context, kMax, x, true);
  Expression shift =
      inner_op(builder, "SelectV2", {largest.apply("IsFinite"), largest, number_like(0, x.dtype())})
          .apply("StopGradient");
  Expression result =
      inner_reduce(context, kSum, x.apply("Sub", shift).apply("Exp"), context.boolean(2))
          .apply("Log");
  if (!context.boolean(2)) {
    Expression shape{builder, builder.op("Shape", {result})};
    shift = {builder, builder.op("Reshape", {shift, shape})};
  }
  return builder.op("AddV2", {result, shift}, {}, context.name());
}

CallResult count_nonzero(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0);
  DType dtype = context.dtype(3);
  Operand zero = x.dtype() == DType::kString ? builder.constant(Tensor::string_scalar(""), "zeros")
                                             : builder.constant(number_like(0, x.dtype()), "zeros");
  Expression nonzero{builder, builder.op("NotEqual", {x, zero})};
  Expression ones{builder, builder.op("Cast", {nonzero}, attributes_of("Cast", {{"DstT", dtype}}))};
  return inner_reduce(context, kSum, ones, context.boolean(2)).operand();
}

template <const char* const& Op>
CallResult arg_reduction(CallContext& context) {
  Part axis = context.is_none(1) ? Part(Tensor::int32_scalar(0)) : axis_scalar(context.argument(1));
  return apply_op(context, Op, {context.operand(0), axis}, {{"output_type", context.dtype(2)}});
}
constexpr const char* kArgMax = "ArgMax";
constexpr const char* kArgMin = "ArgMin";

#define GW_REDUCTION_PARAMETERS "input_tensor: T, axis: axis? = None, keepdims: bool = False"
#define GW_REDUCTION_DOC                                                                       \
  " over the given axes (an int, several, an integer tensor, or None for all), which go away " \
  "or, with keepdims, stay with size 1. InvalidArgumentError for an axis outside "             \
  "[-rank, rank)."

constexpr std::array kTable{
    FunctionDef{.names = "reduce_sum math.reduce_sum",
                .signature = GW_REDUCTION_PARAMETERS,
                .doc = "Sum of the elements" GW_REDUCTION_DOC,
                .body = reduction<kSum>,
                .types = {{{"T", kNumeric}}}},
    FunctionDef{.names = "reduce_prod math.reduce_prod",
                .signature = GW_REDUCTION_PARAMETERS,
                .doc = "Product of the elements" GW_REDUCTION_DOC,
                .body = reduction<kProd>,
                .types = {{{"T", kNumeric}}}},
    FunctionDef{.names = "reduce_max math.reduce_max",
                .signature = GW_REDUCTION_PARAMETERS,
                .doc = "Largest element" GW_REDUCTION_DOC " NaN if any element is NaN.",
                .body = reduction<kMax>,
                .types = {{{"T", kRealNumeric}}}},
    FunctionDef{.names = "reduce_min math.reduce_min",
                .signature = GW_REDUCTION_PARAMETERS,
                .doc = "Smallest element" GW_REDUCTION_DOC " NaN if any element is NaN.",
                .body = reduction<kMin>,
                .types = {{{"T", kRealNumeric}}}},
    FunctionDef{
        .names = "reduce_mean math.reduce_mean",
        .signature = GW_REDUCTION_PARAMETERS,
        .doc = "Arithmetic mean" GW_REDUCTION_DOC " Of integers it is rounded towards zero.",
        .body = reduction<kMean>,
        .types = {{{"T", kNumeric}}}},
    FunctionDef{.names = "reduce_all math.reduce_all",
                .signature = "input_tensor: bool, axis: axis? = None, keepdims: bool = False",
                .doc = "Whether all elements are true" GW_REDUCTION_DOC,
                .body = reduction<kAll>},
    FunctionDef{.names = "reduce_any math.reduce_any",
                .signature = "input_tensor: bool, axis: axis? = None, keepdims: bool = False",
                .doc = "Whether any element is true" GW_REDUCTION_DOC,
                .body = reduction<kAny>},
    FunctionDef{.names = "math.reduce_variance",
                .signature = GW_REDUCTION_PARAMETERS,
                .doc = "Variance, the mean of the squared distances from the mean" GW_REDUCTION_DOC
                       " TypeError for integers.",
                .body = reduce_variance,
                .types = {{{"T", kNumeric}}},
                .node_name = "reduce_variance"},
    FunctionDef{.names = "math.reduce_std",
                .signature = GW_REDUCTION_PARAMETERS,
                .doc = "Standard deviation, the root of the variance" GW_REDUCTION_DOC
                       " TypeError for integers.",
                .body = reduce_std,
                .types = {{{"T", kNumeric}}},
                .node_name = "reduce_std"},
    FunctionDef{.names = "reduce_logsumexp math.reduce_logsumexp",
                .signature = GW_REDUCTION_PARAMETERS,
                .doc = "log(sum(exp(x)))" GW_REDUCTION_DOC " Does not overflow for large x.",
                .body = reduce_logsumexp,
                .types = {{{"T", kFloating}}},
                .node_name = "ReduceLogSumExp"},
    FunctionDef{.names = "math.count_nonzero",
                .signature = "input: T, axis: axis? = None, keepdims: bool = False, "
                             "dtype: dtype = int64",
                .doc =
                    "Number of elements that are not zero (not the empty string)" GW_REDUCTION_DOC
                    " The result has the given integer dtype.",
                .body = count_nonzero,
                .types = {{{"T", kDense | DTypeSet::of(DType::kString)}}},
                .node_name = "count_nonzero"},
    FunctionDef{.names = "argmax math.argmax",
                .signature = "input: T, axis: dimension? = None, output_type: dtype = int64",
                .doc = "Index of the largest element along an axis (0 if None), the first of "
                       "several. int64, or the integer dtype output_type. InvalidArgumentError for "
                       "an axis outside [-rank, rank), or one of size 0.",
                .body = arg_reduction<kArgMax>,
                .types = {{{"T", kRealNumeric | DTypeSet::of(DType::kBool)}}}},
    FunctionDef{.names = "argmin math.argmin",
                .signature = "input: T, axis: dimension? = None, output_type: dtype = int64",
                .doc = "Index of the smallest element along an axis (0 if None), the first of "
                       "several. int64, or the integer dtype output_type. InvalidArgumentError for "
                       "an axis outside [-rank, rank), or one of size 0.",
                .body = arg_reduction<kArgMin>,
                .types = {{{"T", kRealNumeric | DTypeSet::of(DType::kBool)}}}},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
