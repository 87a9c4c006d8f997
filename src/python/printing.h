// The texts of eager tensors in Python. They are made in C++, unless the program has changed
// NumPy's print options: then NumPy makes the text of the value, which so follows the options.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace graphwright {

// The value part alone, as format_array_str and format_array_repr make it by default.
std::string printed_value_str(const Tensor& tensor);
std::string printed_value_repr(const Tensor& tensor);
// "tf.Tensor(2, shape=(), dtype=int32)" and "<tf.Tensor: shape=(), dtype=int32, numpy=2>".
std::string printed_str(const Tensor& tensor);
std::string printed_repr(const Tensor& tensor);

}  // namespace graphwright
