// The short way for elementwise ops on tensors of equal dtype and shape: no vectors, no type
// resolution, no exceptions, and one branch for everything that is out of the ordinary.
#include <algorithm>
#include <new>

#include "ir/thread_state.h"
#include "kernels/formula_kernels.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

// Larger ones are worth several threads.
constexpr int64_t kLargest = 32768;

// The formula, if the row lets it run on this dtype and all its operands have the dtype T.
const FormulaDescriptor* fast_formula(const OpDef& op, DType type, int arity) {
  if (op.compute.kind != ComputeKind::kFormula) return nullptr;
  const FormulaDescriptor* formula = op.compute.formula;
  bool values_only = formula->signature.arity == arity;
  for (int i = 0; i < arity; ++i) {
    values_only &= formula->signature.operands[i] == OperandRole::kValue;
  }
  // One type variable, or none: the formula's own set decides then.
  const bool one_variable = op.types[1].variable.empty();
  const DTypeSet allowed = op.types[0].variable.empty() ? kAnyType : op.types[0].allowed;
  return values_only && one_variable && (allowed & formula->signature.types).contains(type)
             ? formula
             : nullptr;
}

// An uninitialised tensor with the dims of `like`; null if it would need more than inline dims.
TensorImpl* allocate_like(const TensorImpl* like, DType dtype) {
  auto* impl = static_cast<TensorImpl*>(allocate_object());
  new (&impl->references) std::atomic<int32_t>(1);
  impl->dtype = dtype;
  impl->rank = like->rank;
  impl->flags = 0;
  impl->device = 0;
  impl->element_count = like->element_count;
  for (int i = 0; i < like->rank; ++i) impl->inline_dims[i] = like->inline_dims[i];
  const size_t bytes = static_cast<size_t>(like->element_count) * dtype_size(dtype);
  if (bytes <= kInlineBytes) {
    impl->buffer = nullptr;
    impl->data = impl->inline_data;
  } else {
    try {
      impl->buffer = allocate_buffer(bytes);
    } catch (...) {
      free_object(impl);
      throw;
    }
    impl->data = impl->buffer->data();
  }
  return impl;
}

// A tensor like `like` from the operands, which step by one element or stay at their only one; null
// where an element is in error.
TensorImpl* compute(const FormulaDescriptor* formula, const TensorImpl* like, TensorImpl* left,
                    TensorImpl* right) {
  const DType type = like->dtype;
  ElementwiseKernel vector_kernel = nullptr;
  ScalarKernel scalar_kernel = nullptr;
  if (like->element_count == 1) {
    scalar_kernel = formula->scalar(type);
  } else {
    vector_kernel = formula->elementwise(type);
  }
  if (!scalar_kernel && !vector_kernel) return nullptr;
  TensorImpl* result = allocate_like(like, formula->result_dtype(type));
  bool error;
  if (scalar_kernel) {
    error = scalar_kernel(result->data, left->data, right->data, nullptr);
  } else {
    const void* operands[kMaxFormulaOperands] = {left->data, right->data, nullptr};
    const int64_t steps[kMaxFormulaOperands] = {left->rank == like->rank, right->rank == like->rank,
                                                0};
    error = vector_kernel(result->data, operands, steps, like->element_count) >= 0;
  }
  if (error) [[unlikely]] {
    destroy_tensor(result);
    return nullptr;
  }
  return result;
}

// One operand is 0-d, and that is all there is to it.
TensorImpl* try_with_scalar(const OpDef& op, TensorImpl* left, TensorImpl* right) {
  const TensorImpl* like = left->rank == 0 ? right : left;
  const bool plain = thread_state.bits == 0 && (left->rank == 0 || right->rank == 0) &&
                     left->dtype == right->dtype && like->rank <= kInlineRank &&
                     (left->device | right->device) == 0 && like->element_count <= kLargest;
  if (!plain) return nullptr;
  const FormulaDescriptor* formula = fast_formula(op, like->dtype, 2);
  return formula ? compute(formula, like, left, right) : nullptr;
}

}  // namespace

TensorImpl* try_fast_binary(const OpDef& op, TensorImpl* left, TensorImpl* right) {
  uint64_t difference = thread_state.bits | static_cast<uint64_t>(left->dtype != right->dtype) |
                        static_cast<uint64_t>(left->rank ^ right->rank) |
                        static_cast<uint64_t>(left->rank > kInlineRank) |
                        static_cast<uint64_t>(left->device | right->device) |
                        static_cast<uint64_t>(left->element_count > kLargest);
  const int rank = std::min<int>(std::min(left->rank, right->rank), kInlineRank);
  for (int i = 0; i < rank; ++i) {
    difference |= static_cast<uint64_t>(left->inline_dims[i] ^ right->inline_dims[i]);
  }
  if (difference != 0) [[unlikely]]
    return try_with_scalar(op, left, right);
  const FormulaDescriptor* formula = fast_formula(op, left->dtype, 2);
  return formula ? compute(formula, left, left, right) : nullptr;
}

TensorImpl* try_fast_unary(const OpDef& op, TensorImpl* operand) {
  uint64_t difference = thread_state.bits | static_cast<uint64_t>(operand->rank > kInlineRank) |
                        static_cast<uint64_t>(operand->device) |
                        static_cast<uint64_t>(operand->element_count > kLargest);
  if (difference != 0) [[unlikely]]
    return nullptr;
  const FormulaDescriptor* formula = fast_formula(op, operand->dtype, 1);
  return formula ? compute(formula, operand, operand, operand) : nullptr;
}

}  // namespace graphwright
