// Reductions: values, the order of operations, and equal bits for widths and layouts.
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/reduction.h"
#include "tensor/small_float.h"

namespace graphwright {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::vector<T> reduced(ReductionKind kind, DType type, const std::vector<T>& input,
                       std::vector<int64_t> dims, std::vector<bool> axes) {
  int64_t outputs = 1;
  for (size_t d = 0; d < dims.size(); ++d) outputs *= axes[d] ? 1 : dims[d];
  std::vector<T> result(static_cast<size_t>(outputs));
  reduce(kind, type, input.data(), dims, axes, result.data());
  return result;
}
template <class T>
T reduced_whole(ReductionKind kind, DType type, const std::vector<T>& input) {
  return reduced(kind, type, input, {static_cast<int64_t>(input.size())}, {true})[0];
}

std::vector<float> numbers(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

// The documented order: lanes within chunks, halves of lanes, pairs of chunks.
float ordered_sum(const float* values, size_t count) {
  std::vector<float> partials;
  for (size_t start = 0; start < count || start == 0; start += 4096) {
    float lanes[64] = {};
    for (size_t i = start; i < std::min(count, start + 4096); ++i) {
      lanes[(i - start) % 64] += values[i];
    }
    for (int half = 32; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    partials.push_back(lanes[0]);
  }
  for (size_t distance = 1; distance < partials.size(); distance *= 2) {
    for (size_t i = 0; i + distance < partials.size(); i += 2 * distance) {
      partials[i] += partials[i + distance];
    }
  }
  return partials[0];
}

TEST_CASE("sums have the documented order of operations, whatever their layout") {
  for (size_t count : {2, 3, 5, 17, 63, 64, 65, 127, 128, 200, 4095, 4096, 4097, 9000, 70000}) {
    INFO("count " << count);
    std::vector<float> values = numbers(count);
    const float expected = ordered_sum(values.data(), count);
    CHECK(reduced_whole(ReductionKind::kSum, DType::kFloat, values) == expected);
    // The same numbers as each column of a matrix, and as every other row.
    for (int64_t columns : {3, 64, 70}) {
      std::vector<float> matrix;
      for (float value : values) matrix.insert(matrix.end(), static_cast<size_t>(columns), value);
      std::vector<float> sums = reduced(ReductionKind::kSum, DType::kFloat, matrix,
                                        {static_cast<int64_t>(count), columns}, {true, false});
      for (float sum : sums) CHECK(sum == expected);
    }
    std::vector<float> rows = values;
    rows.insert(rows.end(), values.begin(), values.end());
    std::vector<float> sums = reduced(ReductionKind::kSum, DType::kFloat, rows,
                                      {2, static_cast<int64_t>(count)}, {false, true});
    CHECK(sums[0] == expected);
    CHECK(sums[1] == expected);
  }
}

TEST_CASE("any set of axes can be reduced") {
  const std::vector<int64_t> dims{3, 4, 5, 2, 6};
  std::vector<int64_t> values(720);
  std::iota(values.begin(), values.end(), -100);
  for (int mask = 0; mask < 32; ++mask) {
    std::vector<bool> axes;
    std::vector<int64_t> kept;
    for (size_t d = 0; d < dims.size(); ++d) {
      axes.push_back(mask >> d & 1);
      if (!axes[d]) kept.push_back(dims[d]);
    }
    int64_t outputs = std::accumulate(kept.begin(), kept.end(), int64_t{1}, std::multiplies<>());
    std::vector<int64_t> expected(static_cast<size_t>(outputs));
    for (int64_t i = 0; i < 720; ++i) {
      int64_t rest = i, output = 0, scale = 1;
      for (size_t d = dims.size(); d-- > 0;) {
        int64_t index = rest % dims[d];
        rest /= dims[d];
        if (axes[d]) continue;
        output += index * scale;
        scale *= dims[d];
      }
      expected[static_cast<size_t>(output)] += values[static_cast<size_t>(i)];
    }
    CHECK(reduced(ReductionKind::kSum, DType::kInt64, values, dims, axes) == expected);
  }
}

TEST_CASE("reductions of nothing are identities") {
  const std::vector<float> none;
  CHECK(reduced_whole(ReductionKind::kSum, DType::kFloat, none) == 0);
  CHECK(reduced_whole(ReductionKind::kProduct, DType::kFloat, none) == 1);
  CHECK(reduced_whole(ReductionKind::kMaximum, DType::kFloat, none) == -kInfinity);
  CHECK(reduced_whole(ReductionKind::kMinimum, DType::kFloat, none) == kInfinity);
  CHECK(std::isnan(reduced_whole(ReductionKind::kMean, DType::kFloat, none)));
  CHECK(reduced_whole<int8_t>(ReductionKind::kMaximum, DType::kInt8, {}) == -128);
  CHECK(reduced_whole<int8_t>(ReductionKind::kMinimum, DType::kInt8, {}) == 127);
  CHECK(reduced_whole<uint16_t>(ReductionKind::kMinimum, DType::kUint16, {}) == 65535);
  CHECK(reduced_whole<int32_t>(ReductionKind::kMaximum, DType::kInt32, {}) == INT32_MIN);
  CHECK(reduced_whole<int32_t>(ReductionKind::kMean, DType::kInt32, {}) == 0);
  CHECK(reduced_whole<char>(ReductionKind::kAll, DType::kBool, {}) == 1);
  CHECK(reduced_whole<char>(ReductionKind::kAny, DType::kBool, {}) == 0);
  CHECK(reduced(ReductionKind::kSum, DType::kFloat, none, {0, 3}, {true, false}) ==
        std::vector<float>{0, 0, 0});
  CHECK(reduced(ReductionKind::kSum, DType::kFloat, none, {0, 3}, {false, true}).empty());
}

TEST_CASE("special values as TensorFlow reduces them") {
  std::vector<float> with_nan(71, 1.0f);
  with_nan[40] = kNan;
  for (ReductionKind kind : {ReductionKind::kSum, ReductionKind::kProduct, ReductionKind::kMaximum,
                             ReductionKind::kMinimum, ReductionKind::kMean}) {
    CHECK(std::isnan(reduced_whole(kind, DType::kFloat, with_nan)));
    // One element is returned as it is; the sum of two negative zeros is positive.
    CHECK(std::signbit(reduced_whole<float>(kind, DType::kFloat, {-0.0f})));
  }
  CHECK(!std::signbit(reduced_whole<float>(ReductionKind::kSum, DType::kFloat, {-0.0f, -0.0f})));
  CHECK(std::isnan(
      reduced_whole<float>(ReductionKind::kSum, DType::kFloat, {kInfinity, -kInfinity})));
  CHECK(reduced_whole<int8_t>(ReductionKind::kSum, DType::kInt8, {100, 100, 100, 7}) == 51);
  CHECK(reduced_whole<int8_t>(ReductionKind::kProduct, DType::kInt8, {100, 100, 100, 7}) == -64);
  CHECK(reduced_whole<uint8_t>(ReductionKind::kProduct, DType::kUint8, {100, 100, 100, 7}) == 192);
  CHECK(reduced_whole<int8_t>(ReductionKind::kMean, DType::kInt8, {100, 100, 100, 7}) == 76);
  CHECK(reduced_whole<int32_t>(ReductionKind::kMean, DType::kInt32, {-7, -8}) == -7);
  CHECK(reduced_whole<uint32_t>(ReductionKind::kMean, DType::kUint32, {7, 8}) == 7);
  CHECK(reduced_whole<char>(ReductionKind::kAll, DType::kBool, {1, 1, 0}) == 0);
  CHECK(reduced_whole<char>(ReductionKind::kAny, DType::kBool, {0, 1, 0}) == 1);
  // half is accumulated in float32: 4096 ones do not stop at 2048.
  CHECK(reduced_whole(ReductionKind::kSum, DType::kHalf,
                      std::vector<uint16_t>(4096, float_to_half(1))) == float_to_half(4096));
  CHECK(reduced_whole(ReductionKind::kMean, DType::kBfloat16,
                      std::vector<uint16_t>(70000, float_to_bfloat16(1.5f))) ==
        float_to_bfloat16(1.5f));
}

TEST_CASE("every width gives the same bits") {
  const std::vector<std::vector<int64_t>> shapes{{5}, {130}, {10000}, {37, 70}, {3, 5000, 5}};
  for (DType type : {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64, DType::kUint32,
                     DType::kUint64, DType::kComplex64, DType::kComplex128, DType::kHalf,
                     DType::kBfloat16, DType::kInt8, DType::kUint16}) {
    for (const std::vector<int64_t>& dims : shapes) {
      int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
      // Small numbers of the real types; any bits otherwise.
      std::vector<char> input(static_cast<size_t>(count) * dtype_size(type));
      std::mt19937 random(3);
      if (type == DType::kFloat || type == DType::kComplex64) {
        std::vector<float> values = numbers(input.size() / 4);
        if (count == 130) values[7] = kNan;
        std::memcpy(input.data(), values.data(), input.size());
      } else if (type == DType::kDouble || type == DType::kComplex128) {
        std::vector<float> values = numbers(input.size() / 8);
        for (size_t i = 0; i < values.size(); ++i) {
          double value = values[i] * 1.1;
          std::memcpy(input.data() + i * 8, &value, 8);
        }
      } else {
        for (char& byte : input) byte = static_cast<char>(random() & 0x3f);
      }
      for (ReductionKind kind :
           {ReductionKind::kSum, ReductionKind::kProduct, ReductionKind::kMaximum,
            ReductionKind::kMinimum, ReductionKind::kMean}) {
        if (!reduction_types(kind).contains(type)) continue;
        for (int mask = 1; mask < 1 << dims.size(); ++mask) {
          std::vector<bool> axes;
          for (size_t d = 0; d < dims.size(); ++d) axes.push_back(mask >> d & 1);
          std::vector<char> first(input.size()), other(input.size());
          reduce_at_width(static_cast<Isa>(0), kind, type, input.data(), dims, axes, first.data());
          for (int isa = 1; isa < kIsaCount; ++isa) {
            if (!cpu_supports(static_cast<Isa>(isa))) {
              MESSAGE("skipped: this CPU does not have " << isa_name(static_cast<Isa>(isa)));
              continue;
            }
            reduce_at_width(static_cast<Isa>(isa), kind, type, input.data(), dims, axes,
                            other.data());
            INFO(dtype_name(type) << " kind " << static_cast<int>(kind) << " axes " << mask);
            CHECK(std::memcmp(first.data(), other.data(), first.size()) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("the index of the largest and of the smallest") {
  const std::vector<float> values{1, kNan, 3, 3, -2, -2};
  int64_t index = -1;
  arg_reduce(true, DType::kFloat, values.data(), 1, 6, 1, &index);
  CHECK(index == 2);
  arg_reduce(false, DType::kFloat, values.data(), 1, 6, 1, &index);
  CHECK(index == 4);
  const std::vector<float> nans{kNan, kNan};
  arg_reduce(true, DType::kFloat, nans.data(), 1, 2, 1, &index);
  CHECK(index == 0);
  const std::vector<int8_t> matrix{1, 5, 3, 4, -128, 127};
  std::vector<int64_t> rows(3), columns(2);
  arg_reduce(true, DType::kInt8, matrix.data(), 3, 2, 1, rows.data());
  CHECK(rows == std::vector<int64_t>{1, 1, 1});
  arg_reduce(false, DType::kInt8, matrix.data(), 1, 3, 2, columns.data());
  CHECK(columns == std::vector<int64_t>{2, 1});
}

}  // namespace
}  // namespace graphwright
