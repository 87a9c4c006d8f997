#include "kernels/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/thread_pool.h"

namespace graphwright::kernels {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

// Calls visit with a value of the type that elements of `dtype` are moved as.
template <class Visit>
void visit_storage(DType dtype, Visit visit) {
  if (dtype == DType::kString) {
    visit(StringElement());
    return;
  }
  if (has_object_elements(dtype)) {
    visit(ObjectPointer());
    return;
  }
  switch (dtype_size(dtype)) {
    case 1:
      visit(uint8_t());
      break;
    case 2:
      visit(uint16_t());
      break;
    case 4:
      visit(uint32_t());
      break;
    case 8:
      visit(uint64_t());
      break;
    default:
      visit(Bytes16());
  }
}

// A box with mergeable dimensions merged and those of size one dropped.
struct Box {
  static constexpr size_t kCapacity = 2 * kMaxRank;
  size_t rank = 0;
  std::array<int64_t, kCapacity> dims, source, target;

  void push(int64_t dim, int64_t source_stride, int64_t target_stride) {
    if (dim == 1) return;
    if (rank > 0 && source[rank - 1] == source_stride * dim &&
        target[rank - 1] == target_stride * dim) {
      dims[rank - 1] *= dim;
      source[rank - 1] = source_stride;
      target[rank - 1] = target_stride;
      return;
    }
    dims[rank] = dim;
    source[rank] = source_stride;
    target[rank] = target_stride;
    ++rank;
  }
};

template <class T>
void copy_row(const T* source, int64_t source_stride, T* target, int64_t target_stride,
              int64_t count) {
  if (source_stride == 1 && target_stride == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(target, source, static_cast<size_t>(count) * sizeof(T));
    } else {
      std::copy_n(source, count, target);
    }
  } else if (source_stride == 0 && target_stride == 1) {
    std::fill_n(target, count, *source);
  } else if (target_stride == 1) {
    for (int64_t i = 0; i < count; ++i) target[i] = source[i * source_stride];
  } else {
    for (int64_t i = 0; i < count; ++i) target[i * target_stride] = source[i * source_stride];
  }
}

// The two innermost dimensions. In a transposition neither row is contiguous on both sides: small
// square tiles keep the lines of both in the cache.
template <class T>
void copy_plane(const T* source, int64_t source_outer, int64_t source_inner, T* target,
                int64_t target_outer, int64_t target_inner, int64_t outer, int64_t inner) {
  constexpr int64_t kTile = 16;
  bool transposed = source_outer == 1 && source_inner != 1;
  if (!transposed || outer < 4 || inner < 4) {
    for (int64_t i = 0; i < outer; ++i) {
      copy_row(source + i * source_outer, source_inner, target + i * target_outer, target_inner,
               inner);
    }
    return;
  }
  for (int64_t i0 = 0; i0 < outer; i0 += kTile) {
    int64_t i1 = std::min(outer, i0 + kTile);
    for (int64_t j0 = 0; j0 < inner; j0 += kTile) {
      int64_t j1 = std::min(inner, j0 + kTile);
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) {
          target[i * target_outer + j * target_inner] = source[i * source_outer + j * source_inner];
        }
      }
    }
  }
}

template <class T>
void copy_box(const Box& box, const T* source, T* target) {
  if (box.rank == 0) {
    *target = *source;
    return;
  }
  if (box.rank == 1) {
    copy_row(source, box.source[0], target, box.target[0], box.dims[0]);
    return;
  }
  size_t outer_rank = box.rank - 2;
  int64_t planes = 1;
  for (size_t i = 0; i < outer_rank; ++i) planes *= box.dims[i];
  int64_t outer = box.dims[outer_rank], inner = box.dims[outer_rank + 1];
  auto plane = [&](int64_t index, int64_t begin, int64_t end) {
    int64_t source_offset = 0, target_offset = 0;
    for (size_t i = outer_rank; i-- > 0;) {
      int64_t position = index % box.dims[i];
      index /= box.dims[i];
      source_offset += position * box.source[i];
      target_offset += position * box.target[i];
    }
    int64_t source_outer = box.source[outer_rank], target_outer = box.target[outer_rank];
    copy_plane(source + source_offset + begin * source_outer, source_outer,
               box.source[outer_rank + 1], target + target_offset + begin * target_outer,
               target_outer, box.target[outer_rank + 1], end - begin, inner);
  };
  constexpr int64_t kGrain = 1 << 15;  // elements worth a thread's while
  if (planes > 1) {
    parallel_for(planes, std::max<int64_t>(1, kGrain / (outer * inner)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) plane(i, 0, outer);
                 });
  } else {
    parallel_for(outer, std::max<int64_t>(1, kGrain / inner),
                 [&](int64_t begin, int64_t end) { plane(0, begin, end); });
  }
}

}  // namespace

void strided_copy(DType dtype, std::span<const int64_t> dims, const void* source,
                  int64_t source_offset, std::span<const int64_t> source_strides, void* target,
                  int64_t target_offset, std::span<const int64_t> target_strides) {
  Box box;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) return;
    box.push(dims[i], source_strides[i], target_strides[i]);
  }
  visit_storage(dtype, [&](auto element) {
    using T = decltype(element);
    copy_box(box, static_cast<const T*>(source) + source_offset,
             static_cast<T*>(target) + target_offset);
  });
}

std::vector<int64_t> row_major_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

void fill_elements(DType dtype, void* target, int64_t count, const void* value) {
  if (count <= 0) return;
  visit_storage(dtype, [&](auto element) {
    using T = decltype(element);
    std::fill_n(static_cast<T*>(target), count, *static_cast<const T*>(value));
  });
}

void copy_elements(DType dtype, const void* source, int64_t source_offset, void* target,
                   int64_t target_offset, int64_t count) {
  if (count <= 0) return;
  visit_storage(dtype, [&](auto element) {
    using T = decltype(element);
    copy_row(static_cast<const T*>(source) + source_offset, 1,
             static_cast<T*>(target) + target_offset, 1, count);
  });
}

void clear_elements(DType dtype, void* target, int64_t count) {
  if (count <= 0) return;
  visit_storage(dtype, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memset(target, 0, static_cast<size_t>(count) * sizeof(T));
    } else {
      std::fill_n(static_cast<T*>(target), count, T());
    }
  });
}

void broadcast_to(const Tensor& input, Tensor& output) {
  std::vector<int64_t> strides(static_cast<size_t>(output.rank()), 0);
  int64_t stride = 1;
  size_t shift = static_cast<size_t>(output.rank() - input.rank());
  for (int i = input.rank(); i-- > 0;) {
    if (input.dim(i) != 1) strides[static_cast<size_t>(i) + shift] = stride;
    stride *= input.dim(i);
  }
  std::vector<int64_t> target = row_major_strides(output.dims());
  strided_copy(output.dtype(), output.dims(), input.raw_data(), 0, strides,
               output.mutable_raw_data(), 0, target);
}

void transpose(const Tensor& input, std::span<const int> permutation, Tensor& output) {
  std::vector<int64_t> input_strides = row_major_strides(input.dims());
  std::vector<int64_t> strides(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    strides[i] = input_strides[static_cast<size_t>(permutation[i])];
  }
  std::vector<int64_t> target = row_major_strides(output.dims());
  strided_copy(output.dtype(), output.dims(), input.raw_data(), 0, strides,
               output.mutable_raw_data(), 0, target);
}

}  // namespace graphwright::kernels
