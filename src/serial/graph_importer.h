// Internal to import_graph.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "serial/graphdef.h"
#include "serial/import_graph.h"

namespace graphwright::serial {

// Hostile definitions: functions may name each other, so that a few bytes say "a lot of nodes".
inline constexpr int kMaxFunctionDepth = 64;
inline constexpr int64_t kMaxImportedNodes = int64_t{1} << 20;

// Parts of "node:output:1", "node:1", "node", "^node".
struct InputName {
  std::string node;
  std::string output;  // in functions
  int64_t index = 0;
  bool is_control = false;
};
// False for what is no name of an input.
bool parse_input(std::string_view text, bool in_function, InputName* result);

[[noreturn]] void throw_at_node(const std::string& node, const std::string& message);

// How a While of a definition is made of a counted loop: what TensorFlow's while_loop makes, and
// what is exported here.
struct LoopForm {
  bool counted = false;              // inputs 0 and 1 are counter and limit
  size_t captures = 0;               // trailing inputs that the body gives back as they are
  std::string condition;             // the condition's own result
  std::vector<std::string> results;  // the body's, of the carried values
  std::vector<std::string> skipped_in_condition, skipped_in_body;
};

// What all functions of one import share.
struct ImportState {
  std::unordered_map<std::string, const FunctionDef*> library;
  std::unordered_map<std::string, std::shared_ptr<Callee>> callees;
  std::set<std::string> active;  // functions being imported: one that reaches itself is an error
  int depth = 0;
  int64_t node_count = 0;

  const FunctionDef& function(const std::string& name, const std::string& node) const;
};

// Adds one list of nodes: the graph's, or a function's body.
class NodeImporter {
 public:
  NodeImporter(ImportState& state, GraphBuilder& builder, std::string prefix, bool in_function)
      : state_(state), builder_(builder), prefix_(std::move(prefix)), in_function_(in_function) {}

  void set_argument(const std::string& name, Operand value) { nodes_[name].outputs = {value}; }
  void set_input_map(const std::map<std::string, Operand>& map) { input_map_ = map; }
  // Nodes of these names are not added.
  void skip(const std::string& name) { skipped_.insert(name); }
  void import(const std::vector<NodeDef>& nodes);
  // What a name ("node:output:0", or an argument's) stands for; ValueError if nothing.
  Operand value(const std::string& name, const std::string& user);
  ImportedNodes take() { return std::move(nodes_); }

 private:
  void index(const std::vector<NodeDef>& nodes);
  std::vector<const NodeDef*> sorted(const std::vector<NodeDef>& nodes) const;
  void import_node(const NodeDef& node);
  void import_op(const NodeDef& node, const OpDef& op, const std::vector<Operand>& inputs);
  void import_call(const NodeDef& node, const std::vector<Operand>& inputs);
  void import_if(const NodeDef& node, const std::vector<Operand>& inputs);
  void import_case(const NodeDef& node, const std::vector<Operand>& inputs);
  void import_while(const NodeDef& node, const std::vector<Operand>& inputs);
  LoopForm form_of_loop(const NodeDef& node) const;
  // Constants behind the counters of loops, which the loops make themselves.
  void find_counters(const std::vector<NodeDef>& nodes);
  bool claim_identity(const NodeDef& node);
  // Results of a library function on these arguments, its nodes added to the current block.
  OperandVector inline_function(const FunctionDef& function, const std::vector<Operand>& arguments);
  std::shared_ptr<Callee> callee(const std::string& name, const NodeDef& node);
  Node* last_node() const;
  const AttrValue& attribute(const NodeDef& node, const std::string& name) const;
  const std::string& function_attribute(const NodeDef& node, const std::string& name) const;

  ImportState& state_;
  GraphBuilder& builder_;
  std::string prefix_;
  bool in_function_;
  std::map<std::string, Operand> input_map_;
  std::set<std::string> skipped_;
  std::set<std::string> counters_;
  std::unordered_map<std::string, const NodeDef*> definitions_;
  ImportedNodes nodes_;
};

}  // namespace graphwright::serial
