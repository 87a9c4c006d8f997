#include "trace/graph_slice.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "base/status.h"
#include "ir/dependence.h"
#include "ir/graph_copy.h"
#include "ir/node_names.h"

namespace graphwright {
namespace {

class Slicer {
 public:
  explicit Slicer(const Graph& graph) : body_(graph.body()) {
    EffectAnalysis analysis;
    edges_ = analysis.order_edges(body_);
    for (size_t i = 0; i < body_.nodes.size(); ++i) positions_[body_.nodes[i]] = i;
    needed_.resize(body_.nodes.size());
  }
  void feed(const Value* value) { fed_.insert(value); }
  void need(const Value* value) {
    if (fed_.count(value) || !value->node) return;
    need(value->node);
  }
  void need(const Node* node) {
    waiting_.push_back(node);
    while (!waiting_.empty()) {
      const Node* next = waiting_.back();
      waiting_.pop_back();
      auto position = positions_.find(next);
      if (position == positions_.end() || needed_[position->second]) continue;
      needed_[position->second] = true;
      auto use = [&](const Value* value) {
        if (!fed_.count(value) && value->node) waiting_.push_back(value->node);
      };
      for (const Value* input : next->inputs) use(input);
      for (const Value* value : free_values(*next)) use(value);
      for (const Node* control : next->control_inputs) waiting_.push_back(control);
      for (uint32_t earlier : edges_[position->second]) waiting_.push_back(body_.nodes[earlier]);
    }
  }
  bool needs(size_t position) const { return needed_[position]; }

 private:
  const Block& body_;
  std::vector<std::vector<uint32_t>> edges_;
  std::unordered_map<const Node*, size_t> positions_;
  std::unordered_set<const Value*> fed_;
  std::vector<bool> needed_;
  std::vector<const Node*> waiting_;
};

// The copy's names are the source's, whatever else there is.
void keep_names(const NodeNames& names, const Node& source, Node& copy) {
  copy.scope = 0;
  copy.base_name = InternedString(names.name(source));
  for (size_t i = 0; i < source.blocks.size(); ++i) {
    for (size_t k = 0; k < source.blocks[i]->nodes.size(); ++k) {
      keep_names(names, *source.blocks[i]->nodes[k], *copy.blocks[i]->nodes[k]);
    }
  }
}

}  // namespace

std::shared_ptr<Graph> slice_graph(const Graph& graph, std::string name,
                                   std::span<Value* const> feeds, std::span<Value* const> fetches,
                                   std::span<const Node* const> nodes) {
  const Block& body = graph.body();
  NodeNames names(graph);
  for (const auto& list : {feeds, fetches}) {
    for (const Value* value : list) {
      if (value->block != &body) {
        throw_value_error("a feed or fetch is not a tensor of the graph's body");
      }
    }
  }
  Slicer slicer(graph);
  for (const Value* value : feeds) slicer.feed(value);
  for (const Value* value : fetches) slicer.need(value);
  for (const Node* node : nodes) slicer.need(node);

  auto slice = std::make_shared<Graph>(std::move(name));
  ValueMap values;
  for (const Value* value : feeds) {
    std::string own = names.value_name(*value);
    own = own.substr(0, own.rfind(':'));
    values.set(value, slice->add_argument(slice->body(), value->type, own));
  }
  std::unordered_map<const Value*, const Capture*> captures;
  for (const Capture& capture : graph.captures()) captures[capture.inner] = &capture;
  auto provide = [&](const Value* value) {
    if (value->node || value->block != &body || values.find(value)) return;
    auto capture = captures.find(value);
    if (capture == captures.end()) {
      throw_value_error(
          fmt::format("Unable to lift the fetches because they depend on the "
                      "placeholder '{}', which is not among the feeds",
                      names.argument_name(*value)));
    }
    Value* argument = slice->add_argument(slice->body(), value->type, value->name.view());
    slice->captures().push_back({capture->second->tensor, capture->second->outer, argument});
    values.set(value, argument);
  };
  // Every capture first: they are the last arguments, and nodes come after all.
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    if (!slicer.needs(i)) continue;
    for (const Value* input : body.nodes[i]->inputs) provide(input);
    for (const Value* value : free_values(*body.nodes[i])) provide(value);
  }
  for (const Value* value : fetches) provide(value);
  GraphCopier copier(*slice, values);
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    if (!slicer.needs(i)) continue;
    Node* copy = copier.copy_node(*body.nodes[i], slice->body());
    keep_names(names, *body.nodes[i], *copy);
  }
  for (Value* value : fetches) slice->body().results.push_back(values(value));
  return slice;
}

}  // namespace graphwright
