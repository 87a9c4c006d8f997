// Random numbers that depend on their seeds alone.
#include "ops/function_support.h"

namespace graphwright {
namespace {

constexpr int32_t kAutoSelect = 3;

struct Generator {
  Expression key, counter, algorithm;
};
// Of a seed of two integers and the name of an algorithm.
Generator generator_of(CallContext& context, const Operand& seed, const std::string& algorithm) {
  if (algorithm != "auto_select" && algorithm != "philox") {
    bool known = algorithm == "threefry";
    if (known) throw_unimplemented("random numbers by threefry are not implemented");
    throw_value_error("Unsupported algorithm name " + algorithm +
                      ": it is 'philox', 'threefry' or 'auto_select'");
  }
  Builder& builder = context.builder();
  Operand inputs[] = {seed};
  OperandVector outputs = builder.op_outputs("StatelessRandomGetKeyCounter", inputs);
  Algebra f(builder);
  return {{builder, outputs[0]},
          {builder, outputs[1]},
          f.int32(algorithm == "philox" ? 1 : kAutoSelect)};
}
void check_floating(DType dtype, ErrorKind refusal = ErrorKind::kValueError) {
  if (kFloating.contains(dtype)) return;
  throw Error(refusal, "Argument `dtype` got invalid value " + std::string(dtype_name(dtype)) +
                           ". Accepted dtypes are float16, bfloat16, float32, "
                           "float64.")
      .with_argument("dtype");
}
// The numbers of a distribution times `scale` plus `offset`.
Operand scaled(CallContext& context, std::string_view op, DType dtype, const Expression& scale,
               const Expression& offset, const std::string& algorithm) {
  Algebra f(context.builder());
  Generator g = generator_of(context, context.operand(1), algorithm);
  Expression numbers =
      f.call(op, {context.operand(0), g.key, g.counter, g.algorithm}, {{"dtype", dtype}});
  return context.builder().op("AddV2", {numbers * scale, offset}, {}, context.name());
}

// stateless_uniform(shape, seed, minval, maxval, dtype, name, alg)
CallResult uniform(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  DType dtype = context.dtype(4);
  const std::string& algorithm = context.string(6);
  if (!is_integer(dtype)) {
    check_floating(dtype);
    Expression low =
        context.is_none(2) ? f.constant(number_like(0, dtype)) : f.cast(context.operand(2), dtype);
    Expression high =
        context.is_none(3) ? f.constant(number_like(1, dtype)) : f.cast(context.operand(3), dtype);
    return scaled(context, "StatelessRandomUniformV2", dtype, high - low, low, algorithm);
  }
  if (context.is_none(2) != context.is_none(3)) {
    throw Error(ErrorKind::kValueError, "For integer `dtype` argument " +
                                            std::string(dtype_name(dtype)) +
                                            ", argument `minval` and `maxval` must be both None "
                                            "or not None.")
        .with_argument("maxval");
  }
  if (!context.is_none(3) && !kIndex.contains(dtype)) {
    throw Error(ErrorKind::kValueError,
                "Invalid dtype for argument `dtype`: " + std::string(dtype_name(dtype)) +
                    " takes minval=None and maxval=None only.")
        .with_argument("dtype");
  }
  Generator g = generator_of(context, context.operand(1), algorithm);
  if (context.is_none(3)) {
    return builder.op(
        "StatelessRandomUniformFullIntV2", {context.operand(0), g.key, g.counter, g.algorithm},
        attributes_of("StatelessRandomUniformFullIntV2", {{"dtype", dtype}}), context.name());
  }
  return builder.op("StatelessRandomUniformIntV2",
                    {context.operand(0), g.key, g.counter, g.algorithm,
                     f.cast(context.operand(2), dtype), f.cast(context.operand(3), dtype)},
                    {}, context.name());
}

// stateless_normal(shape, seed, mean, stddev, dtype, name, alg)
template <const char* const& Op>
CallResult normal(CallContext& context) {
  Algebra f(context.builder());
  DType dtype = context.dtype(4);
  check_floating(dtype, ErrorKind::kTypeError);
  return scaled(context, Op, dtype, f.cast(context.operand(3), dtype),
                f.cast(context.operand(2), dtype), context.string(6));
}
constexpr const char* kNormal = "StatelessRandomNormalV2";
constexpr const char* kTruncated = "StatelessTruncatedNormalV2";

#define GW_NORMAL_PARAMETERS                                                                  \
  "shape: dim_vector, seed: index, mean: tensor = 0.0, stddev: tensor = 1.0, dtype: dtype = " \
  "float32, name: str? = None, alg: str = 'auto_select'"

constexpr std::array kTable{
    FunctionDef{.names = "random.stateless_uniform",
                .signature = "shape: dim_vector, seed: index, minval: tensor? = 0, maxval: tensor? "
                             "= None, dtype: dtype = float32, name: str? = None, "
                             "alg: str = 'auto_select'",
                .doc = "Uniform numbers in [minval, maxval) that depend on the seed, two integers, "
                       "alone. maxval is 1 if None; integer dtypes take both bounds, or None for "
                       "both, which means all values.",
                .body = uniform,
                .node_name = "stateless_random_uniform"},
    FunctionDef{.names = "random.stateless_normal",
                .signature = GW_NORMAL_PARAMETERS,
                .doc = "Normally distributed numbers of the given mean and standard deviation, "
                       "which broadcast to the shape, that depend on the seed, two integers, "
                       "alone.",
                .body = normal<kNormal>,
                .node_name = "stateless_random_normal"},
    FunctionDef{.names = "random.stateless_truncated_normal",
                .signature = GW_NORMAL_PARAMETERS,
                .doc = "As stateless_normal, without numbers further from the mean than two "
                       "standard deviations, which are drawn again.",
                .body = normal<kTruncated>,
                .node_name = "stateless_truncated_normal"},
};
#undef GW_NORMAL_PARAMETERS

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
