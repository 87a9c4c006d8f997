// The operations of a graph as programs that inspect graphs see them: those of its GraphDef, with
// the values of the graph that their outputs are.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serial/function_exporter.h"
#include "serial/graphdef.h"

namespace graphwright::serial {

// What an operation is, whatever its name: stays the same while the graph grows.
using OperationKey = std::pair<const void*, int>;  // node or argument (null: the graph), role
inline OperationKey key_of(const ShownNode& shown) {
  const void* owner = shown.node ? static_cast<const void*>(shown.node) : shown.argument;
  return {owner, shown.role};
}

// Nodes made for outputs that no value of the graph stands for. Kept with the graph, so that such
// an output is the same value in every view.
using ShownNodes = std::map<OperationKey, Node*>;

struct ShownOperation {
  ShownNode shown;
  std::vector<Value*> outputs;
};

class GraphView {
 public:
  // Throws Error where the graph cannot be exported.
  GraphView(Graph& graph, ShownNodes& shown_nodes);
  // One per node of the definition, in order.
  const GraphDef& definition() const { return definition_; }
  const std::vector<ShownOperation>& operations() const { return operations_; }
  // Positions; -1 if there is none.
  int find(std::string_view name) const;
  int find(const OperationKey& key) const;
  // The operation of a value, and which of its outputs it is.
  std::pair<int, int> find(const Value& value) const;
  // The value that a data input ("node", "node:1") names; null for one that does not exist.
  Value* input(std::string_view name) const;

 private:
  GraphDef definition_;
  std::vector<ShownOperation> operations_;
  std::unordered_map<std::string_view, int> by_name_;
  std::map<OperationKey, int> by_key_;
  std::unordered_map<const Value*, std::pair<int, int>> by_value_;
};

}  // namespace graphwright::serial
