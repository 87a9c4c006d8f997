// The Python types Tensor, EagerTensor and SymbolicTensor as C++ sees them, and the way between
// Python values and operands. Everything here needs the GIL.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/operand.h"
#include "python/python_api.h"
#include "tensor/dtype.h"

namespace graphwright {

class Builder;
class Graph;

// Tensor is the base of both others and has no instances of its own. `operand` is the first word of
// both, so that code that takes either need not look which it is.
struct TensorObject {
  PyObject ob_base;
  Operand operand;
  PyObject* dictionary;
  PyObject* weak_references;
};
struct SymbolicTensorObject {
  TensorObject base;
  std::shared_ptr<Graph> graph;  // keeps the value alive
};

extern PyTypeObject* tensor_base_type;
extern PyTypeObject* eager_tensor_type;
extern PyTypeObject* symbolic_tensor_type;

inline bool is_eager_tensor(PyObject* object) { return Py_TYPE(object) == eager_tensor_type; }
inline bool is_symbolic_tensor(PyObject* object) { return Py_TYPE(object) == symbolic_tensor_type; }
// Neither type can be subclassed from Python, so these two are all.
inline bool is_tensor(PyObject* object) {
  return is_eager_tensor(object) || is_symbolic_tensor(object);
}
inline const Operand& operand_in(PyObject* tensor) {
  return reinterpret_cast<TensorObject*>(tensor)->operand;
}

// A new EagerTensor or SymbolicTensor. Throws Error.
PyObject* wrap(Operand operand);
// A new EagerTensor that takes over the reference; null with MemoryError set if it fails.
PyObject* wrap_impl(TensorImpl* impl);
// A list of tensors.
PyObject* wrap_list(std::span<const Operand> operands);

// How a Python value becomes an operand.
struct ConversionOptions {
  DType dtype = DType::kInvalid;      // required: what is no tensor is converted to it
  DType preferred = DType::kInvalid;  // taken where the value allows it and `dtype` is not given
  std::string_view name = {};         // of the Const node, when a graph is being built
  bool small_is_eager = false;        // what has few elements stays an eager tensor there
};

// The operand that a Python value stands for: a tensor's own, a variable's value, or a constant of
// anything that can be converted (numbers, NumPy arrays, nested lists, which may hold tensors).
// A tensor keeps its dtype; ValueError as TensorFlow's convert_to_tensor when it must be another.
// Throws Error: TypeError or ValueError where the value cannot be converted.
Operand operand_of(PyObject* value, const ConversionOptions& options = {});
inline Operand operand_of(PyObject* value, DType dtype) {
  return operand_of(value, ConversionOptions{dtype, DType::kInvalid, {}});
}
// An eager tensor only; ValueError for a symbolic one, naming it.
Tensor eager_tensor_of(PyObject* value, DType dtype = DType::kInvalid);

// A tensor or variable: what has a dtype and takes part in ops as it is.
bool is_tensor_like(PyObject* object);
DType dtype_of_tensor_like(PyObject* object);
// Whether the object's type has __tf_tensor__, by which it becomes a tensor.
bool becomes_tensor(PyObject* object);

// "<tf.Tensor 'add:0' shape=() dtype=int32>", "Tensor("add:0", shape=(), dtype=int32)".
std::string symbolic_repr(const Operand& operand);
std::string symbolic_str(const Operand& operand);

// Types that are registered by the module, in this order.
void create_tensor_types(PyObject* module);

}  // namespace graphwright
