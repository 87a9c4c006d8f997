#include "python/printing.h"

#include "python/convert.h"
#include "python/errors.h"
#include "tensor/format.h"

namespace graphwright {
namespace {

Ref default_options() {
  return checked_ref(Py_BuildValue(
      "{s:i,s:i,s:i,s:i,s:O,s:s,s:s,s:s,s:s,s:O,s:O}", "edgeitems", 3, "threshold", 1000,
      "linewidth", 75, "precision", 8, "suppress", Py_False, "floatmode", "maxprec", "sign", "-",
      "nanstr", "nan", "infstr", "inf", "formatter", Py_None, "override_repr", Py_None));
}

// Whether NumPy would print differently from what its defaults say.
bool options_changed() {
  static PyObject* const defaults = default_options().release();
  Ref options = checked_ref(PyObject_CallNoArgs(imported("numpy", "get_printoptions")));
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(defaults, &position, &name, &value)) {
    PyObject* current = PyDict_GetItemWithError(options.get(), name);
    if (!current) continue;  // an option of a newer NumPy
    int equal = PyObject_RichCompareBool(current, value, Py_EQ);
    if (equal < 0) throw_python_error();
    if (!equal) return true;
  }
  PyObject* legacy = PyDict_GetItemWithError(options.get(), interned("legacy"));
  return legacy && PyObject_IsTrue(legacy) == 1;
}

bool numpy_prints(const Tensor& tensor) {
  return tensor.dtype() != DType::kResource && tensor.dtype() != DType::kVariant &&
         options_changed();
}

std::string text_of_result(PyObject* text) {
  Ref owned = checked_ref(text);
  return std::string(text_of(owned.get()));
}

}  // namespace

std::string printed_value_str(const Tensor& tensor) {
  if (!numpy_prints(tensor)) return format_array_str(tensor);
  Ref value = Ref::steal(tensor_to_numpy(tensor));
  return text_of_result(PyObject_Str(value.get()));
}

std::string printed_value_repr(const Tensor& tensor) {
  if (tensor.rank() == 0 || !numpy_prints(tensor)) return format_array_repr(tensor);
  Ref value = Ref::steal(tensor_to_numpy(tensor));
  return text_of_result(PyObject_Repr(value.get()));
}

std::string printed_str(const Tensor& tensor) {
  return tensor_str_around(tensor, printed_value_str(tensor));
}

std::string printed_repr(const Tensor& tensor) {
  if (tensor.dtype() == DType::kResource || tensor.dtype() == DType::kVariant) {
    return tensor_repr(tensor);
  }
  return tensor_repr_around(tensor, printed_value_repr(tensor));
}

}  // namespace graphwright
