// Lists of tensors: what TensorArray and the accumulators of gradients are made of. A list is used
// linearly: whoever holds the only reference to it writes in place.
#include <cstring>

#include "ops/list_support.h"

namespace graphwright {
namespace {

// --- Making lists ---

void shape_new_list(ShapeContext& context) {
  context.require_rank(1, 0);
  context.output_type(0) =
      list_type(context.attributes().type("element_dtype"), inferred_element_shape(context, 0));
}
void reserve_kernel(KernelContext& context) {
  int64_t count = integer_at(context.input(1), 0);
  if (count < 0) {
    fail(context, "num_elements",
         "The num_elements to reserve must be a non negative number, but got " +
             std::to_string(count));
  }
  set_list(context, std::make_shared<ListObject>(context.attributes().type("element_dtype"),
                                                 element_shape_of(context.input(0)), count));
}
void empty_kernel(KernelContext& context) {
  auto list = std::make_shared<ListObject>(context.attributes().type("element_dtype"),
                                           element_shape_of(context.input(0)), 0);
  list->set_max_size(integer_at(context.input(1), 0));
  set_list(context, std::move(list));
}

// --- Reading ---

void shape_get_item(ShapeContext& context) {
  context.require_rank(1, 0);
  context.set_output(0, read_element_shape(context, 2));
}
void get_item_kernel(KernelContext& context) {
  const ListObject& list = list_of(context);
  check_dtype(context, list, context.attributes().type("element_dtype"));
  int64_t index = integer_at(context.input(1), 0);
  if (index < 0 || index >= list.size()) {
    fail(context, "index",
         "Trying to access element " + std::to_string(index) + " in a list with " +
             std::to_string(list.size()) + " elements.");
  }
  PartialShape wanted = element_shape_of(context.input(2));
  if (has_object_elements(list.dtype())) {
    context.set_output(0, element_or_zeros(context, list, index, wanted));
    return;
  }
  // Into the output's own memory: nothing is allocated where its shape was known.
  if (!list.is_written(index)) {
    PartialShape shape = unwritten_shape(context, list, wanted);
    Tensor& item = context.require_output(0, list.dtype(), shape.dims());
    std::memset(item.mutable_raw_data(), 0, item.byte_size());
    return;
  }
  std::span<const int64_t> dims = list.element_dims(index);
  if (!dims_fit(wanted, dims)) merged(context, PartialShape(dims), wanted);
  Tensor& item = context.require_output(0, list.dtype(), dims);
  std::memcpy(item.mutable_raw_data(), list.element_data(index), item.byte_size());
}
void gradient_get_item(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  DType dtype = dtype_of(context.y());
  Expression dy = context.dy();
  if (Expression total = context.total(0)) {
    // Only this element of the sum changes, in place.
    Expression here = f.call("TensorListGetItem", {total, context.x(1), f.shape_of(dy)},
                             {{"element_dtype", dtype}});
    Expression sum = dtype == DType::kVariant ? f.call("AddN", {here, dy}) : here + dy;
    return context.set_total(0, f.call("TensorListSetItem", {total, context.x(1), sum}));
  }
  // Lists in a list have zeros of their own lengths.
  Expression empty = dtype == DType::kVariant ? f.zeros_like(context.x(0))
                                              : f.call("TensorListReserve",
                                                       {element_shape_operand(f, context.x(0)),
                                                        f.call("TensorListLength", {context.x(0)})},
                                                       {{"element_dtype", dtype}});
  context.set_dx(0, f.call("TensorListSetItem", {empty, context.x(1), dy}));
}

void length_kernel(KernelContext& context) { set_scalar(context, list_of(context).size()); }

void shape_element_shape(ShapeContext& context) {
  PartialShape shape = known_element_shape(context.input(0));
  context.set_output(0, shape.has_rank() ? PartialShape{shape.rank()} : PartialShape::unknown());
}
void element_shape_kernel(KernelContext& context) {
  DType dtype = context.attributes().type("shape_type");
  PartialShape shape = list_of(context).element_shape();
  if (!shape.has_rank()) return context.set_output(0, integer_scalar(dtype, -1));
  std::vector<int64_t> dims;
  for (Dim dim : shape.dims()) dims.push_back(is_known(dim) ? dim : -1);
  context.set_output(0, integer_vector(dtype, dims));
}

// --- Writing ---

void shape_set_item(ShapeContext& context) {
  context.require_rank(1, 0);
  shape_list_written(context, 2);
}
void set_item_kernel(KernelContext& context) {
  const ListObject& before = list_of(context);
  const Tensor& item = context.input(2);
  check_element(context, before, item, "set a tensor with incompatible shape at a list index");
  int64_t index = integer_at(context.input(1), 0);
  if (index < 0 ||
      (index >= before.size() && !context.attributes().boolean("resize_if_index_out_of_bounds"))) {
    fail(context, "index",
         "Trying to modify element " + std::to_string(index) + " in a list with " +
             std::to_string(before.size()) + " elements.");
  }
  change_list(context, [&](ListObject& list) {
    if (index >= list.size()) list.resize(index + 1);
    list.set(index, item);
  });
}
void gradient_set_item(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  // The element is read first: then the list's last use is the write, which happens in place.
  if (context.needs(2)) {
    context.set_dx(
        2, f.call("TensorListGetItem", {context.dy(), context.x(1), f.shape_of(context.x(2))},
                  {{"element_dtype", dtype_of(context.x(2))}}));
  }
  if (!context.needs(0)) return;
  Expression rest =
      f.call("TensorListSetItem", {context.dy(), context.x(1), f.zeros_like(context.x(2))});
  if (context.attributes().boolean("resize_if_index_out_of_bounds")) {
    // The write may have made the list longer.
    rest = f.call("TensorListResize", {rest, f.call("TensorListLength", {context.x(0)})});
  }
  context.set_dx(0, rest);
}
void forward_set_item(ForwardContext& context) {
  if (!context.has_dx(0) && !context.has_dx(2)) return;
  context.set_dy(
      0, context.builder().op("TensorListSetItem", {context.dx(0), context.x(1), context.dx(2)},
                              context.attributes().attributes()));
}

void check_not_full(KernelContext& context, const ListObject& list) {
  if (list.max_size() < 0 || list.size() < list.max_size()) return;
  fail(context, "Tried to push item into a full list list size: " + std::to_string(list.size()) +
                    " max_num_elements: " + std::to_string(list.max_size()));
}
void push_back_kernel(KernelContext& context) {
  const Tensor& element = context.input(1);
  check_element(context, list_of(context), element,
                "append a tensor with incompatible shape to a list");
  check_not_full(context, list_of(context));
  change_list(context, [&](ListObject& list) { list.push_back(element); });
}
void gradient_push_back(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  OperandVector inputs{context.dy(), f.shape_of(context.x(1))};
  OperandVector popped = context.builder().op_outputs(
      "TensorListPopBack", inputs,
      attributes_of("TensorListPopBack", {{"element_dtype", dtype_of(context.x(1))}}));
  if (context.needs(0)) context.set_dx(0, popped[0]);
  if (context.needs(1)) context.set_dx(1, popped[1]);
}
void forward_push_back(ForwardContext& context) {
  if (!context.has_dx(0) && !context.has_dx(1)) return;
  context.set_dy(0, context.builder().op("TensorListPushBack", {context.dx(0), context.dx(1)}));
}

void shape_pop_back(ShapeContext& context) {
  PartialShape shape = known_element_shape(context.input(0));
  context.set_output(1, read_element_shape(context, 1));
  context.output_type(0) = list_type(context.attributes().type("element_dtype"), std::move(shape));
}
void pop_back_kernel(KernelContext& context) {
  const ListObject& before = list_of(context);
  check_dtype(context, before, context.attributes().type("element_dtype"));
  if (before.size() == 0) fail(context, "input_handle", "Trying to pop from an empty list.");
  Tensor last =
      element_or_zeros(context, before, before.size() - 1, element_shape_of(context.input(1)));
  change_list(context, [](ListObject& list) { list.pop_back(); });
  context.set_output(1, std::move(last));
}
void gradient_pop_back(GradientContext& context) {
  if (!context.needs(0)) return;
  Algebra f(context.builder());
  if (!context.has_dy(0) && !context.has_dy(1)) return;
  context.set_dx(0, f.call("TensorListPushBack", {context.dy(0), context.dy(1)}));
}

void resize_kernel(KernelContext& context) {
  int64_t size = integer_at(context.input(1), 0);
  if (size < 0) {
    fail(context, "size",
         "TensorListSlice expects size to be non-negative. Got: " + std::to_string(size));
  }
  list_of(context);
  change_list(context, [&](ListObject& list) { list.resize(size); });
}
void shape_same_list(ShapeContext& context) { context.output_type(0) = context.input_type(0); }
void gradient_resize(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  context.set_dx(
      0, f.call("TensorListResize", {context.dy(), f.call("TensorListLength", {context.x(0)})}));
}

constexpr std::array kTable{
    OpDef{
        .name = "TensorListReserve",
        .signature = "element_shape: shape_type, num_elements: int32; element_dtype: type -> "
                     "handle: variant",
        .doc = "A list of num_elements elements that were never written and read as zeros. "
               "element_shape (int32 or int64, -1 for unknown) is what all elements have in "
               "common.",
        .traits = kPure,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_new_list,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<reserve_kernel>},
        .gradient = Absent{"does not depend on other tensors' elements"},
        .forward = Absent{"does not depend on other tensors' elements"},
        .reference = kListReference,
    },
    OpDef{
        .name = "EmptyTensorList",
        .signature = "element_shape: shape_type, max_num_elements: int32; element_dtype: type -> "
                     "handle: variant",
        .doc = "A list without elements. element_shape (int32 or int64, -1 for unknown) is what "
               "all elements will have in common; max_num_elements is a hint.",
        .traits = kPure,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_new_list,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<empty_kernel>},
        .gradient = Absent{"does not depend on other tensors' elements"},
        .forward = Absent{"does not depend on other tensors' elements"},
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListGetItem",
        .signature = "input_handle: variant, index: int32, element_shape: Tshape; "
                     "element_dtype: type -> item: element_dtype",
        .doc = "Element `index` of the list, zeros if it was never written. InvalidArgument for "
               "an index outside the list.",
        .traits = kPure | kMayFail,
        .types = {{{"Tshape", kIndex}}},
        .shape = shape_get_item,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<get_item_kernel>},
        .gradient = gradient_get_item,
        .forward = forward_first_input,
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListSetItem",
        .signature = "input_handle: variant, index: int32, item: element_dtype; "
                     "resize_if_index_out_of_bounds: bool=false -> output_handle: variant",
        .doc = "The list with element `index` replaced by item. InvalidArgument for an index "
               "outside the list (unless it may be resized) and for a shape that does not fit.",
        .traits = kPure | kMayFail,
        .shape = shape_set_item,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<set_item_kernel>},
        .gradient = gradient_set_item,
        .forward = forward_set_item,
        .reference = kListReference,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "TensorListPushBack",
        .signature = "input_handle: variant, tensor: element_dtype -> output_handle: variant",
        .doc = "The list with the tensor appended. InvalidArgument for a shape that does not fit.",
        .traits = kPure | kMayFail,
        .shape = [](ShapeContext& context) { shape_list_written(context, 1); },
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<push_back_kernel>},
        .gradient = gradient_push_back,
        .forward = forward_push_back,
        .reference = kListReference,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "TensorListPopBack",
        .signature = "input_handle: variant, element_shape: int32; element_dtype: type -> "
                     "output_handle: variant, tensor: element_dtype",
        .doc = "The list without its last element, and that element. InvalidArgument for an empty "
               "list.",
        .traits = kPure | kMayFail,
        .shape = shape_pop_back,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<pop_back_kernel>},
        .gradient = gradient_pop_back,
        .forward = forward_first_input,
        .reference = kListReference,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "TensorListLength",
        .signature = "input_handle: variant -> length: int32",
        .doc = "The number of elements of the list, an int32 scalar.",
        .traits = kPure | kZeroDerivative,
        .shape = shape_scalar,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<length_kernel>},
        .gradient = Absent{"its result is an integer"},
        .forward = Absent{"its result is an integer"},
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListElementShape",
        .signature = "input_handle: variant; shape_type: type -> element_shape: shape_type",
        .doc = "What all elements' shapes have in common: a vector with -1 for unknown dims, or "
               "the scalar -1.",
        .traits = kPure | kZeroDerivative,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_element_shape,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<element_shape_kernel>},
        .gradient = Absent{"its result is integers"},
        .forward = Absent{"its result is integers"},
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListResize",
        .signature = "input_handle: variant, size: int32 -> output_handle: variant",
        .doc = "The list cut to `size` elements, or grown by elements never written.",
        .traits = kPure | kMayFail,
        .shape = shape_same_list,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<resize_kernel>},
        .gradient = gradient_resize,
        .forward = forward_first_input,
        .reference = kListReference,
        .in_place_inputs = 1,
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
