#include "trace/scope_errors.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/location.h"
#include "base/status.h"
#include "ir/node_names.h"
#include "ir/opdef.h"

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

// A branch must not use what the branch before it has made.
void check_other_branches(const Value& value) {
  const Node* owner = value.block->owner;
  if (!owner || owner->blocks.size() < 2) return;
  bool conditional = owner->op->name == "If", indexed = owner->op->name == "Case";
  const std::vector<Node*>& complete = owner->block->nodes;
  if (!(conditional || indexed) ||
      std::find(complete.begin(), complete.end(), owner) != complete.end()) {
    return;
  }
  auto name = [&](size_t index) {
    if (indexed) return "branch " + std::to_string(index);
    return std::string(index == 0 ? "true_fn" : "false_fn");
  };
  size_t last = owner->blocks.size() - 1, index = 0;
  while (owner->blocks[index].get() != value.block) ++index;
  throw_value_error(fmt::format("Tensor {} in {} is accessed from {}.", value_name(value),
                                name(index), name(last)));
}

}  // namespace

void throw_out_of_scope(const Value& value, bool same_graph) {
  if (same_graph) check_other_branches(value);
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
