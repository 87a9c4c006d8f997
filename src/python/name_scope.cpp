#include "python/name_scope.h"

#include <cctype>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/builder.h"
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

void check_scope_name(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_scope_character(name[i], i == 0)) {
      throw_value_error("'" + std::string(name) +
                        "' is not a valid scope name: it must start with a letter, digit or '.', "
                        "and go on with these, '_', '-', '\\' or '/'");
    }
  }
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

std::string enter_name_scope(std::string_view name) {
  const Graph* graph = current_graph();
  std::string path;
  if (!name.empty() && name.back() == '/') {
    path = name;
    name.remove_suffix(1);
  } else if (!name.empty()) {
    if (graph) check_scope_name(name);
    path = current_scope_path() + std::string(name) + "/";
  }
  current_builder().enter_scope(name);
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
