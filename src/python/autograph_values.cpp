#include "python/autograph_values.h"

#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/errors.h"
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

bool is_carried(PyObject* value) { return is_tensor_like(value) || is_python_constant(value); }

Flat::Flat(PyObject* value) {
  structure = nest_flatten(value, leaves, kNest);
  for (const Ref& leaf : leaves) carried.push_back(is_carried(leaf.get()));
}

Ref Flat::value() const { return structure.is_leaf() ? leaves[0] : structure.pack(leaves); }

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
