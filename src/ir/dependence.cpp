#include "ir/dependence.h"

#include <algorithm>

#include "ir/opdef.h"

namespace graphwright {
namespace {

constexpr int kMaxRootDepth = 64;

template <class T>
void insert_sorted(std::vector<T>& items, T item) {
  auto at = std::lower_bound(items.begin(), items.end(), item);
  if (at == items.end() || *at != item) items.insert(at, item);
}

template <class T>
bool intersect(const std::vector<T>& left, const std::vector<T>& right) {
  auto a = left.begin();
  auto b = right.begin();
  while (a != left.end() && b != right.end()) {
    if (*a == *b) return true;
    if (*a < *b) {
      ++a;
    } else {
      ++b;
    }
  }
  return false;
}

// `writer` writes what `other` reads or writes.
bool write_conflicts(const EffectSet& writer, const EffectSet& other) {
  if (writer.writes_unknown) return other.touches_resources();
  if (writer.writes.empty()) return false;
  return other.reads_unknown || other.writes_unknown || intersect(writer.writes, other.reads) ||
         intersect(writer.writes, other.writes);
}

}  // namespace

void EffectSet::add_read(const Value* resource) {
  if (resource) {
    insert_sorted(reads, resource);
  } else {
    reads_unknown = true;
  }
}

void EffectSet::add_write(const Value* resource) {
  if (resource) {
    insert_sorted(writes, resource);
  } else {
    writes_unknown = true;
  }
}

void EffectSet::add_random(const Node* site) { insert_sorted(random_sites, site); }

void EffectSet::merge(const EffectSet& other) {
  for (const Value* resource : other.reads) insert_sorted(reads, resource);
  for (const Value* resource : other.writes) insert_sorted(writes, resource);
  for (const Node* site : other.random_sites) insert_sorted(random_sites, site);
  reads_unknown |= other.reads_unknown;
  writes_unknown |= other.writes_unknown;
  io |= other.io;
  opaque |= other.opaque;
}

bool must_keep_order(const EffectSet& left, const EffectSet& right) {
  if (write_conflicts(left, right) || write_conflicts(right, left)) return true;
  if (left.io && right.io) return true;
  if (intersect(left.random_sites, right.random_sites)) return true;
  auto visible = [](const EffectSet& set) {
    return set.touches_resources() || set.io || set.opaque;
  };
  return (left.opaque && visible(right)) || (right.opaque && visible(left));
}

const Value* EffectAnalysis::resource_root(const Value& handle) { return find_root(handle, 0); }

const Value* EffectAnalysis::find_root(const Value& handle, int depth) {
  if (depth > kMaxRootDepth) return nullptr;
  auto known = roots_.find(&handle);
  if (known != roots_.end()) return known->second;
  const Value* root = follow_handle(handle, depth);
  roots_[&handle] = root;
  return root;
}

const Value* EffectAnalysis::follow_handle(const Value& handle, int depth) {
  const Node* node = handle.node;
  if (!node) {
    const Node* owner = handle.block->owner;
    if (!owner) return &handle;  // an argument or capture of the graph
    if (owner->op->name != "While" || handle.index == 0) return nullptr;
    return loop_root(*owner, handle.index - 1, depth);
  }
  if (node->op->name == "Identity") return find_root(*node->inputs[0], depth + 1);
  if (node->op->name == "While") {
    return handle.index == 0 ? nullptr : loop_root(*node, handle.index - 1, depth);
  }
  if (!node->blocks.empty()) {  // If, Case: the same in every branch
    const Value* root = nullptr;
    for (const auto& block : node->blocks) {
      const Value* branch_root = find_root(*block->results[handle.index], depth + 1);
      if (!branch_root || (root && branch_root != root)) return nullptr;
      root = branch_root;
    }
    return root;
  }
  return node->callee ? nullptr : &handle;
}

// A carried handle is the initial one if the body passes it on as it is.
const Value* EffectAnalysis::loop_root(const Node& loop, size_t carried, int depth) {
  if (loop.blocks.size() != 2) return nullptr;
  const Block& body = *loop.blocks[1];
  const Value* argument = body.arguments[carried + 1];
  const Value* result = body.results[carried];
  while (result != argument && result->node && result->node->op->name == "Identity") {
    result = result->node->inputs[0];
  }
  if (result != argument) return nullptr;
  return find_root(*loop.inputs[carried + 1], depth + 1);
}

const EffectSet& EffectAnalysis::effects(const Node& node) {
  auto known = nodes_.find(&node);
  if (known != nodes_.end()) return known->second;
  EffectSet set;
  const Effects& own = node.op->effects;
  for (size_t i = 0; i < node.inputs.size() && i < 32; ++i) {
    if (own.reads >> i & 1u) set.add_read(resource_root(*node.inputs[i]));
    if (own.writes >> i & 1u) set.add_write(resource_root(*node.inputs[i]));
  }
  set.io = own.io;
  set.opaque = own.opaque;
  if (own.random) set.add_random(&node);
  for (const auto& block : node.blocks) set.merge(block_effects(*block));
  if (node.callee) {
    const Graph& callee = node.callee->callee_graph();
    const EffectSet inner = callee_effects(callee);
    auto outside = [&](const Value* resource) -> const Value* {
      // A handle that the callee makes for itself may be shared by name: unknown.
      bool is_argument = !resource->node && resource->block == &callee.body();
      if (!is_argument || resource->index >= node.inputs.size()) return nullptr;
      return resource_root(*node.inputs[resource->index]);
    };
    for (const Value* resource : inner.reads) set.add_read(outside(resource));
    for (const Value* resource : inner.writes) set.add_write(outside(resource));
    for (const Node* site : inner.random_sites) set.add_random(site);
    set.reads_unknown |= inner.reads_unknown;
    set.writes_unknown |= inner.writes_unknown;
    set.io |= inner.io;
    set.opaque |= inner.opaque;
  }
  return nodes_.emplace(&node, std::move(set)).first->second;
}

EffectSet EffectAnalysis::callee_effects(const Graph& callee) {
  EffectSet unknown;
  unknown.opaque = true;  // what a callee that calls itself sees of itself meanwhile
  auto [known, added] = callees_.try_emplace(&callee, std::move(unknown));
  if (!added) return known->second;
  EffectSet set = block_effects(callee.body());
  callees_[&callee] = set;
  return set;
}

EffectSet EffectAnalysis::block_effects(const Block& block) {
  EffectSet set;
  for (const Node* node : block.nodes) set.merge(effects(*node));
  return set;
}

std::vector<std::vector<uint32_t>> EffectAnalysis::order_edges(const Block& block) {
  // What was last done to each resource. "Unknown" accesses stand for an access of every resource.
  struct Track {
    int64_t write = -1;
    std::vector<uint32_t> reads;  // since that write
  };
  std::unordered_map<const Value*, Track> tracks;
  Track everything;               // unknown accesses
  std::vector<uint32_t> visible;  // with any visible effect, since the last opaque node
  std::unordered_map<const Node*, uint32_t> sites;
  int64_t last_io = -1;
  int64_t last_opaque = -1;
  std::vector<std::vector<uint32_t>> edges(block.nodes.size());
  for (uint32_t at = 0; at < block.nodes.size(); ++at) {
    const EffectSet& set = effects(*block.nodes[at]);
    if (!set.any()) continue;
    std::vector<uint32_t>& follows = edges[at];
    auto follow = [&](int64_t earlier) {
      if (earlier >= 0) follows.push_back(static_cast<uint32_t>(earlier));
    };
    // The write is implied by the reads after it; exported graphs name both all the same.
    auto follow_track = [&](const Track& track) {
      follow(track.write);
      for (uint32_t reader : track.reads) follow(reader);
    };
    bool is_visible = set.touches_resources() || set.io || set.opaque;
    if (set.opaque) {
      for (uint32_t earlier : visible) follow(earlier);
      if (visible.empty()) follow(last_opaque);
    } else if (is_visible) {
      follow(last_opaque);
    }
    if (set.writes_unknown) {
      for (auto& [resource, track] : tracks) follow_track(track);
      follow_track(everything);
      tracks.clear();
      everything = {at, {}};
    } else {
      if (set.reads_unknown) {
        for (auto& [resource, track] : tracks) follow(track.write);
        follow(everything.write);
        everything.reads.push_back(at);
      }
      for (const Value* resource : set.reads) {
        if (std::binary_search(set.writes.begin(), set.writes.end(), resource)) continue;
        Track& track = tracks[resource];
        follow(track.write >= 0 ? track.write : everything.write);
        track.reads.push_back(at);
      }
      for (const Value* resource : set.writes) {
        Track& track = tracks[resource];
        follow_track(track);
        // Unknown accesses since the last known write concern this resource too.
        if (track.write < 0 && track.reads.empty()) follow(everything.write);
        for (uint32_t reader : everything.reads) follow(reader);
        track = {at, {}};
      }
    }
    if (set.io) {
      follow(last_io);
      last_io = at;
    }
    for (const Node* site : set.random_sites) {
      auto [known, added] = sites.try_emplace(site, at);
      if (!added) follow(known->second);
      known->second = at;
    }
    if (set.opaque) {
      visible.clear();
      last_opaque = at;
    } else if (is_visible) {
      visible.push_back(at);
    }
    std::sort(follows.begin(), follows.end());
    follows.erase(std::unique(follows.begin(), follows.end()), follows.end());
    std::erase(follows, at);
  }
  return edges;
}

EffectSet graph_effects(const Graph& graph) {
  EffectAnalysis analysis;
  return analysis.block_effects(graph.body());
}

}  // namespace graphwright
