// Effects of nodes, and which of them must keep their order. A block's order is the program's
// order; everything that may run nodes in another order, drop them or export their order asks here.
//
// Two nodes must keep their order when
//   one writes a resource that the other reads or writes (reads commute, resources are
//   independent); both do input or output: prints, asserts and files are one stream; both advance
//   the generator of one random call site (two calls of one function); one may do anything (a
//   Python callback) and the other has any effect but randomness.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace graphwright {

class EffectSet {
 public:
  // Resources are named by the value that stands for them in the block or graph looked at: an
  // argument, or the output of the node that made the handle. Sorted, each once.
  std::vector<const Value*> reads, writes;
  std::vector<const Node*> random_sites;
  bool reads_unknown = false;  // through a handle that cannot be followed: any resource
  bool writes_unknown = false;
  bool io = false;
  bool opaque = false;

  // Anything at all: the node cannot be merged with an equal one.
  bool any() const { return touches_resources() || !random_sites.empty() || io || opaque; }
  bool touches_resources() const {
    return !reads.empty() || !writes.empty() || reads_unknown || writes_unknown;
  }
  // Effects that others can see: the node must run though nobody uses its outputs.
  bool must_run() const { return !writes.empty() || writes_unknown || io || opaque; }
  void add_read(const Value* resource);  // null: unknown
  void add_write(const Value* resource);
  void add_random(const Node* site);
  void merge(const EffectSet& other);
};

// The dependence function.
bool must_keep_order(const EffectSet& left, const EffectSet& right);

// Effect sets of the nodes of one graph, cached: a node's own, those of its blocks, those of its
// callee with the callee's arguments replaced by the call's inputs. The graph must not change while
// the analysis is used.
class EffectAnalysis {
 public:
  const EffectSet& effects(const Node& node);
  // Of all the nodes of a block.
  EffectSet block_effects(const Block& block);
  // For each node of the block, the positions of the earlier nodes that it must directly follow:
  // the transitive closure orders exactly the pairs of must_keep_order that have effects, and what
  // follows from them. Values' own edges are not among them.
  std::vector<std::vector<uint32_t>> order_edges(const Block& block);
  // The value that stands for the same resource furthest out in this graph, followed through
  // Identity and through loops and branches that pass it on; null if that cannot be told.
  const Value* resource_root(const Value& handle);

 private:
  EffectSet callee_effects(const Graph& callee);
  const Value* find_root(const Value& handle, int depth);
  const Value* follow_handle(const Value& handle, int depth);
  const Value* loop_root(const Node& loop, size_t carried, int depth);
  std::unordered_map<const Node*, EffectSet> nodes_;
  std::unordered_map<const Graph*, EffectSet> callees_;
  std::unordered_map<const Value*, const Value*> roots_;
};

// Whether a graph has any effect, its callees' included.
EffectSet graph_effects(const Graph& graph);

}  // namespace graphwright
