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
  bool is_taken(std::string_view name) const;

 private:
  std::unordered_map<std::string, int> used_;  // by lower-case name
};

class NodeNames {
 public:
  // The graph must not change meanwhile. `unfinished`: a block whose control node is still being
  // traced, and so is not in the graph yet.
  explicit NodeNames(const Graph& graph, const Block* unfinished = nullptr);
  const std::string& name(const Node& node) const;
  // Of an argument or capture of the graph; a capture without a name of its own is called after the
  // node that uses it first. "" for arguments of inner blocks.
  const std::string& argument_name(const Value& argument) const;
  // "while/cond"; "" for the top.
  const std::string& scope_name(ScopeId scope) const { return scopes_[scope]; }
  // "while/add:0" as TensorFlow names tensors; arguments are their Placeholder's output 0.
  std::string value_name(const Value& value) const;
  // Where the exported form has an Identity for each output of a control node (If, Case; a loop in
  // a graph built by hand: its counter, its limit, what it carries, what it sees from outside):
  // their names. Empty elsewhere.
  const std::vector<std::string>& identities(const Node& node) const;
  // Whether a node, scope or argument of that function has the name, in any case.
  bool is_taken(const Block& function, std::string_view name) const;
  // A further name in the function that the block is: for nodes that only the exported form has.
  std::string take(const Block& function, std::string_view name) {
    return functions_[&function].take(name);
  }

 private:
  void replay(const Graph& graph, const Block& function);
  void name_captures(const Graph& graph);
  void take_identities(const Node& node, const std::string& name, UniqueNames& names);
  void take_early_captures(const Block& function, UniqueNames& names);
  std::unordered_map<const Block*, UniqueNames> functions_;
  std::unordered_map<const Node*, std::string> nodes_;
  std::unordered_map<const Value*, std::string> arguments_;
  std::unordered_map<const Node*, std::vector<std::string>> identities_;
  std::vector<std::string> scopes_;
};

// The name that a value has among the node's inputs ("x"); where they are a list, or what its
// blocks see, "input_" and the position.
std::string input_name(const Node& node, const Value& value);

}  // namespace graphwright
