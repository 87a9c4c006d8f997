// Learns sizes: runs the shape rules again on what is known by now, and finds dims of loop
// variables, of results of branches and of calls that are dims from outside under another name.
// Where two sizes are known to be equal, nothing is left to check when the program runs.
//
// Only names that a node or a loop introduced itself are given another meaning: what is true inside
// a branch says nothing about a name from outside of it.
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/type_inference.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

// A loop is tried so many times: with the sizes that would have to stay the same, then without
// those that did not. Loops in loops multiply.
constexpr int kAttempts = 3;
constexpr int kMaxTrialDepth = 3;

class ShapeRefinement {
 public:
  explicit ShapeRefinement(Graph& graph) : graph_(graph) {}

  void run() {
    introduce_all(graph_.body().arguments);
    walk(graph_.body());
    if (dims_.empty()) return;
    for_each_block(graph_, [this](Block& block) {
      if (block.owner) {
        for (Value* argument : block.arguments) refine(*argument);
      }
      for (Node* node : block.nodes) {
        for (Value* output : node->outputs) refine(*output);
      }
    });
  }

 private:
  // What was done since a moment, to be undone when a trial fails.
  struct Mark {
    size_t bindings, types, names;
  };
  Mark mark() const { return {bindings_.size(), types_.size(), introduced_order_.size()}; }
  void roll_back(const Mark& mark) {
    for (; bindings_.size() > mark.bindings; bindings_.pop_back()) dims_.erase(bindings_.back());
    for (; types_.size() > mark.types; types_.pop_back()) {
      types_.back().first->type.shape = std::move(types_.back().second);
    }
    for (; introduced_order_.size() > mark.names; introduced_order_.pop_back()) {
      introduced_.erase(introduced_order_.back());
    }
  }

  Dim follow(Dim dim) const {
    for (auto found = dims_.find(dim); found != dims_.end(); found = dims_.find(dim)) {
      dim = found->second;
    }
    return dim;
  }

  void bind(Dim name, Dim meaning) {
    dims_[name] = meaning;
    bindings_.push_back(name);
  }

  void set_shape(Value& value, PartialShape shape) {
    if (value.type.shape == shape) return;
    types_.emplace_back(&value, std::move(value.type.shape));
    value.type.shape = std::move(shape);
  }

  void refine(Value& value) {
    const PartialShape& shape = value.shape();
    for (int i = 0; i < shape.rank(); ++i) {
      if (follow(shape.dim(i)) == shape.dim(i)) continue;
      PartialShape refined = shape;
      for (; i < refined.rank(); ++i) refined.set_dim(i, follow(refined.dim(i)));
      set_shape(value, std::move(refined));
      return;
    }
  }

  // True if the name was never met before: it is this value's own.
  bool introduce(Dim name) {
    if (!introduced_.insert(name).second) return false;
    introduced_order_.push_back(name);
    return true;
  }
  void introduce_all(const std::vector<Value*>& values) {
    for (const Value* value : values) {
      for (Dim dim : value->shape().dims()) {
        if (is_symbol(dim)) introduce(dim);
      }
    }
  }

  void walk(Block& block) {
    for (Node* node : block.nodes) visit(*node);
  }

  void visit(Node& node) {
    if (node.blocks.empty()) {
      if (node.callee) {
        learn_from_callee(node);
      } else {
        infer(node);
      }
    } else if (node.op->name.ends_with("While")) {
      visit_loop(node);
    } else {
      for (const auto& block : node.blocks) walk(*block);
      for (size_t i = 0; i < node.outputs.size(); ++i) learn_from_branches(node, i);
    }
    introduce_all(node.outputs);
  }

  // The value's shape is also `shape`: takes from it what the value's own names did not say.
  void learn(Value& value, const PartialShape& shape) {
    if (!shape.has_rank()) return;
    if (!value.shape().has_rank()) {
      PartialShape named = shape;
      name_unknown_dims(named);
      set_shape(value, std::move(named));
      return;
    }
    if (value.shape().rank() != shape.rank()) return;
    PartialShape refined = value.shape();
    for (int i = 0; i < shape.rank(); ++i) {
      Dim old = follow(refined.dim(i));
      Dim now = follow(shape.dim(i));
      if (old == now || is_known(old) || now == kUnknownDim) continue;
      if (old == kUnknownDim) {
        refined.set_dim(i, now);
      } else if (!introduced_.contains(old)) {
        bind(old, now);
      }
    }
    set_shape(value, std::move(refined));
    refine(value);
  }

  void infer(Node& node) {
    bool open = false;
    for (const Value* output : node.outputs) open = open || !output->shape().is_fully_defined();
    if (!open || !node.op->shape) return;
    OperandVector inputs(node.inputs.begin(), node.inputs.end());
    std::vector<ValueType> types;
    try {
      types = infer_types(*node.op, inputs, node.attributes, Tier::kEager);
    } catch (const Error&) {
      return;  // the program's error, when it runs
    }
    for (size_t i = 0; i < types.size() && i < node.outputs.size(); ++i) {
      learn(*node.outputs[i], types[i].shape);
    }
  }

  void learn_from_branches(Node& node, size_t index) {
    PartialShape common = node.blocks[0]->results[index]->shape();
    for (const auto& block : node.blocks) {
      common = common.common_supertype(block->results[index]->shape());
    }
    learn(*node.outputs[index], common);
  }

  // Sizes of a callee's results that are sizes of its arguments are those of the call's inputs.
  void learn_from_callee(Node& call) {
    const Block& body = call.callee->callee_graph().body();
    if (body.arguments.size() != call.inputs.size() || body.results.size() != call.outputs.size()) {
      return;
    }
    std::unordered_map<Dim, Dim> given;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const PartialShape& declared = body.arguments[i]->shape();
      const PartialShape& shape = call.inputs[i]->shape();
      if (declared.rank() != shape.rank()) continue;
      for (int k = 0; k < declared.rank(); ++k) {
        if (is_symbol(declared.dim(k))) given.try_emplace(declared.dim(k), shape.dim(k));
      }
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      PartialShape shape = body.results[i]->shape();
      for (int k = 0; k < shape.rank(); ++k) {
        if (!is_symbol(shape.dim(k))) continue;
        auto found = given.find(shape.dim(k));
        shape.set_dim(k, found == given.end() ? kUnknownDim : found->second);
      }
      learn(*call.outputs[i], shape);
    }
  }

  struct Candidate {
    size_t variable;  // among the carried values, from 0
    int axis;
    Dim initial;
  };

  std::vector<Candidate> candidates(const Node& loop) const {
    std::vector<Candidate> result;
    const Block& body = *loop.blocks[1];
    for (size_t i = 0; i + 1 < loop.inputs.size(); ++i) {
      const PartialShape& kept = body.arguments[i + 1]->shape();
      const PartialShape& initial = loop.inputs[i + 1]->shape();
      if (kept.rank() != initial.rank()) continue;
      for (int axis = 0; axis < kept.rank(); ++axis) {
        if (is_known(kept.dim(axis)) || follow(initial.dim(axis)) == kUnknownDim) continue;
        result.push_back({i, axis, follow(initial.dim(axis))});
      }
    }
    return result;
  }

  // Assume that a loop variable keeps the sizes it had before the loop; if the body then gives them
  // back, it is so by induction.
  void visit_loop(Node& loop) {
    std::vector<Candidate> tried = candidates(loop);
    for (int attempt = 0; !tried.empty() && attempt < kAttempts && depth_ < kMaxTrialDepth;
         ++attempt) {
      Mark before = mark();
      for (const Candidate& candidate : tried) assume(loop, candidate);
      walk_blocks(loop);
      std::vector<Candidate> kept;
      for (const Candidate& candidate : tried) {
        const PartialShape& result = loop.blocks[1]->results[candidate.variable]->shape();
        if (result.rank() > candidate.axis &&
            follow(result.dim(candidate.axis)) == candidate.initial)
          kept.push_back(candidate);
      }
      if (kept.size() == tried.size()) {
        for (const Candidate& candidate : tried) {
          assign(*loop.outputs[candidate.variable + 1], candidate.axis, candidate.initial);
        }
        return;
      }
      roll_back(before);
      tried = std::move(kept);
    }
    walk_blocks(loop);
  }

  void assume(Node& loop, const Candidate& candidate) {
    for (const auto& block : loop.blocks) {
      assign(*block->arguments[candidate.variable + 1], candidate.axis, candidate.initial);
    }
  }

  void assign(Value& value, int axis, Dim dim) {
    PartialShape shape = value.shape();
    Dim old = follow(shape.dim(axis));
    if (is_symbol(old) && !introduced_.contains(old)) bind(old, dim);
    shape.set_dim(axis, dim);
    set_shape(value, std::move(shape));
  }

  void walk_blocks(Node& loop) {
    ++depth_;
    for (const auto& block : loop.blocks) {
      for (Value* argument : block->arguments) refine(*argument);
      introduce_all(block->arguments);
      walk(*block);
    }
    --depth_;
  }

  Graph& graph_;
  std::unordered_map<Dim, Dim> dims_;
  std::unordered_set<Dim> introduced_;
  std::vector<Dim> introduced_order_;
  std::vector<Dim> bindings_;
  std::vector<std::pair<Value*, PartialShape>> types_;
  int depth_ = 0;
};

bool any_unknown(const Block& block) {
  for (const Node* node : block.nodes) {
    for (const Value* output : node->outputs) {
      if (!output->shape().is_fully_defined()) return true;
    }
    for (const auto& inner : node->blocks) {
      if (any_unknown(*inner)) return true;
    }
  }
  return false;
}

}  // namespace

void refine_shapes(Graph& graph, PassContext&) {
  if (any_unknown(graph.body())) ShapeRefinement(graph).run();
}

}  // namespace graphwright::passes
