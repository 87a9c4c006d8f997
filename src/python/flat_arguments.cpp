#include "python/flat_arguments.h"

#include "python/errors.h"

namespace graphwright {

FlatArguments flat_arguments(PyObject* arguments, PyObject* keywords, PyObject* first) {
  FlatArguments flat;
  if (first) flat.values.push_back(first);
  for (Py_ssize_t i = 0; i < PyTuple_Size(arguments); ++i) {
    flat.values.push_back(PyTuple_GetItem(arguments, i));
  }
  flat.positional = static_cast<Py_ssize_t>(flat.values.size());
  if (keywords && PyDict_Size(keywords) > 0) {
    Ref keys = checked_ref(PyDict_Keys(keywords));
    flat.names = checked_ref(PyList_AsTuple(keys.get()));
    for (Py_ssize_t k = 0; k < PyTuple_Size(flat.names.get()); ++k) {
      flat.values.push_back(
          PyDict_GetItemWithError(keywords, PyTuple_GetItem(flat.names.get(), k)));
    }
  }
  return flat;
}

}  // namespace graphwright
