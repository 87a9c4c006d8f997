#include "autodiff/gradient_map.h"

#include <utility>

#include "ir/resources.h"

namespace graphwright {
namespace {

const void* tensor_key(const TensorImpl* impl) {
  if (impl->dtype == DType::kResource && impl->rank == 0) {
    return static_cast<const ObjectPointer*>(impl->data)->get();
  }
  return impl;
}

}  // namespace

const void* operand_key(const Operand& operand) {
  if (operand.is_tensor()) return tensor_key(operand.impl());
  if (!operand) return nullptr;
  const Value* value = operand.value();
  if (!value->node && !value->block->owner) {
    for (const Capture& capture : value->block->graph->captures()) {
      if (capture.inner == value && capture.tensor) return tensor_key(capture.tensor.impl());
    }
  }
  return value;
}

bool can_have_gradient(const ValueType& type) {
  if (is_floating(type.dtype) || is_complex(type.dtype)) return true;
  if (!type.handle) return type.dtype == DType::kResource || type.dtype == DType::kVariant;
  DType inner = type.handle->dtype;
  return is_floating(inner) || is_complex(inner) || inner == DType::kVariant;
}

Gradient add_gradients(Builder& builder, const Gradient& left, const Gradient& right) {
  if (left.is_indexed_slices() && right.is_indexed_slices()) {
    // Rows of equal index add up when the slices are used, so the sum is one after the other.
    Operand axis = builder.scalar(0, DType::kInt32);
    Operand right_indices = right.indices;
    DType index_type = dtype_of(left.indices);
    if (dtype_of(right_indices) != index_type) {
      const OpDef& cast = get_op("Cast");
      right_indices =
          builder.op("Cast", {right_indices}, named_attributes(cast, {{"DstT", index_type}}));
    }
    return {builder.op("ConcatV2", {left.values, right.values, axis}),
            builder.op("ConcatV2", {left.indices, right_indices, axis}), left.dense_shape};
  }
  Operand dense_left = dense_gradient(builder, left);
  Operand dense_right = dense_gradient(builder, right);
  if (dtype_of(dense_left) == DType::kVariant) {
    return {builder.op("AddN", {dense_left, dense_right}), {}, {}};
  }
  return {builder.op("AddV2", {dense_left, dense_right}), {}, {}};
}

void GradientMap::add(Builder& builder, const Operand& of, Gradient gradient) {
  if (!gradient) return;
  auto [position, inserted] = gradients_.try_emplace(operand_key(of), gradient);
  if (!inserted) position->second = add_gradients(builder, position->second, gradient);
}

const Gradient* GradientMap::find(const Operand& of) const {
  auto found = gradients_.find(operand_key(of));
  return found == gradients_.end() ? nullptr : &found->second;
}

}  // namespace graphwright
