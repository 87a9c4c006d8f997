// Entry point of the extension module graphwright._core.
#include <graphwright/version.h>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace graphwright {

void bind_base(nb::module_&);
void bind_tensor(nb::module_&);
void bind_nest(nb::module_&);
void bind_convert(nb::module_&);
void bind_tables(nb::module_&);
void bind_ir(nb::module_&);
void bind_graph(nb::module_&);
void bind_show(nb::module_&);
void bind_slice(nb::module_&);
void bind_ops(nb::module_&);
void bind_values(nb::module_&);
void bind_autograph(nb::module_&);
void bind_control_flow(nb::module_&);
void bind_serial(nb::module_&);
void bind_runtime(nb::module_&);
void bind_trace(nb::module_&);
void bind_autodiff(nb::module_&);
void bind_tensor_array(nb::module_&);

namespace {

using BindFunction = void (*)(nb::module_&);

// One function per folder of src/, each defined in its own file here (bind_<folder>.cpp); in this
// order, since later ones use the types of earlier ones.
constexpr BindFunction kBindFunctions[] = {
    bind_base,          //
    bind_tensor,        //
    bind_nest,          //
    bind_tables,        //
    bind_ir,            //
    bind_graph,         //
    bind_show,          //
    bind_slice,         //
    bind_ops,           //
    bind_values,        //
    bind_convert,       //
    bind_autograph,     //
    bind_control_flow,  //
    bind_serial,        //
    bind_runtime,       //
    bind_trace,         //
    bind_autodiff,      //
    bind_tensor_array,
};

}  // namespace
}  // namespace graphwright

NB_MODULE(_core, module) {
  module.attr("__version__") = graphwright::version();
  for (auto* bind : graphwright::kBindFunctions) {
    bind(module);
  }
}
