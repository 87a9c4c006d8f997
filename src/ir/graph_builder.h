// The builder that records: ops become nodes at the end of a graph's current block.
#pragma once

#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace graphwright {

class GraphBuilder : public Builder {
 public:
  // Appends to the graph's body. The graph must outlive the builder.
  explicit GraphBuilder(Graph& graph);
  GraphBuilder(Graph& graph, Block& block);

  void apply(const OpDef& op, std::span<const Operand> inputs, const Attributes& attributes,
             OperandVector& outputs, std::string_view name = {}) override;
  // TypeError when a carried value's dtype changes over an iteration, ValueError when its shape
  // does and no invariant allows it. What a throwing `condition` or `body` has recorded is dropped,
  // so that the caller may trace again.
  OperandVector while_loop(const WhileOptions& options, std::span<const Operand> carried,
                           BlockFunction condition, BlockFunction body) override;
  // Outputs whose dtypes differ are a TypeError; dims that differ become unknown.
  OperandVector if_else(const Operand& condition, BlockFunction then_branch,
                        BlockFunction else_branch, std::string_view name = {}) override;
  OperandVector switch_case(const Operand& index, std::span<const BlockFunction> branches,
                            std::string_view name = {}) override;
  bool is_eager() const override { return false; }
  Operand constant(const Tensor& tensor, std::string_view name = {}) override;
  void enter_scope(std::string_view name) override;
  void leave_scope() override;
  // A scope by its whole path ("" is the top), whose names go on from where they were.
  void enter_absolute_scope(std::string_view path);

  // A node for an op of which the caller has worked out everything. No inference, no observers.
  Node* add(const OpDef& op, std::vector<Value*> inputs, Attributes attributes,
            std::vector<ValueType> output_types, std::string_view name = {});
  // A call of a concrete function by PartitionedCall or StatefulPartitionedCall; inputs are its
  // arguments, then its captures.
  void call(const OpDef& op, std::shared_ptr<Callee> callee, std::span<const Operand> inputs,
            OperandVector& outputs, std::string_view name = {});

  // Drops what has been recorded in the current block since a mark: for code that must run before
  // it is known whether it becomes part of a loop. The block must be the one the mark was taken in.
  struct Mark {
    size_t scope_count;
    size_t node_count;
    int64_t random_seeds;
  };
  Mark mark() const;
  void rollback(const Mark& mark);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Block& block() { return *block_; }
  const Block& block() const { return *block_; }
  ScopeId scope() const { return scopes_.back(); }
  // Nodes made from now on get this location, instead of asking the front end; kNoLocation ends it.
  // Gradients use it to point at the line of the forward node.
  void set_location(Location location) { location_ = location; }
  InternedString device() const { return device_; }
  void set_device(InternedString device) { device_ = device; }
  // Nodes made until the scope is left wait for `nodes`, unless an input of theirs was made in the
  // scope and so waits already (tf.control_dependencies). A scope that `clears` hides those around
  // it. Nodes of blocks around the current one are waited for by the control node as a whole.
  void enter_control_scope(std::vector<Node*> nodes, bool clears = false);
  void leave_control_scope();

  // The SSA value, in the current block, of an operand of any tier. By default eager tensors become
  // Const nodes and values must be visible here: TypeError "... is out of scope and cannot be used
  // here" otherwise. Build contexts override it to capture from outside.
  virtual Value* import(const Operand& operand);

 protected:
  // Makes an Operand's own Const node.
  Value* add_constant(const Tensor& tensor, std::string_view name);

 private:
  struct ControlScope {
    std::vector<Node*> nodes;
    bool clears = false;
    std::unordered_set<const Node*> made;  // in the scope
  };

  void label(Node& node, std::string_view name);
  void add_control_inputs(Node& node);
  void add_control_input(Node& node, Node& awaited);
  void notify(Node& node, std::span<const Operand> inputs);
  void trace_block(Block& block, BlockFunction function);
  Value* scalar_condition(Value* value, std::string_view what);
  Value* iteration_limit(const Operand& limit);
  void trace_loop(Node& node, const WhileOptions& options, std::span<Value* const> carried,
                  BlockFunction condition, BlockFunction body);
  OperandVector branch(std::string_view op, std::string_view name,
                       std::span<const BlockFunction> branches, FunctionRef<Value*()> selector);
  void unify_branches(Node& node);

  Graph& graph_;
  Block* block_;
  std::vector<ScopeId> scopes_{0};
  Location location_ = kNoLocation;
  InternedString device_;
  std::vector<ControlScope> control_scopes_;
};

// How nodes find the user's line: set once by the language front end, asked for every node.
using LocationSource = Location (*)();
void set_location_source(LocationSource source);
Location current_location();  // kNoLocation without a source

}  // namespace graphwright
