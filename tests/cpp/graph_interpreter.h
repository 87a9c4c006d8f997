// For tests: graphs run naively, node by node in program order, each by run_eager. Slow and
// obvious; what plans are compared with.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "runtime/eager.h"

namespace graphwright::testing {

// A callee that is a graph and nothing else: plans need no more of it.
struct GraphCallee : Callee {
  explicit GraphCallee(std::shared_ptr<Graph> graph) : graph(std::move(graph)) {}
  std::string_view callee_name() const override { return graph->name(); }
  const Graph& callee_graph() const override { return *graph; }
  CalleeDerivative callee_derivative(const std::vector<bool>&) override {
    throw_unimplemented("A test's callee has no derivative.");
  }
  CalleeTangent callee_tangent(const std::vector<bool>&) override {
    throw_unimplemented("A test's callee has no tangent.");
  }
  void call_with(Builder&, std::span<const Operand>, std::vector<Operand>&) override {
    throw_unimplemented("A test's callee is called by Call nodes only.");
  }
  std::shared_ptr<Graph> graph;
};

class GraphInterpreter {
 public:
  // Throws Error.
  static std::vector<Tensor> run(const Graph& graph, std::span<const Tensor> inputs) {
    GraphInterpreter interpreter;
    const Block& body = graph.body();
    for (size_t i = 0; i < inputs.size(); ++i) interpreter.values_[body.arguments[i]] = inputs[i];
    return interpreter.run_block(body);
  }

 private:
  std::vector<Tensor> run_block(const Block& block) {
    for (const Node* node : block.nodes) run_node(*node);
    std::vector<Tensor> results;
    for (const Value* result : block.results) results.push_back(values_.at(result));
    return results;
  }

  std::vector<Tensor> run_block(const Block& block, const std::vector<Tensor>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) values_[block.arguments[i]] = arguments[i];
    return run_block(block);
  }

  void run_node(const Node& node) {
    std::vector<Tensor> inputs;
    for (const Value* input : node.inputs) inputs.push_back(values_.at(input));
    std::vector<Tensor> outputs;
    if (node.callee) {
      outputs = run(node.callee->callee_graph(), inputs);
    } else if (node.op->name.ends_with("While")) {
      const int32_t limit = *inputs[0].data<int32_t>();
      inputs[0] = Tensor::int32_scalar(0);
      for (int32_t count = 0;; ++count) {
        bool more = *run_block(*node.blocks[0], inputs)[0].data<bool>();
        if (!more || (limit >= 0 && count >= limit)) break;
        std::vector<Tensor> next = run_block(*node.blocks[1], inputs);
        std::move(next.begin(), next.end(), inputs.begin() + 1);
        inputs[0] = Tensor::int32_scalar(count + 1);
      }
      outputs = inputs;
    } else if (node.op->name.ends_with("If")) {
      outputs = run_block(*node.blocks[*inputs[0].data<bool>() ? 0 : 1]);
    } else if (node.op->name.ends_with("Case")) {
      const auto index = static_cast<size_t>(*inputs[0].data<int32_t>());
      outputs = run_block(*node.blocks[std::min(index, node.blocks.size() - 1)]);
    } else {
      std::vector<Operand> operands(inputs.begin(), inputs.end());
      OperandVector results;
      run_eager(*node.op, operands, node.attributes, results);
      for (const Operand& result : results) outputs.push_back(result.tensor());
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) values_[node.outputs[i]] = outputs[i];
  }

  std::unordered_map<const Value*, Tensor> values_;
};

}  // namespace graphwright::testing
