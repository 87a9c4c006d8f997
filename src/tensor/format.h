// How tensors are printed. Arrays print as NumPy's array2string prints them, tf.print's text as
// TensorFlow's StringFormat op does.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace graphwright {

// The value part of `str(tensor)`: NumPy's str of the array ("[1. 2.]", "0.1"), dtype-aware.
std::string format_array_str(const Tensor& tensor);
// The value part of `repr(tensor)`: NumPy's repr ("array([1., 2.], dtype=float32)"; a 0-d value
// prints as tf does after `numpy=`, e.g. "0.10000000149011612", "True", "b'text'").
std::string format_array_repr(const Tensor& tensor);
// "tf.Tensor(2, shape=(), dtype=int32)"
std::string tensor_str(const Tensor& tensor);
// "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"
std::string tensor_repr(const Tensor& tensor);
// The same around a value text that somebody else has made.
std::string tensor_str_around(const Tensor& tensor, std::string value);
std::string tensor_repr_around(const Tensor& tensor, std::string value);
// tf.print's and tf.strings.format's text of one tensor: brackets and spaces, at most `summarize`
// elements at each end of a dimension (-1: all), floats as the shortest text with 9 digits.
std::string format_print(const Tensor& tensor, int64_t summarize, bool quote_strings = true);

}  // namespace graphwright
