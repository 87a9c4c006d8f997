// tf.Variable as C++ sees it: a handle to a variable, and what only Python asks for. Everything
// here needs the GIL and throws Error.
#pragma once

#include <memory>
#include <string>

#include "ir/operand.h"
#include "ir/resources.h"
#include "ir/value_type.h"
#include "python/python_api.h"

namespace graphwright {

// An initialised tf.Variable or an instance of a subclass.
bool is_variable(PyObject* object);
// What an assignment in a graph returns: the variable, to be read after it.
bool is_unread_variable(PyObject* object);

// The resource tensor, or the argument of a trace that stands for one.
Operand variable_handle(PyObject* variable);
// The state behind an eager handle; null for an argument of a trace.
const std::shared_ptr<VariableResource>& variable_resource(PyObject* variable);
// Dtype and shape of its values.
ValueType variable_value_type(PyObject* variable);
bool variable_is_trainable(PyObject* variable);

// Its value: an eager tensor at once, or a ReadVariableOp of the graph being built. Observers and
// the build context are told that the variable was used. FailedPrecondition if uninitialised.
Operand read_variable(PyObject* variable);

// A variable like `variable` in everything but its handle. New reference.
PyObject* variable_with_handle(PyObject* variable, Operand handle);
// The variable that was made with this handle; a new reference, or null if it is gone.
PyObject* variable_of_handle(const Tensor& handle);

void create_variable_type(PyObject* module);

}  // namespace graphwright
