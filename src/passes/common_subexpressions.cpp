// Computes equal values once: a node gives way to an equal one that has run before it on every way
// to it. Reads of a resource are equal as long as nothing is written to it in between.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ir/dependence.h"
#include "ir/opdef.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

// Constants above this size are compared only by identity.
constexpr size_t kMaxComparedBytes = 1024;

size_t mix(size_t hash, size_t value) {
  return (hash ^ (value + 0x9E3779B97F4A7C15ull + (hash << 6) + (hash >> 2))) *
         0xFF51AFD7ED558CCDull;
}

class CommonSubexpressions final : public Rewriter {
 public:
  explicit CommonSubexpressions(Graph& graph) : Rewriter(graph) {
    size_t count = count_nodes(graph.body());
    entries_.reserve(count);
    heads_.assign(std::bit_ceil(count + 1), kNone);
  }

 private:
  // Entries of one hash's remainder are chained, later ones first.
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Entry {
    Node* node;
    size_t hash;
    uint64_t epoch;
    uint32_t next;
  };
  // The product of mix() has its best bits above.
  uint32_t& head_of(size_t hash) { return heads_[hash >> 24 & (heads_.size() - 1)]; }

  bool visit(Node& node) override {
    if (!node.blocks.empty()) {
      // What a loop writes, it may have written before any of its nodes run.
      if (node.op->name.ends_with("While")) note_writes(node);
      return true;
    }
    if (is_constant(node) || is_pure_leaf(node)) return !merge(node, 0);
    const EffectSet* effects = effects_of(node);
    if (!effects) return true;
    bool only_reads = !effects->must_run() && effects->random_sites.empty() &&
                      (node.callee || node.op->compute.kind == ComputeKind::kEffect);
    if (only_reads) return !merge(node, read_epoch(*effects));
    note_writes(node);
    return true;
  }

  void leave_node(Node& node) override {
    if (!node.blocks.empty()) note_writes(node);
  }
  void enter_block(Block&) override { marks_.push_back(entries_.size()); }
  void leave_block(Block&) override {
    while (entries_.size() > marks_.back()) {
      head_of(entries_.back().hash) = entries_.back().next;
      entries_.pop_back();
    }
    marks_.pop_back();
  }

  static bool is_constant(const Node& node) {
    return !node.outputs.empty() && constant_tensor(*node.outputs[0]);
  }

  // A function may have several handles.
  static const Graph* called(const Node& node) {
    return node.callee ? &node.callee->callee_graph() : nullptr;
  }

  // Null for nodes without effects that are not pure either: they stay as they are.
  const EffectSet* effects_of(const Node& node) {
    if (!node.callee && !node.op->effects.any()) return nullptr;
    return &analysis_.effects(node);
  }

  // A number that changes with every write to what the effects read.
  uint64_t read_epoch(const EffectSet& effects) {
    uint64_t epoch = effects.reads_unknown ? any_write_ : unknown_write_;
    for (const Value* resource : effects.reads) {
      auto found = writes_.find(resource);
      if (found != writes_.end()) epoch = std::max(epoch, found->second);
    }
    return epoch + 1;  // 0 is for nodes that read nothing
  }

  void note_writes(const Node& node) {
    const EffectSet& effects = analysis_.effects(node);
    if (effects.writes.empty() && !effects.writes_unknown && !effects.opaque) return;
    any_write_ = ++clock_;
    if (effects.writes_unknown || effects.opaque) unknown_write_ = clock_;
    for (const Value* resource : effects.writes) writes_[resource] = clock_;
  }

  static size_t hash_of(const Node& node, uint64_t epoch) {
    size_t hash = mix(reinterpret_cast<size_t>(node.op), epoch);
    hash = mix(hash, reinterpret_cast<size_t>(called(node)));
    if (const Tensor* tensor = is_constant(node) ? constant_tensor(*node.outputs[0]) : nullptr) {
      hash = mix(hash, static_cast<size_t>(tensor->dtype()));
      hash = mix(hash, static_cast<size_t>(tensor->element_count()));
      if (has_object_elements(tensor->dtype()) || tensor->byte_size() > kMaxComparedBytes) {
        return mix(hash, reinterpret_cast<size_t>(tensor->impl()));
      }
      return mix(hash, std::hash<std::string_view>()(std::string_view(
                           static_cast<const char*>(tensor->raw_data()), tensor->byte_size())));
    }
    size_t inputs = 0;
    for (const Value* input : node.inputs) {
      auto one = reinterpret_cast<size_t>(input);
      // Sums do not depend on the order.
      inputs = node.op->has(kCommutative) ? inputs + mix(0, one) : mix(inputs, one);
    }
    return mix(hash, inputs);
  }

  static bool equal(const Node& left, const Node& right) {
    if (left.op != right.op || called(left) != called(right) ||
        left.outputs.size() != right.outputs.size() || !(left.device == right.device)) {
      return false;
    }
    if (is_constant(left)) return same_constant(left, right);
    bool same_inputs =
        left.inputs == right.inputs ||
        (left.op->has(kCommutative) && left.inputs.size() == 2 && right.inputs.size() == 2 &&
         left.inputs[0] == right.inputs[1] && left.inputs[1] == right.inputs[0]);
    return same_inputs && attributes_equal(*left.op, left.attributes, right.attributes);
  }

  static bool same_constant(const Node& left, const Node& right) {
    const Tensor& a = *constant_tensor(*left.outputs[0]);
    const Tensor& b = *constant_tensor(*right.outputs[0]);
    if (a.is_same(b)) return true;
    if (a.dtype() != b.dtype() || has_object_elements(a.dtype()) ||
        a.byte_size() > kMaxComparedBytes || !std::ranges::equal(a.dims(), b.dims())) {
      return false;
    }
    return std::memcmp(a.raw_data(), b.raw_data(), a.byte_size()) == 0;
  }

  // True if an equal node is there already, which now serves for this one too.
  bool merge(Node& node, uint64_t epoch) {
    if (gives_handles(node) || node.outputs.empty()) return false;
    size_t hash = hash_of(node, epoch);
    uint32_t& head = head_of(hash);
    for (uint32_t index = head; index != kNone; index = entries_[index].next) {
      const Entry& entry = entries_[index];
      if (entry.hash != hash || entry.epoch != epoch || !equal(*entry.node, node)) continue;
      bool fits = true;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        fits = fits && Replacements::can_replace(*node.outputs[i], *entry.node->outputs[i]);
      }
      if (!fits) continue;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        replace(node.outputs[i], entry.node->outputs[i]);
      }
      return true;
    }
    entries_.push_back({&node, hash, epoch, head});
    head = static_cast<uint32_t>(entries_.size() - 1);
    return false;
  }

  EffectAnalysis analysis_;
  std::vector<Entry> entries_;  // of the blocks around, inner ones last
  std::vector<size_t> marks_;   // how many there were when each block was entered
  std::vector<uint32_t> heads_;
  std::unordered_map<const Value*, uint64_t> writes_;
  uint64_t clock_ = 0, any_write_ = 0, unknown_write_ = 0;
};

}  // namespace

void merge_common_subexpressions(Graph& graph, PassContext&) { CommonSubexpressions(graph).run(); }

}  // namespace graphwright::passes
