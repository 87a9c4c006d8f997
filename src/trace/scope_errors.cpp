#include "trace/scope_errors.h"

#include <fmt/format.h>

#include "base/location.h"
#include "base/status.h"
#include "ir/node_names.h"

namespace graphwright {

std::string value_name(const Value& value) {
  return NodeNames(*value.block->graph).value_name(value);
}

void throw_out_of_scope(const Value& value, bool same_graph) {
  std::string tensor =
      fmt::format("<tf.Tensor '{}' shape={} dtype={}>", value_name(value),
                  value.shape().without_symbols().to_string(), dtype_name(value.dtype()));
  std::string message = fmt::format(
      "{} is out of scope and cannot be used here. Use return values, explicit Python locals or "
      "TensorFlow collections to access it.\n",
      tensor);
  if (value.node) {
    std::vector<SourceFrame> frames = resolve_location(value.node->location);
    if (!frames.empty()) {
      message += fmt::format("\n{} was defined here:\n", tensor);
      for (const SourceFrame& frame : frames) {
        message += fmt::format("    File \"{}\", line {}, in {}\n", frame.file, frame.line,
                               frame.function);
      }
    }
  }
  const Graph& graph = *value.block->graph;
  message += same_graph
                 ? fmt::format(
                       "\nThe tensor {} cannot be accessed from here, because it was defined in a "
                       "branch or loop body of {} that has ended.",
                       tensor, graph.name())
                 : fmt::format(
                       "\nThe tensor {} cannot be accessed from here, because it was defined in "
                       "FuncGraph(name={}, id={}), which is out of scope.",
                       tensor, graph.name(), static_cast<const void*>(&graph));
  throw_type_error(std::move(message));
}

}  // namespace graphwright
