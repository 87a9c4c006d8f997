// A value of any tier: an eager tensor, which it keeps alive, or an SSA value of a graph, which its
// graph keeps alive. 8 bytes. Gradient rules and function bodies are written over operands.
#pragma once

#include <cstdint>
#include <utility>

#include "tensor/tensor.h"

namespace graphwright {

struct Value;

class Operand {
 public:
  Operand() = default;
  Operand(Tensor tensor)  // NOLINT(google-explicit-constructor): the common case
      : bits_(reinterpret_cast<uintptr_t>(tensor.detach())) {}
  Operand(Value* value)  // NOLINT(google-explicit-constructor)
      : bits_(value ? reinterpret_cast<uintptr_t>(value) | kGraphTag : 0) {}
  Operand(const Operand& other) : bits_(other.bits_) {
    if (is_tensor()) impl()->references.fetch_add(1, std::memory_order_relaxed);
  }
  Operand(Operand&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  Operand& operator=(Operand other) noexcept {
    std::swap(bits_, other.bits_);
    return *this;
  }
  ~Operand() {
    if (is_tensor()) Tensor::adopt(impl());
  }

  explicit operator bool() const { return bits_ != 0; }
  bool is_tensor() const { return bits_ != 0 && !(bits_ & kGraphTag); }
  bool is_value() const { return bits_ & kGraphTag; }
  // Borrowed; only if is_tensor().
  TensorImpl* impl() const { return reinterpret_cast<TensorImpl*>(bits_); }
  Tensor tensor() const { return Tensor::share(impl()); }
  // Only if is_value().
  Value* value() const { return reinterpret_cast<Value*>(bits_ & ~kGraphTag); }
  // The same tensor or SSA value.
  bool operator==(const Operand& other) const { return bits_ == other.bits_; }
  uintptr_t identity() const { return bits_; }

 private:
  static constexpr uintptr_t kGraphTag = 1;
  uintptr_t bits_ = 0;
};

struct OperandHash {
  size_t operator()(const Operand& operand) const { return operand.identity() >> 4; }
};

}  // namespace graphwright
