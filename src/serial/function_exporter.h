// Internal to export_graph: one function of the exported library, or the graph itself.
#pragma once

#include <map>
#include <set>
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
  std::set<std::string> function_names;
  int next_number = 0;  // of control functions: while_body_0
  // Names of the nodes that values come from where no node of the graph says it: arguments, and the
  // Identity nodes behind branches.
  std::unordered_map<const Value*, std::string> origins;

  // The name itself, or with a suffix that makes it unique in the library.
  std::string take_function_name(const std::string& name);
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

class FunctionExporter {
 public:
  // `top`: the graph itself, where references are flat and arguments are Placeholders.
  FunctionExporter(ExportState& state, NodeNames& names, const Block& block, bool top)
      : state_(state), names_(names), block_(block), top_(top) {}

  // The graph itself into state.result.nodes.
  void export_top();
  // A callee's graph.
  FunctionDef export_graph_body(const std::string& name);

 private:
  // Function arguments, named from what they stand for.
  void add_argument(const Value* value, const std::string& name, const ValueType& type,
                    const std::string& user_name = {});
  std::string take_argument_name(const std::string& name);

  void emit_nodes();
  NodeDef& emit(const std::string& name, std::string op);
  void emit_plain(const Node& node);
  void emit_call(const Node& node);
  void emit_if(const Node& node);
  void emit_case(const Node& node);
  void emit_while(const Node& node);
  void emit_placeholder(const Value& argument, const Node* user);
  void emit_needed_captures(const Node& node);
  // Names of the block's results where each is an Identity node of its own that nothing else uses
  // (what a trace ends with); empty otherwise.
  std::vector<std::string> existing_identities() const;
  // Identity nodes for values, each waiting for a NoOp that waits for every effect of the block.
  // The results of a graph may have theirs already.
  std::vector<std::string> emit_results(const std::vector<std::string>& references,
                                        const std::vector<DType>& types, const std::string& scope);
  void finish_function(bool has_results);
  std::string control_function_name(const std::string& scope, const std::string& kind);
  FunctionDef branch_function(const std::string& name, const std::vector<const Value*>& inputs,
                              const std::string& scope);
  FunctionDef condition_function(const Node& node, const std::string& name,
                                 const std::vector<const Value*>& captures,
                                 const std::string& scope);
  FunctionDef body_function(const Node& node, const std::string& name,
                            const std::vector<const Value*>& captures, const std::string& scope);
  void add_loop_arguments(const Node& node, const std::string& scope);
  // What the argument for a value from outside is named after: the node that first uses it, and
  // the node that it comes from.
  std::string capture_name(const Value& value, const std::string& scope) const;
  std::string origin(const Value& value) const;
  std::string add_constant(const std::string& name, const Tensor& tensor);
  std::string render(const Reference& reference) const;
  std::string input(const Value& value) const { return render(reference(value)); }
  const Reference& reference(const Value& value) const;
  void set_outputs(const Node& node, const std::string& name);

  ExportState& state_;
  NodeNames& names_;
  const Block& block_;
  bool top_;
  FunctionDef function_;  // nodes collect here
  UniqueNames argument_names_;
  std::unordered_map<const Value*, Reference> values_;
  std::vector<std::string> must_run_;  // nodes with effects, in order
};

// Whether TensorFlow calls the node stateful, its blocks and callee included.
bool is_stateful(const Node& node);
// A node's attributes as NodeDef has them, types and counts included.
AttrMap node_attributes(const Node& node);
ListValue shape_list(const std::vector<Value*>& values);

}  // namespace graphwright::serial
