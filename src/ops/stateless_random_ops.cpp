// Random numbers that depend on their seeds alone.
#include "kernels/random.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// --- Key and counter ---

void shape_key_counter(ShapeContext& context) {
  PartialShape seed = context.require_rank(0, 1);
  if (seed.has_rank() && is_known(seed.dim(0)) && seed.dim(0) != 2) {
    context.fail("seed must have shape [2], not " + shape_text(seed));
  }
  context.set_output(0, PartialShape{1});
  context.set_output(1, PartialShape{2});
}
// The seeds, scrambled by one run of Philox under a fixed key (John Salmon's; TensorFlow's choice,
// which makes the numbers equal).
void key_counter_kernel(KernelContext& context) {
  const Tensor& seed = context.input(0);
  if (seed.rank() != 1 || seed.dim(0) != 2) {
    fail(context, "seed", "seed must have shape [2], not " + dims_to_string(seed.dims()));
  }
  constexpr uint64_t kScramblingKey = 0x02461e293ec8f720;
  kernels::Philox scrambler(kScramblingKey, static_cast<uint64_t>(integer_at(seed, 1)));
  kernels::Philox::Block mix = scrambler.block(static_cast<uint64_t>(integer_at(seed, 0)));
  Tensor& key = context.require_output(0, DType::kUint64, vector_dims(1));
  Tensor& counter = context.require_output(1, DType::kUint64, vector_dims(2));
  key.mutable_data<uint64_t>()[0] = mix[0] | uint64_t{mix[1]} << 32;
  counter.mutable_data<uint64_t>()[0] = 0;
  counter.mutable_data<uint64_t>()[1] = mix[2] | uint64_t{mix[3]} << 32;
}

// --- Distributions ---

void shape_stateless(ShapeContext& context) {
  context.require_rank(0, 1);
  if (Tensor shape = context.constant(0)) {
    for (int64_t dim : integer_values(shape)) {
      // -1 may yet be anything, until the op runs.
      if (dim < -1) context.fail("Dimension " + std::to_string(dim) + " must be >= 0");
    }
  }
  context.set_output(0, constant_as_shape(context.input(0)));
}
struct Sequence {
  kernels::Philox philox;
  uint64_t first;
};
// Algorithms are numbered: 1 is Philox, 2 ThreeFry, 3 leaves the choice to the device.
Sequence sequence_of(KernelContext& context) {
  const Tensor& key = context.input(1);
  const Tensor& counter = context.input(2);
  int64_t algorithm = integer_at(context.input(3), 0);
  if (algorithm != 1 && algorithm != 3) {
    fail(context, "alg", "Unsupported algorithm id: " + std::to_string(algorithm));
  }
  if (key.element_count() != 1) fail(context, "key", "key must have shape [1]");
  if (counter.element_count() != 2) fail(context, "counter", "counter must have shape [2]");
  const uint64_t* count = counter.data<uint64_t>();
  return {kernels::Philox(key.data<uint64_t>()[0], count[1]), count[0]};
}
Tensor& output_of(KernelContext& context, DType dtype) {
  const Tensor& shape = context.input(0);
  if (shape.rank() != 1) {
    fail(context, "shape", "shape must be a vector, got shape " + dims_to_string(shape.dims()));
  }
  std::vector<int64_t> dims = integer_values(shape);
  for (int64_t dim : dims) {
    if (dim < 0) fail(context, "shape", "Dimension " + std::to_string(dim) + " must be >= 0");
  }
  return context.require_output(0, dtype, dims);
}
using Fill = bool (*)(DType, const kernels::Philox&, uint64_t, void*, int64_t);
template <Fill Distribution>
void stateless_kernel(KernelContext& context) {
  DType dtype = context.attributes().type("dtype");
  Tensor& output = output_of(context, dtype);
  Sequence sequence = sequence_of(context);
  Distribution(dtype, sequence.philox, sequence.first, output.mutable_raw_data(),
               output.element_count());
}
void stateless_integer_kernel(KernelContext& context) {
  for (int i : {4, 5}) {
    if (context.input(i).rank() == 0) continue;
    std::string name = i == 4 ? "minval" : "maxval";
    fail(context, name,
         name + " must be 0-D, got shape " + dims_to_string(context.input(i).dims()));
  }
  DType dtype = context.input(4).dtype();
  int64_t low = integer_at(context.input(4), 0), high = integer_at(context.input(5), 0);
  bool ordered = dtype == DType::kUint64 ? static_cast<uint64_t>(low) < static_cast<uint64_t>(high)
                                         : low < high;
  Tensor& output = output_of(context, dtype);
  if (output.element_count() == 0) return;
  if (!ordered) {
    fail(context, "maxval",
         "Need minval < maxval, got " + std::to_string(low) + " >= " + std::to_string(high));
  }
  Sequence sequence = sequence_of(context);
  kernels::fill_uniform_integers(dtype, sequence.philox, sequence.first, low, high,
                                 output.mutable_raw_data(), output.element_count());
}

constexpr Absent kRandom{"does not depend on its inputs' elements differentiably"};
constexpr DTypeSet kRandomInteger = kIndex | DTypeSet::of(DType::kUint32, DType::kUint64);

constexpr OpDef stateless_row(std::string_view name, std::string_view doc, DTypeSet types,
                              Kernel kernel) {
  return {.name = name,
          .signature =
              "shape: Tshape, key: uint64, counter: uint64, alg: int32; "
              "dtype: type -> output: dtype",
          .doc = doc,
          .traits = kPure | kZeroDerivative | kMayFail,
          .types = {{{"Tshape", kIndex}, {"dtype", types}}},
          .shape = shape_stateless,
          .compute = {.kind = ComputeKind::kLibrary, .kernel = kernel},
          .gradient = kRandom,
          .forward = kRandom,
          .reference = {.reason = "recorded numbers in tests/python/test_stateless_random.py"}};
}

constexpr std::array kTable{
    OpDef{.name = "StatelessRandomGetKeyCounter",
          .signature = "seed: Tseed -> key: uint64, counter: uint64",
          .doc = "The key [1] and counter [2] of Philox for a seed of two integers, scrambled.",
          .traits = kPure | kZeroDerivative | kMayFail,
          .types = {{{"Tseed", kIndex}}},
          .shape = shape_key_counter,
          .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<key_counter_kernel>},
          .gradient = kRandom,
          .forward = kRandom,
          .reference = {.reason = "recorded numbers in tests/python/test_stateless_random.py"}},
    stateless_row("StatelessRandomUniformV2",
                  "Uniform numbers in [0, 1) of the given shape, from Philox with this key and "
                  "counter.",
                  kFloating, guarded<stateless_kernel<kernels::fill_uniform>>),
    stateless_row("StatelessRandomNormalV2",
                  "Normally distributed numbers of mean 0 and standard deviation 1 of the given "
                  "shape, from Philox with this key and counter.",
                  kFloating, guarded<stateless_kernel<kernels::fill_normal>>),
    stateless_row("StatelessTruncatedNormalV2",
                  "Normally distributed numbers of mean 0 and standard deviation 1, none beyond 2, "
                  "of the given shape, from Philox with this key and counter.",
                  kFloating, guarded<stateless_kernel<kernels::fill_truncated_normal>>),
    stateless_row("StatelessRandomUniformFullIntV2",
                  "Integers of the given shape, every value of the dtype being as likely, from "
                  "Philox with this key and counter.",
                  kRandomInteger, guarded<stateless_kernel<kernels::fill_all_integers>>),
    OpDef{.name = "StatelessRandomUniformIntV2",
          .signature = "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, "
                       "maxval: dtype -> output: dtype",
          .doc = "Uniform integers in [minval, maxval) of the given shape, from Philox with this "
                 "key and counter. InvalidArgument unless minval < maxval.",
          .traits = kPure | kZeroDerivative | kMayFail,
          .types = {{{"Tshape", kIndex}, {"dtype", kRandomInteger}}},
          .shape = shape_stateless,
          .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<stateless_integer_kernel>},
          .gradient = kRandom,
          .forward = kRandom,
          .reference = {.reason = "recorded numbers in tests/python/test_stateless_random.py"}},
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
