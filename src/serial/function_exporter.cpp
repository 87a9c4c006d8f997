#include "serial/function_exporter.h"

#include <algorithm>

#include "base/status.h"
#include "ir/opdef.h"
#include "ir/type_inference.h"

namespace graphwright::serial {
namespace {

// Argument names of functions: lower case, letters, digits and underscores, a letter first.
std::string argument_text(std::string_view name) {
  std::string result;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    bool letter = c >= 'a' && c <= 'z';
    if (result.empty() && !letter) continue;
    result += letter || (c >= '0' && c <= '9') ? c : '_';
  }
  return result.empty() ? "unknown" : result;
}

bool uses(const Node& node, const Value& value) {
  if (std::find(node.inputs.begin(), node.inputs.end(), &value) != node.inputs.end()) return true;
  for (const auto& block : node.blocks) {
    if (std::find(block->results.begin(), block->results.end(), &value) != block->results.end()) {
      return true;
    }
    for (const Node* inner : block->nodes) {
      if (uses(*inner, value)) return true;
    }
  }
  return false;
}

std::string joined_name(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "/" + name;
}

// Random ops keep no order and are dropped where nobody uses them.
bool hangs_on_no_op(const EffectSet& effects) {
  return effects.touches_resources() || effects.io || effects.opaque;
}

}  // namespace

std::string FunctionExporter::render(const Reference& reference) const {
  if (top_) {
    return reference.flat == 0 ? reference.node
                               : reference.node + ":" + std::to_string(reference.flat);
  }
  if (reference.output.empty()) return reference.node;
  return reference.node + ":" + reference.output + ":" + std::to_string(reference.index);
}

const Reference& FunctionExporter::reference(const Value& value) const {
  auto found = values_.find(&value);
  if (found == values_.end()) throw_internal("a value was exported before what it is made of");
  return found->second;
}

NodeDef& FunctionExporter::emit(const std::string& name, std::string op, ShownNode shown) {
  function_.nodes.push_back({name, std::move(op), {}, {}, {}});
  shown_.push_back(shown);
  return function_.nodes.back();
}

std::string FunctionExporter::add_constant(const std::string& name, const Tensor& tensor,
                                           ShownNode shown) {
  NodeDef& node = emit(name, "Const", shown);
  node.attributes["dtype"] = {tensor.dtype()};
  node.attributes["value"] = {tensor};
  return render({name, "output", 0, 0});
}

void FunctionExporter::set_outputs(const Node& node, const std::string& name) {
  std::vector<DType> inputs;
  for (const Value* value : node.inputs) inputs.push_back(value->dtype());
  TypeBindings bindings = resolve_types(*node.op, inputs, node.attributes, Tier::kGraph);
  size_t flat = 0;
  for (size_t output = 0; output < bindings.output_counts.size(); ++output) {
    for (int64_t i = 0; i < bindings.output_counts[output]; ++i, ++flat) {
      values_[node.outputs[flat]] = {name, std::string(node.op->signature.outputs[output].name), i,
                                     static_cast<int64_t>(flat)};
    }
  }
}

void FunctionExporter::emit_placeholder(const Value& argument) {
  std::string name = names_.argument_name(argument);
  NodeDef& node = emit(name, "Placeholder", {nullptr, &argument});
  node.attributes["dtype"] = {argument.dtype()};
  node.attributes["shape"] = {argument.shape().without_symbols()};
  std::string_view base = argument.name.view();
  node.attributes["_user_specified_name"] = {base.empty() ? name.substr(name.rfind('/') + 1)
                                                          : std::string(base)};
  values_[&argument] = {name, "output", 0, 0};
  state_.origins[&argument] = name;
}

void FunctionExporter::emit_needed_captures(const Node& node, bool with_blocks) {
  std::vector<const Value*> needed(node.inputs.begin(), node.inputs.end());
  // A loop makes its counter before its blocks are traced, so what they see comes after that.
  if (node.op->name != "While" || with_blocks) {
    for (const Value* value : free_values(node)) needed.push_back(value);
  }
  for (const Value* value : needed) {
    bool is_argument = !value->node && value->block == &block_;
    if (is_argument && !values_.count(value)) emit_placeholder(*value);
  }
}

void FunctionExporter::emit_handles_before(const Node& constant, size_t position) {
  if (constant.op->name != "Const") return;
  const auto& nodes = block_.nodes;
  while (position < nodes.size() && nodes[position]->op->name == "Const") ++position;
  if (position == nodes.size()) return;
  const Node& user = *nodes[position];
  if (!names_.name(constant).starts_with(names_.name(user) + "/")) return;
  for (const Value* value : user.inputs) {
    if (value->node == &constant) return;
    bool is_argument = !value->node && value->block == &block_;
    if (is_argument && value->dtype() == DType::kResource && !values_.count(value)) {
      emit_placeholder(*value);
    }
  }
}

void FunctionExporter::emit_nodes() {
  std::vector<std::vector<uint32_t>> edges = state_.analysis.order_edges(block_);
  std::vector<std::string> emitted;
  for (size_t i = 0; i < block_.nodes.size(); ++i) {
    const Node& node = *block_.nodes[i];
    if (top_) {
      emit_handles_before(node, i);
      emit_needed_captures(node);
    }
    size_t first = function_.nodes.size();
    if (node.callee) {
      emit_call(node);
    } else if (node.op->name == "While" || node.op->name == "StatelessWhile") {
      emit_while(node);
    } else if (node.op->name == "If" || node.op->name == "StatelessIf") {
      emit_if(node);
    } else if (!node.blocks.empty()) {
      emit_case(node);
    } else {
      emit_plain(node);
    }
    const std::string& name = names_.name(node);
    emitted.push_back(name);
    std::vector<std::string> controls;
    for (uint32_t earlier : edges[i]) controls.push_back("^" + emitted[earlier]);
    for (const Node* earlier : node.control_inputs) {
      // Branches hand out their results through Identity nodes, which are what others wait for.
      const Value* output = earlier->outputs.empty() ? nullptr : earlier->outputs[0];
      auto identity = earlier->blocks.empty() ? state_.origins.end() : state_.origins.find(output);
      controls.push_back(
          "^" + (identity == state_.origins.end() ? names_.name(*earlier) : identity->second));
    }
    std::sort(controls.begin(), controls.end());
    controls.erase(std::unique(controls.begin(), controls.end()), controls.end());
    for (size_t k = first; k < function_.nodes.size(); ++k) {
      NodeDef& written = function_.nodes[k];
      if (written.name != name) continue;  // a node that only the exported form has
      written.inputs.insert(written.inputs.end(), controls.begin(), controls.end());
    }
    bool stateful_control = (!node.blocks.empty() || node.callee) && is_stateful(node);
    if (stateful_control || hangs_on_no_op(state_.analysis.effects(node))) {
      must_run_.push_back(name);
    }
  }
}

void FunctionExporter::emit_plain(const Node& node) {
  NodeDef& written = emit(names_.name(node), std::string(node.op->name), {&node});
  for (const Value* value : node.inputs) written.inputs.push_back(input(*value));
  written.device = std::string(node.device.view());
  written.attributes = node_attributes(node);
  set_outputs(node, written.name);
}

void FunctionExporter::emit_call(const Node& node) {
  const std::string callee = state_.export_callee(*node.callee);
  NodeDef& written =
      emit(names_.name(node), is_stateful(node) ? "StatefulPartitionedCall" : "PartitionedCall",
           {&node});
  ListValue inputs, outputs;
  for (const Value* value : node.inputs) {
    written.inputs.push_back(input(*value));
    inputs.types.push_back(value->dtype());
  }
  for (const Value* value : node.outputs) outputs.types.push_back(value->dtype());
  written.attributes["Tin"] = {inputs};
  written.attributes["Tout"] = {outputs};
  written.attributes["f"] = {NameAttrList{callee}};
  for (const char* name : {"config", "config_proto", "executor_type"}) {
    written.attributes[name] = {std::string()};
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    auto index = static_cast<int64_t>(i);
    values_[node.outputs[i]] = {written.name, "output", index, index};
  }
}

std::vector<std::string> FunctionExporter::existing_identities() const {
  std::vector<const Value*> used;
  for (const Node* node : block_.nodes) {
    used.insert(used.end(), node->inputs.begin(), node->inputs.end());
    std::vector<const Value*> seen = free_values(*node);
    used.insert(used.end(), seen.begin(), seen.end());
  }
  std::unordered_set<const Value*> taken(used.begin(), used.end());
  std::vector<std::string> names;
  for (const Value* result : block_.results) {
    bool is_identity =
        result->node && result->block == &block_ && result->node->op->name == "Identity";
    if (!is_identity || !taken.insert(result).second) return {};
    names.push_back(names_.name(*result->node));
  }
  return names;
}

std::vector<std::string> FunctionExporter::emit_results(const std::vector<std::string>& references,
                                                        const std::vector<DType>& types,
                                                        const std::string& scope) {
  if (references.empty()) return {};
  std::string prefix = scope.empty() ? "" : scope + "/";
  std::vector<std::string> names;
  if (scope.empty()) names = existing_identities();
  bool exist = !names.empty();
  for (size_t i = 0; !exist && i < references.size(); ++i) {
    names.push_back(names_.take(block_, prefix + "Identity"));
    NodeDef& node = emit(names[i], "Identity",
                         {nullptr, nullptr, ShownNode::kFirstIdentity + static_cast<int>(i)});
    node.attributes["T"] = {types[i]};
    node.inputs.push_back(references[i]);
  }
  if (must_run_.empty()) return names;
  std::string no_op = names_.take(block_, prefix + "NoOp");
  std::unordered_set<std::string> waiting(names.begin(), names.end());
  for (NodeDef& node : function_.nodes) {
    if (waiting.count(node.name)) node.inputs.push_back("^" + no_op);
  }
  NodeDef& node = emit(no_op, "NoOp", {nullptr, nullptr, ShownNode::kNoOp});
  for (const std::string& name : must_run_) node.inputs.push_back("^" + name);
  std::sort(node.inputs.begin(), node.inputs.end());
  return names;
}

void FunctionExporter::export_top() {
  size_t declared = block_.arguments.size() - block_.graph->captures().size();
  for (size_t i = 0; i < declared; ++i) emit_placeholder(*block_.arguments[i]);
  emit_nodes();
  std::vector<std::string> references;
  std::vector<DType> types;
  for (const Value* result : block_.results) {
    if (!values_.count(result)) emit_placeholder(*result);
    references.push_back(input(*result));
    types.push_back(result->dtype());
  }
  // Captures that nothing uses are still there to be fed.
  for (size_t i = declared; i < block_.arguments.size(); ++i) {
    if (!values_.count(block_.arguments[i])) emit_placeholder(*block_.arguments[i]);
  }
  emit_results(references, types, "");
  state_.result.nodes = std::move(function_.nodes);
}

std::string FunctionExporter::take_argument_name(const std::string& name) {
  return argument_names_.take(argument_text(name));
}

void FunctionExporter::add_argument(const Value* value, const std::string& name,
                                    const ValueType& type, const std::string& user_name) {
  std::string unique = take_argument_name(name);
  auto index = static_cast<uint32_t>(function_.inputs.size());
  function_.inputs.push_back({unique, type.dtype});
  AttrMap& attributes = function_.argument_attributes[index];
  ListValue shapes;
  shapes.shapes.push_back(type.shape.without_symbols());
  attributes["_output_shapes"] = {shapes};
  if (!user_name.empty()) attributes["_user_specified_name"] = {user_name};
  if (!value) return;
  values_[value] = {unique, "", 0, 0};
  if (value->block == &block_) state_.origins[value] = unique;
}

void FunctionExporter::finish_function(bool has_results) {
  if (!has_results && must_run_.empty()) return;
  for (const std::string& name : must_run_) {
    function_.control_outputs.push_back(name);
    function_.control_returns[name] = name;
  }
  function_.is_stateful = std::any_of(block_.nodes.begin(), block_.nodes.end(),
                                      [](const Node* node) { return is_stateful(*node); });
}

FunctionDef FunctionExporter::export_graph_body(const std::string& name) {
  function_.name = name;
  // Arguments and nodes share one set of names.
  for (const Node* node : block_.nodes) argument_names_.take(names_.name(*node));
  for (const Value* argument : block_.arguments) {
    std::string own = names_.argument_name(*argument);
    add_argument(argument, own.empty() ? "capture" : own, argument->type,
                 std::string(argument->name.view()));
  }
  emit_nodes();
  std::vector<std::string> references;
  std::vector<DType> types;
  for (const Value* result : block_.results) {
    references.push_back(input(*result));
    types.push_back(result->dtype());
  }
  std::vector<std::string> names = emit_results(references, types, "");
  UniqueNames outputs;
  for (const ArgDef& argument : function_.inputs) outputs.take(argument.name);
  for (size_t i = 0; i < names.size(); ++i) {
    std::string output = outputs.take(argument_text(names[i]));
    function_.outputs.push_back({output, types[i]});
    function_.returns[output] = names[i] + ":output:0";
  }
  finish_function(!names.empty());
  return std::move(function_);
}

std::string FunctionExporter::origin(const Value& value) const {
  auto found = state_.origins.find(&value);
  if (found != state_.origins.end()) return found->second;
  return value.node ? names_.name(*value.node) : "placeholder";
}

std::string FunctionExporter::capture_name(const Value& value, const std::string& scope) const {
  for (const Node* node : block_.nodes) {
    if (!uses(*node, value)) continue;
    std::string own = is_tensor_capture(value) ? input_name(*node, value) : origin(value);
    if (node->callee) return joined_name(scope, own);  // a call enters no scope
    return names_.name(*node) + "/" + own;
  }
  return scope + "/identity/" + origin(value);  // of the Identity that returns it
}

}  // namespace graphwright::serial
