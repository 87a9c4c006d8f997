#include "kernels/elementwise.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/thread_pool.h"
#include "tensor/shape.h"

namespace graphwright {

namespace {

// Elements per task: some microseconds of work for the cheapest formulas.
constexpr int64_t kGrain = 32768;
// Rows shorter than this are packed into blocks, since a kernel call costs some nanoseconds.
constexpr int64_t kShortRow = 32;
constexpr int64_t kBlock = 512;
constexpr int64_t kNoError = -1;

class FirstError {
 public:
  void add(int64_t index) {
    int64_t seen = first_.load(std::memory_order_relaxed);
    while (index < seen && !first_.compare_exchange_weak(seen, index)) {
    }
  }
  int64_t index() const {
    int64_t first = first_.load();
    return first == kNone ? kNoError : first;
  }

 private:
  static constexpr int64_t kNone = INT64_MAX;
  std::atomic<int64_t> first_{kNone};
};

// The result's dims with those merged that all operands walk through evenly; ones are dropped.
struct Walk {
  int rank = 0;
  int operand_count = 0;
  int64_t dims[kMaxRank];
  int64_t strides[kMaxFormulaOperands][kMaxRank];  // in elements; 0 where broadcast
  const char* data[kMaxFormulaOperands];
  int64_t element_bytes[kMaxFormulaOperands];
  int64_t result_bytes;
  char* result;

  bool is_flat(int operand) const {  // walks through memory as the result does
    int64_t expected = 1;
    for (int d = rank - 1; d >= 0; --d) {
      if (strides[operand][d] != expected) return false;
      expected *= dims[d];
    }
    return true;
  }
  bool is_repeated(int operand) const {
    return std::all_of(strides[operand], strides[operand] + rank,
                       [](int64_t stride) { return stride == 0; });
  }
};

void collapse(Walk& walk, std::span<const int64_t> dims,
              std::span<const ElementwiseOperand> operands) {
  const int rank = static_cast<int>(dims.size());
  walk.operand_count = static_cast<int>(operands.size());
  int64_t contiguous[kMaxFormulaOperands] = {1, 1, 1};
  // From the last dim to the first; collected in reverse.
  for (int d = rank - 1; d >= 0; --d) {
    int64_t strides[kMaxFormulaOperands];
    for (int k = 0; k < walk.operand_count; ++k) {
      const ElementwiseOperand& operand = operands[static_cast<size_t>(k)];
      const int own = d - (rank - static_cast<int>(operand.dims.size()));
      const int64_t dim = own >= 0 ? operand.dims[static_cast<size_t>(own)] : 1;
      if (dim == 1) {
        strides[k] = 0;
      } else {
        strides[k] =
            operand.strides.empty() ? contiguous[k] : operand.strides[static_cast<size_t>(own)];
        contiguous[k] *= dim;
      }
    }
    const int64_t dim = dims[static_cast<size_t>(d)];
    if (dim == 1) continue;
    bool merges = walk.rank > 0;
    for (int k = 0; k < walk.operand_count && merges; ++k) {
      const int last = walk.rank - 1;
      merges = strides[k] == walk.strides[k][last] * walk.dims[last];
    }
    if (merges) {
      walk.dims[walk.rank - 1] *= dim;
    } else {
      walk.dims[walk.rank] = dim;
      for (int k = 0; k < walk.operand_count; ++k) walk.strides[k][walk.rank] = strides[k];
      ++walk.rank;
    }
  }
  if (walk.rank == 0) {
    walk.rank = 1;
    walk.dims[0] = 1;
    for (int k = 0; k < walk.operand_count; ++k) walk.strides[k][0] = 0;
  }
  std::reverse(walk.dims, walk.dims + walk.rank);
  for (int k = 0; k < walk.operand_count; ++k) {
    std::reverse(walk.strides[k], walk.strides[k] + walk.rank);
  }
}

// A position in the result and the operands' element offsets there.
struct Position {
  int64_t index[kMaxRank];
  int64_t offsets[kMaxFormulaOperands];

  void start(const Walk& walk, int64_t flat) {
    std::fill_n(offsets, walk.operand_count, 0);
    for (int d = walk.rank - 1; d >= 0; --d) {
      index[d] = flat % walk.dims[d];
      flat /= walk.dims[d];
      for (int k = 0; k < walk.operand_count; ++k) offsets[k] += index[d] * walk.strides[k][d];
    }
  }
  // Moves on by `count` elements, which do not reach beyond the end of the innermost dim.
  void advance(const Walk& walk, int64_t count) {
    int d = walk.rank - 1;
    index[d] += count;
    for (int k = 0; k < walk.operand_count; ++k) offsets[k] += count * walk.strides[k][d];
    while (d > 0 && index[d] == walk.dims[d]) {
      for (int k = 0; k < walk.operand_count; ++k) {
        offsets[k] += walk.strides[k][d - 1] - walk.dims[d] * walk.strides[k][d];
      }
      index[d] = 0;
      ++index[--d];
    }
  }
  int64_t row_left(const Walk& walk) const {
    return walk.dims[walk.rank - 1] - index[walk.rank - 1];
  }
};

template <class T>
void gather_as(const T* from, int64_t stride, char* to, int64_t count) {
  T* target = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) target[i] = from[i * stride];
}

struct Sixteen {
  uint64_t halves[2];
};

void gather(const char* from, int64_t stride, char* to, int64_t count, int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return gather_as(reinterpret_cast<const uint8_t*>(from), stride, to, count);
    case 2:
      return gather_as(reinterpret_cast<const uint16_t*>(from), stride, to, count);
    case 4:
      return gather_as(reinterpret_cast<const uint32_t*>(from), stride, to, count);
    case 8:
      return gather_as(reinterpret_cast<const uint64_t*>(from), stride, to, count);
    default:
      return gather_as(reinterpret_cast<const Sixteen*>(from), stride, to, count);
  }
}

// Row by row, straight from the operands.
int64_t run_rows(const Walk& walk, ElementwiseKernel kernel, int64_t begin, int64_t end) {
  Position position;
  position.start(walk, begin);
  int64_t steps[kMaxFormulaOperands] = {};
  for (int k = 0; k < walk.operand_count; ++k) steps[k] = walk.strides[k][walk.rank - 1];
  while (begin < end) {
    const int64_t count = std::min(position.row_left(walk), end - begin);
    const void* operands[kMaxFormulaOperands];
    for (int k = 0; k < walk.operand_count; ++k) {
      operands[k] = walk.data[k] + position.offsets[k] * walk.element_bytes[k];
    }
    int64_t error = kernel(walk.result + begin * walk.result_bytes, operands, steps, count);
    if (error >= 0) return begin + error;
    position.advance(walk, count);
    begin += count;
  }
  return kNoError;
}

// Block by block, with operands that do not walk as the result does packed.
int64_t run_packed(const Walk& walk, ElementwiseKernel kernel, int64_t begin, int64_t end) {
  alignas(64) char packed[kMaxFormulaOperands][kBlock * sizeof(Sixteen)];
  enum { kFlat, kRepeated, kPacked } kinds[kMaxFormulaOperands];
  int64_t steps[kMaxFormulaOperands] = {};
  const void* operands[kMaxFormulaOperands] = {};
  for (int k = 0; k < walk.operand_count; ++k) {
    kinds[k] = walk.is_repeated(k) ? kRepeated : walk.is_flat(k) ? kFlat : kPacked;
    steps[k] = kinds[k] == kRepeated ? 0 : 1;
    operands[k] = kinds[k] == kPacked ? packed[k] : walk.data[k];
  }
  Position position;
  position.start(walk, begin);
  while (begin < end) {
    const int64_t block = std::min(kBlock, end - begin);
    for (int64_t done = 0; done < block;) {
      const int64_t count = std::min(position.row_left(walk), block - done);
      for (int k = 0; k < walk.operand_count; ++k) {
        if (kinds[k] != kPacked) continue;
        gather(walk.data[k] + position.offsets[k] * walk.element_bytes[k],
               walk.strides[k][walk.rank - 1], packed[k] + done * walk.element_bytes[k], count,
               walk.element_bytes[k]);
      }
      position.advance(walk, count);
      done += count;
    }
    for (int k = 0; k < walk.operand_count; ++k) {
      if (kinds[k] == kFlat) operands[k] = walk.data[k] + begin * walk.element_bytes[k];
    }
    int64_t error = kernel(walk.result + begin * walk.result_bytes, operands, steps, block);
    if (error >= 0) return begin + error;
    begin += block;
  }
  return kNoError;
}

}  // namespace

int64_t run_elementwise_flat(ElementwiseKernel kernel, const FormulaSignature& signature,
                             DType type, void* result, const void* const* operands,
                             const int64_t* steps, int64_t count) {
  if (count <= kGrain) return kernel(result, operands, steps, count);
  int64_t bytes[kMaxFormulaOperands] = {};
  for (int k = 0; k < signature.arity; ++k) {
    bytes[k] =
        steps[k] ? static_cast<int64_t>(dtype_size(operand_dtype(signature.operands[k], type))) : 0;
  }
  const int64_t result_bytes =
      static_cast<int64_t>(dtype_size(operand_dtype(signature.result, type)));
  FirstError first_error;
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    const void* shifted[kMaxFormulaOperands] = {};
    for (int k = 0; k < signature.arity; ++k) {
      shifted[k] = static_cast<const char*>(operands[k]) + begin * bytes[k];
    }
    int64_t error =
        kernel(static_cast<char*>(result) + begin * result_bytes, shifted, steps, end - begin);
    if (error >= 0) first_error.add(begin + error);
  });
  return first_error.index();
}

int64_t run_elementwise(const FormulaDescriptor& formula, DType type, void* result,
                        std::span<const int64_t> dims,
                        std::span<const ElementwiseOperand> operands) {
  const FormulaSignature& signature = formula.signature;
  ElementwiseKernel kernel = formula.elementwise(type);
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  if (count == 0) return kNoError;

  Walk walk;
  collapse(walk, dims, operands);
  for (int k = 0; k < walk.operand_count; ++k) {
    walk.data[k] = static_cast<const char*>(operands[static_cast<size_t>(k)].data);
    walk.element_bytes[k] =
        static_cast<int64_t>(dtype_size(operand_dtype(signature.operands[k], type)));
  }
  walk.result = static_cast<char*>(result);
  walk.result_bytes = static_cast<int64_t>(dtype_size(operand_dtype(signature.result, type)));

  bool even = true;  // inner steps are 0 or 1
  for (int k = 0; k < walk.operand_count; ++k) {
    const int64_t step = walk.strides[k][walk.rank - 1];
    even = even && (step == 0 || step == 1);
  }
  if (walk.rank == 1 && even) {
    const void* data[kMaxFormulaOperands] = {};
    int64_t steps[kMaxFormulaOperands] = {};
    for (int k = 0; k < walk.operand_count; ++k) {
      data[k] = walk.data[k];
      steps[k] = walk.strides[k][0];
    }
    return run_elementwise_flat(kernel, signature, type, result, data, steps, count);
  }
  const bool by_rows = even && walk.dims[walk.rank - 1] >= kShortRow;
  FirstError first_error;
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    int64_t error =
        by_rows ? run_rows(walk, kernel, begin, end) : run_packed(walk, kernel, begin, end);
    if (error >= 0) first_error.add(error);
  });
  return first_error.index();
}

}  // namespace graphwright
