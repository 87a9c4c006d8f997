// Internal to export_graph: one function of the exported library, or the graph itself.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/dependence.h"
#include "ir/graph.h"
#include "ir/node_names.h"
#include "serial/graphdef.h"

namespace graphwright::serial {

// What all functions of one export share.
struct ExportState {
  GraphDef result;
  EffectAnalysis analysis;
  std::unordered_map<const Graph*, std::string> callees;  // exported, or being exported
  // Names of the nodes that values come from where no node of the graph says it: arguments, and the
  // Identity nodes behind branches.
  std::unordered_map<const Value*, std::string> origins;

  // The library's name of a callee, exporting it on first use.
  const std::string& export_callee(const Callee& callee);
};

// Where a value is found among the nodes written.
struct Reference {
  std::string node;    // node, or function argument
  std::string output;  // output argument of the node's op; "" for function arguments
  int64_t index = 0;   // within that output argument
  int64_t flat = 0;    // over all outputs
};

// What a written node shows: a node of the graph (role 0), or what only the exported form has of
// it; an argument; or a result.
struct ShownNode {
  enum Role : int {
    kItself = 0,
    kCounter = 1,        // of a loop
    kFirstIdentity = 2,  // of a control node's output, or a result; then one more for each
    kNoOp = 1,           // of the graph (neither node nor argument)
  };
  const Node* node = nullptr;
  const Value* argument = nullptr;
  int role = kItself;
};

class FunctionExporter {
 public:
  // `top`: the graph itself, where references are flat and arguments are Placeholders.
  FunctionExporter(ExportState& state, NodeNames& names, const Block& block, bool top)
      : state_(state), names_(names), block_(block), top_(top) {}

  // The graph itself into state.result.nodes.
  void export_top();
  // A callee's graph.
  FunctionDef export_graph_body(const std::string& name);
  // Of each node that export_top has written, in order, what it shows.
  const std::vector<ShownNode>& shown() const { return shown_; }

 private:
  // Function arguments, named from what they stand for.
  void add_argument(const Value* value, const std::string& name, const ValueType& type,
                    const std::string& user_name = {});
  std::string take_argument_name(const std::string& name);

  void emit_nodes();
  NodeDef& emit(const std::string& name, std::string op, ShownNode shown = {});
  // One Identity for each output of a control node, where TensorFlow has them.
  void emit_identities(const Node& node, const std::vector<DType>& types);
  void emit_plain(const Node& node);
  void emit_call(const Node& node);
  void emit_if(const Node& node);
  void emit_case(const Node& node);
  void emit_while(const Node& node);
  void emit_placeholder(const Value& argument);
  // Operands are converted in order: a captured handle comes before a constant made for a later
  // input of the same op, the first node after `position` that is no constant.
  void emit_handles_before(const Node& constant, size_t position);
  void emit_needed_captures(const Node& node, bool with_blocks = false);
  // Names of the block's results where each is an Identity node of its own that nothing else uses
  // (what a trace ends with); empty otherwise.
  std::vector<std::string> existing_identities() const;
  // Identity nodes for values, each waiting for a NoOp that waits for every effect of the block.
  // The results of a graph may have theirs already.
  std::vector<std::string> emit_results(const std::vector<std::string>& references,
                                        const std::vector<DType>& types, const std::string& scope);
  void finish_function(bool has_results);
  FunctionDef branch_function(const std::string& name, const std::vector<const Value*>& inputs,
                              const std::string& scope);
  FunctionDef condition_function(const Node& node, const std::string& name,
                                 const std::vector<const Value*>& captures,
                                 const std::string& scope, const std::string& counter_name);
  FunctionDef body_function(const Node& node, const std::string& name,
                            const std::vector<const Value*>& captures, const std::string& scope,
                            const std::string& counter_name);
  void add_loop_arguments(const Node& node, const std::string& scope,
                          const std::string& counter_name);
  // What the argument for a value from outside is named after: the node that first uses it, and
  // the node that it comes from.
  std::string capture_name(const Value& value, const std::string& scope) const;
  std::string origin(const Value& value) const;
  std::string add_constant(const std::string& name, const Tensor& tensor, ShownNode shown = {});
  std::string render(const Reference& reference) const;
  std::string input(const Value& value) const { return render(reference(value)); }
  const Reference& reference(const Value& value) const;
  void set_outputs(const Node& node, const std::string& name);

  ExportState& state_;
  NodeNames& names_;
  const Block& block_;
  bool top_;
  FunctionDef function_;  // nodes collect here
  std::vector<ShownNode> shown_;
  UniqueNames argument_names_;
  std::unordered_map<const Value*, Reference> values_;
  std::vector<std::string> must_run_;  // nodes with effects, in order
};

struct ExportedGraph {
  GraphDef definition;
  std::vector<ShownNode> origins;  // of its nodes
};
ExportedGraph export_with_origins(const Graph& graph);
// The graph as a function of a library, by its own name; functions that it calls are not included.
FunctionDef export_function(const Graph& graph);

// Whether TensorFlow calls the node stateful, its blocks and callee included.
bool is_stateful(const Node& node);
// An attribute's value as a message has it.
AttrValue attribute_message(const AttributeValue& value);
// A node's attributes as NodeDef has them, types and counts included.
AttrMap node_attributes(const Node& node);
ListValue shape_list(const std::vector<Value*>& values);

}  // namespace graphwright::serial
