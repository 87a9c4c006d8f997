#include "ops/random_seed.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ir/graph.h"
#include "ir/graph_builder.h"

namespace graphwright {
namespace {

// MT19937 seeded by an array of words (M. Matsumoto and T. Nishimura, 1998 and 2002), which is what
// Python's random.Random(seed) is: TensorFlow draws the seeds of eager ops from one.
class MersenneTwister {
 public:
  explicit MersenneTwister(uint64_t seed) {
    std::vector<uint32_t> key{static_cast<uint32_t>(seed)};
    if (seed >> 32) key.push_back(static_cast<uint32_t>(seed >> 32));
    state_[0] = 19650218u;
    for (uint32_t i = 1; i < kSize; ++i) {
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
    }
    uint32_t i = 1, j = 0;
    auto wrap = [&] {
      if (i < kSize) return;
      state_[0] = state_[kSize - 1];
      i = 1;
    };
    for (size_t k = std::max<size_t>(kSize, key.size()); k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + j;
      ++i;
      ++j;
      wrap();
      if (j >= key.size()) j = 0;
    }
    for (uint32_t k = kSize - 1; k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - i;
      ++i;
      wrap();
    }
    state_[0] = 0x80000000u;
  }

  uint32_t next() {
    if (at_ == kSize) refill();
    uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  // Uniform in [0, 2**31), as randint(0, 2**31 - 1) draws it.
  int64_t next_seed() {
    uint32_t value = next();
    while (value >> 31) value = next();
    return value;
  }

 private:
  static constexpr size_t kSize = 624, kShift = 397;
  void refill() {
    for (size_t i = 0; i < kSize; ++i) {
      uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + kShift) % kSize] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    at_ = 0;
  }
  std::array<uint32_t, kSize> state_;
  size_t at_ = kSize;
};

constexpr int64_t kDefaultGraphSeed = 87654321;
constexpr int64_t kMaxInt32 = 0x7fffffff;

struct SeedState {
  std::mutex mutex;
  std::optional<int64_t> global;
  std::optional<MersenneTwister> generator;
  uint64_t epoch = 0;
  // Blocks taken so far by eager ops with a seed of their own.
  std::map<std::tuple<std::string, int64_t, int64_t>, uint64_t, std::less<>> taken;
  // Seeds of such ops: those that random_seeds gave out for an op's own seed.
  std::set<std::pair<int64_t, int64_t>> explicit_seeds;
};
SeedState& state() {
  static SeedState& instance = *new SeedState;
  return instance;
}

// As `seed % (2**31 - 1)` in Python, which is never negative.
int64_t truncated(int64_t seed) { return (seed % kMaxInt32 + kMaxInt32) % kMaxInt32; }

uint64_t magnitude(int64_t seed) {
  return seed < 0 ? 0 - static_cast<uint64_t>(seed) : static_cast<uint64_t>(seed);
}

}  // namespace

void set_global_seed(std::optional<int64_t> seed) {
  SeedState& seeds = state();
  std::lock_guard<std::mutex> lock(seeds.mutex);
  seeds.global = seed;
  seeds.generator.reset();
  if (seed) seeds.generator.emplace(magnitude(*seed));
  ++seeds.epoch;
  seeds.taken.clear();
  seeds.explicit_seeds.clear();
}

std::optional<int64_t> global_seed() {
  SeedState& seeds = state();
  std::lock_guard<std::mutex> lock(seeds.mutex);
  return seeds.global;
}

RandomSeeds random_seeds(Builder& builder, std::optional<int64_t> op_seed) {
  SeedState& seeds = state();
  std::lock_guard<std::mutex> lock(seeds.mutex);
  RandomSeeds result;
  if (seeds.global) {
    int64_t second = 0;
    if (op_seed) {
      second = *op_seed;
    } else if (auto* graph = dynamic_cast<GraphBuilder*>(&builder)) {
      second = graph->block().random_seeds++;
    } else {
      second = seeds.generator->next_seed();
    }
    result = {truncated(*seeds.global), truncated(second)};
  } else if (op_seed) {
    result = {kDefaultGraphSeed, truncated(*op_seed)};
  } else {
    return {};
  }
  // Both zero would mean that the sequence is not reproducible.
  if (result.seed == 0 && result.second == 0) result.second = kMaxInt32;
  if (op_seed && builder.is_eager()) {
    seeds.explicit_seeds.emplace(result.seed, result.second);
  }
  return result;
}

uint64_t seed_epoch() {
  SeedState& seeds = state();
  std::lock_guard<std::mutex> lock(seeds.mutex);
  return seeds.epoch;
}

uint64_t take_eager_blocks(std::string_view op, RandomSeeds seeds, uint64_t blocks) {
  SeedState& all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (!all.explicit_seeds.contains(std::pair(seeds.seed, seeds.second))) return 0;
  uint64_t& taken = all.taken[std::tuple(std::string(op), seeds.seed, seeds.second)];
  uint64_t first = taken;
  taken += blocks;
  return first;
}

uint64_t entropy() {
  static std::mutex mutex;
  static std::random_device device;
  std::lock_guard<std::mutex> lock(mutex);
  return (uint64_t{device()} << 32) | device();
}

}  // namespace graphwright
