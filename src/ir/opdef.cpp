#include "ir/opdef.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace graphwright {
namespace {

// Rows are registered by static initialisers in an unspecified order of files, so the table is made
// by its first user. All of it is there before anything else runs and never changes again, so that
// readers need no lock. It is never destroyed: kernels may still run while the process ends.
struct Registry {
  std::unordered_map<std::string_view, const OpDef*> by_name;
  std::vector<const OpDef*> in_order;
};

Registry& registry() {
  static Registry* instance = new Registry;
  return *instance;
}

}  // namespace

void register_ops(std::span<const OpDef> table) {
  Registry& ops = registry();
  for (const OpDef& op : table) {
    if (!ops.by_name.emplace(op.name, &op).second) {
      throw_internal("op " + std::string(op.name) + " is registered twice");
    }
    ops.in_order.push_back(&op);
  }
}

const OpDef* find_op(std::string_view name) {
  Registry& ops = registry();
  auto found = ops.by_name.find(name);
  return found == ops.by_name.end() ? nullptr : found->second;
}

const OpDef& get_op(std::string_view name) {
  const OpDef* op = find_op(name);
  if (!op) throw_unimplemented("there is no op named '" + std::string(name) + "'");
  return *op;
}

std::span<const OpDef* const> all_ops() {
  Registry& ops = registry();
  return ops.in_order;
}

}  // namespace graphwright
