// Bindings of src/trace: build contexts, functions and their traces.
#include <memory>

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "ir/node_names.h"
#include "ir/opdef.h"
#include "ir/text.h"
#include "ir/thread_state.h"
#include "python/errors.h"
#include "python/graph_object.h"
#include "python/graphdef.h"
#include "python/polymorphic_function.h"
#include "python/tensor_object.h"
#include "python/trace_module.h"
#include "trace/build_context.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// Context managers are entered and left by Python: what they do lies between the two calls.
class InitScopeManager {
 public:
  void enter() { scopes_.push_back(std::make_shared<InitScope>()); }
  void exit(nb::args) { scopes_.pop_back(); }

 private:
  std::vector<std::shared_ptr<InitScope>> scopes_;
};

}  // namespace

void bind_trace(nb::module_& module) {
  nb::class_<InitScopeManager>(module, "init_scope",
                               "A context manager that lifts what is done in it out of every "
                               "function being traced: eager again, and hidden from tapes.")
      .def(nb::init<>())
      .def("__enter__", &InitScopeManager::enter)
      .def("__exit__", &InitScopeManager::exit);
  module.def(
      "executing_eagerly", [] { return current_context().is_eager(); },
      "Whether ops run at once: False while a function is traced or a graph is built.");
  module.def(
      "inside_function", [] { return current_context().kind() == ContextKind::kFunction; },
      "Whether a function is being traced.");
  module.def("set_functions_run_eagerly",
             [](bool eagerly) { functions_run_eagerly.store(eagerly); });
  module.def("functions_run_eagerly", [] { return functions_run_eagerly.load(); });
  create_function_type(module.ptr());
  create_concrete_function_type(module.ptr());
}

}  // namespace graphwright
