// Variables behind handles.
#pragma once

#include <memory>

#include <graphwright/handle.h>

#include "api/handles.h"
#include "ir/resources.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {

// InvalidArgument for what is no variable.
std::shared_ptr<core::VariableResource> variable_resource(Handle* handle);
core::VariableResource& variable_of(Handle* handle);
// The value, on whatever tier is current. Observers and the function being traced are told.
core::Operand read(Handle* variable);

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
