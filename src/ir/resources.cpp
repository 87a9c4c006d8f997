#include "ir/resources.h"

#include <algorithm>
#include <cstring>

namespace graphwright {

Tensor VariableResource::read() const {
  std::lock_guard lock(mutex_);
  return value_;
}

bool VariableResource::is_initialized() const {
  std::lock_guard lock(mutex_);
  return static_cast<bool>(value_);
}

void VariableResource::destroy() {
  Tensor old;  // freed after the lock is given back
  std::lock_guard lock(mutex_);
  std::swap(old, value_);
}

Status VariableResource::assign(Tensor value, bool validate_shape) {
  if (value.dtype() != dtype_) {
    return Status(Code::kInvalidArgument, "Trying to assign variable '" + name_ +
                                              "' with wrong dtype. Expected " +
                                              std::string(dtype_name(dtype_)) + " got " +
                                              std::string(dtype_name(value.dtype())));
  }
  if (validate_shape && !shape_.is_compatible_with(value.shape())) {
    return Status(Code::kInvalidArgument,
                  "Cannot assign value to variable '" + name_ + "': Shape mismatch. The variable " +
                      "shape " + shape_.to_string() + ", and the assigned value shape " +
                      value.shape().to_string() + " are incompatible.");
  }
  value = value.owned();
  std::lock_guard lock(mutex_);
  std::swap(value_, value);
  return {};
}

Status VariableResource::uninitialized() const {
  return Status(Code::kFailedPrecondition,
                "Could not find variable " + name_ +
                    ". This could mean that the variable has been deleted, or that it was read "
                    "before it was initialized.");
}

ListObject::ListObject(DType dtype, PartialShape element_shape, int64_t size)
    : dtype_(dtype),
      element_shape_(std::move(element_shape)),
      is_ragged_(has_object_elements(dtype)) {
  resize(size);
}

void ListObject::reserve(int64_t count) {
  if (is_ragged_) {
    ragged_.reserve(static_cast<size_t>(count));
    return;
  }
  if (count <= capacity_) return;
  if (!dense_) {
    // The element shape is not known yet; the first element makes the buffer of this capacity.
    capacity_ = std::max(capacity_, count);
    return;
  }
  std::vector<int64_t> dims(dense_.dims().begin(), dense_.dims().end());
  dims[0] = std::max(count, 2 * capacity_);
  Tensor larger = Tensor::empty(dtype_, dims);
  std::memcpy(larger.mutable_raw_data(), dense_.raw_data(), dense_.byte_size());
  capacity_ = dims[0];
  dense_ = std::move(larger);
}

void ListObject::resize(int64_t count) {
  if (is_ragged_) {
    ragged_.resize(static_cast<size_t>(count));
  } else {
    reserve(count);
    written_.resize(static_cast<size_t>(count));
  }
  size_ = count;
}

Tensor ListObject::get(int64_t index) const {
  size_t i = static_cast<size_t>(index);
  if (is_ragged_) return ragged_[i];
  if (!written_[i]) return {};
  std::span<const int64_t> dims = dense_.dims().subspan(1);
  int64_t count = checked_element_count(dims);
  // A copy: the buffer is written in place later on, and readers may keep what they got.
  Tensor element = Tensor::empty(dtype_, dims);
  size_t bytes = static_cast<size_t>(count) * dtype_size(dtype_);
  std::memcpy(element.mutable_raw_data(),
              static_cast<const char*>(dense_.raw_data()) + bytes * static_cast<size_t>(index),
              bytes);
  return element;
}

void ListObject::make_ragged() {
  std::vector<Tensor> elements;
  elements.reserve(static_cast<size_t>(std::max(size_, capacity_)));
  for (int64_t i = 0; i < size_; ++i) elements.push_back(get(i));
  is_ragged_ = true;
  ragged_ = std::move(elements);
  dense_ = Tensor();
  written_.clear();
  capacity_ = 0;
}

void ListObject::set(int64_t index, const Tensor& element) {
  if (!is_ragged_) {
    if (!dense_) {
      std::vector<int64_t> dims;
      dims.push_back(std::max<int64_t>({size_, capacity_, 1}));
      dims.insert(dims.end(), element.dims().begin(), element.dims().end());
      dense_ = Tensor::empty(dtype_, dims);
      capacity_ = dims[0];
    }
    if (std::ranges::equal(dense_.dims().subspan(1), element.dims())) {
      size_t bytes = element.byte_size();
      std::memcpy(
          static_cast<char*>(dense_.mutable_raw_data()) + bytes * static_cast<size_t>(index),
          element.raw_data(), bytes);
      written_[static_cast<size_t>(index)] = true;
      return;
    }
    make_ragged();
  }
  ragged_[static_cast<size_t>(index)] = element.owned();
}

void ListObject::push_back(const Tensor& element) {
  if (!is_ragged_ && size_ >= capacity_ && dense_) reserve(std::max<int64_t>(size_ + 1, 4));
  resize(size_ + 1);
  set(size_ - 1, element);
}

Tensor ListObject::pop_back() {
  Tensor last = get(size_ - 1);
  resize(size_ - 1);
  return last;
}

Status ListObject::stack(const PartialShape& element_shape, Tensor* result) const {
  PartialShape shape;
  auto merge = [&](const PartialShape& other) {
    if (!shape.is_compatible_with(other)) return false;
    shape = shape.merged_with(other);
    return true;
  };
  bool fits = merge(element_shape) && merge(element_shape_);
  std::vector<Tensor> elements;
  if (!is_ragged_) {
    fits = fits && (!dense_ || merge(PartialShape(dense_.dims().subspan(1))));
  } else {
    for (int64_t i = 0; fits && i < size_; ++i) {
      Tensor element = get(i);
      if (element) fits = merge(element.shape());
    }
  }
  if (!fits) {
    return Status(Code::kInvalidArgument,
                  "Tried to stack elements of a list whose shapes differ: element shape " +
                      element_shape_.to_string() + ", asked for " + element_shape.to_string());
  }
  if (!shape.is_fully_defined()) {
    return Status(Code::kInvalidArgument,
                  "Tried to stack a list of uninitialized elements whose shape is not known: " +
                      shape.to_string());
  }
  std::vector<int64_t> dims{size_};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  Tensor stacked = Tensor::zeros(dtype_, dims);
  size_t row = static_cast<size_t>(*shape.element_count());
  size_t bytes = row * dtype_size(dtype_);
  for (int64_t i = 0; i < size_; ++i) {
    size_t at = static_cast<size_t>(i);
    if (!is_ragged_) {
      if (!dense_ || !written_[at]) continue;
      std::memcpy(static_cast<char*>(stacked.mutable_raw_data()) + at * bytes,
                  static_cast<const char*>(dense_.raw_data()) + at * bytes, bytes);
    } else if (const Tensor& element = ragged_[at]) {
      if (dtype_ == DType::kString) {
        std::ranges::copy(element.elements<StringElement>(),
                          stacked.mutable_data<StringElement>() + at * row);
      } else if (has_object_elements(dtype_)) {
        std::ranges::copy(element.elements<ObjectPointer>(),
                          stacked.mutable_data<ObjectPointer>() + at * row);
      } else {
        std::memcpy(static_cast<char*>(stacked.mutable_raw_data()) + at * bytes, element.raw_data(),
                    bytes);
      }
    }
  }
  *result = std::move(stacked);
  return {};
}

std::shared_ptr<ListObject> ListObject::copy() const {
  auto result = std::make_shared<ListObject>(dtype_, element_shape_, 0);
  result->size_ = size_;
  result->capacity_ = capacity_;
  result->is_ragged_ = is_ragged_;
  result->dense_ = dense_ ? dense_.copy() : Tensor();
  result->written_ = written_;
  result->ragged_ = ragged_;
  return result;
}

}  // namespace graphwright
