#include "python/type_spec.h"

#include "python/convert.h"
#include "python/errors.h"

namespace graphwright {
namespace {

constexpr const char* kModule = "graphwright.type_spec";

bool is_instance(PyObject* object, const char* class_name) {
  int result = PyObject_IsInstance(object, imported(kModule, class_name));
  if (result < 0) throw_python_error();
  return result == 1;
}

}  // namespace

bool is_type_spec(PyObject* object) { return is_instance(object, "TypeSpec"); }

bool is_tensor_spec(PyObject* object) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return type == imported(kModule, "TensorSpec") || is_instance(object, "TensorSpec");
}

bool is_composite_tensor(PyObject* object) { return is_instance(object, "CompositeTensor"); }

ValueType tensor_spec_type(PyObject* spec) {
  Ref dtype = checked_ref(PyObject_GetAttr(spec, interned("dtype")));
  Ref shape = checked_ref(PyObject_GetAttr(spec, interned("shape")));
  return tensor_type(dtype_from_python(dtype.get()), shape_from_python(shape.get()));
}

std::string tensor_spec_name(PyObject* spec) {
  Ref name = checked_ref(PyObject_GetAttr(spec, interned("name")));
  return PyUnicode_Check(name.get()) ? std::string(text_of(name.get())) : std::string();
}

PyObject* make_tensor_spec(const PartialShape& shape, DType dtype, std::string_view name) {
  Ref shape_argument = Ref::steal(shape_object(shape.without_symbols()));
  Ref dtype_argument = Ref::steal(dtype_object(dtype));
  Ref name_argument = name.empty() ? Ref::borrow(Py_None) : make_text(name);
  return checked(PyObject_CallFunctionObjArgs(imported(kModule, "TensorSpec"), shape_argument.get(),
                                              dtype_argument.get(), name_argument.get(), nullptr));
}

}  // namespace graphwright
