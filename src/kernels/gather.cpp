#include "kernels/gather.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/number.h"
#include "kernels/strided_copy.h"

namespace graphwright::kernels {
namespace {

int64_t product(std::span<const int64_t> dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

template <class Index>
int64_t gather_slices(const Tensor& params, const Tensor& indices, int axis, int batch_dims,
                      Tensor& output) {
  const Index* index = indices.data<Index>();
  const int64_t batches = product(indices.dims().first(static_cast<size_t>(batch_dims)));
  const int64_t per_batch = product(indices.dims().subspan(static_cast<size_t>(batch_dims)));
  const int64_t outer = product(params.dims().subspan(static_cast<size_t>(batch_dims),
                                                      static_cast<size_t>(axis - batch_dims)));
  const int64_t bound = params.dim(axis);
  const int64_t inner = product(params.dims().subspan(static_cast<size_t>(axis) + 1));
  // The lowest position is reported, whatever the threads' order.
  std::atomic<int64_t> bad{INT64_MAX};
  const bool plain = !has_object_elements(params.dtype());
  const size_t bytes = static_cast<size_t>(inner) * dtype_size(params.dtype());
  const char* source = static_cast<const char*>(params.raw_data());
  char* target = static_cast<char*>(output.mutable_raw_data());
  int64_t rows = batches * outer * per_batch;
  int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, inner));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t batch = row / (outer * per_batch);
      int64_t at = batch * per_batch + row % per_batch;
      int64_t chosen = static_cast<int64_t>(index[at]);
      if (chosen < 0 || chosen >= bound) {
        int64_t seen = bad.load(std::memory_order_relaxed);
        while (at < seen && !bad.compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
        }
        continue;
      }
      int64_t from = row / per_batch * bound + chosen;
      if (plain) {
        std::memcpy(target + static_cast<size_t>(row) * bytes,
                    source + static_cast<size_t>(from) * bytes, bytes);
      } else {
        copy_elements(params.dtype(), source, from * inner, target, row * inner, inner);
      }
    }
  });
  int64_t position = bad.load(std::memory_order_relaxed);
  return position == INT64_MAX ? -1 : position;
}

}  // namespace

int64_t gather(const Tensor& params, const Tensor& indices, int axis, int batch_dims,
               Tensor& output) {
  switch (indices.dtype()) {
    case DType::kInt16:
      return gather_slices<int16_t>(params, indices, axis, batch_dims, output);
    case DType::kInt32:
      return gather_slices<int32_t>(params, indices, axis, batch_dims, output);
    default:
      return gather_slices<int64_t>(params, indices, axis, batch_dims, output);
  }
}

bool add_elements(DType dtype, const void* source, int64_t source_offset, void* target,
                  int64_t target_offset, int64_t count) {
  return visit_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(source) + source_offset;
    T* to = static_cast<T*>(target) + target_offset;
    for (int64_t i = 0; i < count; ++i) to[i] = wrapping_add(to[i], from[i]);
  });
}

}  // namespace graphwright::kernels
