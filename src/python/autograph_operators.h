// The operators that converted code calls, under the name `ag__`.
#pragma once

#include "python/python_api.h"

namespace graphwright {

// The object that converted code knows as `ag__`; borrowed.
PyObject* autograph_operators();

// Whether calls made by converted code convert what they call: off inside `do_not_convert`. Per
// thread.
bool autograph_enabled();

// What converted code calls in place of a built-in function that would not accept tensors, or the
// callable itself.
PyObject* autograph_overload(PyObject* callable);

}  // namespace graphwright
