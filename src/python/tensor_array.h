// tf.TensorArray: tensors under the indices 0, 1, 2... There are two kinds. An eager array is a
// table that `write` changes; an array of a graph stands for one version of a list value, and
// `write` gives the array of the next version. Everything here needs the GIL and throws Error.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/location.h"
#include "ir/operand.h"
#include "python/python_api.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace graphwright {

// What stays the same in all versions of an array.
struct TensorArrayType {
  DType dtype = DType::kInvalid;
  bool dynamic_size = false;  // writes may grow it
  bool infer_shape = true;    // all elements have one shape, learned from what is written
};

class TensorArray {
 public:
  TensorArray(TensorArrayType type, PartialShape element_shape);
  TensorArray(const TensorArray&) = delete;
  TensorArray& operator=(const TensorArray&) = delete;
  virtual ~TensorArray() = default;

  const TensorArrayType& type() const { return type_; }
  // What all elements have in common. With infer_shape, versions share what they learn.
  const PartialShape& element_shape() const { return *element_shape_; }

  // The array after a change: null stands for this one, which has changed.
  using Changed = std::unique_ptr<TensorArray>;
  // `name`: of the node; empty for the usual one. Indices and values are Python values.
  virtual Ref read(PyObject* index, std::string_view name) = 0;
  virtual Ref stack(std::string_view name) = 0;
  virtual Ref concat(std::string_view name) = 0;
  virtual Ref gather(PyObject* indices, std::string_view name) = 0;
  virtual Ref size(std::string_view name) = 0;
  virtual Changed write(PyObject* index, PyObject* value, std::string_view name) = 0;
  virtual Changed unstack(PyObject* value, std::string_view name) = 0;
  virtual Changed scatter(PyObject* indices, PyObject* value, std::string_view name) = 0;
  virtual Changed split(PyObject* value, PyObject* lengths, std::string_view name) = 0;
  virtual Changed identity() = 0;
  virtual void close(std::string_view name) = 0;
  // The list value; of an eager array a scalar that means nothing.
  virtual Ref flow() = 0;
  // Somebody needs this version: no warning when it is gone.
  virtual void mark_used() {}
  // Whether it stands for a list value.
  virtual bool is_list() const = 0;
  // The list value, or one that is made of the elements.
  virtual Operand list() = 0;
  // The number of elements where it is fixed and known now; -1 otherwise.
  virtual int64_t static_size() const = 0;
  // Of this version and those that come of it.
  void set_element_shape(PartialShape shape) { *element_shape_ = std::move(shape); }

 protected:
  // With infer_shape, merges; ValueError with TensorFlow's text where the shapes do not fit.
  void learn_element_shape(const PartialShape& shape);

  TensorArrayType type_;
  std::shared_ptr<PartialShape> element_shape_;
};

// An array of a list value.
class ListTensorArray : public TensorArray {
 public:
  // A new list. `size`: an int or int32 tensor. `element_shape`: as the program gives it, or None.
  ListTensorArray(TensorArrayType type, PyObject* size, PyObject* element_shape,
                  std::string_view name);
  // Around a list value that exists.
  ListTensorArray(TensorArrayType type, PartialShape element_shape, Ref flow,
                  int64_t static_size = -1);
  ~ListTensorArray() override;

  Ref read(PyObject* index, std::string_view name) override;
  Ref stack(std::string_view name) override;
  Ref concat(std::string_view name) override;
  Ref gather(PyObject* indices, std::string_view name) override;
  Ref size(std::string_view name) override;
  Changed write(PyObject* index, PyObject* value, std::string_view name) override;
  Changed unstack(PyObject* value, std::string_view name) override;
  Changed scatter(PyObject* indices, PyObject* value, std::string_view name) override;
  Changed split(PyObject* value, PyObject* lengths, std::string_view name) override;
  Changed identity() override;
  void close(std::string_view name) override;
  Ref flow() override;
  void mark_used() override { unused_since_ = kNoLocation; }
  bool is_list() const override { return true; }
  int64_t static_size() const override;

  Operand list() override;
  // The same array, of another version of its list.
  std::unique_ptr<ListTensorArray> with_list(const Operand& list) const;

 private:
  ListTensorArray(const ListTensorArray& other, Ref flow);
  Changed changed(const Operand& list);
  Operand converted(PyObject* value) const;
  bool size_is_fixed() const { return !type_.dynamic_size && size_; }

  Ref flow_;                             // a Python tensor, which keeps its graph alive
  Ref size_;                             // as the program gave it; null if unknown
  Location unused_since_ = kNoLocation;  // where it was made, until it is used
};

// A new eager array. ValueError or TypeError where `size` is none.
std::unique_ptr<TensorArray> make_eager_tensor_array(TensorArrayType type,
                                                     PartialShape element_shape, PyObject* size,
                                                     bool clear_after_read);

// --- As values of control flow and of calls ---

bool is_tensor_array(PyObject* object);
// The list value that carries the array through control flow and calls; that of an eager array is
// made of its elements.
Operand tensor_array_list(PyObject* array);
// The same array around another version of its list value.
Ref tensor_array_with_list(PyObject* array, const Operand& list);
// An array like it that learns nothing from it, nor it from that: across the border of a function.
Ref tensor_array_around(PyObject* array, const Operand& list);
// The same, of a size that is not known: branches may have returned lists of different lengths.
Ref tensor_array_of_branches(PyObject* array, const Operand& list);
TensorArray& tensor_array_in(PyObject* array);

}  // namespace graphwright
