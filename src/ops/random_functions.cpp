// Random numbers.
#include <cstring>
#include <optional>

#include "ops/function_support.h"
#include "ops/random_seed.h"

namespace graphwright {
namespace {

Attributes seeded(CallContext& context, std::string_view op, int argument, DType dtype) {
  std::optional<int64_t> op_seed;
  if (!context.is_none(argument)) op_seed = context.integer(argument);
  RandomSeeds seeds = random_seeds(context.builder(), op_seed);
  std::vector<std::pair<std::string_view, AttributeValue>> values{{"seed", seeds.seed},
                                                                  {"seed2", seeds.second}};
  if (dtype != DType::kInvalid) values.emplace_back("dtype", dtype);
  return attributes_of(op, std::move(values));
}
// The shape argument, a node "shape" of a graph unless it is a tensor of it.
Operand shape_argument(CallContext& context) {
  const Operand& shape = context.operand(0);
  if (!shape.is_tensor() || context.builder().is_eager()) return shape;
  return context.builder().constant(shape.tensor(), "shape");
}
// Whether the argument is this very number, so that it need not enter the graph.
bool is_number(const Operand& operand, double value) {
  if (!operand.is_tensor()) return false;
  Tensor tensor = operand.tensor();
  Tensor wanted = number_like(value, tensor.dtype());
  return tensor.rank() == 0 &&
         std::memcmp(tensor.raw_data(), wanted.raw_data(), wanted.byte_size()) == 0;
}

// uniform(shape, minval, maxval, dtype, seed)
CallResult uniform(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  DType dtype = context.dtype(3);
  if (!kFloating.contains(dtype) && !kIndex.contains(dtype)) {
    throw Error(ErrorKind::kValueError,
                "Argument `dtype` got invalid value " + std::string(dtype_name(dtype)) +
                    ". Accepted dtypes are float16, bfloat16, float32, float64, int32, int64.")
        .with_argument("dtype");
  }
  if (is_integer(dtype)) {
    if (context.is_none(2)) {
      throw Error(ErrorKind::kValueError,
                  "Must specify maxval for integer dtype " + std::string(dtype_name(dtype)))
          .with_argument("maxval");
    }
    return builder.op("RandomUniformInt",
                      {shape_argument(context), f.cast(context.operand(1), dtype),
                       f.cast(context.operand(2), dtype)},
                      seeded(context, "RandomUniformInt", 4, DType::kInvalid), context.name());
  }
  Expression numbers{builder, builder.op("RandomUniform", {shape_argument(context)},
                                         seeded(context, "RandomUniform", 4, dtype))};
  bool from_zero = is_number(context.operand(1), 0);
  bool to_one = context.is_none(2) || is_number(context.operand(2), 1);
  if (from_zero && to_one) return numbers.operand();
  Expression high =
      context.is_none(2) ? f.constant(number_like(1, dtype)) : f.cast(context.operand(2), dtype);
  if (from_zero) return builder.op("Mul", {numbers, high});
  Expression low = f.cast(context.operand(1), dtype);
  Expression width{builder, builder.op("Sub", {high, low}, {}, "sub")};
  Expression scaled{builder, builder.op("Mul", {numbers, width}, {}, "mul")};
  return builder.op("AddV2", {scaled, low}, {}, context.name());
}

// normal(shape, mean, stddev, dtype, seed)
CallResult normal(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  DType dtype = context.dtype(3);
  if (!kFloating.contains(dtype)) {
    throw Error(ErrorKind::kValueError, "Argument `dtype` got invalid value " +
                                            std::string(dtype_name(dtype)) +
                                            ". Accepted dtypes are float16, bfloat16, float32, "
                                            "float64.")
        .with_argument("dtype");
  }
  Expression mean = f.cast(context.operand(1), dtype),
             deviation = f.cast(context.operand(2), dtype);
  Expression numbers{builder, builder.op("RandomStandardNormal", {shape_argument(context)},
                                         seeded(context, "RandomStandardNormal", 4, dtype))};
  Expression scaled{builder, builder.op("Mul", {numbers, deviation}, {}, "mul")};
  return builder.op("AddV2", {scaled, mean}, {}, context.name());
}

constexpr std::array kTable{
    FunctionDef{.names = "random.uniform",
                .signature = "shape: shape, minval: tensor = 0, maxval: tensor? = None, "
                             "dtype: dtype = float32, seed: int? = None",
                .doc = "Uniform numbers in [minval, maxval) of a floating dtype or of int32 or "
                       "int64; maxval is 1 if None, and must be given for integers (ValueError). "
                       "Seeds as tf.random.set_seed says. InvalidArgumentError for integer bounds "
                       "with minval >= maxval.",
                .body = uniform,
                .node_name = "random_uniform"},
    FunctionDef{.names = "random.normal",
                .signature = "shape: shape, mean: tensor = 0.0, stddev: tensor = 1.0, "
                             "dtype: dtype = float32, seed: int? = None",
                .doc = "Normally distributed numbers of the given mean and standard deviation, "
                       "which broadcast to the shape, of a floating dtype.",
                .body = normal,
                .node_name = "random_normal"},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
