// Which NumPy dtype stands for which dtype, both ways.
#include <array>
#include <string>
#include <unordered_map>

#include "python/convert.h"
#include "python/errors.h"

namespace graphwright {
namespace {

struct NumpyName {
  const char* module;
  const char* attribute;
};

NumpyName numpy_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return {"numpy", "float32"};
    case DType::kDouble:
      return {"numpy", "float64"};
    case DType::kHalf:
      return {"numpy", "float16"};
    case DType::kInt8:
      return {"numpy", "int8"};
    case DType::kInt16:
      return {"numpy", "int16"};
    case DType::kInt32:
      return {"numpy", "int32"};
    case DType::kInt64:
      return {"numpy", "int64"};
    case DType::kUint8:
      return {"numpy", "uint8"};
    case DType::kUint16:
      return {"numpy", "uint16"};
    case DType::kUint32:
      return {"numpy", "uint32"};
    case DType::kUint64:
      return {"numpy", "uint64"};
    case DType::kComplex64:
      return {"numpy", "complex64"};
    case DType::kComplex128:
      return {"numpy", "complex128"};
    case DType::kBool:
      return {"numpy", "bool_"};
    case DType::kString:
      return {"numpy", "object_"};
    case DType::kBfloat16:
      return {"ml_dtypes", "bfloat16"};
    case DType::kFloat8E5m2:
      return {"ml_dtypes", "float8_e5m2"};
    case DType::kFloat8E4m3fn:
      return {"ml_dtypes", "float8_e4m3fn"};
    case DType::kResource:
    case DType::kVariant:
    case DType::kInvalid:
      break;
  }
  return {"numpy", "void"};
}

DType numeric_dtype(char kind, long item_size) {
  switch (kind) {
    case 'b':
      return DType::kBool;
    case 'i':
      return item_size == 1   ? DType::kInt8
             : item_size == 2 ? DType::kInt16
             : item_size == 4 ? DType::kInt32
                              : DType::kInt64;
    case 'u':
      return item_size == 1   ? DType::kUint8
             : item_size == 2 ? DType::kUint16
             : item_size == 4 ? DType::kUint32
                              : DType::kUint64;
    case 'f':
      return item_size == 2   ? DType::kHalf
             : item_size == 4 ? DType::kFloat
             : item_size == 8 ? DType::kDouble
                              : DType::kInvalid;
    case 'c':
      return item_size == 8    ? DType::kComplex64
             : item_size == 16 ? DType::kComplex128
                               : DType::kInvalid;
    case 'S':
    case 'U':
    case 'O':
      return DType::kString;
    default:
      return DType::kInvalid;
  }
}

}  // namespace

PyObject* numpy_dtype(DType dtype) {
  static std::array<PyObject*, kDTypeCount> cache{};  // guarded by the GIL; never released
  size_t index = static_cast<size_t>(dtype);
  if (index >= cache.size()) index = 0;
  if (!cache[index]) {
    NumpyName name = numpy_name(static_cast<DType>(index));
    PyObject* type = imported(name.module, name.attribute);
    cache[index] = checked(PyObject_CallFunctionObjArgs(imported("numpy", "dtype"), type, nullptr));
  }
  return cache[index];
}

DType dtype_from_numpy(PyObject* dtype) {
  // NumPy's own dtypes are few objects that live for ever: found by address after the first time.
  static auto* const known = new std::unordered_map<PyObject*, DType>();
  auto found = known->find(dtype);
  if (found != known->end()) return found->second;
  Ref kind_object = checked_ref(PyObject_GetAttrString(dtype, "kind"));
  std::string kind(text_of(kind_object.get()));
  Ref size = checked_ref(PyObject_GetAttrString(dtype, "itemsize"));
  long item_size = PyLong_AsLong(size.get());
  DType result = DType::kInvalid;
  if (kind == "V" || (kind == "f" && item_size == 1)) {
    // Types that other packages add: by name, if they are no structures.
    Ref name = checked_ref(PyObject_GetAttrString(dtype, "name"));
    std::string_view text = text_of(name.get());
    for (DType candidate : {DType::kBfloat16, DType::kFloat8E5m2, DType::kFloat8E4m3fn}) {
      if (text == dtype_name(candidate)) result = candidate;
    }
  } else {
    result = numeric_dtype(kind[0], item_size);
  }
  if (result != DType::kInvalid && kind != "S" && kind != "U") {
    // Only the canonical object: others, such as byte-swapped ones, may die.
    PyObject* canonical = numpy_dtype(result);
    if (canonical == dtype) known->emplace(dtype, result);
  }
  return result;
}

}  // namespace graphwright
