#include "python/name_scope.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/graph_builder.h"
#include "ir/node_names.h"
#include "ir/thread_state.h"
#include "trace/build_context.h"

namespace graphwright {
namespace {

// One entered scope. Paths of a function being traced start anew: its graph has names of its own.
struct EnteredScope {
  const Graph* graph;  // null: eager
  std::string path;
};

std::vector<EnteredScope>& entered_scopes() {
  static thread_local std::vector<EnteredScope> scopes;
  return scopes;
}

const Graph* current_graph() { return current_context().graph().get(); }

bool is_scope_character(char c, bool first) {
  bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.';
  return plain || (!first && (c == '_' || c == '-' || c == '\\' || c == '/'));
}

bool equal_without_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

// Whether a scope or node of this name, or of one that ends in it, was made before.
bool may_be_taken(const GraphBuilder& builder, std::string_view name) {
  auto matches = [&](std::string_view base) {
    base = base.substr(base.rfind('/') + 1);  // npos + 1 is 0
    size_t length = std::min(base.size(), name.size());
    // "layer_1" may have been made of "layer".
    return equal_without_case(base.substr(0, length), name.substr(0, length));
  };
  for (const NameScope& scope : builder.graph().scopes()) {
    if (!scope.base_name.empty() && matches(scope.base_name.view())) return true;
  }
  for (const Node* node : builder.block().nodes) {
    if (node->scope == builder.scope() && matches(node->base_name.view())) return true;
  }
  return false;
}

}  // namespace

std::string current_scope_path() {
  const Graph* graph = current_graph();
  const std::vector<EnteredScope>& scopes = entered_scopes();
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (scope->graph == graph) return scope->path;
  }
  return {};
}

namespace {

void check_scope_name(std::string_view name) {
  // Inside a scope the whole path starts with a letter already.
  bool top = current_scope_path().empty();
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_scope_character(name[i], top && i == 0)) {
      throw_value_error("'" + std::string(name) +
                        "' is not a valid scope name: it must start with a letter, digit or '.', "
                        "and go on with these, '_', '-', '\\' or '/'");
    }
  }
}

}  // namespace

std::string enter_name_scope(std::string_view name) {
  const Graph* graph = current_graph();
  std::string path;
  bool absolute = name.empty() || name.back() == '/';
  if (absolute) {
    path = name;
    if (!name.empty()) name.remove_suffix(1);
    if (graph) current_context().builder().enter_absolute_scope(name);
  } else {
    if (graph) check_scope_name(name);
    path = current_scope_path() + std::string(name) + "/";
    if (graph) {
      TracingBuilder& builder = current_context().builder();
      bool taken = may_be_taken(builder, name);
      builder.enter_scope(name);
      // Names are replayed only where they are not plain to see: it takes the whole graph.
      if (taken) path = NodeNames(*graph, &builder.block()).scope_name(builder.scope()) + "/";
    }
  }
  if (!graph) current_builder().enter_scope(name);
  entered_scopes().push_back({graph, path});
  return path;
}

void leave_name_scope() {
  std::vector<EnteredScope>& scopes = entered_scopes();
  if (scopes.empty()) throw_internal("left a name scope that was not entered");
  scopes.pop_back();
  current_builder().leave_scope();
}

}  // namespace graphwright
