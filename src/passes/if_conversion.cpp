// Turns a conditional between cheap scalars into selections: computing both and choosing one costs
// less than a jump and moves, and a loop's body stays one straight run of instructions.
#include <algorithm>
#include <array>
#include <string_view>

#include "ir/opdef.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

// Of both branches together, constants aside.
constexpr size_t kMaxNodes = 4;
constexpr size_t kMaxResults = 3;

// One or two machine instructions on a scalar.
constexpr std::array<std::string_view, 21> kCheapOps = {
    "Abs",  "AddV2",     "Cast",       "Equal",      "Greater",   "GreaterEqual", "Identity",
    "Less", "LessEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "Maximum",      "Minimum",
    "Mul",  "Neg",       "NotEqual",   "SelectV2",   "Square",    "StopGradient", "Sub"};

bool is_scalar(const Value& value) {
  return value.shape().has_rank() && value.shape().rank() == 0 &&
         !has_object_elements(value.dtype());
}

class IfConversion final : public Rewriter {
 public:
  explicit IfConversion(Graph& graph) : Rewriter(graph) {}

 private:
  bool visit(Node& node) override {
    if (!node.op->name.ends_with("If") || node.blocks.size() != 2 || !is_cheap(node)) return true;
    splice_before(node, *node.blocks[0]);
    splice_before(node, *node.blocks[1]);
    const OpDef& select = get_op("SelectV2");
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value* first = current(node.blocks[0]->results[i]);
      Value* second = current(node.blocks[1]->results[i]);
      Node* chosen =
          make_before(node, select, {node.inputs[0], first, second}, {}, {node.outputs[i]->type});
      replace(node.outputs[i], chosen->outputs[0]);
    }
    return false;
  }

  // Asked when the blocks have not been walked: inner conditionals stay what they are.
  bool is_cheap(const Node& node) const {
    if (node.outputs.empty() || node.outputs.size() > kMaxResults) return false;
    if (!is_scalar(*node.inputs[0])) return false;
    size_t count = 0;
    for (const auto& block : node.blocks) {
      for (const Node* inner : block->nodes) {
        if (inner->outputs.size() == 1 && constant_tensor(*inner->outputs[0])) continue;
        if (++count > kMaxNodes || !is_cheap_node(*inner)) return false;
      }
      for (Value* result : block->results) {
        if (!is_scalar(*current(result))) return false;
      }
    }
    return true;
  }

  static bool is_cheap_node(const Node& node) {
    return cannot_fail(node) && !gives_handles(node) &&
           std::find(kCheapOps.begin(), kCheapOps.end(), node.op->name) != kCheapOps.end() &&
           std::all_of(node.outputs.begin(), node.outputs.end(),
                       [](const Value* value) { return is_scalar(*value); });
  }
};

}  // namespace

void convert_ifs(Graph& graph, PassContext&) { IfConversion(graph).run(); }

}  // namespace graphwright::passes
