// Where random ops get their seeds from, as TensorFlow gives them: a global seed, a seed of the op,
// and, where the latter is missing, the next number of the current function or of the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace graphwright {

class Builder;

// tf.random.set_seed: nullopt takes the seed away. Restarts every sequence of the process.
void set_global_seed(std::optional<int64_t> seed);
std::optional<int64_t> global_seed();

struct RandomSeeds {
  int64_t seed = 0, second = 0;  // both 0: not reproducible
};
RandomSeeds random_seeds(Builder& builder, std::optional<int64_t> op_seed);

// How often the global seed has been set: a sequence begun before the last time starts again.
uint64_t seed_epoch();
// The first of `blocks` blocks of the sequence of an op that runs eagerly with these seeds. Ops
// with a seed of their own go on where the last one stopped; all others start at 0.
uint64_t take_eager_blocks(std::string_view op, RandomSeeds seeds, uint64_t blocks);
// A seed that nobody can predict.
uint64_t entropy();

}  // namespace graphwright
