// The hook through which tapes, forward accumulators and variable watchers see ops and whole calls.
// Free when unused: one bit of the thread's state word says whether there is any observer.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/attribute.h"
#include "ir/operand.h"

namespace graphwright {

struct OpDef;
struct Node;
class Callee;
class VariableResource;

class OpObserver {
 public:
  virtual ~OpObserver() = default;
  // An op has run (eager tensors), or its node has been made (graph values). `node` is null when
  // eager.
  virtual void on_op(const OpDef& op, const Attributes& attributes, std::span<const Operand> inputs,
                     std::span<const Operand> outputs, Node* node) = 0;
  // Whether derivatives with respect to the value, or through it, may be asked for.
  virtual bool watches(const Operand& /*value*/) const { return false; }
  // Before a whole concrete function runs eagerly: one tangent per input, null where there is none;
  // empty if no input has one. An observer that gives some gets those of the outputs in return, and
  // hears no more of the call.
  virtual std::vector<Operand> call_tangents(std::span<const Operand> /*inputs*/) { return {}; }
  virtual void on_call_tangents(std::span<const Operand> /*outputs*/,
                                std::span<const Operand> /*tangents*/) {}
  // Whether a call with these inputs must keep what its derivative needs.
  virtual bool wants_call(std::span<const Operand> inputs) = 0;
  // Whether gradients may be asked of it while it records, so that they have gradients themselves.
  virtual bool records_own_gradient() const { return false; }
  // A whole concrete function has run eagerly. `inputs` are arguments then captures; `saved` are
  // the extra outputs of the forward graph that build_derivative made for it
  // (autodiff/derivative.h), empty if no observer wanted the call.
  virtual void on_call(const std::shared_ptr<Callee>& callee, std::span<const Operand> inputs,
                       std::span<const Operand> outputs, std::span<const Operand> saved) = 0;
  // A variable was read or written, on any tier.
  virtual void on_variable(const std::shared_ptr<VariableResource>& variable, bool trainable) = 0;
};

}  // namespace graphwright
