// Bindings of src/tensor: dtypes, shapes, memory.
#include <nanobind/nanobind.h>

#include "tensor/allocator.h"

namespace nb = nanobind;

namespace graphwright {

void bind_dtype(nb::module_&);
void bind_shape(nb::module_&);

void bind_tensor(nb::module_& module) {
  // The dtypes' objects and the caches of imported names live as long as the process, on purpose.
  nb::set_leak_warnings(false);
  bind_dtype(module);
  bind_shape(module);
  module.def(
      "memory_statistics",
      [] {
        MemoryStatistics statistics = memory_statistics();
        nb::dict result;
        result["bytes_in_use"] = statistics.bytes_in_use;
        result["peak_bytes"] = statistics.peak_bytes;
        result["allocation_count"] = statistics.allocation_count;
        return result;
      },
      "Bytes taken from the system (caches included) now and at most, and blocks handed out.");
  module.def("reset_peak_memory", &reset_peak_memory);
  module.def("set_memory_limit", &set_memory_limit, nb::arg("bytes"),
             "Bytes that tensors may take from the system; 0 for no limit.");
  module.def("trim_memory", &trim_memory, "Gives cached memory back to the system.");
}

}  // namespace graphwright
