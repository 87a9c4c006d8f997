// Random numbers.
#include "kernels/random.h"
#include "ops/op_support.h"
#include "ops/random_seed.h"

namespace graphwright {
namespace {

void shape_random(ShapeContext& context) {
  context.require_rank(0, 1);
  if (Tensor shape = context.constant(0)) {
    for (int64_t dim : integer_values(shape)) {
      if (dim < 0) context.fail("Dimension " + std::to_string(dim) + " must be >= 0");
    }
  }
  context.set_output(0, constant_as_shape(context.input(0)));
}
// The op's sequence, and the first of its blocks that this run may use. Every run moves on by 256
// blocks per element, as TensorFlow's kernels do, whatever a distribution needs.
struct Sequence {
  kernels::Philox philox;
  uint64_t first;
};
Sequence take_sequence(KernelContext& context, int64_t count) {
  RandomSeeds seeds{context.attributes().integer("seed"), context.attributes().integer("seed2")};
  if (seeds.seed == 0 && seeds.second == 0) {
    return {kernels::Philox(entropy(), entropy()), 0};
  }
  kernels::Philox philox(static_cast<uint64_t>(seeds.seed), static_cast<uint64_t>(seeds.second));
  uint64_t blocks = static_cast<uint64_t>(count) * 256;
  RandomSite* site = context.random_site();
  if (!site) return {philox, take_eager_blocks(context.op().name, seeds, blocks)};
  std::lock_guard<std::mutex> lock(site->mutex);
  if (uint64_t epoch = seed_epoch(); site->epoch != epoch) {
    site->epoch = epoch;
    site->blocks = 0;
  }
  uint64_t first = site->blocks;
  site->blocks += blocks;
  return {philox, first};
}
Tensor& random_output(KernelContext& context, DType dtype) {
  const Tensor& shape = context.input(0);
  if (shape.rank() != 1) {
    fail(context, "shape",
         "shape must be a vector of {int32,int64}, got shape " + dims_to_string(shape.dims()));
  }
  std::vector<int64_t> dims = integer_values(shape);
  return context.require_output(0, dtype, dims);
}
using Fill = bool (*)(DType, const kernels::Philox&, uint64_t, void*, int64_t);
template <Fill Distribution>
void random_kernel(KernelContext& context) {
  DType dtype = context.attributes().type("dtype");
  Tensor& output = random_output(context, dtype);
  Sequence sequence = take_sequence(context, output.element_count());
  Distribution(dtype, sequence.philox, sequence.first, output.mutable_raw_data(),
               output.element_count());
}
void random_integer_kernel(KernelContext& context) {
  for (int i : {1, 2}) {
    if (context.input(i).element_count() != 1) {
      std::string name = i == 1 ? "minval" : "maxval";
      fail(context, name,
           name + " must be 0-D, got shape " + dims_to_string(context.input(i).dims()));
    }
  }
  int64_t low = integer_at(context.input(1), 0), high = integer_at(context.input(2), 0);
  DType dtype = context.input(1).dtype();
  Tensor& output = random_output(context, dtype);
  if (output.element_count() == 0) return;
  if (low >= high) {
    fail(context, "maxval",
         "Need minval < maxval, got " + std::to_string(low) + " >= " + std::to_string(high));
  }
  Sequence sequence = take_sequence(context, output.element_count());
  kernels::fill_uniform_integers(dtype, sequence.philox, sequence.first, low, high,
                                 output.mutable_raw_data(), output.element_count());
}

constexpr Absent kRandom{"does not depend on its inputs' elements differentiably"};
constexpr Reference kTested{.reason = "random: recorded numbers in tests/python/test_random.py"};

constexpr std::array kTable{
    OpDef{
        .name = "RandomUniform",
        .signature = "shape: T; seed: int=0, seed2: int=0, dtype: type -> output: dtype",
        .doc = "Uniform numbers in [0, 1) of the given shape, from Philox with the two seeds; not "
               "reproducible when both are 0. Every run goes on where the last one stopped.",
        .traits = kStateful | kZeroDerivative,
        .types = {{{"T", kIndex}, {"dtype", kFloating}}},
        .shape = shape_random,
        .compute = {.kind = ComputeKind::kEffect,
                    .kernel = guarded<random_kernel<kernels::fill_uniform>>},
        .effects = {.random = true},
        .gradient = kRandom,
        .forward = kRandom,
        .reference = kTested,
    },
    OpDef{
        .name = "RandomStandardNormal",
        .signature = "shape: T; seed: int=0, seed2: int=0, dtype: type -> output: dtype",
        .doc = "Numbers of mean 0 and standard deviation 1 of the given shape, normally "
               "distributed, from Philox with the two seeds; not reproducible when both are 0. "
               "Every run goes on where the last one stopped.",
        .traits = kStateful | kZeroDerivative,
        .types = {{{"T", kIndex}, {"dtype", kFloating}}},
        .shape = shape_random,
        .compute = {.kind = ComputeKind::kEffect,
                    .kernel = guarded<random_kernel<kernels::fill_normal>>},
        .effects = {.random = true},
        .gradient = kRandom,
        .forward = kRandom,
        .reference = kTested,
    },
    OpDef{
        .name = "RandomUniformInt",
        .signature = "shape: T, minval: Tout, maxval: Tout; seed: int=0, seed2: int=0 -> "
                     "output: Tout",
        .doc = "Uniform integers in [minval, maxval) of the given shape, from Philox with the two "
               "seeds; not reproducible when both are 0. InvalidArgument unless minval < maxval.",
        .traits = kStateful | kZeroDerivative,
        .types = {{{"T", kIndex}, {"Tout", kIndex}}},
        .shape = shape_random,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<random_integer_kernel>},
        .effects = {.random = true},
        .gradient = kRandom,
        .forward = kRandom,
        .reference = kTested,
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
