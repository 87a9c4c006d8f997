// Python values as the control flow of a graph carries them: structures of leaves, most of them
// tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/graph_builder.h"
#include "python/nest.h"
#include "python/python_api.h"

namespace graphwright {

// What a path through a function that has met no return has to return.
bool is_missing_return(PyObject* value);

// Whether control flow carries the value as a tensor: tensors, variables, numbers, arrays, texts.
bool is_carried(PyObject* value);

// Whether control flow makes a constant of the value: a number, text or NumPy array, not a tensor.
bool is_python_constant(PyObject* value);

// One variable's value, taken apart. Leaves that are not carried must stay the same object.
struct Flat {
  Structure structure;
  std::vector<Ref> leaves;
  std::vector<bool> carried;

  Flat() = default;
  explicit Flat(PyObject* value);
  Ref value() const;  // put together again
};

// A new tensor object.
Ref wrapped(const Operand& operand);

// The operand that carries a leaf, and a leaf of the same kind around another operand.
Operand leaf_operand(PyObject* leaf);
Ref leaf_with(PyObject* leaf, const Operand& operand);

// What a Python function given to a control-flow function has returned, ready to be the results of
// a block. Leaves are tensors (whatever converts to one is one) or None, which is not carried. An
// operation counts as `operation_value`, made after it; none is allowed if that is null. TypeError
// naming `function` for any other leaf.
Flat traced_results(PyObject* function, PyObject* value, const Operand& operation_value = {});
OperandVector carried_operands(const Flat& flat);
// The structure around other values for its carried leaves.
Ref pack_carried(const Flat& flat, std::span<const Operand> operands);
// The same for what one of several branches has returned, of which `flat` is the first's.
Ref branch_leaf_with(PyObject* leaf, const Operand& operand);
Ref pack_branches(const Flat& flat, std::span<const Operand> operands);

// Calls a Python function. AutoGraph converts it where that is on.
Ref call_python(PyObject* function, std::span<const Ref> arguments);
Ref call_python_converted(PyObject* function, std::span<const Ref> arguments);

// "'x'", or "'x' (component 2)" inside a structure.
std::string leaf_name(const std::string& name, const Flat& flat, size_t leaf);

// The builder of the graph being built.
GraphBuilder& graph_builder();

// The operand; ValueError naming `what` unless its dtype is bool.
Operand bool_condition(Operand condition, const char* what);

// What a value is the negation of, where a LogicalNot made it.
std::optional<Operand> negated(const Operand& operand);

// A value of the given type that is never read.
Operand placeholder_value(Builder& builder, const ValueType& type);

}  // namespace graphwright
