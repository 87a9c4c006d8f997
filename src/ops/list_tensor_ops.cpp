// Lists made of tensors and tensors made of lists: rows, stacks, gather and scatter.
#include <algorithm>

#include "kernels/strided_copy.h"
#include "ops/list_support.h"

namespace graphwright {
namespace {

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
  if (tensor.rank() < 1) {
    fail(context, "tensor", "Tensor must be at least a vector, but saw shape: []");
  }
  PartialShape row{tensor.dims().subspan(1)};
  PartialShape wanted = element_shape_of(context.input(1));
  if (!row.is_compatible_with(wanted)) {
    fail(context, "element_shape",
         "Specified a list with shape " + shape_text(wanted) + " from a tensor with shape " +
             shape_text(row));
  }
  set_list(context, std::make_shared<ListObject>(tensor, std::move(wanted)));
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

void shape_stack(ShapeContext& context) {
  int64_t count = context.attributes().integer("num_elements");
  context.set_output(0, PartialShape{count >= 0 ? count : kUnknownDim}.concatenated(
                            read_element_shape(context, 1)));
}
void stack_kernel(KernelContext& context) {
  const ListObject* list = &list_of(context);
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
  PartialShape shape = read_element_shape(context, 2);
  PartialShape indices = context.input_shape(1);
  Dim count = kUnknownDim;  // indices of any shape count as a vector
  if (indices.is_fully_defined()) count = *indices.element_count();
  if (indices.has_rank() && indices.rank() == 1) count = indices.dim(0);
  context.set_output(0, PartialShape{count}.concatenated(shape));
}
void list_gather_kernel(KernelContext& context) {
  const ListObject* list = &list_of(context);
  check_dtype(context, *list, context.attributes().type("element_dtype"));
  const Tensor& indices = context.input(1);
  PartialShape shape = merged(context, list->element_shape(), element_shape_of(context.input(2)));
  int64_t count = indices.element_count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = integer_at(indices, i);
    if (index < 0 || index >= list->size()) {
      fail(context, "indices",
           "Trying to gather element " + std::to_string(index) + " in a list with " +
               std::to_string(list->size()) + " elements.");
    }
    if (list->is_written(index)) {
      shape = merged(context, shape, PartialShape(list->element_dims(index)));
    }
  }
  if (!shape.is_fully_defined()) {
    fail(context, (count == 0 ? "Tried to gather 0-elements from a list with non-fully-defined "
                                "shape: "
                              : "Tried to gather uninitialized tensors from a list with "
                                "non-fully-defined element_shape: ") +
                      shape_text(shape));
  }
  std::vector<int64_t> dims{count};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  Tensor& values = context.require_output(0, list->dtype(), dims);
  int64_t row = *shape.element_count();
  kernels::clear_elements(values.dtype(), values.mutable_raw_data(), values.element_count());
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = integer_at(indices, i);
    if (!list->is_written(index)) continue;
    kernels::copy_elements(values.dtype(), list->element_data(index), 0, values.mutable_raw_data(),
                           i * row, row);
  }
}
// An index that is gathered several times gets the sum of its gradients.
void gradient_list_gather(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression length = f.call("TensorListLength", {context.x(0)});
  Expression empty = f.call("TensorListReserve", {element_shape_operand(f, context.x(0)), length},
                            {{"element_dtype", dtype_of(context.y())}});
  Expression indices = f.reshape(context.x(1), f.int32_vector({-1}));
  Expression sums = f.call("UnsortedSegmentSum", {context.dy(), indices, length});
  Expression rows = f.call("GatherV2", {sums, indices, f.int32(0)});
  context.set_dx(0, f.call("TensorListScatterIntoExistingList", {empty, rows, indices}));
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
// Element indices[i] of the list becomes row i of the tensor; the rows must fit.
void scatter_rows(ListObject& list, const Tensor& tensor, const Tensor& indices) {
  std::span<const int64_t> row = tensor.dims().subspan(1);
  int64_t step = checked_element_count(row);
  for (int64_t i = 0; i < indices.element_count(); ++i) {
    list.set(integer_at(indices, i), tensor.view(i * step, row));
  }
}
// The size that a list needs for the indices; InvalidArgument for a negative one.
int64_t size_for(KernelContext& context, const Tensor& indices) {
  int64_t size = 0;
  for (int64_t i = 0; i < indices.element_count(); ++i) {
    int64_t index = integer_at(indices, i);
    if (index < 0) {
      fail(context, "indices", "Indices in TensorListScatter must all be non-negative.");
    }
    size = std::max(size, index + 1);
  }
  return size;
}
void scatter_into_kernel(KernelContext& context) {
  const Tensor& tensor = context.input(1);
  const Tensor& indices = context.input(2);
  check_dtype(context, list_of(context), tensor.dtype());
  if (tensor.rank() < 1 || tensor.dim(0) != indices.element_count()) {
    fail(context, "tensor",
         "Expected len(indices) == tensor.shape[0], but saw: " +
             std::to_string(indices.element_count()) + " vs. " +
             (tensor.rank() < 1 ? "a scalar" : std::to_string(tensor.dim(0))));
  }
  PartialShape row{tensor.dims().subspan(1)};
  const PartialShape& element = list_of(context).element_shape();
  if (!row.is_compatible_with(element)) {
    fail(context, "tensor",
         "Tried to set a tensor with incompatible shape at a list index. Item element shape: " +
             shape_text(row) + " list shape: " + shape_text(element));
  }
  int64_t size = size_for(context, indices);
  change_list(context, [&](ListObject& list) {
    if (size > list.size()) list.resize(size);
    scatter_rows(list, tensor, indices);
  });
}
// The gradient of rows that were written at `indices`: none for a row that a later one of the same
// index replaced.
Expression gradient_of_rows(GradientContext& context, const Operand& indices, int tensor) {
  Algebra f(context.builder());
  Expression rows =
      f.call("TensorListGather", {context.dy(), indices, row_shape(f, context.x(tensor))},
             {{"element_dtype", dtype_of(context.x(tensor))}});
  Tensor known = constant_value(indices);
  if (known) {
    std::vector<int64_t> values = integer_values(known);
    std::ranges::sort(values);
    if (std::ranges::adjacent_find(values) == values.end()) return rows;
  }
  Expression count = f.call("TensorListLength", {context.dy()});
  Expression each = f.call("Range", {f.int32(0), f.call("Size", {indices}), f.int32(1)});
  Expression none = f.call("Fill", {f.reshape(count, f.int32_vector({1})), f.int32(-1)});
  Expression last =
      f.call("TensorScatterUpdate", {none, f.call("ExpandDims", {indices, f.int32(1)}), each});
  Expression kept = f.call("Equal", {f.call("GatherV2", {last, indices, f.int32(0)}), each});
  // One per row, with as many dims of size one as rows have.
  Expression ones = f.call("OnesLike", {row_shape(f, rows)});
  Expression shape = f.call("ConcatV2", {f.shape_of(indices), ones, f.int32(0)});
  return f.call("SelectV2", {f.reshape(kept, shape), rows, f.zeros_like(rows)});
}
void gradient_scatter_into(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  if (context.needs(0)) {
    context.set_dx(0, f.call("TensorListScatterIntoExistingList",
                             {context.dy(), f.zeros_like(context.x(1)), context.x(2)}));
  }
  if (context.needs(1)) {
    context.set_dx(1, gradient_of_rows(context, context.x(2), 1));
  }
}
void forward_scatter_into(ForwardContext& context) {
  if (!context.has_dx(0) && !context.has_dx(1)) return;
  context.set_dy(0, context.builder().op("TensorListScatterIntoExistingList",
                                         {context.dx(0), context.dx(1), context.x(2)}));
}

// A new list of the rows at the indices; `num_elements` of them, or as many as the indices need.
void shape_scatter(ShapeContext& context) {
  PartialShape tensor = context.require_rank_at_least(0, 1);
  context.require_rank(1, 1);
  PartialShape element = inferred_element_shape(context, 2);
  if (tensor.has_rank()) {
    PartialShape row{tensor.dims().subspan(1)};
    if (!row.is_compatible_with(element)) {
      context.fail("Specified a list with shape " + shape_text(element) +
                   " from a tensor with shape " + shape_text(row));
    }
    element = element.merged_with(row);
  }
  context.output_type(0) = list_type(context.input_dtype(0), std::move(element));
}
template <bool HasCount>
void scatter_kernel(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  const Tensor& indices = context.input(1);
  int64_t count = HasCount ? integer_at(context.input(3), 0) : -1;
  if (count < -1) {
    fail(context, "num_elements",
         "TensorListScatter expects num_elements >= -1, found: " + std::to_string(count));
  }
  if (tensor.rank() < 1) {
    fail(context, "tensor", "Tensor must be at least a vector, but saw shape: []");
  }
  if (tensor.dim(0) != indices.element_count()) {
    fail(context, "tensor",
         "Invalid number of rows in input tensor. Expected: " +
             std::to_string(indices.element_count()) + " Actual: " + std::to_string(tensor.dim(0)));
  }
  PartialShape row{tensor.dims().subspan(1)};
  PartialShape wanted = element_shape_of(context.input(2));
  if (!row.is_compatible_with(wanted)) {
    fail(context, "element_shape",
         "Specified a list with shape " + shape_text(wanted) + " from a tensor with shape " +
             shape_text(row));
  }
  int64_t needed = size_for(context, indices);
  if (count >= 0 && needed > count) {
    fail(context, "indices",
         "TensorListScatter: Trying to scatter at index " + std::to_string(needed - 1) +
             " in list with size " + std::to_string(count));
  }
  auto list =
      std::make_shared<ListObject>(tensor.dtype(), std::move(wanted), count >= 0 ? count : needed);
  scatter_rows(*list, tensor, indices);
  set_list(context, std::move(list));
}
void gradient_scatter(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  context.set_dx(0, gradient_of_rows(context, context.x(1), 0));
}

constexpr std::array kTable{
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
        .reference = kListReference,
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
        .reference = kListReference,
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
        .reference = kListReference,
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
        .reference = kListReference,
        .in_place_inputs = 1,
    },
    OpDef{
        .name = "TensorListScatter",
        .signature = "tensor: element_dtype, indices: int32, element_shape: shape_type -> "
                     "output_handle: variant",
        .doc = "A list as long as the largest index needs, element indices[i] of which is "
               "tensor[i]. InvalidArgument for negative indices.",
        .traits = kPure | kMayFail,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_scatter,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<scatter_kernel<false>>},
        .gradient = gradient_scatter,
        .forward = forward_first_input,
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListScatterV2",
        .signature = "tensor: element_dtype, indices: int32, element_shape: shape_type, "
                     "num_elements: int32 -> output_handle: variant",
        .doc = "A list of num_elements elements (-1: as many as the largest index needs), element "
               "indices[i] of which is tensor[i]. InvalidArgument for indices outside of it.",
        .traits = kPure | kMayFail,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_scatter,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<scatter_kernel<true>>},
        .gradient = gradient_scatter,
        .forward = forward_first_input,
        .reference = kListReference,
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
