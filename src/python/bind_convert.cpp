// Bindings of the exchange of memory with other array libraries.
#include <nanobind/nanobind.h>

#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_object.h"

namespace nb = nanobind;

namespace graphwright {

void bind_convert(nb::module_& module) {
  module.def(
      "to_dlpack",
      [](nb::handle tensor) { return nb::steal(tensor_to_dlpack(eager_tensor_of(tensor.ptr()))); },
      nb::arg("tensor"));
  module.def(
      "from_dlpack",
      [](nb::handle capsule) { return nb::steal(wrap(tensor_from_dlpack(capsule.ptr()))); },
      nb::arg("capsule"));
  module.def(
      "view_as_numpy",
      [](nb::handle tensor) {
        return nb::steal(tensor_view_as_numpy(eager_tensor_of(tensor.ptr())));
      },
      nb::arg("tensor"),
      "A read-only NumPy array over the tensor's own memory, which it keeps alive.");
}

}  // namespace graphwright
