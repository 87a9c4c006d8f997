// What the module needs of the types that trace and call functions.
#pragma once

#include "python/python_api.h"

namespace graphwright {

void create_function_type(PyObject* module);
void create_concrete_function_type(PyObject* module);
// Adds init_scope, graph contexts and their kin.
void add_trace_functions(PyObject* module);

bool is_function_object(PyObject* object);

}  // namespace graphwright
