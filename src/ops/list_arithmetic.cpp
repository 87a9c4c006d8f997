#include "ops/list_arithmetic.h"

#include <algorithm>

#include "kernels/gather.h"
#include "kernels/strided_copy.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

Status invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

Tensor zeros_of(DType dtype, std::span<const int64_t> dims) {
  Tensor zeros = Tensor::empty(dtype, dims);
  kernels::clear_elements(dtype, zeros.mutable_raw_data(), zeros.element_count());
  return zeros;
}

Status add_elements(const Tensor& left, const Tensor& right, Tensor* sum) {
  if (left.dtype() == DType::kVariant) {
    std::shared_ptr<ListObject> left_list = list_in(left), right_list = list_in(right);
    if (!left_list || !right_list) return invalid("AddN of variants adds lists only");
    std::shared_ptr<ListObject> total = left_list->copy();
    Status status = add_to_list(*total, *right_list);
    if (status.ok()) *sum = Tensor::object(DType::kVariant, std::move(total));
    return status;
  }
  if (!std::ranges::equal(left.dims(), right.dims())) {
    return invalid("Trying to add list elements of shapes " + dims_to_string(left.dims()) +
                   " and " + dims_to_string(right.dims()));
  }
  *sum = left.copy();
  kernels::add_elements(sum->dtype(), right.raw_data(), 0, sum->mutable_raw_data(), 0,
                        sum->element_count());
  return Status();
}

}  // namespace

std::shared_ptr<ListObject> list_in(const Tensor& handle) {
  if (handle.dtype() != DType::kVariant || handle.rank() != 0) return nullptr;
  return std::dynamic_pointer_cast<ListObject>(handle.object_element());
}

std::shared_ptr<ListObject> zeros_like_list(const ListObject& list) {
  bool objects = list.dtype() == DType::kVariant;
  if (!objects && list.element_shape().is_fully_defined()) {
    return std::make_shared<ListObject>(list.dtype(), list.element_shape(), list.size());
  }
  auto zeros = std::make_shared<ListObject>(list.dtype(), list.element_shape(), list.size());
  Tensor last;  // elements of one shape after the other share their zeros
  for (int64_t i = 0; i < list.size(); ++i) {
    Tensor element = list.get(i);
    if (!element) continue;
    if (objects) {
      std::shared_ptr<ListObject> inner = list_in(element);
      if (inner) zeros->set(i, Tensor::object(DType::kVariant, zeros_like_list(*inner)));
      continue;
    }
    if (!last || !std::ranges::equal(last.dims(), element.dims())) {
      last = zeros_of(list.dtype(), element.dims());
    }
    zeros->set(i, last);
  }
  return zeros;
}

Status add_to_list(ListObject& total, const ListObject& right) {
  if (right.size() != total.size() || right.dtype() != total.dtype()) {
    return invalid(
        "Trying to add lists of different lengths or dtypes: " + std::to_string(total.size()) +
        " and " + std::to_string(right.size()) + " elements");
  }
  for (int64_t i = 0; i < total.size(); ++i) {
    Tensor added = right.get(i);
    if (!added) continue;
    Tensor element = total.get(i);
    if (element) {
      Tensor sum;
      Status status = add_elements(element, added, &sum);
      if (!status.ok()) return status;
      added = std::move(sum);
    }
    total.set(i, added);
  }
  return Status();
}

}  // namespace graphwright
