// Bindings of src/base: how C++ errors reach Python through nanobind functions, and how C++ finds
// the lines of Python programs.
#include <nanobind/nanobind.h>

#include "python/errors.h"
#include "python/locations.h"

namespace nb = nanobind;

namespace graphwright {

void bind_base(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      set_python_error(error.detail());
    }
  });
  install_locations();
}

}  // namespace graphwright
