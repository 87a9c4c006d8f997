// Reductions over axes, and sums of several tensors.
#include <algorithm>

#include "ir/resources.h"
#include "kernels/gather.h"
#include "kernels/number.h"
#include "kernels/reduction.h"
#include "kernels/strided_copy.h"
#include "ops/list_arithmetic.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// --- Shapes ---

// The axes as a mask; each may be given once.
std::vector<bool> reduced_axes(const Tensor& axes, int rank) {
  if (axes.rank() > 1) {
    throw_invalid_argument("reduction axes must be a scalar or a vector, got shape " +
                           dims_to_string(axes.dims()));
  }
  std::vector<int64_t> values = integer_values(axes);
  std::vector<bool> mask = axis_mask(values, rank);
  if (std::ranges::count(mask, true) != static_cast<int64_t>(values.size())) {
    throw_invalid_argument("Invalid reduction arguments: Axes contains a duplicate dimension: " +
                           dims_to_string(values));
  }
  return mask;
}
void shape_reduction(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  bool keep_dims = context.attributes().boolean("keep_dims");
  Tensor axes = context.constant(1);
  if (!input.has_rank()) {
    // No axes: the shape stays.
    return context.set_output(0, PartialShape::unknown());
  }
  if (!axes) {
    return context.set_output(
        0, keep_dims ? PartialShape::unknown_dims(input.rank()) : PartialShape::unknown());
  }
  std::vector<bool> reduced;
  try {
    reduced = reduced_axes(axes, input.rank());
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
  std::vector<Dim> dims;
  for (int i = 0; i < input.rank(); ++i) {
    if (!reduced[static_cast<size_t>(i)]) {
      dims.push_back(input.dim(i));
    } else if (keep_dims) {
      dims.push_back(1);
    }
  }
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}

// --- Kernels ---

template <ReductionKind Kind>
void reduction_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  std::vector<bool> reduced = reduced_axes(context.input(1), input.rank());
  bool keep_dims = context.attributes().boolean("keep_dims");
  std::array<int64_t, kMaxRank> dims;
  size_t rank = 0;
  bool any = false;
  for (int i = 0; i < input.rank(); ++i) {
    bool goes = reduced[static_cast<size_t>(i)];
    any = any || goes;
    if (goes && !keep_dims) continue;
    dims[rank++] = goes ? 1 : input.dim(i);
  }
  if (!any) return forward_input(context);
  Tensor& output = context.require_output(0, input.dtype(), std::span(dims.data(), rank));
  reduce(Kind, input.dtype(), input.raw_data(), input.dims(), reduced, output.mutable_raw_data());
}

// --- Derivatives ---

// The reduced value with its axes kept as dimensions of size 1, so that it broadcasts against x.
Expression with_kept_axes(const Algebra& f, const AttributeReader& attributes, const Expression& y,
                          const Operand& x, const Operand& axes) {
  if (attributes.boolean("keep_dims")) return y;
  PartialShape shape = shape_of(x);
  Tensor known_axes = constant_value(axes);
  if (known_axes && shape.has_rank()) {
    std::vector<bool> reduced = reduced_axes(known_axes, shape.rank());
    std::vector<int64_t> kept;
    int unknown = 0;
    for (int i = 0; i < shape.rank(); ++i) {
      bool goes = reduced[static_cast<size_t>(i)];
      if (!goes && !is_known(shape.dim(i))) ++unknown;
      kept.push_back(goes ? 1 : is_known(shape.dim(i)) ? shape.dim(i) : -1);
    }
    if (unknown <= 1) return f.reshape(y, f.int32_vector(kept));
  }
  Expression dims = f.shape_of(x);
  Expression flat = f.reshape(f.cast(axes, DType::kInt32), f.int32_vector({-1}));
  Expression positive = f.call("FloorMod", {flat, f.rank_of(x)});
  Expression indices = f.call("ExpandDims", {positive, f.int32(1)});
  Expression ones{f.builder(), ones_like(f.builder(), positive)};
  return f.reshape(y, f.call("TensorScatterUpdate", {dims, indices, ones}));
}
Expression broadcast_like(const Algebra& f, const Expression& value, const Operand& x) {
  return f.call("BroadcastTo", {value, f.shape_of(x)});
}
// How many elements of x go into one of y, as a number of x's dtype.
Expression reduced_count(const Algebra& f, const Operand& x, const Operand& y) {
  DType dtype = dtype_of(x);
  std::optional<int64_t> from = shape_of(x).element_count(), to = shape_of(y).element_count();
  if (from && to && *to > 0) {
    return {f.builder(), f.builder().scalar(static_cast<double>(*from / *to), dtype)};
  }
  Expression from_size = f.call("Size", {x}, {{"out_type", DType::kInt64}});
  Expression to_size = f.call("Size", {y}, {{"out_type", DType::kInt64}});
  Expression one{f.builder(), f.builder().scalar(1, DType::kInt64)};
  return f.cast(f.call("FloorDiv", {from_size, f.call("Maximum", {to_size, one})}), dtype);
}

void gradient_sum(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression dy = with_kept_axes(f, context.attributes(), context.dy(), context.x(0), context.x(1));
  context.set_dx(0, broadcast_like(f, dy, context.x(0)));
}
void gradient_mean(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression dy = with_kept_axes(f, context.attributes(), context.dy(), context.x(0), context.x(1));
  Expression count = reduced_count(f, context.x(0), context.y());
  context.set_dx(0, broadcast_like(f, dy, context.x(0)) / count);
}
// Equal extrema share the gradient.
Expression extremum_weights(const Algebra& f, const AttributeReader& attributes,
                            const Expression& x, const Expression& y, const Operand& axes) {
  Expression kept = with_kept_axes(f, attributes, y, x, axes);
  Expression chosen = f.cast(x.apply("Equal", kept), x.dtype());
  return chosen / f.sum(chosen, axes, true);
}
void gradient_extremum(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression weights =
      extremum_weights(f, context.attributes(), context.x(0), context.y(), context.x(1));
  Expression dy = with_kept_axes(f, context.attributes(), context.dy(), context.x(0), context.x(1));
  context.set_dx(0, weights * dy);
}
void forward_extremum(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  Algebra f(context.builder());
  Expression weights =
      extremum_weights(f, context.attributes(), context.x(0), context.y(), context.x(1));
  context.set_dy(
      0, f.sum(weights * context.dx(0), context.x(1), context.attributes().boolean("keep_dims")));
}
// The product of the other elements along the axes, for each element: the whole product divided by
// the element where none is zero; with one zero, what is left at that element and 0 elsewhere.
Expression product_of_others(const Algebra& f, const Expression& x, const Operand& axes) {
  Expression zero = f.zeros_like(x);
  Expression one{f.builder(), ones_like(f.builder(), x)};
  Expression is_zero = x.apply("Equal", zero);
  Expression zeros = f.sum(f.cast(is_zero, DType::kInt32), axes, true);
  Expression safe = f.call("SelectV2", {is_zero, one, x});
  Expression product = f.call("Prod", {safe, axes}, {{"keep_dims", true}});
  Expression none = f.call("Equal", {zeros, f.int32(0)});
  Expression single = f.call("Equal", {zeros, f.int32(1)});
  Expression at_zero =
      f.call("SelectV2", {f.call("LogicalAnd", {is_zero, single}), product * one, zero});
  return f.call("SelectV2", {none, product / safe, at_zero});
}
void gradient_product(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  Expression dy = with_kept_axes(f, context.attributes(), context.dy(), context.x(0), context.x(1));
  context.set_dx(0, dy * f.conjugate(product_of_others(f, context.x(0), context.x(1))));
}
void forward_product(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  Algebra f(context.builder());
  context.set_dy(0, f.sum(context.dx(0) * product_of_others(f, context.x(0), context.x(1)),
                          context.x(1), context.attributes().boolean("keep_dims")));
}
// The product of a shape: the number of elements.
void constant_product(ConstantContext& context) {
  std::optional<PartialVector> values = partial_constant_vector(context.input(0));
  Tensor axes = constant_value(context.input(1));
  PartialShape shape = shape_of(context.input(0));
  if (!values || !axes || axes.element_count() != 1 || shape.rank() != 1) return;
  int64_t product = 1;
  for (size_t i = 0; i < values->values.size(); ++i) {
    if (!values->known[i] || __builtin_mul_overflow(product, values->values[i], &product)) return;
  }
  context.set({{product}, {true}});
}

// --- ArgMax, ArgMin ---

void shape_arg(ShapeContext& context) {
  PartialShape input = context.input_shape(0);
  std::optional<int64_t> count = context.input_shape(1).element_count();
  if (count && *count != 1)
    context.fail("dim must be a scalar, but received tensor of shape: " +
                 shape_text(context.input_shape(1)));
  if (!input.has_rank()) return context.set_output(0, PartialShape::unknown());
  Tensor axis = context.constant(1);
  if (!axis) {
    return context.set_output(
        0, input.rank() > 0 ? PartialShape::unknown_dims(input.rank() - 1) : PartialShape{});
  }
  std::optional<int> normal = normalize_axis(integer_at(axis, 0), input.rank());
  if (!normal) {
    context.fail("Expected dimension in the range [" + std::to_string(-input.rank()) + ", " +
                 std::to_string(input.rank()) + "), but got " +
                 std::to_string(integer_at(axis, 0)));
  }
  if (input.dim(*normal) == 0) {
    context.fail("Reduction axis " + std::to_string(*normal) + " is empty in shape " +
                 shape_text(input));
  }
  std::vector<Dim> dims(input.dims().begin(), input.dims().end());
  dims.erase(dims.begin() + *normal);
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
template <bool Largest>
void arg_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  DType dtype = context.attributes().type("output_type");
  Tensor& output = infer_output(context, dtype);
  int axis = *normalize_axis(integer_at(context.input(1), 0), input.rank());
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= input.dim(i);
  for (int i = axis + 1; i < input.rank(); ++i) inner *= input.dim(i);
  if (outer * inner == 0) return;
  if (dtype == DType::kInt64) {
    arg_reduce(Largest, input.dtype(), input.raw_data(), outer, input.dim(axis), inner,
               output.mutable_data<int64_t>());
    return;
  }
  std::vector<int64_t> indices(static_cast<size_t>(outer * inner));
  arg_reduce(Largest, input.dtype(), input.raw_data(), outer, input.dim(axis), inner,
             indices.data());
  for (size_t i = 0; i < indices.size(); ++i) {
    set_integer(output, static_cast<int64_t>(i), indices[i]);
  }
}

// --- AddN ---

void shape_add_n(ShapeContext& context) {
  if (context.input_count() < 1) context.fail("needs at least one input");
  if (context.input_dtype(0) == DType::kVariant) {
    context.output_type(0) = context.input_type(0);
    return;
  }
  PartialShape shape = context.input_shape(0);
  for (int i = 1; i < context.input_count(); ++i) {
    PartialShape other = context.input_shape(i);
    if (!shape.is_compatible_with(other)) {
      context.fail(
          "Inputs to operation AddN of type AddN must have the same size and shape.  "
          "Input 0: " +
          shape_text(context.input_shape(0)) + " != input " + std::to_string(i) + ": " +
          shape_text(other));
    }
    shape = shape.merged_with(other);
  }
  context.set_output(0, std::move(shape));
}
// Lists add element by element.
void add_lists(KernelContext& context) {
  auto list_at = [&](int i) {
    std::shared_ptr<ListObject> list = list_in(context.input(i));
    if (!list) fail(context, "inputs", "AddN of variants adds lists only");
    return list;
  };
  std::shared_ptr<ListObject> total = list_at(0)->copy();
  for (int i = 1; i < context.input_count(); ++i) {
    Status status = add_to_list(*total, *list_at(i));
    if (!status.ok()) fail(context, "inputs", std::string(status.message()));
  }
  context.set_output(0, Tensor::object(DType::kVariant, std::move(total)));
}
void add_n_kernel(KernelContext& context) {
  const Tensor& first = context.input(0);
  if (first.dtype() == DType::kVariant) return add_lists(context);
  if (context.input_count() == 1) return forward_input(context);
  for (int i = 1; i < context.input_count(); ++i) {
    if (!std::ranges::equal(context.input(i).dims(), first.dims())) {
      fail(context, "inputs",
           "Inputs to operation AddN of type AddN must have the same size and shape.  Input 0: " +
               dims_to_string(first.dims()) + " != input " + std::to_string(i) + ": " +
               dims_to_string(context.input(i).dims()));
    }
  }
  Tensor& output = context.require_output(0, first.dtype(), first.dims());
  kernels::copy_elements(first.dtype(), first.raw_data(), 0, output.mutable_raw_data(), 0,
                         first.element_count());
  for (int i = 1; i < context.input_count(); ++i) {
    kernels::add_elements(first.dtype(), context.input(i).raw_data(), 0, output.mutable_raw_data(),
                          0, first.element_count());
  }
}
void gradient_add_n(GradientContext& context) {
  if (!context.has_dy()) return;
  Expression dy = context.dy();
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.needs(i)) context.set_dx(i, dy);
  }
}
void forward_add_n(ForwardContext& context) {
  std::vector<Operand> tangents;
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.has_dx(i)) tangents.push_back(context.dx(i));
  }
  if (tangents.empty()) return;
  context.set_dy(0, tangents.size() == 1
                        ? tangents[0]
                        : context.builder().op("AddN", std::span<const Operand>(tangents)));
}

#define GW_REDUCTION_SIGNATURE \
  "input: T, reduction_indices: Tidx; keep_dims: bool=false -> output: T"
#define GW_REDUCTION_DOC                                                                    \
  " over the axes listed (int32 or int64, in [-rank, rank), each once), which go away or, " \
  "with keep_dims, stay with size 1. The order of operations is fixed by the number of "    \
  "elements alone."

constexpr Reference kReference{.reason = "takes axes: tests/python/test_reductions.py"};

constexpr OpDef reduction_row(std::string_view name, std::string_view doc, DTypeSet types,
                              Kernel kernel, GradientRule gradient, ForwardRule forward) {
  return {
      .name = name,
      .signature = GW_REDUCTION_SIGNATURE,
      .doc = doc,
      .traits = kPure,
      .types = {{{"T", types}, {"Tidx", kIndex}}},
      .shape = shape_reduction,
      .compute = {.kind = ComputeKind::kReduction, .kernel = kernel},
      .gradient = gradient,
      .forward = forward,
      .reference = kReference,
  };
}
constexpr OpDef logical_row(std::string_view name, std::string_view doc, Kernel kernel) {
  return {
      .name = name,
      .signature = "input: bool, reduction_indices: Tidx; keep_dims: bool=false -> output: bool",
      .doc = doc,
      .traits = kPure | kZeroDerivative,
      .types = {{{"Tidx", kIndex}}},
      .shape = shape_reduction,
      .compute = {.kind = ComputeKind::kReduction, .kernel = kernel},
      .gradient = Absent{"is a function of bools"},
      .forward = Absent{"is a function of bools"},
      .reference = kReference,
  };
}
constexpr OpDef arg_row(std::string_view name, std::string_view doc, Kernel kernel) {
  return {
      .name = name,
      .signature = "input: T, dimension: Tidx; output_type: type=int64 -> output: output_type",
      .doc = doc,
      .traits = kPure | kZeroDerivative | kMayFail,
      .types = {{{"T", kRealNumeric | DTypeSet::of(DType::kBool)},
                 {"Tidx", kGatherIndex},
                 {"output_type", kGatherIndex | DTypeSet::of(DType::kUint16)}}},
      .shape = shape_arg,
      .compute = {.kind = ComputeKind::kReduction, .kernel = kernel},
      .gradient = Absent{"its result is integers"},
      .forward = Absent{"its result is integers"},
      .reference = kReference,
  };
}
constexpr OpDef with_constant(OpDef row, ConstantRule rule) {
  row.constant = rule;
  return row;
}

constexpr std::array kTable{
    reduction_row("Sum", "Sum" GW_REDUCTION_DOC " Integers wrap.", kNumeric,
                  guarded<reduction_kernel<ReductionKind::kSum>>, gradient_sum,
                  forward_first_input),
    with_constant(reduction_row("Prod", "Product" GW_REDUCTION_DOC " Integers wrap.", kNumeric,
                                guarded<reduction_kernel<ReductionKind::kProduct>>,
                                gradient_product, forward_product),
                  constant_product),
    reduction_row("Max",
                  "Largest element, NaN if there is one," GW_REDUCTION_DOC
                  " Of nothing: -infinity, or the least integer.",
                  kRealNumeric, guarded<reduction_kernel<ReductionKind::kMaximum>>,
                  gradient_extremum, forward_extremum),
    reduction_row("Min",
                  "Smallest element, NaN if there is one," GW_REDUCTION_DOC
                  " Of nothing: infinity, or the largest integer.",
                  kRealNumeric, guarded<reduction_kernel<ReductionKind::kMinimum>>,
                  gradient_extremum, forward_extremum),
    reduction_row("Mean",
                  "Mean" GW_REDUCTION_DOC
                  " Of integers it is rounded towards zero; of nothing it is NaN.",
                  kNumeric, guarded<reduction_kernel<ReductionKind::kMean>>, gradient_mean,
                  forward_first_input),
    logical_row("All", "Whether all elements are true" GW_REDUCTION_DOC,
                guarded<reduction_kernel<ReductionKind::kAll>>),
    logical_row("Any", "Whether any element is true" GW_REDUCTION_DOC,
                guarded<reduction_kernel<ReductionKind::kAny>>),
    arg_row("ArgMax",
            "Index of the largest element along a dimension, the first of several, of the integer "
            "dtype output_type. InvalidArgument for a dimension outside [-rank, rank) or of size "
            "0.",
            guarded<arg_kernel<true>>),
    arg_row("ArgMin",
            "Index of the smallest element along a dimension, the first of several, of the integer "
            "dtype output_type. InvalidArgument for a dimension outside [-rank, rank) or of size "
            "0.",
            guarded<arg_kernel<false>>),
    OpDef{
        .name = "AddN",
        .signature = "inputs: N * T -> sum: T",
        .doc = "The sum of all inputs, in order; they have one shape (InvalidArgument otherwise). "
               "Lists add element by element.",
        .traits = kPure,
        .types = {{{"T", kNumeric | DTypeSet::of(DType::kVariant)}}},
        .shape = shape_add_n,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<add_n_kernel>},
        .gradient = gradient_add_n,
        .forward = forward_add_n,
        .reference = {.reason = "any number of inputs: tests/python/test_reductions.py"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
