// Gradients by the value that they belong to, summed as they arrive.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/rule_context.h"

namespace graphwright {

// What identifies a value whatever handle it is reached by: an SSA value, an eager tensor, or the
// resource that a handle refers to. The argument that stands for a captured tensor in a graph has
// the key of the tensor.
const void* operand_key(const Operand& operand);

// Values that depend on the sources of a derivative.
using ActiveSet = std::unordered_set<const void*>;

class GradientMap {
 public:
  // Adds to what is there; sums are made with `builder`.
  void add(Builder& builder, const Operand& of, Gradient gradient);
  // Null if none arrived.
  const Gradient* find(const Operand& of) const;
  void erase(const Operand& of) { gradients_.erase(operand_key(of)); }
  bool empty() const { return gradients_.empty(); }

 private:
  std::unordered_map<const void*, Gradient> gradients_;
};

Gradient add_gradients(Builder& builder, const Gradient& left, const Gradient& right);

// Floating, complex, or a handle to something that is.
bool can_have_gradient(const ValueType& type);

}  // namespace graphwright
