// A vector of trivially copyable items whose first few live inside it: what most calls need costs
// no allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace graphwright {

template <class T, size_t InlineCount>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() = default;
  SmallVector(const SmallVector& other) { append(other.span()); }
  SmallVector(SmallVector&& other) noexcept { *this = std::move(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      size_ = 0;
      append(other.span());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    heap_ = std::move(other.heap_);
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (!heap_) std::copy_n(other.inline_, size_, inline_);
    other.size_ = 0;
    other.capacity_ = InlineCount;
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t index) { return data()[index]; }
  const T& operator[](size_t index) const { return data()[index]; }
  std::span<const T> span() const { return {data(), size_}; }

  void reserve(size_t count) {
    if (count <= capacity_) return;
    size_t larger = std::max(count, 2 * capacity_);
    auto moved = std::make_unique<T[]>(larger);
    std::copy_n(data(), size_, moved.get());
    heap_ = std::move(moved);
    capacity_ = larger;
  }
  void push_back(const T& item) {
    T copy = item;  // it may be one of ours
    reserve(size_ + 1);
    data()[size_++] = copy;
  }
  // `items` must not be this vector's own.
  void append(std::span<const T> items) {
    reserve(size_ + items.size());
    std::copy_n(items.data(), items.size(), data() + size_);
    size_ += items.size();
  }
  void append(size_t count, const T& item) {
    T copy = item;
    reserve(size_ + count);
    std::fill_n(data() + size_, count, copy);
    size_ += count;
  }

 private:
  size_t size_ = 0;
  size_t capacity_ = InlineCount;
  T inline_[InlineCount] = {};
  std::unique_ptr<T[]> heap_;
};

}  // namespace graphwright
