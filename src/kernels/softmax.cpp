#include "kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cast.h"
#include "kernels/formula_kernels.h"
#include "kernels/reduction.h"

namespace graphwright::kernels {
namespace {

template <class T>
void softmax_rows(DType type, const T* input, int64_t rows, int64_t columns, bool logarithm,
                  T* output) {
  const ElementwiseKernel exponential = find_formula("Exp")->elementwise(type);
  const std::vector<bool> all{true};
  parallel_for(rows, std::max<int64_t>(1, 8192 / columns), [&](int64_t begin, int64_t end) {
    std::vector<T> powers(static_cast<size_t>(columns));
    for (int64_t row = begin; row < end; ++row) {
      const T* x = input + row * columns;
      T* y = output + row * columns;
      T largest = x[0];
      for (int64_t i = 1; i < columns; ++i) largest = x[i] > largest ? x[i] : largest;
      for (int64_t i = 0; i < columns; ++i) y[i] = x[i] - largest;
      const void* operands[] = {y};
      const int64_t steps[] = {1};
      exponential(powers.data(), operands, steps, columns);
      T sum;
      reduce(ReductionKind::kSum, type, powers.data(), std::span(&columns, 1), all, &sum);
      if (logarithm) {
        T shift = std::log(sum);
        for (int64_t i = 0; i < columns; ++i) y[i] -= shift;
      } else {
        T scale = T(1) / sum;
        for (int64_t i = 0; i < columns; ++i) y[i] = powers[static_cast<size_t>(i)] * scale;
      }
    }
  });
}

}  // namespace

void softmax(DType dtype, const void* input, int64_t rows, int64_t columns, bool logarithm,
             void* output) {
  if (dtype == DType::kDouble) {
    return softmax_rows(dtype, static_cast<const double*>(input), rows, columns, logarithm,
                        static_cast<double*>(output));
  }
  if (dtype == DType::kFloat) {
    return softmax_rows(dtype, static_cast<const float*>(input), rows, columns, logarithm,
                        static_cast<float*>(output));
  }
  std::vector<float> wide(static_cast<size_t>(rows * columns));
  cast_elements(dtype, input, DType::kFloat, wide.data(), rows * columns);
  softmax_rows(DType::kFloat, wide.data(), rows, columns, logarithm, wide.data());
  cast_elements(DType::kFloat, wide.data(), dtype, output, rows * columns);
}

}  // namespace graphwright::kernels
