// Objects that resource and variant tensors refer to at run time, and that kernels work on.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace graphwright {

// A variable's state. Reads share the tensor; writes replace it, or overwrite it in place when
// nobody else holds it. All methods are thread safe; each is one atomic step.
class VariableResource : public Object {
 public:
  VariableResource(std::string name, DType dtype, PartialShape shape, bool trainable = true)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), trainable_(trainable) {}
  std::string_view kind_name() const override { return "Variable"; }
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const PartialShape& shape() const { return shape_; }  // values must be compatible with it
  // Tapes watch it as soon as it is read.
  bool trainable() const { return trainable_; }
  // Null when uninitialised.
  Tensor read() const;
  // InvalidArgument when dtype or shape does not fit (checked where `validate_shape`).
  Status assign(Tensor value, bool validate_shape = true);
  bool is_initialized() const;
  void destroy();  // uninitialised again
  // Calls update(value), which may replace or overwrite `value` in place if it is unique, under the
  // variable's lock. FailedPrecondition when uninitialised.
  template <class Update>
  Status modify(Update update) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!value_) return uninitialized();
    return update(value_);
  }

 private:
  Status uninitialized() const;
  const std::string name_;
  const DType dtype_;
  const PartialShape shape_;
  const bool trainable_;
  mutable std::mutex mutex_;
  Tensor value_;
};

// A list value. Whoever holds the only reference to it writes in place; all others copy it first.
// Elements of one known shape lie one after the other in a single buffer that grows by doubling;
// otherwise each is a tensor of its own. The buffer may be shared with tensors that were stacked of
// it, or that it was made from: it is copied before the first write then.
class ListObject final : public Object {
 public:
  ListObject(DType dtype, PartialShape element_shape, int64_t size);
  // The rows of a tensor; numbers are not copied.
  ListObject(const Tensor& rows, PartialShape element_shape);
  std::string_view kind_name() const override { return "TensorList"; }
  DType dtype() const { return dtype_; }
  const PartialShape& element_shape() const { return element_shape_; }
  void set_element_shape(PartialShape shape) { element_shape_ = std::move(shape); }
  int64_t size() const { return size_; }
  // How many elements push_back may make it; -1: no limit. Kept by kernels, not here.
  int64_t max_size() const { return max_size_; }
  void set_max_size(int64_t size) { max_size_ = size; }
  void reserve(int64_t count);
  void resize(int64_t count);
  bool is_written(int64_t index) const;
  // Null tensor if the element was never written. OutOfRange is checked by the caller.
  Tensor get(int64_t index) const;
  // The dims of a written element, valid until the list is changed.
  std::span<const int64_t> element_dims(int64_t index) const;
  // The first byte of a written element of numbers, valid until the list is changed.
  const void* element_data(int64_t index) const;
  void set(int64_t index, const Tensor& element);
  void push_back(const Tensor& element);
  Tensor pop_back();
  // All elements along a new first dimension; unwritten ones as zeros. Shares the buffer where it
  // is full. InvalidArgument when shapes differ or none is known.
  Status stack(const PartialShape& element_shape, Tensor* result) const;
  std::shared_ptr<ListObject> copy() const;

 private:
  void make_ragged();
  DType dtype_;
  PartialShape element_shape_;
  int64_t size_ = 0;
  int64_t max_size_ = -1;
  int64_t capacity_ = 0;
  bool is_ragged_ = false;      // elements of differing shapes, or objects
  Tensor dense_;                // [capacity, element...]; null until the first element is written
  std::vector<bool> written_;   // of the contiguous elements
  int64_t written_count_ = 0;   // of these
  std::vector<Tensor> ragged_;  // otherwise, null where never written
};

}  // namespace graphwright
