#include "autodiff/tape.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/status.h"
#include "ir/opdef.h"
#include "ir/resources.h"
#include "ir/thread_state.h"

namespace graphwright {
namespace {

thread_local std::vector<GradientTape*> tapes;

std::shared_ptr<VariableResource> variable_of(const Operand& operand) {
  if (operand.is_tensor()) {
    TensorImpl* impl = operand.impl();
    if (impl->dtype != DType::kResource || impl->rank != 0) return nullptr;
    return std::dynamic_pointer_cast<VariableResource>(
        *static_cast<const ObjectPointer*>(impl->data));
  }
  const Value* value = operand.value();
  if (value->node || value->block->owner) return nullptr;
  for (const Capture& capture : value->block->graph->captures()) {
    if (capture.inner == value && capture.tensor) return variable_of(Operand(capture.tensor));
  }
  return nullptr;
}

// Ones like the target, or like the value of a variable; null where there is no derivative.
Operand unit_gradient(Builder& builder, const Operand& target) {
  ValueType type = type_of(target);
  if (is_floating(type.dtype) || is_complex(type.dtype)) return ones_like(builder, target);
  if (!type.handle || type.handle->kind != HandleType::Kind::kVariable) return {};
  DType dtype = type.handle->dtype;
  if (!is_floating(dtype) && !is_complex(dtype)) return {};
  const OpDef& read = get_op("ReadVariableOp");
  return ones_like(
      builder, builder.op("ReadVariableOp", {target}, named_attributes(read, {{"dtype", dtype}})));
}

}  // namespace

std::span<GradientTape* const> recording_tapes() { return tapes; }

GradientTape::GradientTape(bool persistent, bool watch_accessed_variables)
    : persistent_(persistent), watch_accessed_variables_(watch_accessed_variables) {}

GradientTape::~GradientTape() {
  if (recording_) stop();
}

void GradientTape::start() {
  if (recording_) {
    throw Error(ErrorKind::kValueError,
                "Tape is still recording, This can happen if you try to "
                "re-enter an already-active tape.");
  }
  push_observer(this);
  tapes.push_back(this);
  recording_ = true;
}

void GradientTape::stop() {
  if (!recording_) throw Error(ErrorKind::kValueError, "Tape is not recording.");
  remove_observer(this);
  std::erase(tapes, this);
  recording_ = false;
}

void GradientTape::reset() {
  active_.clear();
  watched_.clear();
  watched_variables_.clear();
  steps_.clear();
  control_nodes_.clear();
  used_ = false;
}

void GradientTape::watch(const Operand& operand) {
  if (active_.insert(operand_key(operand)).second) watched_.push_back(operand);
  if (std::shared_ptr<VariableResource> variable = variable_of(operand)) watch_variable(variable);
}

void GradientTape::on_variable(const std::shared_ptr<VariableResource>& variable, bool trainable) {
  if (trainable && watch_accessed_variables_) watch_variable(variable);
}

void GradientTape::watch_variable(const std::shared_ptr<VariableResource>& variable) {
  active_.insert(variable.get());
  for (const auto& watched : watched_variables_) {
    if (watched == variable) return;
  }
  watched_variables_.push_back(variable);
}

void GradientTape::watch_variable_of(const Operand& handle) {
  if (!watch_accessed_variables_ || dtype_of(handle) != DType::kResource) return;
  std::shared_ptr<VariableResource> variable = variable_of(handle);
  if (variable) {
    if (variable->trainable()) watch_variable(variable);
    return;
  }
  // The handle is an argument of the function being traced: which variable it is, is not known.
  ValueType type = type_of(handle);
  if (type.handle && type.handle->kind == HandleType::Kind::kVariable && type.handle->trainable) {
    active_.insert(operand_key(handle));
  }
}

void GradientTape::watch_variables_inside(const Node& node) {
  for (const auto& block : node.blocks) {
    visit_free_values(*block, *block, [&](Value* value) { watch_variable_of(Operand(value)); });
  }
}

bool GradientTape::is_active(const Operand& operand) const {
  if (active_.contains(operand_key(operand))) return true;
  if (!operand.is_value() || !operand.value()->node) return false;
  return control_nodes_.contains(operand.value()->node) && can_have_gradient(type_of(operand));
}

bool GradientTape::any_active(std::span<const Operand> inputs) {
  bool any = false;
  for (const Operand& input : inputs) {
    watch_variable_of(input);
    any |= is_active(input);
  }
  return any;
}

void GradientTape::mark_outputs(std::span<const Operand> outputs) {
  for (const Operand& output : outputs) {
    if (can_have_gradient(type_of(output))) active_.insert(operand_key(output));
  }
}

void GradientTape::on_op(const OpDef& op, const Attributes& attributes,
                         std::span<const Operand> inputs, std::span<const Operand> outputs,
                         Node* node) {
  if (op.has(kZeroDerivative) || outputs.empty()) return;
  bool active = any_active(inputs);
  if (node && !node->blocks.empty()) {
    watch_variables_inside(*node);
    for (const auto& block : node->blocks) {
      visit_free_values(*block, *block, [&](Value* value) { active |= is_active(Operand(value)); });
    }
  }
  if (!active) return;
  ReverseStep step;
  step.op = &op;
  step.attributes = attributes;
  step.inputs.assign(inputs.begin(), inputs.end());
  step.outputs.assign(outputs.begin(), outputs.end());
  step.node = node;
  if (node) step.callee = node->callee;
  if (node && (node->callee || !node->blocks.empty())) control_nodes_.insert(node);
  steps_.push_back(std::move(step));
  mark_outputs(outputs);
}

bool GradientTape::wants_call(std::span<const Operand> inputs) { return any_active(inputs); }

void GradientTape::on_call(const std::shared_ptr<Callee>& callee, std::span<const Operand> inputs,
                           std::span<const Operand> outputs, std::span<const Operand> saved) {
  if (!any_active(inputs)) return;
  ReverseStep step;
  step.inputs.assign(inputs.begin(), inputs.end());
  step.outputs.assign(outputs.begin(), outputs.end());
  step.callee = callee;
  step.saved.assign(saved.begin(), saved.end());
  steps_.push_back(std::move(step));
  mark_outputs(outputs);
}

void GradientTape::record_custom(std::span<const Operand> inputs, std::span<const Operand> outputs,
                                 CustomGradient function) {
  if (!any_active(inputs)) return;
  ReverseStep step;
  step.inputs.assign(inputs.begin(), inputs.end());
  step.outputs.assign(outputs.begin(), outputs.end());
  step.custom = std::make_shared<CustomGradient>(std::move(function));
  steps_.push_back(std::move(step));
  mark_outputs(outputs);
}

std::vector<Gradient> GradientTape::gradient(std::span<const Operand> targets,
                                             std::span<const Operand> target_gradients,
                                             std::span<const Operand> sources, bool keep_steps) {
  if (used_ && !persistent_) {
    throw Error(ErrorKind::kRuntimeError,
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)");
  }
  if (!keep_steps) used_ = true;
  Builder& builder = current_builder();
  GradientMap gradients;
  for (size_t i = 0; i < targets.size(); ++i) {
    bool given = i < target_gradients.size() && target_gradients[i];
    Operand weight = given ? target_gradients[i] : unit_gradient(builder, targets[i]);
    gradients.add(builder, targets[i], {weight, {}, {}});
  }
  // Steps may be appended while this runs: by this tape, if it records its own gradient.
  size_t count = steps_.size();
  ActiveSet active = active_;
  for (const Node* node : control_nodes_) {
    for (Value* output : node->outputs) {
      if (can_have_gradient(output->type)) active.insert(operand_key(Operand(output)));
    }
  }
  for (size_t i = count; i-- > 0;) {
    ReverseStep step = steps_[i];
    if (step.node && control_nodes_.contains(step.node)) {
      step.outputs.assign(step.node->outputs.begin(), step.node->outputs.end());
    }
    reverse_step(builder, step, active, gradients);
  }
  std::vector<Gradient> results;
  for (const Operand& source : sources) {
    // A target is its own derivative's source even where the tape does not watch it.
    bool reached = active.contains(operand_key(source)) ||
                   std::ranges::any_of(targets, [&](const Operand& target) {
                     return operand_key(target) == operand_key(source);
                   });
    const Gradient* found = reached ? gradients.find(source) : nullptr;
    results.push_back(found ? *found : Gradient());
  }
  if (!persistent_ && !keep_steps) {
    steps_.clear();
    control_nodes_.clear();
    watched_.clear();
  }
  return results;
}

}  // namespace graphwright
