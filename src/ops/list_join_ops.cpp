// Lists joined into one tensor and cut from one, and lists of several handles at once.
#include "kernels/strided_copy.h"
#include "ops/list_support.h"

namespace graphwright {
namespace {

// --- Concat --------------------------------------------------------------------------------------

// The shape of all elements but for their first dimension.
PartialShape without_first(PartialShape shape) {
  if (shape.has_rank() && shape.rank() > 0) shape.set_dim(0, kUnknownDim);
  return shape;
}

void concat_shapes(ShapeContext& context, const PartialShape& wanted) {
  PartialShape shape = without_first(known_element_shape(context.input(0)));
  PartialShape asked = without_first(wanted);
  if (!shape.is_compatible_with(asked)) {
    context.fail("the list's elements have shape " + shape_text(shape) + ", but " +
                 shape_text(asked) + " is expected");
  }
  shape = shape.merged_with(asked);
  if (shape.has_rank() && shape.rank() == 0) {
    context.fail("Concat requires elements to be at least vectors, found scalars instead.");
  }
  context.set_output(0, std::move(shape));
  context.set_output(1, PartialShape{kUnknownDim});
}
void shape_concat_v2(ShapeContext& context) {
  concat_shapes(context, inferred_element_shape(context, 1));
}
void shape_concat(ShapeContext& context) {
  concat_shapes(context, context.attributes().shape("element_shape"));
}

// `leading_dims`: the first dimensions of elements never written, where their shape does not say.
void concat_list(KernelContext& context, const PartialShape& wanted,
                 std::span<const int64_t> leading_dims) {
  const ListObject* list = &list_of(context);
  check_dtype(context, *list, context.attributes().type("element_dtype"));
  auto require_vectors = [&](const PartialShape& shape) {
    if (shape.has_rank() && shape.rank() == 0) {
      fail(context, "Concat requires elements to be at least vectors, found scalars instead.");
    }
  };
  require_vectors(wanted);
  require_vectors(list->element_shape());
  PartialShape whole = merged(context, list->element_shape(), wanted);
  PartialShape rest = without_first(whole);
  for (int64_t i = 0; i < list->size(); ++i) {
    if (!list->is_written(i)) continue;
    std::span<const int64_t> dims = list->element_dims(i);
    if (dims.empty()) {
      fail(context, "Concat saw a scalar shape at index " + std::to_string(i) +
                        " but requires at least vectors.");
    }
    if (wanted.has_rank() && is_known(wanted.dim(0)) && wanted.dim(0) != dims[0]) {
      fail(context, "element_shape",
           "First entry of element_shape input does not match the first dim of list element at "
           "index: " +
               std::to_string(i) + " Expected: " + std::to_string(wanted.dim(0)) +
               " Actual: " + std::to_string(dims[0]));
    }
    rest = merged(context, rest, without_first(PartialShape(dims)));
  }
  bool known = rest.has_rank();
  for (int k = 1; known && k < rest.rank(); ++k) known = is_known(rest.dim(k));
  if (!known) {
    fail(context,
         std::string("All except the first dimension must be fully defined when concating ") +
             (list->size() == 0 ? "an empty tensor list"
                                : "a list with uninitialized "
                                  "tensors") +
             ". element_shape: " + shape_text(rest));
  }
  Tensor lengths = Tensor::empty(DType::kInt64, {list->size()});
  std::vector<int64_t> dims(rest.dims().begin(), rest.dims().end());
  dims[0] = 0;
  for (int64_t i = 0; i < list->size(); ++i) {
    int64_t length = 0;
    if (list->is_written(i)) {
      length = list->element_dims(i)[0];
    } else if (is_known(whole.has_rank() ? whole.dim(0) : kUnknownDim)) {
      length = whole.dim(0);
    } else if (static_cast<size_t>(i) < leading_dims.size()) {
      length = leading_dims[static_cast<size_t>(i)];
    } else {
      fail(context, "leading_dims",
           "List contains uninitialized tensor at index " + std::to_string(i) +
               " but leading_dims has only " + std::to_string(leading_dims.size()) + " elements.");
    }
    if (length < 0) fail(context, "leading_dims", "A first dimension cannot be negative.");
    lengths.mutable_data<int64_t>()[i] = length;
    dims[0] += length;
  }
  Tensor& result = context.require_output(0, list->dtype(), dims);
  kernels::clear_elements(result.dtype(), result.mutable_raw_data(), result.element_count());
  int64_t row = checked_element_count(std::span(dims).subspan(1)), at = 0;
  for (int64_t i = 0; i < list->size(); ++i) {
    int64_t count = lengths.data<int64_t>()[i] * row;
    if (list->is_written(i)) {
      kernels::copy_elements(result.dtype(), list->element_data(i), 0, result.mutable_raw_data(),
                             at, count);
    }
    at += count;
  }
  context.set_output(1, std::move(lengths));
}
void concat_v2_kernel(KernelContext& context) {
  std::vector<int64_t> leading = integer_values(context.input(2));
  concat_list(context, element_shape_of(context.input(1)), leading);
}
void concat_kernel(KernelContext& context) {
  concat_list(context, context.attributes().shape("element_shape"), {});
}
void gradient_concat(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy(0)) return;
  Algebra f(context.builder());
  Operand shape = f.call("TensorListElementShape", {context.x(0)}, {{"shape_type", DType::kInt32}});
  context.set_dx(0, f.call("TensorListSplit", {context.dy(0), shape, context.y(1)}));
}

// --- Split ---------------------------------------------------------------------------------------

void shape_split(ShapeContext& context) {
  PartialShape tensor = context.require_rank_at_least(0, 1);
  context.require_rank(2, 1);
  PartialShape element = inferred_element_shape(context, 1);
  PartialShape pieces = without_first(tensor);
  if (!without_first(element).is_compatible_with(pieces)) {
    context.fail("tensor shape " + shape_text(tensor) + " is not compatible with element_shape " +
                 shape_text(element));
  }
  context.output_type(0) = list_type(context.input_dtype(0), element.merged_with(pieces));
}
void split_kernel(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  const Tensor& lengths = context.input(2);
  PartialShape wanted = element_shape_of(context.input(1));
  if (lengths.rank() != 1) {
    fail(context, "lengths",
         "Expected lengths to be a vector, received shape: " + dims_to_string(lengths.dims()));
  }
  if (tensor.rank() < 1) {
    fail(context, "tensor", "Tensor must be at least a vector, but saw shape: []");
  }
  if (wanted.has_rank() && wanted.rank() == 0) {
    fail(context, "element_shape",
         "TensorListSplit requires element_shape to be at least of rank 1, but saw: []");
  }
  PartialShape pieces = without_first(tensor.shape());
  if (!without_first(wanted).is_compatible_with(pieces)) {
    fail(context, "element_shape",
         "tensor shape " + dims_to_string(tensor.dims()) +
             " is not compatible with element_shape " + shape_text(without_first(wanted)));
  }
  int64_t total = tensor.dim(0), start = 0;
  auto list = std::make_shared<ListObject>(tensor.dtype(), wanted.merged_with(pieces),
                                           lengths.element_count());
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  int64_t row = checked_element_count(std::span(dims).subspan(1));
  for (int64_t i = 0; i < lengths.element_count(); ++i) {
    int64_t length = integer_at(lengths, i);
    if (length < 0) {
      fail(context, "lengths", "Invalid value in lengths: " + std::to_string(length));
    }
    if (length > total - start) {
      fail(context, "lengths",
           "Attempting to slice [" + std::to_string(start) + ", " + std::to_string(start + length) +
               "] from tensor with length " + std::to_string(total));
    }
    dims[0] = length;
    list->set(i, tensor.view(start * row, dims));
    start += length;
  }
  if (start != total) {
    fail(context, "lengths",
         "Unused values in tensor. Length of tensor: " + std::to_string(total) +
             " Values used: " + std::to_string(start));
  }
  set_list(context, std::move(list));
}
void gradient_split(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression shape =
      f.call("ConcatV2", {f.int32_vector({-1}), row_shape(f, context.x(0)), f.int32(0)});
  context.set_dx(0, f.call("TensorListConcatV2", {context.dy(), shape, context.x(2)},
                           {{"element_dtype", dtype_of(context.x(0))}}));
}
void forward_split(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  context.set_dy(
      0, context.builder().op("TensorListSplit", {context.dx(0), context.x(1), context.x(2)}));
}

// --- Several handles at once ---------------------------------------------------------------------

void shape_concat_lists(ShapeContext& context) {
  PartialShape left = context.input_shape(0), right = context.input_shape(1);
  if (!left.is_compatible_with(right)) {
    context.fail("input_a and input_b have shapes " + shape_text(left) + " and " +
                 shape_text(right));
  }
  context.output_type(0) =
      list_type(context.attributes().type("element_dtype"), known_element_shape(context.input(0)));
  context.set_output(0, left.merged_with(right));
}
const ListObject* list_at(KernelContext& context, int input, int64_t index) {
  const ListObject* list = list_in(context.input(input).data<ObjectPointer>()[index]);
  if (!list) fail(context, "Element " + std::to_string(index) + " of the handles is not a list.");
  return list;
}
void concat_lists_kernel(KernelContext& context) {
  const Tensor& left = context.input(0);
  const Tensor& right = context.input(1);
  if (!std::ranges::equal(left.dims(), right.dims())) {
    fail(context, "input_b",
         "input_a and input_b must have the same shape, but have " + dims_to_string(left.dims()) +
             " and " + dims_to_string(right.dims()));
  }
  DType dtype = context.attributes().type("element_dtype");
  Tensor result = Tensor::empty(DType::kVariant, left.dims());
  for (int64_t i = 0; i < left.element_count(); ++i) {
    const ListObject *a = list_at(context, 0, i), *b = list_at(context, 1, i);
    for (const auto& [list, name] : {std::pair(a, "input_a["), std::pair(b, "input_b[")}) {
      if (list->dtype() == dtype) continue;
      fail(context, std::string(name) + std::to_string(i) + "].dtype != element_dtype.  Saw: " +
                        std::string(dtype_name(list->dtype())) + " vs. " +
                        std::string(dtype_name(dtype)));
    }
    if (!(a->element_shape() == b->element_shape())) {
      fail(context, "input_a and input_b TensorList element shapes are not identical at index " +
                        std::to_string(i) + ".  Saw " + shape_text(a->element_shape()) + " vs. " +
                        shape_text(b->element_shape()));
    }
    std::shared_ptr<ListObject> joined = a->copy();
    int64_t first = joined->size();
    joined->resize(first + b->size());
    for (int64_t k = 0; k < b->size(); ++k) {
      if (b->is_written(k)) joined->set(first + k, b->get(k));
    }
    result.mutable_data<ObjectPointer>()[i] = std::move(joined);
  }
  context.set_output(0, std::move(result));
}

void shape_push_back_batch(ShapeContext& context) {
  PartialShape handles = context.require_rank(0, 1);
  PartialShape tensor = context.require_rank_at_least(1, 1);
  if (tensor.has_rank() && handles.has_rank() && is_known(tensor.dim(0)) &&
      is_known(handles.dim(0)) && tensor.dim(0) != handles.dim(0)) {
    context.fail("Expected tensor.shape[0] == input_handles.size, but saw " +
                 std::to_string(tensor.dim(0)) + " vs. " + std::to_string(handles.dim(0)));
  }
  context.output_type(0) = list_type(context.input_dtype(1), known_element_shape(context.input(0)));
  context.set_output(0, std::move(handles));
}
void push_back_batch_kernel(KernelContext& context) {
  const Tensor& handles = context.input(0);
  const Tensor& tensor = context.input(1);
  if (tensor.rank() < 1) {
    fail(context, "tensor", "Expected tensor to be at least a vector, but saw shape: []");
  }
  if (handles.rank() != 1) {
    fail(context, "input_handles",
         "Expected input_handles to be a vector, but saw shape: " + dims_to_string(handles.dims()));
  }
  if (tensor.dim(0) != handles.dim(0)) {
    fail(context, "tensor",
         "Expected tensor.shape[0] == input_handles.size, but saw " +
             std::to_string(tensor.dim(0)) + " vs. " + std::to_string(handles.dim(0)));
  }
  Tensor result = Tensor::empty(DType::kVariant, handles.dims());
  std::span<const int64_t> row = tensor.dims().subspan(1);
  int64_t step = checked_element_count(row);
  for (int64_t i = 0; i < handles.dim(0); ++i) {
    std::shared_ptr<ListObject> list = list_at(context, 0, i)->copy();
    if (list->dtype() != tensor.dtype()) {
      fail(context, "Invalid data type at index " + std::to_string(i) + "; op elements " +
                        std::string(dtype_name(tensor.dtype())) + " but list elements " +
                        std::string(dtype_name(list->dtype())));
    }
    if (!list->element_shape().is_compatible_with(PartialShape(row))) {
      fail(context, "Tried to append a tensor with incompatible shape to a list at index " +
                        std::to_string(i) + ". Op element shape: " + dims_to_string(row) +
                        " list shape: " + shape_text(list->element_shape()));
    }
    list->push_back(tensor.view(i * step, row));
    result.mutable_data<ObjectPointer>()[i] = std::move(list);
  }
  context.set_output(0, std::move(result));
}

constexpr std::array kTable{
    OpDef{
        .name = "TensorListConcatV2",
        .signature = "input_handle: variant, element_shape: shape_type, leading_dims: int64; "
                     "element_dtype: type -> tensor: element_dtype, lengths: int64",
        .doc = "All elements joined along their first dimension, and the sizes of that dimension. "
               "Elements never written are zeros, leading_dims[i] rows where their shape does not "
               "say. InvalidArgument for scalars, and where the other dimensions differ.",
        .traits = kPure | kMayFail,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_concat_v2,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<concat_v2_kernel>},
        .gradient = gradient_concat,
        .forward = forward_first_input,
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListConcat",
        .signature = "input_handle: variant; element_dtype: type, element_shape: shape=unknown -> "
                     "tensor: element_dtype, lengths: int64",
        .doc = "All elements joined along their first dimension, and the sizes of that dimension. "
               "InvalidArgument for scalars, and where the other dimensions differ.",
        .traits = kPure | kMayFail,
        .shape = shape_concat,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<concat_kernel>},
        .gradient = gradient_concat,
        .forward = forward_first_input,
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListSplit",
        .signature = "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> "
                     "output_handle: variant",
        .doc = "The list of pieces of the tensor along its first dimension, lengths[i] rows each. "
               "InvalidArgument where the lengths do not add up to the rows.",
        .traits = kPure | kMayFail,
        .types = {{{"shape_type", kIndex}}},
        .shape = shape_split,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<split_kernel>},
        .gradient = gradient_split,
        .forward = forward_split,
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListConcatLists",
        .signature = "input_a: variant, input_b: variant; element_dtype: type -> output: variant",
        .doc = "The elements of input_a, then those of input_b: two handles, or two tensors of "
               "handles of one shape. InvalidArgument where element shapes differ.",
        .traits = kPure | kMayFail | kZeroDerivative,
        .shape = shape_concat_lists,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<concat_lists_kernel>},
        .gradient = Absent{"TensorFlow defines none"},
        .forward = Absent{"TensorFlow defines none"},
        .reference = kListReference,
    },
    OpDef{
        .name = "TensorListPushBackBatch",
        .signature = "input_handles: variant, tensor: element_dtype -> output_handles: variant",
        .doc = "Each list of a vector of handles with one row of the tensor appended.",
        .traits = kPure | kMayFail | kZeroDerivative,
        .shape = shape_push_back_batch,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<push_back_batch_kernel>},
        .gradient = Absent{"TensorFlow defines none"},
        .forward = Absent{"TensorFlow defines none"},
        .reference = kListReference,
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
