// Python values as tensors and back, and the Python objects that stand for dtypes and shapes.
// Everything here needs the GIL and throws Error (a Python exception travels inside it).
#pragma once

#include <vector>

#include "python/python_api.h"
#include "tensor/tensor.h"

namespace graphwright {

// --- tf.DType and tf.TensorShape
// -------------------------------------------------------------------

// The one tf.DType object of a dtype; a new reference.
PyObject* dtype_object(DType dtype);
// kInvalid unless `object` is a tf.DType.
DType dtype_if_object(PyObject* object);
// A tf.DType, a name ("float32", "half"), a number of the DataType enumeration, a NumPy dtype or
// scalar type, or the Python types bool, int, float, complex, str. TypeError "Cannot convert the
// argument `type_value`: ... to a TensorFlow DType." for anything else.
DType dtype_from_python(PyObject* object);
// The NumPy dtype, borrowed for ever: object for strings; ml_dtypes' types, imported on first use;
// void ("V") for handles.
PyObject* numpy_dtype(DType dtype);
// kInvalid for a NumPy dtype that no tensor has. Text dtypes ("S3", "U5") and object are kString.
DType dtype_from_numpy(PyObject* dtype);

// A new tf.TensorShape.
PyObject* shape_object(const PartialShape& shape);
// Null unless `object` is a tf.TensorShape.
const PartialShape* shape_if_object(PyObject* object);
// A tf.TensorShape, None (unknown rank), an int or a sequence of ints, None, or tf.Dimension-like
// objects. TypeError or ValueError as tf.TensorShape(...) raises.
PartialShape shape_from_python(PyObject* object);

// --- Values
// ----------------------------------------------------------------------------------------

// What a nested sequence holds besides numbers, strings and arrays; symbolic tensors and variables
// are for the caller to pack.
enum class SequenceContents { kValues, kEagerTensors, kOtherTensors };
SequenceContents sequence_contents(PyObject* value);

// The constant that a Python value stands for: bool, int, float, complex, str, bytes, nested lists
// and tuples of these, NumPy arrays and scalars, anything with a buffer, __array__ or
// __array_interface__, eager tensors alone or inside sequences.
// `dtype`: convert to this one; TypeError for a value that it cannot hold without changing kind
// (1.5 to int32), ValueError or OverflowError for a number out of range.
// `preferred`: taken where the value allows it, otherwise ignored.
// Without either, Python ints give int32 (int64 where one does not fit), floats float32.
// Errors: ValueError "Can't convert non-rectangular Python sequence to Tensor."; TypeError for
// mixed kinds; ValueError "Attempt to convert a value (...) with an unsupported type (...) to a
// Tensor."
Tensor tensor_from_python(PyObject* value, DType dtype = DType::kInvalid,
                          DType preferred = DType::kInvalid);
// A NumPy array of the elements, copied; a NumPy scalar if 0-d. Strings become bytes in arrays of
// objects. New reference.
PyObject* tensor_to_numpy(const Tensor& tensor);
// A NumPy array (never a scalar) that shares the tensor's memory and keeps it alive; read-only.
// Numeric dtypes only.
PyObject* tensor_view_as_numpy(const Tensor& tensor);

// --- DLPack
// ----------------------------------------------------------------------------------------

// A "dltensor" capsule that shares the tensor's memory. New reference.
PyObject* tensor_to_dlpack(const Tensor& tensor);
// From a capsule or an object with __dlpack__; shares the memory where it is dense and on the CPU.
Tensor tensor_from_dlpack(PyObject* object);

}  // namespace graphwright
