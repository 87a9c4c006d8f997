#include "kernels/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/thread_pool.h"
#include "tensor/small_float.h"

namespace graphwright::kernels {
namespace {

float unit_float(uint32_t bits) {
  return std::bit_cast<float>((uint32_t{127} << 23) | (bits & 0x7fffffu)) - 1.0f;
}
double unit_double(uint32_t low, uint32_t high) {
  uint64_t mantissa = (uint64_t{low & 0xfffffu} << 32) | high;
  return std::bit_cast<double>((uint64_t{1023} << 52) | mantissa) - 1.0;
}
uint16_t unit_half(uint32_t bits) {
  uint16_t value = static_cast<uint16_t>((15u << 10) | (bits & 0x3ffu));
  return float_to_half(half_to_float(value) - 1.0f);
}
uint16_t unit_bfloat16(uint32_t bits) {
  uint16_t value = static_cast<uint16_t>((127u << 7) | (bits & 0x7fu));
  return float_to_bfloat16(bfloat16_to_float(value) - 1.0f);
}

struct Pair {
  double first, second;
};
// G. E. P. Box and M. E. Muller (1958), in the precision of T.
Pair box_muller(uint32_t x0, uint32_t x1) {
  float u1 = std::max(unit_float(x0), 1.0e-7f);
  // The product is rounded once, from double.
  float angle = static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(unit_float(x1)));
  float radius = std::sqrt(-2.0f * std::log(u1));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
Pair box_muller(const Philox::Block& x) {
  double u1 = std::max(unit_double(x[0], x[1]), 1.0e-7);
  double angle = 2.0 * std::numbers::pi * unit_double(x[2], x[3]);
  double radius = std::sqrt(-2.0 * std::log(u1));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

// Calls make(block, element[PerBlock]) block by block; the last may be used in part.
template <int PerBlock, class T, class Make>
void fill_blocks(const Philox& philox, uint64_t first, T* target, int64_t count, Make make) {
  int64_t blocks = (count + PerBlock - 1) / PerBlock;
  parallel_for(blocks, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      T values[PerBlock];
      make(philox.block(first + static_cast<uint64_t>(b)), values);
      int64_t used = std::min<int64_t>(PerBlock, count - b * PerBlock);
      std::copy_n(values, used, target + b * PerBlock);
    }
  });
}

}  // namespace

Philox::Philox(uint64_t seed, uint64_t second_seed)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      high_counter_(second_seed) {}

Philox::Block Philox::block(uint64_t index) const {
  uint64_t high = high_counter_;
  Block counter{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  std::array<uint32_t, 2> key = key_;
  for (int round = 0; round < 10; ++round) {
    uint64_t left = uint64_t{0xD2511F53u} * counter[0];
    uint64_t right = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<uint32_t>(right >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(right),
        static_cast<uint32_t>(left >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(left)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

bool fill_uniform(DType dtype, const Philox& philox, uint64_t first, void* target, int64_t count) {
  using Block = Philox::Block;
  switch (dtype) {
    case DType::kFloat:
      fill_blocks<4>(philox, first, static_cast<float*>(target), count,
                     [](const Block& block, float* values) {
                       for (size_t i = 0; i < 4; ++i) values[i] = unit_float(block[i]);
                     });
      return true;
    case DType::kDouble:
      fill_blocks<2>(philox, first, static_cast<double*>(target), count,
                     [](const Block& block, double* values) {
                       values[0] = unit_double(block[0], block[1]);
                       values[1] = unit_double(block[2], block[3]);
                     });
      return true;
    case DType::kHalf:
      fill_blocks<4>(philox, first, static_cast<uint16_t*>(target), count,
                     [](const Block& block, uint16_t* values) {
                       for (size_t i = 0; i < 4; ++i) values[i] = unit_half(block[i]);
                     });
      return true;
    case DType::kBfloat16:
      fill_blocks<4>(philox, first, static_cast<uint16_t*>(target), count,
                     [](const Block& block, uint16_t* values) {
                       for (size_t i = 0; i < 4; ++i) values[i] = unit_bfloat16(block[i]);
                     });
      return true;
    default:
      return false;
  }
}

bool fill_normal(DType dtype, const Philox& philox, uint64_t first, void* target, int64_t count) {
  using Block = Philox::Block;
  auto four = [&](auto* elements, auto narrow) {
    using T = std::remove_reference_t<decltype(*elements)>;
    fill_blocks<4>(philox, first, elements, count, [&](const Block& block, T* values) {
      for (size_t i = 0; i < 4; i += 2) {
        Pair pair = box_muller(block[i], block[i + 1]);
        values[i] = narrow(static_cast<float>(pair.first));
        values[i + 1] = narrow(static_cast<float>(pair.second));
      }
    });
  };
  switch (dtype) {
    case DType::kFloat:
      four(static_cast<float*>(target), [](float value) { return value; });
      return true;
    case DType::kHalf:
      four(static_cast<uint16_t*>(target), [](float value) { return float_to_half(value); });
      return true;
    case DType::kBfloat16:
      four(static_cast<uint16_t*>(target), [](float value) { return float_to_bfloat16(value); });
      return true;
    case DType::kDouble:
      fill_blocks<2>(philox, first, static_cast<double*>(target), count,
                     [](const Block& block, double* values) {
                       Pair pair = box_muller(block);
                       values[0] = pair.first;
                       values[1] = pair.second;
                     });
      return true;
    default:
      return false;
  }
}

namespace {

// The 32-bit numbers of a sequence one by one.
class SingleNumbers {
 public:
  SingleNumbers(const Philox& philox, uint64_t first) : philox_(philox), next_block_(first) {}
  uint32_t next() {
    if (used_ == 4) {
      block_ = philox_.block(next_block_++);
      used_ = 0;
    }
    return block_[used_++];
  }

 private:
  const Philox& philox_;
  uint64_t next_block_;
  Philox::Block block_{};
  size_t used_ = 4;
};

constexpr double kTruncation = 2.0;
// Numbers reserved for each element, since how many it takes is not known before.
constexpr uint64_t kReservedPerElement = 256;

Pair next_pair(SingleNumbers& numbers, float) {
  uint32_t x0 = numbers.next(), x1 = numbers.next();
  return box_muller(x0, x1);
}
Pair next_pair(SingleNumbers& numbers, double) {
  Philox::Block block;
  for (uint32_t& x : block) x = numbers.next();
  return box_muller(block);
}

template <class Real, int PerGroup, class T, class Narrow>
void fill_truncated(const Philox& philox, uint64_t first, T* target, int64_t count, Narrow narrow) {
  int64_t groups = (count + PerGroup - 1) / PerGroup;
  parallel_for(groups, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      uint64_t skipped = static_cast<uint64_t>(g) * PerGroup * kReservedPerElement / 4;
      SingleNumbers numbers(philox, first + skipped);
      int64_t at = g * PerGroup, stop = std::min<int64_t>(count, at + PerGroup);
      while (at < stop) {
        Pair pair = next_pair(numbers, Real());
        for (double value : {pair.first, pair.second}) {
          if (std::abs(value) < kTruncation && at < stop) {
            target[at++] = narrow(static_cast<Real>(value));
          }
        }
      }
    }
  });
}

// low + bits % range for each 32 or 64 bits; all values where range is 0.
template <class U>
void fill_integers(const Philox& philox, uint64_t first, U low, U range, U* target, int64_t count) {
  constexpr int kPerBlock = 16 / sizeof(U);
  fill_blocks<kPerBlock>(philox, first, target, count, [&](const Philox::Block& block, U* values) {
    for (size_t i = 0; i < kPerBlock; ++i) {
      U bits;
      if constexpr (sizeof(U) == 4) {
        bits = block[i];
      } else {
        bits = block[2 * i] | uint64_t{block[2 * i + 1]} << 32;
      }
      values[i] = range == 0 ? bits : low + bits % range;
    }
  });
}

bool is_wide_integer(DType dtype) { return dtype == DType::kInt64 || dtype == DType::kUint64; }
bool is_random_integer(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kUint32 || is_wide_integer(dtype);
}

}  // namespace

bool fill_truncated_normal(DType dtype, const Philox& philox, uint64_t first, void* target,
                           int64_t count) {
  switch (dtype) {
    case DType::kFloat:
      fill_truncated<float, 4>(philox, first, static_cast<float*>(target), count,
                               [](float value) { return value; });
      return true;
    case DType::kHalf:
      fill_truncated<float, 4>(philox, first, static_cast<uint16_t*>(target), count, float_to_half);
      return true;
    case DType::kBfloat16:
      fill_truncated<float, 4>(philox, first, static_cast<uint16_t*>(target), count,
                               float_to_bfloat16);
      return true;
    case DType::kDouble:
      fill_truncated<double, 2>(philox, first, static_cast<double*>(target), count,
                                [](double value) { return value; });
      return true;
    default:
      return false;
  }
}

bool fill_all_integers(DType dtype, const Philox& philox, uint64_t first, void* target,
                       int64_t count) {
  if (!is_random_integer(dtype)) return false;
  if (is_wide_integer(dtype)) {
    fill_integers<uint64_t>(philox, first, 0, 0, static_cast<uint64_t*>(target), count);
  } else {
    fill_integers<uint32_t>(philox, first, 0, 0, static_cast<uint32_t*>(target), count);
  }
  return true;
}

bool fill_uniform_integers(DType dtype, const Philox& philox, uint64_t first, int64_t low,
                           int64_t high, void* target, int64_t count) {
  if (!is_random_integer(dtype)) return false;
  uint64_t start = static_cast<uint64_t>(low), range = static_cast<uint64_t>(high) - start;
  if (is_wide_integer(dtype)) {
    fill_integers<uint64_t>(philox, first, start, range, static_cast<uint64_t*>(target), count);
  } else {
    fill_integers<uint32_t>(philox, first, static_cast<uint32_t>(start),
                            static_cast<uint32_t>(range), static_cast<uint32_t*>(target), count);
  }
  return true;
}

}  // namespace graphwright::kernels
