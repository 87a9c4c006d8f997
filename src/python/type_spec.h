// tf.TypeSpec and its kinds for tensors, as C++ sees them. Everything here needs the GIL.
#pragma once

#include <string>
#include <string_view>

#include "ir/value_type.h"
#include "python/python_api.h"

namespace graphwright {

bool is_type_spec(PyObject* object);
// An instance of the CompositeTensor class: several tensors that one value is made of, described by
// its `_type_spec`.
bool is_composite_tensor(PyObject* object);
// A tf.TensorSpec (BoundedTensorSpec included).
bool is_tensor_spec(PyObject* object);
// Only for is_tensor_spec.
ValueType tensor_spec_type(PyObject* spec);
// The spec's name, or "".
std::string tensor_spec_name(PyObject* spec);
// A new tf.TensorSpec; no name if empty.
PyObject* make_tensor_spec(const PartialShape& shape, DType dtype, std::string_view name = {});

}  // namespace graphwright
