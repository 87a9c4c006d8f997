#include "python/control_values.h"

#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/autograph_convert.h"
#include "python/autograph_operators.h"
#include "python/errors.h"
#include "python/operation_object.h"
#include "python/tensor_array.h"
#include "python/tensor_object.h"

namespace graphwright {

namespace {

constexpr NestOptions kNest{.expand_composites = true};

}  // namespace

bool is_missing_return(PyObject* value) {
  return value == imported("graphwright.autograph.variables", "UNDEFINED_RETURN_VALUE");
}

bool is_python_constant(PyObject* value) {
  return PyBool_Check(value) || PyLong_Check(value) || PyFloat_Check(value) ||
         PyComplex_Check(value) || PyUnicode_Check(value) || PyBytes_Check(value) ||
         PyObject_IsInstance(value, imported("numpy", "ndarray")) == 1 ||
         PyObject_IsInstance(value, imported("numpy", "generic")) == 1;
}

bool is_carried(PyObject* value) {
  return is_tensor_like(value) || is_python_constant(value) || is_tensor_array(value);
}

Flat::Flat(PyObject* value) {
  structure = nest_flatten(value, leaves, kNest);
  for (const Ref& leaf : leaves) carried.push_back(is_carried(leaf.get()));
}

Ref Flat::value() const { return structure.is_leaf() ? leaves[0] : structure.pack(leaves); }

Operand leaf_operand(PyObject* leaf) {
  return is_tensor_array(leaf) ? tensor_array_list(leaf) : operand_of(leaf);
}

Ref leaf_with(PyObject* leaf, const Operand& operand) {
  return is_tensor_array(leaf) ? tensor_array_with_list(leaf, operand) : wrapped(operand);
}

Flat traced_results(PyObject* function, PyObject* value, const Operand& operation_value) {
  Flat flat;
  flat.structure = nest_flatten(value, flat.leaves, kNest);
  for (Ref& leaf : flat.leaves) {
    flat.carried.push_back(leaf.get() != Py_None);
    if (leaf.get() == Py_None) continue;
    try {
      Node* node = is_operation(leaf.get()) ? node_of_operation(leaf.get()) : nullptr;
      if (node && operation_value) {
        GraphBuilder& builder = graph_builder();
        builder.enter_control_scope({node});
        Operand after;
        try {
          after = builder.op("Identity", {operation_value});
        } catch (...) {
          builder.leave_control_scope();
          throw;
        }
        builder.leave_control_scope();
        leaf = wrapped(after);
      } else {
        leaf = leaf_with(leaf.get(), leaf_operand(leaf.get()));
      }
    } catch (const Error&) {
      PyErr_Clear();
      throw_type_error(
          "To be compatible with tf.function, Python functions must return zero or more Tensors or "
          "ExtensionTypes or None values; in compilation of " +
          repr_of(function) + ", found return value of type " + type_name(leaf.get()) +
          ", which is not a Tensor or ExtensionType.");
    }
  }
  return flat;
}

OperandVector carried_operands(const Flat& flat) {
  OperandVector operands;
  for (size_t leaf = 0; leaf < flat.leaves.size(); ++leaf) {
    if (flat.carried[leaf]) operands.push_back(leaf_operand(flat.leaves[leaf].get()));
  }
  return operands;
}

namespace {

Ref packed(const Flat& flat, std::span<const Operand> operands,
           Ref (*with)(PyObject*, const Operand&)) {
  Flat result = flat;
  size_t next = 0;
  for (size_t leaf = 0; leaf < result.leaves.size(); ++leaf) {
    if (result.carried[leaf]) result.leaves[leaf] = with(flat.leaves[leaf].get(), operands[next++]);
  }
  return result.value();
}

}  // namespace

Ref pack_carried(const Flat& flat, std::span<const Operand> operands) {
  return packed(flat, operands, leaf_with);
}

Ref branch_leaf_with(PyObject* leaf, const Operand& operand) {
  return is_tensor_array(leaf) ? tensor_array_of_branches(leaf, operand) : wrapped(operand);
}

Ref pack_branches(const Flat& flat, std::span<const Operand> operands) {
  return packed(flat, operands, branch_leaf_with);
}

Ref call_python(PyObject* function, std::span<const Ref> arguments) {
  Ref tuple = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
  for (size_t i = 0; i < arguments.size(); ++i) {
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), Ref(arguments[i]).release());
  }
  return checked_ref(PyObject_CallObject(function, tuple.get()));
}

Ref call_python_converted(PyObject* function, std::span<const Ref> arguments) {
  if (!autograph_active()) return call_python(function, arguments);
  std::vector<PyObject*> values{function};
  for (const Ref& argument : arguments) values.push_back(argument.get());
  return checked_ref(
      autograph_call(nullptr, values.data(), static_cast<Py_ssize_t>(values.size()), nullptr));
}

Ref wrapped(const Operand& operand) { return checked_ref(wrap(operand)); }

std::string leaf_name(const std::string& name, const Flat& flat, size_t leaf) {
  std::string text = "'" + name + "'";
  if (!flat.structure.is_leaf()) text += " (component " + std::to_string(leaf) + ")";
  return text;
}

GraphBuilder& graph_builder() { return dynamic_cast<GraphBuilder&>(current_builder()); }

Operand bool_condition(Operand condition, const char* what) {
  if (dtype_of(condition) != DType::kBool) {
    throw_value_error(
        std::string("condition of ") + what + " expected to be `tf.bool` scalar, got " +
        std::string(text_of(checked_ref(PyObject_Str(wrapped(condition).get())).get())) +
        "; to use as boolean Tensor, use `tf.cast`; to check for None, use "
        "`is not None`");
  }
  return condition;
}

std::optional<Operand> negated(const Operand& operand) {
  const Node* node = operand.is_value() ? operand.value()->node : nullptr;
  if (node == nullptr || node->op->name != "LogicalNot") return std::nullopt;
  return Operand(node->inputs[0]);
}

Operand placeholder_value(Builder& builder, const ValueType& type) {
  if (type.dtype == DType::kResource || type.dtype == DType::kVariant) {
    throw_value_error("there is no empty value of type " + type.to_string());
  }
  std::vector<int64_t> dims;
  for (Dim dim : type.shape.dims()) dims.push_back(is_known(dim) ? dim : 0);
  return builder.constant(Tensor::zeros(type.dtype, dims));
}

}  // namespace graphwright
