#include "trace/concrete_function.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/dependence.h"
#include "ir/observer.h"
#include "ir/opdef.h"
#include "ir/resources.h"
#include "ir/thread_state.h"
#include "trace/build_context.h"
#include "trace/constant_captures.h"

namespace graphwright {
namespace {

// Small functions are called with a handful of values; those fit on the stack.
template <class T, size_t kInline>
class InlineBuffer {
 public:
  explicit InlineBuffer(size_t size) : size_(size) {
    if (size > kInline) heap_ = std::make_unique<T[]>(size);
  }
  std::span<T> span() { return {heap_ ? heap_.get() : inline_, size_}; }
  T& operator[](size_t index) { return (heap_ ? heap_.get() : inline_)[index]; }

 private:
  size_t size_;
  T inline_[kInline];
  std::unique_ptr<T[]> heap_;
};

}  // namespace

ConcreteFunction::ConcreteFunction(std::shared_ptr<Graph> graph, int argument_count)
    : graph_(std::move(graph)), argument_count_(argument_count) {
  graph_->freeze();
  for (const Capture& capture : graph_->captures()) {
    if (capture.outer) captures_outer_values_ = true;
  }
  if (!captures_outer_values_) captured_ = captured_tensors();
  has_effects_ = graph_effects(*graph_).any();
}

std::vector<Tensor> ConcreteFunction::captured_tensors() const {
  std::vector<Tensor> tensors;
  for (const Capture& capture : graph_->captures()) {
    if (capture.tensor) tensors.push_back(capture.tensor);
  }
  return tensors;
}

std::shared_ptr<Plan> ConcreteFunction::plan() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!plan_) plan_ = compile_plan(*graph_);
  return plan_;
}

void ConcreteFunction::check_arguments(std::span<const Operand> arguments, bool tracing) const {
  if (static_cast<int>(arguments.size()) != argument_count_) {
    throw_type_error(fmt::format("{} takes {} tensor arguments, but {} were given", graph_->name(),
                                 argument_count_, arguments.size()));
  }
  for (int i = 0; i < argument_count_; ++i) {
    const Value& declared = *graph_->body().arguments[static_cast<size_t>(i)];
    const Operand& given = arguments[static_cast<size_t>(i)];
    if (!tracing && !given.is_tensor()) {
      throw_type_error(
          fmt::format("argument #{} of {} is a symbolic tensor of a graph, which has no value here",
                      i, graph_->name()));
    }
    if (dtype_of(given) != declared.dtype()) {
      std::string message = fmt::format(
          "cannot compute {} as input #{}(zero-based) was expected to be a {} tensor but is a {} "
          "tensor",
          graph_->name(), i, dtype_name(declared.dtype()), dtype_name(dtype_of(given)));
      if (tracing) throw_type_error(std::move(message));
      throw_invalid_argument(std::move(message));
    }
    if (!declared.shape().is_compatible_with(shape_of(given))) {
      std::string message =
          fmt::format("argument #{} of {} has shape {}, which is not compatible with {}", i,
                      graph_->name(), shape_of(given).to_string(), declared.shape().to_string());
      if (tracing) throw_value_error(std::move(message));
      throw_invalid_argument(std::move(message));
    }
  }
}

void ConcreteFunction::call(std::span<const Operand> arguments, OperandVector& outputs) {
  bool building = thread_state.bits & ThreadState::kBuilding;
  check_arguments(arguments, building);
  if (thread_state.bits & ThreadState::kObserving) {
    if (auto other = with_watched_constants()) {
      return building ? other->call_building(arguments, outputs)
                      : other->call_eager(arguments, outputs);
    }
  }
  if (building) {
    call_building(arguments, outputs);
  } else {
    call_eager(arguments, outputs);
  }
}

const std::vector<Tensor>& ConcreteFunction::constants() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!constants_) constants_ = differentiable_constants(*graph_);
  return *constants_;
}

// Null if no observer watches a tensor that the trace has as a constant.
std::shared_ptr<ConcreteFunction> ConcreteFunction::with_watched_constants() {
  std::vector<Tensor> watched;
  for (const Tensor& tensor : constants()) {
    Operand operand(tensor);
    for (const OpObserver* observer : thread_state.observers) {
      if (!observer->watches(operand)) continue;
      watched.push_back(tensor);
      break;
    }
  }
  return watched.empty() ? nullptr : with_captures(watched);
}

// Itself if it has none of them.
std::shared_ptr<ConcreteFunction> ConcreteFunction::with_captures(
    const std::vector<Tensor>& tensors) {
  auto is_same = [](const Tensor& left, const Tensor& right) {
    return left.impl() == right.impl();
  };
  std::vector<Tensor> mine;
  for (const Tensor& tensor : constants()) {
    for (const Tensor& wanted : tensors) {
      if (is_same(tensor, wanted)) mine.push_back(tensor);
    }
  }
  if (mine.empty()) return shared_from_this();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [known, function] : with_captures_) {
      if (std::ranges::equal(known, mine, is_same)) return function;
    }
  }
  auto of_callee = [&](const std::shared_ptr<Callee>& callee) -> std::shared_ptr<Callee> {
    return std::static_pointer_cast<ConcreteFunction>(callee)->with_captures(mine);
  };
  auto made = std::make_shared<ConcreteFunction>(with_captured_constants(*graph_, mine, of_callee),
                                                 argument_count_);
  std::lock_guard<std::mutex> lock(mutex_);
  with_captures_.emplace_back(std::move(mine), made);
  return made;
}

void ConcreteFunction::call_building(std::span<const Operand> arguments, OperandVector& outputs) {
  call_with(current_context().builder(), arguments, outputs);
}

void ConcreteFunction::call_eager(std::span<const Operand> arguments, OperandVector& outputs) {
  if (captures_outer_values_) {
    throw_type_error(fmt::format(
        "{} uses tensors of the function it was defined in, so it can only be called inside it",
        graph_->name()));
  }
  size_t result_count = graph_->body().results.size();
  bool observed = thread_state.bits & ThreadState::kObserving;
  if (!observed) {
    InlineBuffer<Tensor, 8> inputs(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) inputs[i] = arguments[i].tensor();
    InlineBuffer<Tensor, 8> results(result_count);
    run(inputs.span(), results.span()).throw_if_error();
    for (Tensor& result : results.span()) outputs.emplace_back(std::move(result));
    return;
  }
  OperandVector inputs(arguments.begin(), arguments.end());
  for (const Tensor& tensor : captured_) inputs.emplace_back(tensor);
  std::vector<OpObserver*> observers = thread_state.observers;
  run_observed(observers, inputs, outputs);
  for (const Tensor& tensor : captured_) {
    if (tensor.dtype() != DType::kResource) continue;
    if (auto variable = std::dynamic_pointer_cast<VariableResource>(tensor.object_element())) {
      for (OpObserver* observer : observers) observer->on_variable(variable, false);
    }
  }
}

// Inputs are arguments, then captures. The innermost observer decides first what is called: a tape
// has the forward half called, an accumulator the tangent callee. Observers around it then see that
// call, so that what it saves or adds has derivatives of its own, and effects happen once.
void ConcreteFunction::run_observed(std::span<OpObserver* const> observers,
                                    const OperandVector& inputs, OperandVector& outputs) {
  size_t result_count = graph_->body().results.size();
  if (observers.empty()) {
    std::vector<Tensor> tensors, results(result_count);
    for (const Operand& input : inputs) tensors.push_back(input.tensor());
    run_plan(*plan(), tensors, results).throw_if_error();
    for (Tensor& held : results) {
      Tensor result = std::move(held);
      // Observers tell values by their identity: a result that is an input, another result or what
      // a variable holds gets one of its own.
      bool shared = result.dtype() != DType::kResource &&
                    result.impl()->references.load(std::memory_order_relaxed) > 1;
      outputs.emplace_back(shared ? result.reshaped(result.dims()) : std::move(result));
    }
    return;
  }
  OpObserver& observer = *observers.back();
  std::span<OpObserver* const> others = observers.first(observers.size() - 1);
  OperandVector tangents = observer.call_tangents(inputs);
  if (!tangents.empty()) {
    return run_with_tangents(observer, others, inputs, tangents, outputs);
  }
  if (!observer.wants_call(inputs)) return run_observed(others, inputs, outputs);
  std::shared_ptr<const Differentiable> derivative = differentiable(differentiable_inputs());
  std::shared_ptr<ConcreteFunction> forward = derivative->forward;
  std::shared_ptr<const Differentiable> second;
  if (observer.records_own_gradient()) {
    try {
      second = forward->differentiable(forward->differentiable_inputs());
    } catch (const Error&) {
      second = nullptr;  // an op has no second derivative: only the first can be asked for
    }
  }
  OperandVector all;
  (second ? second->forward : forward)->run_observed(others, inputs, all);
  auto results_end = all.begin() + static_cast<std::ptrdiff_t>(result_count);
  auto saved_end = all.begin() + forward->result_count();
  OperandVector results(all.begin(), results_end), saved(results_end, saved_end);
  if (second) {
    // The observer's own gradient will use what is saved, so that has a gradient, too: as a step of
    // its own, whose other results nobody uses.
    OperandVector others_of_step;
    for (const Operand& result : results) {
      Tensor tensor = result.tensor();
      others_of_step.emplace_back(tensor.reshaped(tensor.dims()));
    }
    others_of_step.insert(others_of_step.end(), saved.begin(), saved.end());
    observer.on_call(forward, inputs, others_of_step, OperandVector(saved_end, all.end()));
  }
  observer.on_call(shared_from_this(), inputs, results, saved);
  outputs.insert(outputs.end(), results.begin(), results.end());
}

void ConcreteFunction::run_with_tangents(OpObserver& observer, std::span<OpObserver* const> others,
                                         const OperandVector& inputs, const OperandVector& tangents,
                                         OperandVector& outputs) {
  std::vector<bool> has_tangent;
  OperandVector all(inputs.begin(), inputs.end());
  for (const Operand& tangent : tangents) {
    has_tangent.push_back(static_cast<bool>(tangent));
    if (tangent) all.push_back(tangent);
  }
  CalleeTangent tangent = callee_tangent(has_tangent);
  OperandVector results;
  std::static_pointer_cast<ConcreteFunction>(tangent.callee)->run_observed(others, all, results);
  size_t result_count = graph_->body().results.size();
  OperandVector result_tangents(result_count);
  for (size_t i = 0; i < tangent.tangent_results.size(); ++i) {
    result_tangents[static_cast<size_t>(tangent.tangent_results[i])] = results[result_count + i];
  }
  results.resize(result_count);
  observer.on_call_tangents(results, result_tangents);
  outputs.insert(outputs.end(), results.begin(), results.end());
}

std::vector<bool> ConcreteFunction::differentiable_inputs() const {
  std::vector<bool> needed;
  for (const Value* argument : graph_->body().arguments) {
    DType dtype = argument->dtype();
    needed.push_back(is_floating(dtype) || is_complex(dtype) || dtype == DType::kResource ||
                     dtype == DType::kVariant);
  }
  return needed;
}

CalleeDerivative ConcreteFunction::callee_derivative(const std::vector<bool>& reached) {
  std::shared_ptr<const Differentiable> made = differentiable(differentiable_inputs(), reached);
  const ReverseDerivative& derivative = made->derivative;
  return {made->forward,
          made->backward,
          derivative.saved_count,
          derivative.result_indices,
          derivative.argument_indices,
          derivative.is_sparse};
}

CalleeTangent ConcreteFunction::callee_tangent(const std::vector<bool>& has_tangent) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [known, tangent] : tangents_) {
      if (known == has_tangent) return tangent;
    }
  }
  ForwardDerivative derivative = build_forward_derivative(*graph_, has_tangent);
  int argument_count = static_cast<int>(derivative.graph->body().arguments.size());
  CalleeTangent made{std::make_shared<ConcreteFunction>(derivative.graph, argument_count),
                     derivative.tangent_results};
  std::lock_guard<std::mutex> lock(mutex_);
  tangents_.emplace_back(has_tangent, made);
  return made;
}

void ConcreteFunction::call_with(Builder& builder, std::span<const Operand> inputs,
                                 OperandVector& results) {
  if (builder.is_eager()) return call_eager(inputs, results);
  const OpDef& op = get_op(has_effects_ ? "StatefulPartitionedCall" : "PartitionedCall");
  OperandVector all(inputs.begin(), inputs.end());
  for (const Capture& capture : graph_->captures()) {
    all.push_back(capture.outer ? Operand(capture.outer) : Operand(capture.tensor));
  }
  static_cast<GraphBuilder&>(builder).call(op, shared_from_this(), all, results);
}

Status ConcreteFunction::run(std::span<const Tensor> arguments, std::span<Tensor> outputs,
                             const RunOptions& options) {
  std::shared_ptr<Plan> current = plan();
  if (captured_.empty()) return run_plan(*current, arguments, outputs, options);
  InlineBuffer<Tensor, 16> inputs(arguments.size() + captured_.size());
  std::copy(arguments.begin(), arguments.end(), inputs.span().begin());
  std::copy(captured_.begin(), captured_.end(),
            inputs.span().begin() + static_cast<std::ptrdiff_t>(arguments.size()));
  return run_plan(*current, inputs.span(), outputs, options);
}

std::shared_ptr<const ConcreteFunction::Differentiable> ConcreteFunction::differentiable(
    const std::vector<bool>& needed, const std::vector<bool>& reached) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& known : differentiables_) {
      bool is_same = known->needed == needed && known->reached == reached;
      if (make_derivative_ || is_same) return known;
    }
  }
  if (make_derivative_) {
    std::shared_ptr<const Differentiable> own = make_derivative_();
    std::lock_guard<std::mutex> lock(mutex_);
    if (differentiables_.empty()) differentiables_.push_back(own);
    return differentiables_.front();
  }
  auto made = std::make_shared<Differentiable>();
  made->needed = needed;
  made->reached = reached;
  made->derivative = build_reverse_derivative(*graph_, needed, reached);
  auto whole = [](const std::shared_ptr<Graph>& graph) {
    return std::make_shared<ConcreteFunction>(graph,
                                              static_cast<int>(graph->body().arguments.size()));
  };
  made->forward = whole(made->derivative.forward);
  made->backward = whole(made->derivative.backward);
  std::lock_guard<std::mutex> lock(mutex_);
  differentiables_.push_back(made);
  return made;
}

}  // namespace graphwright
