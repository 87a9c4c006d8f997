// The operators that converted code calls, under the name `ag__`.
#pragma once

#include "python/python_api.h"

namespace graphwright {

// The object that converted code knows as `ag__`; borrowed.
PyObject* autograph_operators();

// Whether calls made by converted code convert what they call: off inside `do_not_convert`. Per
// thread.
bool autograph_enabled();

// Whether the function being traced was converted, so that what is called from it is too.
bool autograph_active();
// Says so of a trace while it lives.
class AutographTrace {
 public:
  explicit AutographTrace(bool converts);
  ~AutographTrace();
  AutographTrace(const AutographTrace&) = delete;
  AutographTrace& operator=(const AutographTrace&) = delete;

 private:
  bool previous_;
};

// What converted code calls in place of a built-in function that would not accept tensors, or the
// callable itself.
PyObject* autograph_overload(PyObject* callable);

}  // namespace graphwright
