// The parts of reductions that run at a vector width.
//
// The order of operations is fixed by the index of an element in the reduced sequence alone, so
// that widths, threads and layouts give the same bits: within a chunk of kReductionChunk elements,
// element i is folded into lane i mod (number of lanes); the lanes are combined by halves; chunks
// are combined in pairs (kernels/reduction.cpp).
#pragma once

#include <cstdint>

#include "formulas/isa.h"

namespace graphwright {

inline constexpr int64_t kReductionChunk = 4096;
// Bytes of all lanes together, whatever the element: a fixed number, of any width's vectors.
inline constexpr int kReductionLaneBytes = 256;
// Columns that are reduced side by side.
inline constexpr int64_t kReductionColumns = 64;
// Bytes of the lanes of that many columns.
inline constexpr int64_t kReductionScratchBytes = kReductionLaneBytes * kReductionColumns;

// For one operation and one type of elements.
struct ReductionKernels {
  // result = the reduction of at most kReductionChunk contiguous elements.
  void (*run)(const void* elements, int64_t count, void* result);
  // Folds `rows` rows of at most kReductionColumns elements, `stride` elements apart, into lanes in
  // `scratch`; the first is row `first` of the chunk, and rows must come in order.
  void (*fold_rows)(void* scratch, const void* elements, int64_t stride, int64_t first,
                    int64_t rows, int64_t columns);
  // result[column] from the lanes of a chunk of `rows` rows.
  void (*finish_rows)(void* scratch, int64_t rows, int64_t columns, void* result);
  // left[i] = left[i] op right[i].
  void (*combine)(void* left, const void* right, int64_t count);
  // Fills with the identity.
  void (*identity)(void* result, int64_t count);
};

enum class ReductionOperation : uint8_t { kSum, kProduct, kMaximum, kMinimum, kCount };
enum class ReductionElement : uint8_t {
  kFloat,
  kDouble,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kComplex64,
  kComplex128,
  kCount
};

struct ReductionKernelTable {
  // `run` is null where the operation is not defined.
  ReductionKernels kernels[static_cast<int>(ReductionOperation::kCount)]
                          [static_cast<int>(ReductionElement::kCount)];
};

#define GW_DECLARE_REDUCTION_KERNELS(isa)              \
  namespace isa {                                      \
  extern const ReductionKernelTable reduction_kernels; \
  }
GW_FOR_EACH_ISA(GW_DECLARE_REDUCTION_KERNELS)
#undef GW_DECLARE_REDUCTION_KERNELS

}  // namespace graphwright
