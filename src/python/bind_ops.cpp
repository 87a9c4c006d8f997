// Bindings of src/ops: the Tensor and Variable types and the functions made from the tables.
#include <optional>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "ir/functiondef.h"
#include "ir/opdef.h"
#include "ops/random_seed.h"
#include "python/errors.h"
#include "python/function_type.h"
#include "python/name_scope.h"
#include "python/tensor_object.h"
#include "python/tensor_slots.h"
#include "python/variable_object.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

template <class Visit>
void for_each_name(std::string_view names, Visit visit) {
  while (!names.empty()) {
    size_t end = names.find(' ');
    std::string_view name = names.substr(0, end);
    names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
    if (!name.empty()) visit(name);
  }
}

nb::str text(std::string_view value) { return nb::str(value.data(), value.size()); }

// One function object per row: tf.tanh is tf.math.tanh.
template <class Row>
void add_functions(nb::dict& functions, const Row& row, std::string_view names) {
  nb::object function;
  for_each_name(names, [&](std::string_view name) {
    if (!function.is_valid()) function = nb::steal(make_function(row, name));
    functions[text(name)] = function;
  });
}

nb::dict public_functions() {
  nb::dict functions;
  for (const OpDef* op : all_ops()) add_functions(functions, *op, op->python_names);
  // Function rows come last: where both have a name, the row with a body is the public one.
  for (const FunctionDef* row : all_functions()) add_functions(functions, *row, row->names);
  return functions;
}

}  // namespace

void bind_ops(nb::module_& module) {
  create_tensor_types(module.ptr());
  create_variable_type(module.ptr());
  create_row_function_type(module.ptr());
  module.def("public_functions", &public_functions,
             "The functions made from the tables, by public name.");
  module.def(
      "raw_op",
      [](std::string name) {
        const OpDef* op = find_op(name);
        if (!op) throw Error(ErrorKind::kAttributeError, "there is no op " + name);
        return nb::steal(make_raw_op(*op));
      },
      nb::arg("name"), "The op of this name as a function of keyword arguments.");
  module.def(
      "op_names",
      [] {
        nb::list names;
        for (const OpDef* op : all_ops()) names.append(text(op->name));
        return names;
      },
      "The names of all ops.");
  module.def(
      "set_seed",
      [](nb::object seed) {
        if (seed.is_none()) return set_global_seed(std::nullopt);
        set_global_seed(nb::cast<int64_t>(seed));
      },
      nb::arg("seed").none(),
      "Sets the global seed, which with the seeds of ops decides all random numbers from then on; "
      "None takes it away. Restarts every sequence.");
  module.def(
      "_assign_slice",
      [](nb::object variable, nb::object key, nb::object value, nb::object) {
        return nb::steal(assign_slice(variable.ptr(), key.ptr(), value.ptr()));
      },
      nb::arg("variable"), nb::arg("key").none(), nb::arg("value").none(),
      nb::arg("name") = nb::none(), "variable[key].assign(value)");
  module.def("enter_name_scope", &enter_name_scope, nb::arg("name"),
             "Enters a name scope and returns its path.");
  module.def("leave_name_scope", &leave_name_scope, "Leaves the name scope entered last.");
}

}  // namespace graphwright
