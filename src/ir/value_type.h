// The type of an SSA value: a tensor's dtype and shape, and for handles what they refer to.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace graphwright {

// What a kResource or kVariant value refers to.
struct HandleType {
  enum class Kind : uint8_t { kVariable, kList, kDataset, kIterator, kOptional, kOther };
  Kind kind = Kind::kOther;
  DType dtype = DType::kInvalid;  // of the variable, or of a list's elements
  PartialShape shape;             // of the variable, or common to a list's elements
  bool trainable = true;          // of the variable: tapes watch it as soon as it is read
  bool operator==(const HandleType&) const = default;
};

std::string_view handle_kind_name(HandleType::Kind kind);

// A value's dtype and shape, the shape being the handle's own (a scalar, nearly always) for
// kResource and kVariant.
struct ValueType {
  DType dtype = DType::kInvalid;
  PartialShape shape;
  std::shared_ptr<const HandleType> handle;  // null unless dtype is kResource or kVariant

  bool is_list() const { return handle && handle->kind == HandleType::Kind::kList; }
  // "float32[2,?]", "float32[s0]" for a symbolic and "float32[...]" for an unknown shape,
  // "list<float32[?]>", "variable<int32[]>".
  std::string to_string() const;
};

// The same text with symbols named by the caller: texts that must not differ from run to run number
// them as they come.
using SymbolNames = FunctionRef<std::string(Dim symbol)>;
std::string shape_to_text(const PartialShape& shape, SymbolNames names);
std::string type_to_text(const ValueType& type, SymbolNames names);

inline ValueType tensor_type(DType dtype, PartialShape shape) {
  return {dtype, std::move(shape), nullptr};
}
ValueType list_type(DType dtype, PartialShape element_shape);
ValueType variable_type(DType dtype, PartialShape shape, bool trainable = true);

}  // namespace graphwright
