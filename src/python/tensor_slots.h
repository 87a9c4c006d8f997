// The parts that the Tensor types are put together from, one file of functions each.
#pragma once

#include <span>

#include "python/tensor_object.h"

namespace graphwright {

// Arithmetic, comparison and bitwise slots, shared by tensors and variables (tensor_operators.cpp).
std::span<const PyType_Slot> operator_slots();
// __getitem__ (tensor_indexing.cpp).
PyObject* tensor_subscript(PyObject* tensor, PyObject* key);
// The same of a variable; what it returns remembers where it came from.
PyObject* variable_subscript(PyObject* variable, PyObject* key);
// variable[key].assign(value). Throws Error.
PyObject* assign_slice(PyObject* variable, PyObject* key, PyObject* value);
// Conversions to Python and NumPy, iteration, copying, pickling (tensor_protocols.cpp).
std::span<const PyType_Slot> eager_protocol_slots();
std::span<const PyType_Slot> symbolic_protocol_slots();
// The read-only buffer protocol of eager tensors (tensor_buffer.cpp).
std::span<const PyType_Slot> buffer_slots();
extern PyMethodDef eager_protocol_methods[];
extern PyMethodDef symbolic_protocol_methods[];

// The value of a 0-d tensor as a Python object: int, float, bool, complex or bytes.
PyObject* python_scalar(const Tensor& tensor);
// The slice of `operand` along its first dimension.
Operand first_dimension_slice(const Operand& operand, int64_t index);

void create_iterator_type();

}  // namespace graphwright
