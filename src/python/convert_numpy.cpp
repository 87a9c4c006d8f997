// NumPy arrays and scalars as tensors, and tensors as NumPy arrays.
#include <cstring>
#include <string>
#include <vector>

#include "python/convert_internal.h"
#include "python/errors.h"
#include "python/numpy_array.h"

namespace graphwright {
namespace {

[[noreturn]] void throw_unsupported_array(const std::string& why) {
  throw Error(unconvertible_kind(), "Failed to convert a NumPy array to a Tensor (" + why + ").");
}

// UTF-8 of one fixed-length element of a 'U' array, which zeros fill up.
std::string utf8_of(const char* element, int64_t item_size) {
  int64_t length = item_size / 4;
  std::vector<uint32_t> codes(static_cast<size_t>(length));
  std::memcpy(codes.data(), element, static_cast<size_t>(length) * 4);
  while (!codes.empty() && codes.back() == 0) codes.pop_back();
  std::string text;
  for (uint32_t code : codes) {
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      if (code >= 0xd800 && code < 0xe000) throw_unsupported_array("Text with lone surrogates");
      text += static_cast<char>(0xe0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      text += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      text += static_cast<char>(0xf0 | code >> 18);
      text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
      text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return text;
}

std::string bytes_of(const char* element, int64_t item_size) {
  while (item_size > 0 && element[item_size - 1] == 0) --item_size;
  return {element, static_cast<size_t>(item_size)};
}

Tensor strings_of(const NumpyArrayView& view) {
  Tensor result = Tensor::empty(DType::kString, view.dims());
  size_t size = static_cast<size_t>(view.item_size());
  std::vector<char> elements(size * static_cast<size_t>(view.element_count()));
  copy_elements_of(view, elements.data());
  for (int64_t i = 0; i < result.element_count(); ++i) {
    const char* element = elements.data() + size * static_cast<size_t>(i);
    std::string& target = result.mutable_data<StringElement>()[i];
    if (view.kind() == 'U') {
      target = utf8_of(element, view.item_size());
    } else if (view.kind() == 'S') {
      target = bytes_of(element, view.item_size());
    } else {
      PyObject* object;
      std::memcpy(&object, element, sizeof object);
      if (!object || !(PyUnicode_Check(object) || PyBytes_Check(object))) {
        throw_unsupported_array("Unsupported object type " +
                                (object ? type_name(object) : std::string("NULL")));
      }
      target = string_of(object);
    }
  }
  return result;
}

Ref cast_array(PyObject* array, DType dtype) {
  Ref cast = checked_ref(PyObject_GetAttrString(array, "astype"));
  return checked_ref(PyObject_CallFunctionObjArgs(cast.get(), numpy_dtype(dtype), nullptr));
}

// NumPy's scalar of a 0-d tensor by calling its type with a Python number, which is quicker than
// making an array first; null for dtypes where that is not so.
Ref common_scalar(const Tensor& tensor) {
  Ref number;
  switch (tensor.dtype()) {
    case DType::kFloat:
      number = checked_ref(PyFloat_FromDouble(*tensor.data<float>()));
      return checked_ref(
          PyObject_CallFunctionObjArgs(imported("numpy", "float32"), number.get(), nullptr));
    case DType::kDouble:
      number = checked_ref(PyFloat_FromDouble(*tensor.data<double>()));
      return checked_ref(
          PyObject_CallFunctionObjArgs(imported("numpy", "float64"), number.get(), nullptr));
    case DType::kInt32:
      number = checked_ref(PyLong_FromLong(*tensor.data<int32_t>()));
      return checked_ref(
          PyObject_CallFunctionObjArgs(imported("numpy", "int32"), number.get(), nullptr));
    case DType::kInt64:
      number = checked_ref(PyLong_FromLongLong(*tensor.data<int64_t>()));
      return checked_ref(
          PyObject_CallFunctionObjArgs(imported("numpy", "int64"), number.get(), nullptr));
    default:
      return {};
  }
}

}  // namespace

DType dtype_of_array(PyObject* array) {
  Ref dtype = checked_ref(PyObject_GetAttr(array, interned("dtype")));
  DType result = dtype_from_numpy(dtype.get());
  if (result == DType::kInvalid) {
    throw_unsupported_array("Unsupported numpy type: " + repr_of(dtype.get()));
  }
  return result;
}

Tensor tensor_from_numpy(PyObject* array, DType dtype) {
  DType own = dtype_of_array(array);
  Ref converted;
  if (dtype != DType::kInvalid && dtype != own) {
    if (dtype == DType::kString) {
      throw_unsupported_array("A numeric array cannot become one of strings");
    }
    if (has_object_elements(dtype)) {
      throw_type_error("Cannot convert " + repr_of(array) + " to EagerTensor of dtype " +
                       std::string(dtype_name(dtype)));
    }
    converted = cast_array(array, dtype);
    array = converted.get();
    own = dtype;
  }
  NumpyArrayView view(array);
  if (own == DType::kString && view.is_native()) return strings_of(view);
  if (!view.is_native()) {
    Ref descriptor = checked_ref(PyObject_GetAttr(array, interned("dtype")));
    Ref native = checked_ref(PyObject_CallMethod(descriptor.get(), "newbyteorder", "s", "="));
    Ref cast = checked_ref(PyObject_GetAttrString(array, "astype"));
    Ref swapped = checked_ref(PyObject_CallFunctionObjArgs(cast.get(), native.get(), nullptr));
    return tensor_from_numpy(swapped.get(), DType::kInvalid);
  }
  Tensor result = Tensor::empty(own, view.dims());
  copy_elements_of(view, static_cast<char*>(result.mutable_raw_data()));
  return result;
}

PyObject* tensor_to_numpy(const Tensor& tensor) {
  DType dtype = tensor.dtype();
  if (dtype == DType::kResource || dtype == DType::kVariant) {
    throw Error(Code::kInvalidArgument, "Cannot convert a Tensor of dtype " +
                                            std::string(dtype_name(dtype)) + " to a NumPy array.");
  }
  if (tensor.rank() == 0 && dtype == DType::kString) {
    const std::string& text = *tensor.data<StringElement>();
    return checked(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  }
  if (tensor.rank() == 0) {
    if (Ref scalar = common_scalar(tensor)) return scalar.release();
  }
  Ref array = new_numpy_array(tensor.dims(), numpy_dtype(dtype));
  NumpyArrayView view(array.get());
  if (dtype == DType::kString) {
    // A new array of objects owns a reference to None, or a null, in every place.
    auto* places = reinterpret_cast<PyObject**>(view.data());
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      const std::string& text = tensor.data<StringElement>()[i];
      PyObject* bytes =
          checked(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
      Py_XDECREF(std::exchange(places[i], bytes));
    }
    return array.release();
  }
  if (tensor.element_count() > 0) {
    std::memcpy(view.data(), tensor.raw_data(), tensor.byte_size());
  }
  if (tensor.rank() > 0) return array.release();
  Ref index = checked_ref(PyTuple_New(0));
  return checked(PyObject_GetItem(array.get(), index.get()));
}

}  // namespace graphwright
