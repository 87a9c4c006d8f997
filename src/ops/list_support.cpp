#include "ops/list_support.h"

#include "kernels/strided_copy.h"

namespace graphwright {

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
  if (tensor.dim(0) > kMaxRank) throw_invalid_argument("An element shape has too many dimensions.");
  PartialShape shape = PartialShape::unknown_dims(static_cast<int>(tensor.dim(0)));
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t dim = integer_at(tensor, i);
    if (dim < -1) throw_invalid_argument("Dimension " + std::to_string(dim) + " must be >= -1");
    shape.set_dim(i, dim);
  }
  return shape;
}

const ListObject& list_of(KernelContext& context, int input) {
  const Tensor& handle = context.input(input);
  const ListObject* list = handle.rank() == 0 ? list_in(handle.object_element()) : nullptr;
  if (!list) fail(context, "input_handle", "The input handle is not a list.");
  return *list;
}

bool dims_fit(const PartialShape& shape, std::span<const int64_t> dims) {
  if (!shape.has_rank()) return true;
  std::span<const Dim> known = shape.dims();
  if (known.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (is_known(known[i]) && known[i] != dims[i]) return false;
  }
  return true;
}

void check_dtype(KernelContext& context, const ListObject& list, DType dtype) {
  if (list.dtype() == dtype) return;
  fail(context, "element_dtype",
       "Invalid data types; op elements " + std::string(dtype_name(dtype)) + " but list elements " +
           std::string(dtype_name(list.dtype())));
}

PartialShape merged(KernelContext& context, const PartialShape& left, const PartialShape& right) {
  if (!left.is_compatible_with(right)) {
    fail(context, "Incompatible shapes: the list's elements have shape " + shape_text(left) +
                      ", but " + shape_text(right) + " is expected");
  }
  return left.merged_with(right);
}

void set_list(KernelContext& context, std::shared_ptr<ListObject> list) {
  context.set_output(0, Tensor::object(DType::kVariant, std::move(list)));
}

PartialShape unwritten_shape(KernelContext& context, const ListObject& list,
                             const PartialShape& wanted) {
  PartialShape shape = merged(context, list.element_shape(), wanted);
  for (int64_t i = 0; !shape.is_fully_defined() && i < list.size(); ++i) {
    if (list.is_written(i)) shape = merged(context, shape, PartialShape(list.element_dims(i)));
  }
  if (!shape.is_fully_defined()) {
    fail(context,
         "Trying to read an uninitialized tensor but element_shape is not fully defined: " +
             shape_text(shape) + " and no list element is set.");
  }
  return shape;
}

Tensor element_or_zeros(KernelContext& context, const ListObject& list, int64_t index,
                        const PartialShape& wanted) {
  if (list.is_written(index)) {
    merged(context, PartialShape(list.element_dims(index)), wanted);
    return list.get(index);
  }
  return Tensor::zeros(list.dtype(), unwritten_shape(context, list, wanted).dims());
}

void set_scalar(KernelContext& context, int64_t value) {
  set_integer(context.require_output(0, DType::kInt32, {}), 0, value);
}

void check_element(KernelContext& context, const ListObject& list, const Tensor& element,
                   const char* verb) {
  check_dtype(context, list, element.dtype());
  if (dims_fit(list.element_shape(), element.dims())) return;
  fail(context, std::string("Tried to ") + verb +
                    ". Item element shape: " + dims_to_string(element.dims()) +
                    " list shape: " + shape_text(list.element_shape()));
}

PartialShape inferred_element_shape(ShapeContext& context, int input) {
  PartialShape length = context.input_shape(input);
  if (!length.has_rank() || length.rank() == 0) return PartialShape::unknown();
  context.require_rank(input, 1);
  return constant_as_shape(context.input(input));
}

PartialShape known_element_shape(const Operand& list) {
  ValueType type = type_of(list);
  return type.is_list() ? type.handle->shape : PartialShape::unknown();
}

DType known_element_dtype(const Operand& list) {
  ValueType type = type_of(list);
  return type.is_list() ? type.handle->dtype : DType::kInvalid;
}

PartialShape read_element_shape(ShapeContext& context, int element_shape_input) {
  PartialShape shape = known_element_shape(context.input(0));
  PartialShape wanted = inferred_element_shape(context, element_shape_input);
  if (!shape.is_compatible_with(wanted)) {
    context.fail("the list's elements have shape " + shape_text(shape) + ", but " +
                 shape_text(wanted) + " is expected");
  }
  return shape.merged_with(wanted);
}

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

Expression element_shape_operand(const Algebra& f, const Operand& list) {
  PartialShape shape = known_element_shape(list);
  if (!shape.has_rank())
    return f.call("TensorListElementShape", {list}, {{"shape_type", DType::kInt32}});
  std::vector<int64_t> dims;
  for (Dim dim : shape.dims()) dims.push_back(is_known(dim) ? dim : -1);
  return f.int32_vector(dims);
}

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

}  // namespace graphwright
