#include "kernels/small_product.h"

#include "formulas/vector.h"

namespace graphwright::GW_NUMBERS {
namespace {

// One row of accumulators per row of the tile stays in registers: of 32 with AVX-512, else of 16.
constexpr int kTileRows = kVectorBytes == 64 ? 8 : 4;

template <class T, int N>
GW_INLINE Vec<T, N> load(const T* from) {
  Vec<T, N> result;
  __builtin_memcpy(&result.raw, from, sizeof result.raw);
  return result;
}

// The result's tile of Rows rows and Vectors vectors of N columns at `out`.
template <class T, int N, int Vectors, int Rows>
GW_INLINE void tile(const SmallProduct& product, const T* left, const T* right, T* out) {
  using V = Vec<T, N>;
  V sums[Rows][Vectors];
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Vectors; ++j) sums[i][j] = constant<V>(0);
  }
  for (int64_t k = 0; k < product.inner; ++k) {
    V row[Vectors];
    for (int j = 0; j < Vectors; ++j) row[j] = load<T, N>(right + k * product.columns + j * N);
    const T* column = left + k * product.left_inner_step;
    for (int i = 0; i < Rows; ++i) {
      V factor = constant<V>(column[i * product.left_row_step]);
      for (int j = 0; j < Vectors; ++j) sums[i][j] = sums[i][j] + factor * row[j];
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Vectors; ++j) {
      __builtin_memcpy(out + i * product.columns + j * N, &sums[i][j].raw, sizeof(V));
    }
  }
}

// `Vectors` * N columns of all rows.
template <class T, int N, int Vectors>
[[gnu::noinline]] void columns(const SmallProduct& product, const T* left, const T* right, T* out) {
  int64_t i = 0;
  const auto step = [&](int rows) {
    i += rows;
    left += rows * product.left_row_step;
    out += rows * product.columns;
  };
  while (product.rows - i >= kTileRows) {
    tile<T, N, Vectors, kTileRows>(product, left, right, out);
    step(kTileRows);
  }
  while (product.rows - i >= 2) {
    tile<T, N, Vectors, 2>(product, left, right, out);
    step(2);
  }
  if (i < product.rows) tile<T, N, Vectors, 1>(product, left, right, out);
}

// The columns from `done` on, by vectors of N and then of fewer lanes.
template <class T, int N>
void remaining_columns(const SmallProduct& product, const T* left, const T* right, T* out,
                       int64_t done) {
  while (product.columns - done >= N) {
    columns<T, N, 1>(product, left, right + done, out + done);
    done += N;
  }
  if constexpr (N > 1) {
    if (done < product.columns) remaining_columns<T, N / 2>(product, left, right, out, done);
  }
}

template <class T>
void multiply(const SmallProduct& product, const T* left, const T* right, T* out) {
  constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  int64_t done = 0;
  for (; product.columns - done >= 2 * kLanes; done += 2 * kLanes) {
    columns<T, kLanes, 2>(product, left, right + done, out + done);
  }
  remaining_columns<T, kLanes>(product, left, right, out, done);
}

}  // namespace

constinit const SmallProductKernels small_product_kernels = {multiply<float>, multiply<double>};

}  // namespace graphwright::GW_NUMBERS
