// Tensors: dense, contiguous, row-major values with a dtype and a known shape; immutable once
// shared. `Tensor` is a reference to a `TensorImpl`, 8 bytes, cheap to copy.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tensor/allocator.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace graphwright {

// What a kResource or kVariant element refers to: variables, lists, iterators...
class Object {
 public:
  virtual ~Object() = default;
  // For messages, e.g. "Variable", "TensorList".
  virtual std::string_view kind_name() const = 0;
};
using ObjectPointer = std::shared_ptr<Object>;
using StringElement = std::string;  // element type of kString

inline constexpr int kInlineRank = 8;
inline constexpr size_t kInlineBytes = 32;

// 128 bytes. Small values live inside; larger ones in a Buffer that several tensors may share.
struct TensorImpl {
  std::atomic<int32_t> references;
  DType dtype;
  uint8_t rank;
  uint8_t flags;
  uint8_t device;  // 0: the CPU
  int64_t element_count;
  void* data;
  Buffer* buffer;  // null: inline data, or memory borrowed from a frame's arena (kBorrowed)
  int64_t inline_dims[kInlineRank];  // rank > kInlineRank: inline_dims[0] holds an int64_t*
  alignas(16) char inline_data[kInlineBytes];

  static constexpr uint8_t kBorrowed = 1;  // must be copied to outlive the frame

  const int64_t* dims() const {
    if (rank <= kInlineRank) return inline_dims;
    const int64_t* heap;
    std::memcpy(&heap, inline_dims, sizeof heap);
    return heap;
  }
};
static_assert(sizeof(TensorImpl) == 128);

void destroy_tensor(TensorImpl* impl);  // the last reference is gone

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& other) : impl_(other.impl_) { retain(); }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() { release(); }

  // Takes over / adds a reference.
  static Tensor adopt(TensorImpl* impl) { return Tensor(impl); }
  static Tensor share(TensorImpl* impl) {
    impl->references.fetch_add(1, std::memory_order_relaxed);
    return Tensor(impl);
  }
  TensorImpl* detach() { return std::exchange(impl_, nullptr); }

  // Uninitialised elements (object elements are default-constructed). Dimensions must be >= 0;
  // InvalidArgument when the byte size overflows, ResourceExhausted when memory is refused.
  static Tensor empty(DType dtype, std::span<const int64_t> dims);
  static Tensor empty(DType dtype, std::initializer_list<int64_t> dims) {
    return empty(dtype, std::span(dims.begin(), dims.size()));
  }
  static Tensor zeros(DType dtype, std::span<const int64_t> dims);
  template <class T>
  static Tensor scalar(DType dtype, T value) {
    Tensor result = empty(dtype, std::span<const int64_t>());
    *result.mutable_data<T>() = std::move(value);
    return result;
  }
  // 1-D.
  template <class T>
  static Tensor vector(DType dtype, std::span<const T> values) {
    int64_t count = static_cast<int64_t>(values.size());
    Tensor result = empty(dtype, std::span(&count, 1));
    for (size_t i = 0; i < values.size(); ++i) result.mutable_data<T>()[i] = values[i];
    return result;
  }
  static Tensor int32_scalar(int32_t value) { return scalar(DType::kInt32, value); }
  static Tensor int64_scalar(int64_t value) { return scalar(DType::kInt64, value); }
  static Tensor bool_scalar(bool value) { return scalar(DType::kBool, value); }
  static Tensor string_scalar(std::string value) {
    return scalar<StringElement>(DType::kString, std::move(value));
  }
  // Over a buffer whose elements exist already; takes over the reference. The buffer must hold them
  // all (Internal).
  static Tensor from_buffer(DType dtype, std::span<const int64_t> dims, Buffer* buffer);
  // A 0-d kResource or kVariant tensor.
  static Tensor object(DType dtype, ObjectPointer object);

  explicit operator bool() const { return impl_ != nullptr; }
  TensorImpl* impl() const { return impl_; }
  DType dtype() const { return impl_->dtype; }
  int rank() const { return impl_->rank; }
  std::span<const int64_t> dims() const { return {impl_->dims(), impl_->rank}; }
  int64_t dim(int index) const { return impl_->dims()[index]; }
  int64_t element_count() const { return impl_->element_count; }
  size_t byte_size() const { return static_cast<size_t>(element_count()) * dtype_size(dtype()); }
  PartialShape shape() const { return PartialShape(dims()); }

  const void* raw_data() const { return impl_->data; }
  template <class T>
  const T* data() const {
    return static_cast<const T*>(impl_->data);
  }
  // Only while nobody else can see the tensor: just made, or is_unique().
  void* mutable_raw_data() { return impl_->data; }
  template <class T>
  T* mutable_data() {
    return static_cast<T*>(impl_->data);
  }
  template <class T>
  std::span<const T> elements() const {
    return {data<T>(), static_cast<size_t>(element_count())};
  }
  // The object of a 0-d kResource or kVariant tensor, or null.
  const ObjectPointer& object_element() const { return *data<ObjectPointer>(); }

  // No other Tensor shares the impl or its buffer: the elements may be overwritten in place.
  bool is_unique() const;
  // Shares the elements; element counts must agree (InvalidArgument).
  Tensor reshaped(std::span<const int64_t> dims) const;
  // Shares the buffer: elements [offset, offset + product of dims). Numeric dtypes with a buffer
  // only; otherwise copies.
  Tensor view(int64_t offset, std::span<const int64_t> dims) const;
  Tensor copy() const;
  // Itself, or a copy when borrowed from an arena.
  Tensor owned() const { return impl_->flags & TensorImpl::kBorrowed ? copy() : *this; }

  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

 private:
  explicit Tensor(TensorImpl* impl) : impl_(impl) {}
  void retain() const {
    if (impl_) impl_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    // A sole owner needs no atomic decrement: nobody else can take a new reference.
    if (impl_ && (impl_->references.load(std::memory_order_acquire) == 1 ||
                  impl_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)) {
      destroy_tensor(impl_);
    }
  }
  TensorImpl* impl_ = nullptr;
};

// Product of dims; InvalidArgument when it overflows int64 or a dim is negative.
int64_t checked_element_count(std::span<const int64_t> dims);

}  // namespace graphwright
