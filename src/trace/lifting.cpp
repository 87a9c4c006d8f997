#include "trace/lifting.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "base/status.h"
#include "ir/graph_copy.h"
#include "ir/opdef.h"
#include "runtime/plan.h"

namespace graphwright {
namespace {

// The nodes of a graph's body that a value depends on.
class Upstream {
 public:
  explicit Upstream(const Graph& graph) : body_(graph.body()) {}
  void add(const Value* value) {
    if (value->block != &body_) {
      throw_value_error(
          "a variable's initial value depends on a branch or a loop body, where it cannot be "
          "computed before the function runs; make the variable outside it, or give it an initial "
          "value from outside");
    }
    if (!value->node) arguments_.insert(value);
    if (!value->node || !nodes_.insert(value->node).second) return;
    for (const Value* input : value->node->inputs) add(input);
    for (const auto& block : value->node->blocks) add_free_values(*block);
  }
  bool contains(const Node* node) const { return nodes_.contains(node); }
  bool contains_argument(const Value* value) const { return arguments_.contains(value); }

 private:
  void add_free_values(const Block& block) {
    auto visit = [&](const Value* value) {
      if (value->block == &body_) add(value);
    };
    for (const Node* node : block.nodes) {
      for (const Value* input : node->inputs) visit(input);
      for (const auto& inner : node->blocks) add_free_values(*inner);
    }
    for (const Value* result : block.results) visit(result);
  }
  const Block& body_;
  std::unordered_set<const Node*> nodes_;
  std::unordered_set<const Value*> arguments_;
};

void initialize(const Graph& graph, const LiftedVariable& lifted, std::span<const Tensor> inputs) {
  if (lifted.initial_value.is_tensor()) {
    return lifted.variable->assign(lifted.initial_value.tensor()).throw_if_error();
  }
  const Value& value = *lifted.initial_value.value();
  if (value.node && value.node->op->name == "Const") {  // wherever it stands
    AttributeReader attributes(*value.node->op, value.node->attributes);
    Tensor constant = std::get<Tensor>(attributes.value("value"));
    return lifted.variable->assign(constant).throw_if_error();
  }
  Upstream upstream(graph);
  upstream.add(lifted.initial_value.value());
  ValueMap map;
  std::shared_ptr<Graph> initializer = copy_graph(graph, &map);
  Block& body = initializer->body();
  std::unordered_set<const Node*> kept;
  for (size_t i = 0; i < graph.body().nodes.size(); ++i) {
    if (upstream.contains(graph.body().nodes[i])) kept.insert(body.nodes[i]);
  }
  std::erase_if(body.nodes, [&](const Node* node) { return !kept.contains(node); });
  body.results.assign(1, map.find(lifted.initial_value.value()));
  // Arguments, then captures: those that it depends on.
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  for (const Capture& capture : graph.captures()) {
    if (capture.outer && upstream.contains_argument(capture.inner)) {
      throw_value_error(
          "a variable's initial value depends on a tensor of an enclosing function, which is not "
          "known yet");
    }
    given.push_back(capture.tensor);
  }
  std::vector<Tensor> all;
  std::vector<Value*> used;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!upstream.contains_argument(graph.body().arguments[i])) continue;
    if (!given[i]) {
      throw_value_error(fmt::format(
          "argument #{} has no value yet, and the initial value of a variable that the function "
          "makes depends on it: call the function once before get_concrete_function",
          i));
    }
    all.push_back(given[i]);
    used.push_back(body.arguments[i]);
  }
  body.arguments = std::move(used);
  initializer->captures().clear();
  std::vector<Tensor> outputs(1);
  run_plan(*compile_plan(*initializer), all, outputs).throw_if_error();
  lifted.variable->assign(outputs[0].owned()).throw_if_error();
}

}  // namespace

void initialize_lifted_variables(const Graph& graph, std::span<const LiftedVariable> variables,
                                 std::span<const Tensor> inputs) {
  // In order, one at a time: a later initial value may read an earlier variable.
  for (const LiftedVariable& lifted : variables) initialize(graph, lifted, inputs);
}

void initialize_after_failure(const Graph& graph, std::span<const LiftedVariable> variables,
                              std::span<const Tensor> inputs) noexcept {
  for (const LiftedVariable& lifted : variables) {
    try {
      initialize(graph, lifted, inputs);
    } catch (const std::exception&) {
      // It stays uninitialised, and says so when it is read: the trace's own error matters more.
    }
  }
}

}  // namespace graphwright
