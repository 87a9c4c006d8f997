// The methods of the Variable type, and what they share with the type itself.
#pragma once

#include <span>
#include <string>

#include "ir/operand.h"
#include "python/python_api.h"

namespace graphwright {

// All methods, ended by a null entry; of which these are about rows and slices.
PyMethodDef* variable_methods();
std::span<const PyMethodDef> variable_row_methods();
// int(), float(), bool(), iteration.
std::span<const PyType_Slot> variable_protocol_slots();

// tf.VariableSynchronization.AUTO and tf.VariableAggregation.NONE; borrowed.
PyObject* default_synchronization();
PyObject* default_aggregation();
// The part of a tensor's repr after "numpy=".
std::string array_text(const Tensor& tensor);

// Tells observers and the build context that the variable is read or written.
void notify_variable_use(PyObject* variable);
// tf.Variable for what it made itself, otherwise the subclass; borrowed.
PyObject* public_class(PyObject* variable);
// A value to be written, converted to the variable's dtype; if it becomes a constant, of this name.
Operand convert_new_value(PyObject* variable, PyObject* value, std::string_view constant_name = {});
// What assignments return: the variable under the name 'UnreadVariable'. New reference.
PyObject* unread_variable(PyObject* variable);

}  // namespace graphwright
