// What passes share: replacing values, walking blocks in program order, questions about nodes.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace graphwright::passes {

// The value of a Const node, or null.
const Tensor* constant_tensor(const Value& value);
// A bool or integer scalar of a Const node. False if it is none.
bool constant_bool(const Value& value, bool* result);
bool constant_int32(const Value& value, int32_t* result);

// A node without blocks and callee that may be merged, moved and dropped.
bool is_pure_leaf(const Node& node);
// Pure, and certain to succeed (memory aside): it may run where the program would not run it.
// Shapes that are checked only when the values are there may fail.
bool cannot_fail(const Node& node);
// The node has an output that is a list or another handle: merging or moving it would share what is
// written in place.
bool gives_handles(const Node& node);

// A set of pointers in one piece of memory, for marks on all values of a graph.
class PointerSet {
 public:
  // Room for about so many without growing.
  explicit PointerSet(size_t expected);
  // True if it was not there.
  bool insert(const void* pointer);
  bool contains(const void* pointer) const { return *find(pointer) == pointer; }

 private:
  const void* const* find(const void* pointer) const;
  void grow();
  std::vector<const void*> table_;  // a power of two; null where free
  size_t count_ = 0;
};

// What values are to be replaced by. Each pass fills one on its way through the graph, in program
// order, and every use behind is rewritten.
class Replacements {
 public:
  // A value of this type may stand where the other was expected: as much is known of it.
  static bool can_replace(const Value& from, const Value& to);
  // `from` is nowhere used from now on. Both have one shape, so that dims of `from` which were
  // unknown are now known to be those of `to`.
  void set(const Value* from, Value* to);
  Value* operator()(Value* value) const { return values_.empty() ? value : follow(value); }
  void apply(std::vector<Value*>& values) const {
    if (values_.empty()) return;
    for (Value*& value : values) value = follow(value);
  }
  bool empty() const { return values_.empty(); }
  // Writes what was learned of dims into the types of all values of the graph. At the end.
  void refine_types(Graph& graph) const;

 private:
  Value* follow(Value* value) const;
  Dim follow(Dim dim) const;
  void refine(PartialShape& shape) const;
  std::unordered_map<const Value*, Value*> values_;
  std::unordered_map<Dim, Dim> dims_;
};

// Walks the nodes of a graph in program order, inner blocks at their node, and rebuilds the lists
// of nodes. Uses of replaced values are rewritten before a node is visited.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph) {}
  virtual ~Rewriter() = default;
  // Walks everything, repairs control inputs and refines types if anything was changed.
  void run();

 protected:
  // False: the node is left out; its outputs must have been replaced if anybody uses them.
  virtual bool visit(Node& node) = 0;
  // After the blocks of a node that is kept.
  virtual void leave_node(Node& /*node*/) {}
  virtual void enter_block(Block& /*block*/) {}
  virtual void leave_block(Block& /*block*/) {}

  // During a visit: puts a new node before the node visited, labelled as that one is.
  Node* make_before(Node& visited, const struct OpDef& op, std::vector<Value*> inputs,
                    Attributes attributes, std::vector<ValueType> types);
  Value* make_constant_before(Node& visited, const Tensor& tensor);
  // During a visit: moves all nodes of an inner block in front of the node visited, visiting each.
  void splice_before(Node& visited, Block& inner);
  void replace(const Value* from, Value* to) {
    replacements_.set(from, to);
    changed_ = true;
  }
  Value* current(Value* value) const { return replacements_(value); }
  void set_changed() { changed_ = true; }

  Graph& graph_;

 private:
  void walk(Block& block);
  void walk_node(Node& node);
  Replacements replacements_;
  std::vector<Node*>* emitted_ = nullptr;  // the nodes kept so far of the block being walked
  bool changed_ = false;
};

// Makes the node and its outputs part of a block, without adding it to the block's list.
void adopt_node(Node& node, Block& block);
// Drops control inputs that no longer stand before their node in its block. Order is the block's,
// so that nothing is lost.
void repair_control_inputs(Graph& graph);
// Takes the entries for which keep is false out of a list of outputs or arguments.
void remove_values(std::vector<Value*>& values, const std::vector<bool>& keep);

size_t count_nodes(const Block& block);  // those of inner blocks included

// Calls visit(block) for the body and every block below, outer ones first.
void for_each_block(Graph& graph, FunctionRef<void(Block&)> visit);

}  // namespace graphwright::passes
