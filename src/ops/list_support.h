// What the rows of list ops share: lists as values of kernels, and element shapes.
#pragma once

#include <memory>
#include <typeinfo>

#include "ir/resources.h"
#include "ops/op_support.h"

namespace graphwright {

// --- Kernels -------------------------------------------------------------------------------------

// An element shape as these ops take it: a vector with -1 for unknown dims, or the scalar -1 for an
// unknown rank. Does not allocate for up to five dims.
PartialShape element_shape_of(const Tensor& tensor);
// What an element of a variant tensor holds, if it is a list; null otherwise.
inline ListObject* list_in(const ObjectPointer& object) {
  // ListObject is final, so that its type can be compared instead of searched.
  return object && typeid(*object) == typeid(ListObject) ? static_cast<ListObject*>(object.get())
                                                         : nullptr;
}
// The list that an input is a scalar handle of; InvalidArgument if it is none.
const ListObject& list_of(KernelContext& context, int input = 0);
// InvalidArgument unless the list's elements have the dtype.
void check_dtype(KernelContext& context, const ListObject& list, DType dtype);
// Whether a tensor of these dims is one of the shape.
bool dims_fit(const PartialShape& shape, std::span<const int64_t> dims);
// Both shapes' knowledge; InvalidArgument where they contradict each other.
PartialShape merged(KernelContext& context, const PartialShape& left, const PartialShape& right);
// Calls change(list) on the list of input 0 where nobody else can see it, else on a copy; output 0
// is the list after it. `change` must not fail.
template <class Change>
void change_list(KernelContext& context, Change change) {
  const ObjectPointer& object = context.input(0).object_element();
  if (context.may_overwrite(0) && object.use_count() == 1) {
    change(*static_cast<ListObject*>(object.get()));
    return;
  }
  std::shared_ptr<ListObject> list = list_of(context).copy();
  change(*list);
  context.set_output(0, Tensor::object(DType::kVariant, std::move(list)));
}
void set_list(KernelContext& context, std::shared_ptr<ListObject> list);
// The shape of an element never written: what the list's shape, `wanted` and the written elements
// say together. InvalidArgument where that is not a whole shape.
PartialShape unwritten_shape(KernelContext& context, const ListObject& list,
                             const PartialShape& wanted);
// An element never written reads as zeros of that shape.
Tensor element_or_zeros(KernelContext& context, const ListObject& list, int64_t index,
                        const PartialShape& wanted);
void set_scalar(KernelContext& context, int64_t value);
// InvalidArgument unless the element fits into the list.
void check_element(KernelContext& context, const ListObject& list, const Tensor& element,
                   const char* verb);

// --- Shape rules and gradients -------------------------------------------------------------------

PartialShape inferred_element_shape(ShapeContext& context, int input);
// What is known of a list's elements.
PartialShape known_element_shape(const Operand& list);
DType known_element_dtype(const Operand& list);
// known_element_shape of input 0 with what the element shape of another input says.
PartialShape read_element_shape(ShapeContext& context, int element_shape_input);
// Output 0 is the list of input 0 after `item` was put into it.
void shape_list_written(ShapeContext& context, int item);
// The element shape of a list as an operand that these ops take.
Expression element_shape_operand(const Algebra& f, const Operand& list);
// The shape of one row of a tensor, as an operand.
Expression row_shape(const Algebra& f, const Operand& tensor);

inline constexpr Reference kListReference{
    .reason = "works on lists: tests/cpp/ops_list_test.cpp, tests/python/test_tensor_lists.py"};

}  // namespace graphwright
