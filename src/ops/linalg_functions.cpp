// Products of matrices and tensors, and norms.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/function_support.h"

namespace graphwright {
namespace {

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false, adjoint_a = false, adjoint_b = false;
};

// Matrices by MatMul, anything of higher rank by BatchMatMulV2, which knows adjoints only.
Operand product(CallContext& context, Expression a, Expression b, MatmulOptions options,
                std::string_view node_name) {
  if ((options.transpose_a && options.adjoint_a) || (options.transpose_b && options.adjoint_b)) {
    throw_value_error("Only one of `transpose` and `adjoint` can be True for a factor.");
  }
  Algebra f(context.builder());
  PartialShape a_shape = shape_of(a), b_shape = shape_of(b);
  bool matrices =
      a_shape.has_rank() && b_shape.has_rank() && a_shape.rank() <= 2 && b_shape.rank() <= 2;
  if (matrices) {
    if (options.adjoint_a) a = f.conjugate(a);
    if (options.adjoint_b) b = f.conjugate(b);
    return apply_op(context, "MatMul", {a, b},
                    {{"transpose_a", options.transpose_a || options.adjoint_a},
                     {"transpose_b", options.transpose_b || options.adjoint_b}},
                    node_name);
  }
  // A transpose is the adjoint of the conjugate.
  if (options.transpose_a) a = f.conjugate(a);
  if (options.transpose_b) b = f.conjugate(b);
  return apply_op(context, "BatchMatMulV2", {a, b},
                  {{"adj_x", options.transpose_a || options.adjoint_a},
                   {"adj_y", options.transpose_b || options.adjoint_b}},
                  node_name);
}

// matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse,
//        output_type, grad_a, grad_b)
CallResult matmul(CallContext& context) {
  Algebra f(context.builder());
  Expression a = context.tensor(0), b = context.tensor(1);
  if (!context.is_none(8) && context.dtype(8) != a.dtype()) {
    DType output = context.dtype(8);
    a = f.cast(a, output);
    b = f.cast(b, output);
  }
  return product(context, a, b,
                 {context.boolean(2), context.boolean(3), context.boolean(4), context.boolean(5)},
                 "MatMul");
}

// matvec(a, b, transpose_a, adjoint_a, a_is_sparse, b_is_sparse)
CallResult matvec(CallContext& context) {
  Builder& builder = context.builder();
  Expression column =
      inner_op(builder, "ExpandDims", {context.tensor(1), Tensor::int32_scalar(-1)});
  Algebra f(builder);
  Expression a = context.tensor(0);
  bool transpose = context.boolean(2), adjoint = context.boolean(3);
  if (transpose && adjoint) {
    throw_value_error("Only one of `transpose_a` and `adjoint_a` can be True.");
  }
  PartialShape a_shape = shape_of(a), b_shape = shape_of(column);
  Expression result;
  if (a_shape.has_rank() && b_shape.has_rank() && a_shape.rank() <= 2 && b_shape.rank() <= 2) {
    if (adjoint) a = f.conjugate(a);
    result = f.call("MatMul", {a, column}, {{"transpose_a", transpose || adjoint}});
  } else {
    if (transpose) a = f.conjugate(a);
    result = f.call("BatchMatMulV2", {a, column}, {{"adj_x", transpose || adjoint}});
  }
  return builder.op("Squeeze", {result},
                    attributes_of("Squeeze", {{"squeeze_dims", std::vector<int64_t>{-1}}}));
}

// --- tensordot ---

std::vector<int64_t> without(int rank, const std::vector<int64_t>& axes) {
  std::vector<int64_t> rest;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(axes, i) == axes.end()) rest.push_back(i);
  }
  return rest;
}
// x as a matrix: the free dimensions by the contracted ones, or the other way round.
struct Flattened {
  Expression matrix;
  Expression free_shape;
};
Flattened flatten(const Algebra& f, const Expression& x, const std::vector<int64_t>& axes,
                  bool free_first) {
  int rank = shape_of(x).rank();
  std::vector<int64_t> free = without(rank, axes), order;
  const std::vector<int64_t>&first = free_first ? free : axes, &second = free_first ? axes : free;
  order = first;
  order.insert(order.end(), second.begin(), second.end());
  Expression shape = f.shape_of(x);
  auto dims_of = [&](const std::vector<int64_t>& which) {
    return f.call("GatherV2", {shape, f.int32_vector(which), f.int32(0)});
  };
  Expression free_shape = dims_of(free);
  Expression free_size = f.call("Prod", {free_shape, f.int32_vector({0})});
  Expression inner_size = f.call("Prod", {dims_of(axes), f.int32_vector({0})});
  Expression shape2 = free_first ? f.call("Pack", {free_size, inner_size})
                                 : f.call("Pack", {inner_size, free_size});
  bool ordered = std::ranges::is_sorted(order);
  Expression moved = ordered ? x : f.call("Transpose", {x, f.int32_vector(order)});
  return {f.reshape(moved, shape2), free_shape};
}
std::vector<int64_t> checked_axes(std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes) {
    std::optional<int> normal = normalize_axis(axis, rank);
    if (!normal) {
      throw_value_error("tensordot: axis " + std::to_string(axis) + " is not in [" +
                        std::to_string(-rank) + ", " + std::to_string(rank) + ")");
    }
    axis = *normal;
  }
  return axes;
}
// tensordot(a, b, axes): an int n (the last n of a, the first n of b), a pair of ints, or a
// 2-row integer tensor.
CallResult tensordot(CallContext& context) {
  Algebra f(context.builder());
  Expression a = context.tensor(0), b = context.tensor(1);
  PartialShape a_shape = shape_of(a), b_shape = shape_of(b);
  if (!a_shape.has_rank() || !b_shape.has_rank()) {
    throw_unimplemented("tensordot: tensors of unknown rank are not implemented");
  }
  Tensor axes = constant_value(context.operand(2));
  if (!axes) throw_value_error("tensordot: axes must be known while tracing");
  std::vector<int64_t> a_axes, b_axes;
  if (axes.rank() == 0) {
    int64_t count = integer_at(axes, 0);
    if (count < 0 || count > a_shape.rank() || count > b_shape.rank()) {
      throw_value_error("tensordot: axes = " + std::to_string(count) +
                        " must be in [0, rank of either tensor]");
    }
    for (int64_t i = 0; i < count; ++i) {
      a_axes.push_back(a_shape.rank() - count + i);
      b_axes.push_back(i);
    }
  } else if (axes.dim(0) == 2 && axes.rank() <= 2) {
    int64_t count = axes.element_count() / 2;
    for (int64_t i = 0; i < count; ++i) {
      a_axes.push_back(integer_at(axes, i));
      b_axes.push_back(integer_at(axes, count + i));
    }
    a_axes = checked_axes(std::move(a_axes), a_shape.rank());
    b_axes = checked_axes(std::move(b_axes), b_shape.rank());
  } else {
    throw_value_error("tensordot: axes must be an int or a pair, got a tensor of shape " +
                      dims_to_string(axes.dims()));
  }
  Flattened left = flatten(f, a, a_axes, true), right = flatten(f, b, b_axes, false);
  Expression matrix = f.call("MatMul", {left.matrix, right.matrix});
  Expression shape = f.call("ConcatV2", {left.free_shape, right.free_shape, f.int32(0)});
  return context.builder().op("Reshape", {matrix, shape}, {}, context.name());
}

// norm(tensor, ord, axis, keepdims): vector norms over the axes taken together.
CallResult norm(CallContext& context) {
  Builder& builder = context.builder();
  Algebra f(builder);
  Expression x = context.tensor(0);
  const Argument& order_argument = context.argument(1);
  double order = 2;
  bool frobenius = true;
  if (const std::string* text = std::get_if<std::string>(&order_argument)) {
    if (*text == "inf" || *text == "Inf") {
      order = HUGE_VAL;
      frobenius = false;
    } else if (*text != "euclidean" && *text != "fro") {
      throw_value_error("norm: ord must be 'euclidean', 'fro' or a positive number, got '" + *text +
                        "'");
    }
  } else {
    const int64_t* integer = std::get_if<int64_t>(&order_argument);
    order = integer ? static_cast<double>(*integer) : std::get<double>(order_argument);
    frobenius = order == 2;
    if (!(order > 0)) throw_value_error("norm: ord must be positive");
  }
  int64_t axis_count = 0;
  if (const auto* axes = std::get_if<std::vector<int64_t>>(&context.argument(2))) {
    axis_count = static_cast<int64_t>(axes->size());
  }
  if (axis_count > 2) throw_value_error("norm: axis must be None, an int or a pair of ints");
  if (axis_count == 2 && !frobenius) {
    throw_unimplemented("norm: of matrix norms only 'euclidean' and 'fro' are implemented");
  }
  // The reduced dimensions are kept, and squeezed out at the end.
  bool keep = !context.is_none(3) && context.boolean(3);
  auto reduce = [&](std::string_view op, const Expression& value) {
    return inner_op(builder, op, {value, reduction_axes(context, value, 2)},
                    attributes_of(op, {{"keep_dims", true}}));
  };
  Expression result;
  if (frobenius) {
    Expression square = is_complex(x.dtype())
                            ? f.call("Real", {x * f.conjugate(x)})
                            : Expression(builder, builder.op("Mul", {x, x}, {}, "mul"));
    result = reduce("Sum", square).apply("Sqrt");
  } else {
    Expression magnitude = x.apply(is_complex(x.dtype()) ? "ComplexAbs" : "Abs");
    if (std::isinf(order)) {
      result = reduce("Max", magnitude);
    } else if (order == 1) {
      result = reduce("Sum", magnitude);
    } else {
      Operand power = builder.scalar(order, magnitude.dtype());
      Operand root = builder.scalar(1 / order, magnitude.dtype());
      result = reduce("Sum", magnitude.apply("Pow", power)).apply("Pow", root);
    }
  }
  if (keep) return result.operand();
  std::vector<int64_t> axes;
  if (const auto* several = std::get_if<std::vector<int64_t>>(&context.argument(2))) {
    axes = *several;
  } else if (!context.is_none(2)) {
    axes = {static_integer(context.argument(2), "axis")};
  }
  return f.call("Squeeze", {result}, {{"squeeze_dims", axes}}).operand();
}

constexpr std::array kTable{
    FunctionDef{
        .names = "matmul linalg.matmul",
        .signature = "a: T, b: T, transpose_a: flag = False, transpose_b: flag = False, "
                     "adjoint_a: flag = False, adjoint_b: flag = False, a_is_sparse: flag = False, "
                     "b_is_sparse: flag = False, output_type: dtype? = None, grad_a: flag = False, "
                     "grad_b: flag = False",
        .doc = "The product of two matrices, or of the matrices in the last two dimensions, where "
               "the dimensions before broadcast. Each factor is transposed, or transposed and "
               "conjugated, first if asked. InvalidArgumentError (ValueError while tracing) where "
               "the inner dimensions differ. a_is_sparse and b_is_sparse change nothing.",
        .body = matmul,
        .types = {{{"T", kNumeric}}},
        .node_name = "MatMul"},
    FunctionDef{.names = "linalg.matvec",
                .signature = "a: T, b: T, transpose_a: flag = False, adjoint_a: flag = False, "
                             "a_is_sparse: flag = False, b_is_sparse: flag = False",
                .doc = "The product of a matrix (or several) with a vector (or several): "
                       "a[..., m, n] x b[..., n].",
                .body = matvec,
                .types = {{{"T", kNumeric}}},
                .node_name = "MatVec",
                .constants_by_body = true},
    FunctionDef{.names = "tensordot linalg.tensordot",
                .signature = "a: T, b: T, axes: index",
                .doc = "Sum of products over the given axes of a and b: axes is a pair of axes, a "
                       "pair of equally long lists of them, or a number n of last axes of a and "
                       "first axes of b.",
                .body = tensordot,
                .types = {{{"T", kNumeric}}},
                .node_name = "Tensordot"},
    FunctionDef{.names = "norm linalg.norm",
                .signature = "tensor: T, ord: option = 'euclidean', axis: axis? = None, "
                             "keepdims: bool? = None",
                .doc = "The norm over the given axes taken as one: ord is 'euclidean' (or 'fro', "
                       "or 2), a positive number p for (sum |x|^p)^(1/p), or infinity for the "
                       "largest magnitude. Of two axes 'euclidean' and 'fro' only.",
                .body = norm,
                .types = {{{"T", kFloating | kComplex}}},
                .node_name = "norm"},
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
