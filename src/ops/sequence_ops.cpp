// Sequences of numbers.
#include <cmath>
#include <cstdio>

#include "kernels/number.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// --- Range ---

template <class T>
std::string number_text(T value) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
    return text;
  }
}
template <class T>
int64_t range_size(T start, T limit, T delta) {
  if (delta == T(0)) throw_invalid_argument("Requires delta != 0: " + number_text(delta));
  if (delta > T(0) ? start > limit : start < limit) {
    throw_invalid_argument(std::string("Requires start ") + (delta > T(0) ? "<=" : ">=") +
                           " limit when delta " + (delta > T(0) ? ">" : "<") +
                           " 0: " + number_text(start) + "/" + number_text(limit));
  }
  if constexpr (std::is_integral_v<T>) {
    // In unsigned arithmetic, since limit - start may overflow.
    uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
    uint64_t size = distance / step + (distance % step != 0 ? 1 : 0);
    if (size > static_cast<uint64_t>(INT64_MAX)) {
      throw_invalid_argument("Requires ((limit - start) / delta) <= 2**63 - 1");
    }
    return static_cast<int64_t>(size);
  } else {
    double size = std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) /
                                     static_cast<double>(delta)));
    if (!(size < 9.0e18)) {
      throw_invalid_argument("Requires ((limit - start) / delta) <= 2**63 - 1");
    }
    return static_cast<int64_t>(size);
  }
}
int64_t range_size(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  int64_t size = 0;
  kernels::visit_number(start.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using A = kernels::Accumulator<T>;
    if constexpr (!std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      size = range_size<A>(static_cast<A>(*start.data<T>()), static_cast<A>(*limit.data<T>()),
                           static_cast<A>(*delta.data<T>()));
    }
  });
  return size;
}
// From 0 by 1 up to the size of a dimension: as many elements as that.
Dim counts_a_size(ShapeContext& context, const Tensor& start, const Tensor& delta) {
  auto is = [](const Tensor& tensor, int64_t number) {
    return tensor && kIndex.contains(tensor.dtype()) && tensor.element_count() == 1 &&
           integer_values(tensor)[0] == number;
  };
  std::optional<PartialVector> limit = context.partial_vector(1);
  bool is_size = limit && limit->values.size() == 1 && is_symbol(limit->values[0]);
  return is(start, 0) && is(delta, 1) && is_size && !limit->known[0] ? limit->values[0]
                                                                     : kUnknownDim;
}

void shape_range(ShapeContext& context) {
  for (int i : {0, 1, 2}) context.require_rank(i, 0);
  Tensor parts[3] = {context.constant(0), context.constant(1), context.constant(2)};
  if (!parts[0] || !parts[1] || !parts[2]) {
    return context.set_output(0, {counts_a_size(context, parts[0], parts[2])});
  }
  try {
    context.set_output(0, {range_size(parts[0], parts[1], parts[2])});
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
}
void range_kernel(KernelContext& context) {
  for (int i : {0, 1, 2}) {
    if (context.input(i).element_count() != 1) {
      std::string name(context.op().signature.inputs[static_cast<size_t>(i)].name);
      fail(context, name,
           name + " must be a scalar, not shape " + dims_to_string(context.input(i).dims()));
    }
  }
  int64_t size = range_size(context.input(0), context.input(1), context.input(2));
  Tensor& output = context.require_output(0, context.input(0).dtype(), vector_dims(size));
  kernels::visit_number(output.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using A = kernels::Accumulator<T>;
    if constexpr (!std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      A start = static_cast<A>(*context.input(0).data<T>());
      A delta = static_cast<A>(*context.input(2).data<T>());
      T* data = output.mutable_data<T>();
      for (int64_t i = 0; i < size; ++i) {
        data[i] = static_cast<T>(
            kernels::wrapping_add(start, kernels::wrapping_multiply(static_cast<A>(i), delta)));
      }
    }
  });
}
void constant_range(ConstantContext& context) {
  Tensor parts[3];
  for (int i : {0, 1, 2}) {
    parts[i] = constant_value(context.input(i));
    if (!parts[i] || !kIndex.contains(parts[i].dtype()) || parts[i].element_count() != 1) return;
  }
  int64_t size = range_size(parts[0], parts[1], parts[2]);
  if (size > kMaxRank) return;
  PartialVector result;
  for (int64_t i = 0; i < size; ++i) {
    result.values.push_back(integer_at(parts[0], 0) + i * integer_at(parts[2], 0));
    result.known.push_back(true);
  }
  context.set(std::move(result));
}
void gradient_range(GradientContext& context) {
  // Element i is start + i * delta; limit only decides how many there are.
  if (!context.has_dy() || !is_floating(dtype_of(context.y()))) return;
  Algebra f(context.builder());
  Expression dy = context.dy();
  if (context.needs(0)) context.set_dx(0, f.sum(dy, f.int32_vector({0})));
  if (context.needs(2)) {
    Expression count = f.call("Size", {context.y()});
    Expression index = f.cast(f.call("Range", {f.int32(0), count, f.int32(1)}), dy.dtype());
    context.set_dx(2, f.sum(dy * index, f.int32_vector({0})));
  }
}
void forward_range(ForwardContext& context) {
  if (!context.has_dx(0) && !context.has_dx(2)) return;
  Algebra f(context.builder());
  Expression count = f.call("Size", {context.y()});
  DType dtype = dtype_of(context.y());
  if (!is_floating(dtype)) return;
  Expression index = f.cast(f.call("Range", {f.int32(0), count, f.int32(1)}), dtype);
  context.set_dy(0, context.dx(0) + index * context.dx(2));
}

// --- LinSpace ---

void shape_linspace(ShapeContext& context) {
  for (int i : {0, 1, 2}) context.require_rank(i, 0);
  Tensor count = context.constant(2);
  if (count && integer_at(count, 0) <= 0) {
    context.fail("Requires num > 0: " + std::to_string(integer_at(count, 0)));
  }
  context.set_output(0, {count ? integer_at(count, 0) : kUnknownDim});
}
void linspace_kernel(KernelContext& context) {
  Tensor& output = infer_output(context, context.input(0).dtype());
  int64_t count = output.element_count();
  kernels::visit_number(output.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using A = kernels::Accumulator<T>;
    if constexpr (std::is_floating_point_v<A>) {
      A start = static_cast<A>(*context.input(0).data<T>());
      A stop = static_cast<A>(*context.input(1).data<T>());
      T* data = output.mutable_data<T>();
      A step = count > 1 ? (stop - start) / static_cast<A>(count - 1) : A(0);
      for (int64_t i = 0; i < count; ++i) {
        data[i] = static_cast<T>(start + step * static_cast<A>(i));
      }
      if (count > 1) data[count - 1] = static_cast<T>(stop);
    }
  });
}
// Weights of stop in each element: i / (num - 1).
Expression linspace_weights(const Algebra& f, const Operand& y) {
  DType dtype = dtype_of(y);
  return f.call("LinSpace",
                {f.builder().scalar(0, dtype), f.builder().scalar(1, dtype), f.call("Size", {y})});
}
void gradient_linspace(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  Expression weights = linspace_weights(f, context.y());
  Expression dy = context.dy();
  Operand axis = f.int32_vector({0});
  if (context.needs(0)) context.set_dx(0, f.sum(dy * (1.0 - weights), axis));
  if (context.needs(1)) context.set_dx(1, f.sum(dy * weights, axis));
}
void forward_linspace(ForwardContext& context) {
  if (!context.has_dx(0) && !context.has_dx(1)) return;
  Expression weights = linspace_weights(Algebra(context.builder()), context.y());
  context.set_dy(0, context.dx(0) * (1.0 - weights) + context.dx(1) * weights);
}

constexpr std::array kTable{
    OpDef{
        .name = "Range",
        .signature = "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
        .doc = "The vector start, start + delta, ... up to but not including limit; all are "
               "scalars. InvalidArgument when delta is 0 or leads away from limit.",
        .traits = kPure | kMayFail,
        .types = {{{"Tidx", kRealNumeric}}},
        .shape = shape_range,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<range_kernel>},
        .gradient = gradient_range,
        .forward = forward_range,
        .reference = {.reason = "takes scalars: tests/python/test_array_functions.py"},
        .constant = constant_range,
        .default_node_name = "range",
    },
    OpDef{
        .name = "LinSpace",
        .signature = "start: T, stop: T, num: Tidx -> output: T",
        .doc = "`num` > 0 evenly spaced numbers from start to stop, both included (start alone "
               "for num = 1); all are scalars.",
        .traits = kPure | kMayFail,
        .types = {{{"T", kFloating}, {"Tidx", kIndex}}},
        .shape = shape_linspace,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<linspace_kernel>},
        .gradient = gradient_linspace,
        .forward = forward_linspace,
        .reference = {.reason = "takes scalars: tests/python/test_array_functions.py"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
