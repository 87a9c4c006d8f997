// The verifier: a table of rules about graphs. Every pass's result is checked in tests.
#include "ir/verify.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/status.h"
#include "ir/dependence.h"
#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/type_inference.h"

namespace graphwright {
namespace {

// What a rule says about a node, a block or the whole graph: empty when all is well.
using Finding = std::string;

struct ValueRule {
  const char* name;
  Finding (*check)(const Value& value);
};
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

// Control nodes come in two kinds, with effects and without: "If" and "StatelessIf".
bool is_loop(const Node& node) { return node.op->name.ends_with("While"); }
bool is_if(const Node& node) { return node.op->name == "If" || node.op->name == "StatelessIf"; }
bool is_case(const Node& node) {
  return node.op->name == "Case" || node.op->name == "StatelessCase";
}

// --- Values ---

Finding value_type(const Value& value) {
  DType dtype = value.dtype();
  if (dtype == DType::kInvalid) return "has no dtype";
  if (value.type.handle && dtype != DType::kResource && dtype != DType::kVariant) {
    return "is a " + std::string(dtype_name(dtype)) + " that refers to something";
  }
  for (Dim dim : value.shape().dims()) {
    if (dim < 0 && dim != kUnknownDim && !is_symbol(dim)) return "has a dimension that is none";
  }
  return {};
}

Finding value_scope(const Value& value) {
  if (value.scope < value.block->graph->scopes().size()) return {};
  return "its name scope does not exist";
}

// --- Nodes ---

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
  return {};
}

Finding scope(const Node& node) {
  if (node.scope < node.block->graph->scopes().size()) return {};
  return "its name scope does not exist";
}

// What an op does to resources, it does to handles; a node said to have no effects has none.
Finding effects(const Node& node) {
  const Effects& own = node.op->effects;
  for (size_t i = 0; i < node.inputs.size() && i < 32; ++i) {
    if (!((own.reads | own.writes) >> i & 1u)) continue;
    if (node.inputs[i]->dtype() != DType::kResource) {
      return "input " + std::to_string(i) + ", which it reads or writes, is no resource";
    }
  }
  if (!node.op->name.starts_with("Stateless") || node.op->has(kStateful)) return {};
  EffectAnalysis analysis;
  for (const auto& block : node.blocks) {
    if (analysis.block_effects(*block).any()) return "a block of a stateless node has effects";
  }
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

bool any_missing(std::span<Value* const> values) {
  return std::find(values.begin(), values.end(), nullptr) != values.end();
}

Finding same_types(const char* what, std::span<Value* const> left, std::span<Value* const> right) {
  if (any_missing(left) || any_missing(right)) return std::string(what) + ": a value is missing";
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
  if (!is_loop(node)) return {};
  if (node.blocks.size() != 2) return "a loop has a condition and a body";
  const Block& condition = *node.blocks[0];
  const Block& body = *node.blocks[1];
  if (node.inputs.empty() || !is_scalar(*node.inputs[0], DType::kInt32)) {
    return "its first input, the largest number of iterations, is no int32 scalar";
  }
  if (node.outputs.empty() || !is_scalar(*node.outputs[0], DType::kInt32)) {
    return "its first output, the number of iterations, is no int32 scalar";
  }
  if (condition.results.size() != 1 || !condition.results[0] ||
      !is_scalar(*condition.results[0], DType::kBool)) {
    return "its condition does not give one bool";
  }
  std::span<Value* const> carried = std::span(node.inputs).subspan(1);
  for (const Block* block : {&condition, &body}) {
    if (block->arguments.empty() || any_missing(block->arguments) ||
        !is_scalar(*block->arguments[0], DType::kInt32)) {
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
  if (!is_if(node) && !is_case(node)) return {};
  if (is_if(node) && node.blocks.size() != 2) return "a conditional has two blocks";
  if (node.inputs.size() != 1 ||
      !is_scalar(*node.inputs[0], is_if(node) ? DType::kBool : DType::kInt32)) {
    return is_if(node) ? "its input is no bool scalar" : "its input is no int32 scalar";
  }
  for (const auto& block : node.blocks) {
    if (!block->arguments.empty()) return "a branch has arguments";
    Finding found = same_types("outputs and results of a branch", node.outputs, block->results);
    if (!found.empty()) return found;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      PartialShape promised = node.outputs[i]->shape().without_symbols();
      if (!promised.is_supertype_of(block->results[i]->shape().without_symbols())) {
        return "output " + std::to_string(i) + " promises the shape " + promised.to_string() +
               ", but a branch gives " + block->results[i]->type.to_string();
      }
    }
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

// --- Blocks and graphs ---

Finding block_links(const Block& block) {
  for (const Value* argument : block.arguments) {
    if (!argument) return "an argument is missing";
  }
  for (const Node* node : block.nodes) {
    if (!node) return "a node is missing";
  }
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
    const Capture& capture = graph.captures()[i];
    if (capture.inner != arguments[first + i]) {
      return "capture " + std::to_string(i) + " is not argument " + std::to_string(first + i);
    }
    DType given = capture.tensor  ? capture.tensor.dtype()
                  : capture.outer ? capture.outer->dtype()
                                  : capture.inner->dtype();
    if (given != capture.inner->dtype()) {
      return "capture " + std::to_string(i) + " is a " + std::string(dtype_name(given)) +
             " for an argument of " + std::string(dtype_name(capture.inner->dtype()));
    }
  }
  return {};
}

Finding scopes(const Graph& graph) {
  for (size_t i = 1; i < graph.scopes().size(); ++i) {
    if (graph.scopes()[i].parent >= i) return "a scope comes before its parent";
    if (!graph.scopes()[i].block) return "a scope was entered in no block";
  }
  return {};
}

constexpr GraphRule kGraphRules[] = {{"captures", captures}, {"scopes", scopes}};
constexpr BlockRule kBlockRules[] = {{"block links", block_links}};
constexpr ValueRule kValueRules[] = {{"value types", value_type}, {"value scopes", value_scope}};
constexpr NodeRule kNodeRules[] = {
    {"links", links},           {"node scopes", scope}, {"blocks", blocks_allowed},
    {"attributes", attributes}, {"types", types},       {"loop", loop},
    {"branches", branches},     {"call", call},         {"effects", effects},
};
// Rules about what was met on the way through the blocks, which the Verifier knows.
constexpr const char* kOps = "ops";
constexpr const char* kIds = "ids";
constexpr const char* kOrder = "order";
constexpr const char* kControlInputs = "control inputs";

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
               "' (" + (node->op ? std::string(node->op->name) : "no op") + ")";
    }
    throw_internal(where + ": rule '" + rule + "': " + finding);
  }

  void check_value(const Value& value, const std::string& what, const Node* node) const {
    for (const ValueRule& rule : kValueRules) {
      Finding finding = rule.check(value);
      if (!finding.empty()) report(rule.name, what + " " + finding, node);
    }
  }

  void check_node(const Node& node) {
    if (!node.op) report(kOps, "it has no op", &node);
    if (!ids_.insert(node.id).second) report(kIds, "its id is used twice", &node);
    if (node.id >= graph_.node_count()) report(kIds, "its id was never given", &node);
    for (const Value* input : node.inputs) {
      if (!input || !visible_.count(input)) {
        report(kOrder, "an input is not defined before it, or not visible here", &node);
      }
    }
    for (const Node* control_input : node.control_inputs) {
      if (!nodes_.count(control_input) || control_input->block != node.block) {
        report(kControlInputs, "a control input does not stand before it in its block", &node);
      }
    }
    for (const Value* output : node.outputs) {
      if (!output) report("links", "an output is missing", &node);
    }
    for (const NodeRule& rule : kNodeRules) report(rule.name, rule.check(node), &node);
    for (const Value* output : node.outputs) {
      check_value(*output, "output " + std::to_string(output->index), &node);
    }
  }

  void check_block(const Block& block) {
    for (const BlockRule& rule : kBlockRules) report(rule.name, rule.check(block), block.owner);
    // Values are defined in order, so that walking keeps exactly those that are visible.
    std::vector<const Value*> defined;
    auto define = [&](const Value* value) {
      defined.push_back(value);
      visible_.insert(value);
    };
    for (const Value* argument : block.arguments) {
      check_value(*argument, "argument " + std::to_string(argument->index), block.owner);
      define(argument);
    }
    for (const Node* node : block.nodes) {
      check_node(*node);
      for (const auto& inner : node->blocks) check_block(*inner);
      for (const Value* output : node->outputs) define(output);
      nodes_.insert(node);
    }
    for (const Value* result : block.results) {
      if (!result || !visible_.count(result)) {
        report(kOrder, "a result is not visible at the end of its block", block.owner);
      }
    }
    for (const Value* value : defined) visible_.erase(value);
  }

  const Graph& graph_;
  std::unordered_set<const Value*> visible_;
  std::unordered_set<const Node*> nodes_;
  std::unordered_set<uint32_t> ids_;
};

}  // namespace

void verify_graph(const Graph& graph) { Verifier(graph).run(); }

std::vector<std::string_view> verifier_rules() {
  std::vector<std::string_view> names{kOps, kIds, kOrder, kControlInputs};
  for (const auto& rule : kGraphRules) names.push_back(rule.name);
  for (const auto& rule : kBlockRules) names.push_back(rule.name);
  for (const auto& rule : kValueRules) names.push_back(rule.name);
  for (const auto& rule : kNodeRules) names.push_back(rule.name);
  return names;
}

}  // namespace graphwright
