#include "runtime/lowering.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "runtime/op_dispatch.h"
#include "runtime/storage.h"

namespace graphwright::runtime {
namespace {

// Formulas over more elements than this go to the driver that uses several threads.
constexpr int64_t kOneThread = 32768;

struct Move {
  int32_t to, from;  // slots
  bool last;         // nobody reads `from` after these moves
  bool may_swap;     // both are marked for exchanging their memory
};

class Lowering {
 public:
  Lowering(const Graph& graph, CalleePlans& family, bool sized)
      : family_(family), tree_(graph, sized), storage_(tree_) {
    find_nested_deaths();
  }

  std::shared_ptr<Plan> run() {
    plan_ = std::make_shared<Plan>();
    emit_block(tree_.root());
    emit(Opcode::kReturn);
    finish();
    return plan_;
  }

 private:
  Slot& slot(int32_t index) { return storage_.slots()[static_cast<size_t>(index)]; }
  // Holds a tensor that is to be let go at its last use.
  bool is_dynamic(int32_t index) {
    return slot(index).kind == Slot::Kind::kDynamic || slot(index).kind == Slot::Kind::kHeld;
  }

  Instruction& emit(Opcode opcode, int32_t out = 0, int32_t a = 0) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.out = out;
    instruction.a = a;
    plan_->code.push_back(instruction);
    return plan_->code.back();
  }
  int32_t here() const { return static_cast<int32_t>(plan_->code.size()); }
  // Makes a jump emitted earlier lead to the next instruction.
  void land(int32_t jump) { plan_->code[static_cast<size_t>(jump)].target = here(); }

  // --- Lifetimes of dynamic values ---------------------------------------------------------------

  // A value whose last use stands in a block inside of its own is released after the node that owns
  // that block, whichever way the program took in there.
  void find_nested_deaths() {
    for (size_t i = 0; i < tree_.values().size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const TreeValue& value = tree_.value(id);
      if (value.uses.empty() || !is_dynamic(storage_.slot_of(id))) continue;
      const Use& last =
          *std::max_element(value.uses.begin(), value.uses.end(),
                            [](const Use& a, const Use& b) { return a.position < b.position; });
      const TreeBlock* block = last.block;
      const TreeNode* inside = nullptr;
      for (; block != value.block; block = block->parent()) inside = block->owner;
      if (inside) dies_in_[inside].push_back(id);
    }
  }

  // Slots of dynamic values that no use follows after `node`: inputs and unused outputs.
  std::vector<int32_t> deaths_at(const TreeNode& node) {
    std::vector<int32_t> result;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      int32_t index = slot_at(node, i);
      if (index >= 0 && is_dynamic(index) && is_last_use(node, i) &&
          std::find(result.begin(), result.end(), index) == result.end()) {
        result.push_back(index);
      }
    }
    for (ValueId output : node.outputs) {
      int32_t index = storage_.slot_of(output);
      if (index >= 0 && is_dynamic(index) && tree_.value(output).uses.empty()) {
        result.push_back(index);
      }
    }
    return result;
  }

  int32_t slot_at(const TreeNode& node, size_t input) {
    ValueId id = node.inputs[input];
    return id == kNoValue ? -1 : storage_.slot_of(id);
  }

  bool is_last_use(const TreeNode& node, size_t input) {
    Use use{const_cast<TreeNode*>(&node), node.block, node.position, static_cast<int32_t>(input)};
    return tree_.is_last_use(node.inputs[input], use);
  }

  bool is_last_result(const TreeBlock& block, size_t index) {
    Use use{nullptr, const_cast<TreeBlock*>(&block), block.end, static_cast<int32_t>(index)};
    return tree_.is_last_use(block.results[index], use);
  }

  void emit_releases(const TreeNode& node) {
    auto found = dies_in_.find(&node);
    if (found == dies_in_.end()) return;
    for (ValueId id : found->second) emit(Opcode::kRelease, storage_.slot_of(id));
  }

  // --- Blocks ------------------------------------------------------------------------------------

  void emit_block(const TreeBlock& block) {
    for (const auto& node : block.nodes) {
      switch (node->kind) {
        case NodeKind::kOp:
          emit_op(*node);
          break;
        case NodeKind::kCall:
          emit_call(*node);
          break;
        case NodeKind::kIf:
          emit_if(*node);
          break;
        case NodeKind::kCase:
          emit_case(*node);
          break;
        case NodeKind::kWhile:
          emit_while(*node);
          break;
      }
      emit_releases(*node);
    }
  }

  // --- Ops ---------------------------------------------------------------------------------------

  void emit_op(const TreeNode& node) {
    const OpDef& op = *node.node->op;
    if (node.is_row_slice) return emit_row_slice(node);
    if (op.compute.kind == ComputeKind::kFormula && emit_formula(node)) {
      for (int32_t dead : deaths_at(node)) emit(Opcode::kRelease, dead);
      return;
    }
    if (op.compute.kind != ComputeKind::kFormula && !op.compute.kernel) {
      throw_unimplemented("Op " + std::string(op.name) + " has no kernel of its own.");
    }
    emit_kernel(node);
  }

  // Formulas over dense slots; false if a shape or a kernel is missing.
  bool emit_formula(const TreeNode& node) {
    const FormulaDescriptor& formula = *node.node->op->compute.formula;
    const int32_t out = storage_.slot_of(node.outputs.at(0));
    const size_t arity = node.inputs.size();
    if (!slot(out).dense || arity > static_cast<size_t>(kMaxFormulaOperands)) return false;
    std::vector<DType> dtypes;
    int32_t operands[kMaxFormulaOperands] = {};
    for (size_t i = 0; i < arity; ++i) {
      operands[i] = slot_at(node, i);
      if (!slot(operands[i]).dense) return false;
      dtypes.push_back(slot(operands[i]).dtype);
    }
    const DType type = formula_dtype(formula, dtypes);
    if (type == DType::kInvalid || formula.result_dtype(type) != slot(out).dtype) return false;
    const bool sized =
        slot(out).symbolic || std::any_of(operands, operands + arity,
                                          [&](int32_t operand) { return slot(operand).symbolic; });
    if (sized) return formula.elementwise(type) && emit_sized_formula(node, type, operands);
    const int64_t count = slot(out).element_count;
    bool flat = count <= kOneThread;
    uint8_t steps = 0;
    for (size_t i = 0; i < arity; ++i) {
      const int64_t own = slot(operands[i]).element_count;
      flat = flat && (own == count || own == 1);
      if (own == count && own != 1) steps = static_cast<uint8_t>(steps | 1u << i);
    }
    if (count == 1 && flat && formula.scalar(type)) {
      Instruction& instruction = emit(Opcode::kScalar, out, operands[0]);
      instruction.b = operands[1];
      instruction.c = operands[2];
      instruction.scalar = formula.scalar(type);
      instruction.node = node.node;
      return true;
    }
    if (!formula.elementwise(type)) return false;
    if (flat) {
      Instruction& instruction = emit(Opcode::kElementwise, out, operands[0]);
      instruction.b = operands[1];
      instruction.c = operands[2];
      instruction.flags = steps;
      instruction.n = count;
      instruction.elementwise = formula.elementwise(type);
      instruction.node = node.node;
      return true;
    }
    emit_formula_call(Opcode::kFormula, node, type, operands);
    return true;
  }

  Instruction& emit_formula_call(Opcode opcode, const TreeNode& node, DType type,
                                 const int32_t* operands) {
    const int32_t out = storage_.slot_of(node.outputs[0]);
    FormulaCall call{
        node.node->op->compute.formula, type, static_cast<int32_t>(node.inputs.size()), {}, out,
        opcode == Opcode::kSizedFormula};
    std::copy_n(operands, kMaxFormulaOperands, call.operands);
    Instruction& instruction = emit(opcode, out);
    instruction.n = static_cast<int64_t>(plan_->formulas.size());
    instruction.node = node.node;
    plan_->formulas.push_back(call);
    return instruction;
  }

  // What loop it takes is known when the sizes are.
  bool emit_sized_formula(const TreeNode& node, DType type, const int32_t* operands) {
    Instruction& instruction = emit_formula_call(Opcode::kSizedFormula, node, type, operands);
    instruction.a = operands[0];
    instruction.b = operands[1];
    instruction.c = operands[2];
    instruction.elementwise = node.node->op->compute.formula->elementwise(type);
    return true;
  }

  void emit_row_slice(const TreeNode& node) {
    RowSlice slice{slot_at(node, 0), storage_.slot_of(node.outputs[0])};
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      slice.indices[slice.count] = slot_at(node, i);
      slice.wide[slice.count++] = slot(slot_at(node, i)).dtype == DType::kInt64;
    }
    Instruction& instruction = emit(Opcode::kRowSlice, slice.out);
    instruction.n = static_cast<int64_t>(plan_->row_slices.size());
    instruction.node = node.node;
    plan_->row_slices.push_back(slice);
    for (int32_t dead : deaths_at(node)) emit(Opcode::kRelease, dead);
  }

  void emit_kernel(const TreeNode& node) {
    const OpDef& op = *node.node->op;
    KernelCall call{};
    call.node = node.node;
    std::vector<DType> dtypes;
    for (size_t i = 0; i < node.inputs.size(); ++i) dtypes.push_back(slot(slot_at(node, i)).dtype);
    call.kernel = runtime::runs_as_formula(op, dtypes) ? nullptr : op.compute.kernel;
    call.first_input = static_cast<int32_t>(plan_->kernel_inputs.size());
    call.input_count = static_cast<int32_t>(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      int32_t index = slot_at(node, i);
      plan_->kernel_inputs.push_back(index);
      const Slot& input = slot(index);
      call.infer_shapes = call.infer_shapes || (!input.dense && !has_object_elements(input.dtype) &&
                                                op.compute.kind != ComputeKind::kEffect);
      bool once = std::count(node.inputs.begin(), node.inputs.end(), node.inputs[i]) == 1;
      if (i < 32 && op.in_place_inputs >> i & 1u && call.overwritable < 0 && once &&
          slot(index).kind == Slot::Kind::kDynamic && is_last_use(node, i)) {
        call.overwritable = static_cast<int32_t>(i);
      }
    }
    call.output_count = static_cast<int32_t>(node.outputs.size());
    call.first_output = node.outputs.empty() ? 0 : storage_.slot_of(node.outputs[0]);
    for (ValueId output : node.outputs) {
      call.has_dense_outputs = call.has_dense_outputs || slot(storage_.slot_of(output)).dense;
    }
    call.release = deaths_at(node);
    if (op.effects.random) {
      std::shared_ptr<RandomSite>& site =
          family_.random_sites[{node.node, random_nodes_[node.node]++}];
      if (!site) site = std::make_shared<RandomSite>();
      call.random_site = site;
    }
    Instruction& instruction = emit(Opcode::kKernel);
    instruction.n = static_cast<int64_t>(plan_->kernels.size());
    instruction.node = node.node;
    plan_->kernels.push_back(std::move(call));
  }

  void emit_call(const TreeNode& node) {
    CallRecord call;
    call.node = node.node;
    call.callee = node.node->callee;
    for (size_t i = 0; i < node.inputs.size(); ++i) call.inputs.push_back(slot_at(node, i));
    for (ValueId output : node.outputs) call.outputs.push_back(storage_.slot_of(output));
    call.release = deaths_at(node);
    Instruction& instruction = emit(Opcode::kCall);
    instruction.n = static_cast<int64_t>(plan_->calls.size());
    instruction.node = node.node;
    plan_->calls.push_back(std::move(call));
  }

  // --- Moves -------------------------------------------------------------------------------------

  void emit_copy(int32_t to, int32_t from, bool last) {
    const Slot& target = slot(to);
    const Slot& source = slot(from);
    if (target.dense && source.dense && target.dims != source.dims) {
      emit(Opcode::kToDense, to, from).node = moving_node_;
      if (last && source.kind == Slot::Kind::kHeld) emit(Opcode::kRelease, from);
    } else if (target.dense && source.dense) {
      if (target.bytes == 0) return;
      if (target.symbolic) {
        emit(Opcode::kCopySized, to, from);
        if (last && source.kind == Slot::Kind::kHeld) emit(Opcode::kRelease, from);
        return;
      }
      Opcode opcode = target.bytes == 4   ? Opcode::kCopy4
                      : target.bytes == 8 ? Opcode::kCopy8
                                          : Opcode::kCopyBytes;
      emit(opcode, to, from).n = target.bytes;
      if (last && source.kind == Slot::Kind::kHeld) emit(Opcode::kRelease, from);
    } else if (target.dense) {
      emit(Opcode::kToDense, to, from).node = moving_node_;
      if (last && is_dynamic(from)) emit(Opcode::kRelease, from);
    } else if (source.kind == Slot::Kind::kArena || source.kind == Slot::Kind::kResult) {
      emit(Opcode::kToDynamic, to, from).node = moving_node_;
    } else {
      emit(last && is_dynamic(from) ? Opcode::kMoveTensor : Opcode::kShareTensor, to, from);
    }
  }

  void emit_exchange(int32_t left, int32_t right) {
    emit(slot(left).dense ? Opcode::kSwap : Opcode::kSwapTensors, left, right);
  }

  // All moves as if at once.
  void emit_moves(std::vector<Move> moves, const TreeNode& node) {
    moving_node_ = node.node;
    std::erase_if(moves, [](const Move& move) { return move.to == move.from; });
    auto reads = [&](int32_t index, const Move* except) {
      return std::any_of(moves.begin(), moves.end(), [&](const Move& other) {
        return &other != except && other.from == index;
      });
    };
    while (!moves.empty()) {
      auto ready = std::find_if(moves.begin(), moves.end(),
                                [&](const Move& move) { return !reads(move.to, &move); });
      if (ready != moves.end()) {
        bool last = ready->last && !reads(ready->from, &*ready);
        if (ready->may_swap && last) {
          emit_exchange(ready->to, ready->from);
        } else {
          emit_copy(ready->to, ready->from, last);
        }
        moves.erase(ready);
        continue;
      }
      // A cycle: a place for what the first move would overwrite.
      const Move first = moves.front();
      bool both_dynamic = is_dynamic(first.to) && is_dynamic(first.from);
      if ((first.may_swap || both_dynamic) && first.last) {
        emit_exchange(first.to, first.from);
        moves.erase(moves.begin());
        for (Move& move : moves) {
          move.from = move.from == first.to     ? first.from
                      : move.from == first.from ? first.to
                                                : move.from;
          move.may_swap = move.may_swap && move.from != first.to;
          move.last = move.last && move.from != first.to;
        }
        std::erase_if(moves, [](const Move& move) { return move.to == move.from; });
      } else {
        int32_t scratch = storage_.add_scratch(first.to);
        emit_copy(scratch, first.to, true);
        for (Move& move : moves) {
          if (move.from != first.to) continue;
          move.from = scratch;
          move.may_swap = false;
        }
      }
    }
  }

  // --- Branches ----------------------------------------------------------------------------------

  // A slot with the one element of the value in `index`, which the executor can read directly.
  int32_t scalar_slot(int32_t index, DType dtype, bool last, const TreeNode& node) {
    const Slot& source = slot(index);
    if (source.dtype != dtype) {
      throw_internal("A " + std::string(dtype_name(dtype)) + " scalar that steers a " +
                     std::string(node.node->op->name) + " is a " +
                     std::string(dtype_name(source.dtype)) + ".");
    }
    if (source.dense && source.element_count == 1) return index;
    int32_t result = storage_.add_scratch_scalar(dtype);
    Instruction& instruction = emit(Opcode::kElement, result, index);
    instruction.n = static_cast<int64_t>(dtype_size(dtype));
    instruction.node = node.node;
    if (last && is_dynamic(index)) emit(Opcode::kRelease, index);
    return result;
  }

  void emit_branch(const TreeNode& node, const TreeBlock& branch) {
    emit_block(branch);
    std::vector<Move> moves;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (branch.results[i] == kNoValue) continue;
      moves.push_back({storage_.slot_of(node.outputs[i]), storage_.slot_of(branch.results[i]),
                       is_last_result(branch, i), false});
    }
    emit_moves(std::move(moves), node);
  }

  void emit_if(const TreeNode& node) {
    int32_t condition = scalar_slot(slot_at(node, 0), DType::kBool, is_last_use(node, 0), node);
    int32_t to_else = here();
    emit(Opcode::kJumpUnless, 0, condition);
    emit_branch(node, *node.blocks[0]);
    int32_t to_end = here();
    emit(Opcode::kJump);
    land(to_else);
    emit_branch(node, *node.blocks[1]);
    if (here() == to_end + 1) {
      // Nothing in the else branch: no need to jump over it.
      plan_->code.pop_back();
      land(to_else);
    } else {
      land(to_end);
    }
  }

  void emit_case(const TreeNode& node) {
    int32_t index = scalar_slot(slot_at(node, 0), DType::kInt32, is_last_use(node, 0), node);
    auto table = static_cast<int64_t>(plan_->switches.size());
    plan_->switches.emplace_back();
    emit(Opcode::kSwitch, 0, index).n = table;
    std::vector<int32_t> ends;
    for (const auto& branch : node.blocks) {
      plan_->switches[static_cast<size_t>(table)].targets.push_back(here());
      emit_branch(node, *branch);
      ends.push_back(here());
      emit(Opcode::kJump);
    }
    for (int32_t end : ends) land(end);
  }

  // --- Loops: the test stands below the body, and is entered first. ------------------------------

  void emit_while(const TreeNode& node) {
    const TreeBlock& test = *node.blocks[0];
    const TreeBlock& body = *node.blocks[1];
    const int32_t counter = storage_.slot_of(node.outputs[0]);
    const int32_t limit =
        counter >= 0 && node.inputs[0] != kNoValue
            ? scalar_slot(slot_at(node, 0), DType::kInt32, is_last_use(node, 0), node)
            : -1;

    std::vector<Move> initial;
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      initial.push_back(
          {storage_.slot_of(node.outputs[i]), slot_at(node, i), is_last_use(node, i), false});
    }
    emit_moves(std::move(initial), node);
    if (counter >= 0) emit(Opcode::kZeroCounter, counter);
    int32_t to_test = here();
    emit(Opcode::kJump);

    int32_t start = here();
    emit_block(body);
    emit_moves(carried_moves(node), node);
    bool body_counts = counter >= 0 && is_read_inside(node, node.outputs[0]);
    if (body_counts) emit(Opcode::kIncrement, counter);

    land(to_test);
    emit_block(test);
    int32_t condition =
        scalar_slot(storage_.slot_of(test.results[0]), DType::kBool, is_last_result(test, 0), node);
    Instruction& jump =
        emit(counter >= 0 ? Opcode::kCountedLoopTest : Opcode::kLoopTest, counter, condition);
    jump.b = limit;
    jump.flags = body_counts ? 0 : 1;
    jump.target = start;
    jump.node = node.node;
  }

  bool is_read_inside(const TreeNode& loop, ValueId id) {
    const auto& uses = tree_.value(id).uses;
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return use.position > loop.position && use.position < loop.end_position;
    });
  }

  std::vector<Move> carried_moves(const TreeNode& node) {
    const TreeBlock& body = *node.blocks[1];
    std::vector<Move> moves;
    std::set<int32_t> kept;  // slots that hold the next iteration's value already
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (body.results[i - 1] == kNoValue) continue;
      int32_t to = storage_.slot_of(node.outputs[i]);
      int32_t from = storage_.slot_of(body.results[i - 1]);
      if (to == from) {
        kept.insert(to);
      } else {
        moves.push_back({to, from, is_last_result(body, i - 1), false});
      }
    }
    for (Move& move : moves) {
      if (kept.contains(move.from)) move.last = false;
      move.may_swap = move.last && slot(move.to).swapped && slot(move.from).swapped &&
                      slot(move.to).dims == slot(move.from).dims &&
                      slot(move.to).dtype == slot(move.from).dtype;
    }
    return moves;
  }

  // --- The end -----------------------------------------------------------------------------------

  void finish() {
    Plan& plan = *plan_;
    for (ValueId argument : tree_.arguments()) {
      plan.arguments.push_back(storage_.slot_of(argument));
    }
    for (ValueId result : tree_.root().results) plan.results.push_back(storage_.slot_of(result));
    plan.slots = std::move(storage_.slots());
    plan.arena_bytes = storage_.arena_bytes();
    plan.regions = std::move(storage_.regions());
    plan.prologue = std::move(tree_.prologue());
    for (size_t i = 0; i < plan.slots.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      if (plan.slots[i].symbolic) {
        plan.slots[i].first_dim = plan.computed_dim_count;
        plan.computed_dim_count += plan.slots[i].dims.size();
      }
      switch (plan.slots[i].kind) {
        case Slot::Kind::kResult:
          plan.result_slots.push_back(index);
          [[fallthrough]];
        case Slot::Kind::kArgument:
        case Slot::Kind::kHeld:
        case Slot::Kind::kDynamic:
          plan.dynamic_slots.push_back(index);
          break;
        default:
          break;
      }
    }
    plan.callees = std::move(tree_.callees());
  }

  CalleePlans& family_;
  PlanTree tree_;
  Storage storage_;
  std::unordered_map<const Node*, int> random_nodes_;  // how many there are so far
  std::shared_ptr<Plan> plan_;
  std::unordered_map<const TreeNode*, std::vector<ValueId>> dies_in_;
  const Node* moving_node_ = nullptr;
};

}  // namespace

std::shared_ptr<Plan> lower_graph(const Graph& graph, CalleePlans* family, bool sized) {
  std::unique_ptr<CalleePlans> own_family;
  if (!family) own_family = std::make_unique<CalleePlans>();
  CalleePlans& plans = family ? *family : *own_family;
  std::shared_ptr<const Graph> shared = graph.weak_from_this().lock();
  // Without the graph at hand, no general form could be made where the prologue fails.
  std::shared_ptr<Plan> plan = Lowering(graph, plans, sized && shared).run();
  plan->graph = std::move(shared);
  plan->callee_plans = &plans;
  plan->own_callee_plans = std::move(own_family);
  return plan;
}

}  // namespace graphwright::runtime
