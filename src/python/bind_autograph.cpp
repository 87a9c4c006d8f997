// Bindings of src/autograph: conversion and its switches.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/autograph_convert.h"
#include "python/autograph_operators.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace graphwright {

bool set_autograph_enabled(bool value);
void set_autograph_overload(PyObject* callable, PyObject* overload);

void bind_autograph(nb::module_& module) {
  module.def("autograph_to_code",
             [](nb::object function, bool recursive, const std::vector<std::string>& features) {
               return autograph_to_code(function.ptr(), recursive, features);
             });
  module.def("autograph_convert", [](nb::object function, bool recursive) {
    return nb::steal(
        autograph_convert(function.ptr(), recursive ? Recursion::kConvert : Recursion::kDirect)
            .release());
  });
  module.def("autograph_enable", [](bool value) { return set_autograph_enabled(value); });
  module.def("autograph_is_converted",
             [](nb::object code) { return is_converted_code(code.ptr()); });
  module.def("autograph_owner", [](nb::object code) -> nb::object {
    Ref owner = autograph_owner(code.ptr());
    return owner ? nb::steal(owner.release()) : nb::none();
  });
  module.def("autograph_set_overload", [](nb::object callable, nb::object overload) {
    set_autograph_overload(callable.ptr(), overload.ptr());
  });
}

}  // namespace graphwright
