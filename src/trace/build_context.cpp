#include "trace/build_context.h"

#include <algorithm>
#include <utility>

#include "autodiff/tape.h"
#include "base/status.h"
#include "ir/observer.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "trace/scope_errors.h"

namespace graphwright {
namespace {

thread_local BuildContext bottom_context;
thread_local BuildContext* innermost_context = nullptr;

void set_thread_builder(BuildContext& context) {
  if (context.is_eager()) {
    thread_state.builder = nullptr;
    thread_state.bits &= ~ThreadState::kBuilding;
  } else {
    thread_state.builder = &context.builder();
    thread_state.bits |= ThreadState::kBuilding;
  }
}

// Two tensors that refer to one resource are one capture.
const void* capture_key(const Tensor& tensor) {
  if (tensor.dtype() == DType::kResource && tensor.rank() == 0) {
    return tensor.object_element().get();
  }
  return tensor.impl();
}

ValueType type_of_captured(const Tensor& tensor) {
  if (tensor.dtype() == DType::kResource && tensor.rank() == 0) {
    if (auto* variable = dynamic_cast<VariableResource*>(tensor.object_element().get())) {
      return variable_type(variable->dtype(), variable->shape(), variable->trainable());
    }
  }
  return type_of(Operand(tensor));
}

}  // namespace

BuildContext::BuildContext(ContextKind kind, std::shared_ptr<Graph> graph,
                           VariableCreation variable_creation)
    : kind_(kind), graph_(std::move(graph)), variable_creation_(variable_creation) {
  if (graph_) builder_ = std::make_unique<TracingBuilder>(*this, *graph_);
}

void BuildContext::watch_variable(const std::shared_ptr<VariableResource>& variable) {
  for (const auto& watched : watched_variables_) {
    if (watched == variable) return;
  }
  watched_variables_.push_back(variable);
}

Value* BuildContext::capture_tensor(const Tensor& tensor) {
  Value*& inner = captured_[capture_key(tensor)];
  if (!inner) {
    inner = graph_->add_argument(graph_->body(), type_of_captured(tensor));
    // The capture keeps the tensor alive, so its address cannot be used again for another one.
    graph_->captures().push_back({tensor, nullptr, inner});
  }
  return inner;
}

Value* BuildContext::capture_value(Value* outer) {
  Value*& inner = captured_[outer];
  if (!inner) {
    inner = graph_->add_argument(graph_->body(), outer->type);
    graph_->captures().push_back({Tensor(), outer, inner});
  }
  return inner;
}

Value* TracingBuilder::import(const Operand& operand) {
  if (operand.is_tensor()) {
    Tensor tensor = operand.tensor();
    bool small = tensor.element_count() <= kMaxConstantElements &&
                 tensor.dtype() != DType::kResource && tensor.dtype() != DType::kVariant;
    // What a tape watches keeps its identity, so that the function has a gradient for it.
    bool watched = std::ranges::any_of(
        recording_tapes(), [&](const GradientTape* tape) { return tape->is_active(operand); });
    if (small && !watched) return constant(tensor).value();
    return context_.capture_tensor(tensor);
  }
  Value* value = operand.value();
  if (value->block->graph == context_.graph().get()) {
    for (const Block* block = &this->block(); block; block = block->parent()) {
      if (block == value->block) return value;
    }
    throw_out_of_scope(*value, /*same_graph=*/true);
  }
  // Each context between the owner and this one captures in turn.
  BuildContext* outer = context_.outer();
  while (outer && outer->is_eager()) outer = outer->outer();
  if (!outer || !is_reachable(*value)) throw_out_of_scope(*value, /*same_graph=*/false);
  return context_.capture_value(outer->builder().import(operand));
}

BuildContext& current_context() { return innermost_context ? *innermost_context : bottom_context; }

bool is_reachable(const Value& value) {
  for (BuildContext* context = innermost_context; context; context = context->outer()) {
    if (context->graph().get() == value.block->graph) return true;
  }
  return false;
}

ContextScope::ContextScope(BuildContext& context)
    : context_(context), previous_(innermost_context) {
  if (context.depth_++ == 0) context.outer_ = &current_context();
  innermost_context = &context;
  set_thread_builder(context);
  // A tape or accumulator outside a function sees the function's calls, not the ops of its trace.
  hidden_observers_ = std::exchange(thread_state.observers, {});
  thread_state.bits &= ~ThreadState::kObserving;
}

ContextScope::~ContextScope() {
  if (--context_.depth_ == 0) context_.outer_ = nullptr;
  innermost_context = previous_;
  set_thread_builder(current_context());
  thread_state.observers = std::move(hidden_observers_);
  if (thread_state.observers.empty()) {
    thread_state.bits &= ~ThreadState::kObserving;
  } else {
    thread_state.bits |= ThreadState::kObserving;
  }
}

InitScope::InitScope() {
  BuildContext* context = &current_context();
  while (context && context->kind() == ContextKind::kFunction) context = context->outer();
  if (!context || context->is_eager()) {
    eager_ = std::make_unique<BuildContext>();
    scope_ = std::make_unique<ContextScope>(*eager_);
  } else {
    // A hand-built graph below the functions: entered through a context of its own would lose its
    // captures, so it is made current again as it is.
    scope_ = std::make_unique<ContextScope>(*context);
  }
}

InitScope::~InitScope() = default;

}  // namespace graphwright
