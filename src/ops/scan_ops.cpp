// Ops along one axis of a tensor: running sums and products, rotation.
#include <algorithm>
#include <numeric>

#include "kernels/number.h"
#include "kernels/strided_copy.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// A tensor seen as [outer, length, inner] around one axis.
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
};
AxisView view_of(std::span<const int64_t> dims, int axis) {
  AxisView view;
  size_t at = static_cast<size_t>(axis);
  for (size_t i = 0; i < at; ++i) view.outer *= dims[i];
  view.length = dims[at];
  for (size_t i = at + 1; i < dims.size(); ++i) view.inner *= dims[i];
  return view;
}

// --- Cumsum and Cumprod ---

int scan_axis(int64_t axis, int rank) {
  std::optional<int> normal = normalize_axis(axis, rank);
  if (!normal) {
    throw_invalid_argument("ScanOp: Expected scan axis in the range [" + std::to_string(-rank) +
                           ", " + std::to_string(rank) + "), but got " + std::to_string(axis));
  }
  return *normal;
}
void shape_scan(ShapeContext& context) {
  context.require_rank(1, 0);
  context.set_output(0, context.input_shape(0));
}
template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, kernels::Half> || std::is_same_v<T, kernels::Bfloat16>) {
    return T(static_cast<float>(a) * static_cast<float>(b));
  } else {
    return kernels::wrapping_multiply(a, b);
  }
}
template <bool Products, class T>
void scan(const T* source, T* target, const AxisView& view, bool exclusive, bool reverse) {
  T identity = [] {
    if constexpr (std::is_same_v<T, kernels::Half> || std::is_same_v<T, kernels::Bfloat16>) {
      return T(Products ? 1.0f : 0.0f);
    } else {
      return T(Products ? 1 : 0);
    }
  }();
  // Row by row along the axis, so that memory is walked in order.
  std::vector<T> running(static_cast<size_t>(view.inner));
  for (int64_t o = 0; o < view.outer; ++o) {
    std::fill(running.begin(), running.end(), identity);
    for (int64_t step = 0; step < view.length; ++step) {
      int64_t at = reverse ? view.length - 1 - step : step;
      int64_t offset = (o * view.length + at) * view.inner;
      for (int64_t i = 0; i < view.inner; ++i) {
        T& sum = running[static_cast<size_t>(i)];
        T element = source[offset + i];
        if (exclusive) target[offset + i] = sum;
        sum = Products ? product_of(sum, element) : kernels::wrapping_add(sum, element);
        if (!exclusive) target[offset + i] = sum;
      }
    }
  }
}
template <bool Products>
void scan_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  if (context.input(1).rank() != 0) {
    fail(context, "axis",
         "ScanOp: axis must be a scalar, not " + dims_to_string(context.input(1).dims()));
  }
  int64_t axis = integer_at(context.input(1), 0);
  Tensor& output = context.require_output(0, input.dtype(), input.dims());
  int normal = scan_axis(axis, input.rank());
  AxisView view = view_of(input.dims(), normal);
  kernels::visit_number(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    scan<Products>(input.data<T>(), output.mutable_data<T>(), view,
                   context.attributes().boolean("exclusive"),
                   context.attributes().boolean("reverse"));
  });
}
Expression scan_again(Builder& builder, const AttributeReader& attributes, std::string_view op,
                      const Operand& x, const Operand& axis, bool turned) {
  return Algebra(builder).call(op, {x, axis},
                               {{"exclusive", attributes.boolean("exclusive")},
                                {"reverse", attributes.boolean("reverse") != turned}});
}
void gradient_cumsum(GradientContext& context) {
  if (!context.needs(0)) return;
  context.set_dx(0, scan_again(context.builder(), context.attributes(), "Cumsum", context.dy(),
                               context.x(1), true));
}
// Exact where no element is 0; elements that are 0 get 0, as in TensorFlow.
void gradient_cumprod(GradientContext& context) {
  if (!context.needs(0)) return;
  Expression x = context.x(0);
  Expression sums = scan_again(context.builder(), context.attributes(), "Cumsum",
                               context.y() * context.dy(), context.x(1), true);
  context.set_dx(0, sums.apply("DivNoNan", x));
}
// The logarithm of a product changes by the sum of dx / x.
void forward_cumprod(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  Expression rates = context.dx(0).apply("DivNoNan", context.x(0));
  Expression sums =
      scan_again(context.builder(), context.attributes(), "Cumsum", rates, context.x(1), false);
  context.set_dy(0, context.y() * sums);
}

// --- Roll ---

void shape_roll(ShapeContext& context) {
  PartialShape shift = context.input_shape(1), axis = context.input_shape(2);
  context.require_rank_at_least(0, 1);
  for (const PartialShape& list : {shift, axis}) {
    if (list.has_rank() && list.rank() > 1) {
      context.fail("shift and axis must be scalars or vectors, got shape " + shape_text(list));
    }
  }
  if (!shift.has_rank() || !axis.has_rank()) {
    return context.set_output(0, context.input_shape(0));
  }
  if (!shift.is_compatible_with(axis)) {
    context.fail("shift and axis must have the same size, got " + shape_text(shift) + " and " +
                 shape_text(axis));
  }
  context.set_output(0, context.input_shape(0));
}
void roll_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Tensor& shifts = context.input(1);
  const Tensor& axes = context.input(2);
  if (shifts.element_count() != axes.element_count()) {
    fail(context, "axis", "shift and axis must have the same size");
  }
  size_t rank = static_cast<size_t>(input.rank());
  std::vector<int64_t> by(rank, 0);
  for (int64_t i = 0; i < axes.element_count(); ++i) {
    std::optional<int> axis = normalize_axis(integer_at(axes, i), input.rank());
    if (!axis) {
      fail(context, "axis", "axis " + std::to_string(integer_at(axes, i)) + " is out of range");
    }
    by[static_cast<size_t>(*axis)] += integer_at(shifts, i);
  }
  Tensor& output = context.require_output(0, input.dtype(), input.dims());
  if (input.element_count() == 0) return;
  // Each dimension is cut in two pieces that change places, so that the result is at most 2^rank
  // boxes, each copied at once.
  std::vector<int64_t> strides = kernels::row_major_strides(input.dims());
  size_t boxes = size_t{1} << rank;
  for (size_t box = 0; box < boxes; ++box) {
    std::vector<int64_t> dims(rank);
    int64_t from = 0, to = 0;
    for (size_t d = 0; d < rank; ++d) {
      int64_t size = input.dims()[d];
      int64_t shift = ((by[d] % size) + size) % size;
      bool wraps = box >> d & 1;
      dims[d] = wraps ? shift : size - shift;
      from += (wraps ? size - shift : 0) * strides[d];
      to += (wraps ? 0 : shift) * strides[d];
    }
    if (std::ranges::find(dims, 0) != dims.end()) continue;
    kernels::strided_copy(input.dtype(), dims, input.raw_data(), from, strides,
                          output.mutable_raw_data(), to, strides);
  }
}
void gradient_roll(GradientContext& context) {
  if (!context.needs(0)) return;
  Algebra f(context.builder());
  context.set_dx(0, f.call("Roll", {context.dy(), -context.x(1), context.x(2)}));
}

constexpr const char* kTested = "takes an axis: tests/python/test_axis_functions.py";

constexpr OpDef scan_row(std::string_view name, std::string_view doc, Kernel kernel,
                         GradientRule gradient, ForwardRule forward) {
  return {.name = name,
          .signature = "x: T, axis: Tidx; exclusive: bool=false, reverse: bool=false -> out: T",
          .doc = doc,
          .traits = kPure | kMayFail,
          .types = {{{"T", kNumeric}, {"Tidx", kIndex}}},
          .shape = shape_scan,
          .compute = {.kind = ComputeKind::kLibrary, .kernel = kernel},
          .gradient = gradient,
          .forward = forward,
          .reference = {.reason = kTested}};
}

constexpr std::array kTable{
    scan_row("Cumsum",
             "The sum of the elements up to each one along the axis: from the end with reverse, "
             "without the element itself with exclusive. Integers wrap.",
             guarded<scan_kernel<false>>, gradient_cumsum, forward_first_input),
    scan_row("Cumprod",
             "The product of the elements up to each one along the axis: from the end with "
             "reverse, without the element itself with exclusive. Integers wrap.",
             guarded<scan_kernel<true>>, gradient_cumprod, forward_cumprod),
    OpDef{.name = "Roll",
          .signature = "input: T, shift: Tshift, axis: Taxis -> output: T",
          .doc = "The input with its elements moved on by shift[i] places along axis[i]; what "
                 "leaves at one end comes in at the other. Shifts of one axis add up.",
          .traits = kPure | kMayFail,
          .types = {{{"Tshift", kIndex}, {"Taxis", kIndex}}},
          .shape = shape_roll,
          .compute = {.kind = ComputeKind::kIndexMap, .kernel = guarded<roll_kernel>},
          .gradient = gradient_roll,
          .forward = forward_first_input,
          .reference = {.reason = kTested}},
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
