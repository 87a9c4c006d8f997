// Numbers without a dtype of their own, as tensors.
#pragma once

#include <graphwright/handle.h>

#include "api/handles.h"
#include "tensor/tensor.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {

// Whether the argument is a tensor or variable, with a dtype of its own.
bool has_dtype(const Argument& argument);
// The dtype of a tensor or of a variable's value.
core::DType dtype_of_argument(const Argument& argument);
// The argument as an operand; a variable is read. Numbers take `wanted`, or where that is kInvalid
// int32, float32 or bool. InvalidArgument naming `parameter` for a number that does not fit the
// dtype, and for what is no tensor at all.
core::Operand tensor_argument(const Argument& argument, core::DType wanted,
                              std::string_view parameter);
// Integers as a vector; nullopt for what is no list of integers known now.
std::vector<int64_t> integer_list(const Argument& argument, std::string_view parameter);

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
