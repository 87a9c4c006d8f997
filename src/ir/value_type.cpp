#include "ir/value_type.h"

#include "base/status.h"

namespace graphwright {
std::string shape_to_text(const PartialShape& shape, SymbolNames names) {
  if (!shape.has_rank()) return "[...]";
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i) text += ",";
    Dim dim = shape.dim(i);
    text += is_known(dim) ? std::to_string(dim) : is_symbol(dim) ? names(dim) : "?";
  }
  return text + "]";
}

std::string_view handle_kind_name(HandleType::Kind kind) {
  switch (kind) {
    case HandleType::Kind::kVariable:
      return "variable";
    case HandleType::Kind::kList:
      return "list";
    case HandleType::Kind::kDataset:
      return "dataset";
    case HandleType::Kind::kIterator:
      return "iterator";
    case HandleType::Kind::kOptional:
      return "optional";
    case HandleType::Kind::kOther:
      break;
  }
  return "handle";
}

std::string ValueType::to_string() const {
  return type_to_text(*this,
                      [](Dim symbol) { return "s" + std::to_string(kFirstSymbol - symbol); });
}

std::string type_to_text(const ValueType& type, SymbolNames names) {
  std::string tensor_text = std::string(dtype_name(type.dtype)) + shape_to_text(type.shape, names);
  const HandleType* handle = type.handle.get();
  if (!handle) return tensor_text;
  std::string text(handle_kind_name(handle->kind));
  if (handle->dtype != DType::kInvalid) {
    text += "<" + std::string(dtype_name(handle->dtype)) + shape_to_text(handle->shape, names) +
            (handle->trainable ? ">" : ", not trainable>");
  } else {
    text += "<>";
  }
  // The handle itself is nearly always a scalar of the kind's own dtype.
  DType usual =
      handle->kind == HandleType::Kind::kVariable || handle->kind == HandleType::Kind::kIterator
          ? DType::kResource
          : DType::kVariant;
  if (type.dtype != usual || type.shape != PartialShape::scalar()) text += "@" + tensor_text;
  return text;
}

ValueType list_type(DType dtype, PartialShape element_shape) {
  return {DType::kVariant, PartialShape::scalar(),
          std::make_shared<HandleType>(
              HandleType{HandleType::Kind::kList, dtype, std::move(element_shape)})};
}

ValueType variable_type(DType dtype, PartialShape shape, bool trainable) {
  return {DType::kResource, PartialShape::scalar(),
          std::make_shared<HandleType>(
              HandleType{HandleType::Kind::kVariable, dtype, std::move(shape), trainable})};
}

}  // namespace graphwright
