// DLPack: memory shared with other array libraries. The structures are those of the specification
// (https://dmlc.github.io/dlpack/latest/), version 1, whose unversioned form every library reads.
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "python/convert.h"
#include "python/errors.h"

namespace graphwright {
namespace {

struct Device {
  int32_t type;
  int32_t id;
};
constexpr int32_t kCpu = 1;

struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
enum ElementCode : uint8_t {
  kSigned = 0,
  kUnsigned = 1,
  kFloating = 2,
  kBfloat = 4,
  kComplexNumber = 5,
  kBoolean = 6,
  kFloat8E4m3fnCode = 10,
  kFloat8E5m2Code = 12,
};

struct Array {
  void* data;
  Device device;
  int32_t rank;
  ElementType type;
  int64_t* shape;
  int64_t* strides;  // in elements; null when dense
  uint64_t byte_offset;
};

struct Managed {
  Array array;
  void* context;
  void (*deleter)(Managed*);
};

struct ManagedVersioned {
  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Array array;
};

constexpr const char* kName = "dltensor";
constexpr const char* kUsedName = "used_dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";
constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

ElementType element_type(DType dtype) {
  uint8_t bits = static_cast<uint8_t>(8 * dtype_size(dtype));
  if (dtype == DType::kBool) return {kBoolean, 8, 1};
  if (dtype == DType::kBfloat16) return {kBfloat, 16, 1};
  if (dtype == DType::kFloat8E4m3fn) return {kFloat8E4m3fnCode, 8, 1};
  if (dtype == DType::kFloat8E5m2) return {kFloat8E5m2Code, 8, 1};
  if (is_complex(dtype)) return {kComplexNumber, bits, 1};
  if (is_floating(dtype)) return {kFloating, bits, 1};
  if (kSignedInteger.contains(dtype)) return {kSigned, bits, 1};
  if (kUnsignedInteger.contains(dtype)) return {kUnsigned, bits, 1};
  throw_invalid_argument(std::string(dtype_name(dtype)) + " is not supported by DLPack.");
}

DType dtype_of_elements(const ElementType& type) {
  if (type.lanes == 1) {
    for (int i = 1; i < kDTypeCount; ++i) {
      DType dtype = static_cast<DType>(i);
      if (dtype_size(dtype) == 0 || has_object_elements(dtype)) continue;
      ElementType candidate = element_type(dtype);
      if (candidate.code == type.code && candidate.bits == type.bits) return dtype;
    }
  }
  throw_invalid_argument("DLPack elements of code " + std::to_string(type.code) + ", " +
                         std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                         " lanes have no dtype.");
}

// What an exported capsule points to.
struct Export {
  Managed managed;
  Tensor tensor;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

void delete_export(Managed* managed) { delete static_cast<Export*>(managed->context); }

void release_unused_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName)) return;  // somebody took it over
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName));
  if (managed && managed->deleter) managed->deleter(managed);
}

std::vector<int64_t> dense_strides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

bool is_dense(const Array& array) {
  if (!array.strides) return true;
  int64_t expected = 1;
  for (int i = array.rank; i-- > 0;) {
    if (array.shape[i] != 1 && array.strides[i] != expected) return false;
    expected *= array.shape[i];
  }
  return true;
}

void copy_strided(const Array& array, int axis, const char* source, size_t size, char*& target) {
  if (axis == array.rank) {
    std::memcpy(target, source, size);
    target += size;
    return;
  }
  for (int64_t i = 0; i < array.shape[axis]; ++i) {
    copy_strided(array, axis + 1, source, size, target);
    source += array.strides[axis] * static_cast<int64_t>(size);
  }
}

template <class ManagedType>
void release_managed(Buffer* buffer) {
  auto* managed = static_cast<ManagedType*>(buffer->foreign_owner);
  if (managed->deleter) managed->deleter(managed);
}

// Takes the managed tensor over: whatever happens, its deleter is called once.
template <class ManagedType>
Tensor adopt_managed(ManagedType* managed) {
  const Array& array = managed->array;
  struct Guard {
    ManagedType* managed;
    ~Guard() {
      if (managed && managed->deleter) managed->deleter(managed);
    }
  } guard{managed};
  if (array.device.type != kCpu) {
    throw_invalid_argument("DLPack memory of device type " + std::to_string(array.device.type) +
                           " cannot be reached: only the CPU's (1) can.");
  }
  if (array.rank < 0 || array.rank > kMaxRank) {
    throw_invalid_argument("DLPack array of rank " + std::to_string(array.rank) + ".");
  }
  DType dtype = dtype_of_elements(array.type);
  size_t size = dtype_size(dtype);
  std::span<const int64_t> dims(array.shape, static_cast<size_t>(array.rank));
  int64_t count = checked_element_count(dims);
  char* data = static_cast<char*>(array.data) + array.byte_offset;
  bool aligned = reinterpret_cast<uintptr_t>(data) % size == 0;
  if (count > 0 && is_dense(array) && aligned) {
    guard.managed = nullptr;
    Buffer* buffer = wrap_foreign_memory(data, static_cast<size_t>(count) * size, managed,
                                         release_managed<ManagedType>);
    return Tensor::from_buffer(dtype, dims, buffer);
  }
  Tensor copy = Tensor::empty(dtype, dims);
  char* target = static_cast<char*>(copy.mutable_raw_data());
  if (count > 0 && is_dense(array)) {
    std::memcpy(target, data, copy.byte_size());
  } else if (count > 0) {
    copy_strided(array, 0, data, size, target);
  }
  return copy;
}

}  // namespace

PyObject* tensor_to_dlpack(const Tensor& tensor) {
  ElementType type = element_type(tensor.dtype());
  // Small tensors live inside their objects, which may be reused in place; a copy has no other
  // user.
  Tensor exported = tensor.owned();
  auto* owner = new Export{{}, exported, {}, {}};
  owner->shape.assign(exported.dims().begin(), exported.dims().end());
  owner->strides = dense_strides(exported.dims());
  owner->managed.array = {const_cast<void*>(exported.raw_data()),
                          {kCpu, 0},
                          exported.rank(),
                          type,
                          owner->shape.data(),
                          owner->strides.data(),
                          0};
  owner->managed.context = owner;
  owner->managed.deleter = delete_export;
  PyObject* capsule = PyCapsule_New(&owner->managed, kName, release_unused_capsule);
  if (!capsule) {
    delete owner;
    throw_python_error();
  }
  return capsule;
}

Tensor tensor_from_dlpack(PyObject* object) {
  Ref capsule = Ref::borrow(object);
  if (!PyCapsule_CheckExact(object)) {
    capsule = checked_ref(PyObject_CallMethod(object, "__dlpack__", nullptr));
  }
  if (PyCapsule_IsValid(capsule.get(), kName)) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.get(), kName));
    if (PyCapsule_SetName(capsule.get(), kUsedName) < 0) throw_python_error();
    return adopt_managed(managed);
  }
  if (PyCapsule_IsValid(capsule.get(), kVersionedName)) {
    auto* managed =
        static_cast<ManagedVersioned*>(PyCapsule_GetPointer(capsule.get(), kVersionedName));
    if (managed->major > 1) {
      throw_invalid_argument("DLPack version " + std::to_string(managed->major) +
                             " is newer than version 1, which is known.");
    }
    if (PyCapsule_SetName(capsule.get(), kUsedVersionedName) < 0) throw_python_error();
    return adopt_managed(managed);
  }
  throw_invalid_argument("A DLPack capsule must be named dltensor; it can be consumed only once.");
}

PyObject* tensor_view_as_numpy(const Tensor& tensor) {
  if (has_object_elements(tensor.dtype())) {
    throw_invalid_argument("The memory of a tensor of dtype " +
                           std::string(dtype_name(tensor.dtype())) +
                           " cannot be seen as an array.");
  }
  // NumPy keeps the object it was given, whose capsule keeps the tensor.
  auto* kept = new Tensor(tensor.owned());
  Ref capsule = Ref::steal(PyCapsule_New(kept, "tensor", [](PyObject* self) {
    delete static_cast<Tensor*>(PyCapsule_GetPointer(self, "tensor"));
  }));
  if (!capsule) {
    delete kept;
    throw_python_error();
  }
  Ref shape = checked_ref(PyTuple_New(kept->rank()));
  for (int i = 0; i < kept->rank(); ++i) {
    PyTuple_SetItem(shape.get(), i, checked(PyLong_FromLongLong(kept->dim(i))));
  }
  PyObject* dtype = numpy_dtype(kept->dtype());
  Ref type_text = checked_ref(PyObject_GetAttrString(dtype, "str"));
  Ref address = checked_ref(PyLong_FromVoidPtr(const_cast<void*>(kept->raw_data())));
  Ref interface =
      checked_ref(Py_BuildValue("{s:O,s:O,s:(OO),s:i}", "shape", shape.get(), "typestr",
                                type_text.get(), "data", address.get(), Py_True, "version", 3));
  Ref holder = checked_ref(PyObject_CallNoArgs(imported("types", "SimpleNamespace")));
  if (PyObject_SetAttrString(holder.get(), "__array_interface__", interface.get()) < 0 ||
      PyObject_SetAttrString(holder.get(), "tensor", capsule.get()) < 0) {
    throw_python_error();
  }
  Ref array = checked_ref(
      PyObject_CallFunctionObjArgs(imported("numpy", "asarray"), holder.get(), nullptr));
  // Types of ml_dtypes are plain bytes to the protocol.
  return checked(PyObject_CallMethod(array.get(), "view", "O", dtype));
}

}  // namespace graphwright
