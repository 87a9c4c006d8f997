// AutoGraph's conversion of Python functions: from a function to the one that runs in its place.
#pragma once

#include <string>
#include <vector>

#include "python/python_api.h"

namespace graphwright {

// Whether functions called by a converted function are converted too.
enum class Recursion : uint8_t { kConvert, kDirect };

// A function of the same signature, defaults, closure cells and globals as `function` (a plain
// Python function) whose calls and control flow go through AutoGraph's operators. The work is done
// once per code object. Throws Error: NotImplementedError for a construct that cannot be converted,
// naming it and its line; the Python exception of `graphwright.autograph.source` where the source
// is not to be had.
Ref autograph_convert(PyObject* function, Recursion recursion = Recursion::kConvert);

// Whether the code object is the result of a conversion (or lies inside one).
bool is_converted_code(PyObject* code);

// What `tf.autograph.to_code` shows for `function`.
std::string autograph_to_code(PyObject* function, bool recursive,
                              const std::vector<std::string>& features);

// For a code object made by a conversion: the name of the user's function that it is part of, and
// whether it begins one (rather than being a block or an inner function). Null for any other.
Ref autograph_owner(PyObject* code);

// autograph_call for a function that is being traced: an exception is raised again telling where in
// the user's code it happened.
PyObject* autograph_call_traced(PyObject* const* arguments, Py_ssize_t count,
                                PyObject* keyword_names);

// `callable(*arguments, **keywords)`, converted where that is called for; arguments[0] is the
// callable.
PyObject* autograph_call(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* keyword_names);

}  // namespace graphwright
