// Random numbers.
#include <cstring>
#include <optional>

#include "kernels/cast.h"
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
// An argument that may be a Python value still: then a constant of this name and dtype.
Operand named_argument(CallContext& context, const Operand& value, std::string_view name,
                       DType dtype = DType::kInvalid) {
  Builder& builder = context.builder();
  if (dtype == DType::kInvalid) dtype = dtype_of(value);
  if (!value.is_tensor()) return Algebra(builder).cast(value, dtype);
  Tensor tensor = value.tensor();
  if (tensor.dtype() != dtype && can_cast(tensor.dtype(), dtype)) {
    Tensor converted = Tensor::empty(dtype, tensor.dims());
    cast_elements(tensor.dtype(), tensor.raw_data(), dtype, converted.mutable_raw_data(),
                  tensor.element_count());
    tensor = converted;
  }
  if (builder.is_eager()) return tensor;
  return builder.constant(tensor, name);
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
  DType dtype = context.dtype(3);
  if (!kFloating.contains(dtype) && !kIndex.contains(dtype)) {
    throw Error(ErrorKind::kValueError,
                "Argument `dtype` got invalid value " + std::string(dtype_name(dtype)) +
                    ". Accepted dtypes are float16, bfloat16, float32, float64, int32, int64.")
        .with_argument("dtype");
  }
  const Operand& low_argument = context.operand(1);
  Operand shape = named_argument(context, context.operand(0), "shape");
  if (is_integer(dtype)) {
    if (context.is_none(2)) {
      throw Error(ErrorKind::kValueError,
                  "Must specify maxval for integer dtype " + std::string(dtype_name(dtype)))
          .with_argument("maxval");
    }
    Operand low = named_argument(context, low_argument, "min", dtype);
    Operand high = named_argument(context, context.operand(2), "max", dtype);
    return builder.op("RandomUniformInt", {shape, low, high},
                      seeded(context, "RandomUniformInt", 4, DType::kInvalid), context.name());
  }
  bool from_zero = is_number(low_argument, 0);
  bool to_one = context.is_none(2) || is_number(context.operand(2), 1);
  Operand low, high;
  if (!from_zero || !to_one) {
    low = named_argument(context, low_argument, "min", dtype);
    high = named_argument(context,
                          context.is_none(2) ? Operand(number_like(1, dtype)) : context.operand(2),
                          "max", dtype);
  }
  Expression numbers{
      builder, builder.op("RandomUniform", {shape}, seeded(context, "RandomUniform", 4, dtype))};
  if (from_zero) {
    if (to_one) return numbers.operand();
    return builder.op("Mul", {numbers, high});
  }
  Expression width{builder, builder.op("Sub", {high, low}, {}, "sub")};
  Expression scaled{builder, builder.op("Mul", {numbers, width}, {}, "mul")};
  return builder.op("AddV2", {scaled, low}, {}, context.name());
}

// normal(shape, mean, stddev, dtype, seed)
CallResult normal(CallContext& context) {
  Builder& builder = context.builder();
  DType dtype = context.dtype(3);
  if (!kFloating.contains(dtype)) {
    throw Error(ErrorKind::kValueError, "Argument `dtype` got invalid value " +
                                            std::string(dtype_name(dtype)) +
                                            ". Accepted dtypes are float16, bfloat16, float32, "
                                            "float64.")
        .with_argument("dtype");
  }
  Operand shape = named_argument(context, context.operand(0), "shape");
  Operand mean = named_argument(context, context.operand(1), "mean", dtype);
  Operand deviation = named_argument(context, context.operand(2), "stddev", dtype);
  Expression numbers{builder, builder.op("RandomStandardNormal", {shape},
                                         seeded(context, "RandomStandardNormal", 4, dtype))};
  Expression scaled{builder, builder.op("Mul", {numbers, deviation}, {}, "mul")};
  return builder.op("AddV2", {scaled, mean}, {}, context.name());
}

constexpr std::array kTable{
    FunctionDef{.names = "random.uniform",
                .signature = "shape: dim_vector, minval: tensor = 0, maxval: tensor? = None, "
                             "dtype: dtype = float32, seed: int? = None",
                .doc = "Uniform numbers in [minval, maxval) of a floating dtype or of int32 or "
                       "int64; maxval is 1 if None, and must be given for integers (ValueError). "
                       "Seeds as tf.random.set_seed says. InvalidArgumentError for integer bounds "
                       "with minval >= maxval.",
                .body = uniform,
                .node_name = "random_uniform",
                .constants_by_body = true},
    FunctionDef{.names = "random.normal",
                .signature = "shape: dim_vector, mean: tensor = 0.0, stddev: tensor = 1.0, "
                             "dtype: dtype = float32, seed: int? = None",
                .doc = "Normally distributed numbers of the given mean and standard deviation, "
                       "which broadcast to the shape, of a floating dtype.",
                .body = normal,
                .node_name = "random_normal",
                .constants_by_body = true},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
