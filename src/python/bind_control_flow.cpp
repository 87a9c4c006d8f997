// Bindings of control flow by hand. The Python module of the package names and describes these.
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "ir/builder.h"
#include "ir/graph_builder.h"
#include "ir/thread_state.h"
#include "python/control_flow.h"
#include "python/control_values.h"
#include "python/errors.h"
#include "python/tensor_object.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

nb::object steal(Ref reference) { return nb::steal(reference.release()); }

}  // namespace

void bind_vectorized_map(nb::module_& module);

void bind_control_flow(nb::module_& module) {
  bind_vectorized_map(module);
  module.def(
      "cond",
      [](nb::object predicate, nb::object true_function, nb::object false_function,
         nb::object name) {
        return steal(
            control_cond(predicate.ptr(), true_function.ptr(), false_function.ptr(), name.ptr()));
      },
      nb::arg("pred").none(), nb::arg("true_fn").none(), nb::arg("false_fn").none(),
      nb::arg("name").none());
  module.def(
      "case",
      [](nb::object pairs, nb::object otherwise, bool exclusive, nb::object name) {
        return steal(control_case(pairs.ptr(), otherwise.ptr(), exclusive, name.ptr()));
      },
      nb::arg("pred_fn_pairs").none(), nb::arg("default").none(), nb::arg("exclusive"),
      nb::arg("name").none());
  module.def(
      "switch_case",
      [](nb::object index, nb::object functions, nb::object otherwise, nb::object name) {
        return steal(
            control_switch_case(index.ptr(), functions.ptr(), otherwise.ptr(), name.ptr()));
      },
      nb::arg("branch_index").none(), nb::arg("branch_fns").none(), nb::arg("default").none(),
      nb::arg("name").none());
  module.def(
      "while_loop",
      [](nb::object condition, nb::object body, nb::object variables, nb::object shape_invariants,
         nb::object parallel_iterations, bool back_prop, nb::object maximum_iterations,
         nb::object name) {
        LoopArguments arguments{condition.ptr(),
                                body.ptr(),
                                variables.ptr(),
                                shape_invariants.ptr(),
                                parallel_iterations.ptr(),
                                maximum_iterations.ptr(),
                                name.ptr(),
                                back_prop};
        return steal(control_while_loop(arguments));
      },
      nb::arg("cond").none(), nb::arg("body").none(), nb::arg("loop_vars").none(),
      nb::arg("shape_invariants").none(), nb::arg("parallel_iterations").none(),
      nb::arg("back_prop"), nb::arg("maximum_iterations").none(), nb::arg("name").none());
  module.def(
      "assert_true",
      [](nb::object condition, nb::object data, nb::object summarize, nb::object name) {
        // A tensor has a value that a graph cannot ask for.
        bool is_tensor = is_tensor_like(summarize.ptr());
        if (!summarize.is_none() &&
            (is_tensor ? !current_builder().is_eager() : !PyIndex_Check(summarize.ptr()))) {
          throw_type_error("Expected int for argument 'summarize' not " +
                           std::string(nb::repr(summarize).c_str()) + ".");
        }
        int64_t count = summarize.is_none() ? 3 : nb::cast<int64_t>(nb::int_(summarize));
        return steal(control_assert(condition.ptr(), data.ptr(), count, name.ptr()));
      },
      nb::arg("condition").none(), nb::arg("data").none(), nb::arg("summarize").none(),
      nb::arg("name").none());
  module.def(
      "no_op", [](nb::object name) { return steal(control_no_op(name.ptr())); },
      nb::arg("name").none());
  module.def(
      "group",
      [](nb::object inputs, nb::object name) {
        return steal(control_group(inputs.ptr(), name.ptr()));
      },
      nb::arg("inputs").none(), nb::arg("name").none());
  module.def(
      "tuple_after",
      [](nb::object tensors, nb::object control_inputs, nb::object name) {
        return steal(control_tuple(tensors.ptr(), control_inputs.ptr(), name.ptr()));
      },
      nb::arg("tensors").none(), nb::arg("control_inputs").none(), nb::arg("name").none());
  module.def(
      "enter_control_dependencies",
      [](nb::object values) { enter_control_dependencies(values.ptr()); },
      nb::arg("control_inputs").none());
  module.def(
      "call_converted",
      [](nb::object function, nb::args arguments) {
        std::vector<Ref> values;
        for (nb::handle argument : arguments) values.push_back(Ref::borrow(argument.ptr()));
        return steal(call_python_converted(function.ptr(), values));
      },
      "Calls a function that the program gave, converted by AutoGraph where the function being "
      "traced was.");
  module.def(
      "exchange_device",
      [](const std::string& device) {
        GraphBuilder& builder = graph_builder();
        std::string before(builder.device().view());
        builder.set_device(InternedString(device));
        return before;
      },
      nb::arg("device"), "Sets the device of nodes made from now on; returns what it was.");
  module.def("leave_control_dependencies", [] { leave_control_dependencies(); });
}

}  // namespace graphwright
