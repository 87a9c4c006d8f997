// Unique node names as TensorFlow gives them, worked out on demand from what nodes and scopes
// remember: tracing pays nothing for names that nobody asks for.
//
// A name is scope/base, with _1, _2... where it is taken already, compared without regard to case.
// Entering a scope takes a name as a node does. Each function has names of its own: the graph's
// body is one, and so is every branch and every loop's condition and body; names inside them start
// with the name of the control node's scope, as while/add.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace graphwright {

// Hands out names that are unique within one function.
class UniqueNames {
 public:
  // The name itself, or with the first free suffix. Characters that node names must not have become
  // underscores.
  std::string take(std::string_view name);

 private:
  std::unordered_map<std::string, int> used_;  // by lower-case name
};

class NodeNames {
 public:
  // The graph must not change meanwhile.
  explicit NodeNames(const Graph& graph);
  const std::string& name(const Node& node) const;
  // Of an argument or capture of the graph that has a name; "" for others.
  const std::string& argument_name(const Value& argument) const;
  // "while/cond"; "" for the top.
  const std::string& scope_name(ScopeId scope) const { return scopes_[scope]; }
  // "while/add:0" as TensorFlow names tensors; arguments are their Placeholder's output 0.
  std::string value_name(const Value& value) const;
  // A further name in the function that the block is: for nodes that only the exported form has.
  std::string take(const Block& function, std::string_view name) {
    return functions_[&function].take(name);
  }

 private:
  void replay(const Graph& graph, const Block& function);
  void take_early_captures(const Block& function, UniqueNames& names);
  std::unordered_map<const Block*, UniqueNames> functions_;
  std::unordered_map<const Node*, std::string> nodes_;
  std::unordered_map<const Value*, std::string> arguments_;
  std::vector<std::string> scopes_;
};

}  // namespace graphwright
