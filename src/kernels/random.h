// Random numbers by Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
// SC 2011): a block of four 32-bit numbers is a function of a key and a counter, so any part of a
// sequence can be made by itself. Seeds, blocks per element and the ways from bits to numbers are
// those of TensorFlow's CPU kernels, so that equal seeds give equal numbers.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/dtype.h"

namespace graphwright::kernels {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;
  // The key is the first seed, the upper half of the counter the second.
  Philox(uint64_t seed, uint64_t second_seed);
  // Block number `index` of the sequence.
  Block block(uint64_t index) const;

 private:
  std::array<uint32_t, 2> key_;
  uint64_t high_counter_;
};

// Fill `count` elements from block `first` on. False for dtypes that the distribution lacks.
// Uniform in [0, 1): half, bfloat16, float32, float64.
bool fill_uniform(DType dtype, const Philox& philox, uint64_t first, void* target, int64_t count);
// Standard normal by the Box-Muller transform: half, bfloat16, float32, float64.
bool fill_normal(DType dtype, const Philox& philox, uint64_t first, void* target, int64_t count);
// Standard normal, but numbers beyond two standard deviations are drawn again: the same dtypes.
// Each group of four elements (two of float64) has 256 numbers' worth of blocks to draw from.
bool fill_truncated_normal(DType dtype, const Philox& philox, uint64_t first, void* target,
                           int64_t count);
// Uniform over all values: int32, int64, uint32, uint64.
bool fill_all_integers(DType dtype, const Philox& philox, uint64_t first, void* target,
                       int64_t count);
// Uniform integers in [low, high), compared as the dtype's values: int32, int64, uint32, uint64;
// low < high.
bool fill_uniform_integers(DType dtype, const Philox& philox, uint64_t first, int64_t low,
                           int64_t high, void* target, int64_t count);

}  // namespace graphwright::kernels
