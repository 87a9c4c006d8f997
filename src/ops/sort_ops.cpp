// The largest elements, by which whole tensors are sorted too.
#include <algorithm>
#include <numeric>

#include "kernels/number.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

void shape_top_k(ShapeContext& context) {
  PartialShape shape = context.require_rank_at_least(0, 1);
  context.require_rank(1, 0);
  Dim count = kUnknownDim;
  if (Tensor k = context.constant(1)) {
    count = integer_at(k, 0);
    if (count < 0) context.fail("Need k >= 0, got " + std::to_string(count));
  }
  if (!shape.has_rank()) {
    context.set_output(0, PartialShape::unknown());
    return context.set_output(1, PartialShape::unknown());
  }
  Dim last = shape.dim(shape.rank() - 1);
  if (is_known(last) && is_known(count) && last < count) {
    context.fail("input must have last dimension >= k = " + std::to_string(count) + " but is " +
                 std::to_string(last));
  }
  shape.set_dim(shape.rank() - 1, count);
  context.set_output(0, shape);
  context.set_output(1, std::move(shape));
}
// Of equal elements the one with the lower index comes first.
template <class T>
void top_of_row(const T* row, int64_t length, int64_t count, std::vector<int64_t>& order) {
  order.resize(static_cast<size_t>(length));
  std::iota(order.begin(), order.end(), 0);
  using A = kernels::Accumulator<T>;
  auto before = [row](int64_t a, int64_t b) {
    A left = static_cast<A>(row[a]), right = static_cast<A>(row[b]);
    return right < left || (!(left < right) && a < b);
  };
  if (count < length) {
    std::partial_sort(order.begin(), order.begin() + count, order.end(), before);
  } else {
    std::sort(order.begin(), order.end(), before);
  }
}
// Comparing with NaN says nothing, so rows that hold one are ordered with NaN below all numbers.
template <class T>
void top_of_row_with_nan(const T* row, int64_t length, std::vector<int64_t>& order) {
  order.resize(static_cast<size_t>(length));
  std::iota(order.begin(), order.end(), 0);
  using A = kernels::Accumulator<T>;
  auto is_nan = [row](int64_t i) {
    A value = static_cast<A>(row[i]);
    return value != value;
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
    return static_cast<A>(row[b]) < static_cast<A>(row[a]);
  });
}
void top_k_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  int64_t count = integer_at(context.input(1), 0);
  int64_t length = input.dim(input.rank() - 1);
  if (count < 0 || count > length) {
    fail(context, "k",
         "input must have at least k columns. Had " + std::to_string(length) + ", needed " +
             std::to_string(count));
  }
  std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  dims.back() = count;
  Tensor& values = context.require_output(0, input.dtype(), dims);
  Tensor& indices = context.require_output(1, context.attributes().type("index_type"), dims);
  int64_t rows = length == 0 ? 0 : input.element_count() / length;
  kernels::visit_number(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      std::vector<int64_t> order;
      for (int64_t r = 0; r < rows; ++r) {
        const T* row = input.data<T>() + r * length;
        bool has_nan = false;
        if constexpr (!std::is_integral_v<T>) {
          using A = kernels::Accumulator<T>;
          has_nan = std::any_of(row, row + length,
                                [](T x) { return static_cast<A>(x) != static_cast<A>(x); });
        }
        if (has_nan) {
          top_of_row_with_nan(row, length, order);
        } else {
          top_of_row(row, length, count, order);
        }
        for (int64_t i = 0; i < count; ++i) {
          int64_t at = order[static_cast<size_t>(i)];
          values.mutable_data<T>()[r * count + i] = row[at];
          set_integer(indices, r * count + i, at);
        }
      }
    }
  });
}
// Rows one after the other: the position of each picked element in the flat input.
Expression flat_positions(const Algebra& f, const Expression& x, const Expression& indices) {
  Expression shape = f.shape_of(x);
  Expression length =
      f.call("GatherV2", {shape, f.call("Sub", {f.rank_of(x), f.int32(1)}), f.int32(0)});
  Expression picked = f.shape_of(indices);
  Expression count =
      f.call("GatherV2", {picked, f.call("Sub", {f.rank_of(x), f.int32(1)}), f.int32(0)});
  Expression pieces{f.builder(), f.builder().op("Pack", {f.int32(-1), count})};
  Expression rows = f.reshape(f.cast(indices, DType::kInt32), pieces);
  Expression row_count =
      f.call("GatherV2",
             {Expression(f.builder(), f.builder().op("Shape", {rows})), f.int32(0), f.int32(0)});
  Expression starts = f.call("Range", {f.int32(0), row_count, f.int32(1)}) * length;
  return f.reshape(rows + f.call("ExpandDims", {starts, f.int32(1)}), f.int32_vector({-1}));
}
void gradient_top_k(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy(0)) return;
  Algebra f(context.builder());
  Expression x = context.x(0);
  Expression positions = flat_positions(f, x, context.y(1));
  Expression shape = f.shape_of(x);
  Expression size = f.call("Prod", {shape, f.int32_vector({0})}, {{"keep_dims", true}});
  Expression flat = f.call("ScatterNd", {f.call("ExpandDims", {positions, f.int32(1)}),
                                         f.reshape(context.dy(0), f.int32_vector({-1})), size});
  context.set_dx(0, f.reshape(flat, shape));
}
void forward_top_k(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  Algebra f(context.builder());
  Expression positions = flat_positions(f, context.x(0), context.y(1));
  Expression flat = f.reshape(context.dx(0), f.int32_vector({-1}));
  context.set_dy(0,
                 f.reshape_like(f.call("GatherV2", {flat, positions, f.int32(0)}), context.y(0)));
}

constexpr std::array kTable{
    OpDef{.name = "TopKV2",
          .signature = "input: T, k: Tk; sorted: bool=true, index_type: type=int32 -> values: T, "
                       "indices: index_type",
          .doc = "The k largest elements along the last dimension, largest first, and their "
                 "indices there; of equal elements the first. InvalidArgument when the dimension "
                 "has fewer than k.",
          .traits = kPure | kMayFail,
          .types = {{{"T", kRealNumeric},
                     {"Tk", kIndex | DTypeSet::of(DType::kInt16)},
                     {"index_type", kIndex | DTypeSet::of(DType::kInt16, DType::kUint16)}}},
          .shape = shape_top_k,
          .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<top_k_kernel>},
          .gradient = gradient_top_k,
          .forward = forward_top_k,
          .reference = {.reason = "takes k: tests/python/test_axis_functions.py"}},
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
