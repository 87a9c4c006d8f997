// NumPy arrays without NumPy's C API: through the array interface protocol's C structure, which
// every NumPy offers, so that the extension depends on no particular version of NumPy.
#pragma once

#include <cstdint>
#include <span>

#include "python/python_api.h"
#include "tensor/dtype.h"

namespace graphwright {

bool is_numpy_array(PyObject* object);
bool is_numpy_scalar(PyObject* object);

// Keeps the array's memory readable while it lives.
class NumpyArrayView {
 public:
  // `array`: a NumPy array or scalar.
  explicit NumpyArrayView(PyObject* array);

  std::span<const int64_t> dims() const { return {shape_, rank_}; }
  std::span<const int64_t> strides() const { return {strides_, rank_}; }  // in bytes
  char kind() const { return kind_; }  // as dtype.kind: 'b', 'i', 'u', 'f', 'c', 'S', 'U', 'O', 'V'
  int64_t item_size() const { return item_size_; }
  char* data() const { return data_; }
  bool is_contiguous() const;  // row major
  bool is_native() const { return native_; }
  int64_t element_count() const;

 private:
  Ref capsule_;
  const int64_t* shape_ = nullptr;
  const int64_t* strides_ = nullptr;
  size_t rank_ = 0;
  char kind_ = 0;
  bool native_ = true;
  int64_t item_size_ = 0;
  char* data_ = nullptr;
};

// Copies the elements, whatever their strides, densely in row-major order to `target`.
void copy_elements_of(const NumpyArrayView& view, char* target);

// A new array with uninitialised elements (None for objects).
Ref new_numpy_array(std::span<const int64_t> dims, PyObject* dtype);

}  // namespace graphwright
