#include "runtime/size_analysis.h"

#include <algorithm>

#include "ir/opdef.h"

namespace graphwright::runtime {
namespace {

// What unknown dims of arguments are while the analysis tries rules out: divisible by many numbers,
// and not a size that programs have.
constexpr int64_t kSample = 5040;

}  // namespace

void SizeAnalysis::run() {
  for (size_t i = 0; i < tree_.values().size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    TreeValue& value = tree_.value(id);
    set_known_dims(id);
    if (value.argument >= 0 && computed_) start_argument(id);
  }
  visit(tree_.root());
  for (TreeValue& value : tree_.values()) finish(value);
}

size_t SizeAnalysis::new_size(int64_t sample, size_t step) {
  sample_.sizes.push_back(sample);
  step_of_size_.push_back(step);
  return sample_.sizes.size() - 1;
}

// Dims that the graph itself knows.
void SizeAnalysis::set_known_dims(ValueId id) {
  TreeValue& value = tree_.value(id);
  value.dims.clear();
  value.has_rank = false;
  value.prologue_value = -1;
  if (value.constant && !has_object_elements(value.dtype) && value.constant.rank() <= kInlineRank) {
    value.has_rank = true;
    value.dims.assign(value.constant.dims().begin(), value.constant.dims().end());
    return;
  }
  if (!value.type || has_object_elements(value.dtype) || !value.type->shape.has_rank() ||
      value.type->shape.rank() > kInlineRank) {
    return;
  }
  value.has_rank = true;
  for (Dim dim : value.type->shape.dims()) {
    value.dims.push_back(is_known(dim) ? dim : kUnknownSize);
  }
}

void SizeAnalysis::start_argument(ValueId id) {
  TreeValue& value = tree_.value(id);
  for (size_t i = 0; i < value.dims.size(); ++i) {
    if (value.dims[i] != kUnknownSize) continue;
    SizeStep step;
    step.argument = value.argument;
    step.dim = static_cast<int32_t>(i);
    step.out = new_size(kSample, steps_.size());
    value.dims[i] = computed_size(step.out);
    steps_.push_back(std::move(step));
  }
}

bool SizeAnalysis::has_unknown_dims(const TreeValue& value) const {
  return std::find(value.dims.begin(), value.dims.end(), kUnknownSize) != value.dims.end();
}

void SizeAnalysis::finish(TreeValue& value) {
  value.dense = value.has_rank && !has_object_elements(value.dtype) && !has_unknown_dims(value);
  if (!value.dense) {
    value.dims.clear();
    value.prologue_value = -1;
    return;
  }
  value.symbolic = std::any_of(value.dims.begin(), value.dims.end(), is_computed);
  value.element_count = value.bytes = -1;
  if (!value.symbolic) {
    value.element_count = checked_element_count(value.dims);
    value.bytes = value.element_count * static_cast<int64_t>(dtype_size(value.dtype));
  }
}

// --- Nodes ---------------------------------------------------------------------------------------

void SizeAnalysis::visit(TreeBlock& block) {
  for (auto& node : block.nodes) {
    switch (node->kind) {
      case NodeKind::kOp:
        visit_op(*node);
        break;
      case NodeKind::kCall:
        for (ValueId id : node->outputs) set_known_dims(id);
        break;
      case NodeKind::kIf:
      case NodeKind::kCase:
        visit_branches(*node);
        break;
      case NodeKind::kWhile:
        visit_loop(*node);
        break;
    }
  }
}

void SizeAnalysis::visit_op(TreeNode& node) {
  for (ValueId id : node.outputs) set_known_dims(id);
  node.rule_step = -1;
  node.checks.clear();
  if (!computed_ || make_value(node)) return;
  if (node.node->op->compute.kind == ComputeKind::kFormula) {
    set_formula_dims(node);
  } else {
    set_rule_dims(node);
  }
}

void SizeAnalysis::visit_branches(TreeNode& node) {
  for (auto& branch : node.blocks) visit(*branch);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    set_known_dims(node.outputs[i]);
    TreeValue& output = tree_.value(node.outputs[i]);
    if (!computed_) continue;
    for (size_t d = 0; d < output.dims.size(); ++d) {
      if (output.dims[d] != kUnknownSize) continue;
      const auto dim_in = [&](const auto& branch) {
        const TreeValue& result = tree_.value(branch->results[i]);
        return result.dims.size() == output.dims.size() ? result.dims[d] : kUnknownSize;
      };
      const Size first = dim_in(node.blocks.front());
      if (std::all_of(node.blocks.begin(), node.blocks.end(),
                      [&](const auto& branch) { return dim_in(branch) == first; })) {
        output.dims[d] = first;
      }
    }
  }
}

void SizeAnalysis::visit_loop(TreeNode& node) {
  // Dims that every block and the outputs know are numbers, whatever a body gives.
  std::vector<std::vector<bool>> fixed(node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    set_known_dims(id);
    TreeValue& variable = tree_.value(id);
    for (const auto& part : node.node->blocks) {
      const PartialShape& shape = part->arguments[i]->shape();
      if (shape.rank() != static_cast<int>(variable.dims.size())) {
        variable.has_rank = false;
        variable.dims.clear();
        break;
      }
      for (size_t d = 0; d < variable.dims.size(); ++d) {
        if (shape.dim(static_cast<int>(d)) != variable.dims[d]) variable.dims[d] = kUnknownSize;
      }
    }
    if (i == 0) {
      // The counter is the plan's own, whatever is known of its shape.
      variable.dtype = DType::kInt32;
      variable.has_rank = true;
      variable.dims.clear();
      continue;
    }
    const TreeValue& initial = tree_.value(node.inputs[i]);
    for (size_t d = 0; d < variable.dims.size(); ++d) {
      fixed[i].push_back(variable.dims[d] != kUnknownSize);
      if (!fixed[i][d] && computed_ && initial.dims.size() == variable.dims.size()) {
        variable.dims[d] = initial.dims[d];
      }
    }
  }
  for (bool again = true; again;) {
    again = false;
    node.checks.clear();
    for (auto& part : node.blocks) visit(*part);
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      TreeValue& variable = tree_.value(node.outputs[i]);
      const TreeValue& next = tree_.value(node.blocks[1]->results[i - 1]);
      for (size_t d = 0; d < variable.dims.size(); ++d) {
        if (fixed[i][d] || variable.dims[d] == kUnknownSize) continue;
        const Size given = next.dims.size() == variable.dims.size() ? next.dims[d] : kUnknownSize;
        if (given == variable.dims[d]) continue;
        // Sizes that come from different arguments are mostly equal: a run makes sure.
        if (given != kUnknownSize && computed_ && sample_(given) == sample_(variable.dims[d])) {
          node.checks.emplace_back(given, variable.dims[d]);
          continue;
        }
        variable.dims[d] = kUnknownSize;
        again = true;
      }
    }
  }
}

// --- Sizes of outputs ----------------------------------------------------------------------------

Size SizeAnalysis::broadcast(Size a, Size b, TreeNode& node) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a == kUnknownSize || b == kUnknownSize) return kUnknownSize;
  if (!is_computed(a) && !is_computed(b)) return kUnknownSize;
  const Size low = std::min(a, b), high = std::max(a, b);
  const Key key{-1, low, high};
  auto found = known_steps_.find(key);
  if (found == known_steps_.end()) {
    SizeStep step;
    step.kind = SizeStep::Kind::kBroadcast;
    step.a = low;
    step.b = high;
    step.out = new_size(std::max(sample_(low), sample_(high)), steps_.size());
    found = known_steps_.emplace(key, steps_.size()).first;
    steps_.push_back(std::move(step));
  }
  const Size result = computed_size(steps_[found->second].out);
  if (high < 0) return result;
  // The number is the result, if the other size fits at all.
  node.checks.emplace_back(result, high);
  return high;
}

void SizeAnalysis::set_formula_dims(TreeNode& node) {
  TreeValue& output = tree_.value(node.outputs.at(0));
  if (!output.has_rank) return;
  std::vector<Size> dims(output.dims.size(), 1);
  for (ValueId id : node.inputs) {
    const TreeValue& input = tree_.value(id);
    if (!input.has_rank || input.dims.size() > dims.size()) return;
    const size_t shift = dims.size() - input.dims.size();
    for (size_t d = 0; d < input.dims.size(); ++d) {
      dims[shift + d] = broadcast(dims[shift + d], input.dims[d], node);
    }
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (output.dims[d] == kUnknownSize) {
      output.dims[d] = dims[d];
    } else if (is_computed(dims[d])) {
      node.checks.emplace_back(dims[d], output.dims[d]);
    }
  }
}

// The size of the value that had this symbol first, if that is another value.
Size SizeAnalysis::symbol_size(const TreeNode& node, ValueId id, size_t dim, Dim symbol) const {
  if (!is_symbol(symbol)) return kUnknownSize;
  auto source = tree_.symbol_source(node.scope, symbol);
  if (!source || (source->first == id && source->second == dim)) return kUnknownSize;
  const TreeValue& first = tree_.value(source->first);
  return source->second < first.dims.size() ? first.dims[source->second] : kUnknownSize;
}

std::vector<StepInput> SizeAnalysis::step_inputs(const TreeNode& node) const {
  std::vector<StepInput> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TreeValue& value = tree_.value(node.inputs[i]);
    StepInput input;
    input.dtype = value.dtype;
    if (has_object_elements(value.dtype)) {
      input.type = &node.node->inputs[i]->type;
    } else {
      input.has_rank = value.has_rank;
      input.dims = value.dims;
      input.value = value.prologue_value;
      input.constant = value.constant;
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

SizeAnalysis::Key SizeAnalysis::key_of(SizeStep::Kind kind, const TreeNode& node) const {
  Key key{static_cast<int64_t>(kind), static_cast<int64_t>(reinterpret_cast<intptr_t>(node.node))};
  for (ValueId id : node.inputs) {
    const TreeValue& value = tree_.value(id);
    key.push_back(value.constant ? id : -1);
    key.push_back(value.prologue_value);
    key.push_back(value.has_rank ? static_cast<int64_t>(value.dims.size()) : -1);
    key.insert(key.end(), value.dims.begin(), value.dims.end());
  }
  return key;
}

// Through the symbols of the graph, or by the row's shape rule, which checks the inputs too.
void SizeAnalysis::set_rule_dims(TreeNode& node) {
  const OpDef& op = *node.node->op;
  std::vector<SizeStep::RuleSize> missing;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    TreeValue& output = tree_.value(node.outputs[i]);
    for (size_t d = 0; d < output.dims.size(); ++d) {
      if (output.dims[d] != kUnknownSize) continue;
      const Dim symbol = output.type->shape.dim(static_cast<int>(d));
      output.dims[d] = symbol_size(node, node.outputs[i], d, symbol);
      if (output.dims[d] == kUnknownSize) {
        missing.push_back({static_cast<int32_t>(i), static_cast<int32_t>(d), 0});
      }
    }
  }
  const bool computed_input = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const TreeValue& value = tree_.value(id);
    return value.prologue_value >= 0 ||
           std::any_of(value.dims.begin(), value.dims.end(), is_computed);
  });
  if (!op.shape || !computed_input || op.compute.kind == ComputeKind::kEffect) return;
  Key key = key_of(SizeStep::Kind::kRule, node);
  if (failed_.contains(key)) return;
  auto found = known_steps_.find(key);
  if (found == known_steps_.end()) {
    SizeStep step;
    step.kind = SizeStep::Kind::kRule;
    step.node = node.node;
    step.inputs = step_inputs(node);
    step.sizes = missing;
    for (SizeStep::RuleSize& size : step.sizes) size.out = new_size(kSample, steps_.size());
    if (run_size_step(step, {}, sample_) == StepResult::kUnknown) {
      // Some depend on data. The checks are worth having all the same.
      step.sizes.clear();
      missing.clear();
    }
    found = known_steps_.emplace(std::move(key), steps_.size()).first;
    steps_.push_back(std::move(step));
  }
  node.rule_step = static_cast<int32_t>(found->second);
  for (const SizeStep::RuleSize& size : steps_[found->second].sizes) {
    tree_.value(node.outputs[static_cast<size_t>(size.output)])
        .dims[static_cast<size_t>(size.dim)] = computed_size(size.out);
  }
}

// --- Values that depend on shapes only -----------------------------------------------------------

bool SizeAnalysis::make_value(TreeNode& node) {
  const OpDef& op = *node.node->op;
  if (node.has_effect || !op.has(kPure) || node.outputs.empty()) return false;
  for (ValueId id : node.outputs) {
    const TreeValue& output = tree_.value(id);
    int64_t count = 1;
    for (Size size : output.dims) count *= size >= 0 ? size : kPrologueElements + 1;
    if (!output.has_rank || count > kPrologueElements || count < 0) return false;
  }
  const bool shape_only = reads_shape_only(op);
  bool has_value = shape_only;
  for (ValueId id : node.inputs) {
    const TreeValue& input = tree_.value(id);
    if (shape_only) {
      if (!input.has_rank || has_unknown_dims(input)) return false;
    } else if (input.prologue_value >= 0) {
      has_value = true;
    } else if (!input.constant || input.constant.element_count() > kPrologueElements) {
      return false;
    }
  }
  if (!has_value) return false;
  Key key = key_of(SizeStep::Kind::kValue, node);
  if (failed_.contains(key)) return false;
  auto found = known_steps_.find(key);
  if (found == known_steps_.end()) {
    SizeStep step;
    step.kind = SizeStep::Kind::kValue;
    step.node = node.node;
    step.inputs = step_inputs(node);
    step.first_value = static_cast<int32_t>(sample_.values.size());
    sample_.values.resize(sample_.values.size() + node.outputs.size());
    bool good = run_size_step(step, {}, sample_) == StepResult::kDone;
    for (size_t i = 0; good && i < node.outputs.size(); ++i) {
      const TreeValue& output = tree_.value(node.outputs[i]);
      const Tensor& value = sample_.values[static_cast<size_t>(step.first_value) + i];
      good = value.dtype() == output.dtype && std::ranges::equal(value.dims(), output.dims);
    }
    if (!good) {
      sample_.values.resize(static_cast<size_t>(step.first_value));
      failed_[std::move(key)] = true;
      return false;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) step_of_value_.push_back(steps_.size());
    found = known_steps_.emplace(std::move(key), steps_.size()).first;
    steps_.push_back(std::move(step));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    tree_.value(node.outputs[i]).prologue_value =
        steps_[found->second].first_value + static_cast<int32_t>(i);
  }
  return true;
}

// --- The prologue --------------------------------------------------------------------------------

namespace {

void for_each_node(const TreeBlock& block, const auto& visit) {
  for (const auto& node : block.nodes) {
    visit(*node);
    for (const auto& inner : node->blocks) for_each_node(*inner, visit);
  }
}

}  // namespace

Prologue SizeAnalysis::prologue() {
  Prologue result;
  std::vector<bool> needed(steps_.size());
  const auto need_size = [&](Size size) {
    if (is_computed(size)) needed[step_of_size_[size_index(size)]] = true;
  };
  for (const TreeValue& value : tree_.values()) {
    if (!value.needed || !value.dense) continue;
    for (Size size : value.dims) need_size(size);
    if (value.prologue_value >= 0) {
      needed[step_of_value_[static_cast<size_t>(value.prologue_value)]] = true;
    }
  }
  for_each_node(tree_.root(), [&](const TreeNode& node) {
    // Also of nodes that do not run: the prologue may have taken the sizes of their outputs from
    // what these checks assume, as for the size of a loop's result where nobody needs the result.
    for (const auto& check : node.checks) {
      result.checks.push_back(check);
      need_size(check.first);
      need_size(check.second);
    }
    if (!node.needed) return;
    if (node.rule_step >= 0) needed[static_cast<size_t>(node.rule_step)] = true;
    // A kernel makes outputs that nobody needs, too.
    for (ValueId id : node.outputs) {
      for (Size size : tree_.value(id).dims) need_size(size);
    }
  });
  for (size_t i = steps_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    need_size(steps_[i].a);
    need_size(steps_[i].b);
    for (const StepInput& input : steps_[i].inputs) {
      for (Size size : input.dims) need_size(size);
      if (input.value >= 0) needed[step_of_value_[static_cast<size_t>(input.value)]] = true;
    }
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (needed[i]) result.steps.push_back(steps_[i]);
  }
  std::sort(result.checks.begin(), result.checks.end());
  result.checks.erase(std::unique(result.checks.begin(), result.checks.end()), result.checks.end());
  if (!result.steps.empty()) {
    result.size_count = sample_.sizes.size();
    result.value_count = sample_.values.size();
  }
  return result;
}

}  // namespace graphwright::runtime
