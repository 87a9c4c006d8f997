// Exported forms of graphs.
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "ir/graph.h"
#include "ir/text.h"
#include "python/graphdef.h"
#include "serial/export_graph.h"
#include "serial/function_exporter.h"

namespace nb = nanobind;

namespace graphwright {

nb::bytes graphdef_bytes(const Graph& graph) {
  std::string bytes = graph_to_graphdef(graph);
  return nb::bytes(bytes.data(), bytes.size());
}

nb::object graphdef_message(const Graph& graph) {
  nb::object parse = nb::module_::import_("graphwright._protobuf").attr("graph_def");
  return parse(graphdef_bytes(graph));
}

nb::object functiondef_message(const Graph& graph) {
  nb::object parse = nb::module_::import_("graphwright._protobuf").attr("message_class");
  std::string bytes = serial::encode(serial::export_function(graph));
  return parse("FunctionDef").attr("FromString")(nb::bytes(bytes.data(), bytes.size()));
}

void bind_serial(nb::module_& module) {
  module.def(
      "graphdef_from_text",
      [](std::string_view text) { return graphdef_bytes(*parse_graph(text)); }, nb::arg("text"),
      "The serialized GraphDef of a graph in text form.");
}

}  // namespace graphwright
