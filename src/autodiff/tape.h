// tf.GradientTape: records what happens to watched values, on any tier, and differentiates it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "autodiff/gradient_map.h"
#include "autodiff/reverse.h"
#include "ir/observer.h"

namespace graphwright {

class GradientTape final : public OpObserver {
 public:
  GradientTape(bool persistent, bool watch_accessed_variables);
  ~GradientTape() override;

  // Starts and stops recording on this thread. RuntimeError if it is recording (is not).
  void start();
  void stop();
  bool recording() const { return recording_; }
  // Forgets everything recorded so far.
  void reset();
  bool persistent() const { return persistent_; }

  // Values whose derivatives will be asked for: floating or complex tensors, and variables'
  // handles.
  void watch(const Operand& operand);
  // Whether it is watched, or depends on what is.
  bool is_active(const Operand& operand) const;
  // Variables watched, in order of first use.
  const std::vector<std::shared_ptr<VariableResource>>& watched_variables() const {
    return watched_variables_;
  }

  // One gradient per source, of the sum of the targets weighted with `target_gradients` (null:
  // ones). Null for a source that no target depends on. RuntimeError the second time unless
  // persistent.
  std::vector<Gradient> gradient(std::span<const Operand> targets,
                                 std::span<const Operand> target_gradients,
                                 std::span<const Operand> sources, bool keep_steps = false);

  // Records one step with a gradient of the program's own, if any input is watched.
  using CustomGradient = std::function<std::vector<Gradient>(std::span<const Gradient>)>;
  void record_custom(std::span<const Operand> inputs, std::span<const Operand> outputs,
                     CustomGradient function);

  void on_op(const OpDef& op, const Attributes& attributes, std::span<const Operand> inputs,
             std::span<const Operand> outputs, Node* node) override;
  bool watches(const Operand& value) const override { return is_active(value); }
  bool wants_call(std::span<const Operand> inputs) override;
  void on_call(const std::shared_ptr<Callee>& callee, std::span<const Operand> inputs,
               std::span<const Operand> outputs, std::span<const Operand> saved) override;
  void on_variable(const std::shared_ptr<VariableResource>& variable, bool trainable) override;
  bool records_own_gradient() const override { return persistent_; }

 private:
  bool any_active(std::span<const Operand> inputs);
  void watch_variable(const std::shared_ptr<VariableResource>& variable);
  void watch_variable_of(const Operand& handle);
  void watch_variables_inside(const Node& node);
  void mark_outputs(std::span<const Operand> outputs);

  const bool persistent_;
  const bool watch_accessed_variables_;
  bool recording_ = false;
  bool used_ = false;
  ActiveSet active_;
  OperandVector watched_;  // keeps watched tensors alive, so that their keys stay theirs
  std::vector<std::shared_ptr<VariableResource>> watched_variables_;
  std::vector<ReverseStep> steps_;
  // Loops, branches and calls among the steps: a gradient makes them hand out more values later,
  // which depend on what is watched as the others do.
  std::unordered_set<const Node*> control_nodes_;
};

// The tapes that record on this thread, for tf.custom_gradient and stop_recording.
std::span<GradientTape* const> recording_tapes();

}  // namespace graphwright
