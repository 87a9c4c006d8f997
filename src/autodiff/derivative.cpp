#include "autodiff/derivative.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "autodiff/forward.h"
#include "autodiff/reverse.h"
#include "base/status.h"
#include "ir/graph_copy.h"
#include "ir/opdef.h"

namespace graphwright {
namespace {

// A graph of the same arguments, none of which is a capture any more: the derivative is given them.
std::shared_ptr<Graph> copy_without_captures(const Graph& graph, ValueMap& map,
                                             const std::string& suffix) {
  std::shared_ptr<Graph> copy = copy_graph(graph, &map);
  copy->captures().clear();
  copy->set_name(graph.name() + suffix);
  return copy;
}

}  // namespace

ReverseDerivative build_reverse_derivative(const Graph& graph, const std::vector<bool>& needed,
                                           const std::vector<bool>& reached) {
  ReverseDerivative derivative;
  // Both halves are first made in one graph: the copy of the original, then the gradient's nodes,
  // which make the copy save what they need.
  ValueMap original;
  std::shared_ptr<Graph> joint = copy_without_captures(graph, original, "__forward");
  Block& body = joint->body();
  size_t forward_argument_count = body.arguments.size();
  size_t result_count = body.results.size();

  ActiveSet active;
  for (size_t i = 0; i < forward_argument_count; ++i) {
    if (needed[i] && can_have_gradient(body.arguments[i]->type)) active.insert(body.arguments[i]);
  }
  mark_active(body, active);
  GraphBuilder builder(*joint);
  GradientMap gradients;
  std::vector<Value*> output_gradients;
  // Everything from here on is the backward half, sums of gradients of one result given twice
  // included; what is inserted before saves values.
  Node* last_forward = body.nodes.empty() ? nullptr : body.nodes.back();
  for (size_t i = 0; i < result_count; ++i) {
    Value* result = body.results[i];
    // Lists that a forward half saves have gradients, too; resources have none.
    if (result->dtype() == DType::kResource || !can_have_gradient(result->type)) continue;
    if (!reached.empty() && !reached[i]) continue;
    Value* gradient = joint->add_argument(body, result->type, "grad");
    output_gradients.push_back(gradient);
    derivative.result_indices.push_back(static_cast<int>(i));
    gradients.add(builder, result, {Operand(gradient), {}, {}});
  }
  reverse_block(builder, body, active, gradients);
  std::vector<Value*> results;
  for (size_t i = 0; i < forward_argument_count; ++i) {
    const Gradient* gradient = gradients.find(body.arguments[i]);
    if (!gradient || !active.contains(body.arguments[i])) continue;
    derivative.argument_indices.push_back(static_cast<int>(i));
    results.push_back(builder.import(gradient->values));
    derivative.is_sparse.push_back(gradient->is_indexed_slices());
    if (!gradient->is_indexed_slices()) continue;
    results.push_back(builder.import(gradient->indices));
    results.push_back(builder.import(gradient->dense_shape));
  }

  // Split: nodes up to the last forward one belong to the forward half (saving inserts before it).
  size_t split = 0;
  if (last_forward) {
    split = static_cast<size_t>(std::find(body.nodes.begin(), body.nodes.end(), last_forward) -
                                body.nodes.begin()) +
            1;
  }
  std::vector<Node*> backward_nodes(body.nodes.begin() + static_cast<std::ptrdiff_t>(split),
                                    body.nodes.end());
  std::unordered_set<const Value*> made_forward;
  for (size_t i = 0; i < forward_argument_count; ++i) made_forward.insert(body.arguments[i]);
  for (size_t i = 0; i < split; ++i) {
    for (const Value* output : body.nodes[i]->outputs) made_forward.insert(output);
  }
  std::vector<Value*> saved;
  auto save = [&](Value* value) {
    if (!made_forward.contains(value)) return;
    if (std::find(saved.begin(), saved.end(), value) == saved.end()) saved.push_back(value);
  };
  std::function<void(const Node&)> visit = [&](const Node& node) {
    for (Value* input : node.inputs) save(input);
    for (const auto& block : node.blocks) {
      for (const Node* inner : block->nodes) visit(*inner);
      for (Value* result : block->results) save(result);
    }
  };
  for (const Node* node : backward_nodes) visit(*node);
  for (Value* result : results) save(result);

  derivative.backward = std::make_shared<Graph>(graph.name() + "__backward");
  Block& backward = derivative.backward->body();
  ValueMap map;
  for (Value* gradient : output_gradients) {
    map.set(gradient, derivative.backward->add_argument(backward, gradient->type));
  }
  for (Value* value : saved) {
    map.set(value, derivative.backward->add_argument(backward, value->type));
  }
  GraphCopier copier(*derivative.backward, map);
  for (const Node* node : backward_nodes) copier.copy_node(*node, backward);
  for (Value* result : results) backward.results.push_back(map(result));

  std::unordered_set<const Node*> dead(backward_nodes.begin(), backward_nodes.end());
  joint->remove_nodes(body, [&](const Node& node) { return dead.contains(&node); });
  body.arguments.resize(forward_argument_count);
  body.results.insert(body.results.end(), saved.begin(), saved.end());
  derivative.saved_count = static_cast<int>(saved.size());
  derivative.forward = std::move(joint);
  return derivative;
}

ForwardDerivative build_forward_derivative(const Graph& graph,
                                           const std::vector<bool>& has_tangent) {
  ForwardDerivative derivative;
  ValueMap original;
  derivative.graph = copy_without_captures(graph, original, "__tangent");
  Graph& joint = *derivative.graph;
  Block& body = joint.body();
  size_t argument_count = body.arguments.size();
  size_t result_count = body.results.size();
  ForwardPass pass;
  for (size_t i = 0; i < argument_count; ++i) {
    if (!has_tangent[i]) continue;
    ValueType type = body.arguments[i]->type;
    // The tangent of a variable's handle is that of its value.
    if (type.dtype == DType::kResource && type.handle) {
      type = tensor_type(type.handle->dtype, type.handle->shape);
    }
    pass.set(Operand(body.arguments[i]), Operand(joint.add_argument(body, type, "tangent")));
  }
  GraphBuilder builder(joint);
  pass.block(builder, body);
  for (size_t i = 0; i < result_count; ++i) {
    Operand tangent = pass.tangent(Operand(body.results[i]));
    if (!tangent) continue;
    derivative.tangent_results.push_back(static_cast<int>(i));
    body.results.push_back(builder.import(tangent));
  }
  return derivative;
}

}  // namespace graphwright
