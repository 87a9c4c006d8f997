#include "python/numpy_array.h"

#include <cstring>

#include "python/errors.h"

namespace graphwright {
namespace {

// The structure behind `__array_struct__`, as the array interface protocol (version 3) lays it out.
struct ArrayInterface {
  int version;  // 2
  int rank;
  char kind;
  int item_size;
  int flags;
  int64_t* shape;
  int64_t* strides;
  void* data;
  PyObject* description;
};
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
constexpr int kNotSwapped = 0x200;

template <int64_t kSize>
void copy_strided(const int64_t* dims, const int64_t* strides, size_t rank, const char* source,
                  char*& target, int64_t item_size) {
  int64_t size = kSize > 0 ? kSize : item_size;
  if (rank == 0) {
    std::memcpy(target, source, static_cast<size_t>(size));
    target += size;
    return;
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    if (rank == 1) {
      std::memcpy(target, source, static_cast<size_t>(size));
      target += size;
    } else {
      copy_strided<kSize>(dims + 1, strides + 1, rank - 1, source, target, item_size);
    }
    source += strides[0];
  }
}

bool is_instance_of(PyObject* object, const char* numpy_class) {
  int result = PyObject_IsInstance(object, imported("numpy", numpy_class));
  if (result < 0) throw_python_error();
  return result == 1;
}

}  // namespace

bool is_numpy_array(PyObject* object) {
  PyObject* type = imported("numpy", "ndarray");
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == type) return true;
  return is_instance_of(object, "ndarray");
}

bool is_numpy_scalar(PyObject* object) { return is_instance_of(object, "generic"); }

NumpyArrayView::NumpyArrayView(PyObject* array)
    : capsule_(checked_ref(PyObject_GetAttr(array, interned("__array_struct__")))) {
  auto* interface = static_cast<ArrayInterface*>(PyCapsule_GetPointer(capsule_.get(), nullptr));
  if (!interface) throw_python_error();
  if (interface->version != 2) throw_internal("an unknown version of NumPy's array interface");
  shape_ = interface->shape;
  strides_ = interface->strides;
  rank_ = static_cast<size_t>(interface->rank);
  kind_ = interface->kind;
  item_size_ = interface->item_size;
  native_ = interface->flags & kNotSwapped;
  data_ = static_cast<char*>(interface->data);
}

bool NumpyArrayView::is_contiguous() const {
  int64_t expected = item_size_;
  for (size_t i = rank_; i-- > 0;) {
    if (shape_[i] != 1 && strides_[i] != expected) return false;
    expected *= shape_[i];
  }
  return true;
}

int64_t NumpyArrayView::element_count() const {
  int64_t count = 1;
  for (int64_t dim : dims()) count *= dim;
  return count;
}

void copy_elements_of(const NumpyArrayView& view, char* target) {
  int64_t count = view.element_count();
  if (count == 0) return;
  if (view.is_contiguous()) {
    std::memcpy(target, view.data(), static_cast<size_t>(count * view.item_size()));
    return;
  }
  const int64_t* dims = view.dims().data();
  const int64_t* strides = view.strides().data();
  size_t rank = view.dims().size();
  switch (view.item_size()) {
    case 1:
      return copy_strided<1>(dims, strides, rank, view.data(), target, 1);
    case 2:
      return copy_strided<2>(dims, strides, rank, view.data(), target, 2);
    case 4:
      return copy_strided<4>(dims, strides, rank, view.data(), target, 4);
    case 8:
      return copy_strided<8>(dims, strides, rank, view.data(), target, 8);
    default:
      return copy_strided<0>(dims, strides, rank, view.data(), target, view.item_size());
  }
}

Ref new_numpy_array(std::span<const int64_t> dims, PyObject* dtype) {
  Ref shape = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(dims.size())));
  for (size_t i = 0; i < dims.size(); ++i) {
    PyObject* dim = checked(PyLong_FromLongLong(dims[i]));
    if (PyTuple_SetItem(shape.get(), static_cast<Py_ssize_t>(i), dim) < 0) throw_python_error();
  }
  return checked_ref(
      PyObject_CallFunctionObjArgs(imported("numpy", "empty"), shape.get(), dtype, nullptr));
}

}  // namespace graphwright
