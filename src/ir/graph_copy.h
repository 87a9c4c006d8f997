// Copying nodes, blocks and whole graphs. Passes and derivatives work on copies: a trace never
// changes.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace graphwright {

// Old value -> new value. Values that were never set stand for themselves, which is what a copy of
// a block does with the values it sees from outside.
class ValueMap {
 public:
  void set(const Value* from, Value* to) { map_[from] = to; }
  // Null if the value was never set.
  Value* find(const Value* from) const {
    auto found = map_.find(from);
    return found == map_.end() ? nullptr : found->second;
  }
  Value* operator()(Value* from) const {
    Value* found = find(from);
    return found ? found : from;
  }
  size_t size() const { return map_.size(); }

 private:
  std::unordered_map<const Value*, Value*> map_;
};

// Copies nodes, with the blocks they own, to the ends of blocks of one target graph, which may be
// the source's own. Scopes of another graph are copied below `scope`.
class GraphCopier {
 public:
  GraphCopier(Graph& target, ValueMap& values, ScopeId scope = 0)
      : target_(target), values_(values), scope_(scope) {}
  Node* copy_node(const Node& node, Block& target);
  // Every node of `source`; its arguments must be in the map. Results are left to the caller.
  void copy_nodes(const Block& source, Block& target);
  // Arguments, nodes and results of `source` into an empty block.
  void copy_block(const Block& source, Block& target);
  ValueMap& values() { return values_; }

 private:
  friend std::shared_ptr<Graph> copy_graph(const Graph& graph, ValueMap* value_map);
  ScopeId copy_scope(const Graph& source, ScopeId scope);
  Graph& target_;
  ValueMap& values_;
  ScopeId scope_;
  bool keep_ids_ = false;  // a whole graph: the replay of its names must give the same names
  std::unordered_map<const Node*, Node*> nodes_;
  std::unordered_map<const Graph*, std::unordered_map<ScopeId, ScopeId>> scopes_;
};

// The source's nodes at the end of `target`, with `arguments` for its arguments. Returns what its
// results became.
std::vector<Value*> inline_block(const Block& source, Block& target,
                                 std::span<Value* const> arguments, ValueMap* value_map = nullptr,
                                 ScopeId scope = 0);

}  // namespace graphwright
