// The Python class tf.TensorArray.
#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_array.h"
#include "python/tensor_object.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// What Python holds.
struct TensorArrayObject {
  std::unique_ptr<TensorArray> array;
};

std::string_view name_text(nb::handle name) {
  return name.is_none() ? std::string_view() : text_of(name.ptr());
}
nb::object taken(Ref reference) { return nb::steal(reference.release()); }
nb::object new_object(std::unique_ptr<TensorArray> array) {
  return nb::cast(TensorArrayObject{std::move(array)});
}
// The array after a change: itself if that is where it was made.
nb::object after(nb::handle self, TensorArray::Changed changed) {
  return changed ? new_object(std::move(changed)) : nb::borrow(self);
}
TensorArray& array_of(nb::handle self) { return *nb::cast<TensorArrayObject&>(self).array; }

bool truth_of(nb::handle value, bool otherwise) {
  if (value.is_none()) return otherwise;
  int result = PyObject_IsTrue(value.ptr());
  if (result < 0) throw_python_error();
  return result == 1;
}

std::unique_ptr<TensorArray> make_array(nb::handle dtype, nb::handle size, nb::handle dynamic_size,
                                        nb::handle clear_after_read, nb::handle handle,
                                        nb::handle flow, nb::handle infer_shape,
                                        nb::handle element_shape, nb::handle name) {
  TensorArrayType type;
  type.dtype = dtype_from_python(dtype.ptr());
  type.dynamic_size = truth_of(dynamic_size, false);
  type.infer_shape = truth_of(infer_shape, true);
  bool has_flow = !flow.is_none();
  bool flow_is_list =
      has_flow && is_tensor(flow.ptr()) && dtype_of_tensor_like(flow.ptr()) == DType::kVariant;
  bool eager = current_builder().is_eager();
  if (eager && !flow_is_list) {
    if (!handle.is_none()) {
      throw_value_error("TensorArray handles are not supported when eager execution is enabled.");
    }
    return make_eager_tensor_array(type, shape_from_python(element_shape.ptr()), size.ptr(),
                                   truth_of(clear_after_read, true));
  }
  if (!handle.is_none()) {
    throw_value_error(
        "TensorArray handles are not supported: a graph's TensorArray is made of a "
        "list value, given as `flow`.");
  }
  if (has_flow && !flow_is_list) {
    throw_type_error(
        "Expected `flow` to be a variant tensor, but received `" +
        (is_tensor_like(flow.ptr())
             ? "<dtype: '" + std::string(dtype_name(dtype_of_tensor_like(flow.ptr()))) + "'>"
             : repr_of(flow.ptr())) +
        "` instead.");
  }
  if (!has_flow) {
    if (size.is_none()) {
      throw_value_error("Argument `size` must be provided if argument `flow` is not provided.");
    }
    return std::make_unique<ListTensorArray>(type, size.ptr(), element_shape.ptr(),
                                             name_text(name));
  }
  if (!size.is_none()) {
    throw_value_error("Cannot provide both `flow` and `size` arguments at the same time.");
  }
  if (!element_shape.is_none()) {
    throw_value_error("Cannot provide both `flow` and `element_shape` arguments at the same time.");
  }
  return std::make_unique<ListTensorArray>(type, PartialShape(), Ref::borrow(flow.ptr()));
}

void initialize(TensorArrayObject* self, nb::handle dtype, nb::handle size, nb::handle dynamic_size,
                nb::handle clear_after_read, nb::handle /*tensor_array_name*/, nb::handle handle,
                nb::handle flow, nb::handle infer_shape, nb::handle element_shape,
                nb::handle /*colocate_with_first_write_call*/, nb::handle name) {
  new (self) TensorArrayObject{make_array(dtype, size, dynamic_size, clear_after_read, handle, flow,
                                          infer_shape, element_shape, name)};
}

constexpr const char* kClassDoc =
    "Tensors under the indices 0, 1, 2...: what a loop collects its results in.\n\n"
    "    results = tf.TensorArray(tf.float32, size=n)\n"
    "    for i in tf.range(n):\n"
    "        results = results.write(i, x[i])\n"
    "    y = results.stack()\n\n"
    "Outside of functions `write` changes the array and returns it; in a graph it returns the\n"
    "array with the change, and the old one stays as it was. What was never written reads as\n"
    "zeros, if its shape is known.\n\n"
    "dtype: of the elements. size: an int or int32 scalar, how many there are. dynamic_size:\n"
    "whether writes may make it grow. clear_after_read: whether an element can be read once only\n"
    "(outside of functions). element_shape: what the shapes of all elements have in common.\n"
    "infer_shape: whether all elements must have one shape. flow: a list value to wrap.\n"
    "tensor_array_name, colocate_with_first_write_call: accepted for compatibility. ValueError\n"
    "without a size.";

}  // namespace

bool is_tensor_array(PyObject* object) {
  return nb::isinstance<TensorArrayObject>(nb::handle(object));
}

TensorArray& tensor_array_in(PyObject* array) { return array_of(array); }

Operand tensor_array_list(PyObject* array) { return array_of(array).list(); }

Ref tensor_array_with_list(PyObject* array, const Operand& list) {
  TensorArray& contents = array_of(array);
  if (!contents.is_list()) return tensor_array_around(array, list);
  return Ref::steal(
      new_object(static_cast<ListTensorArray&>(contents).with_list(list)).release().ptr());
}

namespace {

Ref array_around(const TensorArray& like, const Operand& list, int64_t static_size) {
  auto around = std::make_unique<ListTensorArray>(like.type(), like.element_shape(),
                                                  checked_ref(wrap(list)), static_size);
  return Ref::steal(new_object(std::move(around)).release().ptr());
}

}  // namespace

Ref tensor_array_around(PyObject* array, const Operand& list) {
  return array_around(array_of(array), list, array_of(array).static_size());
}

Ref tensor_array_of_branches(PyObject* array, const Operand& list) {
  return array_around(array_of(array), list, -1);
}

void bind_tensor_array(nb::module_& module) {
  const auto no_name = nb::arg("name").none() = nb::none();
  nb::class_<TensorArrayObject>(module, "TensorArray", nb::is_weak_referenceable(), kClassDoc)
      .def("__init__", &initialize, nb::arg("dtype"), nb::arg("size") = nb::none(),
           nb::arg("dynamic_size") = nb::none(), nb::arg("clear_after_read") = nb::none(),
           nb::arg("tensor_array_name") = nb::none(), nb::arg("handle") = nb::none(),
           nb::arg("flow") = nb::none(), nb::arg("infer_shape") = true,
           nb::arg("element_shape") = nb::none(), nb::arg("colocate_with_first_write_call") = true,
           nb::arg("name") = nb::none())
      .def(
          "read",
          [](nb::handle self, nb::handle index, nb::handle name) {
            return taken(array_of(self).read(index.ptr(), name_text(name)));
          },
          nb::arg("index"), no_name,
          "The element at `index`, an int or int32 scalar; zeros if it was never written.\n\n"
          "OutOfRangeError (in graphs InvalidArgumentError) outside of the array;\n"
          "InvalidArgumentError for a second read of an element that the first one cleared.")
      .def(
          "write",
          [](nb::handle self, nb::handle index, nb::handle value, nb::handle name) {
            return after(self, array_of(self).write(index.ptr(), value.ptr(), name_text(name)));
          },
          nb::arg("index"), nb::arg("value").none(), no_name,
          "The array with `value` at `index`.\n\n"
          "OutOfRangeError (in graphs InvalidArgumentError) outside of an array that may not\n"
          "grow; InvalidArgumentError for another dtype, ValueError for a shape that does not fit.")
      .def(
          "stack",
          [](nb::handle self, nb::handle name) {
            return taken(array_of(self).stack(name_text(name)));
          },
          no_name, "All elements along a new first dimension. Their shapes must be equal.")
      .def(
          "concat",
          [](nb::handle self, nb::handle name) {
            return taken(array_of(self).concat(name_text(name)));
          },
          no_name,
          "All elements joined along their first dimension. The other dimensions must be equal.")
      .def(
          "gather",
          [](nb::handle self, nb::handle indices, nb::handle name) {
            return taken(array_of(self).gather(indices.ptr(), name_text(name)));
          },
          nb::arg("indices"), no_name,
          "The elements at the indices, an int32 vector, along a new first dimension.")
      .def(
          "unstack",
          [](nb::handle self, nb::handle value, nb::handle name) {
            return after(self, array_of(self).unstack(value.ptr(), name_text(name)));
          },
          nb::arg("value"), no_name, "The array of the rows value[0], value[1]...")
      .def(
          "scatter",
          [](nb::handle self, nb::handle indices, nb::handle value, nb::handle name) {
            return after(self, array_of(self).scatter(indices.ptr(), value.ptr(), name_text(name)));
          },
          nb::arg("indices"), nb::arg("value"), no_name,
          "The array with value[i] at indices[i], for each i.")
      .def(
          "split",
          [](nb::handle self, nb::handle value, nb::handle lengths, nb::handle name) {
            return after(self, array_of(self).split(value.ptr(), lengths.ptr(), name_text(name)));
          },
          nb::arg("value"), nb::arg("lengths"), no_name,
          "The array of pieces of `value` along its first dimension, lengths[i] rows each.")
      .def(
          "size",
          [](nb::handle self, nb::handle name) {
            return taken(array_of(self).size(name_text(name)));
          },
          no_name, "The number of elements, an int32 scalar.")
      .def(
          "identity", [](nb::handle self) { return after(self, array_of(self).identity()); },
          "The same array.")
      .def(
          "grad",
          [](nb::handle, nb::handle, nb::handle, nb::handle) {
            throw Error(ErrorKind::kNotImplementedError,
                        "TensorArray.grad is not supported: gradients of operations on a "
                        "TensorArray need no array of their own; use tf.GradientTape.");
          },
          nb::arg("source"), nb::arg("flow") = nb::none(), no_name,
          "Not supported: NotImplementedError.")
      .def(
          "close", [](nb::handle self, nb::handle name) { array_of(self).close(name_text(name)); },
          no_name, "Drops the elements (outside of functions).")
      .def(
          "mark_used", [](nb::handle self) { array_of(self).mark_used(); },
          "Says that the array need not be used: no warning if it is not.")
      .def_prop_ro(
          "dtype",
          [](nb::handle self) { return nb::steal(dtype_object(array_of(self).type().dtype)); },
          "The DType of the elements.")
      .def_prop_ro(
          "element_shape",
          [](nb::handle self) { return nb::steal(shape_object(array_of(self).element_shape())); },
          "The TensorShape that all elements have in common, as far as it is known.")
      .def_prop_ro(
          "dynamic_size", [](nb::handle self) { return array_of(self).type().dynamic_size; },
          "Whether writes may make the array grow.")
      .def_prop_ro("_infer_shape",
                   [](nb::handle self) { return array_of(self).type().infer_shape; })
      .def("_set_element_shape",
           [](nb::handle self, nb::handle shape) {
             array_of(self).set_element_shape(shape_from_python(shape.ptr()));
           })
      .def_prop_ro(
          "_type_spec",
          [](nb::handle self) {
            PyObject* spec = imported("graphwright.tensor_array", "TensorArraySpec");
            return nb::steal(checked(PyObject_CallMethod(spec, "from_value", "O", self.ptr())));
          })
      .def_prop_ro(
          "handle", [](nb::handle) { return nb::none(); }, "None: arrays have no handle.")
      .def_prop_ro(
          "flow", [](nb::handle self) { return taken(array_of(self).flow()); },
          "The list value of a graph's array; outside of functions a scalar without meaning.");
  module.def(
      "tensor_array_list",
      [](nb::handle array) { return taken(checked_ref(wrap(tensor_array_list(array.ptr())))); },
      nb::arg("array"), "The list value of an array, made of its elements if it has none.");
}

}  // namespace graphwright
