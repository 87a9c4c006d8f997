// Errors across the border of C++ and Python. In C++ an error is a thrown `Error` or a `Status`; in
// Python it is an exception of the class that TensorFlow uses. Exceptions raised by Python code
// that C++ calls travel inside an `Error` and come out unchanged.
#pragma once

#include "base/status.h"
#include "python/python_api.h"

namespace graphwright {

// Sets the Python error that `error` stands for.
void set_python_error(const ErrorDetail& error);
// Translates the C++ exception being handled: call in `catch (...)`. Always leaves an error set.
void set_python_error_from_exception() noexcept;
// Wraps the Python error that is set (RuntimeError if none is) and throws it as an `Error`.
[[noreturn]] void throw_python_error();
// The exception object that `error` would raise; a new reference, never null.
PyObject* make_exception(const ErrorDetail& error);
// The status as an `Error` that keeps the current Python exception.
Status python_error_status();

// The text of the exception: TensorFlow's eager format when an op is named and no node is.
std::string rendered_message(const ErrorDetail& error);

// `object`, or throws the Python error when it is null.
inline PyObject* checked(PyObject* object) {
  if (!object) [[unlikely]]
    throw_python_error();
  return object;
}
inline Ref checked_ref(PyObject* object) { return Ref::steal(checked(object)); }

// Runs a function that returns a new reference or throws; null with the Python error set if so.
template <class Function>
PyObject* guarded(Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    set_python_error_from_exception();
    return nullptr;
  }
}
// The same for slots that return int, -1 meaning failure.
template <class Function>
int guarded_int(Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    set_python_error_from_exception();
    return -1;
  }
}

}  // namespace graphwright
