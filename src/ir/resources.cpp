#include "ir/resources.h"

namespace graphwright {

Tensor VariableResource::read() const {
  std::lock_guard lock(mutex_);
  return value_;
}

bool VariableResource::is_initialized() const {
  std::lock_guard lock(mutex_);
  return static_cast<bool>(value_);
}

void VariableResource::destroy() {
  Tensor old;  // freed after the lock is given back
  std::lock_guard lock(mutex_);
  std::swap(old, value_);
}

Status VariableResource::assign(Tensor value, bool validate_shape) {
  if (value.dtype() != dtype_) {
    return Status(Code::kInvalidArgument, "Trying to assign variable '" + name_ +
                                              "' with wrong dtype. Expected " +
                                              std::string(dtype_name(dtype_)) + " got " +
                                              std::string(dtype_name(value.dtype())));
  }
  if (validate_shape && !shape_.is_compatible_with(value.shape())) {
    return Status(Code::kInvalidArgument,
                  "Cannot assign value to variable '" + name_ + "': Shape mismatch. The variable " +
                      "shape " + shape_.to_string() + ", and the assigned value shape " +
                      value.shape().to_string() + " are incompatible.");
  }
  value = value.owned();
  std::lock_guard lock(mutex_);
  std::swap(value_, value);
  return {};
}

Status VariableResource::uninitialized() const {
  return Status(Code::kFailedPrecondition,
                "Could not find variable " + name_ +
                    ". This could mean that the variable has been deleted, or that it was read "
                    "before it was initialized.");
}

}  // namespace graphwright
