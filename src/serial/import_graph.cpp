#include "serial/import_graph.h"

#include <algorithm>
#include <charconv>
#include <queue>

#include <fmt/format.h>

#include "base/status.h"
#include "ir/node_names.h"
#include "ir/type_inference.h"
#include "serial/graph_importer.h"

namespace graphwright::serial {
namespace {

bool is_number(std::string_view text, int64_t* number) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *number);
  return !text.empty() && error == std::errc() && stop == end && *number >= 0;
}

bool is_valid_name(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    bool first =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    bool later = c == '_' || c == '-' || c == '/' || c == '>' || c == '\\';
    if (!first && !(i > 0 && later)) return false;
  }
  return !name.empty();
}

const char* kind_of(const AttrValue& attribute) {
  static constexpr const char* kNames[] = {"placeholder", "string", "int",    "float", "bool",
                                           "type",        "shape",  "tensor", "func",  "list"};
  return kNames[attribute.value.index()];
}

// The attribute as the signature's kind; false where it is of another kind.
bool convert_attribute(AttributeKind kind, const AttrValue& attribute, AttributeValue* result) {
  auto take = [&]<class T>(const T*) {
    const T* value = std::get_if<T>(&attribute.value);
    if (value) *result = *value;
    return value != nullptr;
  };
  const auto* list = std::get_if<ListValue>(&attribute.value);
  switch (kind) {
    case AttributeKind::kBool:
      return take(static_cast<bool*>(nullptr));
    case AttributeKind::kInt:
      return take(static_cast<int64_t*>(nullptr));
    case AttributeKind::kFloat: {
      const float* value = std::get_if<float>(&attribute.value);
      if (value) *result = static_cast<double>(*value);
      return value != nullptr;
    }
    case AttributeKind::kString:
      return take(static_cast<std::string*>(nullptr));
    case AttributeKind::kType:
      return take(static_cast<DType*>(nullptr));
    case AttributeKind::kShape:
      return take(static_cast<PartialShape*>(nullptr));
    case AttributeKind::kTensor:
      return take(static_cast<Tensor*>(nullptr));
    case AttributeKind::kBlock:
      return false;
    case AttributeKind::kIntList:
      if (list) *result = list->integers;
      return list;
    case AttributeKind::kFloatList:
      if (list) *result = std::vector<double>(list->floats.begin(), list->floats.end());
      return list;
    case AttributeKind::kStringList:
      if (list) *result = list->strings;
      return list;
    case AttributeKind::kTypeList:
      if (list) *result = list->types;
      return list;
    case AttributeKind::kShapeList:
      if (list) *result = list->shapes;
      return list;
  }
  return false;
}

}  // namespace

void throw_at_node(const std::string& node, const std::string& message) {
  throw_value_error(fmt::format("Node '{}': {}", node, message));
}

bool parse_input(std::string_view text, bool in_function, InputName* result) {
  *result = {};
  if (text.starts_with('^')) {
    result->is_control = true;
    text.remove_prefix(1);
  }
  size_t colon = text.find(':');
  result->node = std::string(text.substr(0, colon));
  if (colon == std::string_view::npos) return !result->node.empty();
  if (result->is_control || result->node.empty()) return false;
  text.remove_prefix(colon + 1);
  if (!in_function) return is_number(text, &result->index);
  size_t second = text.find(':');
  result->output = std::string(text.substr(0, second));
  if (second == std::string_view::npos) return !result->output.empty();
  return is_number(text.substr(second + 1), &result->index);
}

const FunctionDef& ImportState::function(const std::string& name, const std::string& node) const {
  auto found = library.find(name);
  if (found == library.end()) {
    throw_at_node(node, fmt::format("the function '{}' is not in the library", name));
  }
  return *found->second;
}

const AttrValue& NodeImporter::attribute(const NodeDef& node, const std::string& name) const {
  auto found = node.attributes.find(name);
  if (found == node.attributes.end()) {
    throw_value_error(
        fmt::format("NodeDef missing attr '{}' from Op<name={}>; NodeDef: {{{{node {}}}}}", name,
                    node.op, node.name));
  }
  return found->second;
}

const std::string& NodeImporter::function_attribute(const NodeDef& node,
                                                    const std::string& name) const {
  const auto* function = std::get_if<NameAttrList>(&attribute(node, name).value);
  if (!function) throw_at_node(node.name, fmt::format("attr '{}' is not a function", name));
  return function->name;
}

void NodeImporter::index(const std::vector<NodeDef>& nodes) {
  for (const NodeDef& node : nodes) {
    if (!is_valid_name(node.name)) {
      throw_value_error(fmt::format("Node '{}': Node name contains invalid characters", node.name));
    }
    if (nodes_.count(node.name) || !definitions_.emplace(node.name, &node).second) {
      throw_value_error(fmt::format("Node '{}' is not unique", node.name));
    }
  }
}

// In the order given, except that a node comes after what it needs.
std::vector<const NodeDef*> NodeImporter::sorted(const std::vector<NodeDef>& nodes) const {
  std::unordered_map<std::string_view, size_t> positions;
  for (size_t i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i].name, i);
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> missing(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& text : nodes[i].inputs) {
      InputName input;
      if (!parse_input(text, in_function_, &input)) {
        throw_at_node(nodes[i].name, fmt::format("'{}' is not the name of an input", text));
      }
      auto found = positions.find(input.node);
      if (found == positions.end()) {
        bool known = nodes_.count(input.node) || input_map_.count(input.node) ||
                     input_map_.count(text) || input_map_.count(input.node + ":0");
        if (!known) throw_at_node(nodes[i].name, fmt::format("Unknown input node '{}'", text));
        continue;
      }
      users[found->second].push_back(i);
      ++missing[i];
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<const NodeDef*> order;
  while (!ready.empty()) {
    size_t next = ready.top();
    ready.pop();
    order.push_back(&nodes[next]);
    for (size_t user : users[next]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  if (order.size() < nodes.size()) {
    std::string name;
    for (size_t i = 0; i < nodes.size() && name.empty(); ++i) {
      if (missing[i] > 0) name = nodes[i].name;
    }
    throw_value_error(fmt::format("{} nodes in a cycle, or behind one: '{}' is one of them",
                                  nodes.size() - order.size(), name));
  }
  return order;
}

void NodeImporter::import(const std::vector<NodeDef>& nodes) {
  state_.node_count += static_cast<int64_t>(nodes.size());
  if (state_.node_count > kMaxImportedNodes) {
    throw_value_error("the functions of the GraphDef stand for too many nodes");
  }
  index(nodes);
  find_counters(nodes);
  builder_.enter_absolute_scope(prefix_);
  try {
    for (const NodeDef* node : sorted(nodes)) {
      if (counters_.count(node->name)) {
        nodes_[node->name].outputs = {Operand(Tensor::int32_scalar(0))};
      } else if (!skipped_.count(node->name)) {
        import_node(*node);
      }
    }
  } catch (...) {
    builder_.leave_scope();
    throw;
  }
  builder_.leave_scope();
}

Operand NodeImporter::value(const std::string& name, const std::string& user) {
  InputName input;
  if (!parse_input(name, in_function_, &input) || input.is_control) {
    throw_at_node(user, fmt::format("'{}' is not the name of a tensor", name));
  }
  if (!in_function_) {
    auto mapped = input_map_.find(fmt::format("{}:{}", input.node, input.index));
    if (mapped != input_map_.end()) return mapped->second;
  }
  auto found = nodes_.find(input.node);
  if (found == nodes_.end()) throw_at_node(user, fmt::format("Unknown input node '{}'", name));
  int64_t index = input.index;
  auto definition = definitions_.find(input.node);
  if (!input.output.empty() && definition != definitions_.end()) {
    // Position of the op's named output among all.
    const OpDef* op = find_op(definition->second->op);
    const Node* node = found->second.node;
    bool named = false;
    if (op && node && node->blocks.empty() && !node->callee) {
      std::vector<DType> inputs;
      for (const Value* value : node->inputs) inputs.push_back(value->dtype());
      TypeBindings bindings = resolve_types(*op, inputs, node->attributes, Tier::kGraph);
      int64_t before = 0;
      for (size_t i = 0; i < bindings.output_counts.size(); ++i) {
        if (op->signature.outputs[i].name == input.output) {
          named = index < bindings.output_counts[i];
          index += before;
          break;
        }
        before += bindings.output_counts[i];
      }
    } else {
      named = input.output == "output";
    }
    if (!named) {
      throw_at_node(user, fmt::format("'{}' names no output of node '{}'", name, input.node));
    }
  }
  const std::vector<Operand>& outputs = found->second.outputs;
  if (index >= static_cast<int64_t>(outputs.size()) || !outputs[static_cast<size_t>(index)]) {
    throw_at_node(user, fmt::format("Connecting to invalid output {} of source node {} which has "
                                    "{} outputs.",
                                    index, input.node, outputs.size()));
  }
  return outputs[static_cast<size_t>(index)];
}

Node* NodeImporter::last_node() const { return builder_.block().nodes.back(); }

void NodeImporter::import_node(const NodeDef& node) {
  if (claim_identity(node)) return;
  std::vector<Operand> inputs;
  std::vector<Node*> controls;
  bool after_data = false;
  for (const std::string& text : node.inputs) {
    if (text.starts_with('^')) {
      after_data = true;
      auto found = nodes_.find(text.substr(1));
      if (found != nodes_.end() && found->second.node) controls.push_back(found->second.node);
      continue;
    }
    if (after_data) throw_at_node(node.name, "a data input comes after a control input");
    inputs.push_back(value(text, node.name));
  }
  const OpDef* op = find_op(node.op);
  if (!op) {
    throw Error(Code::kNotFound,
                fmt::format("Op type not registered '{}' in binary running on this machine: node "
                            "'{}' of the GraphDef needs it, and there is no such op.",
                            node.op, node.name));
  }
  builder_.set_device(InternedString(node.device));
  size_t before = builder_.block().nodes.size();
  try {
    if (node.op == "If" || node.op == "StatelessIf") {
      import_if(node, inputs);
    } else if (node.op == "Case" || node.op == "StatelessCase") {
      import_case(node, inputs);
    } else if (node.op == "While" || node.op == "StatelessWhile") {
      import_while(node, inputs);
    } else if (node.op == "PartitionedCall" || node.op == "StatefulPartitionedCall") {
      import_call(node, inputs);
    } else {
      import_op(node, *op, inputs);
    }
  } catch (const Error& error) {
    builder_.set_device({});
    // The innermost node names itself.
    const std::string& message = error.detail().message;
    bool named = message.find("Node '") != std::string::npos ||
                 message.find("NodeDef") != std::string::npos ||
                 message.find("{{node") != std::string::npos;
    if (named || error.detail().foreign || error.detail().code == Code::kNotFound ||
        error.detail().code == Code::kUnimplemented) {
      throw;
    }
    throw_value_error(fmt::format("{}; NodeDef: {{{{node {}}}}}", message,
                                  prefix_.empty() ? node.name : prefix_ + "/" + node.name));
  }
  builder_.set_device({});
  ImportedNode& imported = nodes_[node.name];
  if (builder_.block().nodes.size() > before) {
    imported.node = last_node();
    imported.node->control_inputs = std::move(controls);
  }
}

void NodeImporter::import_op(const NodeDef& node, const OpDef& op,
                             const std::vector<Operand>& inputs) {
  std::vector<std::pair<std::string_view, AttributeValue>> values;
  const Signature& signature = op.signature;
  for (int i = 0; i < signature.attribute_count; ++i) {
    const AttributeSpec& spec = signature.attributes[static_cast<size_t>(i)];
    auto found = node.attributes.find(std::string(spec.name));
    if (found == node.attributes.end()) {
      if (!spec.has_default) attribute(node, std::string(spec.name));
      continue;
    }
    AttributeValue value;
    if (!convert_attribute(spec.kind, found->second, &value)) {
      throw_value_error(fmt::format(
          "AttrValue had value with type '{}' when '{}' expected for attr '{}'; NodeDef: {{{{node "
          "{}}}}}",
          kind_of(found->second), attribute_kind_name(spec.kind), spec.name, node.name));
    }
    values.emplace_back(spec.name, std::move(value));
  }
  Attributes attributes = named_attributes(op, std::move(values));
  std::vector<DType> dtypes;
  for (const Operand& input : inputs) dtypes.push_back(dtype_of(input));
  TypeBindings bindings = resolve_types(op, dtypes, attributes, Tier::kGraph);
  for (const auto& variable : bindings.variables) {
    if (signature.attribute_index(variable.name) >= 0) continue;
    const AttrValue& given = attribute(node, std::string(variable.name));
    const auto* dtype = std::get_if<DType>(&given.value);
    if (!dtype) {
      throw_value_error(fmt::format(
          "AttrValue had value with type '{}' when 'type' expected for attr '{}'; NodeDef: "
          "{{{{node {}}}}}",
          kind_of(given), variable.name, node.name));
    }
    if (*dtype != variable.dtype) {
      throw_value_error(fmt::format(
          "Inputs of attr '{}' of node {} were passed {} incompatible with expected {}; NodeDef: "
          "{{{{node {}}}}}",
          variable.name, node.name, runtime_dtype_name(variable.dtype), runtime_dtype_name(*dtype),
          node.name));
    }
  }
  std::vector<Operand> outputs;
  builder_.apply(op, inputs, attributes, outputs, node.name);
  nodes_[node.name].outputs = std::move(outputs);
}

ImportedNodes import_graph(const GraphDef& definition, GraphBuilder& builder,
                           const ImportOptions& options) {
  constexpr int kVersion = 2474;
  if (definition.min_consumer > kVersion) {
    throw_value_error(fmt::format("GraphDef min consumer version {} above current version {}",
                                  definition.min_consumer, kVersion));
  }
  ImportState state;
  for (const FunctionDef& function : definition.functions) {
    state.library.emplace(function.name, &function);
  }
  if (options.prefix.empty() && !builder.graph().body().nodes.empty()) {
    NodeNames names(builder.graph(), &builder.block());
    for (const NodeDef& node : definition.nodes) {
      if (names.is_taken(builder.block(), node.name)) {
        throw_value_error(fmt::format("Node name '{}' already exists in the Graph", node.name));
      }
    }
  }
  NodeImporter importer(state, builder, options.prefix, /*in_function=*/false);
  importer.set_input_map(options.input_map);
  importer.import(definition.nodes);
  return importer.take();
}

}  // namespace graphwright::serial
