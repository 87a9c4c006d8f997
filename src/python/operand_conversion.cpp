// Python values as operands: tensors, variables, composites, constants, and lists that hold
// tensors.
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/functiondef.h"
#include "ir/opdef.h"
#include "ir/resources.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_object.h"
#include "python/variable_object.h"

namespace graphwright {
namespace {

// A tensor converts to its own dtype only; a cast must be asked for.
Operand with_dtype(Operand operand, PyObject* value, DType dtype) {
  if (dtype != DType::kInvalid && dtype_of(operand) != dtype) {
    throw_value_error("Tensor conversion requested dtype " + std::string(dtype_name(dtype)) +
                      " for Tensor with dtype " + std::string(dtype_name(dtype_of(operand))) +
                      ": " + repr_of(value));
  }
  return operand;
}

bool is_list(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }

std::vector<PyObject*> items_of(PyObject* sequence) {
  std::vector<PyObject*> items;
  Py_ssize_t size = PyObject_Size(sequence);
  for (Py_ssize_t i = 0; i < size; ++i) {
    items.push_back(PyList_Check(sequence) ? PyList_GetItem(sequence, i)
                                           : PyTuple_GetItem(sequence, i));
  }
  return items;
}

// The dtype of the first tensor in a nested list; kInvalid if there is none.
DType dtype_of_nested(PyObject* value) {
  if (is_tensor_like(value)) return dtype_of_tensor_like(value);
  if (!is_list(value)) return DType::kInvalid;
  for (PyObject* item : items_of(value)) {
    DType dtype = dtype_of_nested(item);
    if (dtype != DType::kInvalid) return dtype;
  }
  return DType::kInvalid;
}

// Nested lists with tensors in them, packed level by level.
Operand pack_list(PyObject* list, const ConversionOptions& options) {
  DType dtype = options.dtype;
  if (dtype == DType::kInvalid) dtype = dtype_of_nested(list);
  Builder& builder = current_builder();
  const bool named = !options.name.empty();
  NameScopeGuard scope(builder, named ? options.name : "packed");
  OperandVector items;
  for (PyObject* item : items_of(list)) {
    ConversionOptions item_options;
    item_options.dtype = dtype;
    std::string name = std::to_string(items.size());
    item_options.name = name;
    if (is_list(item) && dtype_of_nested(item) != DType::kInvalid) {
      items.push_back(pack_list(item, item_options));
    } else {
      // Tensors of another dtype are for the op to refuse, unless one was asked for.
      if (is_tensor_like(item)) item_options.dtype = options.dtype;
      items.push_back(operand_of(item, item_options));
    }
  }
  return builder.op("Pack", items, {}, kScopeName);
}

// Objects that know how to become tensors: __tf_tensor__(dtype, name).
Operand ask_object(PyObject* value, const ConversionOptions& options) {
  Ref dtype = options.dtype == DType::kInvalid ? Ref::borrow(Py_None)
                                               : Ref::steal(dtype_object(options.dtype));
  Ref name = options.name.empty() ? Ref::borrow(Py_None) : make_text(options.name);
  Ref result =
      checked_ref(PyObject_CallMethod(value, "__tf_tensor__", "OO", dtype.get(), name.get()));
  if (!is_tensor(result.get())) {
    throw_type_error("__tf_tensor__ of " + type_name(value) + " returned " + repr_of(result.get()) +
                     ", which is no tensor");
  }
  return with_dtype(operand_in(result.get()), result.get(), options.dtype);
}

bool is_plain_number(PyObject* value) {
  return PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyBool_Check(value);
}

}  // namespace

bool is_tensor_like(PyObject* object) { return is_tensor(object) || is_variable(object); }

DType dtype_of_tensor_like(PyObject* object) {
  return is_variable(object) ? variable_value_type(object).dtype : dtype_of(operand_in(object));
}

bool becomes_tensor(PyObject* value) {
  // The answer for Python's own types is known; asking would raise an AttributeError each time.
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value) || is_plain_number(value) ||
      PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)) {
    return false;
  }
  return PyObject_HasAttr(reinterpret_cast<PyObject*>(Py_TYPE(value)), interned("__tf_tensor__"));
}

Operand operand_of(PyObject* value, const ConversionOptions& options) {
  if (is_tensor(value)) return with_dtype(operand_in(value), value, options.dtype);
  if (is_variable(value)) {
    return with_dtype(read_variable(value), value, options.dtype);
  }
  if (!is_plain_number(value)) {
    if (becomes_tensor(value)) return ask_object(value, options);
    if (is_list(value)) {
      // Tensors in a list stay nodes of the graph that is being built, and under a tape keep their
      // gradients: both need the op, which also checks that dtypes and shapes agree.
      if (sequence_contents(value) != SequenceContents::kValues) return pack_list(value, options);
    }
  }
  Tensor tensor = tensor_from_python(value, options.dtype, options.preferred);
  Builder& builder = current_builder();
  if (builder.is_eager()) return tensor;
  if (options.small_is_eager && tensor.element_count() <= kMaxBodyConstantElements) return tensor;
  return builder.constant(tensor, options.name);
}

Tensor eager_tensor_of(PyObject* value, DType dtype) {
  if (is_symbolic_tensor(value)) {
    throw_value_error("a value that is known now is needed here, but " + repr_of(value) +
                      " is symbolic");
  }
  if (is_eager_tensor(value)) {
    return with_dtype(operand_in(value), value, dtype).tensor();
  }
  if (is_variable(value)) {
    const std::shared_ptr<VariableResource>& resource = variable_resource(value);
    Tensor tensor = resource ? resource->read() : Tensor();
    if (!tensor) throw_value_error(repr_of(value) + " has no value now");
    return with_dtype(tensor, value, dtype).tensor();
  }
  return tensor_from_python(value, dtype);
}

}  // namespace graphwright
