#include "kernels/reduction.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/cast.h"
#include "kernels/reduction_kernels.h"

namespace graphwright {

namespace {

constexpr int64_t kGrainElements = 32768;  // input elements per task

const ReductionKernelTable& table_of(Isa isa) {
#define GW_REDUCTION_TABLE(name) &name::reduction_kernels,
  static const ReductionKernelTable* const kTables[] = {GW_FOR_EACH_ISA(GW_REDUCTION_TABLE)};
#undef GW_REDUCTION_TABLE
  return *kTables[static_cast<int>(isa)];
}

// The dtype that elements are reduced in.
DType accumulator_type(ReductionKind kind, DType type) {
  const bool mean = kind == ReductionKind::kMean;
  if (type == DType::kBool) return DType::kUint32;
  if (type == DType::kHalf || type == DType::kBfloat16) return DType::kFloat;
  if (kSignedInteger.contains(type)) {
    return mean || type == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  }
  if (kUnsignedInteger.contains(type)) {
    return mean || type == DType::kUint64 ? DType::kUint64 : DType::kUint32;
  }
  return type;
}

ReductionElement element_of(DType type) {
  switch (type) {
    case DType::kFloat:
      return ReductionElement::kFloat;
    case DType::kDouble:
      return ReductionElement::kDouble;
    case DType::kInt32:
      return ReductionElement::kInt32;
    case DType::kInt64:
      return ReductionElement::kInt64;
    case DType::kUint32:
      return ReductionElement::kUint32;
    case DType::kUint64:
      return ReductionElement::kUint64;
    case DType::kComplex64:
      return ReductionElement::kComplex64;
    default:
      return ReductionElement::kComplex128;
  }
}

ReductionOperation operation_of(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::kProduct:
      return ReductionOperation::kProduct;
    case ReductionKind::kMaximum:
    case ReductionKind::kAny:
      return ReductionOperation::kMaximum;
    case ReductionKind::kMinimum:
    case ReductionKind::kAll:
      return ReductionOperation::kMinimum;
    default:
      return ReductionOperation::kSum;
  }
}

// One reduction of [outer, rows, columns] over the rows.
struct Task {
  const ReductionKernels* kernels;
  DType type;         // of the input
  DType accumulator;  // of the results
  const char* input;
  int64_t outer, rows, columns;
  char* results;  // [outer, columns] accumulators

  int64_t element_bytes() const { return static_cast<int64_t>(dtype_size(type)); }
  int64_t accumulator_bytes() const { return static_cast<int64_t>(dtype_size(accumulator)); }
  int64_t chunks() const {
    return std::max<int64_t>(1, (rows + kReductionChunk - 1) / kReductionChunk);
  }
};

// `count` contiguous input elements in the accumulator's dtype: as they are, or in `buffer`.
const char* load(const Task& task, const char* elements, int64_t count, char* buffer) {
  if (task.type == task.accumulator) return elements;
  cast_elements(task.type, elements, task.accumulator, buffer, count);
  return buffer;
}

// Chunk `chunk` of a contiguous sequence.
void run_chunk(const Task& task, int64_t outer, int64_t chunk, char* result) {
  alignas(64) char buffer[kReductionChunk * 8];
  const int64_t first = chunk * kReductionChunk;
  const int64_t count = std::min(kReductionChunk, task.rows - first);
  const char* elements = task.input + (outer * task.rows + first) * task.element_bytes();
  task.kernels->run(load(task, elements, count, buffer), count, result);
}

// Chunk `chunk` of the rows, for up to kReductionColumns columns.
void run_columns(const Task& task, int64_t outer, int64_t chunk, int64_t first_column,
                 char* result) {
  alignas(64) char scratch[kReductionScratchBytes];
  alignas(64) char buffer[kReductionColumns * 8];
  const int64_t columns = std::min(kReductionColumns, task.columns - first_column);
  const int64_t first = chunk * kReductionChunk;
  const int64_t rows = std::min(kReductionChunk, task.rows - first);
  const char* elements = task.input + ((outer * task.rows + first) * task.columns + first_column) *
                                          task.element_bytes();
  if (task.type == task.accumulator) {
    task.kernels->fold_rows(scratch, elements, task.columns, 0, rows, columns);
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      const char* at = elements + row * task.columns * task.element_bytes();
      task.kernels->fold_rows(scratch, load(task, at, columns, buffer), 0, row, 1, columns);
    }
  }
  task.kernels->finish_rows(scratch, rows, columns, result);
}

// partials[0] = the combination of `count` partial results of `width` accumulators, in pairs of
// neighbours level by level.
void combine_pairwise(const Task& task, char* partials, int64_t count, int64_t width) {
  const int64_t bytes = width * task.accumulator_bytes();
  for (int64_t distance = 1; distance < count; distance *= 2) {
    for (int64_t i = 0; i + distance < count; i += 2 * distance) {
      task.kernels->combine(partials + i * bytes, partials + (i + distance) * bytes, width);
    }
  }
}

void run_task(const Task& task) {
  const int64_t chunks = task.chunks();
  const int64_t bytes = task.accumulator_bytes();
  const bool by_columns = task.columns != 1;
  const int64_t width = by_columns ? kReductionColumns : 1;
  const int64_t blocks = (task.columns + width - 1) / width;
  const int64_t outputs = task.outer * blocks;
  const auto run = [&](int64_t output, int64_t chunk, char* result) {
    if (by_columns) {
      run_columns(task, output / blocks, chunk, output % blocks * width, result);
    } else {
      run_chunk(task, output, chunk, result);
    }
  };
  const auto result_of = [&](int64_t output) {
    return task.results + (output / blocks * task.columns + output % blocks * width) * bytes;
  };
  if (chunks == 1) {
    const int64_t per_output = std::max<int64_t>(1, task.rows * width);
    parallel_for(outputs, std::max<int64_t>(1, kGrainElements / per_output),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) run(i, 0, result_of(i));
                 });
    return;
  }
  const int64_t stride = width * bytes;
  std::vector<char> partials(static_cast<size_t>(outputs * chunks * stride));
  const int64_t per_item = kReductionChunk * width;
  parallel_for(outputs * chunks, std::max<int64_t>(1, kGrainElements / per_item),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   run(i / chunks, i % chunks, partials.data() + i * stride);
                 }
               });
  for (int64_t i = 0; i < outputs; ++i) {
    char* first = partials.data() + i * chunks * stride;
    const int64_t columns = by_columns ? std::min(width, task.columns - i % blocks * width) : 1;
    combine_pairwise(task, first, chunks, width);
    std::memcpy(result_of(i), first, static_cast<size_t>(columns * bytes));
  }
}

// The input with its kept axes first, in order, then the reduced ones: each output's elements then
// lie together, in the same order as before.
std::vector<char> kept_axes_first(const char* input, std::span<const int64_t> dims,
                                  const std::vector<bool>& reduced, int64_t element_bytes) {
  std::vector<size_t> order;
  for (bool pass : {false, true}) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (reduced[d] == pass) order.push_back(d);
    }
  }
  std::vector<int64_t> strides(dims.size(), element_bytes);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<char> result(static_cast<size_t>(count * element_bytes));
  std::vector<int64_t> index(dims.size(), 0);
  const char* at = input;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(result.data() + i * element_bytes, at, static_cast<size_t>(element_bytes));
    for (size_t d = order.size(); d-- > 0;) {
      const size_t axis = order[d];
      at += strides[axis];
      if (++index[axis] < dims[axis]) break;
      at -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return result;
}

// The identities of maximum and minimum in int8 and int16, which do not survive the way back from
// the wider type.
bool fill_narrow_identity(ReductionKind kind, DType type, void* result, int64_t outputs) {
  if (kind != ReductionKind::kMaximum && kind != ReductionKind::kMinimum) return false;
  const bool least = kind == ReductionKind::kMaximum;
  if (type == DType::kInt8) {
    std::fill_n(static_cast<int8_t*>(result), outputs, least ? INT8_MIN : INT8_MAX);
  } else if (type == DType::kInt16) {
    std::fill_n(static_cast<int16_t*>(result), outputs, least ? INT16_MIN : INT16_MAX);
  } else {
    return false;
  }
  return true;
}

// Divides sums by the number of elements.
void divide(DType type, void* sums, int64_t outputs, int64_t count) {
  const auto each = [outputs]<class T>(T* values, int64_t parts, T divisor) {
    for (int64_t i = 0; i < outputs * parts; ++i) values[i] = values[i] / divisor;
  };
  switch (type) {
    case DType::kFloat:
      return each(static_cast<float*>(sums), 1, static_cast<float>(count));
    case DType::kDouble:
      return each(static_cast<double*>(sums), 1, static_cast<double>(count));
    case DType::kComplex64:
      return count ? each(static_cast<float*>(sums), 2, static_cast<float>(count)) : void();
    case DType::kComplex128:
      return count ? each(static_cast<double*>(sums), 2, static_cast<double>(count)) : void();
    case DType::kInt64:
      return count ? each(static_cast<int64_t*>(sums), 1, count) : void();
    default:
      return count ? each(static_cast<uint64_t*>(sums), 1, static_cast<uint64_t>(count)) : void();
  }
}

}  // namespace

DTypeSet reduction_types(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::kAll:
    case ReductionKind::kAny:
      return DTypeSet::of(DType::kBool);
    case ReductionKind::kMaximum:
    case ReductionKind::kMinimum:
      return kRealNumeric;
    default:
      return kNumeric;
  }
}

void reduce_at_width(Isa isa, ReductionKind kind, DType type, const void* input,
                     std::span<const int64_t> dims, const std::vector<bool>& reduced,
                     void* result) {
  // Neighbouring axes of one kind become one; axes of one element vanish.
  std::vector<int64_t> merged;
  std::vector<bool> merged_reduced;
  int64_t outputs = 1, count = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    (reduced[d] ? count : outputs) *= dims[d];
    if (dims[d] == 1) continue;
    if (!merged.empty() && merged_reduced.back() == reduced[d]) {
      merged.back() *= dims[d];
    } else {
      merged.push_back(dims[d]);
      merged_reduced.push_back(reduced[d]);
    }
  }
  if (outputs == 0) return;
  const int64_t element_bytes = static_cast<int64_t>(dtype_size(type));
  if (count == 1) {
    std::memcpy(result, input, static_cast<size_t>(outputs * element_bytes));
    return;
  }
  if (count == 0 && fill_narrow_identity(kind, type, result, outputs)) return;
  Task task{};
  task.type = type;
  task.accumulator = accumulator_type(kind, type);
  task.kernels = &table_of(isa).kernels[static_cast<int>(operation_of(kind))]
                                       [static_cast<int>(element_of(task.accumulator))];
  task.input = static_cast<const char*>(input);
  const size_t first_reduced = merged_reduced.empty() || merged_reduced[0] ? 0 : 1;
  std::vector<char> rearranged;
  if (merged.size() <= first_reduced + 2) {
    // [outer, reduced, inner], of which outer and inner may be missing.
    task.outer = first_reduced == 1 ? merged[0] : 1;
    task.rows = count;
    task.columns = merged.size() == first_reduced + 2 ? merged[first_reduced + 1] : 1;
  } else {
    rearranged = kept_axes_first(task.input, merged, merged_reduced, element_bytes);
    task.input = rearranged.data();
    task.outer = outputs;
    task.rows = count;
    task.columns = 1;
  }
  const bool direct = type == task.accumulator;
  std::vector<char> accumulators;
  if (direct) {
    task.results = static_cast<char*>(result);
  } else {
    accumulators.resize(static_cast<size_t>(outputs * task.accumulator_bytes()));
    task.results = accumulators.data();
  }
  run_task(task);
  if (kind == ReductionKind::kMean) divide(task.accumulator, task.results, outputs, count);
  if (!direct) cast_elements(task.accumulator, accumulators.data(), type, result, outputs);
}

void reduce(ReductionKind kind, DType type, const void* input, std::span<const int64_t> dims,
            const std::vector<bool>& reduced, void* result) {
  reduce_at_width(current_isa(), kind, type, input, dims, reduced, result);
}

namespace {

template <class T>
void arg_reduce_as(bool largest, const T* input, int64_t outer, int64_t size, int64_t inner,
                   int64_t* result) {
  const int64_t per_outer = std::max<int64_t>(1, size * inner);
  parallel_for(outer, std::max<int64_t>(1, kGrainElements / per_outer),
               [&](int64_t begin, int64_t end) {
                 for (int64_t o = begin; o < end; ++o) {
                   for (int64_t i = 0; i < inner; ++i) {
                     const T* at = input + o * size * inner + i;
                     int64_t best = -1;
                     T value{};
                     for (int64_t k = 0; k < size; ++k) {
                       const T candidate = at[k * inner];
                       if (candidate != candidate) continue;
                       if (best < 0 || (largest ? candidate > value : candidate < value)) {
                         best = k;
                         value = candidate;
                       }
                     }
                     result[o * inner + i] = std::max<int64_t>(best, 0);
                   }
                 }
               });
}

}  // namespace

void arg_reduce(bool largest, DType type, const void* input, int64_t outer, int64_t size,
                int64_t inner, int64_t* result) {
  switch (type) {
    case DType::kFloat:
      return arg_reduce_as(largest, static_cast<const float*>(input), outer, size, inner, result);
    case DType::kDouble:
      return arg_reduce_as(largest, static_cast<const double*>(input), outer, size, inner, result);
    case DType::kInt64:
      return arg_reduce_as(largest, static_cast<const int64_t*>(input), outer, size, inner, result);
    case DType::kUint64:
      return arg_reduce_as(largest, static_cast<const uint64_t*>(input), outer, size, inner,
                           result);
    default: {
      // A wider type that holds every value.
      const DType wide = is_floating(type) ? DType::kFloat : DType::kInt64;
      const int64_t count = outer * size * inner;
      std::vector<char> values(static_cast<size_t>(count) * dtype_size(wide));
      cast_elements(type, input, wide, values.data(), count);
      return arg_reduce(largest, wide, values.data(), outer, size, inner, result);
    }
  }
}

}  // namespace graphwright
