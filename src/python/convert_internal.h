// Shared by the files that convert Python values.
#pragma once

#include <string>

#include "base/status.h"
#include "python/convert.h"

namespace graphwright {

// The class of errors about values that no tensor can hold: ValueError for eager tensors, TypeError
// for the constants of a graph.
ErrorKind unconvertible_kind();
// The dtype of a NumPy array or scalar. ValueError if no tensor can have it.
DType dtype_of_array(PyObject* array);
// A NumPy array or scalar as a tensor of its own dtype or, cast by NumPy, of another.
Tensor tensor_from_numpy(PyObject* array, DType dtype);
// The bytes of a str (in UTF-8) or bytes.
std::string string_of(PyObject* text);
// An array for an object that can be seen as one but is none (__array__, __array_interface__,
// __array_struct__); null for other objects.
Ref array_from_protocol(PyObject* object);

}  // namespace graphwright
