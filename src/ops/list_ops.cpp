// Lists of tensors: what TensorArray and the accumulators of gradients are made of. A list is used
// linearly: whoever holds the only reference to it writes in place.
#include "ir/resources.h"
#include "kernels/gather.h"
#include "kernels/strided_copy.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// --- Helpers ---

// An element shape as these ops take it: a vector with -1 for unknown dims, or the scalar -1 for an
// unknown rank.
PartialShape element_shape_of(const Tensor& tensor) {
  if (tensor.rank() == 0) {
    if (integer_at(tensor, 0) != -1) {
      throw_invalid_argument(
          "The only valid scalar shape tensor is the fully unknown shape "
          "specified as -1.");
    }
    return PartialShape::unknown();
  }
  if (tensor.rank() != 1) throw_invalid_argument("An element shape must be a vector or -1.");
  std::vector<int64_t> dims = integer_values(tensor);
  for (int64_t dim : dims) {
    if (dim < -1) throw_invalid_argument("An element shape holds the size " + std::to_string(dim));
  }
  return PartialShape(std::span<const Dim>(dims));
}
PartialShape inferred_element_shape(ShapeContext& context, int input) {
  PartialShape length = context.input_shape(input);
  if (!length.has_rank() || length.rank() == 0) return PartialShape::unknown();
  context.require_rank(input, 1);
  return constant_as_shape(context.input(input));
}
// What is known of a list's elements.
PartialShape known_element_shape(const Operand& list) {
  ValueType type = type_of(list);
  return type.is_list() ? type.handle->shape : PartialShape::unknown();
}
DType known_element_dtype(const Operand& list) {
  ValueType type = type_of(list);
  return type.is_list() ? type.handle->dtype : DType::kInvalid;
}
std::shared_ptr<ListObject> list_of(KernelContext& context, int input = 0) {
  const Tensor& handle = context.input(input);
  auto list =
      handle.rank() == 0 ? std::dynamic_pointer_cast<ListObject>(handle.object_element()) : nullptr;
  if (!list) fail(context, "input_handle", "The input handle is not a list.");
  return list;
}
void check_dtype(KernelContext& context, const ListObject& list, DType dtype) {
  if (list.dtype() == dtype) return;
  fail(context, "element_dtype",
       "Invalid data types; op elements " + std::string(dtype_name(dtype)) + " but list elements " +
           std::string(dtype_name(list.dtype())));
}
// The list to change: the input's own where nobody else can see it, else a copy.
std::shared_ptr<ListObject> writable_list(KernelContext& context) {
  std::shared_ptr<ListObject> list = list_of(context);
  // One reference is the handle's, one is `list`.
  if (context.may_overwrite(0) && list.use_count() == 2) return list;
  return list->copy();
}
void set_list(KernelContext& context, std::shared_ptr<ListObject> list) {
  if (context.may_overwrite(0) && context.input(0).object_element() == list) return;
  context.set_output(0, Tensor::object(DType::kVariant, std::move(list)));
}
// An element never written reads as zeros of its shape, as far as that is known.
Tensor element_or_zeros(KernelContext& context, const ListObject& list, int64_t index,
                        const PartialShape& wanted) {
  Tensor element = list.get(index);
  if (element) {
    if (!wanted.is_compatible_with(element.shape())) {
      fail(context, "Incompatible shapes: the list's element has shape " +
                        dims_to_string(element.dims()) + ", but " + shape_text(wanted) +
                        " is expected");
    }
    return element;
  }
  PartialShape shape = list.element_shape();
  if (!shape.is_compatible_with(wanted)) {
    fail(context, "Incompatible shapes: the list's elements have shape " + shape_text(shape) +
                      ", but " + shape_text(wanted) + " is expected");
  }
  shape = shape.merged_with(wanted);
  for (int64_t i = 0; !shape.is_fully_defined() && i < list.size(); ++i) {
    if (Tensor other = list.get(i)) shape = shape.merged_with(other.shape());
  }
  if (!shape.is_fully_defined()) {
    fail(context,
         "Trying to read an uninitialized tensor but element_shape is not fully defined: " +
             shape_text(shape) + " and no list element is set.");
  }
  Tensor zeros = Tensor::empty(list.dtype(), shape.dims());
  kernels::clear_elements(list.dtype(), zeros.mutable_raw_data(), zeros.element_count());
  return zeros;
}
// The element shape of a list as an operand that these ops take.
Expression element_shape_operand(const Algebra& f, const Operand& list) {
  PartialShape shape = known_element_shape(list);
  if (!shape.has_rank())
    return f.call("TensorListElementShape", {list}, {{"shape_type", DType::kInt32}});
  std::vector<int64_t> dims;
  for (Dim dim : shape.dims()) dims.push_back(is_known(dim) ? dim : -1);
  return f.int32_vector(dims);
}
// The shape of one row of a tensor, as an operand.
Expression row_shape(const Algebra& f, const Operand& tensor) {
  PartialShape shape = shape_of(tensor);
  if (shape.has_rank() && shape.rank() > 0) {
    bool known = true;
    std::vector<int64_t> dims;
    for (Dim dim : shape.dims().subspan(1)) {
      known = known && is_known(dim);
      dims.push_back(dim);
    }
    if (known) return f.int32_vector(dims);
  }
  return f.call("StridedSlice",
                {f.shape_of(tensor), f.int32_vector({1}), f.int32_vector({0}), f.int32_vector({1})},
                {{"end_mask", int64_t{1}}});
}
void set_scalar(KernelContext& context, int64_t value) {
  set_integer(context.require_output(0, DType::kInt32, {}), 0, value);
}

// --- Making lists ---

void shape_new_list(ShapeContext& context) {
  context.output_type(0) =
      list_type(context.attributes().type("element_dtype"), inferred_element_shape(context, 0));
}
template <bool Reserve>
void new_list_kernel(KernelContext& context) {
  int64_t count = integer_at(context.input(1), 0);
  if (Reserve && count < 0) {
    fail(context, "num_elements",
         "The num_elements to reserve must be a non negative number, but got " +
             std::to_string(count));
  }
  context.set_output(
      0, Tensor::object(DType::kVariant,
                        std::make_shared<ListObject>(context.attributes().type("element_dtype"),
                                                     element_shape_of(context.input(0)),
                                                     Reserve ? count : 0)));
}

void shape_from_tensor(ShapeContext& context) {
  PartialShape tensor = context.require_rank_at_least(0, 1);
  PartialShape element = inferred_element_shape(context, 1);
  if (tensor.has_rank()) {
    PartialShape row{tensor.dims().subspan(1)};
    if (!row.is_compatible_with(element)) {
      context.fail("Specified a list with shape " + shape_text(element) +
                   " from a tensor with "
                   "shape " +
                   shape_text(tensor));
    }
    element = element.merged_with(row);
  }
  context.output_type(0) = list_type(context.input_dtype(0), std::move(element));
}
void from_tensor_kernel(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  if (tensor.rank() < 1)
    fail(context, "tensor", "Tensor must be at least a vector, but saw a scalar");
  PartialShape row{tensor.dims().subspan(1)};
  PartialShape wanted = element_shape_of(context.input(1));
  if (!row.is_compatible_with(wanted)) {
    fail(context, "element_shape",
         "Specified a list with shape " + shape_text(wanted) + " from a tensor with shape " +
             dims_to_string(tensor.dims()));
  }
  auto list = std::make_shared<ListObject>(tensor.dtype(), wanted, tensor.dim(0));
  int64_t step = row.element_count().value_or(0);
  for (int64_t i = 0; i < tensor.dim(0); ++i) {
    list->set(i, tensor.view(i * step, row.dims()));
  }
  context.set_output(0, Tensor::object(DType::kVariant, std::move(list)));
}
void gradient_from_tensor(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  context.set_dx(0, f.call("TensorListStack", {context.dy(), row_shape(f, context.x(0))},
                           {{"element_dtype", dtype_of(context.x(0))}}));
}
void forward_from_tensor(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  context.set_dy(0, context.builder().op("TensorListFromTensor", {context.dx(0), context.x(1)}));
}

// --- Reading ---

void shape_get_item(ShapeContext& context) {
  context.require_rank(1, 0);
  PartialShape shape = known_element_shape(context.input(0));
  PartialShape wanted = inferred_element_shape(context, 2);
  if (!shape.is_compatible_with(wanted)) {
    context.fail("the list's elements have shape " + shape_text(shape) + ", but " +
                 shape_text(wanted) + " is expected");
  }
  context.set_output(0, shape.merged_with(wanted));
}
void get_item_kernel(KernelContext& context) {
  std::shared_ptr<ListObject> list = list_of(context);
  check_dtype(context, *list, context.attributes().type("element_dtype"));
  int64_t index = integer_at(context.input(1), 0);
  if (index < 0 || index >= list->size()) {
    fail(context, "index",
         "Trying to access element " + std::to_string(index) + " in a list with " +
             std::to_string(list->size()) + " elements.");
  }
  context.set_output(0,
                     element_or_zeros(context, *list, index, element_shape_of(context.input(2))));
}
void gradient_get_item(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  DType dtype = dtype_of(context.y());
  Expression empty =
      f.call("TensorListReserve",
             {element_shape_operand(f, context.x(0)), f.call("TensorListLength", {context.x(0)})},
             {{"element_dtype", dtype}});
  context.set_dx(0, f.call("TensorListSetItem", {empty, context.x(1), context.dy()}));
}

void length_kernel(KernelContext& context) { set_scalar(context, list_of(context)->size()); }

void shape_element_shape(ShapeContext& context) {
  PartialShape shape = known_element_shape(context.input(0));
  context.set_output(0, shape.has_rank() ? PartialShape{shape.rank()} : PartialShape::unknown());
}
void element_shape_kernel(KernelContext& context) {
  DType dtype = context.attributes().type("shape_type");
  PartialShape shape = list_of(context)->element_shape();
  if (!shape.has_rank()) return context.set_output(0, integer_scalar(dtype, -1));
  std::vector<int64_t> dims;
  for (Dim dim : shape.dims()) dims.push_back(is_known(dim) ? dim : -1);
  context.set_output(0, integer_vector(dtype, dims));
}

void shape_stack(ShapeContext& context) {
  PartialShape shape = known_element_shape(context.input(0));
  PartialShape wanted = inferred_element_shape(context, 1);
  if (!shape.is_compatible_with(wanted)) {
    context.fail("the list's elements have shape " + shape_text(shape) + ", but " +
                 shape_text(wanted) + " is expected");
  }
  int64_t count = context.attributes().integer("num_elements");
  context.set_output(
      0, PartialShape{count >= 0 ? count : kUnknownDim}.concatenated(shape.merged_with(wanted)));
}
void stack_kernel(KernelContext& context) {
  std::shared_ptr<ListObject> list = list_of(context);
  check_dtype(context, *list, context.attributes().type("element_dtype"));
  int64_t count = context.attributes().integer("num_elements");
  if (count >= 0 && count != list->size()) {
    fail(context, "num_elements",
         "Operation expected a list with " + std::to_string(count) +
             " elements but got a list with " + std::to_string(list->size()) + " elements.");
  }
  Tensor result;
  list->stack(element_shape_of(context.input(1)), &result).throw_if_error();
  context.set_output(0, std::move(result));
}
void gradient_stack(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  context.set_dx(0, f.call("TensorListFromTensor", {context.dy(), row_shape(f, context.y())}));
}

void shape_list_gather(ShapeContext& context) {
  PartialShape indices = context.require_rank(1, 1);
  PartialShape shape = known_element_shape(context.input(0));
  PartialShape wanted = inferred_element_shape(context, 2);
  if (!shape.is_compatible_with(wanted)) {
    context.fail("the list's elements have shape " + shape_text(shape) + ", but " +
                 shape_text(wanted) + " is expected");
  }
  context.set_output(0, indices.concatenated(shape.merged_with(wanted)));
}
void list_gather_kernel(KernelContext& context) {
  std::shared_ptr<ListObject> list = list_of(context);
  check_dtype(context, *list, context.attributes().type("element_dtype"));
  const Tensor& indices = context.input(1);
  PartialShape wanted = element_shape_of(context.input(2));
  auto picked =
      std::make_shared<ListObject>(list->dtype(), list->element_shape(), indices.element_count());
  for (int64_t i = 0; i < indices.element_count(); ++i) {
    int64_t index = integer_at(indices, i);
    if (index < 0 || index >= list->size()) {
      fail(context, "indices",
           "Trying to gather element " + std::to_string(index) + " in a list with " +
               std::to_string(list->size()) + " elements.");
    }
    picked->set(i, element_or_zeros(context, *list, index, wanted));
  }
  Tensor result;
  picked->stack(wanted, &result).throw_if_error();
  context.set_output(0, std::move(result));
}
void gradient_list_gather(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression empty =
      f.call("TensorListReserve",
             {element_shape_operand(f, context.x(0)), f.call("TensorListLength", {context.x(0)})},
             {{"element_dtype", dtype_of(context.y())}});
  context.set_dx(0,
                 f.call("TensorListScatterIntoExistingList", {empty, context.dy(), context.x(1)}));
}

// --- Writing ---

// The same list with, perhaps, more known of its elements.
void shape_list_written(ShapeContext& context, int item) {
  PartialShape shape = known_element_shape(context.input(0));
  PartialShape written = context.input_shape(item);
  if (!shape.is_compatible_with(written)) {
    context.fail(
        "Tried to set a tensor with incompatible shape at a list index. Item element "
        "shape: " +
        shape_text(written) + " list shape: " + shape_text(shape));
  }
  DType dtype = known_element_dtype(context.input(0));
  if (dtype != DType::kInvalid && dtype != context.input_dtype(item)) {
    context.fail("Invalid data types; op elements " +
                 std::string(dtype_name(context.input_dtype(item))) + " but list elements " +
                 std::string(dtype_name(dtype)));
  }
  context.output_type(0) = list_type(context.input_dtype(item), std::move(shape));
}
void shape_set_item(ShapeContext& context) {
  context.require_rank(1, 0);
  shape_list_written(context, 2);
}
void check_element(KernelContext& context, const ListObject& list, const Tensor& element) {
  check_dtype(context, list, element.dtype());
  if (!list.element_shape().is_compatible_with(element.shape())) {
    fail(context,
         "Tried to set a tensor with incompatible shape at a list index. Item element "
         "shape: " +
             dims_to_string(element.dims()) + " list shape: " + shape_text(list.element_shape()));
  }
}
void set_item_kernel(KernelContext& context) {
  const Tensor& item = context.input(2);
  check_element(context, *list_of(context), item);
  int64_t index = integer_at(context.input(1), 0);
  int64_t size = list_of(context)->size();
  bool resize = context.attributes().boolean("resize_if_index_out_of_bounds");
  if (index < 0 || (index >= size && !resize)) {
    fail(context, "index",
         "Trying to modify element " + std::to_string(index) + " in a list with " +
             std::to_string(size) + " elements.");
  }
  std::shared_ptr<ListObject> list = writable_list(context);
  if (index >= size) list->resize(index + 1);
  list->set(index, item);
  set_list(context, std::move(list));
}
void gradient_set_item(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  if (context.needs(0)) {
    context.set_dx(
        0, f.call("TensorListSetItem", {context.dy(), context.x(1), f.zeros_like(context.x(2))}));
  }
  if (context.needs(2)) {
    context.set_dx(
        2, f.call("TensorListGetItem", {context.dy(), context.x(1), f.shape_of(context.x(2))},
                  {{"element_dtype", dtype_of(context.x(2))}}));
  }
}
void forward_set_item(ForwardContext& context) {
  if (!context.has_dx(0) && !context.has_dx(2)) return;
  context.set_dy(
      0, context.builder().op("TensorListSetItem", {context.dx(0), context.x(1), context.dx(2)},
                              context.attributes().attributes()));
}

void push_back_kernel(KernelContext& context) {
  const Tensor& element = context.input(1);
  check_element(context, *list_of(context), element);
  std::shared_ptr<ListObject> list = writable_list(context);
  list->push_back(element);
  set_list(context, std::move(list));
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
  PartialShape wanted = inferred_element_shape(context, 1);
  if (!shape.is_compatible_with(wanted)) {
    context.fail("the list's elements have shape " + shape_text(shape) + ", but " +
                 shape_text(wanted) + " is expected");
  }
  context.output_type(0) = list_type(context.attributes().type("element_dtype"), shape);
  context.set_output(1, shape.merged_with(wanted));
}
void pop_back_kernel(KernelContext& context) {
  std::shared_ptr<ListObject> read = list_of(context);
  check_dtype(context, *read, context.attributes().type("element_dtype"));
  if (read->size() == 0) fail(context, "input_handle", "Trying to pop from an empty list.");
  Tensor last =
      element_or_zeros(context, *read, read->size() - 1, element_shape_of(context.input(1)));
  read.reset();
  std::shared_ptr<ListObject> list = writable_list(context);
  list->pop_back();
  set_list(context, std::move(list));
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
         "TensorListSlice expects size to be non-negative. Got " + std::to_string(size));
  }
  std::shared_ptr<ListObject> list = writable_list(context);
  list->resize(size);
  set_list(context, std::move(list));
}
void shape_same_list(ShapeContext& context) { context.output_type(0) = context.input_type(0); }
void gradient_resize(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  context.set_dx(
      0, f.call("TensorListResize", {context.dy(), f.call("TensorListLength", {context.x(0)})}));
}

void shape_scatter_into(ShapeContext& context) {
  PartialShape tensor = context.require_rank_at_least(1, 1);
  context.require_rank(2, 1);
  PartialShape shape = known_element_shape(context.input(0));
  if (tensor.has_rank() && !shape.is_compatible_with(PartialShape(tensor.dims().subspan(1)))) {
    context.fail("rows of shape " + shape_text(PartialShape(tensor.dims().subspan(1))) +
                 " do not fit a list of elements of shape " + shape_text(shape));
  }
  context.output_type(0) = list_type(context.input_dtype(1), std::move(shape));
}
void scatter_into_kernel(KernelContext& context) {
  const Tensor& tensor = context.input(1);
  const Tensor& indices = context.input(2);
  check_dtype(context, *list_of(context), tensor.dtype());
  if (tensor.rank() < 1 || tensor.dim(0) != indices.element_count()) {
    fail(context, "tensor",
         "Expected len(indices) == tensor.shape[0], but saw: " +
             std::to_string(indices.element_count()) + " and shape " +
             dims_to_string(tensor.dims()));
  }
  std::shared_ptr<ListObject> list = writable_list(context);
  std::span<const int64_t> row = tensor.dims().subspan(1);
  int64_t step = checked_element_count(row);
  for (int64_t i = 0; i < indices.element_count(); ++i) {
    int64_t index = integer_at(indices, i);
    if (index < 0) {
      fail(context, "indices",
           "Indices in a list must be non-negative, got " + std::to_string(index));
    }
    if (index >= list->size()) list->resize(index + 1);
    Tensor element = tensor.view(i * step, row);
    check_element(context, *list, element);
    list->set(index, element);
  }
  set_list(context, std::move(list));
}
void gradient_scatter_into(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  if (context.needs(0)) {
    context.set_dx(0, f.call("TensorListScatterIntoExistingList",
                             {context.dy(), f.zeros_like(context.x(1)), context.x(2)}));
  }
  if (context.needs(1)) {
    context.set_dx(
        1, f.call("TensorListGather", {context.dy(), context.x(2), row_shape(f, context.x(1))},
                  {{"element_dtype", dtype_of(context.x(1))}}));
  }
}
void forward_scatter_into(ForwardContext& context) {
  if (!context.has_dx(0) && !context.has_dx(1)) return;
  context.set_dy(0, context.builder().op("TensorListScatterIntoExistingList",
                                         {context.dx(0), context.dx(1), context.x(2)}));
}

constexpr Reference kTested{.reason = "works on lists: tests/cpp/ops_state_test.cpp"};

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
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<new_list_kernel<true>>},
        .gradient = Absent{"does not depend on other tensors' elements"},
        .forward = Absent{"does not depend on other tensors' elements"},
        .reference = kTested,
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
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<new_list_kernel<false>>},
        .gradient = Absent{"does not depend on other tensors' elements"},
        .forward = Absent{"does not depend on other tensors' elements"},
        .reference = kTested,
    },
    OpDef{
        .name = "TensorListFromTensor",
        .signature = "tensor: element_dtype, element_shape: shape_type -> output_handle: variant",
        .doc = "The list of the tensor's rows, tensor[0], tensor[1]...",
        .traits = kPure,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_from_tensor,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<from_tensor_kernel>},
        .gradient = gradient_from_tensor,
        .forward = forward_from_tensor,
        .reference = kTested,
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
        .reference = kTested,
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
        .reference = kTested,
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
        .reference = kTested,
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
        .reference = kTested,
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
        .reference = kTested,
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
        .reference = kTested,
    },
    OpDef{
        .name = "TensorListStack",
        .signature = "input_handle: variant, element_shape: int32; element_dtype: type, "
                     "num_elements: int=-1 -> tensor: element_dtype",
        .doc = "All elements along a new first dimension; those never written are zeros. "
               "InvalidArgument when shapes differ, or the list is empty and no shape is known.",
        .traits = kPure | kMayFail,
        .shape = shape_stack,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<stack_kernel>},
        .gradient = gradient_stack,
        .forward = forward_first_input,
        .reference = kTested,
    },
    OpDef{
        .name = "TensorListGather",
        .signature = "input_handle: variant, indices: int32, element_shape: int32; "
                     "element_dtype: type -> values: element_dtype",
        .doc = "The elements at the given indices along a new first dimension. InvalidArgument "
               "for an index outside the list.",
        .traits = kPure | kMayFail,
        .shape = shape_list_gather,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<list_gather_kernel>},
        .gradient = gradient_list_gather,
        .forward = forward_first_input,
        .reference = kTested,
    },
    OpDef{
        .name = "TensorListScatterIntoExistingList",
        .signature = "input_handle: variant, tensor: element_dtype, indices: int32 -> "
                     "output_handle: variant",
        .doc = "The list with element indices[i] replaced by tensor[i], grown where needed.",
        .traits = kPure | kMayFail,
        .shape = shape_scatter_into,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<scatter_into_kernel>},
        .gradient = gradient_scatter_into,
        .forward = forward_scatter_into,
        .reference = kTested,
        .in_place_inputs = 1,
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
        .reference = kTested,
        .in_place_inputs = 1,
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
