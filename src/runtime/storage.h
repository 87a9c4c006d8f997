// The second step of lowering: which values share a slot, and where the slots of known size lie in
// the frame's arena.
#pragma once

#include <utility>
#include <vector>

#include "runtime/plan_tree.h"
#include "runtime/program.h"

namespace graphwright::runtime {

class Storage {
 public:
  explicit Storage(PlanTree& tree);

  // Slot of a value that the program needs, or -1.
  int32_t slot_of(ValueId id) const { return slot_of_[static_cast<size_t>(id)]; }
  std::vector<Slot>& slots() { return slots_; }
  int64_t arena_bytes() const { return arena_bytes_; }
  std::vector<Region>& regions() { return regions_; }
  // One more slot, of the same kind as slot `like`, with memory of its own.
  int32_t add_scratch(int32_t like);
  int32_t add_scratch_scalar(DType dtype);

 private:
  struct Life {
    int32_t start, end;
  };
  ValueId root(ValueId id);
  void merge(ValueId kept, ValueId merged);
  bool same_type(ValueId left, ValueId right) const;

  void pin_multiple_outputs(const TreeBlock& block);
  void merge_branch_results(const TreeBlock& block);
  void merge_loop_variables(const TreeBlock& block);
  // Whether the definition of `id`, which stands in `block`, may write straight into the loop
  // variable.
  bool can_define_into(ValueId id, ValueId variable, const TreeBlock& block) const;
  bool can_overwrite(const TreeNode& node, ValueId variable) const;
  bool used_after(ValueId id, const TreeBlock& block, int32_t position) const;
  void find_swaps(const TreeBlock& block);
  void extend_lives_of_swaps();

  void make_slots(const TreeBlock& block);
  void note_overwritable(const TreeNode& node);
  int32_t make_slot(ValueId id);
  void add_slot_of(ValueId id);
  void find_results();
  void assign_offsets();
  int32_t take_region(int32_t index, std::vector<int32_t>& free);

  PlanTree& tree_;
  std::vector<ValueId> parent_;         // of the union of values that share a slot
  std::vector<bool> pinned_;            // outputs that must lie next to each other
  std::vector<bool> in_loop_variable_;  // merged into a loop variable already
  std::vector<int32_t> slot_of_;
  std::vector<Slot> slots_;
  std::vector<Life> lives_;                        // per slot
  std::vector<std::vector<int32_t>> overwritten_;  // per slot: slots whose memory it may take over
  std::vector<std::pair<size_t, size_t>> swaps_;   // slots that exchange their memory
  int64_t arena_bytes_ = 0;
  std::vector<Region> regions_;  // of slots whose sizes the prologue computes
};

// Loop variables above this size change places with their successor instead of being copied.
inline constexpr int64_t kSwapBytes = 64;

}  // namespace graphwright::runtime
