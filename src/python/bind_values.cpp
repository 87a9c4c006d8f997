// Python values as tensors: tf.constant, tf.convert_to_tensor and their kin.
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_object.h"
#include "runtime/eager.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

DType dtype_or_none(nb::handle dtype) {
  return dtype.is_none() ? DType::kInvalid : dtype_from_python(dtype.ptr());
}
std::string_view name_text(nb::handle name) {
  return name.is_none() ? std::string_view() : text_of(name.ptr());
}

// The value in `shape`: reshaped, or one element repeated.
Tensor filled(const Tensor& value, const PartialShape& shape, nb::handle source) {
  if (!shape.is_fully_defined()) {
    throw_value_error("tf.constant needs a fully known shape, not " + shape.to_string());
  }
  std::span<const int64_t> dims = shape.dims();
  int64_t count = checked_element_count(dims);
  if (count == value.element_count()) return value.reshaped(dims);
  bool repeatable = value.element_count() == 1 && count <= INT32_MAX;
  if (!repeatable) {
    throw_type_error("tf.constant with an unsupported shape: " + repr_of(source.ptr()) + " has " +
                     std::to_string(value.element_count()) + " elements, but got `shape` " +
                     shape.to_string() + " with " + std::to_string(count) + " elements.");
  }
  std::vector<int32_t> sizes(dims.begin(), dims.end());
  Tensor shape_tensor = Tensor::vector<int32_t>(DType::kInt32, sizes);
  return eager_builder().op("Fill", {shape_tensor, value.reshaped({})}).tensor();
}

nb::object constant(nb::object value, nb::object dtype, nb::object shape, nb::object name) {
  PyObject* object = value.ptr();
  DType wanted = dtype_or_none(dtype);
  if (is_tensor_like(object)) {
    if (wanted != DType::kInvalid && dtype_of_tensor_like(object) != wanted) {
      throw_type_error("Expected tensor " + repr_of(object) + " with dtype tf." +
                       std::string(dtype_name(wanted)) + ", but got dtype tf." +
                       std::string(dtype_name(dtype_of_tensor_like(object))) + ".");
    }
    if (is_symbolic_tensor(object)) {
      throw_type_error("tf.constant needs a value that is known now, but got the symbolic " +
                       repr_of(object) + ". Use tf.convert_to_tensor or tf.identity.");
    }
    if (shape.is_none() && current_builder().is_eager()) return nb::steal(wrap(operand_of(object)));
  }
  Tensor tensor =
      is_tensor_like(object) ? eager_tensor_of(object) : tensor_from_python(object, wanted);
  if (!shape.is_none()) tensor = filled(tensor, shape_from_python(shape.ptr()), value);
  return nb::steal(wrap(current_builder().constant(tensor, name_text(name))));
}

nb::object convert_to_tensor(nb::object value, nb::object dtype, nb::object dtype_hint,
                             nb::object name) {
  ConversionOptions options;
  options.dtype = dtype_or_none(dtype);
  options.preferred = dtype_or_none(dtype_hint);
  options.name = name_text(name);
  if (is_tensor(value.ptr()) &&
      (options.dtype == DType::kInvalid || dtype_of_tensor_like(value.ptr()) == options.dtype)) {
    return value;  // the object itself
  }
  return nb::steal(wrap(operand_of(value.ptr(), options)));
}

nb::object get_static_value(nb::object tensor, bool) {
  if (!is_tensor(tensor.ptr())) return is_tensor_like(tensor.ptr()) ? nb::none() : tensor;
  Tensor value = constant_value(operand_in(tensor.ptr()));
  if (!value) return nb::none();
  return nb::steal(tensor_to_numpy(value));
}

}  // namespace

void bind_values(nb::module_& module) {
  module.def("constant", &constant, nb::arg("value").none(), nb::arg("dtype") = nb::none(),
             nb::arg("shape") = nb::none(), nb::arg("name") = nb::str("Const"),
             "A constant tensor.\n\n"
             "value: a number, string, nested sequence or NumPy array. dtype: that of the result;\n"
             "taken from the value if None. shape: that of the result; a single element is\n"
             "repeated. TypeError for a value that the dtype cannot hold, ValueError for ragged\n"
             "sequences.");
  module.def(
      "convert_to_tensor", &convert_to_tensor, nb::arg("value").none(),
      nb::arg("dtype") = nb::none(), nb::arg("dtype_hint") = nb::none(),
      nb::arg("name") = nb::none(),
      "The value as a tensor; tensors are returned as they are.\n\n"
      "dtype: required dtype; ValueError for a tensor of another one. dtype_hint: taken where\n"
      "the value allows it.");
  module.def(
      "is_tensor", [](nb::object value) { return is_tensor_like(value.ptr()); },
      nb::arg("x").none(), "Whether `x` is a tensor or a variable.");
  module.def("get_static_value", &get_static_value, nb::arg("tensor").none(),
             nb::arg("partial") = false,
             "The value as a NumPy array where it is known without running anything, else None.");
}

}  // namespace graphwright
