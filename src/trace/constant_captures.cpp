#include "trace/constant_captures.h"

#include <algorithm>
#include <unordered_map>

#include "autodiff/gradient_map.h"
#include "ir/graph_copy.h"
#include "ir/opdef.h"

namespace graphwright {
namespace {

// Null for other nodes.
Tensor constant_of(const Node& node) {
  if (node.op->name != "Const") return {};
  AttributeReader attributes(*node.op, node.attributes);
  return std::get<Tensor>(attributes.value("value"));
}

void add_constants(const Block& block, std::vector<Tensor>& tensors) {
  for (const Node* node : block.nodes) {
    if (Tensor tensor = constant_of(*node)) {
      bool known = std::ranges::any_of(
          tensors, [&](const Tensor& other) { return other.impl() == tensor.impl(); });
      if (!known && (is_floating(tensor.dtype()) || is_complex(tensor.dtype()))) {
        tensors.push_back(std::move(tensor));
      }
    }
    for (const auto& inner : node->blocks) add_constants(*inner, tensors);
    if (node->callee) add_constants(node->callee->callee_graph().body(), tensors);
  }
}

class ConstantCapturer {
 public:
  ConstantCapturer(Graph& graph, std::span<const Tensor> tensors,
                   const std::function<std::shared_ptr<Callee>(const std::shared_ptr<Callee>&)>&
                       callee_with_captures)
      : graph_(graph), tensors_(tensors), callee_with_captures_(callee_with_captures) {}

  void visit(Block& block) {
    for (Node* node : block.nodes) {
      if (node->callee) visit_call(*node);
      for (auto& inner : node->blocks) visit(*inner);
      if (Tensor tensor = constant_of(*node); tensor && is_wanted(tensor)) {
        replaced_[node->outputs[0]] = capture(tensor);
      }
    }
    for (Node* node : block.nodes) {
      for (Value*& input : node->inputs) replace(input);
    }
    for (Value*& result : block.results) replace(result);
    graph_.remove_nodes(block, [&](const Node& node) {
      return node.op->name == "Const" && replaced_.contains(node.outputs[0]);
    });
  }

 private:
  bool is_wanted(const Tensor& tensor) const {
    return std::ranges::any_of(tensors_,
                               [&](const Tensor& other) { return other.impl() == tensor.impl(); });
  }
  void replace(Value*& value) const {
    auto found = replaced_.find(value);
    if (found != replaced_.end()) value = found->second;
  }
  Value* capture(const Tensor& tensor) {
    Value*& value = captured_[tensor.impl()];
    if (!value) {
      value = graph_.add_argument(graph_.body(), type_of(Operand(tensor)));
      graph_.captures().push_back({tensor, nullptr, value});
    }
    return value;
  }
  void visit_call(Node& node) {
    std::shared_ptr<Callee> callee = callee_with_captures_(node.callee);
    if (callee == node.callee) return;
    const std::vector<Capture>& captures = callee->callee_graph().captures();
    size_t given = node.inputs.size();
    size_t first = callee->callee_graph().body().arguments.size() - captures.size();
    node.callee = callee;
    for (size_t i = given; i < callee->callee_graph().body().arguments.size(); ++i) {
      node.inputs.push_back(capture(captures[i - first].tensor));
    }
  }

  Graph& graph_;
  std::span<const Tensor> tensors_;
  const std::function<std::shared_ptr<Callee>(const std::shared_ptr<Callee>&)>&
      callee_with_captures_;
  std::unordered_map<const Value*, Value*> replaced_;
  std::unordered_map<const TensorImpl*, Value*> captured_;
};

}  // namespace

std::vector<Tensor> differentiable_constants(const Graph& graph) {
  std::vector<Tensor> tensors;
  add_constants(graph.body(), tensors);
  return tensors;
}

std::shared_ptr<Graph> with_captured_constants(
    const Graph& graph, std::span<const Tensor> tensors,
    const std::function<std::shared_ptr<Callee>(const std::shared_ptr<Callee>&)>&
        callee_with_captures) {
  std::shared_ptr<Graph> copy = copy_graph(graph);
  ConstantCapturer(*copy, tensors, callee_with_captures).visit(copy->body());
  return copy;
}

}  // namespace graphwright
