// Matrix products.
#include "kernels/matmul.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// The last two dims of a factor as it enters the product.
struct Factor {
  Dim rows, columns;
};
Factor factor_of(const PartialShape& shape, bool transposed) {
  Dim rows = shape.dim(shape.rank() - 2), columns = shape.dim(shape.rank() - 1);
  return transposed ? Factor{columns, rows} : Factor{rows, columns};
}
void check_inner(const PartialShape& a, const PartialShape& b, const Factor& left,
                 const Factor& right) {
  if (is_known(left.columns) && is_known(right.rows) && left.columns != right.rows) {
    throw_invalid_argument("Matrix size-incompatible: In[0]: " + shape_text(a) +
                           ", In[1]: " + shape_text(b));
  }
}

// --- MatMul ---

void shape_matmul(ShapeContext& context) {
  PartialShape shapes[2];
  for (int i : {0, 1}) {
    PartialShape shape = context.input_shape(i);
    if (shape.has_rank() && shape.rank() != 2) {
      context.fail(shape.rank() < 2 ? "In[" + std::to_string(i) +
                                          "] ndims must be >= 2: " + std::to_string(shape.rank())
                                    : "In[" + std::to_string(i) + "] and In[" +
                                          std::to_string(1 - i) + "] must be matrices, but In[" +
                                          std::to_string(i) + "] has shape " + shape_text(shape));
    }
    shapes[i] = shape.has_rank() ? shape : PartialShape::unknown_dims(2);
  }
  Factor a = factor_of(shapes[0], context.attributes().boolean("transpose_a"));
  Factor b = factor_of(shapes[1], context.attributes().boolean("transpose_b"));
  try {
    check_inner(shapes[0], shapes[1], a, b);
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
  context.set_output(0, {a.rows, b.columns});
}
void matmul_kernel(KernelContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  bool transpose_a = context.attributes().boolean("transpose_a");
  bool transpose_b = context.attributes().boolean("transpose_b");
  if (a.rank() != 2 || b.rank() != 2) {
    fail(context, "In[0] and In[1] must be matrices, got shapes " + dims_to_string(a.dims()) +
                      " and " + dims_to_string(b.dims()));
  }
  int64_t inner = a.dim(transpose_a ? 0 : 1);
  if (inner != b.dim(transpose_b ? 1 : 0)) {
    fail(context, "Matrix size-incompatible: In[0]: " + dims_to_string(a.dims()) +
                      ", In[1]: " + dims_to_string(b.dims()));
  }
  int64_t dims[2] = {a.dim(transpose_a ? 1 : 0), b.dim(transpose_b ? 0 : 1)};
  Tensor& output = context.require_output(0, a.dtype(), dims);
  if (output.element_count() == 0) return;
  kernels::matrix_product(
      a.dtype(), {1, dims[0], dims[1], inner}, {.data = a.raw_data(), .transposed = transpose_a},
      {.data = b.raw_data(), .transposed = transpose_b}, output.mutable_raw_data());
}

Expression matmul(const Algebra& f, const Operand& a, const Operand& b, bool transpose_a,
                  bool transpose_b) {
  return f.call("MatMul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}
void gradient_matmul(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  bool ta = context.attributes().boolean("transpose_a");
  bool tb = context.attributes().boolean("transpose_b");
  Expression dy = context.dy();
  if (context.needs(0)) {
    Expression b = f.conjugate(context.x(1));
    context.set_dx(0, ta ? matmul(f, b, dy, tb, true) : matmul(f, dy, b, false, !tb));
  }
  if (context.needs(1)) {
    Expression a = f.conjugate(context.x(0));
    context.set_dx(1, tb ? matmul(f, dy, a, true, ta) : matmul(f, a, dy, !ta, false));
  }
}
// A product's tangent: da x b + a x db.
void forward_product(ForwardContext& context) {
  std::string_view op = context.attributes().op().name;
  const Attributes& attributes = context.attributes().attributes();
  Builder& builder = context.builder();
  Expression total;
  if (context.has_dx(0)) {
    total = {builder, builder.op(op, {context.dx(0), context.x(1)}, attributes)};
  }
  if (context.has_dx(1)) {
    Expression part{builder, builder.op(op, {context.x(0), context.dx(1)}, attributes)};
    total = total ? total + part : part;
  }
  if (total) context.set_dy(0, total);
}

// --- BatchMatMulV2 ---

void shape_batch_matmul(ShapeContext& context) {
  PartialShape x = context.require_rank_at_least(0, 2);
  PartialShape y = context.require_rank_at_least(1, 2);
  if (!x.has_rank() || !y.has_rank()) return context.set_output(0, PartialShape::unknown());
  Factor left = factor_of(x, context.attributes().boolean("adj_x"));
  Factor right = factor_of(y, context.attributes().boolean("adj_y"));
  try {
    check_inner(x, y, left, right);
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
  PartialShape x_batch{x.dims().first(static_cast<size_t>(x.rank() - 2))};
  PartialShape y_batch{y.dims().first(static_cast<size_t>(y.rank() - 2))};
  std::optional<PartialShape> batch = broadcast_shapes(x_batch, y_batch);
  if (!batch) {
    context.fail("In[0] and In[1] must have compatible batch dimensions: " + shape_text(x) +
                 " vs. " + shape_text(y));
  }
  context.set_output(0, batch->concatenated({left.rows, right.columns}));
}
// Where each batch entry of the output finds its matrix in a factor.
std::vector<int64_t> batch_offsets(const Tensor& factor, std::span<const int64_t> batch) {
  int64_t count = 1;
  for (int64_t dim : batch) count *= dim;
  std::vector<int64_t> offsets(static_cast<size_t>(count), 0);
  int rank = factor.rank() - 2;
  int64_t matrix = factor.dim(rank) * factor.dim(rank + 1);
  size_t shift = batch.size() - static_cast<size_t>(rank);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, stride = matrix, offset = 0;
    for (size_t d = batch.size(); d-- > shift;) {
      int64_t dim = factor.dim(static_cast<int>(d - shift));
      if (dim != 1) offset += rest % batch[d] * stride;
      rest /= batch[d];
      stride *= dim;
    }
    offsets[static_cast<size_t>(i)] = offset;
  }
  return offsets;
}
void batch_matmul_kernel(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& y = context.input(1);
  bool adj_x = context.attributes().boolean("adj_x");
  bool adj_y = context.attributes().boolean("adj_y");
  Tensor& output = infer_output(context, x.dtype());
  if (output.element_count() == 0) return;
  int rank = output.rank();
  std::span<const int64_t> batch = output.dims().first(static_cast<size_t>(rank - 2));
  std::vector<int64_t> x_offsets = batch_offsets(x, batch), y_offsets = batch_offsets(y, batch);
  int64_t inner = x.dim(x.rank() - (adj_x ? 2 : 1));
  kernels::matrix_product(
      x.dtype(),
      {static_cast<int64_t>(x_offsets.size()), output.dim(rank - 2), output.dim(rank - 1), inner},
      {.data = x.raw_data(), .transposed = adj_x, .conjugated = adj_x, .offsets = x_offsets.data()},
      {.data = y.raw_data(), .transposed = adj_y, .conjugated = adj_y, .offsets = y_offsets.data()},
      output.mutable_raw_data());
}
Expression batch_matmul(const Algebra& f, const Operand& x, const Operand& y, bool adj_x,
                        bool adj_y) {
  return f.call("BatchMatMulV2", {x, y}, {{"adj_x", adj_x}, {"adj_y", adj_y}});
}
void gradient_batch_matmul(GradientContext& context) {
  if (!context.has_dy()) return;
  Algebra f(context.builder());
  bool ax = context.attributes().boolean("adj_x");
  bool ay = context.attributes().boolean("adj_y");
  Expression dy = context.dy(), x = context.x(0), y = context.x(1);
  // As for MatMul; adjoints conjugate by themselves where they stand.
  if (context.needs(0)) {
    context.set_dx_unbroadcast(
        0, ax ? batch_matmul(f, y, dy, ay, true) : batch_matmul(f, dy, y, false, !ay));
  }
  if (context.needs(1)) {
    context.set_dx_unbroadcast(
        1, ay ? batch_matmul(f, dy, x, true, ax) : batch_matmul(f, x, dy, !ax, false));
  }
}

constexpr std::array kTable{
    OpDef{
        .name = "MatMul",
        .signature = "a: T, b: T; transpose_a: bool=false, transpose_b: bool=false, "
                     "grad_a: bool=false, grad_b: bool=false -> product: T",
        .doc = "The product of two matrices, each transposed first if asked. InvalidArgument for "
               "other ranks and for inner dimensions that differ. Integers wrap.",
        .traits = kPure,
        .types = {{{"T", kNumeric}}},
        .shape = shape_matmul,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<matmul_kernel>},
        .gradient = gradient_matmul,
        .forward = forward_product,
        .reference = {.reason = "takes matrices: tests/python/test_matmul.py"},
        .cost = [](std::span<const PartialShape> inputs) -> double {
          double cost = 2;
          for (const PartialShape& shape : inputs) {
            for (Dim dim : shape.dims()) cost *= is_known(dim) ? static_cast<double>(dim) : 32;
          }
          return cost;
        },
    },
    OpDef{
        .name = "BatchMatMulV2",
        .signature = "x: T, y: T; adj_x: bool=false, adj_y: bool=false, grad_x: bool=false, "
                     "grad_y: bool=false -> output: T",
        .doc = "Products of the matrices in the last two dimensions, each adjoint (conjugate "
               "transpose) if asked; the dimensions before them broadcast. InvalidArgument for "
               "ranks below 2, and for dimensions that do not fit.",
        .traits = kPure,
        .types = {{{"T", kNumeric}}},
        .shape = shape_batch_matmul,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<batch_matmul_kernel>},
        .gradient = gradient_batch_matmul,
        .forward = forward_product,
        .reference = {.reason = "takes matrices: tests/python/test_matmul.py"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
