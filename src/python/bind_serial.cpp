// Exported forms of graphs.
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "ir/graph.h"
#include "ir/text.h"
#include "python/errors.h"
#include "python/graphdef.h"
#include "python/operation_object.h"
#include "python/tensor_object.h"
#include "serial/event_file.h"
#include "serial/export_graph.h"
#include "serial/function_exporter.h"
#include "serial/import_graph.h"
#include "trace/build_context.h"

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

namespace {

// {name without prefix: (tensors, operation or None)}
nb::dict import_graph_def(nb::bytes bytes, const std::string& prefix, nb::dict input_map) {
  BuildContext& context = current_context();
  if (context.is_eager()) throw_internal("a GraphDef was imported without a graph");
  serial::ImportOptions options;
  options.prefix = prefix;
  for (auto [name, tensor] : input_map) {
    options.input_map[nb::cast<std::string>(name)] = operand_of(nb::handle(tensor).ptr());
  }
  serial::GraphDef definition = serial::decode_graph({bytes.c_str(), bytes.size()});
  serial::ImportedNodes nodes = serial::import_graph(definition, context.builder(), options);
  nb::dict result;
  for (const auto& [name, node] : nodes) {
    nb::list outputs;
    for (const Operand& output : node.outputs) outputs.append(nb::steal(wrap(output)));
    nb::object operation = nb::none();
    if (node.node) operation = nb::steal(wrap_operation_of_node(*node.node));
    result[name.c_str()] = nb::make_tuple(outputs, operation);
  }
  return result;
}

}  // namespace

void bind_serial(nb::module_& module) {
  module.def(
      "graph_event_file",
      [](nb::bytes graph_def, double wall_time) {
        std::string file =
            serial::graph_event_file({graph_def.c_str(), graph_def.size()}, wall_time);
        return nb::bytes(file.data(), file.size());
      },
      nb::arg("graph_def"), nb::arg("wall_time"),
      "The bytes of a TensorBoard event file that shows the graph.");
  module.def(
      "tensor_proto",
      [](nb::object tensor) {
        std::string bytes = serial::encode(eager_tensor_of(tensor.ptr()));
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("tensor"), "A serialized TensorProto.");
  module.def(
      "tensor_of_proto",
      [](nb::bytes bytes) {
        return nb::steal(wrap(Operand(serial::decode_tensor({bytes.c_str(), bytes.size()}))));
      },
      nb::arg("bytes"), "The tensor of a serialized TensorProto.");
  module.def(
      "masked_crc32c",
      [](nb::bytes bytes) { return serial::masked_crc32c({bytes.c_str(), bytes.size()}); },
      nb::arg("bytes"));
  module.def("import_graph_def", &import_graph_def, nb::arg("graph_def"), nb::arg("prefix"),
             nb::arg("input_map"),
             "Adds the nodes of a serialized GraphDef to the graph that is being built.");
  module.def(
      "graphdef_from_text",
      [](std::string_view text) { return graphdef_bytes(*parse_graph(text)); }, nb::arg("text"),
      "The serialized GraphDef of a graph in text form.");
}

}  // namespace graphwright
