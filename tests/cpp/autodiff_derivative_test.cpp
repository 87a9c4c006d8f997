// Derivatives of graphs with control flow, against derivatives worked out by hand and by
// differences.
#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "autodiff/derivative.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "runtime/plan.h"
#include "trace/concrete_function.h"

using namespace graphwright;

namespace {

using Build = std::function<Operand(GraphBuilder&, std::span<const Operand>)>;

std::shared_ptr<Graph> make_graph(int argument_count, const Build& build,
                                  DType dtype = DType::kDouble) {
  auto graph = std::make_shared<Graph>("f");
  GraphBuilder builder(*graph);
  OperandVector arguments;
  for (int i = 0; i < argument_count; ++i) {
    arguments.emplace_back(
        graph->add_argument(graph->body(), tensor_type(dtype, PartialShape::scalar())));
  }
  graph->body().results.push_back(builder.import(build(builder, arguments)));
  return graph;
}

std::vector<double> run(Graph& graph, const std::vector<double>& values) {
  std::vector<Tensor> inputs, outputs(graph.body().results.size());
  for (double value : values) inputs.push_back(Tensor::scalar<double>(DType::kDouble, value));
  Status status = run_plan(*compile_plan(graph), inputs, outputs);
  REQUIRE_MESSAGE(status.ok(), status.message());
  std::vector<double> results;
  for (const Tensor& output : outputs) results.push_back(*output.data<double>());
  return results;
}

// The gradient of the graph's one result at `at`, through both halves of its reverse derivative.
std::vector<double> reverse_gradient(const Graph& graph, const std::vector<double>& at) {
  ReverseDerivative derivative =
      build_reverse_derivative(graph, std::vector<bool>(graph.body().arguments.size(), true));
  verify_graph(*derivative.forward);
  verify_graph(*derivative.backward);
  std::vector<Tensor> inputs;
  for (double value : at) inputs.push_back(Tensor::scalar<double>(DType::kDouble, value));
  std::vector<Tensor> forward(derivative.forward->body().results.size());
  Status status = run_plan(*compile_plan(*derivative.forward), inputs, forward);
  REQUIRE_MESSAGE(status.ok(), status.message());
  std::vector<Tensor> backward_inputs{Tensor::scalar<double>(DType::kDouble, 1.0)};
  for (size_t i = forward.size() - static_cast<size_t>(derivative.saved_count); i < forward.size();
       ++i) {
    backward_inputs.push_back(forward[i]);
  }
  std::vector<Tensor> gradients(derivative.backward->body().results.size());
  status = run_plan(*compile_plan(*derivative.backward), backward_inputs, gradients);
  REQUIRE_MESSAGE(status.ok(), status.message());
  std::vector<double> result(at.size(), 0.0);
  for (size_t i = 0; i < gradients.size(); ++i) {
    result[static_cast<size_t>(derivative.argument_indices[i])] = *gradients[i].data<double>();
  }
  return result;
}

std::vector<double> forward_gradient(const Graph& graph, const std::vector<double>& at) {
  std::vector<double> result;
  for (size_t i = 0; i < at.size(); ++i) {
    std::vector<bool> has_tangent(at.size());
    has_tangent[i] = true;
    ForwardDerivative derivative = build_forward_derivative(graph, has_tangent);
    verify_graph(*derivative.graph);
    std::vector<double> inputs = at;
    inputs.push_back(1.0);
    std::vector<double> results = run(*derivative.graph, inputs);
    result.push_back(derivative.tangent_results.empty() ? 0.0 : results[1]);
  }
  return result;
}

void check_against_differences(const std::shared_ptr<Graph>& graph, const std::vector<double>& at) {
  std::vector<double> reverse = reverse_gradient(*graph, at);
  std::vector<double> forward = forward_gradient(*graph, at);
  for (size_t i = 0; i < at.size(); ++i) {
    std::vector<double> above = at, below = at;
    above[i] += 1e-6;
    below[i] -= 1e-6;
    double difference = (run(*graph, above)[0] - run(*graph, below)[0]) / 2e-6;
    CHECK(reverse[i] == doctest::Approx(difference).epsilon(1e-5));
    CHECK(forward[i] == doctest::Approx(difference).epsilon(1e-5));
  }
}

// x * tanh(y) + x, `count` times over, y being the same every time.
Operand loop(GraphBuilder& b, const Operand& x, const Operand& y, const Operand& count) {
  WhileOptions options;
  OperandVector carried{x};
  auto condition = [&](std::span<const Operand> arguments) -> OperandVector {
    return {b.op("Less", {arguments[0], count})};
  };
  auto body = [&](std::span<const Operand> arguments) -> OperandVector {
    Operand scaled = b.op("Mul", {arguments[1], b.op("Tanh", {y})});
    return {b.op("AddV2", {scaled, b.op("Tanh", {arguments[1]})})};
  };
  return b.while_loop(options, carried, condition, body)[1];
}

}  // namespace

TEST_CASE("derivative of straight-line code") {
  auto graph = make_graph(2, [](GraphBuilder& b, std::span<const Operand> x) {
    return b.op("Mul", {b.op("Tanh", {x[0]}), b.op("AddV2", {x[1], x[0]})});
  });
  check_against_differences(graph, {0.3, -1.2});
}

TEST_CASE("derivative of a loop with a value from outside") {
  for (int count : {0, 1, 4}) {
    auto graph = make_graph(2, [&](GraphBuilder& b, std::span<const Operand> x) {
      return loop(b, x[0], x[1], b.constant(Tensor::int32_scalar(count)));
    });
    CAPTURE(count);
    check_against_differences(graph, {0.7, 0.4});
  }
}

TEST_CASE("derivative of a loop inside a loop") {
  auto graph = make_graph(2, [](GraphBuilder& b, std::span<const Operand> x) {
    WhileOptions options;
    OperandVector carried{x[0]};
    auto condition = [&](std::span<const Operand> arguments) -> OperandVector {
      return {b.op("Less", {arguments[0], b.constant(Tensor::int32_scalar(3))})};
    };
    auto body = [&](std::span<const Operand> arguments) -> OperandVector {
      // The inner trip count differs from iteration to iteration.
      Operand count = b.op("AddV2", {arguments[0], b.constant(Tensor::int32_scalar(1))});
      return {b.op("Tanh", {loop(b, arguments[1], x[1], count)})};
    };
    return b.while_loop(options, carried, condition, body)[1];
  });
  check_against_differences(graph, {0.6, 0.9});
}

TEST_CASE("derivative of a branch, and of a branch in a loop") {
  auto branch = [](GraphBuilder& b, const Operand& x, const Operand& y) {
    Operand positive = b.op("Greater", {x, b.scalar(0, DType::kDouble)});
    auto then_branch = [&](std::span<const Operand>) -> OperandVector {
      return {b.op("Mul", {b.op("Tanh", {x}), y})};
    };
    auto else_branch = [&](std::span<const Operand>) -> OperandVector {
      return {b.op("Mul", {x, b.op("Mul", {x, y})})};
    };
    return b.if_else(positive, then_branch, else_branch)[0];
  };
  auto graph = make_graph(
      2, [&](GraphBuilder& b, std::span<const Operand> x) { return branch(b, x[0], x[1]); });
  check_against_differences(graph, {0.8, 1.5});
  check_against_differences(graph, {-0.8, 1.5});
  auto looped = make_graph(2, [&](GraphBuilder& b, std::span<const Operand> x) {
    WhileOptions options;
    OperandVector carried{x[0]};
    auto condition = [&](std::span<const Operand> arguments) -> OperandVector {
      return {b.op("Less", {arguments[0], b.constant(Tensor::int32_scalar(4))})};
    };
    auto body = [&](std::span<const Operand> arguments) -> OperandVector {
      return {b.op("Sub", {branch(b, arguments[1], x[1]), b.scalar(0.5, DType::kDouble)})};
    };
    return b.while_loop(options, carried, condition, body)[1];
  });
  check_against_differences(looped, {0.8, 1.5});
}

TEST_CASE("second derivative of a loop") {
  auto graph = make_graph(2, [](GraphBuilder& b, std::span<const Operand> x) {
    return loop(b, x[0], x[1], b.constant(Tensor::int32_scalar(3)));
  });
  // Forward over forward is the same pass twice.
  ForwardDerivative first = build_forward_derivative(*graph, {true, false});
  ForwardDerivative second = build_forward_derivative(*first.graph, {true, false, false});
  auto first_at = [&](double x) { return run(*first.graph, {x, 0.4, 1.0})[1]; };
  double difference = (first_at(0.7 + 1e-5) - first_at(0.7 - 1e-5)) / 2e-5;
  std::vector<double> results = run(*second.graph, {0.7, 0.4, 1.0, 1.0});
  CHECK(results.back() == doctest::Approx(difference).epsilon(1e-5));
}

TEST_CASE("a concrete function keeps one derivative for each set of inputs") {
  auto graph = make_graph(
      2, [](GraphBuilder& b, std::span<const Operand> x) { return b.op("Mul", {x[0], x[1]}); });
  auto function = std::make_shared<ConcreteFunction>(graph, 2);
  CHECK(function->differentiable({true, false}) == function->differentiable({true, false}));
  CHECK(function->differentiable({true, false}) != function->differentiable({true, true}));
  CalleeDerivative derivative = function->callee_derivative({});
  CHECK(derivative.argument_indices == std::vector<int>{0, 1});
}
