// Control nodes as TensorFlow's functional ops: blocks become functions of the library, and the
// values that they see from outside become further inputs.
#include <algorithm>
#include <array>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/opdef.h"
#include "serial/export_graph.h"
#include "serial/function_exporter.h"
#include "serial/library_names.h"

namespace graphwright {
namespace serial {
namespace {

ListValue type_list(const std::vector<const Value*>& values) {
  ListValue list;
  for (const Value* value : values) list.types.push_back(value->dtype());
  return list;
}
ListValue type_list(const std::vector<Value*>& values) {
  return type_list(std::vector<const Value*>(values.begin(), values.end()));
}

// Positions of the resource inputs that the node only reads, counted from `first`.
AttrValue read_only_inputs(EffectAnalysis& analysis, const Node& node,
                           const std::vector<const Value*>& values, int64_t first) {
  const EffectSet& effects = analysis.effects(node);
  ListValue list;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]->dtype() != DType::kResource || effects.writes_unknown) continue;
    const Value* root = analysis.resource_root(*values[i]);
    bool written = !root || std::binary_search(effects.writes.begin(), effects.writes.end(), root);
    if (!written) list.integers.push_back(first + static_cast<int64_t>(i));
  }
  return {list};
}

}  // namespace

FunctionDef FunctionExporter::branch_function(const std::string& name,
                                              const std::vector<const Value*>& inputs,
                                              const std::string& scope) {
  function_.name = name;
  std::vector<const Value*> used = free_values(std::array<const Block*, 1>{&block_});
  for (const Value* value : inputs) {
    bool is_used = std::find(used.begin(), used.end(), value) != used.end();
    add_argument(value, is_used ? capture_name(*value, scope) : scope + "/placeholder",
                 value->type);
  }
  emit_nodes();
  std::vector<std::string> references;
  std::vector<DType> types;
  for (const Value* result : block_.results) {
    references.push_back(input(*result));
    types.push_back(result->dtype());
  }
  std::vector<std::string> names = emit_results(references, types, scope);
  for (size_t i = 0; i < names.size(); ++i) {
    std::string output = take_argument_name(names[i]);
    function_.outputs.push_back({output, types[i]});
    function_.returns[output] = names[i] + ":output:0";
  }
  finish_function(!names.empty());
  return std::move(function_);
}

void FunctionExporter::emit_identities(const Node& node, const std::vector<DType>& types) {
  const std::string& name = names_.name(node);
  const std::vector<std::string>& identities = names_.identities(node);
  bool is_loop = node.op->name == "While";
  for (size_t i = 0; i < identities.size(); ++i) {
    auto index = static_cast<int64_t>(i);
    NodeDef& written = emit(identities[i], "Identity",
                            {&node, nullptr, ShownNode::kFirstIdentity + static_cast<int>(i)});
    written.inputs.push_back(render({name, "output", index, index}));
    written.attributes["T"] = {types[i]};
    // A loop's output 1 there is its limit, which no value here stands for.
    if (is_loop && i == 1) continue;
    size_t output = is_loop && i > 1 ? i - 1 : i;
    if (output >= node.outputs.size()) continue;
    values_[node.outputs[output]] = {identities[i], "output", 0, 0};
    state_.origins[node.outputs[output]] = identities[i];
  }
}

void FunctionExporter::emit_if(const Node& node) {
  const std::string& name = names_.name(node);
  std::vector<const Value*> inputs = free_values(node);
  std::string functions[2];
  const char* kinds[2] = {"true", "false"};
  for (size_t i = 0; i < 2; ++i) {
    functions[i] = control_function_name(*node.blocks[i], name + "_" + kinds[i]);
  }
  for (size_t i = 0; i < 2; ++i) {
    FunctionExporter branch(state_, names_, *node.blocks[i], false);
    FunctionDef function = branch.branch_function(functions[i], inputs, name);
    state_.result.functions.push_back(std::move(function));
  }
  NodeDef& written = emit(name, is_stateful(node) ? "If" : "StatelessIf", {&node});
  written.inputs.push_back(input(*node.inputs[0]));
  for (const Value* value : inputs) written.inputs.push_back(input(*value));
  AttrMap& attributes = written.attributes;
  attributes["Tcond"] = {node.inputs[0]->dtype()};
  attributes["Tin"] = {type_list(inputs)};
  attributes["Tout"] = {type_list(node.outputs)};
  attributes["output_shapes"] = {shape_list(node.outputs)};
  attributes["then_branch"] = {NameAttrList{functions[0]}};
  attributes["else_branch"] = {NameAttrList{functions[1]}};
  attributes["_lower_using_switch_merge"] = {true};
  attributes["_read_only_resource_inputs"] = read_only_inputs(state_.analysis, node, inputs, 1);
  std::vector<DType> types;
  for (const Value* output : node.outputs) types.push_back(output->dtype());
  emit_identities(node, types);
}

void FunctionExporter::emit_case(const Node& node) {
  if (node.op->name != "Case" && node.op->name != "StatelessCase") {
    throw_unimplemented("the op " + std::string(node.op->name) +
                        ", which owns blocks, cannot be exported");
  }
  const std::string& name = names_.name(node);
  std::vector<const Value*> inputs = free_values(node);
  ListValue branches;
  for (size_t i = 0; i < node.blocks.size(); ++i) {
    std::string function_name =
        control_function_name(*node.blocks[i], name + "_branch" + std::to_string(i));
    FunctionExporter branch(state_, names_, *node.blocks[i], false);
    FunctionDef function = branch.branch_function(function_name, inputs, name);
    state_.result.functions.push_back(std::move(function));
    branches.functions.push_back({function_name});
  }
  NodeDef& written = emit(name, is_stateful(node) ? "Case" : "StatelessCase", {&node});
  written.inputs.push_back(input(*node.inputs[0]));
  for (const Value* value : inputs) written.inputs.push_back(input(*value));
  AttrMap& attributes = written.attributes;
  attributes["Tin"] = {type_list(inputs)};
  attributes["Tout"] = {type_list(node.outputs)};
  attributes["output_shapes"] = {shape_list(node.outputs)};
  attributes["branches"] = {branches};
  attributes["_lower_using_switch_merge"] = {true};
  attributes["_read_only_resource_inputs"] = read_only_inputs(state_.analysis, node, inputs, 1);
  std::vector<DType> types;
  for (const Value* output : node.outputs) types.push_back(output->dtype());
  emit_identities(node, types);
}

// Arguments are called after the tensors outside that the first values are.
void FunctionExporter::add_loop_arguments(const Node& node, const std::string& scope,
                                          const std::string& counter_name) {
  ValueType counter = tensor_type(DType::kInt32, PartialShape::scalar());
  std::string limit_name = origin(*node.inputs[0]);
  add_argument(block_.arguments[0], scope + "/" + counter_name, counter, counter_name);
  add_argument(nullptr, scope + "/" + limit_name, counter, limit_name);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    add_argument(block_.arguments[i], scope + "/placeholder", block_.arguments[i]->type);
  }
}

FunctionDef FunctionExporter::condition_function(const Node& node, const std::string& name,
                                                 const std::vector<const Value*>& captures,
                                                 const std::string& scope,
                                                 const std::string& counter_name) {
  function_.name = name;
  add_loop_arguments(node, scope, counter_name);
  std::vector<const Value*> used = free_values(std::array<const Block*, 1>{&block_});
  int redundant = 0;
  for (const Value* value : captures) {
    bool is_used = std::find(used.begin(), used.end(), value) != used.end();
    add_argument(
        value,
        is_used ? capture_name(*value, scope)
                : scope + "/" + name + "___redundant_placeholder" + std::to_string(redundant++),
        value->type);
  }
  emit_nodes();
  std::string result = input(*block_.results[0]);
  Tensor limit = constant_value(Operand(node.inputs[0]));
  if (!limit || limit.element_count() != 1 || *limit.data<int32_t>() != -1) {
    std::string less = names_.take(block_, scope + "/Less");
    NodeDef& below = emit(less, "Less");
    below.inputs = {function_.inputs[0].name, function_.inputs[1].name};
    below.attributes["T"] = {DType::kInt32};
    std::string both = names_.take(block_, scope + "/LogicalAnd");
    emit(both, "LogicalAnd").inputs = {less + ":z:0", result};
    result = both + ":z:0";
  }
  std::vector<std::string> names = emit_results({result}, {DType::kBool}, scope);
  std::string output = take_argument_name(names[0]);
  function_.outputs.push_back({output, DType::kBool});
  function_.returns[output] = names[0] + ":output:0";
  finish_function(true);
  return std::move(function_);
}

FunctionDef FunctionExporter::body_function(const Node& node, const std::string& name,
                                            const std::vector<const Value*>& captures,
                                            const std::string& scope,
                                            const std::string& counter_name) {
  function_.name = name;
  add_loop_arguments(node, scope, counter_name);
  std::vector<const Value*> condition_captures =
      free_values(std::array<const Block*, 1>{node.blocks[0].get()});
  std::vector<std::string> capture_names;
  for (const Value* value : captures) {
    // The condition is traced first, so that what it captures is captured here before anything is
    // done.
    bool early = std::find(condition_captures.begin(), condition_captures.end(), value) !=
                 condition_captures.end();
    std::string own = early ? scope + "/" + origin(*value) : capture_name(*value, scope);
    capture_names.push_back(own);
    add_argument(value, own + "_0", value->type, origin(*value));
  }
  emit_nodes();
  std::string add = names_.take(block_, scope + "/add");
  std::string one = add_constant(add + "/y", Tensor::int32_scalar(1));
  NodeDef& next = emit(add, "AddV2");
  next.inputs = {function_.inputs[0].name, one};
  next.attributes["T"] = {DType::kInt32};
  std::vector<std::string> references{add + ":z:0", function_.inputs[1].name};
  std::vector<DType> types{DType::kInt32, DType::kInt32};
  for (const Value* result : block_.results) {
    references.push_back(input(*result));
    types.push_back(result->dtype());
  }
  std::vector<std::string> names = emit_results(references, types, scope);
  for (size_t i = 0; i < names.size(); ++i) {
    std::string output = take_argument_name(names[i]);
    function_.outputs.push_back({output, types[i]});
    function_.returns[output] = names[i] + ":output:0";
  }
  for (size_t i = 0; i < captures.size(); ++i) {
    std::string output = take_argument_name(capture_names[i]);
    function_.outputs.push_back({output, captures[i]->dtype()});
    function_.returns[output] = reference(*captures[i]).node;
  }
  finish_function(true);
  return std::move(function_);
}

void FunctionExporter::emit_while(const Node& node) {
  const std::string& name = names_.name(node);
  std::vector<const Value*> captures = free_values(node);
  std::string condition = control_function_name(*node.blocks[0], name + "_cond");
  std::string body = control_function_name(*node.blocks[1], name + "_body");
  std::string counter_name = names_.take(block_, name + "/loop_counter");
  {
    FunctionExporter inner(state_, names_, *node.blocks[0], false);
    FunctionDef function = inner.condition_function(node, condition, captures, name, counter_name);
    state_.result.functions.push_back(std::move(function));
  }
  {
    FunctionExporter inner(state_, names_, *node.blocks[1], false);
    FunctionDef function = inner.body_function(node, body, captures, name, counter_name);
    state_.result.functions.push_back(std::move(function));
  }
  std::string counter =
      add_constant(counter_name, Tensor::int32_scalar(0), {&node, nullptr, ShownNode::kCounter});
  if (top_) emit_needed_captures(node, /*with_blocks=*/true);
  NodeDef& written = emit(name, is_stateful(node) ? "While" : "StatelessWhile", {&node});
  written.inputs = {counter, input(*node.inputs[0])};
  ListValue types, shapes;
  types.types = {DType::kInt32, DType::kInt32};
  shapes.shapes = {PartialShape::scalar(), PartialShape::scalar()};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    written.inputs.push_back(input(*node.inputs[i]));
    types.types.push_back(node.inputs[i]->dtype());
    shapes.shapes.push_back(node.outputs[i]->shape());
  }
  for (const Value* value : captures) {
    written.inputs.push_back(input(*value));
    types.types.push_back(value->dtype());
    shapes.shapes.push_back(value->shape());
  }
  std::vector<DType> carried_types = types.types;
  auto count = static_cast<int64_t>(types.types.size());
  AttrMap& attributes = written.attributes;
  attributes["_read_only_resource_inputs"] = read_only_inputs(
      state_.analysis, node, captures, count - static_cast<int64_t>(captures.size()));
  attributes["T"] = {std::move(types)};
  attributes["output_shapes"] = {std::move(shapes)};
  attributes["cond"] = {NameAttrList{condition}};
  attributes["body"] = {NameAttrList{body}};
  AttributeReader reader(*node.op, node.attributes);
  attributes["parallel_iterations"] = {reader.integer("parallel_iterations")};
  attributes["_num_original_outputs"] = {count};
  attributes["_lower_using_switch_merge"] = {true};
  // Output 0 is the number of iterations here and the counter there; there, the maximum follows.
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    auto index = static_cast<int64_t>(i == 0 ? 0 : i + 1);
    values_[node.outputs[i]] = {name, "output", index, index};
  }
  if (!names_.identities(node).empty()) emit_identities(node, carried_types);
}

ExportedGraph export_with_origins(const Graph& graph) {
  ExportState state;
  // What TensorFlow 2.21 writes: readers check that they are not too old for a graph.
  state.result.producer = 2474;
  state.result.min_consumer = 12;
  NodeNames names(graph);
  FunctionExporter exporter(state, names, graph.body(), true);
  exporter.export_top();
  return {std::move(state.result), exporter.shown()};
}

FunctionDef export_function(const Graph& graph) {
  ExportState state;
  NodeNames names(graph);
  return FunctionExporter(state, names, graph.body(), false).export_graph_body(graph.name());
}

GraphDef export_graph(const Graph& graph) {
  return std::move(export_with_origins(graph).definition);
}

}  // namespace serial

std::string graph_to_graphdef(const Graph& graph) {
  return serial::encode(serial::export_graph(graph));
}

}  // namespace graphwright
