// Ops that take tensors apart and put them together: slices, split, concatenation, packing.
#include <algorithm>
#include <numeric>

#include "kernels/strided_copy.h"
#include "ops/op_support.h"
#include "ops/strided_slice.h"

namespace graphwright {
namespace {

using kernels::row_major_strides;

// --- StridedSlice and its gradient ---

std::optional<std::vector<PartialInteger>> partial_integers(ShapeContext& context, int input) {
  std::optional<PartialVector> vector = context.partial_vector(input);
  if (!vector) return std::nullopt;
  std::vector<PartialInteger> result(vector->values.size());
  for (size_t i = 0; i < result.size(); ++i) {
    if (vector->known[i]) result[i] = vector->values[i];
  }
  return result;
}

// The slice as far as it is known, or nullopt when not even the number of entries is.
std::optional<DenseSlice> partial_slice(ShapeContext& context, const PartialShape& sliced,
                                        int first_input) {
  if (!sliced.has_rank()) return std::nullopt;
  int64_t count = -1;
  for (int i = 0; i < 3; ++i) {
    PartialShape length = context.require_rank(first_input + i, 1);
    if (length.has_rank() && is_known(length.dim(0))) count = length.dim(0);
  }
  std::vector<PartialInteger> parts[3];
  for (int i = 0; i < 3; ++i) {
    if (auto known = partial_integers(context, first_input + i)) {
      parts[i] = std::move(*known);
    } else if (count >= 0) {
      parts[i].resize(static_cast<size_t>(count));
    } else {
      return std::nullopt;
    }
  }
  try {
    return resolve_slice(sliced, parts[0], parts[1], parts[2], slice_masks(context.attributes()));
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
}
void shape_strided_slice(ShapeContext& context) {
  std::optional<DenseSlice> slice = partial_slice(context, context.input_shape(0), 1);
  context.set_output(0, slice ? slice->final_shape : PartialShape::unknown());
}
// The elements of the input that a slice names, as a strided box.
void strided_slice_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  DenseSlice slice = resolve_slice(input.dims(), context.input(1), context.input(2),
                                   context.input(3), slice_masks(context.attributes()));
  std::span<const Dim> dims = slice.final_shape.dims();
  std::vector<int64_t> strides = row_major_strides(input.dims());
  int64_t offset = 0;
  bool contiguous = true;  // all but the first dimension whole, which is a view
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += slice.begin[i] * strides[i];
    if (slice.stride[i] != 1 || (i > 0 && slice.processing[i] != input.dims()[i])) {
      contiguous = false;
    }
    strides[i] *= slice.stride[i];
  }
  if (contiguous && input.impl()->buffer && !has_object_elements(input.dtype()) &&
      checked_element_count(dims) > 0 && !context.output(0)) {
    return context.set_output(0, input.view(offset, dims));
  }
  Tensor& output = context.require_output(0, input.dtype(), dims);
  std::vector<int64_t> target = row_major_strides(slice.processing);
  kernels::strided_copy(input.dtype(), slice.processing, input.raw_data(), offset, strides,
                        output.mutable_raw_data(), 0, target);
}
void constant_strided_slice(ConstantContext& context) {
  std::optional<PartialVector> input = partial_constant_vector(context.input(0));
  Tensor parts[3];
  for (int i = 0; i < 3; ++i) {
    parts[i] = constant_value(context.input(i + 1));
    if (!parts[i]) return;
  }
  if (!input || shape_of(context.input(0)).rank() != 1) return;
  int64_t length = static_cast<int64_t>(input->values.size());
  DenseSlice slice = resolve_slice(vector_dims(length), parts[0], parts[1], parts[2],
                                   slice_masks(context.attributes()));
  if (slice.final_shape.rank() > 1) return;
  PartialVector result;
  for (int64_t i = 0; i < slice.processing[0]; ++i) {
    size_t at = static_cast<size_t>(slice.begin[0] + i * slice.stride[0]);
    result.values.push_back(input->values[at]);
    result.known.push_back(input->known[at]);
  }
  context.set(std::move(result));
}
void gradient_strided_slice(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression shape = f.shape_of(context.x(0), dtype_of(context.x(1)));
  context.set_dx(
      0, f.call("StridedSliceGrad", {shape, context.x(1), context.x(2), context.x(3), context.dy()},
                copy_attributes(context.attributes(), "StridedSliceGrad")));
}
void forward_strided_slice(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  context.set_dy(0, context.builder().op("StridedSlice",
                                         {context.dx(0), context.x(1), context.x(2), context.x(3)},
                                         context.attributes().attributes()));
}

void shape_strided_slice_grad(ShapeContext& context) {
  PartialShape shape = constant_as_shape(context.input(0));
  partial_slice(context, shape, 1);
  context.set_output(0, std::move(shape));
}
void strided_slice_grad_kernel(KernelContext& context) {
  std::vector<int64_t> shape = integer_values(context.input(0));
  checked_element_count(shape);
  const Tensor& dy = context.input(4);
  DenseSlice slice = resolve_slice(shape, context.input(1), context.input(2), context.input(3),
                                   slice_masks(context.attributes()));
  if (!std::ranges::equal(slice.final_shape.dims(), dy.dims())) {
    fail(context, "dy",
         "shape of dy was " + dims_to_string(dy.dims()) + " instead of " +
             dims_to_string(slice.final_shape.dims()));
  }
  Tensor& output = context.require_output(0, dy.dtype(), shape);
  kernels::clear_elements(dy.dtype(), output.mutable_raw_data(), output.element_count());
  std::vector<int64_t> strides = row_major_strides(shape);
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += slice.begin[i] * strides[i];
    strides[i] *= slice.stride[i];
  }
  kernels::strided_copy(dy.dtype(), slice.processing, dy.raw_data(), 0,
                        row_major_strides(slice.processing), output.mutable_raw_data(), offset,
                        strides);
}
void gradient_strided_slice_grad(GradientContext& context) {
  if (!context.needs(4) || !context.has_dy()) return;
  context.set_dx(4, context.builder().op("StridedSlice",
                                         {context.dy(), context.x(1), context.x(2), context.x(3)},
                                         copy_attributes(context.attributes(), "StridedSlice")));
}
void forward_strided_slice_grad(ForwardContext& context) {
  if (!context.has_dx(4)) return;
  context.set_dy(0, context.builder().op(
                        "StridedSliceGrad",
                        {context.x(0), context.x(1), context.x(2), context.x(3), context.dx(4)},
                        context.attributes().attributes()));
}

// --- Slice ---

void shape_slice(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  std::optional<PartialVector> begin = context.partial_vector(1);
  std::optional<PartialVector> size = context.partial_vector(2);
  if (!input.has_rank()) {
    int known = begin ? static_cast<int>(begin->values.size())
                      : (size ? static_cast<int>(size->values.size()) : -1);
    if (known < 0) return context.set_output(0, PartialShape::unknown());
    input = PartialShape::unknown_dims(known);
  }
  size_t rank = static_cast<size_t>(input.rank());
  for (int i : {1, 2}) {
    PartialShape length = context.require_rank(i, 1);
    if (length.has_rank() && is_known(length.dim(0)) && length.dim(0) != input.rank()) {
      context.fail("Expected begin and size arguments to be 1-D tensors of size " +
                   std::to_string(rank) + ", but got shape " + shape_text(length));
    }
  }
  for (size_t i = 0; i < rank; ++i) {
    Dim dim = input.dim(static_cast<int>(i));
    bool begin_known = begin && begin->known[i], size_known = size && size->known[i];
    int64_t first = begin_known ? begin->values[i] : 0, count = size_known ? size->values[i] : 0;
    if (begin_known && (first < 0 || (is_known(dim) && first > dim))) {
      context.fail("Expected begin[" + std::to_string(i) + "] in [0, " +
                   (is_known(dim) ? std::to_string(dim) : "size") + "], but got " +
                   std::to_string(first));
    }
    if (size_known && (count < -1 || (is_known(dim) && begin_known && count > dim - first))) {
      context.fail("Expected size[" + std::to_string(i) + "] in [0, " +
                   (is_known(dim) ? std::to_string(dim - first) : "size") + "], but got " +
                   std::to_string(count));
    }
    Dim result = kUnknownDim;
    if (size_known && count >= 0) {
      result = count;
    } else if (size_known && begin_known) {
      result = first == 0 ? dim : (is_known(dim) ? dim - first : kUnknownDim);
    }
    input.set_dim(static_cast<int>(i), result);
  }
  context.set_output(0, std::move(input));
}
void slice_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  Tensor& output = infer_output(context, input.dtype());
  std::vector<int64_t> strides = row_major_strides(input.dims());
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += strides[i] * integer_at(context.input(1), static_cast<int64_t>(i));
  }
  kernels::strided_copy(input.dtype(), output.dims(), input.raw_data(), offset, strides,
                        output.mutable_raw_data(), 0, row_major_strides(output.dims()));
}
void gradient_slice(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  // Pad with what stands before and after the slice.
  Algebra f(context.builder());
  DType dtype = dtype_of(context.x(1));
  Expression before = context.x(1);
  Expression after = f.shape_of(context.x(0), dtype) - f.shape_of(context.y(), dtype) - before;
  Expression paddings = f.call("Pack", {before, after}, {{"axis", int64_t{1}}});
  context.set_dx(0, f.call("Pad", {context.dy(), paddings}));
}
void forward_slice(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  context.set_dy(0, context.builder().op("Slice", {context.dx(0), context.x(1), context.x(2)}));
}

// --- ConcatV2 ---

void shape_concat(ShapeContext& context) {
  int count = context.input_count() - 1;
  if (count < 1) context.fail("needs at least one value");
  context.require_rank(count, 0);
  Tensor axis = context.constant(count);
  PartialShape common = PartialShape::unknown();
  for (int i = 0; i < count; ++i) {
    PartialShape shape = context.input_shape(i);
    if (!shape.has_rank()) continue;
    if (shape.rank() == 0) context.fail("Can't concatenate scalars (use tf.stack instead)");
    if (common.has_rank() && common.rank() != shape.rank()) {
      context.fail("Ranks of all input tensors should match: shape[0] = " + shape_text(common) +
                   " vs. shape[" + std::to_string(i) + "] = " + shape_text(shape));
    }
    if (!common.has_rank()) common = PartialShape::unknown_dims(shape.rank());
  }
  if (!common.has_rank()) return context.set_output(0, PartialShape::unknown());
  if (!axis) return context.set_output(0, PartialShape::unknown_dims(common.rank()));
  std::optional<int> along = normalize_axis(integer_at(axis, 0), common.rank());
  if (!along) {
    context.fail("ConcatOp : Expected concatenating dimensions in the range [" +
                 std::to_string(-common.rank()) + ", " + std::to_string(common.rank()) +
                 "), but got " + std::to_string(integer_at(axis, 0)));
  }
  int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    PartialShape shape = context.input_shape(i);
    if (!shape.has_rank()) {
      total = kUnknownDim;
      continue;
    }
    for (int d = 0; d < common.rank(); ++d) {
      Dim dim = shape.dim(d);
      if (d == *along) {
        if (total != kUnknownDim) total = is_known(dim) ? total + dim : kUnknownDim;
      } else if (is_known(dim) && is_known(common.dim(d)) && dim != common.dim(d)) {
        context.fail(
            "ConcatOp : Dimension " + std::to_string(d) +
            " in both shapes must be equal: " + "shape[0] = " + shape_text(context.input_shape(0)) +
            " vs. shape[" + std::to_string(i) + "] = " + shape_text(shape));
      } else if (is_known(dim) || !is_known(common.dim(d))) {
        common.set_dim(d, dim);
      }
    }
  }
  common.set_dim(*along, count == 1 ? context.input_shape(0).has_rank()
                                          ? context.input_shape(0).dim(*along)
                                          : kUnknownDim
                                    : total);
  context.set_output(0, std::move(common));
}
// Copies `part` into `whole`, from `offset` on along `axis`.
void copy_part(const Tensor& part, Tensor& whole, int axis, int64_t offset) {
  std::vector<int64_t> target = row_major_strides(whole.dims());
  kernels::strided_copy(whole.dtype(), part.dims(), part.raw_data(), 0,
                        row_major_strides(part.dims()), whole.mutable_raw_data(),
                        offset * target[static_cast<size_t>(axis)], target);
}
void concat_kernel(KernelContext& context) {
  int count = context.input_count() - 1;
  Tensor& output = infer_output(context, context.input(0).dtype());
  int axis = *normalize_axis(integer_at(context.input(count), 0), output.rank());
  int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    copy_part(context.input(i), output, axis, offset);
    offset += context.input(i).dim(axis);
  }
}
void constant_concat(ConstantContext& context) {
  PartialVector result;
  for (int i = 0; i + 1 < context.input_count(); ++i) {
    std::optional<PartialVector> part = partial_constant_vector(context.input(i));
    if (!part || shape_of(context.input(i)).rank() != 1) return;
    result.values.insert(result.values.end(), part->values.begin(), part->values.end());
    result.known.insert(result.known.end(), part->known.begin(), part->known.end());
  }
  context.set(std::move(result));
}
void gradient_concat(GradientContext& context) {
  if (!context.has_dy()) return;
  int count = context.input_count() - 1;
  Algebra f(context.builder());
  Expression dy = context.dy();
  if (count == 1) return context.set_dx(0, dy);
  // The sizes along the axis, then the pieces of dy.
  Expression rank = f.rank_of(dy);
  Expression axis = f.cast(context.x(count), DType::kInt32);
  Expression along = f.call("FloorMod", {axis, rank});
  std::vector<Operand> sizes;
  for (int i = 0; i < count; ++i) {
    sizes.push_back(f.call("GatherV2", {f.shape_of(context.x(i)), along, f.int32(0)}));
  }
  Expression size_vector = {context.builder(),
                            context.builder().op("Pack", std::span<const Operand>(sizes))};
  std::vector<Operand> inputs{dy, size_vector, along};
  OperandVector pieces = context.builder().op_outputs(
      "SplitV", inputs, attributes_of("SplitV", {{"num_split", int64_t{count}}}));
  for (int i = 0; i < count; ++i) {
    if (context.needs(i)) context.set_dx(i, pieces[static_cast<size_t>(i)]);
  }
}
void forward_concat(ForwardContext& context) {
  int count = context.input_count() - 1;
  std::vector<Operand> inputs;
  bool any = false;
  for (int i = 0; i < count; ++i) {
    any = any || context.has_dx(i);
    inputs.push_back(context.dx(i));
  }
  if (!any) return;
  inputs.push_back(context.x(count));
  context.set_dy(0, context.builder().op("ConcatV2", std::span<const Operand>(inputs)));
}

// --- Split, SplitV ---

// Pieces of the given sizes (kUnknownDim where not known) along the axis.
void set_split_shapes(ShapeContext& context, const PartialShape& input, std::optional<int> axis,
                      std::span<const Dim> sizes) {
  for (int i = 0; i < context.output_count(); ++i) {
    if (!input.has_rank()) {
      context.set_output(i, PartialShape::unknown());
    } else if (!axis) {
      context.set_output(i, PartialShape::unknown_dims(input.rank()));
    } else {
      PartialShape shape = input;
      shape.set_dim(*axis, sizes[static_cast<size_t>(i)]);
      context.set_output(i, std::move(shape));
    }
  }
}
std::optional<int> split_axis(ShapeContext& context, const PartialShape& input, int argument) {
  Tensor axis = context.constant(argument);
  if (!axis || !input.has_rank()) return std::nullopt;
  if (axis.element_count() != 1) context.fail("split_dim must be a scalar");
  std::optional<int> normal = normalize_axis(integer_at(axis, 0), input.rank());
  if (!normal) {
    context.fail("-input rank(-" + std::to_string(input.rank()) + ") <= split_dim < input rank (" +
                 std::to_string(input.rank()) + "), but got " +
                 std::to_string(integer_at(axis, 0)));
  }
  return normal;
}
void shape_split(ShapeContext& context) {
  int64_t count = context.attributes().integer("num_split");
  if (count < 1)
    context.fail("Number of ways to split should be > 0, but got " + std::to_string(count));
  PartialShape input = context.input_shape(1);
  std::optional<int> axis = split_axis(context, input, 0);
  Dim size = kUnknownDim;
  if (axis && is_known(input.dim(*axis))) {
    if (input.dim(*axis) % count != 0) {
      context.fail(
          "Number of ways to split should evenly divide the split dimension, but got "
          "split_dim " +
          std::to_string(*axis) + " (size = " + std::to_string(input.dim(*axis)) +
          ") and num_split " + std::to_string(count));
    }
    size = input.dim(*axis) / count;
  }
  std::vector<Dim> sizes(static_cast<size_t>(count), size);
  set_split_shapes(context, input, axis, sizes);
}
void shape_split_v(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  std::optional<int> axis = split_axis(context, input, 2);
  context.require_rank(1, 1);
  std::vector<Dim> sizes(static_cast<size_t>(context.output_count()), kUnknownDim);
  if (Tensor known = context.constant(1)) {
    std::vector<int64_t> values = integer_values(known);
    if (values.size() != sizes.size()) {
      context.fail("Length of size_splits should be equal to num_outputs, got " +
                   std::to_string(values.size()) + " and " + std::to_string(sizes.size()));
    }
    int64_t total = 0;
    int unknown = -1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (values[i] == -1) {
        if (unknown >= 0) context.fail("There can only be one -1 in the input.");
        unknown = static_cast<int>(i);
      } else if (values[i] < 0) {
        context.fail("Split size at index " + std::to_string(i) +
                     " must be >= 0. Got: " + std::to_string(values[i]));
      } else {
        sizes[i] = values[i];
        total += values[i];
      }
    }
    if (axis && is_known(input.dim(*axis))) {
      int64_t size = input.dim(*axis);
      if (unknown >= 0 ? total > size : total != size) {
        context.fail(
            "Determined shape must either match input shape along split_dim exactly if "
            "fully specified, or be less than the size of the input along split_dim if "
            "not fully specified. Got: " +
            std::to_string(total));
      }
      if (unknown >= 0) sizes[static_cast<size_t>(unknown)] = size - total;
    }
  }
  set_split_shapes(context, input, axis, sizes);
}
template <int Value, int Axis>
void split_kernel(KernelContext& context) {
  const Tensor& input = context.input(Value);
  std::vector<ValueType> outputs = infer_outputs(context);
  int axis = *normalize_axis(integer_at(context.input(Axis), 0), input.rank());
  std::vector<int64_t> strides = row_major_strides(input.dims());
  int64_t offset = 0;
  for (int i = 0; i < context.output_count(); ++i) {
    std::span<const Dim> dims = outputs[static_cast<size_t>(i)].shape.dims();
    Tensor& output = context.require_output(i, input.dtype(), dims);
    kernels::strided_copy(input.dtype(), dims, input.raw_data(),
                          offset * strides[static_cast<size_t>(axis)], strides,
                          output.mutable_raw_data(), 0, row_major_strides(dims));
    offset += dims[static_cast<size_t>(axis)];
  }
}
template <int Value, int Axis>
void gradient_split(GradientContext& context) {
  if (!context.needs(Value)) return;
  std::vector<Operand> inputs;
  bool any = false;
  for (int i = 0; i < context.output_count(); ++i) any = any || context.has_dy(i);
  if (!any) return;
  for (int i = 0; i < context.output_count(); ++i) inputs.push_back(context.dy(i));
  inputs.push_back(context.x(Axis));
  context.set_dx(Value, context.builder().op("ConcatV2", std::span<const Operand>(inputs)));
}
template <int Value>
void forward_split(ForwardContext& context) {
  if (!context.has_dx(Value)) return;
  std::vector<Operand> inputs(context.inputs().begin(), context.inputs().end());
  inputs[Value] = context.dx(Value);
  OperandVector pieces = context.builder().op_outputs(context.attributes().op().name, inputs,
                                                      context.attributes().attributes());
  for (size_t i = 0; i < pieces.size(); ++i) context.set_dy(static_cast<int>(i), pieces[i]);
}

// --- Pack, Unpack ---

void shape_pack(ShapeContext& context) {
  if (context.input_count() < 1) context.fail("needs at least one value");
  PartialShape common = context.input_shape(0);
  for (int i = 1; i < context.input_count(); ++i) {
    PartialShape shape = context.input_shape(i);
    if (!common.is_compatible_with(shape)) {
      context.fail("Shapes of all inputs must match: values[0].shape = " +
                   shape_text(context.input_shape(0)) + " != values[" + std::to_string(i) +
                   "].shape = " + shape_text(shape));
    }
    common = common.merged_with(shape);
  }
  if (!common.has_rank()) return context.set_output(0, PartialShape::unknown());
  int64_t wanted = context.attributes().integer("axis");
  std::optional<int> axis = normalize_axis(wanted, common.rank() + 1);
  if (!axis) {
    context.fail("axis = " + std::to_string(wanted) + " not in [" +
                 std::to_string(-common.rank() - 1) + ", " + std::to_string(common.rank() + 1) +
                 ")");
  }
  std::vector<Dim> dims(common.dims().begin(), common.dims().end());
  dims.insert(dims.begin() + *axis, context.input_count());
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
void pack_kernel(KernelContext& context) {
  Tensor& output = infer_output(context, context.input(0).dtype());
  int axis = *normalize_axis(context.attributes().integer("axis"), output.rank());
  std::vector<int64_t> strides = row_major_strides(output.dims());
  std::vector<int64_t> target = strides;
  target.erase(target.begin() + axis);
  for (int i = 0; i < context.input_count(); ++i) {
    const Tensor& input = context.input(i);
    kernels::strided_copy(input.dtype(), input.dims(), input.raw_data(), 0,
                          row_major_strides(input.dims()), output.mutable_raw_data(),
                          i * strides[static_cast<size_t>(axis)], target);
  }
}
void constant_pack(ConstantContext& context) {
  PartialVector result;
  for (int i = 0; i < context.input_count(); ++i) {
    PartialShape shape = shape_of(context.input(i));
    if (!shape.has_rank() || shape.rank() != 0) return;
    std::optional<PartialVector> element = partial_constant_vector(context.input(i));
    bool single = element && element->values.size() == 1;
    result.values.push_back(single ? element->values[0] : kUnknownDim);  // perhaps a size's name
    result.known.push_back(single && element->known[0]);
  }
  context.set(std::move(result));
}
void gradient_pack(GradientContext& context) {
  if (!context.has_dy()) return;
  std::vector<Operand> inputs{context.dy()};
  OperandVector pieces = context.builder().op_outputs(
      "Unpack", inputs,
      attributes_of("Unpack", {{"num", int64_t{context.input_count()}},
                               {"axis", context.attributes().integer("axis")}}));
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.needs(i)) context.set_dx(i, pieces[static_cast<size_t>(i)]);
  }
}
void shape_unpack(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  int64_t count = context.attributes().integer("num");
  if (count < 0) context.fail("num must not be negative");
  if (!input.has_rank()) {
    for (int i = 0; i < context.output_count(); ++i) {
      context.set_output(i, PartialShape::unknown());
    }
    return;
  }
  int64_t wanted = context.attributes().integer("axis");
  std::optional<int> axis = normalize_axis(wanted, input.rank());
  if (!axis) {
    context.fail("axis = " + std::to_string(wanted) + " not in [" + std::to_string(-input.rank()) +
                 ", " + std::to_string(input.rank()) + ")");
  }
  if (is_known(input.dim(*axis)) && input.dim(*axis) != count) {
    context.fail("Input shape axis " + std::to_string(*axis) + " must equal " +
                 std::to_string(count) + ", got shape " + shape_text(input));
  }
  std::vector<Dim> dims(input.dims().begin(), input.dims().end());
  dims.erase(dims.begin() + *axis);
  for (int i = 0; i < context.output_count(); ++i) {
    context.set_output(i, PartialShape(std::span<const Dim>(dims)));
  }
}
void unpack_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  std::vector<ValueType> outputs = infer_outputs(context);
  int axis = *normalize_axis(context.attributes().integer("axis"), input.rank());
  std::vector<int64_t> strides = row_major_strides(input.dims());
  int64_t step = strides[static_cast<size_t>(axis)];
  strides.erase(strides.begin() + axis);
  for (int i = 0; i < context.output_count(); ++i) {
    std::span<const Dim> dims = outputs[static_cast<size_t>(i)].shape.dims();
    Tensor& output = context.require_output(i, input.dtype(), dims);
    kernels::strided_copy(input.dtype(), dims, input.raw_data(), i * step, strides,
                          output.mutable_raw_data(), 0, row_major_strides(dims));
  }
}
void gradient_unpack(GradientContext& context) {
  if (!context.needs(0)) return;
  bool any = false;
  for (int i = 0; i < context.output_count(); ++i) any = any || context.has_dy(i);
  if (!any) return;
  std::vector<Operand> inputs;
  for (int i = 0; i < context.output_count(); ++i) inputs.push_back(context.dy(i));
  context.set_dx(0, context.builder().op(
                        "Pack", std::span<const Operand>(inputs),
                        attributes_of("Pack", {{"axis", context.attributes().integer("axis")}})));
}

#define GW_SLICE_MASKS                                                               \
  "begin_mask: int=0, end_mask: int=0, ellipsis_mask: int=0, new_axis_mask: int=0, " \
  "shrink_axis_mask: int=0"

constexpr std::array kTable{
    OpDef{
        .name = "StridedSlice",
        .signature =
            "input: T, begin: Index, end: Index, strides: Index; " GW_SLICE_MASKS " -> output: T",
        .doc = "Python slicing: input[begin[0]:end[0]:strides[0], ...]. Bit i of a mask concerns "
               "entry i: begin_mask and end_mask ignore that bound, ellipsis_mask makes the entry "
               "`...`, new_axis_mask `None`, shrink_axis_mask the single index begin[i]. "
               "InvalidArgument for an index out of bounds, a zero stride, too many entries.",
        .traits = kPure | kMayFail,
        .types = {{{"Index", kGatherIndex}}},
        .shape = shape_strided_slice,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<strided_slice_kernel>},
        .gradient = gradient_strided_slice,
        .forward = forward_strided_slice,
        .reference = {.reason = "takes a slice: tests/python/test_slices.py"},
        .constant = constant_strided_slice,
        .default_node_name = "strided_slice",
    },
    OpDef{
        .name = "StridedSliceGrad",
        .signature =
            "shape: Index, begin: Index, end: Index, strides: Index, dy: T; " GW_SLICE_MASKS
            " -> output: T",
        .doc = "Zeros of the given shape with dy at the elements that StridedSlice with the same "
               "arguments reads.",
        .traits = kPure | kMayFail,
        .types = {{{"Index", kIndex}}},
        .shape = shape_strided_slice_grad,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<strided_slice_grad_kernel>},
        .gradient = gradient_strided_slice_grad,
        .forward = forward_strided_slice_grad,
        .reference = {.reason = "takes a slice: tests/python/test_slices.py"},
    },
    OpDef{
        .name = "Slice",
        .signature = "input: T, begin: Index, size: Index -> output: T",
        .doc = "The box of `size` elements from `begin` on; a size of -1 means all that remain. "
               "InvalidArgument when the box leaves the input.",
        .traits = kPure | kMayFail,
        .types = {{{"Index", kIndex}}},
        .shape = shape_slice,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<slice_kernel>},
        .gradient = gradient_slice,
        .forward = forward_slice,
        .reference = {.reason = "takes a slice: tests/python/test_slices.py"},
    },
    OpDef{
        .name = "ConcatV2",
        .signature = "values: N * T, axis: Tidx -> output: T",
        .doc = "The values one after the other along `axis`, a scalar in [-rank, rank). All other "
               "dims must agree (InvalidArgument); scalars cannot be concatenated.",
        .traits = kPure,
        .types = {{{"Tidx", kIndex}}},
        .shape = shape_concat,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<concat_kernel>},
        .gradient = gradient_concat,
        .forward = forward_concat,
        .reference = {.reason = "any number of inputs: tests/python/test_array_functions.py"},
        .constant = constant_concat,
        .default_node_name = "concat",
    },
    OpDef{
        .name = "Split",
        .signature = "split_dim: int32, value: T; num_split: int -> output: num_split * T",
        .doc = "`num_split` equal pieces along dimension `split_dim`, an int32 scalar. "
               "InvalidArgument unless num_split divides that dimension.",
        .traits = kPure,
        .shape = shape_split,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<split_kernel<1, 0>>},
        .gradient = gradient_split<1, 0>,
        .forward = forward_split<1>,
        .reference = {.reason = "takes an axis: tests/python/test_array_functions.py"},
        .default_node_name = "split",
    },
    OpDef{
        .name = "SplitV",
        .signature = "value: T, size_splits: Tlen, split_dim: int32; num_split: int -> "
                     "output: num_split * T",
        .doc = "Pieces of the given sizes along dimension `split_dim`; one size may be -1 and is "
               "what remains. InvalidArgument when the sizes do not add up.",
        .traits = kPure,
        .types = {{{"Tlen", kIndex | DTypeSet::of(DType::kInt8)}}},
        .shape = shape_split_v,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<split_kernel<0, 2>>},
        .gradient = gradient_split<0, 2>,
        .forward = forward_split<0>,
        .reference = {.reason = "takes an axis: tests/python/test_array_functions.py"},
        .default_node_name = "split",
    },
    OpDef{
        .name = "Pack",
        .signature = "values: N * T; axis: int=0 -> output: T",
        .doc = "The values, all of one shape, along a new dimension `axis` in "
               "[-rank - 1, rank + 1). InvalidArgument when shapes differ.",
        .traits = kPure,
        .shape = shape_pack,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<pack_kernel>},
        .gradient = gradient_pack,
        .forward = forward_linear,
        .reference = {.reason = "any number of inputs: tests/python/test_array_functions.py"},
        .constant = constant_pack,
        .default_node_name = "stack",
    },
    OpDef{
        .name = "Unpack",
        .signature = "value: T; num: int, axis: int=0 -> output: num * T",
        .doc = "The `num` slices of the value along dimension `axis`, which goes away. "
               "InvalidArgument unless that dimension has size num.",
        .traits = kPure,
        .shape = shape_unpack,
        .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<unpack_kernel>},
        .gradient = gradient_unpack,
        .forward = forward_split<0>,
        .reference = {.reason = "several outputs: tests/python/test_array_functions.py"},
        .default_node_name = "unstack",
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
