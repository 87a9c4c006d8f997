// The verifier: a table of rules about graphs. Every pass's result is checked in tests.
#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/type_inference.h"

namespace graphwright {
namespace {

// What a rule says about a node, a block or the whole graph: empty when all is well.
using Finding = std::string;

struct NodeRule {
  const char* name;
  Finding (*check)(const Node& node);
};
struct BlockRule {
  const char* name;
  Finding (*check)(const Block& block);
};
struct GraphRule {
  const char* name;
  Finding (*check)(const Graph& graph);
};

bool is_call(const Node& node) {
  return node.op->name == "PartitionedCall" || node.op->name == "StatefulPartitionedCall";
}

bool is_control(const Node& node) { return !node.blocks.empty() || is_call(node); }

Finding links(const Node& node) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value& output = *node.outputs[i];
    if (output.node != &node || output.block != node.block || output.index != i) {
      return "output " + std::to_string(i) + " does not point back";
    }
  }
  for (const auto& block : node.blocks) {
    if (block->owner != &node || block->graph != node.block->graph) {
      return "a block does not point back";
    }
  }
  if (node.scope >= node.block->graph->scopes().size()) return "its name scope does not exist";
  return {};
}

Finding blocks_allowed(const Node& node) {
  bool wants = node.op->has(kHasBlocks);
  if (wants == node.blocks.empty()) {
    return wants ? "an op with blocks has none" : "an op without blocks has some";
  }
  return {};
}

Finding attributes(const Node& node) {
  const Signature& signature = node.op->signature;
  for (int i = 0; i < signature.attribute_count; ++i) {
    const AttributeSpec& spec = signature.attributes[static_cast<size_t>(i)];
    if (spec.kind == AttributeKind::kBlock) continue;
    const AttributeValue* value = find_attribute(*node.op, node.attributes, i);
    if (!value) {
      // Types may be bound by inputs instead (the rule "types" knows), and those of control nodes
      // are in their values.
      if (is_control(node) || spec.kind == AttributeKind::kType) continue;
      return "attribute " + std::string(spec.name) + " is not set";
    }
    if (node.attributes.has(i)) {
      try {
        check_attribute(*node.op, i, *value);
      } catch (const Error& error) {
        return error.what();
      }
    }
  }
  return {};
}

Finding types(const Node& node) {
  if (is_control(node)) return {};
  std::vector<DType> inputs;
  for (const Value* input : node.inputs) inputs.push_back(input->dtype());
  try {
    TypeBindings bindings = resolve_types(*node.op, inputs, node.attributes, Tier::kGraph);
    if (bindings.outputs.size() != node.outputs.size()) {
      return "has " + std::to_string(node.outputs.size()) + " outputs instead of " +
             std::to_string(bindings.outputs.size());
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (bindings.outputs[i] != node.outputs[i]->dtype()) {
        return "output " + std::to_string(i) + " is " +
               std::string(dtype_name(node.outputs[i]->dtype())) + " instead of " +
               std::string(dtype_name(bindings.outputs[i]));
      }
    }
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Finding same_types(const char* what, std::span<Value* const> left, std::span<Value* const> right) {
  if (left.size() != right.size()) {
    return std::string(what) + ": " + std::to_string(left.size()) + " against " +
           std::to_string(right.size()) + " values";
  }
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i]->dtype() == right[i]->dtype()) continue;
    return std::string(what) + ": value " + std::to_string(i) + " is " + left[i]->type.to_string() +
           " against " + right[i]->type.to_string();
  }
  return {};
}

bool is_scalar(const Value& value, DType dtype) {
  return value.dtype() == dtype && value.shape().is_compatible_with(PartialShape::scalar());
}

Finding loop(const Node& node) {
  if (node.op->name != "While") return {};
  if (node.blocks.size() != 2) return "a loop has a condition and a body";
  const Block& condition = *node.blocks[0];
  const Block& body = *node.blocks[1];
  if (node.inputs.empty() || !is_scalar(*node.inputs[0], DType::kInt32)) {
    return "its first input, the largest number of iterations, is no int32 scalar";
  }
  if (node.outputs.empty() || !is_scalar(*node.outputs[0], DType::kInt32)) {
    return "its first output, the number of iterations, is no int32 scalar";
  }
  if (condition.results.size() != 1 || !is_scalar(*condition.results[0], DType::kBool)) {
    return "its condition does not give one bool";
  }
  std::span<Value* const> carried = std::span(node.inputs).subspan(1);
  for (const Block* block : {&condition, &body}) {
    if (block->arguments.empty() || !is_scalar(*block->arguments[0], DType::kInt32)) {
      return "the first argument of a block, the counter, is no int32 scalar";
    }
    Finding found =
        same_types("carried values and arguments", carried, std::span(block->arguments).subspan(1));
    if (!found.empty()) return found;
  }
  Finding found = same_types("carried values and results", carried, body.results);
  if (!found.empty()) return found;
  found = same_types("carried values and outputs", carried, std::span(node.outputs).subspan(1));
  if (!found.empty()) return found;
  for (size_t i = 0; i < carried.size(); ++i) {
    PartialShape kept = body.arguments[i + 1]->shape().without_symbols();
    if (!kept.is_supertype_of(carried[i]->shape().without_symbols()) ||
        !kept.is_supertype_of(body.results[i]->shape().without_symbols())) {
      return "carried value " + std::to_string(i) + " does not keep its shape " + kept.to_string();
    }
  }
  return {};
}

Finding branches(const Node& node) {
  bool is_if = node.op->name == "If";
  if (!is_if && node.op->name != "Case") return {};
  if (is_if && node.blocks.size() != 2) return "a conditional has two blocks";
  if (node.inputs.size() != 1 ||
      !is_scalar(*node.inputs[0], is_if ? DType::kBool : DType::kInt32)) {
    return is_if ? "its input is no bool scalar" : "its input is no int32 scalar";
  }
  for (const auto& block : node.blocks) {
    if (!block->arguments.empty()) return "a branch has arguments";
    Finding found = same_types("outputs and results of a branch", node.outputs, block->results);
    if (!found.empty()) return found;
  }
  return {};
}

Finding call(const Node& node) {
  if (is_call(node) != static_cast<bool>(node.callee)) {
    return node.callee ? "an op that calls nothing has a callee" : "has no callee";
  }
  if (!node.callee) return {};
  const Block& body = node.callee->callee_graph().body();
  Finding found = same_types("inputs and arguments of the callee", node.inputs, body.arguments);
  if (!found.empty()) return found;
  return same_types("outputs and results of the callee", node.outputs, body.results);
}

Finding control_inputs(const Node& node) {
  const std::vector<Node*>& nodes = node.block->nodes;
  for (const Node* control_input : node.control_inputs) {
    auto self = std::find(nodes.begin(), nodes.end(), &node);
    if (std::find(nodes.begin(), self, control_input) == self) {
      return "a control input does not stand before it in its block";
    }
  }
  return {};
}

Finding block_links(const Block& block) {
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    const Value& argument = *block.arguments[i];
    if (argument.node || argument.block != &block || argument.index != i) {
      return "argument " + std::to_string(i) + " does not point back";
    }
  }
  for (const Node* node : block.nodes) {
    if (node->block != &block) return "a node does not point back";
  }
  return {};
}

Finding captures(const Graph& graph) {
  const std::vector<Value*>& arguments = graph.body().arguments;
  if (graph.captures().size() > arguments.size()) return "there are more captures than arguments";
  size_t first = arguments.size() - graph.captures().size();
  for (size_t i = 0; i < graph.captures().size(); ++i) {
    if (graph.captures()[i].inner != arguments[first + i]) {
      return "capture " + std::to_string(i) + " is not argument " + std::to_string(first + i);
    }
  }
  return {};
}

Finding scopes(const Graph& graph) {
  for (size_t i = 1; i < graph.scopes().size(); ++i) {
    if (graph.scopes()[i].parent >= i) return "a scope comes before its parent";
  }
  return {};
}

constexpr GraphRule kGraphRules[] = {{"captures", captures}, {"scopes", scopes}};
constexpr BlockRule kBlockRules[] = {{"block links", block_links}};
constexpr NodeRule kNodeRules[] = {
    {"links", links},
    {"blocks", blocks_allowed},
    {"attributes", attributes},
    {"types", types},
    {"loop", loop},
    {"branches", branches},
    {"call", call},
    {"control inputs", control_inputs},
};

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}
  void run() {
    for (const GraphRule& rule : kGraphRules) report(rule.name, rule.check(graph_), nullptr);
    check_block(graph_.body());
  }

 private:
  void report(const char* rule, const Finding& finding, const Node* node) const {
    if (finding.empty()) return;
    std::string where = "graph '" + graph_.name() + "'";
    if (node) {
      where += ", node " + std::to_string(node->id) + " '" + std::string(node->base_name.view()) +
               "' (" + std::string(node->op->name) + ")";
    }
    throw_internal(where + ": rule '" + rule + "': " + finding);
  }

  void check_block(const Block& block) {
    for (const BlockRule& rule : kBlockRules) report(rule.name, rule.check(block), block.owner);
    // Values are defined in order, so that walking keeps exactly those that are visible.
    std::vector<const Value*> defined;
    auto define = [&](const Value* value) {
      defined.push_back(value);
      visible_.insert(value);
    };
    for (const Value* argument : block.arguments) define(argument);
    for (const Node* node : block.nodes) {
      if (!node->op) throw_internal("graph '" + graph_.name() + "': a node has no op");
      if (!ids_.insert(node->id).second) report("ids", "its id is used twice", node);
      for (const Value* input : node->inputs) {
        if (!input || !visible_.count(input)) {
          report("order", "an input is not defined before it, or not visible here", node);
        }
      }
      for (const NodeRule& rule : kNodeRules) report(rule.name, rule.check(*node), node);
      for (const auto& inner : node->blocks) check_block(*inner);
      for (const Value* output : node->outputs) define(output);
    }
    for (const Value* result : block.results) {
      if (!result || !visible_.count(result)) {
        report("order", "a result is not visible at the end of its block", block.owner);
      }
    }
    for (const Value* value : defined) visible_.erase(value);
  }

  const Graph& graph_;
  std::unordered_set<const Value*> visible_;
  std::unordered_set<uint32_t> ids_;
};

}  // namespace

void verify_graph(const Graph& graph) { Verifier(graph).run(); }

}  // namespace graphwright
