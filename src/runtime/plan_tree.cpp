#include "runtime/plan_tree.h"

#include <algorithm>
#include <unordered_map>

#include "ir/opdef.h"
#include "runtime/row_slices.h"
#include "runtime/size_analysis.h"

namespace graphwright::runtime {
namespace {

// Calls of graphs up to this size become part of the caller: no frame, no copies of arguments.
constexpr uint32_t kInlineNodeLimit = 200;
constexpr size_t kInlineDepthLimit = 16;
// What one plan may grow to by inlining.
constexpr size_t kInlineTotalLimit = 20000;

bool block_has_effects(const Block& block) {
  return std::any_of(block.nodes.begin(), block.nodes.end(),
                     [](const Node* node) { return has_effects(*node); });
}

const AttributeValue* const_value(const Node& node) {
  int index = node.op->signature.attribute_index("value");
  return index >= 0 && node.attributes.has(index) ? &node.attributes.raw(index) : nullptr;
}

}  // namespace

bool has_effects(const Node& node) {
  // A call decides by what it calls: the op's row cannot know. Recursion is cut where the callee
  // is not finished, or nests too deeply to look through.
  thread_local int depth = 0;
  if (node.callee) {
    if (depth >= 32) return true;
    ++depth;
    bool result = block_has_effects(node.callee->callee_graph().body());
    --depth;
    return result;
  }
  if (node.op->compute.kind != ComputeKind::kControl &&
      (node.op->has(kStateful) || node.op->effects.any())) {
    return true;
  }
  return std::any_of(node.blocks.begin(), node.blocks.end(),
                     [](const auto& block) { return block_has_effects(*block); });
}

// Copies a graph's blocks into the tree.
class PlanTree::Builder {
 public:
  explicit Builder(PlanTree& tree) : tree_(tree) {}

  void build(const Graph& graph) {
    tree_.root_ = std::make_unique<TreeBlock>();
    Scope scope;
    for (const Value* argument : graph.body().arguments) {
      ValueId id = new_value(argument->type, nullptr, nullptr);
      tree_.value(id).argument = static_cast<int32_t>(tree_.arguments_.size());
      tree_.arguments_.push_back(id);
      scope[argument] = id;
      note_symbols(argument->type, id, 0);
    }
    fill(*tree_.root_, graph.body(), scope);
  }

 private:
  // Values of one graph; an inlined callee has its own, so that it may be inlined twice.
  using Scope = std::unordered_map<const Value*, ValueId>;

  ValueId new_value(const ValueType& type, TreeNode* definition, TreeBlock* block) {
    TreeValue value;
    value.dtype = type.dtype;
    value.type = &type;
    value.definition = definition;
    value.block = block;
    tree_.values_.push_back(std::move(value));
    return static_cast<ValueId>(tree_.values_.size() - 1);
  }

  void note_symbols(const ValueType& type, ValueId id, int32_t scope) {
    if (!type.shape.has_rank()) return;
    for (int i = 0; i < type.shape.rank(); ++i) {
      const Dim dim = type.shape.dim(i);
      if (is_symbol(dim)) {
        tree_.symbol_sources_.emplace(std::pair(scope, dim), std::pair(id, static_cast<size_t>(i)));
      }
    }
  }

  static ValueId find(const Scope& scope, const Value* value, const Node* user) {
    auto found = scope.find(value);
    if (found != scope.end()) return found->second;
    throw_internal("A value is used before its definition" +
                   (user ? " by a node of op " + std::string(user->op->name) : std::string()) +
                   ".");
  }

  TreeNode* add_node(TreeBlock& block, NodeKind kind, const Node& node) {
    if (++total_ > kInlineTotalLimit && !inline_stack_.empty()) {
      throw_internal("A plan became too large by inlining calls.");
    }
    auto owned = std::make_unique<TreeNode>();
    owned->kind = kind;
    owned->node = &node;
    owned->block = &block;
    owned->has_effect = has_effects(node);
    owned->scope = scope_;
    block.nodes.push_back(std::move(owned));
    return block.nodes.back().get();
  }

  void fill(TreeBlock& block, const Block& source, Scope& scope) {
    for (const Node* node : source.nodes) add(block, *node, scope);
    for (const Value* result : source.results) {
      block.results.push_back(find(scope, result, nullptr));
    }
  }

  void add(TreeBlock& block, const Node& node, Scope& scope) {
    if (node.op->name == "Const") {
      const AttributeValue* attribute = const_value(node);
      const Tensor* tensor = attribute ? std::get_if<Tensor>(attribute) : nullptr;
      if (!tensor || !*tensor) throw_internal("A Const node lacks its value.");
      ValueId id = new_value(node.outputs.at(0)->type, nullptr, nullptr);
      tree_.value(id).constant = *tensor;
      scope[node.outputs.at(0)] = id;
      return;
    }
    if (node.op->name == "Identity") {
      scope[node.outputs.at(0)] = find(scope, node.inputs.at(0), &node);
      return;
    }
    if (node.callee && can_inline(*node.callee)) {
      inline_call(block, node, scope);
    } else if (node.callee) {
      tree_.callees_.push_back(node.callee);
      add_op(block, NodeKind::kCall, node, scope);
    } else if (node.blocks.empty()) {
      add_op(block, NodeKind::kOp, node, scope);
    } else if (node.op->name == "While" || node.op->name == "StatelessWhile") {
      add_while(block, node, scope);
    } else if (node.op->name == "If" || node.op->name == "StatelessIf") {
      add_branches(block, NodeKind::kIf, node, scope);
    } else if (node.op->name == "Case" || node.op->name == "StatelessCase") {
      add_branches(block, NodeKind::kCase, node, scope);
    } else {
      throw_unimplemented("Plans cannot run the op " + std::string(node.op->name) +
                          ", which owns blocks.");
    }
  }

  void add_outputs(TreeNode& tree_node, const Node& node, Scope& scope) {
    for (const Value* output : node.outputs) {
      ValueId id = new_value(output->type, &tree_node, tree_node.block);
      tree_node.outputs.push_back(id);
      scope[output] = id;
      note_symbols(output->type, id, scope_);
    }
  }

  TreeNode* add_op(TreeBlock& block, NodeKind kind, const Node& node, Scope& scope) {
    TreeNode* tree_node = add_node(block, kind, node);
    for (const Value* input : node.inputs) tree_node->inputs.push_back(find(scope, input, &node));
    add_outputs(*tree_node, node, scope);
    return tree_node;
  }

  bool can_inline(const Callee& callee) const {
    const Graph& graph = callee.callee_graph();
    return graph.node_count() <= kInlineNodeLimit && inline_stack_.size() < kInlineDepthLimit &&
           total_ + graph.node_count() <= kInlineTotalLimit &&
           std::find(inline_stack_.begin(), inline_stack_.end(), &graph) == inline_stack_.end();
  }

  void inline_call(TreeBlock& block, const Node& node, Scope& scope) {
    tree_.callees_.push_back(node.callee);
    const Graph& graph = node.callee->callee_graph();
    const Block& body = graph.body();
    if (body.arguments.size() != node.inputs.size() || body.results.size() < node.outputs.size()) {
      throw_internal("A call of " + std::string(node.callee->callee_name()) +
                     " does not fit its callee.");
    }
    Scope inner;
    const int32_t outer_scope = scope_;
    scope_ = ++scope_count_;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = inner[body.arguments[i]] = find(scope, node.inputs[i], &node);
      note_symbols(body.arguments[i]->type, id, scope_);
    }
    inline_stack_.push_back(&graph);
    for (const Node* inner_node : body.nodes) add(block, *inner_node, inner);
    inline_stack_.pop_back();
    scope_ = outer_scope;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      scope[node.outputs[i]] = find(inner, body.results[i], &node);
    }
  }

  void add_branches(TreeBlock& block, NodeKind kind, const Node& node, Scope& scope) {
    TreeNode* tree_node = add_op(block, kind, node, scope);
    for (const auto& branch : node.blocks) {
      auto tree_block = std::make_unique<TreeBlock>();
      tree_block->owner = tree_node;
      fill(*tree_block, *branch, scope);
      if (tree_block->results.size() != node.outputs.size()) {
        throw_internal("A branch gives another number of results than its node has outputs.");
      }
      tree_node->blocks.push_back(std::move(tree_block));
    }
  }

  void add_while(TreeBlock& block, const Node& node, Scope& scope) {
    if (node.blocks.size() != 2 || node.inputs.size() != node.outputs.size() ||
        node.blocks[0]->arguments.size() != node.outputs.size() ||
        node.blocks[1]->arguments.size() != node.outputs.size() ||
        node.blocks[1]->results.size() + 1 != node.outputs.size() ||
        node.blocks[0]->results.size() != 1) {
      throw_internal("A While node's inputs, outputs and blocks do not agree.");
    }
    TreeNode* tree_node = add_op(block, NodeKind::kWhile, node, scope);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      tree_.value(tree_node->outputs[i]).is_loop_variable = true;
      for (const auto& part : node.blocks) {
        note_symbols(part->arguments[i]->type, tree_node->outputs[i], scope_);
        scope[part->arguments[i]] = tree_node->outputs[i];
      }
    }
    for (const auto& part : node.blocks) {
      auto tree_block = std::make_unique<TreeBlock>();
      tree_block->owner = tree_node;
      fill(*tree_block, *part, scope);
      tree_node->blocks.push_back(std::move(tree_block));
    }
  }

  PlanTree& tree_;
  std::vector<const Graph*> inline_stack_;
  size_t total_ = 0;
  int32_t scope_ = 0, scope_count_ = 0;
};

PlanTree::PlanTree(const Graph& graph, bool sized) {
  Builder(*this).build(graph);
  SizeAnalysis sizes(*this, sized);
  sizes.run();
  detach_prologue_values();
  find_row_slices(*this);
  mark_needed();
  prologue_ = sizes.prologue();
  number(*root_);
  collect_uses(*root_);
}

// What the prologue computes is there before the program starts.
void PlanTree::detach_prologue_values() {
  for (TreeValue& value : values_) {
    if (value.prologue_value < 0) continue;
    value.definition = nullptr;
    value.block = nullptr;
  }
}

bool PlanTree::mark(ValueId id) {
  if (value(id).needed) return false;
  value(id).needed = true;
  return true;
}

void PlanTree::mark_needed() {
  for (ValueId result : root_->results) mark(result);
  mark_block(*root_);
}

// Marks what the block's effects and needed values need; true if anything was new.
bool PlanTree::mark_block(TreeBlock& block) {
  bool changed = false;
  for (auto it = block.nodes.rbegin(); it != block.nodes.rend(); ++it) {
    TreeNode& node = **it;
    bool needed =
        node.has_effect || std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
          return value(id).needed && value(id).prologue_value < 0;
        });
    if (!needed) continue;
    if (!node.needed) changed = node.needed = true;
    switch (node.kind) {
      case NodeKind::kOp:
      case NodeKind::kCall:
        break;
      case NodeKind::kIf:
      case NodeKind::kCase:
        for (auto& branch : node.blocks) {
          for (size_t i = 0; i < node.outputs.size(); ++i) {
            if (value(node.outputs[i]).needed) changed |= mark(branch->results[i]);
          }
          changed |= mark_block(*branch);
        }
        break;
      case NodeKind::kWhile: {
        const TreeValue& limit = value(node.inputs[0]);
        bool unlimited = limit.constant && limit.constant.dtype() == DType::kInt32 &&
                         limit.element_count == 1 && *limit.constant.data<int32_t>() < 0;
        if (!unlimited) {
          changed |= mark(node.inputs[0]);
          changed |= mark(node.outputs[0]);
        }
        changed |= mark(node.blocks[0]->results[0]);
        // What the next iteration needs, this one must make.
        for (bool again = true; again;) {
          again = false;
          for (size_t i = 1; i < node.outputs.size(); ++i) {
            if (value(node.outputs[i]).needed) again |= mark(node.blocks[1]->results[i - 1]);
          }
          again |= mark_block(*node.blocks[0]);
          again |= mark_block(*node.blocks[1]);
          changed |= again;
        }
        for (size_t i = 1; i < node.outputs.size(); ++i) {
          if (value(node.outputs[i]).needed) changed |= mark(node.inputs[i]);
        }
        break;
      }
    }
    if (node.kind != NodeKind::kWhile) {
      for (ValueId input : node.inputs) changed |= mark(input);
    }
  }
  return changed;
}

// Drops what is not needed, and numbers the rest.
void PlanTree::number(TreeBlock& block) {
  std::erase_if(block.nodes, [](const auto& node) { return !node->needed; });
  block.begin = next_position_++;
  for (auto& owned : block.nodes) {
    TreeNode& node = *owned;
    if (node.kind == NodeKind::kWhile) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (value(i == 0 ? node.inputs[0] : node.outputs[i]).needed) continue;
        node.inputs[i] = kNoValue;
        if (i > 0) node.blocks[1]->results[i - 1] = kNoValue;
      }
      // A needed constant -1 elsewhere does not make a limit of it.
      if (node.inputs[0] != kNoValue && !value(node.outputs[0]).needed) node.inputs[0] = kNoValue;
    } else if (node.kind == NodeKind::kIf || node.kind == NodeKind::kCase) {
      for (auto& branch : node.blocks) {
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          if (!value(node.outputs[i]).needed) branch->results[i] = kNoValue;
        }
      }
    }
    node.position = next_position_++;
    for (auto& inner : node.blocks) number(*inner);
    node.end_position = node.blocks.empty() ? node.position : next_position_++;
  }
  block.end = next_position_++;
}

void PlanTree::add_use(ValueId id, TreeNode* node, TreeBlock* block, int32_t position,
                       size_t index) {
  if (id != kNoValue) {
    value(id).uses.push_back({node, block, position, static_cast<int32_t>(index)});
  }
}

void PlanTree::collect_uses(TreeBlock& block) {
  for (auto& node : block.nodes) {
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      add_use(node->inputs[i], node.get(), &block, node->position, i);
    }
    for (auto& inner : node->blocks) collect_uses(*inner);
    if (node->kind == NodeKind::kWhile) {
      // Every test looks at the limit.
      TreeBlock& body = *node->blocks[1];
      add_use(node->inputs[0], node.get(), &body, body.end, 0);
    }
  }
  for (size_t i = 0; i < block.results.size(); ++i) {
    add_use(block.results[i], nullptr, &block, block.end, i);
  }
}

bool PlanTree::may_follow(const TreeBlock* earlier_block, int32_t earlier, const Use& later) {
  if (later.position <= earlier) return false;
  for (const TreeBlock* block = earlier_block; block && block->owner; block = block->parent()) {
    const TreeNode& owner = *block->owner;
    if (owner.kind == NodeKind::kWhile) continue;
    bool inside_owner = later.position > owner.position && later.position < owner.end_position;
    bool same_branch = later.position > block->begin && later.position <= block->end;
    if (inside_owner && !same_branch) return false;
  }
  return true;
}

bool PlanTree::is_last_use(ValueId id, const Use& use) const {
  const TreeValue& candidate = value(id);
  if (candidate.is_external()) return false;
  bool in_own_body = false;
  for (const TreeBlock* block = use.block; block != candidate.block; block = block->parent()) {
    if (block->owner->kind != NodeKind::kWhile) continue;
    if (!candidate.is_loop_variable || block->owner != candidate.definition) return false;
    in_own_body = block == block->owner->blocks[1].get();
  }
  return std::none_of(candidate.uses.begin(), candidate.uses.end(), [&](const Use& other) {
    // After the body, the variable holds the next iteration's value.
    if (in_own_body && other.position > candidate.definition->end_position) return false;
    return may_follow(use.block, use.position, other);
  });
}

int32_t PlanTree::start_of_life(ValueId id) const { return value(id).definition->position; }

int32_t PlanTree::end_of_life(ValueId id) const {
  const TreeValue& candidate = value(id);
  int32_t end = candidate.definition->end_position;
  for (const Use& use : candidate.uses) {
    end = std::max(end, use.position);
    for (const TreeBlock* block = use.block; block != candidate.block; block = block->parent()) {
      if (block->owner->kind == NodeKind::kWhile) end = std::max(end, block->owner->end_position);
    }
  }
  return end;
}

}  // namespace graphwright::runtime
