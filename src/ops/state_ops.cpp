// Variables: reading, writing, updating in place, gathering rows.
#include <map>
#include <mutex>

#include "ir/resources.h"
#include "kernels/combine.h"
#include "kernels/gather.h"
#include "kernels/strided_copy.h"
#include "ops/gather_support.h"
#include "ops/op_support.h"
#include "ops/strided_slice.h"

namespace graphwright {
namespace {

using kernels::row_major_strides;

std::shared_ptr<VariableResource> variable_of(KernelContext& context) {
  const Tensor& handle = context.input(0);
  if (handle.rank() != 0 || !handle.object_element()) {
    throw Error(Code::kFailedPrecondition,
                "Could not find the variable: the resource handle refers to nothing.")
        .with_op(context.op().name);
  }
  auto variable = std::dynamic_pointer_cast<VariableResource>(handle.object_element());
  if (!variable) {
    fail(context, "resource",
         "Trying to access a resource of kind " +
             std::string(handle.object_element()->kind_name()) + " as a variable.");
  }
  return variable;
}
void check_dtype(KernelContext& context, const VariableResource& variable, DType dtype,
                 std::string_view verb) {
  if (variable.dtype() == dtype) return;
  fail(context, "dtype",
       "Trying to " + std::string(verb) + " variable with wrong dtype. Expected " +
           std::string(dtype_name(dtype)) + " got " + std::string(dtype_name(variable.dtype())));
}
// The dtype and shape of the variable that an input refers to; null where not known.
std::shared_ptr<const HandleType> variable_type_of(const Operand& handle) {
  ValueType type = type_of(handle);
  if (!type.handle || type.handle->kind != HandleType::Kind::kVariable) return nullptr;
  return type.handle;
}
PartialShape variable_shape_of(const Operand& handle) {
  std::shared_ptr<const HandleType> type = variable_type_of(handle);
  return type ? type->shape : PartialShape::unknown();
}

// --- Handles ---

void shape_var_handle(ShapeContext& context) {
  context.output_type(0) =
      variable_type(context.attributes().type("dtype"), context.attributes().shape("shape"));
}
void var_handle_kernel(KernelContext& context) {
  DType dtype = context.attributes().type("dtype");
  const PartialShape& shape = context.attributes().shape("shape");
  const std::string& name = context.attributes().string("shared_name");
  if (name.empty()) {
    return context.set_output(
        0, Tensor::object(DType::kResource,
                          std::make_shared<VariableResource>(
                              context.attributes().string("debug_name"), dtype, shape)));
  }
  // Handles of one shared name refer to one variable while any of them lives.
  static std::mutex mutex;
  static auto& shared = *new std::map<std::string, std::weak_ptr<VariableResource>>();
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<VariableResource>& slot =
      shared[context.attributes().string("container") + "/" + name];
  std::shared_ptr<VariableResource> variable = slot.lock();
  if (!variable) {
    variable = std::make_shared<VariableResource>(name, dtype, shape);
    slot = variable;
  }
  check_dtype(context, *variable, dtype, "open");
  context.set_output(0, Tensor::object(DType::kResource, variable));
}
void var_is_initialized_kernel(KernelContext& context) {
  const Tensor& handle = context.input(0);
  bool initialized = handle.object_element() && variable_of(context)->is_initialized();
  *context.require_output(0, DType::kBool, {}).mutable_data<bool>() = initialized;
}
void destroy_kernel(KernelContext& context) {
  if (!context.input(0).object_element() && context.attributes().boolean("ignore_lookup_error")) {
    return;
  }
  variable_of(context)->destroy();
}

// --- Reading ---

void shape_read(ShapeContext& context) {
  if (std::shared_ptr<const HandleType> type = variable_type_of(context.input(0))) {
    DType wanted = context.attributes().type("dtype");
    if (type->dtype != wanted) {
      context.fail("Trying to read variable with wrong dtype. Expected " +
                   std::string(dtype_name(wanted)) + " got " +
                   std::string(dtype_name(type->dtype)));
    }
  }
  context.set_output(0, variable_shape_of(context.input(0)));
}
Tensor read_value(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  check_dtype(context, *variable, context.attributes().type("dtype"), "read");
  Tensor value = variable->read();
  if (!value) {
    throw Error(Code::kFailedPrecondition,
                "Could not find variable " + variable->name() +
                    ". This could mean that the variable has been deleted, or that it is "
                    "uninitialized.")
        .with_op(context.op().name);
  }
  return value;
}
void read_kernel(KernelContext& context) { context.set_output(0, read_value(context)); }
void gradient_read(GradientContext& context) {
  if (context.needs(0) && context.has_dy()) context.pass_dy(0);
}
void forward_read(ForwardContext& context) {
  if (context.has_dx(0)) context.set_dy(0, context.dx(0));
}

void shape_variable_shape(ShapeContext& context) {
  PartialShape shape = variable_shape_of(context.input(0));
  context.set_output(0, shape.has_rank() ? PartialShape{shape.rank()} : PartialShape{kUnknownDim});
}
void variable_shape_kernel(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  PartialShape shape = variable->shape();
  if (!shape.is_fully_defined()) {
    Tensor value = variable->read();
    if (!value) {
      throw Error(Code::kFailedPrecondition,
                  "The shape of the uninitialized variable " + variable->name() + " is not known.");
    }
    shape = value.shape();
  }
  context.set_output(0, integer_vector(context.attributes().type("out_type"), shape.dims()));
}
void constant_variable_shape(ConstantContext& context) {
  PartialShape shape = variable_shape_of(context.input(0));
  if (!shape.has_rank()) return;
  PartialVector result;
  for (Dim dim : shape.dims()) {
    result.values.push_back(dim);
    result.known.push_back(is_known(dim));
  }
  context.set(std::move(result));
}

void shape_resource_gather(ShapeContext& context) {
  PartialShape params = variable_shape_of(context.input(0));
  PartialShape indices = context.input_shape(1);
  int64_t batch_dims = context.attributes().integer("batch_dims");
  if (!params.has_rank() || !indices.has_rank() || batch_dims < 0) {
    return context.set_output(0, PartialShape::unknown());
  }
  if (batch_dims > indices.rank() || batch_dims >= params.rank()) {
    context.fail("batch_dims = " + std::to_string(batch_dims) +
                 " must be less than the rank of the variable and at most that of indices");
  }
  size_t batch = static_cast<size_t>(batch_dims);
  std::vector<Dim> dims(params.dims().begin(), params.dims().begin() + batch_dims);
  for (Dim dim : indices.dims().subspan(batch)) dims.push_back(dim);
  for (Dim dim : params.dims().subspan(batch + 1)) dims.push_back(dim);
  context.set_output(0, PartialShape(std::span<const Dim>(dims)));
}
void resource_gather_kernel(KernelContext& context) {
  Tensor params = read_value(context);
  const Tensor& indices = context.input(1);
  int64_t batch_dims = context.attributes().integer("batch_dims");
  if (batch_dims < 0) batch_dims += indices.rank();
  if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims >= params.rank()) {
    fail(context, "batch_dims",
         "batch_dims must be less than the rank of the variable and at "
         "most that of indices");
  }
  size_t batch = static_cast<size_t>(batch_dims);
  if (!std::ranges::equal(params.dims().first(batch), indices.dims().first(batch))) {
    fail(context, "indices",
         "the batch dimensions of the variable and of indices differ: " +
             dims_to_string(params.dims()) + " and " + dims_to_string(indices.dims()));
  }
  std::vector<int64_t> dims(params.dims().begin(), params.dims().begin() + batch_dims);
  for (int64_t dim : indices.dims().subspan(batch)) dims.push_back(dim);
  for (int64_t dim : params.dims().subspan(batch + 1)) dims.push_back(dim);
  gather_along(params, indices, static_cast<int>(batch_dims), static_cast<int>(batch_dims),
               context.require_output(0, params.dtype(), dims));
}
void gradient_resource_gather(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  if (context.attributes().integer("batch_dims") != 0) {
    throw_unimplemented(
        "ResourceGather: the gradient of a gather with batch_dims is not implemented; read the "
        "variable first.");
  }
  Algebra f(context.builder());
  PartialShape shape = variable_shape_of(context.x(0));
  Expression dense = shape.is_fully_defined() ? f.int32_vector(shape.dims())
                                              : f.call("VariableShape", {context.x(0)});
  Expression row =
      f.call("StridedSlice", {dense, f.int32_vector({1}), f.int32_vector({0}), f.int32_vector({1})},
             {{"end_mask", int64_t{1}}});
  Expression values =
      f.reshape(context.dy(), f.call("ConcatV2", {f.int32_vector({-1}), row, f.int32(0)}));
  context.set_dx_slices(0, values, f.reshape(context.x(1), f.int32_vector({-1})), dense);
}
void forward_resource_gather(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  Algebra f(context.builder());
  int64_t batch_dims = context.attributes().integer("batch_dims");
  context.set_dy(0, f.call("GatherV2",
                           {context.dx(0), context.x(1), f.int32(static_cast<int32_t>(batch_dims))},
                           {{"batch_dims", batch_dims}}));
}

void shape_resource_gather_nd(ShapeContext& context) {
  context.set_output(
      0, gathered_nd_shape(context, variable_shape_of(context.input(0)), context.input_shape(1)));
}
void resource_gather_nd_kernel(KernelContext& context) {
  Tensor params = read_value(context);
  gather_nd_slices(context, params, context.input(1));
}
void gradient_resource_gather_nd(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  Algebra f(context.builder());
  PartialShape shape = variable_shape_of(context.x(0));
  Expression dense = shape.is_fully_defined() ? f.int32_vector(shape.dims())
                                              : f.call("VariableShape", {context.x(0)});
  Expression indices = context.x(1);
  context.set_dx(0, f.call("ScatterNd", {indices, context.dy(), f.cast(dense, indices.dtype())}));
}
void forward_resource_gather_nd(ForwardContext& context) {
  if (!context.has_dx(0)) return;
  context.set_dy(0, context.builder().op("GatherNd", {context.dx(0), context.x(1)}));
}

// --- Writing ---

void shape_count_up_to(ShapeContext& context) {
  PartialShape shape = variable_shape_of(context.input(0));
  if (shape.has_rank() && shape.rank() != 0) context.fail("count_up_to is for scalar variables");
  context.set_output(0, PartialShape(std::span<const Dim>()));
}
void count_up_to_kernel(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  check_dtype(context, *variable, context.attributes().type("T"), "count");
  int64_t limit = context.attributes().integer("limit");
  Tensor before;
  variable
      ->modify([&](Tensor& value) -> Status {
        if (value.rank() != 0) {
          return Status(Code::kInvalidArgument,
                        "input is not a scalar: " + dims_to_string(value.dims()));
        }
        int64_t count = integer_at(value, 0);
        if (count >= limit) {
          return Status(Code::kOutOfRange, "Reached limit of " + std::to_string(limit));
        }
        before = value;
        value = integer_scalar(value.dtype(), count + 1);
        return {};
      })
      .throw_if_error();
  context.set_output(0, before);
}

void shape_write(ShapeContext& context) {
  std::shared_ptr<const HandleType> type = variable_type_of(context.input(0));
  if (!type) return;
  DType dtype = context.input_dtype(1);
  if (type->dtype != dtype) {
    context.fail("Trying to assign variable with wrong dtype. Expected " +
                 std::string(dtype_name(type->dtype)) + " got " + std::string(dtype_name(dtype)));
  }
}
void shape_update(ShapeContext& context) {
  shape_write(context);
  PartialShape variable = variable_shape_of(context.input(0));
  if (!variable.is_compatible_with(context.input_shape(1))) {
    context.fail("Cannot update variable with shape " + shape_text(variable) +
                 " using a Tensor with shape " + shape_text(context.input_shape(1)) +
                 ", shapes must be equal.");
  }
}
void assign_kernel(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  check_dtype(context, *variable, context.input(1).dtype(), "assign");
  bool validate = context.attributes().boolean("validate_shape");
  variable->assign(context.input(1).owned(), validate).throw_if_error();
}

// Makes `value` the only holder of its elements.
void make_unique(Tensor& value) {
  if (!value.is_unique()) value = value.copy();
}
using kernels::Combination;
using kernels::CombineResult;
// A failed update of elements as a status.
Status combined(CombineResult result, DType dtype) {
  if (result == CombineResult::kDone) return {};
  if (result == CombineResult::kFailed) {
    return Status(Code::kInvalidArgument, "Integer division by zero");
  }
  return Status(Code::kUnimplemented,
                "The update is not defined for dtype " + std::string(dtype_name(dtype)) + ".");
}
template <Combination Kind>
void assign_update_kernel(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  const Tensor& delta = context.input(1);
  check_dtype(context, *variable, delta.dtype(), "update");
  variable
      ->modify([&](Tensor& value) -> Status {
        if (!std::ranges::equal(value.dims(), delta.dims())) {
          return Status(Code::kInvalidArgument,
                        "Cannot update variable with shape " + dims_to_string(value.dims()) +
                            " using a Tensor with shape " + dims_to_string(delta.dims()) +
                            ", shapes must be equal.");
        }
        make_unique(value);
        CombineResult result =
            kernels::combine_elements(value.dtype(), Kind, delta.raw_data(), 0,
                                      value.mutable_raw_data(), 0, value.element_count());
        return combined(result, value.dtype());
      })
      .throw_if_error();
}

void shape_resource_scatter(ShapeContext& context) {
  PartialShape variable = variable_shape_of(context.input(0));
  PartialShape indices = context.input_shape(1), updates = context.input_shape(2);
  if (!variable.has_rank() || !indices.has_rank() || !updates.has_rank()) return;
  if (variable.rank() < 1) context.fail("a scalar variable has no rows");
  if (updates.rank() == 0) return;  // broadcast to every row
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), variable.dims().begin() + 1, variable.dims().end());
  PartialShape wanted{std::span<const Dim>(dims)};
  if (!wanted.is_compatible_with(updates)) {
    context.fail(
        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = "
        "[], got updates.shape " +
        shape_text(updates) + ", indices.shape " + shape_text(indices) + ", params.shape " +
        shape_text(variable));
  }
}
template <Combination Kind>
void resource_scatter_kernel(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  const Tensor& indices = context.input(1);
  const Tensor& updates = context.input(2);
  check_dtype(context, *variable, updates.dtype(), "update");
  variable
      ->modify([&](Tensor& value) -> Status {
        if (value.rank() < 1) {
          return Status(Code::kInvalidArgument, "A scalar variable has no rows to update.");
        }
        int64_t rows = value.dim(0);
        int64_t row = 1;
        for (int64_t dim : value.dims().subspan(1)) row *= dim;
        bool broadcast = updates.rank() == 0;
        std::vector<int64_t> wanted(indices.dims().begin(), indices.dims().end());
        wanted.insert(wanted.end(), value.dims().begin() + 1, value.dims().end());
        if (!broadcast && !std::ranges::equal(updates.dims(), wanted)) {
          return Status(Code::kInvalidArgument,
                        "Must have updates.shape = indices.shape + params.shape[1:] or "
                        "updates.shape = [], got updates.shape " +
                            dims_to_string(updates.dims()) + ", indices.shape " +
                            dims_to_string(indices.dims()) + ", params.shape " +
                            dims_to_string(value.dims()));
        }
        // Nothing is written unless every index is good.
        for (int64_t i = 0; i < indices.element_count(); ++i) {
          int64_t at = integer_at(indices, i);
          if (at < 0 || at >= rows) {
            return Status(Code::kInvalidArgument,
                          "indices" + index_position(i, indices.dims()) + " = " +
                              std::to_string(at) + " is not in [0, " + std::to_string(rows) + ")");
          }
        }
        make_unique(value);
        // One scalar for every row is made a row of its own.
        Tensor repeated = updates;
        if (broadcast) {
          repeated = Tensor::empty(updates.dtype(), vector_dims(row));
          kernels::fill_elements(updates.dtype(), repeated.mutable_raw_data(), row,
                                 updates.raw_data());
        }
        for (int64_t i = 0; i < indices.element_count(); ++i) {
          CombineResult result = kernels::combine_elements(
              value.dtype(), Kind, repeated.raw_data(), broadcast ? 0 : i * row,
              value.mutable_raw_data(), integer_at(indices, i) * row, row);
          if (result != CombineResult::kDone) return combined(result, value.dtype());
        }
        return {};
      })
      .throw_if_error();
}

void shape_resource_scatter_nd(ShapeContext& context) {
  check_scatter_nd(context, context.input_shape(1), context.input_shape(2),
                   variable_shape_of(context.input(0)));
}
template <Combination Kind>
void resource_scatter_nd_kernel(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  const Tensor& indices = context.input(1);
  const Tensor& updates = context.input(2);
  check_dtype(context, *variable, updates.dtype(), "update");
  variable
      ->modify([&](Tensor& value) -> Status {
        // Nothing is written unless every index is good.
        std::vector<int64_t> offsets = scatter_nd_offsets(indices, updates, value.dims());
        make_unique(value);
        CombineResult result = scatter_nd_slices(offsets, updates, value, Kind);
        return combined(result, value.dtype());
      })
      .throw_if_error();
}

void strided_slice_assign_kernel(KernelContext& context) {
  std::shared_ptr<VariableResource> variable = variable_of(context);
  const Tensor& source = context.input(4);
  check_dtype(context, *variable, source.dtype(), "assign");
  SliceMasks masks = slice_masks(context.attributes());
  variable
      ->modify([&](Tensor& value) -> Status {
        DenseSlice slice = resolve_slice(value.dims(), context.input(1), context.input(2),
                                         context.input(3), masks);
        // The source broadcasts to the slice's shape.
        std::span<const Dim> dims = slice.final_shape.dims();
        bool fits = static_cast<size_t>(source.rank()) <= dims.size();
        size_t shift = fits ? dims.size() - static_cast<size_t>(source.rank()) : 0;
        for (int i = 0; fits && i < source.rank(); ++i) {
          fits = source.dim(i) == 1 || source.dim(i) == dims[static_cast<size_t>(i) + shift];
        }
        if (!fits) {
          return Status(Code::kInvalidArgument, "Cannot assign a tensor of shape " +
                                                    dims_to_string(source.dims()) +
                                                    " to a slice of shape " + dims_to_string(dims));
        }
        Tensor full = Tensor::empty(source.dtype(), dims);
        kernels::broadcast_to(source, full);
        make_unique(value);
        std::vector<int64_t> strides = row_major_strides(value.dims());
        int64_t offset = 0;
        for (size_t i = 0; i < strides.size(); ++i) {
          offset += slice.begin[i] * strides[i];
          strides[i] *= slice.stride[i];
        }
        kernels::strided_copy(value.dtype(), slice.processing, full.raw_data(), 0,
                              row_major_strides(slice.processing), value.mutable_raw_data(), offset,
                              strides);
        return {};
      })
      .throw_if_error();
}

constexpr Absent kNoOutput{"has no output"};
constexpr const char* kTestedInState = "needs a variable: tests/cpp/ops_state_test.cpp";

constexpr OpDef resource_scatter_row(std::string_view name, std::string_view doc, Kernel kernel) {
  return {
      .name = name,
      .signature = "resource: resource, indices: Tindices, updates: dtype; dtype: type ->",
      .doc = doc,
      .traits = kStateful,
      .types = {{{"Tindices", kIndex}}},
      .shape = shape_resource_scatter,
      .compute = {.kind = ComputeKind::kEffect, .kernel = kernel},
      .effects = {.reads = 1, .writes = 1},
      .gradient = kNoOutput,
      .forward = kNoOutput,
      .reference = {.reason = kTestedInState},
  };
}
constexpr OpDef resource_scatter_nd_row(std::string_view name, std::string_view doc,
                                        Kernel kernel) {
  return {
      .name = name,
      .signature =
          "ref: resource, indices: Tindices, updates: T; use_locking: bool=true, "
          "bad_indices_policy: string='' ->",
      .doc = doc,
      .traits = kStateful,
      .types = {{{"Tindices", kIndex}}},
      .shape = shape_resource_scatter_nd,
      .compute = {.kind = ComputeKind::kEffect, .kernel = kernel},
      .effects = {.reads = 1, .writes = 1},
      .gradient = kNoOutput,
      .forward = kNoOutput,
      .reference = {.reason = kTestedInState},
  };
}
constexpr OpDef assign_update_row(std::string_view name, std::string_view doc, Kernel kernel) {
  return {
      .name = name,
      .signature = "resource: resource, value: dtype; dtype: type ->",
      .doc = doc,
      .traits = kStateful,
      .types = {{{"dtype", kNumeric}}},
      .shape = shape_update,
      .compute = {.kind = ComputeKind::kEffect, .kernel = kernel},
      .effects = {.reads = 1, .writes = 1},
      .gradient = kNoOutput,
      .forward = kNoOutput,
      .reference = {.reason = kTestedInState},
  };
}

constexpr std::array kTable{
    OpDef{
        .name = "VarHandleOp",
        .signature = "; container: string='', shared_name: string='', debug_name: string='', "
                     "dtype: type, shape: shape, allowed_devices: list(string)=[] -> "
                     "resource: resource",
        .doc = "A handle to a variable of the given dtype and (partial) shape, uninitialized "
               "until assigned. Handles of one nonempty shared_name refer to one variable.",
        .traits = kStateful,
        .shape = shape_var_handle,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<var_handle_kernel>},
        .effects = {.opaque = true},
        .gradient = Absent{"has no inputs"},
        .forward = Absent{"has no inputs"},
        .reference = {.reason = kTestedInState},
    },
    OpDef{
        .name = "VarIsInitializedOp",
        .signature = "resource: resource -> is_initialized: bool",
        .doc = "Whether the variable has a value, a bool scalar.",
        .traits = kStateful | kZeroDerivative,
        .shape = shape_scalar,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<var_is_initialized_kernel>},
        .effects = {.reads = 1},
        .gradient = Absent{"its result is a bool"},
        .forward = Absent{"its result is a bool"},
        .reference = {.reason = kTestedInState},
    },
    OpDef{
        .name = "DestroyResourceOp",
        .signature = "resource: resource; ignore_lookup_error: bool=true ->",
        .doc = "Takes the variable's value away: reading it is FailedPrecondition from then on.",
        .traits = kStateful,
        .shape = shape_none,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<destroy_kernel>},
        .effects = {.writes = 1},
        .gradient = kNoOutput,
        .forward = kNoOutput,
        .reference = {.reason = kTestedInState},
    },
    OpDef{
        .name = "ReadVariableOp",
        .signature = "resource: resource; dtype: type -> value: dtype",
        .doc = "The variable's value. FailedPrecondition when it is uninitialized, "
               "InvalidArgument when it has another dtype.",
        .traits = kStateful,
        .shape = shape_read,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<read_kernel>},
        .effects = {.reads = 1},
        .gradient = gradient_read,
        .forward = forward_read,
        .reference = {.reason = kTestedInState},
    },
    OpDef{
        .name = "VariableShape",
        .signature = "input: resource; out_type: type=int32 -> output: out_type",
        .doc = "The dims of the variable's value as a vector of int32 or int64.",
        .traits = kStateful | kZeroDerivative,
        .types = {{{"out_type", kIndex}}},
        .shape = shape_variable_shape,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<variable_shape_kernel>},
        .effects = {.reads = 1},
        .gradient = Absent{"does not depend on the elements"},
        .forward = Absent{"does not depend on the elements"},
        .reference = {.reason = kTestedInState},
        .constant = constant_variable_shape,
    },
    OpDef{
        .name = "ResourceGather",
        .signature = "resource: resource, indices: Tindices; batch_dims: int=0, "
                     "validate_indices: bool=true, dtype: type -> output: dtype",
        .doc = "Rows of the variable at the given indices: output.shape = indices.shape + "
               "variable.shape[1:]. InvalidArgument for an index out of bounds. Its gradient is "
               "IndexedSlices.",
        .traits = kStateful,
        .types = {{{"Tindices", kIndex}}},
        .shape = shape_resource_gather,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<resource_gather_kernel>},
        .effects = {.reads = 1},
        .gradient = gradient_resource_gather,
        .forward = forward_resource_gather,
        .reference = {.reason = kTestedInState},
    },
    OpDef{
        .name = "ResourceGatherNd",
        .signature = "resource: resource, indices: Tindices; dtype: type -> output: dtype",
        .doc = "The slices of the variable that the rows of indices name: output.shape = "
               "indices.shape[:-1] + variable.shape[indices.shape[-1]:]. InvalidArgument for an "
               "index out of bounds.",
        .traits = kStateful,
        .types = {{{"Tindices", kIndex}}},
        .shape = shape_resource_gather_nd,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<resource_gather_nd_kernel>},
        .effects = {.reads = 1},
        .gradient = gradient_resource_gather_nd,
        .forward = forward_resource_gather_nd,
        .reference = {.reason = kTestedInState},
    },
    OpDef{
        .name = "ResourceCountUpTo",
        .signature = "resource: resource; limit: int, T: type -> output: T",
        .doc = "The value of a scalar variable, which then grows by one. OutOfRange, with nothing "
               "changed, when it is `limit` or more.",
        .traits = kStateful | kZeroDerivative,
        .types = {{{"T", kIndex}}},
        .shape = shape_count_up_to,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<count_up_to_kernel>},
        .effects = {.reads = 1, .writes = 1},
        .gradient = Absent{"its result is an integer"},
        .forward = Absent{"its result is an integer"},
        .reference = {.reason = kTestedInState},
    },
    OpDef{
        .name = "AssignVariableOp",
        .signature = "resource: resource, value: dtype; dtype: type, validate_shape: bool=false ->",
        .doc = "Makes `value` the variable's value. InvalidArgument when the dtype differs, or, "
               "with validate_shape, the shape does not fit the variable's.",
        .traits = kStateful,
        .shape = shape_write,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<assign_kernel>},
        .effects = {.writes = 1},
        .gradient = kNoOutput,
        .forward = kNoOutput,
        .reference = {.reason = kTestedInState},
    },
    assign_update_row("AssignAddVariableOp",
                      "Adds `value`, of the variable's dtype and shape (InvalidArgument "
                      "otherwise), to the variable in place.",
                      guarded<assign_update_kernel<Combination::kAdd>>),
    assign_update_row("AssignSubVariableOp",
                      "Subtracts `value`, of the variable's dtype and shape (InvalidArgument "
                      "otherwise), from the variable in place.",
                      guarded<assign_update_kernel<Combination::kSubtract>>),
    resource_scatter_row("ResourceScatterAdd",
                         "Adds updates (or one scalar) to the variable's rows at indices; equal "
                         "indices accumulate. InvalidArgument for an index out of bounds.",
                         guarded<resource_scatter_kernel<Combination::kAdd>>),
    resource_scatter_row("ResourceScatterSub",
                         "Subtracts updates (or one scalar) from the variable's rows at indices; "
                         "equal indices accumulate. InvalidArgument for an index out of bounds.",
                         guarded<resource_scatter_kernel<Combination::kSubtract>>),
    resource_scatter_row("ResourceScatterUpdate",
                         "Replaces the variable's rows at indices by updates (or one scalar); of "
                         "equal indices the last wins. InvalidArgument for an index out of bounds.",
                         guarded<resource_scatter_kernel<Combination::kReplace>>),
    resource_scatter_row("ResourceScatterMul",
                         "Multiplies the variable's rows at indices by updates (or one scalar). "
                         "InvalidArgument for an index out of bounds.",
                         guarded<resource_scatter_kernel<Combination::kMultiply>>),
    resource_scatter_row("ResourceScatterDiv",
                         "Divides the variable's rows at indices by updates (or one scalar); "
                         "integers truncate. InvalidArgument for an index out of bounds.",
                         guarded<resource_scatter_kernel<Combination::kDivide>>),
    resource_scatter_row("ResourceScatterMin",
                         "Takes the smaller of each element of the variable's rows at indices and "
                         "of updates (or one scalar). InvalidArgument for an index out of bounds.",
                         guarded<resource_scatter_kernel<Combination::kMinimum>>),
    resource_scatter_row("ResourceScatterMax",
                         "Takes the larger of each element of the variable's rows at indices and "
                         "of updates (or one scalar). InvalidArgument for an index out of bounds.",
                         guarded<resource_scatter_kernel<Combination::kMaximum>>),
    resource_scatter_nd_row(
        "ResourceScatterNdAdd",
        "Adds updates to the slices of the variable that the rows of indices name. InvalidArgument "
        "for an index out of bounds; then nothing is written.",
        guarded<resource_scatter_nd_kernel<Combination::kAdd>>),
    resource_scatter_nd_row(
        "ResourceScatterNdSub",
        "Subtracts updates from the slices of the variable that the rows of indices name. "
        "InvalidArgument for an index out of bounds; then nothing is written.",
        guarded<resource_scatter_nd_kernel<Combination::kSubtract>>),
    resource_scatter_nd_row(
        "ResourceScatterNdUpdate",
        "Writes updates over the slices of the variable that the rows of indices name. "
        "InvalidArgument for an index out of bounds; then nothing is written.",
        guarded<resource_scatter_nd_kernel<Combination::kReplace>>),
    resource_scatter_nd_row(
        "ResourceScatterNdMin",
        "Takes the smaller of updates and the slices of the variable that the rows of indices "
        "name. InvalidArgument for an index out of bounds; then nothing is written.",
        guarded<resource_scatter_nd_kernel<Combination::kMinimum>>),
    resource_scatter_nd_row(
        "ResourceScatterNdMax",
        "Takes the larger of updates and the slices of the variable that the rows of indices name. "
        "InvalidArgument for an index out of bounds; then nothing is written.",
        guarded<resource_scatter_nd_kernel<Combination::kMaximum>>),
    OpDef{
        .name = "ResourceStridedSliceAssign",
        .signature = "ref: resource, begin: Index, end: Index, strides: Index, value: T; "
                     "begin_mask: int=0, end_mask: int=0, ellipsis_mask: int=0, "
                     "new_axis_mask: int=0, shrink_axis_mask: int=0 ->",
        .doc = "Assigns `value`, broadcast, to the elements of the variable that StridedSlice with "
               "the same arguments reads.",
        .traits = kStateful,
        .types = {{{"Index", kIndex}}},
        .shape = shape_none,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<strided_slice_assign_kernel>},
        .effects = {.reads = 1, .writes = 1},
        .gradient = kNoOutput,
        .forward = kNoOutput,
        .reference = {.reason = kTestedInState},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
