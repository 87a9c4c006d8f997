// The graph IR: SSA values, nodes that apply ops, blocks that order nodes, graphs that own them
// all.
//
// Order is the block's order: a node's effects happen after those of the nodes before it, and
// dependence.h derives everything else (parallelism, code motion, exported control inputs) from
// that. Blocks of `if` and `while` nodes see the values of the blocks around them, so that
// invariants are not carried. A graph is built by one thread at a time; once its trace is finished
// it never changes.
//
// Control nodes:
//   While   inputs  [maximum_iterations (int32 scalar, -1: none), carried...]
//           blocks  condition: arguments [counter, carried...], results [bool scalar]
//                   body:      arguments [counter, carried...], results [carried...]
//           outputs [trip count (int32), carried...]
//           The counter is an int32 scalar that counts from 0; both blocks may ignore it.
//   If      inputs  [condition (bool scalar)]
//           blocks  then, else: no arguments, results = outputs
//   Case    inputs  [index (int32 scalar)]
//           blocks  n of them: no arguments, results = outputs; an index outside [0, n) means the
//                   last block
//   Call    inputs  the callee's arguments, then its captures
// Further results may be appended to both blocks of an If, and further carried values to a While:
// gradients save what they need that way.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/interned_string.h"
#include "base/location.h"
#include "ir/attribute.h"
#include "ir/value_type.h"

namespace graphwright {

struct Block;
struct Node;
struct OpDef;
class Graph;

// A name scope of a graph, by its index in Graph::scopes; 0 is the top.
using ScopeId = uint32_t;
// The scope of nodes that only the exported form has (Graph::show_node); their base name is their
// whole name.
inline constexpr ScopeId kShownScope = UINT32_MAX;

// Every entry into a scope is one of these: entering "layer" twice gives layer/ and layer_1/ when
// names are replayed (node_names.h). A scope entered around a control node's blocks is shared by
// them: nodes of a loop's body are named while/add.
struct NameScope {
  ScopeId parent = 0;
  InternedString base_name;
  // Where it was entered: the block, and the id that the next node got. The replay takes the name
  // at that moment.
  Block* block = nullptr;
  uint32_t entered_before = 0;
  // The base name is the whole path: a scope that was entered before, or the top ("").
  bool absolute = false;
};

struct Value {
  ValueType type;
  Node* node = nullptr;    // the node this is an output of, or null for a block argument
  Block* block = nullptr;  // the block that defines it, as an argument or by a node in it
  uint32_t index = 0;      // among the outputs or arguments
  // Of a graph's arguments and captures: base name ("x"; "" if none), the scope it was made in, and
  // the id that the next node got.
  InternedString name;
  ScopeId scope = 0;
  uint32_t made_before = 0;
  // The front end's object that shows the value, while there is one: the same value is shown by the
  // same object.
  void* front_end = nullptr;
  DType dtype() const { return type.dtype; }
  const PartialShape& shape() const { return type.shape; }
};

// The derivative of what a Call node calls, with respect to every input that can have one.
struct CalleeDerivative {
  std::shared_ptr<class Callee> forward;  // the callee's results, then `saved_count` values
  std::shared_ptr<class Callee>
      backward;  // takes gradients of `result_indices`, then the saved values
  int saved_count = 0;
  std::vector<int> result_indices;    // of the callee's results: those that a gradient is taken of
  std::vector<int> argument_indices;  // of its inputs: those that backward's results belong to
  // For each of these: its gradient is IndexedSlices, three results (values, indices, dense shape).
  std::vector<bool> is_sparse;
};

// The callee with tangents: takes its inputs, then one tangent per input that has one; returns its
// results, then one tangent for each of `tangent_results`.
struct CalleeTangent {
  std::shared_ptr<class Callee> callee;
  std::vector<int> tangent_results;
};

// What a Call node calls: a concrete function, which lives in a layer above.
class Callee {
 public:
  virtual ~Callee() = default;
  virtual std::string_view callee_name() const = 0;
  virtual const Graph& callee_graph() const = 0;
  // `reached[i]`: a gradient of result i is given; empty: of every result that can have one.
  virtual CalleeDerivative callee_derivative(const std::vector<bool>& reached) = 0;
  virtual CalleeTangent callee_tangent(const std::vector<bool>& has_tangent) = 0;
  // Applies it to inputs of the builder's tier: eager ones run it, values get a Call node. Results
  // are appended.
  virtual void call_with(class Builder& builder, std::span<const class Operand> inputs,
                         std::vector<class Operand>& results) = 0;
};

struct Node {
  const OpDef* op = nullptr;
  Attributes attributes;
  std::vector<Value*> inputs;
  std::vector<Value*> outputs;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Node*> control_inputs;  // asked for by the program; order already implies effects
  std::shared_ptr<Callee> callee;
  Block* block = nullptr;  // the block it stands in, or will when its own blocks are complete
  ScopeId scope = 0;       // name scope when made
  InternedString
      base_name;  // "add", made unique on demand (node_names.h); "" = the scope's own name
  InternedString device;
  Location location = kNoLocation;
  uint32_t id = 0;  // creation order within the graph
};

struct Block {
  Graph* graph = nullptr;
  Node* owner = nullptr;  // null for a graph's body
  std::vector<Value*> arguments;
  std::vector<Node*> nodes;
  std::vector<Value*> results;
  int64_t random_seeds = 0;  // given so far to random ops without a seed of their own
  Block* parent() const { return owner ? owner->block : nullptr; }
  // This block or one around it defines the value.
  bool sees(const Value& value) const;
};

// One input that the body takes beyond the declared arguments: a value from outside.
struct Capture {
  Tensor tensor;           // an eager tensor or a resource handle; null if from an outer graph
  Value* outer = nullptr;  // a value of an enclosing graph
  Value* inner = nullptr;  // the argument of the body that stands for it
};

class Graph : public std::enable_shared_from_this<Graph> {
 public:
  explicit Graph(std::string name);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  Block& body() { return *body_; }
  const Block& body() const { return *body_; }
  // The first `argument_count` body arguments are declared, the rest captures in order.
  std::vector<Capture>& captures() { return captures_; }
  const std::vector<Capture>& captures() const { return captures_; }

  // Appends to the block; the caller sets what the signature does not imply. Outputs get the types.
  Node* add_node(Block& block, const OpDef& op, std::vector<Value*> inputs, Attributes attributes,
                 std::vector<ValueType> output_types);
  // The same without appending: control nodes are appended when their blocks are complete, so that
  // a trace that fails half way leaves nothing behind in `block`.
  Node* make_node(Block& block, const OpDef& op, std::vector<Value*> inputs, Attributes attributes,
                  std::vector<ValueType> output_types);
  void append_node(Node& node);  // to node.block
  // At a position of the block, which it enters.
  Node* insert_node(Block& block, size_t position, const OpDef& op, std::vector<Value*> inputs,
                    Attributes attributes, std::vector<ValueType> output_types);
  Value* add_argument(Block& block, ValueType type, std::string_view name = {});
  Value* add_output(Node& node, ValueType type);
  Block* add_block(Node& node);
  // A node that stands in no block: what the exported form shows, but the IR has no need of (a
  // loop's counter, the value of a branch before its Identity). Also for frozen graphs. Nothing may
  // take its outputs as inputs.
  Node* show_node(const OpDef& op, std::string_view name, std::vector<ValueType> output_types);
  // Takes the nodes for which `dead` holds out of the block; their outputs must be unused.
  void remove_nodes(Block& block, FunctionRef<bool(const Node&)> dead);

  // The table of scopes; [0] is the top.
  const std::vector<NameScope>& scopes() const { return scopes_; }
  ScopeId add_scope(ScopeId parent, std::string_view base_name, Block& block,
                    bool absolute = false);
  // Forgets the scopes from `count` on: those of a trace that failed.
  void truncate_scopes(size_t count);

  // For copies and parsers, which make nodes in another order than they were made in: the scopes,
  // and what node_count() says from now on (at least what it says now).
  void restore_numbering(std::vector<NameScope> scopes, uint32_t node_count);

  // One more than the largest node id. Ids of nodes of failed traces are not used again.
  uint32_t node_count() const { return next_id_; }
  // The graph finished: nothing may be added any more (Internal if something is).
  void freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }
  bool out_of_scope() const { return frozen_; }
  // Built by hand (tf.Graph), not traced: loops show an Identity for each of their outputs.
  void set_built_by_hand() { built_by_hand_ = true; }
  bool built_by_hand() const { return built_by_hand_; }
  // What a layer above keeps with the graph, and dies with it; must not keep the graph alive.
  std::shared_ptr<void>& companion() { return companion_; }

 private:
  void require_mutable() const;
  std::string name_;
  std::unique_ptr<Block> body_;
  std::vector<Capture> captures_;
  std::vector<std::unique_ptr<Node>> nodes_;    // owns every node, those of inner blocks included
  std::vector<std::unique_ptr<Value>> values_;  // and every value
  std::vector<NameScope> scopes_;
  uint32_t next_id_ = 0;
  bool frozen_ = false;
  bool built_by_hand_ = false;
  std::shared_ptr<void> companion_;
};

// Values that the nodes and results of the blocks use but do not define, in the order in which
// TensorFlow would capture them: by first use, but what an inner control node captures comes with
// eager tensors first.
std::vector<const Value*> free_values(std::span<const Block* const> blocks);
std::vector<const Value*> free_values(const Node& node);  // of all the node's blocks together
// The value stands for an eager tensor or a resource from outside of its graph.
bool is_tensor_capture(const Value& value);

// A deep copy of nodes, blocks and values. `value_map`, if given, receives old -> new for every
// value.
class ValueMap;  // graph_copy.h
std::shared_ptr<Graph> copy_graph(const Graph& graph, ValueMap* value_map = nullptr);

// Versioned text, parsed back equal by parse_graph (text.h).
std::string graph_to_text(const Graph& graph);

// Runs the table of rules; Internal naming the first broken rule and its node.
void verify_graph(const Graph& graph);

}  // namespace graphwright
