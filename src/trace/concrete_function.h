// A traced function that can be called: its graph, its captures, the plans that run it and the
// derivatives made from it. It holds no Python: structures of arguments and results belong to
// whoever traced it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autodiff/derivative.h"
#include "ir/graph.h"
#include "ir/kernel_context.h"
#include "ir/operand.h"
#include "runtime/plan.h"

namespace graphwright {

class OpObserver;

class ConcreteFunction final : public Callee,
                               public std::enable_shared_from_this<ConcreteFunction> {
 public:
  // Takes a finished graph, freezes it. Its first `argument_count` body arguments are declared, the
  // others captures.
  ConcreteFunction(std::shared_ptr<Graph> graph, int argument_count);

  std::string_view callee_name() const override { return graph_->name(); }
  const Graph& callee_graph() const override { return *graph_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  int argument_count() const { return argument_count_; }
  int result_count() const { return static_cast<int>(graph_->body().results.size()); }
  CalleeDerivative callee_derivative(const std::vector<bool>& reached) override;
  CalleeTangent callee_tangent(const std::vector<bool>& has_tangent) override;
  void call_with(Builder& builder, std::span<const Operand> inputs,
                 OperandVector& results) override;
  // A capture from an enclosing graph: callable only while that graph is being built.
  bool captures_outer_values() const { return captures_outer_values_; }
  // Tensors captured, resource handles included, in the order of the graph's captures.
  std::vector<Tensor> captured_tensors() const;

  // Calls on whatever tier is current: eager runs the plan, a graph being built gets a Call node.
  // One operand per declared argument; dtypes must match (InvalidArgument, TypeError while tracing)
  // and shapes be compatible. Results are appended to `outputs`. Throws Error.
  void call(std::span<const Operand> arguments, OperandVector& outputs);

  // What call() checks of its arguments: number, dtypes, shapes, and that eager ones are no
  // symbolic tensors.
  void check_arguments(std::span<const Operand> arguments, bool tracing) const;

  // The eager short way: no observers, no building. Tensors only; captures are added here.
  Status run(std::span<const Tensor> arguments, std::span<Tensor> outputs,
             const RunOptions& options = {});

  // Compiled on first use; may be replaced by a better plan at any time.
  std::shared_ptr<Plan> plan();
  // The derivative with respect to the inputs (arguments, then captures) that `needed` marks, of
  // the results that `reached` marks (empty: all). Made on first use and kept.
  struct Differentiable {
    std::vector<bool> needed, reached;
    ReverseDerivative derivative;
    std::shared_ptr<ConcreteFunction> forward;   // results, then saved values
    std::shared_ptr<ConcreteFunction> backward;  // gradients of results, then saved values
  };
  std::shared_ptr<const Differentiable> differentiable(const std::vector<bool>& needed,
                                                       const std::vector<bool>& reached = {});
  // A derivative of the program's own instead, whatever is needed; made on first use.
  void set_derivative(std::function<std::shared_ptr<const Differentiable>()> make) {
    make_derivative_ = std::move(make);
  }

 private:
  void call_eager(std::span<const Operand> arguments, OperandVector& outputs);
  void run_observed(std::span<OpObserver* const> observers, const OperandVector& inputs,
                    OperandVector& outputs);
  void run_with_tangents(OpObserver& observer, std::span<OpObserver* const> others,
                         const OperandVector& inputs, const OperandVector& tangents,
                         OperandVector& outputs);
  std::vector<bool> differentiable_inputs() const;
  void call_building(std::span<const Operand> arguments, OperandVector& outputs);
  const std::vector<Tensor>& constants();
  std::shared_ptr<ConcreteFunction> with_captures(const std::vector<Tensor>& tensors);
  std::shared_ptr<ConcreteFunction> with_watched_constants();

  std::shared_ptr<Graph> graph_;
  int argument_count_;
  bool captures_outer_values_ = false;
  bool has_effects_ = false;
  std::vector<Tensor> captured_;  // empty when captures_outer_values_
  std::function<std::shared_ptr<const Differentiable>()> make_derivative_;
  std::mutex mutex_;  // guards what follows
  std::shared_ptr<Plan> plan_;
  std::vector<std::shared_ptr<const Differentiable>> differentiables_;
  std::vector<std::pair<std::vector<bool>, CalleeTangent>> tangents_;
  std::optional<std::vector<Tensor>> constants_;
  // Copies that take some of the constants as captures, by which.
  std::vector<std::pair<std::vector<Tensor>, std::shared_ptr<ConcreteFunction>>> with_captures_;
};

}  // namespace graphwright
