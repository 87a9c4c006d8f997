// For tests of plans: small graphs made by a function, run and compared with the naive interpreter.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "graph_interpreter.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "runtime/plan.h"

namespace graphwright::testing {

inline constexpr DType kFloat = DType::kFloat;
inline constexpr DType kInt32 = DType::kInt32;

inline Tensor number(float value) { return Tensor::scalar(kFloat, value); }
inline Tensor floats(std::initializer_list<float> values) {
  return Tensor::vector<float>(kFloat, std::span(values.begin(), values.size()));
}
inline Tensor integers(std::initializer_list<int32_t> values) {
  return Tensor::vector<int32_t>(kInt32, std::span(values.begin(), values.size()));
}

// A graph made by a function over its builder and arguments.
using Body = std::function<OperandVector(Builder&, std::span<const Operand>)>;
inline std::shared_ptr<Graph> make_graph(std::vector<ValueType> types, const Body& body,
                                         std::string name = "test") {
  auto graph = std::make_shared<Graph>(std::move(name));
  std::vector<Operand> arguments;
  for (ValueType& type : types) {
    arguments.emplace_back(graph->add_argument(graph->body(), std::move(type), "x"));
  }
  GraphBuilder builder(*graph);
  for (const Operand& result : body(builder, arguments)) {
    graph->body().results.push_back(builder.import(result));
  }
  graph->freeze();
  verify_graph(*graph);
  return graph;
}

inline std::vector<Tensor> run(Plan& plan, const std::vector<Tensor>& inputs,
                               const RunOptions& options = {}) {
  std::vector<Tensor> outputs(static_cast<size_t>(plan_statistics(plan).result_count));
  run_plan(plan, inputs, outputs, options).throw_if_error();
  return outputs;
}

inline void check_equal(const Tensor& actual, const Tensor& expected) {
  REQUIRE(actual);
  CHECK(actual.dtype() == expected.dtype());
  CHECK(actual.shape() == expected.shape());
  CHECK((actual.impl()->flags & TensorImpl::kBorrowed) == 0);
  if (actual.shape() == expected.shape() && !has_object_elements(actual.dtype()) &&
      actual.byte_size() > 0) {
    CHECK(std::memcmp(actual.raw_data(), expected.raw_data(), actual.byte_size()) == 0);
  }
}

// Runs the plan twice, so that a frame is used again, and compares with the interpreter.
inline std::vector<Tensor> check(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::shared_ptr<Plan> plan = compile_plan(graph);
  INFO(plan_to_text(*plan));
  std::vector<Tensor> expected = GraphInterpreter::run(graph, inputs);
  std::vector<Tensor> results;
  for (int repeat = 0; repeat < 2; ++repeat) {
    results = run(*plan, inputs);
    REQUIRE(results.size() == expected.size());
    for (size_t i = 0; i < results.size(); ++i) check_equal(results[i], expected[i]);
  }
  return results;
}

inline std::shared_ptr<ErrorDetail> error_of(Plan& plan, const std::vector<Tensor>& inputs,
                                             const RunOptions& options = {}) {
  try {
    run(plan, inputs, options);
  } catch (const Error& error) {
    return error.shared_detail();
  }
  return nullptr;
}

inline Operand less(Builder& builder, const Operand& left, const Operand& right) {
  return builder.op("Less", {left, right});
}

}  // namespace graphwright::testing
