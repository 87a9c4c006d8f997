// Broadcasting, strides and threads of elementwise operations, against an element-by-element walk.
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/elementwise.h"
#include "tensor/dtype.h"

namespace graphwright {
namespace {

using Dims = std::vector<int64_t>;

int64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::vector<float> numbers(int64_t count, std::mt19937& random) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 2001) / 8 - 125;
  return values;
}

Dims row_major(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

float at(const std::vector<float>& values, const Dims& dims, const Dims& strides, const Dims& out,
         int64_t flat) {
  int64_t offset = 0;
  for (size_t d = out.size(); d-- > 0;) {
    int64_t index = flat % out[d];
    flat /= out[d];
    if (d + dims.size() < out.size()) continue;
    size_t own = d + dims.size() - out.size();
    if (dims[own] != 1) offset += index * strides[own];
  }
  return values[static_cast<size_t>(offset)];
}

void check_add(const Dims& a, const Dims& b, const Dims& out, const Dims& a_strides = {}) {
  std::mt19937 random(5);
  const FormulaDescriptor& add = *find_formula("Add");
  int64_t a_size = count_of(a);
  for (size_t d = 0; d < a_strides.size(); ++d) a_size += a_strides[d] * a[d];
  std::vector<float> x = numbers(a_size, random), y = numbers(count_of(b), random);
  std::vector<float> result(static_cast<size_t>(count_of(out)), -1e9f);
  ElementwiseOperand operands[] = {{x.data(), a, a_strides}, {y.data(), b, {}}};
  CHECK(run_elementwise(add, DType::kFloat, result.data(), out, operands) == -1);
  int64_t wrong = 0;
  for (int64_t i = 0; i < count_of(out); ++i) {
    float expected = at(x, a, a_strides.empty() ? row_major(a) : a_strides, out, i) +
                     at(y, b, row_major(b), out, i);
    wrong += result[static_cast<size_t>(i)] != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("operands broadcast as NumPy's do") {
  check_add({}, {}, {});
  check_add({5}, {5}, {5});
  check_add({5}, {}, {5});
  check_add({}, {0}, {0});
  check_add({0, 3}, {3}, {0, 3});
  check_add({4, 3}, {3}, {4, 3});
  check_add({4, 1}, {1, 3}, {4, 3});
  check_add({100, 70}, {70}, {100, 70});
  check_add({100, 1}, {70}, {100, 70});
  check_add({2, 1, 5, 1, 3}, {4, 1, 6, 1}, {2, 4, 5, 6, 3});
  check_add({3, 2, 1, 7}, {1, 5, 7}, {3, 2, 5, 7});
  check_add({1, 1, 1}, {2, 1, 2}, {2, 1, 2});
}

TEST_CASE("large results are computed in ranges") {
  check_add({200000}, {200000}, {200000});
  check_add({300, 400}, {400}, {300, 400});
  check_add({70000, 3}, {3}, {70000, 3});
  check_add({70000, 1}, {1, 3}, {70000, 3});
}

TEST_CASE("operands may be strided") {
  check_add({6}, {6}, {6}, {3});
  check_add({40, 50}, {50}, {40, 50}, {1, 40});
  check_add({40, 50}, {40, 1}, {40, 50}, {200, 4});
  check_add({3, 1, 200}, {3, 4, 1}, {3, 4, 200}, {1, 5, 3});
}

}  // namespace
}  // namespace graphwright
