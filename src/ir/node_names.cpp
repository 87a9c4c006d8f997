#include "ir/node_names.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "base/status.h"
#include "ir/opdef.h"

namespace graphwright {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// A letter, digit or dot first, then also _ - / > and backslashes.
std::string valid_name(std::string_view name) {
  std::string result(name);
  for (size_t i = 0; i < result.size(); ++i) {
    char c = result[i];
    bool first =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    bool later = c == '_' || c == '-' || c == '/' || c == '>' || c == '\\';
    if (!first && !later) result[i] = '_';
  }
  if (!result.empty() && (result[0] == '_' || result[0] == '-' || result[0] == '/' ||
                          result[0] == '>' || result[0] == '\\')) {
    result.insert(0, "arg");
  }
  return result.empty() ? "unnamed" : result;
}

std::string joined(const std::string& scope, std::string_view base) {
  return scope.empty() ? std::string(base) : scope + "/" + std::string(base);
}

}  // namespace

std::string UniqueNames::take(std::string_view name) {
  std::string valid = valid_name(name);
  std::string key = lower_case(valid);
  int suffix = used_[key]++;
  if (suffix == 0) return valid;
  std::string suffixed_key;
  do {
    suffixed_key = key + "_" + std::to_string(suffix);
    ++suffix;
  } while (used_.count(suffixed_key));
  used_[suffixed_key] = 1;
  return valid + "_" + std::to_string(suffix - 1);
}

bool UniqueNames::is_taken(std::string_view name) const {
  return used_.count(lower_case(name)) > 0;
}

bool NodeNames::is_taken(const Block& function, std::string_view name) const {
  auto found = functions_.find(&function);
  return found != functions_.end() && found->second.is_taken(name);
}

NodeNames::NodeNames(const Graph& graph, const Block* unfinished) : scopes_(graph.scopes().size()) {
  replay(graph, graph.body());
  name_captures(graph);
  std::vector<const Block*> open;
  for (; unfinished && !functions_.count(unfinished); unfinished = unfinished->parent()) {
    open.push_back(unfinished);
  }
  for (auto block = open.rbegin(); block != open.rend(); ++block) {
    if (!functions_.count(*block)) replay(graph, **block);
  }
}

void NodeNames::name_captures(const Graph& graph) {
  const Block& body = graph.body();
  std::unordered_set<const Value*> nameless;
  for (const Value* argument : body.arguments) {
    if (argument->name.empty()) nameless.insert(argument);
  }
  if (nameless.empty()) return;
  UniqueNames& names = functions_[&body];
  std::unordered_map<const Value*, std::string> outer_names;
  std::unordered_map<const Graph*, std::unique_ptr<NodeNames>> graphs;
  for (const Capture& capture : graph.captures()) {
    if (!capture.outer) continue;
    const Block& block = *capture.outer->block;
    std::unique_ptr<NodeNames>& outer = graphs[block.graph];
    if (!outer) outer = std::make_unique<NodeNames>(*block.graph, &block);
    if (!outer->functions_.count(&block)) continue;  // of a branch that has ended
    std::string name = outer->value_name(*capture.outer);
    outer_names[capture.inner] = name.substr(0, name.rfind(':'));
  }
  auto give = [&](const Value* value, const Node& user) {
    if (!nameless.erase(value)) return;
    // A call enters no scope; a value of an enclosing graph brings its name along.
    std::string scope = user.callee ? scopes_[user.scope] : nodes_[&user];
    auto outer = outer_names.find(value);
    arguments_[value] = names.take(
        joined(scope, outer == outer_names.end() ? input_name(user, *value) : outer->second));
  };
  for (const Node* node : body.nodes) {
    for (const Value* input : node->inputs) give(input, *node);
    if (node->blocks.empty()) continue;
    for (const Value* value : free_values(*node)) give(value, *node);
  }
  for (const Value* argument : body.arguments) {
    if (nameless.count(argument)) arguments_[argument] = names.take("Placeholder");
  }
}

void NodeNames::take_identities(const Node& node, const std::string& name, UniqueNames& names) {
  size_t count = node.outputs.size();
  if (node.op->name == "While") {
    if (!AttributeReader(*node.op, node.attributes).boolean("output_identities")) return;
    count += 1 + free_values(node).size();
  }
  std::vector<std::string>& taken = identities_[&node];
  for (size_t i = 0; i < count; ++i) taken.push_back(names.take(joined(name, "Identity")));
}

const std::vector<std::string>& NodeNames::identities(const Node& node) const {
  static const std::vector<std::string> none;
  auto found = identities_.find(&node);
  return found == identities_.end() ? none : found->second;
}

std::string input_name(const Node& node, const Value& value) {
  if (!node.blocks.empty()) {
    std::vector<const Value*> captures = free_values(node);
    auto position = std::find(captures.begin(), captures.end(), &value) - captures.begin();
    // A loop's list starts with counter, maximum and carried values.
    if (node.op->name == "While") position += static_cast<std::ptrdiff_t>(node.inputs.size()) + 1;
    return "input_" + std::to_string(position);
  }
  auto position = static_cast<size_t>(std::find(node.inputs.begin(), node.inputs.end(), &value) -
                                      node.inputs.begin());
  const Signature& signature = node.op->signature;
  if (signature.variadic || position >= signature.input_count) {
    return "input_" + std::to_string(position);
  }
  return std::string(signature.inputs[position].name);
}

// A loop's counter and limit are arguments of its blocks, and take names there as the tensors that
// they begin with have. What the condition sees from outside is captured by the body before
// anything is done there, and takes a name in it.
void NodeNames::take_early_captures(const Block& function, UniqueNames& names) {
  const Node* loop = function.owner;
  if (!loop || loop->op->name != "While") return;
  if (const std::string& scope = scopes_[loop->scope]; !scope.empty()) {
    const Value& limit = *loop->inputs[0];
    names.take(joined(scope, joined(scope, "loop_counter")));
    names.take(joined(scope, limit.node ? nodes_[limit.node] : argument_name(limit)));
  }
  if (&function != loop->blocks[1].get()) return;
  const Block* condition[] = {loop->blocks[0].get()};
  for (const Value* value : free_values(condition)) {
    std::string origin = value->node ? nodes_[value->node] : argument_name(*value);
    if (!origin.empty()) names.take(joined(scopes_[loop->scope], origin));
  }
}

void NodeNames::replay(const Graph& graph, const Block& function) {
  struct Event {
    uint32_t before;       // the node id that came next, or the node's own
    uint32_t scope_order;  // scopes are numbered as they are entered
    int kind;              // 0 scope, 1 argument, 2 node
    ScopeId scope;
    const Value* argument;
    const Node* node;
  };
  std::vector<Event> events;
  for (ScopeId scope = 1; scope < graph.scopes().size(); ++scope) {
    const NameScope& entry = graph.scopes()[scope];
    if (entry.block == &function) {
      events.push_back({entry.entered_before, scope, 0, scope, nullptr, nullptr});
    }
  }
  if (!function.owner) {
    for (const Value* argument : function.arguments) {
      events.push_back(
          {argument->made_before, argument->scope, 1, argument->scope, argument, nullptr});
    }
  }
  for (const Node* node : function.nodes) {
    events.push_back({node->id, UINT32_MAX, 2, node->scope, nullptr, node});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& left, const Event& right) {
    if (left.before != right.before) return left.before < right.before;
    if (left.scope_order != right.scope_order) return left.scope_order < right.scope_order;
    return left.kind < right.kind;
  });
  UniqueNames& names = functions_[&function];
  take_early_captures(function, names);
  std::unordered_set<ScopeId> claimed;  // scopes whose own name a node has
  for (const Event& event : events) {
    if (event.kind == 0) {
      const NameScope& entry = graph.scopes()[event.scope];
      scopes_[event.scope] =
          entry.absolute ? std::string(entry.base_name.view())
                         : names.take(joined(scopes_[entry.parent], entry.base_name.view()));
    } else if (event.kind == 1) {
      std::string_view base = event.argument->name.view();
      if (base.empty()) continue;  // whoever needs a name for it chooses one
      arguments_[event.argument] = names.take(joined(scopes_[event.scope], base));
    } else if (event.node->base_name.empty() && event.scope != 0 &&
               !graph.scopes()[event.scope].absolute && claimed.insert(event.scope).second) {
      nodes_[event.node] = scopes_[event.scope];
    } else {
      std::string_view base = event.node->base_name.view();
      nodes_[event.node] =
          names.take(joined(scopes_[event.scope], base.empty() ? event.node->op->name : base));
    }
    if (event.kind == 2 && !event.node->blocks.empty()) {
      take_identities(*event.node, nodes_[event.node], names);
    }
  }
  for (const Node* node : function.nodes) {
    for (const auto& block : node->blocks) replay(graph, *block);
  }
}

const std::string& NodeNames::name(const Node& node) const {
  auto found = nodes_.find(&node);
  if (found == nodes_.end()) throw_internal("a name was asked for a node of another graph");
  return found->second;
}

const std::string& NodeNames::argument_name(const Value& argument) const {
  static const std::string none;
  auto found = arguments_.find(&argument);
  return found == arguments_.end() ? none : found->second;
}

std::string NodeNames::value_name(const Value& value) const {
  if (value.node && value.node->scope == kShownScope) {
    return std::string(value.node->base_name.view()) + ":" + std::to_string(value.index);
  }
  if (value.node && !value.node->blocks.empty()) {
    // A loop's output 0 is the number of iterations here and the counter there; there, the limit
    // follows.
    bool is_loop = value.node->op->name == "While";
    uint32_t index = is_loop && value.index > 0 ? value.index + 1 : value.index;
    const std::vector<std::string>& shown = identities(*value.node);
    if (index < shown.size()) return shown[index] + ":0";
    return name(*value.node) + ":" + std::to_string(index);
  }
  if (value.node) return name(*value.node) + ":" + std::to_string(value.index);
  const std::string& argument = argument_name(value);
  return (argument.empty() ? "argument" + std::to_string(value.index) : argument) + ":0";
}

}  // namespace graphwright
