#include "ir/functiondef.h"

#include <unordered_map>

#include "base/status.h"

namespace graphwright {
namespace {

struct Registry {
  std::unordered_map<std::string_view, const FunctionDef*> by_name;
  std::vector<const FunctionDef*> in_order;
};

Registry& registry() {
  static Registry* instance = new Registry;  // filled by static initialisers, never destroyed
  return *instance;
}

}  // namespace

void register_functions(std::span<const FunctionDef> table) {
  Registry& functions = registry();
  for (const FunctionDef& function : table) {
    std::string_view rest = function.names;
    while (!rest.empty()) {
      size_t end = rest.find(' ');
      std::string_view name = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (name.empty()) continue;
      if (!functions.by_name.emplace(name, &function).second) {
        throw_internal("function " + std::string(name) + " is registered twice");
      }
    }
    functions.in_order.push_back(&function);
  }
}

std::span<const FunctionDef* const> all_functions() {
  Registry& functions = registry();
  return functions.in_order;
}

const FunctionDef* find_function(std::string_view name) {
  Registry& functions = registry();
  auto found = functions.by_name.find(name);
  return found == functions.by_name.end() ? nullptr : found->second;
}

}  // namespace graphwright
