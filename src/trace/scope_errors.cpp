#include "trace/scope_errors.h"

#include <fmt/format.h>

#include "base/location.h"
#include "base/status.h"
#include "ir/node_names.h"

namespace graphwright {

std::string value_name(const Value& value) {
  return NodeNames(*value.block->graph, value.block).value_name(value);
}

namespace {

// "leaky_function" of the graph "__inference_leaky_function_11".
std::string_view function_name(std::string_view graph_name) {
  constexpr std::string_view kPrefix = "__inference_";
  if (!graph_name.starts_with(kPrefix)) return graph_name;
  graph_name.remove_prefix(kPrefix.size());
  return graph_name.substr(0, graph_name.rfind('_'));
}

}  // namespace

void throw_out_of_scope(const Value& value, bool same_graph) {
  std::string tensor =
      fmt::format("<tf.Tensor '{}' shape={} dtype={}>", value_name(value),
                  value.shape().without_symbols().to_string(), dtype_name(value.dtype()));
  std::string message = fmt::format(
      "{} is out of scope and cannot be used here. Use return values, explicit Python locals or "
      "TensorFlow collections to access it.\nPlease see "
      "https://www.tensorflow.org/guide/"
      "function#all_outputs_of_a_tffunction_must_be_return_values for more information.\n",
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
                       tensor, function_name(graph.name()), reinterpret_cast<uintptr_t>(&graph));
  auto detail = std::make_shared<ErrorDetail>();
  detail->code = Code::kInvalidArgument;
  detail->kind = ErrorKind::kTypeError;
  detail->message = std::move(message);
  detail->plain = true;
  throw Error(std::move(detail));
}

}  // namespace graphwright
