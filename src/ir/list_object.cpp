#include <algorithm>
#include <cstring>

#include "ir/resources.h"
#include "tensor/memory_limit.h"

namespace graphwright {

ListObject::ListObject(DType dtype, PartialShape element_shape, int64_t size)
    : dtype_(dtype),
      element_shape_(std::move(element_shape)),
      is_ragged_(has_object_elements(dtype)) {
  resize(size);
}

ListObject::ListObject(const Tensor& rows, PartialShape element_shape)
    : ListObject(rows.dtype(), std::move(element_shape), 0) {
  size_ = rows.dim(0);
  std::span<const int64_t> row = rows.dims().subspan(1);
  if (is_ragged_) {
    int64_t step = checked_element_count(row);
    for (int64_t i = 0; i < size_; ++i) ragged_.push_back(rows.view(i * step, row));
    return;
  }
  dense_ = rows.owned();
  capacity_ = size_;
  written_.assign(static_cast<size_t>(size_), true);
  written_count_ = size_;
}

void ListObject::reserve(int64_t count) {
  if (is_ragged_) {
    check_memory(static_cast<size_t>(count) * sizeof(Tensor));
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
    check_memory(static_cast<size_t>(count) * sizeof(Tensor));
    ragged_.resize(static_cast<size_t>(count));
  } else {
    reserve(count);
    for (int64_t i = count; i < size_; ++i) written_count_ -= written_[static_cast<size_t>(i)];
    written_.resize(static_cast<size_t>(count));
  }
  size_ = count;
}

bool ListObject::is_written(int64_t index) const {
  size_t i = static_cast<size_t>(index);
  return is_ragged_ ? static_cast<bool>(ragged_[i]) : written_[i];
}

std::span<const int64_t> ListObject::element_dims(int64_t index) const {
  return is_ragged_ ? ragged_[static_cast<size_t>(index)].dims() : dense_.dims().subspan(1);
}

const void* ListObject::element_data(int64_t index) const {
  if (is_ragged_) return ragged_[static_cast<size_t>(index)].raw_data();
  size_t bytes = capacity_ == 0 ? 0 : dense_.byte_size() / static_cast<size_t>(capacity_);
  return static_cast<const char*>(dense_.raw_data()) + bytes * static_cast<size_t>(index);
}

Tensor ListObject::get(int64_t index) const {
  if (is_ragged_) return ragged_[static_cast<size_t>(index)];
  if (!is_written(index)) return {};
  // A copy: the buffer is written in place later on, and readers may keep what they got.
  Tensor element = Tensor::empty(dtype_, element_dims(index));
  std::memcpy(element.mutable_raw_data(), element_data(index), element.byte_size());
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
  written_count_ = 0;
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
      if (!dense_.is_unique()) dense_ = dense_.copy();
      std::memcpy(const_cast<void*>(element_data(index)), element.raw_data(), element.byte_size());
      size_t i = static_cast<size_t>(index);
      if (!written_[i]) {
        written_[i] = true;
        ++written_count_;
      }
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
  std::string failure;
  auto merge = [&](const PartialShape& other) {
    if (shape.is_compatible_with(other)) {
      shape = shape.merged_with(other);
      return true;
    }
    failure = "Tried to stack elements of a list whose shapes differ: " + shape.to_string() +
              " and " + other.to_string();
    return false;
  };
  bool fits = merge(element_shape) && merge(element_shape_);
  bool any = false;
  for (int64_t i = 0; fits && i < size_; ++i) {
    if (!is_written(i)) continue;
    any = true;
    fits = merge(PartialShape(element_dims(i)));
    if (!is_ragged_) break;  // all others have the same dims
  }
  if (!fits) return Status(Code::kInvalidArgument, failure);
  if (!shape.is_fully_defined()) {
    return Status(Code::kInvalidArgument,
                  size_ == 0 ? "Tried to stack elements of an empty list with non-fully-defined "
                               "element_shape: " +
                                   shape.to_string()
                  : any ? "Tried to stack a list of element_shape " + shape.to_string()
                        : "Tried to stack list which only contains uninitialized tensors and has a "
                          "non-fully-defined element_shape: " +
                              shape.to_string());
  }
  if (!is_ragged_ && dense_ && size_ == capacity_ && written_count_ == size_) {
    *result = dense_;
    return {};
  }
  std::vector<int64_t> dims{size_};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  size_t row = static_cast<size_t>(*shape.element_count());
  size_t bytes = row * dtype_size(dtype_);
  if (!is_ragged_ && dense_ && written_count_ == size_) {
    *result = Tensor::empty(dtype_, dims);
    std::memcpy(result->mutable_raw_data(), dense_.raw_data(), bytes * static_cast<size_t>(size_));
    return {};
  }
  Tensor stacked = Tensor::zeros(dtype_, dims);
  for (int64_t i = 0; i < size_; ++i) {
    if (!is_written(i)) continue;
    size_t at = static_cast<size_t>(i);
    if (dtype_ == DType::kString) {
      std::ranges::copy(ragged_[at].elements<StringElement>(),
                        stacked.mutable_data<StringElement>() + at * row);
    } else if (has_object_elements(dtype_)) {
      std::ranges::copy(ragged_[at].elements<ObjectPointer>(),
                        stacked.mutable_data<ObjectPointer>() + at * row);
    } else {
      std::memcpy(static_cast<char*>(stacked.mutable_raw_data()) + at * bytes, element_data(i),
                  bytes);
    }
  }
  *result = std::move(stacked);
  return {};
}

std::shared_ptr<ListObject> ListObject::copy() const {
  auto result = std::make_shared<ListObject>(dtype_, element_shape_, 0);
  result->size_ = size_;
  result->max_size_ = max_size_;
  result->capacity_ = capacity_;
  result->is_ragged_ = is_ragged_;
  result->dense_ = dense_;  // both copy it before they write
  result->written_ = written_;
  result->written_count_ = written_count_;
  result->ragged_ = ragged_;
  return result;
}

}  // namespace graphwright
