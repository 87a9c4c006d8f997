// Puts the bodies of called functions in place of their calls: all small ones, and larger ones that
// are called once. Names of the nodes go below the call's, as in "call/add"; locations stay.
#include <algorithm>

#include "ir/graph_copy.h"
#include "ir/opdef.h"
#include "ir/type_inference.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

constexpr uint32_t kMaxNodes = 200;  // of a function that is called more than once
constexpr uint32_t kMaxNodesCalledOnce = 2000;
constexpr size_t kMaxDepth = 16;     // of calls within inlined calls
constexpr size_t kMaxTotal = 20000;  // nodes that one graph may gain

// A callee's symbols mean nothing outside, and something else in every call: those of arguments
// are what the call passes, the others become new ones.
class Symbols {
 public:
  explicit Symbols(const Node& call) {
    const std::vector<Value*>& arguments = call.callee->callee_graph().body().arguments;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      bind(arguments[i]->shape(), call.inputs[i]->shape());
    }
  }
  // Where the meaning is known so far.
  void resolve(PartialShape& shape) const {
    for (int i = 0; i < shape.rank(); ++i) {
      auto known = dims_.find(shape.dim(i));
      if (known != dims_.end()) shape.set_dim(i, known->second);
    }
  }
  void rename(Node& node) {
    for (Value* output : node.outputs) rename(output->type.shape);
    for (const auto& block : node.blocks) {
      for (Value* argument : block->arguments) rename(argument->type.shape);
      for (Node* inner : block->nodes) rename(*inner);
    }
  }

 private:
  void bind(const PartialShape& declared, const PartialShape& given) {
    if (!declared.has_rank() || declared.rank() != given.rank()) return;
    for (int i = 0; i < declared.rank(); ++i) {
      if (!is_symbol(declared.dim(i)) || given.dim(i) == kUnknownDim) continue;
      auto [known, added] = dims_.try_emplace(declared.dim(i), given.dim(i));
      // Of two values of one unknown size, the one that says more.
      if (!added && is_known(given.dim(i))) known->second = given.dim(i);
    }
  }
  void rename(PartialShape& shape) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (!is_symbol(shape.dim(i))) continue;
      auto [known, added] = dims_.try_emplace(shape.dim(i), 0);
      if (added) known->second = new_symbol();
      shape.set_dim(i, known->second);
    }
  }
  std::unordered_map<Dim, Dim> dims_;
};

class Inliner {
 public:
  explicit Inliner(Graph& graph) : graph_(graph) {}

  void run() {
    count_calls(graph_.body());
    walk(graph_.body());
    if (replacements_.empty() && !changed_) return;
    repair_control_inputs(graph_);
    replacements_.refine_types(graph_);
  }

 private:
  void count_calls(const Block& block) {
    for (const Node* node : block.nodes) {
      if (node->callee) ++calls_[&node->callee->callee_graph()];
      for (const auto& inner : node->blocks) count_calls(*inner);
    }
  }

  void walk(Block& block) {
    std::vector<Node*> nodes = std::move(block.nodes);
    block.nodes.clear();
    for (Node* node : nodes) emit(block, *node);
    replacements_.apply(block.results);
  }

  void emit(Block& block, Node& node) {
    replacements_.apply(node.inputs);
    if (node.callee && can_inline(node)) {
      expand(block, node);
      return;
    }
    block.nodes.push_back(&node);
    for (const auto& inner : node.blocks) walk(*inner);
  }

  bool can_inline(const Node& node) {
    const Graph& callee = node.callee->callee_graph();
    if (&callee == &graph_ || !callee.frozen()) return false;
    const Block& body = callee.body();
    if (body.arguments.size() != node.inputs.size() || body.results.size() != node.outputs.size()) {
      return false;
    }
    uint32_t size = callee.node_count();
    bool once = stack_.empty() && calls_[&callee] == 1 && size <= kMaxNodesCalledOnce;
    if (size > kMaxNodes && !once) return false;
    if (stack_.size() >= kMaxDepth || total_ + size > kMaxTotal ||
        std::find(stack_.begin(), stack_.end(), &callee) != stack_.end()) {
      return false;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!Replacements::can_replace(*body.arguments[i], *node.inputs[i])) return false;
    }
    Symbols symbols(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value result;
      result.type = body.results[i]->type;
      symbols.resolve(result.type.shape);
      if (!Replacements::can_replace(*node.outputs[i], result)) return false;
    }
    return true;
  }

  void expand(Block& block, Node& node) {
    const Graph& callee = node.callee->callee_graph();
    changed_ = true;
    total_ += callee.node_count();
    ScopeId scope = node.base_name.empty()
                        ? node.scope
                        : graph_.add_scope(node.scope, node.base_name.view(), block);
    size_t start = block.nodes.size();
    std::vector<Value*> results = inline_block(callee.body(), block, node.inputs, nullptr, scope);
    std::vector<Node*> copies(block.nodes.begin() + static_cast<std::ptrdiff_t>(start),
                              block.nodes.end());
    block.nodes.resize(start);
    Symbols symbols(node);
    for (Node* copy : copies) symbols.rename(*copy);
    stack_.push_back(&callee);
    for (Node* copy : copies) emit(block, *copy);
    stack_.pop_back();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      replacements_.set(node.outputs[i], results[i]);
    }
  }

  Graph& graph_;
  Replacements replacements_;
  std::unordered_map<const Graph*, int> calls_;
  std::vector<const Graph*> stack_;
  size_t total_ = 0;
  bool changed_ = false;
};

}  // namespace

void inline_calls(Graph& graph, PassContext&) { Inliner(graph).run(); }

}  // namespace graphwright::passes
