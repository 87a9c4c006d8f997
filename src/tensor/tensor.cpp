#include "tensor/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/status.h"

namespace graphwright {
namespace {

static_assert(sizeof(StringElement) <= kInlineBytes && sizeof(ObjectPointer) <= kInlineBytes,
              "one string or object is kept inside the tensor");

template <class T>
void destroy_elements(Buffer* buffer) {
  std::destroy_n(static_cast<T*>(buffer->data()), buffer->element_count);
}

// Default-constructs the elements, and leaves word of how to destroy them in the buffer.
template <class T>
void construct_elements(TensorImpl* impl) {
  std::uninitialized_value_construct_n(static_cast<T*>(impl->data), impl->element_count);
  if (impl->buffer) {
    impl->buffer->element_count = impl->element_count;
    impl->buffer->destroy = destroy_elements<T>;
  }
}

// An impl with dtype and shape, without data.
TensorImpl* new_impl(DType dtype, std::span<const int64_t> dims, int64_t element_count) {
  auto* impl = static_cast<TensorImpl*>(allocate_object());
  new (&impl->references) std::atomic<int32_t>(1);
  impl->dtype = dtype;
  impl->rank = static_cast<uint8_t>(dims.size());
  impl->flags = 0;
  impl->device = 0;
  impl->element_count = element_count;
  impl->buffer = nullptr;
  if (dims.size() <= static_cast<size_t>(kInlineRank)) [[likely]] {
    std::copy(dims.begin(), dims.end(), impl->inline_dims);
  } else {
    auto* heap = static_cast<int64_t*>(std::malloc(dims.size() * sizeof(int64_t)));
    if (!heap) {
      free_object(impl);
      throw Error(Code::kResourceExhausted, "Out of memory for a tensor's dimensions.");
    }
    std::copy(dims.begin(), dims.end(), heap);
    std::memcpy(impl->inline_dims, &heap, sizeof heap);
  }
  return impl;
}

void free_impl(TensorImpl* impl) {
  if (impl->rank > kInlineRank) std::free(const_cast<int64_t*>(impl->dims()));
  free_object(impl);
}

// A tensor that shares `source`'s elements from `data` on.
TensorImpl* share_elements(const TensorImpl* source, void* data, std::span<const int64_t> dims,
                           int64_t element_count) {
  TensorImpl* impl = new_impl(source->dtype, dims, element_count);
  impl->device = source->device;
  impl->flags = source->flags;
  impl->data = data;
  impl->buffer = source->buffer;
  if (impl->buffer) retain_buffer(impl->buffer);
  return impl;
}

Tensor copy_elements(DType dtype, const void* data, std::span<const int64_t> dims) {
  Tensor result = Tensor::empty(dtype, dims);
  int64_t count = result.element_count();
  if (dtype == DType::kString) {
    std::copy_n(static_cast<const StringElement*>(data), count,
                result.mutable_data<StringElement>());
  } else if (has_object_elements(dtype)) {
    std::copy_n(static_cast<const ObjectPointer*>(data), count,
                result.mutable_data<ObjectPointer>());
  } else if (count > 0) {
    std::memcpy(result.mutable_raw_data(), data, result.byte_size());
  }
  return result;
}

}  // namespace

int64_t checked_element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) {
      throw_invalid_argument("Dimensions must be at least 0, but the shape is " +
                             dims_to_string(dims) + ".");
    }
    // A zero anywhere makes the tensor empty, however large the others are.
    empty = empty || dim == 0;
    overflow = overflow || __builtin_mul_overflow(count, dim, &count);
  }
  if (empty) return 0;
  if (overflow) {
    throw_invalid_argument("Shape " + dims_to_string(dims) +
                           " would have more than 2**63 - 1 elements.");
  }
  return count;
}

void destroy_tensor(TensorImpl* impl) {
  if (impl->buffer) {
    release_buffer(impl->buffer);
  } else if (has_object_elements(impl->dtype) && !(impl->flags & TensorImpl::kBorrowed)) {
    if (impl->dtype == DType::kString) {
      std::destroy_n(static_cast<StringElement*>(impl->data), impl->element_count);
    } else {
      std::destroy_n(static_cast<ObjectPointer*>(impl->data), impl->element_count);
    }
  }
  free_impl(impl);
}

namespace {

[[noreturn, gnu::cold]] void throw_no_room(const Error& error, DType dtype,
                                           std::span<const int64_t> dims) {
  throw Error(error.detail().code, "OOM when allocating tensor with shape" + dims_to_string(dims) +
                                       " and type " + std::string(dtype_name(dtype)) + ". " +
                                       error.detail().message);
}

}  // namespace

Tensor Tensor::empty(DType dtype, std::span<const int64_t> dims) {
  size_t element_size = dtype_size(dtype);
  if (element_size == 0) [[unlikely]]
    throw_invalid_argument("A tensor needs a valid dtype.");
  if (dims.size() > static_cast<size_t>(kMaxRank)) [[unlikely]] {
    throw_invalid_argument("A tensor has at most " + std::to_string(kMaxRank) +
                           " dimensions, but the shape has " + std::to_string(dims.size()) + ".");
  }
  int64_t count = checked_element_count(dims);
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(count), element_size, &bytes) ||
      bytes > static_cast<size_t>(PTRDIFF_MAX)) [[unlikely]] {
    throw_invalid_argument("A tensor of shape " + dims_to_string(dims) + " and dtype " +
                           std::string(dtype_name(dtype)) + " exceeds the address space.");
  }
  TensorImpl* impl = new_impl(dtype, dims, count);
  if (bytes <= kInlineBytes) {
    impl->data = impl->inline_data;
  } else {
    try {
      impl->buffer = allocate_buffer(bytes);
    } catch (const Error& error) {
      free_impl(impl);
      throw_no_room(error, dtype, dims);
    }
    impl->data = impl->buffer->data();
  }
  if (has_object_elements(dtype)) {
    if (dtype == DType::kString) {
      construct_elements<StringElement>(impl);
    } else {
      construct_elements<ObjectPointer>(impl);
    }
  }
  return Tensor(impl);
}

Tensor Tensor::zeros(DType dtype, std::span<const int64_t> dims) {
  Tensor result = empty(dtype, dims);
  if (!has_object_elements(dtype) && result.element_count() > 0) {
    std::memset(result.mutable_raw_data(), 0, result.byte_size());
  }
  return result;
}

Tensor Tensor::from_buffer(DType dtype, std::span<const int64_t> dims, Buffer* buffer) {
  int64_t count = checked_element_count(dims);
  if (static_cast<size_t>(count) * dtype_size(dtype) > buffer->bytes) {
    throw_internal("A buffer is too small for the tensor made from it.");
  }
  TensorImpl* impl = new_impl(dtype, dims, count);
  impl->buffer = buffer;
  impl->data = buffer->data();
  return Tensor(impl);
}

Tensor Tensor::object(DType dtype, ObjectPointer object) {
  if (dtype != DType::kResource && dtype != DType::kVariant) {
    throw_internal("An object tensor has dtype resource or variant.");
  }
  return scalar<ObjectPointer>(dtype, std::move(object));
}

bool Tensor::is_unique() const {
  if (impl_->references.load(std::memory_order_acquire) != 1) return false;
  if (impl_->flags & TensorImpl::kBorrowed) return false;
  // Foreign memory may be visible to its owner whatever our own count says.
  return !impl_->buffer || (impl_->buffer->references.load(std::memory_order_acquire) == 1 &&
                            impl_->buffer->size_class != -2);
}

Tensor Tensor::reshaped(std::span<const int64_t> dims) const {
  int64_t count = checked_element_count(dims);
  if (count != element_count() || dims.size() > static_cast<size_t>(kMaxRank)) {
    throw_invalid_argument("A tensor of shape " + dims_to_string(this->dims()) +
                           " cannot be reshaped to " + dims_to_string(dims) + ".");
  }
  bool shareable = impl_->buffer || (impl_->flags & TensorImpl::kBorrowed);
  if (!shareable) return copy_elements(dtype(), raw_data(), dims);
  return Tensor(share_elements(impl_, impl_->data, dims, count));
}

Tensor Tensor::view(int64_t offset, std::span<const int64_t> dims) const {
  int64_t count = checked_element_count(dims);
  if (offset < 0 || offset > element_count() || count > element_count() - offset) {
    throw_invalid_argument("A view of " + std::to_string(count) + " elements from " +
                           std::to_string(offset) + " on does not fit into a tensor of shape " +
                           dims_to_string(this->dims()) + ".");
  }
  char* data = static_cast<char*>(impl_->data) + static_cast<size_t>(offset) * dtype_size(dtype());
  bool shareable = impl_->buffer && !has_object_elements(dtype());
  if (!shareable) return copy_elements(dtype(), data, dims);
  return Tensor(share_elements(impl_, data, dims, count));
}

Tensor Tensor::copy() const { return copy_elements(dtype(), raw_data(), dims()); }

}  // namespace graphwright
