// Python functions made from rows of the op and function tables: `tf.tanh`, `tf.reduce_sum`.
#pragma once

#include <initializer_list>
#include <string_view>

#include "ir/functiondef.h"
#include "ir/opdef.h"
#include "python/python_api.h"

namespace graphwright {

// A new function. `name` is the public one under the package ("math.tanh"). Rows and names must
// live for ever.
PyObject* make_function(const FunctionDef& row, std::string_view name);
PyObject* make_function(const OpDef& row, std::string_view name);
// tf.raw_ops: keyword arguments only.
PyObject* make_raw_op(const OpDef& row);

// Calls a function row from C++ with operands for its first parameters and defaults for the others.
// Throws Error: Unimplemented naming it if there is no such row.
Operand call_function(std::string_view function, std::initializer_list<Operand> operands,
                      std::string_view node_name);

void create_row_function_type(PyObject* module);

}  // namespace graphwright
