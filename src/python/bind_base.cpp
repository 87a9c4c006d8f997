// Bindings of src/base: how C++ errors reach Python through nanobind functions.
#include <nanobind/nanobind.h>

#include "python/errors.h"

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
}

}  // namespace graphwright
