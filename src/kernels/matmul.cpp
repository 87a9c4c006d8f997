#include "kernels/matmul.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/run_control.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "kernels/library_loader.h"
#include "kernels/number.h"
#include "kernels/small_product.h"

namespace graphwright::kernels {
namespace {

// Below this many multiplications our own loops are faster than a call into the library.
constexpr int64_t kLibraryWork = 48 * 1024;

// Null where the library is not there; that is found out once.
template <class Interface>
const Interface* or_null(const Interface& (*open)()) {
  try {
    return &open();
  } catch (const Error&) {
    return nullptr;
  }
}
const GwDnnInterface* dnn_or_null() {
  static const GwDnnInterface* const library = or_null(dnn_library);
  return library;
}
const GwLapackInterface* lapack_or_null() {
  static const GwLapackInterface* const library = or_null(lapack_library);
  return library;
}

// Multiplications that may run without a look at whether they are still wanted: some tens of
// milliseconds.
constexpr int64_t kUninterrupted = int64_t{1} << 30;

struct Tile {
  int64_t rows, columns;
};
// Of the result of a long product: depends on its shape alone.
Tile tile_of(const MatrixProduct& product) {
  constexpr int64_t kSmallest = 64;
  Tile tile{product.rows, product.columns};
  while (tile.rows * tile.columns > kUninterrupted / product.inner &&
         std::max(tile.rows, tile.columns) > kSmallest) {
    int64_t& longer = tile.rows > tile.columns ? tile.rows : tile.columns;
    longer = std::max((longer / 2 + 15) / 16 * 16, kSmallest);
  }
  return tile;
}

// The stride between batch entries, or -1 where they are not equally spaced.
int64_t batch_stride(const MatrixOperand& operand, int64_t batch) {
  if (!operand.offsets || batch < 2) return 0;
  int64_t stride = operand.offsets[1];
  for (int64_t i = 0; i < batch; ++i) {
    if (operand.offsets[i] != i * stride) return -1;
  }
  return stride;
}

bool library_product(const MatrixProduct& product, const MatrixOperand& left,
                     const MatrixOperand& right, float* result) {
  int64_t work = product.rows * product.columns * product.inner;
  if (work < kLibraryWork) return false;
  int64_t left_stride = batch_stride(left, product.batch);
  int64_t right_stride = batch_stride(right, product.batch);
  const GwDnnInterface* library = dnn_or_null();
  if (left_stride < 0 || right_stride < 0 || !library) return false;
  const auto* a = static_cast<const float*>(left.data);
  const auto* other = static_cast<const float*>(right.data);
  GwMatmul shape{product.batch, product.rows, product.columns, product.inner,
                 left_stride,   right_stride, left.transposed, right.transposed};
  if (work <= kUninterrupted / product.batch) {
    return library->matmul_f32(&shape, a, other, result) == 0;
  }
  // A long product is made some rows at a time, so that it can be ended.
  constexpr int64_t kFewestRows = 64;
  const int64_t row_work = product.columns * product.inner;
  const int64_t rows =
      std::clamp(2 * kUninterrupted / row_work, std::min(kFewestRows, product.rows), product.rows);
  std::unique_ptr<float[]> packed;
  if (left.transposed) packed.reset(new float[static_cast<size_t>(rows * product.inner)]);
  shape.batch = 1;
  shape.transpose_a = 0;
  for (int64_t b = 0; b < product.batch; ++b) {
    for (int64_t i = 0; i < product.rows; i += rows) {
      if (work_is_stopped()) return true;
      shape.m = std::min(rows, product.rows - i);
      const float* at = a + b * left_stride + i * product.inner;
      if (left.transposed) {
        at = packed.get();
        const float* columns = a + b * left_stride + i;
        parallel_for(product.inner, 256, [&](int64_t begin, int64_t end) {
          for (int64_t r = 0; r < shape.m; ++r) {
            for (int64_t k = begin; k < end; ++k) {
              packed[static_cast<size_t>(r * product.inner + k)] = columns[k * product.rows + r];
            }
          }
        });
      }
      float* out = result + (b * product.rows + i) * product.columns;
      if (library->matmul_f32(&shape, at, other + b * right_stride, out) != 0) return false;
    }
  }
  return true;
}

// float64 products go to OpenBLAS, which runs on one thread: rows are cut into tiles for ours.
bool library_product(const MatrixProduct& product, const MatrixOperand& left,
                     const MatrixOperand& right, double* result) {
  constexpr int64_t kTileRows = 128;
  constexpr int64_t kLargest = INT32_MAX;  // its sizes are 32-bit
  int64_t rows = product.rows, columns = product.columns, inner = product.inner;
  if (rows * columns * inner < kLibraryWork) return false;
  if (std::max({rows, columns, inner}) > kLargest) return false;
  const GwLapackInterface* library = lapack_or_null();
  if (!library) return false;
  const auto n = static_cast<int32_t>(columns), k = static_cast<int32_t>(inner);
  const int32_t left_row = left.transposed ? static_cast<int32_t>(rows) : k;
  const int32_t right_row = right.transposed ? k : n;
  for (int64_t b = 0; b < product.batch; ++b) {
    const double* a = static_cast<const double*>(left.data) + (left.offsets ? left.offsets[b] : 0);
    const double* other =
        static_cast<const double*>(right.data) + (right.offsets ? right.offsets[b] : 0);
    double* out = result + b * rows * columns;
    if (rows * columns <= kUninterrupted / inner) {
      parallel_for(rows, kTileRows, [&](int64_t begin, int64_t end) {
        const double* tile = a + (left.transposed ? begin : begin * inner);
        library->dgemm(left.transposed, right.transposed, static_cast<int32_t>(end - begin), n, k,
                       1.0, tile, left_row, other, right_row, 0.0, out + begin * columns, n);
      });
      continue;
    }
    const Tile tile = tile_of({1, rows, columns, 4 * inner});  // slower, and on one thread each
    const int64_t tiles_across = (columns - 1) / tile.columns + 1;
    const int64_t tiles = ((rows - 1) / tile.rows + 1) * tiles_across;
    parallel_for(tiles, 1, [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const int64_t i = index / tiles_across * tile.rows, j = index % tiles_across * tile.columns;
        library->dgemm(
            left.transposed, right.transposed, static_cast<int32_t>(std::min(tile.rows, rows - i)),
            static_cast<int32_t>(std::min(tile.columns, columns - j)), k, 1.0,
            a + (left.transposed ? i : i * inner), left_row,
            other + (right.transposed ? j * inner : j), right_row, 0.0, out + i * columns + j, n);
      }
    });
  }
  return true;
}

const SmallProductKernels& small_product_kernels() {
#define GW_SMALL_PRODUCT_KERNELS(name) &name::small_product_kernels,
  static const SmallProductKernels* const kTables[] = {GW_FOR_EACH_ISA(GW_SMALL_PRODUCT_KERNELS)};
#undef GW_SMALL_PRODUCT_KERNELS
  static const SmallProductKernels& kernels = *kTables[static_cast<int>(current_isa())];
  return kernels;
}

// Small products of floats; false where they are not small.
template <class T>
bool small_product(const MatrixProduct& product, const MatrixOperand& left,
                   const MatrixOperand& right, T* result) {
  constexpr int64_t kPackedElements = 4096;
  const int64_t rows = product.rows, columns = product.columns, inner = product.inner;
  if (rows * columns * inner >= kLibraryWork) return false;
  if (right.transposed && inner * columns > kPackedElements) return false;
  const SmallProduct one{rows, columns, inner, left.transposed ? 1 : inner,
                         left.transposed ? rows : 1};
  T packed[kPackedElements];
  for (int64_t b = 0; b < product.batch; ++b) {
    const T* a = static_cast<const T*>(left.data) + (left.offsets ? left.offsets[b] : 0);
    const T* other = static_cast<const T*>(right.data) + (right.offsets ? right.offsets[b] : 0);
    if (right.transposed) {
      for (int64_t k = 0; k < inner; ++k) {
        for (int64_t j = 0; j < columns; ++j) packed[k * columns + j] = other[j * inner + k];
      }
      other = packed;
    }
    T* out = result + b * rows * columns;
    if constexpr (std::is_same_v<T, float>) {
      small_product_kernels().float32(one, a, other, out);
    } else {
      small_product_kernels().float64(one, a, other, out);
    }
  }
  return true;
}

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

// The element as it enters a sum.
template <class A, class T>
A widened(T value, bool conjugated) {
  if constexpr (IsComplex<T>::value) {
    return conjugated ? std::conj(value) : value;
  } else {
    (void)conjugated;
    return static_cast<A>(value);
  }
}
template <class A>
A multiply_add(A sum, A a, A b) {
  if constexpr (IsComplex<A>::value) {
    // Not std::complex's product, which repairs infinities that came out as NaN: NumPy and
    // TensorFlow do not.
    return {sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
            sum.imag() + (a.real() * b.imag() + a.imag() * b.real())};
  } else {
    return wrapping_add(sum, wrapping_multiply(a, b));
  }
}

template <class T>
void plain_product(const MatrixProduct& product, const MatrixOperand& left,
                   const MatrixOperand& right, T* result) {
  using A = Accumulator<T>;
  const T* left_data = static_cast<const T*>(left.data);
  const T* right_data = static_cast<const T*>(right.data);
  const int64_t inner = product.inner, columns = product.columns;
  std::unique_ptr<A[]> packed;
  const bool pack = right.transposed || !std::is_same_v<A, T> || right.conjugated;
  for (int64_t b = 0; b < product.batch; ++b) {
    const T* a = left_data + (left.offsets ? left.offsets[b] : 0);
    const T* original = right_data + (right.offsets ? right.offsets[b] : 0);
    const A* rows;
    if (pack) {
      // The inner loop runs along rows of the right factor.
      if (!packed) packed.reset(new A[static_cast<size_t>(inner * columns)]);
      for (int64_t k = 0; k < inner; ++k) {
        for (int64_t j = 0; j < columns; ++j) {
          packed[static_cast<size_t>(k * columns + j)] = widened<A>(
              original[right.transposed ? j * inner + k : k * columns + j], right.conjugated);
        }
      }
      rows = packed.get();
    } else {
      rows = reinterpret_cast<const A*>(original);
    }
    T* out = result + b * product.rows * columns;
    int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, inner * columns));
    parallel_for(product.rows, grain, [&](int64_t begin, int64_t end) {
      std::vector<A> sums(static_cast<size_t>(columns));
      for (int64_t i = begin; i < end; ++i) {
        std::fill(sums.begin(), sums.end(), A(0));
        A* sum = sums.data();
        for (int64_t k = 0; k < inner; ++k) {
          A factor = widened<A>(a[left.transposed ? k * product.rows + i : i * inner + k],
                                left.conjugated);
          const A* row = rows + k * columns;
          for (int64_t j = 0; j < columns; ++j) sum[j] = multiply_add(sum[j], factor, row[j]);
        }
        for (int64_t j = 0; j < columns; ++j) out[i * columns + j] = static_cast<T>(sum[j]);
      }
    });
  }
}

}  // namespace

bool matrix_product(DType dtype, const MatrixProduct& product, const MatrixOperand& left,
                    const MatrixOperand& right, void* result) {
  if (dtype == DType::kFloat) {
    auto* out = static_cast<float*>(result);
    if (small_product(product, left, right, out) || library_product(product, left, right, out)) {
      return true;
    }
  }
  if (dtype == DType::kDouble) {
    auto* out = static_cast<double*>(result);
    if (small_product(product, left, right, out) || library_product(product, left, right, out)) {
      return true;
    }
  }
  return visit_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    plain_product<T>(product, left, right, static_cast<T*>(result));
  });
}

}  // namespace graphwright::kernels
