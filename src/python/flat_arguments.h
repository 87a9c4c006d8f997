// A tuple and a dict of arguments as vectorcall takes them.
#pragma once

#include <vector>

#include "python/python_api.h"

namespace graphwright {

struct FlatArguments {
  std::vector<PyObject*> values;  // borrowed from the tuple and the dict
  Py_ssize_t positional = 0;      // the values in front that have no name
  Ref names;                      // of the others, a tuple; null without any
};

// `first`, if given, stands before the positional arguments; `keywords` may be null.
FlatArguments flat_arguments(PyObject* arguments, PyObject* keywords, PyObject* first = nullptr);

}  // namespace graphwright
