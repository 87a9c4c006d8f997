// tf.DType.
#include <limits>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "python/convert.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// What a tf.DType holds. There is one Python object for each dtype.
struct DTypeHandle {
  DType dtype;
};

std::string name_of(DTypeHandle self) { return std::string(dtype_name(self.dtype)); }
std::string repr_of_dtype(DTypeHandle self) { return "tf." + name_of(self); }
std::string str_of_dtype(DTypeHandle self) { return "<dtype: '" + name_of(self) + "'>"; }

bool is_numpy_compatible(DTypeHandle self) {
  return self.dtype != DType::kResource && self.dtype != DType::kVariant;
}

nb::object scalar_type(DTypeHandle self) {
  if (self.dtype == DType::kString)
    return nb::borrow(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  if (!is_numpy_compatible(self)) {
    throw Error(ErrorKind::kKeyError, "NumPy has no type for " + str_of_dtype(self) + ".");
  }
  return nb::borrow(numpy_dtype(self.dtype)).attr("type");
}

nb::object largest_integer(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return nb::int_(std::numeric_limits<int8_t>::max());
    case DType::kInt16:
      return nb::int_(std::numeric_limits<int16_t>::max());
    case DType::kInt32:
      return nb::int_(std::numeric_limits<int32_t>::max());
    case DType::kInt64:
      return nb::int_(std::numeric_limits<int64_t>::max());
    case DType::kUint8:
      return nb::int_(std::numeric_limits<uint8_t>::max());
    case DType::kUint16:
      return nb::int_(std::numeric_limits<uint16_t>::max());
    case DType::kUint32:
      return nb::int_(std::numeric_limits<uint32_t>::max());
    default:
      return nb::int_(std::numeric_limits<uint64_t>::max());
  }
}

nb::object smallest_integer(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return nb::int_(std::numeric_limits<int8_t>::min());
    case DType::kInt16:
      return nb::int_(std::numeric_limits<int16_t>::min());
    case DType::kInt32:
      return nb::int_(std::numeric_limits<int32_t>::min());
    case DType::kInt64:
      return nb::int_(std::numeric_limits<int64_t>::min());
    default:
      return nb::int_(0);
  }
}

// The finite extremes of a floating dtype, as a scalar of its own type.
nb::object float_extreme(DTypeHandle self, const char* which) {
  bool from_numpy = kReal32And64.contains(self.dtype) || self.dtype == DType::kHalf;
  nb::object finfo = nb::borrow(imported(from_numpy ? "numpy" : "ml_dtypes", "finfo"));
  return finfo(scalar_type(self)).attr(which);
}

nb::object extreme(DTypeHandle self, bool largest) {
  if (is_integer(self.dtype)) {
    return largest ? largest_integer(self.dtype) : smallest_integer(self.dtype);
  }
  if (is_floating(self.dtype)) return float_extreme(self, largest ? "max" : "min");
  throw_type_error(std::string("Cannot find ") + (largest ? "maximum" : "minimum") + " value of " +
                   str_of_dtype(self) + ".");
}

nb::object limits(DTypeHandle self, bool clip_negative) {
  if (is_integer(self.dtype)) {
    return nb::make_tuple(clip_negative ? nb::object(nb::int_(0)) : smallest_integer(self.dtype),
                          largest_integer(self.dtype));
  }
  if (kReal32And64.contains(self.dtype)) return nb::make_tuple(clip_negative ? 0 : -1, 1);
  if (self.dtype == DType::kBool) return nb::make_tuple(0, true);
  throw_value_error(str_of_dtype(self) + " does not have defined limits.");
}

DTypeHandle real_dtype(DTypeHandle self) {
  if (self.dtype == DType::kComplex64) return {DType::kFloat};
  if (self.dtype == DType::kComplex128) return {DType::kDouble};
  return self;
}

// kInvalid, without an error, for what is no dtype.
DType dtype_or_invalid(PyObject* object) {
  try {
    return dtype_from_python(object);
  } catch (const Error&) {
    return DType::kInvalid;
  }
}

bool equals(DTypeHandle self, nb::handle other) {
  if (other.is_none()) return false;
  DType dtype = dtype_if_object(other.ptr());
  if (dtype == DType::kInvalid) dtype = dtype_or_invalid(other.ptr());
  return self.dtype == dtype;
}

nb::object from_number(nb::handle value) {
  if (DType dtype = dtype_if_object(value.ptr()); dtype != DType::kInvalid) {
    return nb::steal(dtype_object(dtype));
  }
  nb::object number = nb::steal(checked(PyNumber_Long(value.ptr())));
  int64_t index = nb::cast<int64_t>(number);
  if (index <= 0 || index >= kDTypeCount || dtype_size(static_cast<DType>(index)) == 0) {
    throw_type_error(std::to_string(index) + " does not correspond to a valid DataType");
  }
  return nb::steal(dtype_object(static_cast<DType>(index)));
}

[[noreturn]] void refuse(PyObject* object) {
  throw_type_error("Cannot convert the argument `type_value`: " + repr_of(object) +
                   " to a TensorFlow DType.");
}

// NumPy's classes of scalar types, which some versions take for one of their members.
bool is_abstract(PyObject* scalar_type) {
  static constexpr const char* kNames[] = {
      "generic", "number",   "integer",         "signedinteger", "unsignedinteger",
      "inexact", "floating", "complexfloating", "flexible",      "character"};
  for (const char* name : kNames) {
    if (imported("numpy", name) == scalar_type) return true;
  }
  return false;
}

// The dtypes' Python objects, made with the class and kept for ever.
std::array<PyObject*, kDTypeCount> objects{};
PyTypeObject* dtype_class = nullptr;

}  // namespace

PyObject* dtype_object(DType dtype) {
  size_t index = static_cast<size_t>(dtype);
  PyObject* object = index < objects.size() ? objects[index] : nullptr;
  if (!object) throw_internal("a dtype without a Python object");
  Py_INCREF(object);
  return object;
}

DType dtype_if_object(PyObject* object) {
  if (Py_TYPE(object) != dtype_class) return DType::kInvalid;
  return nb::inst_ptr<DTypeHandle>(object)->dtype;
}

DType dtype_from_python(PyObject* object) {
  if (DType dtype = dtype_if_object(object); dtype != DType::kInvalid) return dtype;
  if (PyUnicode_Check(object)) {
    DType dtype = dtype_from_name(text_of(object));
    if (dtype == DType::kInvalid) refuse(object);
    return dtype;
  }
  if (PyLong_Check(object) && !PyBool_Check(object)) {
    long index = PyLong_AsLong(object);
    if (index == -1) PyErr_Clear();
    if (index <= 0 || index >= kDTypeCount || dtype_size(static_cast<DType>(index)) == 0) {
      refuse(object);
    }
    return static_cast<DType>(index);
  }
  if (PyType_Check(object)) {
    if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::kFloat;
    if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::kBool;
    if (object == reinterpret_cast<PyObject*>(&PyBaseObject_Type)) return DType::kString;
    int numpy_type = PyObject_IsSubclass(object, imported("numpy", "generic"));
    if (numpy_type < 0) throw_python_error();
    if (!numpy_type || is_abstract(object)) refuse(object);
    Ref dtype =
        Ref::steal(PyObject_CallFunctionObjArgs(imported("numpy", "dtype"), object, nullptr));
    if (!dtype) {  // an abstract type, such as numpy.floating
      PyErr_Clear();
      refuse(object);
    }
    DType result = dtype_from_numpy(dtype.get());
    if (result == DType::kInvalid) refuse(object);
    return result;
  }
  int is_numpy_dtype = PyObject_IsInstance(object, imported("numpy", "dtype"));
  if (is_numpy_dtype < 0) throw_python_error();
  if (is_numpy_dtype) {
    DType result = dtype_from_numpy(object);
    if (result == DType::kInvalid) refuse(object);
    return result;
  }
  // Whatever has a dtype stands for it: arrays, tensors, variables.
  Ref attribute = Ref::steal(PyObject_GetAttrString(object, "dtype"));
  if (!attribute) {
    PyErr_Clear();
    refuse(object);
  }
  if (DType dtype = dtype_if_object(attribute.get()); dtype != DType::kInvalid) return dtype;
  is_numpy_dtype = PyObject_IsInstance(attribute.get(), imported("numpy", "dtype"));
  if (is_numpy_dtype < 0) throw_python_error();
  DType result = is_numpy_dtype ? dtype_from_numpy(attribute.get()) : DType::kInvalid;
  if (result == DType::kInvalid) refuse(object);
  return result;
}

void bind_dtype(nb::module_& module) {
  nb::class_<DTypeHandle> type(module, "DType",
                               "The type of the elements of a tensor.\n\n"
                               "Compares equal to its name, to the NumPy dtype or scalar type of "
                               "the same name, and to its number in the DataType enumeration.",
                               nb::is_final());
  type.def(nb::new_(&from_number), nb::arg("type_enum"))
      .def_prop_ro("name", &name_of, "The name, for example \"float32\".")
      .def_prop_ro(
          "as_datatype_enum", [](DTypeHandle self) { return static_cast<int>(self.dtype); },
          "The number in the DataType enumeration.")
      .def_prop_ro("_type_enum", [](DTypeHandle self) { return static_cast<int>(self.dtype); })
      .def("__int__", [](DTypeHandle self) { return static_cast<int>(self.dtype); })
      .def_prop_ro("as_numpy_dtype", &scalar_type,
                   "NumPy's scalar type; object for strings. KeyError for handles.")
      .def_prop_ro(
          "base_dtype", [](DTypeHandle self) { return nb::steal(dtype_object(self.dtype)); },
          "The dtype itself: there are no reference types.")
      .def_prop_ro(
          "real_dtype",
          [](DTypeHandle self) { return nb::steal(dtype_object(real_dtype(self).dtype)); },
          "The dtype of the real part.")
      .def_prop_ro("is_bool", [](DTypeHandle self) { return self.dtype == DType::kBool; })
      .def_prop_ro("is_complex", [](DTypeHandle self) { return is_complex(self.dtype); })
      .def_prop_ro("is_floating", [](DTypeHandle self) { return is_floating(self.dtype); })
      .def_prop_ro("is_integer", [](DTypeHandle self) { return is_integer(self.dtype); })
      .def_prop_ro("is_quantized", [](DTypeHandle) { return false; })
      .def_prop_ro("is_unsigned",
                   [](DTypeHandle self) { return kUnsignedInteger.contains(self.dtype); })
      .def_prop_ro("is_numeric", [](DTypeHandle self) { return kNumeric.contains(self.dtype); })
      .def_prop_ro("is_numpy_compatible", &is_numpy_compatible)
      .def_prop_ro("_is_ref_dtype", [](DTypeHandle) { return false; })
      .def_prop_ro(
          "size",
          [](DTypeHandle self) {
            return has_object_elements(self.dtype) ? size_t{0} : dtype_size(self.dtype);
          },
          "Bytes of one element; 0 for strings and handles.")
      .def_prop_ro(
          "min", [](DTypeHandle self) { return extreme(self, false); },
          "The smallest finite value. TypeError for dtypes without an order.")
      .def_prop_ro(
          "max", [](DTypeHandle self) { return extreme(self, true); },
          "The largest finite value. TypeError for dtypes without an order.")
      .def_prop_ro(
          "limits", [](DTypeHandle self) { return limits(self, true); },
          "The range of image intensities, (0, max) for integers and (0, 1) for floats.")
      .def(
          "is_compatible_with",
          [](DTypeHandle self, nb::handle other) {
            return self.dtype == dtype_from_python(other.ptr());
          },
          nb::arg("other"), "Whether `other`, a dtype or something like one, is this dtype.")
      .def("is_subtype_of", &equals, nb::arg("other"))
      .def(
          "most_specific_common_supertype",
          [](DTypeHandle self, nb::iterable types) -> nb::object {
            for (nb::handle type : types) {
              if (!equals(self, type)) return nb::none();
            }
            return nb::steal(dtype_object(self.dtype));
          },
          nb::arg("types"))
      .def("__eq__", &equals, nb::arg("other").none(), nb::is_operator())
      .def(
          "__ne__", [](DTypeHandle self, nb::handle other) { return !equals(self, other); },
          nb::arg("other").none(), nb::is_operator())
      .def("__hash__", [](DTypeHandle self) { return static_cast<Py_hash_t>(self.dtype); })
      .def("__repr__", &repr_of_dtype)
      .def("__str__", &str_of_dtype)
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def("__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); })
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::make_tuple(self.attr("_type_enum")));
      });
  dtype_class = reinterpret_cast<PyTypeObject*>(type.ptr());
  nb::dict by_name;
  for (int i = 1; i < kDTypeCount; ++i) {
    DType dtype = static_cast<DType>(i);
    if (dtype_size(dtype) == 0) continue;
    objects[static_cast<size_t>(i)] = nb::cast(DTypeHandle{dtype}).release().ptr();
    by_name[nb::str(std::string(dtype_name(dtype)).c_str())] =
        nb::borrow(objects[static_cast<size_t>(i)]);
  }
  module.attr("dtypes_by_name") = by_name;
  module.def(
      "as_dtype",
      [](nb::handle value) { return nb::steal(dtype_object(dtype_from_python(value.ptr()))); },
      nb::arg("type_value").none(),
      "The DType that a name, number, NumPy dtype or scalar type, `float`, `bool` or `object`, or "
      "anything with a dtype stands for.\n\nTypeError if there is none.");
}

}  // namespace graphwright
