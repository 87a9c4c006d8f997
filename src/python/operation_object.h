// tf.Operation as C++ makes it.
#pragma once

#include "ir/graph.h"
#include "python/python_api.h"

namespace graphwright {

// The operation that the value is an output of; a new reference. Throws Error.
PyObject* wrap_operation_of(const Value& value);

}  // namespace graphwright
