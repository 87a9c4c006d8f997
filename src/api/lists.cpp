// Lists: the TensorList ops.
#include <fmt/format.h>
#include <graphwright/list.h>

#include "api/handles.h"
#include "api/numbers.h"
#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {
namespace {

struct ListOperand {
  core::Operand operand;
  core::HandleType type;
};

ListOperand list_of(Handle* handle) {
  core::Operand operand = operand_of(handle);
  core::ValueType type = core::type_of(operand);
  if (!type.is_list()) core::throw_invalid_argument("this is no list");
  return {operand, *type.handle};
}

// -1 for unknown dims, the scalar -1 for an unknown rank, as the ops take it.
core::Tensor shape_tensor(const core::PartialShape& shape) {
  if (!shape.has_rank()) return core::Tensor::int32_scalar(-1);
  std::vector<int32_t> dims;
  for (core::Dim dim : shape.dims()) {
    if (dim > INT32_MAX) core::throw_invalid_argument("a list's elements are too large");
    dims.push_back(core::is_known(dim) ? static_cast<int32_t>(dim) : -1);
  }
  return core::Tensor::vector<int32_t>(core::DType::kInt32, dims);
}

core::Operand apply_list_op(
    const char* name, std::initializer_list<core::Operand> inputs,
    std::vector<std::pair<std::string_view, core::AttributeValue>> attributes = {}) {
  const core::OpDef& op = core::get_op(name);
  return core::current_builder().op(name, inputs,
                                    core::named_attributes(op, std::move(attributes)));
}

core::Operand index_operand(const Argument& index) {
  core::Operand operand = tensor_argument(index, core::DType::kInt32, "index");
  if (core::dtype_of(operand) == core::DType::kInt64) {
    operand = apply_list_op("Cast", {operand}, {{"DstT", core::DType::kInt32}});
  }
  return operand;
}

core::Operand element_operand(const ListOperand& list, const Argument& value) {
  core::Operand operand = tensor_argument(value, list.type.dtype, "value");
  if (core::dtype_of(operand) != list.type.dtype) {
    core::throw_invalid_argument(fmt::format("a list of {} was given an element of {}",
                                             core::dtype_name(list.type.dtype),
                                             core::dtype_name(core::dtype_of(operand))));
  }
  return operand;
}

}  // namespace

Handle* make_list(DType dtype, const int64_t* dims, int rank, int64_t size, Site site) {
  return guarded(site, [&] {
    if (size < 0 || size > INT32_MAX) {
      core::throw_invalid_argument(fmt::format("a list cannot have {} elements", size));
    }
    return handle_of(apply_list_op("TensorListReserve",
                                   {shape_tensor(core_shape({dims, rank})),
                                    core::Tensor::int32_scalar(static_cast<int32_t>(size))},
                                   {{"element_dtype", core_dtype(dtype)}}));
  });
}

Handle* list_from_tensor(const Argument& tensor) {
  return guarded(tensor.site, [&] {
    core::Operand operand = tensor_argument(tensor, core::DType::kInvalid, "tensor");
    core::PartialShape shape = core::shape_of(operand);
    if (shape.rank() == 0) core::throw_invalid_argument("a scalar has no rows to make a list of");
    core::PartialShape element = core::PartialShape::unknown();
    if (shape.has_rank()) element = core::PartialShape(shape.dims().subspan(1)).without_symbols();
    return handle_of(apply_list_op("TensorListFromTensor", {operand, shape_tensor(element)}));
  });
}

Handle* list_size(Handle* handle, Site site) {
  return guarded(site, [&] {
    return handle_of(apply_list_op("TensorListLength", {list_of(handle).operand}));
  });
}

Handle* list_read(Handle* handle, const Argument& index) {
  return guarded(index.site, [&] {
    ListOperand list = list_of(handle);
    return handle_of(apply_list_op(
        "TensorListGetItem", {list.operand, index_operand(index), shape_tensor(list.type.shape)},
        {{"element_dtype", list.type.dtype}}));
  });
}

Handle* list_write(Handle* handle, const Argument& index, const Argument& value) {
  return guarded(index.site, [&] {
    ListOperand list = list_of(handle);
    return handle_of(apply_list_op(
        "TensorListSetItem", {list.operand, index_operand(index), element_operand(list, value)}));
  });
}

Handle* list_push_back(Handle* handle, const Argument& value) {
  return guarded(value.site, [&] {
    ListOperand list = list_of(handle);
    return handle_of(
        apply_list_op("TensorListPushBack", {list.operand, element_operand(list, value)}));
  });
}

Handle* list_stack(Handle* handle, Site site) {
  return guarded(site, [&] {
    ListOperand list = list_of(handle);
    return handle_of(apply_list_op("TensorListStack", {list.operand, shape_tensor(list.type.shape)},
                                   {{"element_dtype", list.type.dtype}}));
  });
}

Handle* list_gather(Handle* handle, const Argument& indices) {
  return guarded(indices.site, [&] {
    ListOperand list = list_of(handle);
    return handle_of(apply_list_op(
        "TensorListGather", {list.operand, index_operand(indices), shape_tensor(list.type.shape)},
        {{"element_dtype", list.type.dtype}}));
  });
}

DType list_dtype(Handle* handle) {
  return guarded([&] { return static_cast<DType>(list_of(handle).type.dtype); });
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
