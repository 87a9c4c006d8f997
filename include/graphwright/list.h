// Lists of tensors that grow and are written element by element, in loops above all.
#pragma once

#include <utility>

#include <graphwright/input.h>

namespace graphwright::api {
inline namespace v1 {

namespace detail {
GW_API Handle* make_list(DType dtype, const int64_t* dims, int rank, int64_t size, Site site);
GW_API Handle* list_from_tensor(const Argument& tensor);
GW_API Handle* list_size(Handle* list, Site site);
GW_API Handle* list_read(Handle* list, const Argument& index);
GW_API Handle* list_write(Handle* list, const Argument& index, const Argument& value);
GW_API Handle* list_push_back(Handle* list, const Argument& value);
GW_API Handle* list_stack(Handle* list, Site site);
GW_API Handle* list_gather(Handle* list, const Argument& indices);
GW_API DType list_dtype(Handle* list);
}  // namespace detail

// A list of tensors of one dtype, what tf.TensorArray is: a value, so that writing gives the list
// with the element changed and leaves the old one as it was:
//
//   list = list.write(i, x);
//
// In a traced function, a list whose old value is not used again is written in place, without a
// copy. Eagerly, each write copies references to the elements.
//
// Lists are carried by loops and returned by branches as tensors are; traced functions take and
// return tensors only (see stack and from_tensor). Derivatives go through reads and writes.
class List {
 public:
  // `size` elements that were never written, which read as zeros of `element_shape`: what all
  // elements' shapes have in common.
  List(DType dtype, const Shape& element_shape, int64_t size = 0,
       detail::Site site = detail::Site::here())
      : handle_(detail::make_list(dtype, element_shape.dims().data(), element_shape.rank(), size,
                                  site)) {}
  // The rows tensor[0], tensor[1]... of a tensor of rank >= 1.
  static List from_tensor(const Input& tensor) {
    return List(detail::Reference(detail::list_from_tensor(tensor.argument())));
  }

  DType dtype() const { return detail::list_dtype(get()); }
  // The number of elements, an int32 scalar.
  Tensor size(detail::Site site = detail::Site::here()) const {
    return Tensor(detail::Reference(detail::list_size(get(), site)));
  }
  // Element `index`, an int32 scalar in [0, size) (InvalidArgument otherwise).
  Tensor read(const Input& index) const {
    return Tensor(detail::Reference(detail::list_read(get(), index.argument())));
  }
  // The list with element `index` replaced. InvalidArgument for an index outside [0, size) and for
  // a value whose dtype or shape does not fit.
  [[nodiscard]] List write(const Input& index, const Input& value) const {
    return List(detail::Reference(detail::list_write(get(), index.argument(), value.argument())));
  }
  // The list with one more element.
  [[nodiscard]] List push_back(const Input& value) const {
    return List(detail::Reference(detail::list_push_back(get(), value.argument())));
  }
  // All elements along a new first dimension: [size, element...]. InvalidArgument when shapes
  // differ, or when the list is empty and its element shape not known.
  Tensor stack(detail::Site site = detail::Site::here()) const {
    return Tensor(detail::Reference(detail::list_stack(get(), site)));
  }
  // The elements at an int32 vector of indices, along a new first dimension.
  Tensor gather(const Input& indices) const {
    return Tensor(detail::Reference(detail::list_gather(get(), indices.argument())));
  }

  // --- For the headers ---
  explicit List(detail::Reference handle) : handle_(std::move(handle)) {}
  const detail::Reference& reference() const { return handle_; }
  detail::Handle* get() const { return handle_.get(); }

 private:
  detail::Reference handle_;
};

}  // namespace v1
}  // namespace graphwright::api
