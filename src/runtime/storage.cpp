#include "runtime/storage.h"

#include <algorithm>
#include <map>

#include "ir/opdef.h"

namespace graphwright::runtime {
namespace {

// Ops whose output is often somebody else's tensor: copying it to the arena would cost more than a
// reference.
bool shares_memory(const OpDef& op) {
  return op.compute.kind == ComputeKind::kEffect || op.name == "Reshape" ||
         op.name == "ExpandDims" || op.name == "Squeeze" || op.name == "TensorListGetItem";
}

int64_t rounded(int64_t bytes) {
  if (bytes <= 16) return 16;
  if (bytes <= 32) return 32;
  return (bytes + 63) / 64 * 64;
}

}  // namespace

Storage::Storage(PlanTree& tree) : tree_(tree) {
  const size_t count = tree.values().size();
  parent_.resize(count);
  for (size_t i = 0; i < count; ++i) parent_[i] = static_cast<ValueId>(i);
  pinned_.resize(count);
  in_loop_variable_.resize(count);
  slot_of_.assign(count, -1);

  pin_multiple_outputs(tree.root());
  merge_branch_results(tree.root());
  merge_loop_variables(tree.root());
  for (size_t i = 0; i < count; ++i) {
    const TreeValue& value = tree.value(static_cast<ValueId>(i));
    if (value.is_external() && value.needed) add_slot_of(static_cast<ValueId>(i));
  }
  make_slots(tree.root());
  find_swaps(tree.root());
  extend_lives_of_swaps();
  find_results();
  assign_offsets();
}

ValueId Storage::root(ValueId id) {
  while (parent_[static_cast<size_t>(id)] != id) id = parent_[static_cast<size_t>(id)];
  return id;
}

void Storage::merge(ValueId kept, ValueId merged) {
  parent_[static_cast<size_t>(root(merged))] = root(kept);
}

bool Storage::same_type(ValueId left, ValueId right) const {
  const TreeValue& a = tree_.value(left);
  const TreeValue& b = tree_.value(right);
  return a.dense && b.dense && a.dtype == b.dtype && a.dims == b.dims;
}

// Kernels write their outputs to consecutive slots.
void Storage::pin_multiple_outputs(const TreeBlock& block) {
  for (const auto& node : block.nodes) {
    if (node->kind == NodeKind::kOp && node->outputs.size() > 1) {
      for (ValueId id : node->outputs) pinned_[static_cast<size_t>(id)] = true;
    }
    for (const auto& inner : node->blocks) pin_multiple_outputs(*inner);
  }
}

// A value made in a branch for one of its results is made in the slot of the `if`'s output: nothing
// reads that before the `if` has ended.
void Storage::merge_branch_results(const TreeBlock& block) {
  for (const auto& node : block.nodes) {
    for (const auto& inner : node->blocks) merge_branch_results(*inner);
    if (node->kind != NodeKind::kIf && node->kind != NodeKind::kCase) continue;
    for (const auto& branch : node->blocks) {
      for (size_t i = 0; i < node->outputs.size(); ++i) {
        ValueId result = branch->results[i];
        if (result == kNoValue || tree_.value(result).block != branch.get() ||
            pinned_[static_cast<size_t>(result)] || !same_type(result, node->outputs[i]) ||
            root(result) != result) {
          continue;
        }
        merge(node->outputs[i], result);
      }
    }
  }
}

bool Storage::used_after(ValueId id, const TreeBlock& block, int32_t position) const {
  const auto& uses = tree_.value(id).uses;
  const TreeNode& loop = *tree_.value(id).definition;
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
    // After the loop, the variable is the new value.
    return use.position < loop.end_position && PlanTree::may_follow(&block, position, use);
  });
}

// Whether the node may write its output over the variable, should it read it.
bool Storage::can_overwrite(const TreeNode& node, ValueId variable) const {
  const TreeValue& target = tree_.value(variable);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != variable) continue;
    if (node.kind != NodeKind::kOp) return false;
    const OpDef& op = *node.node->op;
    bool in_place = op.compute.kind == ComputeKind::kFormula
                        ? std::all_of(node.inputs.begin(), node.inputs.end(),
                                      [&](ValueId id) { return tree_.value(id).dense; })
                        : i < 32 && (op.in_place_inputs >> i & 1u);
    // Same type means same elements in the same order: each is read before it is written.
    if (!in_place || !same_type(node.outputs[0], variable) || !target.dense) return false;
  }
  return true;
}

bool Storage::can_define_into(ValueId id, ValueId variable, const TreeBlock& block) const {
  if (id == variable) return true;  // a branch that leaves it alone
  const TreeValue& value = tree_.value(id);
  // A value from outside of the branch is copied at its end: the variable must be dead by then.
  if (value.block != &block) return !used_after(variable, block, block.end);
  if (!same_type(id, variable) || pinned_[static_cast<size_t>(id)]) return false;
  const TreeNode& node = *value.definition;
  switch (node.kind) {
    case NodeKind::kOp:
      return !used_after(variable, block, node.position) && can_overwrite(node, variable);
    case NodeKind::kCall:
      return !used_after(variable, block, node.position);
    case NodeKind::kWhile:
      // The inner loop's variable holds its value from the inner loop's start on.
      return !used_after(variable, block, node.position);
    case NodeKind::kIf:
    case NodeKind::kCase: {
      if (used_after(variable, block, node.end_position)) return false;
      auto output = std::find(node.outputs.begin(), node.outputs.end(), id);
      const auto index = static_cast<size_t>(output - node.outputs.begin());
      return std::all_of(node.blocks.begin(), node.blocks.end(), [&](const auto& branch) {
        return can_define_into(branch->results[index], variable, *branch);
      });
    }
  }
  return false;
}

// What the body gives for the next iteration is made in the loop variable itself where nobody reads
// the old value any more.
void Storage::merge_loop_variables(const TreeBlock& block) {
  for (const auto& node : block.nodes) {
    if (node->kind == NodeKind::kWhile) {
      const TreeBlock& body = *node->blocks[1];
      for (size_t i = 1; i < node->outputs.size(); ++i) {
        ValueId variable = node->outputs[i];
        ValueId result = body.results[i - 1];
        if (result == kNoValue || result == variable || tree_.value(result).block != &body ||
            !tree_.value(variable).dense || in_loop_variable_[static_cast<size_t>(result)] ||
            !can_define_into(result, variable, body)) {
          continue;
        }
        in_loop_variable_[static_cast<size_t>(result)] = true;
        merge(variable, result);
      }
    }
    for (const auto& inner : node->blocks) merge_loop_variables(*inner);
  }
}

// Large loop variables that are not made in place change memory with their successors.
void Storage::find_swaps(const TreeBlock& block) {
  for (const auto& node : block.nodes) {
    for (const auto& inner : node->blocks) find_swaps(*inner);
    if (node->kind != NodeKind::kWhile) continue;
    const TreeBlock& body = *node->blocks[1];
    for (size_t i = 1; i < node->outputs.size(); ++i) {
      ValueId variable = node->outputs[i];
      ValueId result = body.results[i - 1];
      if (result == kNoValue || !same_type(variable, result) ||
          (!tree_.value(variable).symbolic && tree_.value(variable).bytes <= kSwapBytes)) {
        continue;
      }
      const TreeValue& value = tree_.value(result);
      bool own = value.block == &body || value.definition == node.get();
      auto to = static_cast<size_t>(slot_of(variable)), from = static_cast<size_t>(slot_of(result));
      if (own && to != from && slots_[to].kind == Slot::Kind::kArena &&
          slots_[from].kind == Slot::Kind::kArena) {
        slots_[to].swapped = slots_[from].swapped = true;
        swaps_.emplace_back(to, from);
      }
    }
  }
}

// Memory wanders among slots that are exchanged, from one run to the next too: all of them need it
// for as long as any of them lives.
void Storage::extend_lives_of_swaps() {
  for (bool again = true; again;) {
    again = false;
    for (auto [left, right] : swaps_) {
      Life hull{std::min(lives_[left].start, lives_[right].start),
                std::max(lives_[left].end, lives_[right].end)};
      for (size_t slot : {left, right}) {
        again = again || lives_[slot].start != hull.start || lives_[slot].end != hull.end;
        lives_[slot] = hull;
      }
    }
  }
}

void Storage::make_slots(const TreeBlock& block) {
  for (const auto& node : block.nodes) {
    const bool kernel = node->kind == NodeKind::kOp;
    for (ValueId id : node->outputs) {
      // A kernel writes all its outputs, whoever needs them.
      if (kernel || tree_.value(id).needed) add_slot_of(id);
    }
    if (kernel && node->outputs.size() == 1) note_overwritable(*node);
    for (const auto& inner : node->blocks) make_slots(*inner);
  }
}

// Operands whose memory the output may take over, and outputs that take over a whole tensor.
void Storage::note_overwritable(const TreeNode& node) {
  const ValueId output = node.outputs[0];
  const auto index = static_cast<size_t>(slot_of(output));
  Slot& slot = slots_[index];
  const OpDef& op = *node.node->op;
  if (op.compute.kind == ComputeKind::kFormula) {
    for (ValueId input : node.inputs) {
      const TreeValue& operand = tree_.value(input);
      if (operand.dense && slot.dense && operand.dims == slot.dims &&
          dtype_size(operand.dtype) == dtype_size(slot.dtype)) {
        overwritten_[index].push_back(slot_of(input));
      }
    }
  } else if (shares_memory(op) && slot.kind == Slot::Kind::kArena &&
             (slot.symbolic || slot.bytes > kSwapBytes) && root(output) == output) {
    slot.kind = Slot::Kind::kHeld;
  }
}

void Storage::add_slot_of(ValueId id) {
  ValueId representative = root(id);
  auto& slot = slot_of_[static_cast<size_t>(representative)];
  if (slot < 0) slot = make_slot(representative);
  slot_of_[static_cast<size_t>(id)] = slot;
  if (tree_.value(id).is_external()) return;
  Life& life = lives_[static_cast<size_t>(slot)];
  life.start = std::min(life.start, tree_.start_of_life(id));
  life.end = std::max(life.end, tree_.end_of_life(id));
}

int32_t Storage::make_slot(ValueId id) {
  const TreeValue& value = tree_.value(id);
  Slot slot;
  slot.dense = value.dense;
  slot.symbolic = value.symbolic;
  slot.value = value.prologue_value;
  slot.dtype = value.dtype;
  slot.dims = value.dims;
  slot.element_count = value.element_count;
  slot.bytes = value.bytes;
  slot.constant = value.constant;
  slot.argument = value.argument;
  slot.kind = value.constant              ? Slot::Kind::kConstant
              : value.argument >= 0       ? Slot::Kind::kArgument
              : value.prologue_value >= 0 ? Slot::Kind::kPrologue
              : value.dense               ? Slot::Kind::kArena
                                          : Slot::Kind::kDynamic;
  slots_.push_back(std::move(slot));
  lives_.push_back({INT32_MAX, 0});
  overwritten_.emplace_back();
  return static_cast<int32_t>(slots_.size() - 1);
}

// Results too large to lie within a tensor object are made in the tensors that the run hands out.
void Storage::find_results() {
  for (ValueId id : tree_.root().results) {
    Slot& slot = slots_[static_cast<size_t>(slot_of(id))];
    if (slot.kind == Slot::Kind::kArena && !slot.swapped &&
        (slot.symbolic || slot.bytes > static_cast<int64_t>(kInlineBytes))) {
      slot.kind = Slot::Kind::kResult;
    }
  }
}

// Of the computed part of the arena: one that is free and of the same size, else any free one (it
// will be as large as the largest of its slots), else a new one.
int32_t Storage::take_region(int32_t index, std::vector<int32_t>& free) {
  const Slot& slot = slots_[static_cast<size_t>(index)];
  auto same = std::find_if(free.begin(), free.end(), [&](int32_t region) {
    const auto& members = regions_[static_cast<size_t>(region)].slots;
    return std::any_of(members.begin(), members.end(), [&](int32_t member) {
      const Slot& other = slots_[static_cast<size_t>(member)];
      return other.dims == slot.dims && dtype_size(other.dtype) == dtype_size(slot.dtype);
    });
  });
  if (same == free.end() && !free.empty()) same = free.end() - 1;
  int32_t region;
  if (same != free.end()) {
    region = *same;
    free.erase(same);
  } else {
    region = static_cast<int32_t>(regions_.size());
    regions_.emplace_back();
  }
  regions_[static_cast<size_t>(region)].slots.push_back(index);
  return region;
}

// Slots take regions in order of their start; a region is free again once its slot is dead.
void Storage::assign_offsets() {
  std::vector<int32_t> order;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].kind == Slot::Kind::kArena) order.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return lives_[static_cast<size_t>(a)].start < lives_[static_cast<size_t>(b)].start;
  });
  std::map<int64_t, std::vector<int64_t>> free;  // offsets by size
  std::vector<int32_t> free_regions;
  std::vector<int32_t> active;
  for (int32_t index : order) {
    Slot& slot = slots_[static_cast<size_t>(index)];
    const Life& life = lives_[static_cast<size_t>(index)];
    std::erase_if(active, [&](int32_t other) {
      const Slot& dead = slots_[static_cast<size_t>(other)];
      if (lives_[static_cast<size_t>(other)].end >= life.start) return false;
      if (dead.symbolic) {
        free_regions.push_back(dead.region);
        return true;
      }
      free[rounded(dead.bytes)].push_back(dead.offset);
      return true;
    });
    const int64_t size = rounded(slot.bytes);
    // In place: over an operand that dies in the very instruction that makes this slot.
    auto in_place = std::find_if(active.begin(), active.end(), [&](int32_t other) {
      const auto& allowed = overwritten_[static_cast<size_t>(index)];
      return !slot.swapped && slot.symbolic == slots_[static_cast<size_t>(other)].symbolic &&
             !slots_[static_cast<size_t>(other)].swapped &&
             lives_[static_cast<size_t>(other)].end == life.start &&
             std::find(allowed.begin(), allowed.end(), other) != allowed.end();
    });
    auto spare = free.find(size);
    if (in_place != active.end()) {
      slot.offset = slots_[static_cast<size_t>(*in_place)].offset;
      slot.region = slots_[static_cast<size_t>(*in_place)].region;
      if (slot.symbolic) regions_[static_cast<size_t>(slot.region)].slots.push_back(index);
      active.erase(in_place);
    } else if (slot.symbolic) {
      slot.region = take_region(index, free_regions);
    } else if (spare != free.end() && !spare->second.empty()) {
      slot.offset = spare->second.back();
      spare->second.pop_back();
    } else {
      if (size >= 64) arena_bytes_ = (arena_bytes_ + 63) / 64 * 64;
      slot.offset = arena_bytes_;
      arena_bytes_ += size;
    }
    active.push_back(index);
  }
}

int32_t Storage::add_scratch(int32_t like) {
  Slot slot = slots_[static_cast<size_t>(like)];
  slot.constant = Tensor();
  slot.argument = -1;
  slot.swapped = false;
  slot.kind = slot.dense ? Slot::Kind::kArena : Slot::Kind::kDynamic;
  if (slot.symbolic) {
    slot.region = static_cast<int32_t>(regions_.size());
    regions_.push_back({{static_cast<int32_t>(slots_.size())}});
  } else if (slot.dense) {
    arena_bytes_ = (arena_bytes_ + 63) / 64 * 64;
    slot.offset = arena_bytes_;
    arena_bytes_ += rounded(slot.bytes);
  }
  slots_.push_back(std::move(slot));
  return static_cast<int32_t>(slots_.size() - 1);
}

int32_t Storage::add_scratch_scalar(DType dtype) {
  Slot slot;
  slot.kind = Slot::Kind::kArena;
  slot.dense = true;
  slot.dtype = dtype;
  slot.element_count = 1;
  slot.bytes = static_cast<int64_t>(dtype_size(dtype));
  slot.offset = arena_bytes_;
  arena_bytes_ += 16;
  slots_.push_back(std::move(slot));
  return static_cast<int32_t>(slots_.size() - 1);
}

}  // namespace graphwright::runtime
