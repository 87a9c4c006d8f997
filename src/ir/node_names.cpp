#include "ir/node_names.h"

#include <algorithm>
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

NodeNames::NodeNames(const Graph& graph) : scopes_(graph.scopes().size()) {
  replay(graph, graph.body());
}

// What a loop's condition sees from outside is captured by the body before anything is done there,
// and takes a name in it.
void NodeNames::take_early_captures(const Block& function, UniqueNames& names) {
  const Node* loop = function.owner;
  if (!loop || loop->op->name != "While" || &function != loop->blocks[1].get()) return;
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
      scopes_[event.scope] = names.take(joined(scopes_[entry.parent], entry.base_name.view()));
    } else if (event.kind == 1) {
      std::string_view base = event.argument->name.view();
      if (base.empty()) continue;  // whoever needs a name for it chooses one
      arguments_[event.argument] = names.take(joined(scopes_[event.scope], base));
    } else if (event.node->base_name.empty() && event.scope != 0 &&
               claimed.insert(event.scope).second) {
      nodes_[event.node] = scopes_[event.scope];
    } else {
      std::string_view base = event.node->base_name.view();
      nodes_[event.node] =
          names.take(joined(scopes_[event.scope], base.empty() ? event.node->op->name : base));
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
  if (value.node) return name(*value.node) + ":" + std::to_string(value.index);
  const std::string& argument = argument_name(value);
  return (argument.empty() ? "argument" + std::to_string(value.index) : argument) + ":0";
}

}  // namespace graphwright
