// Graphs made by hand for the tests of src/ir and src/serial.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"

namespace graphwright::test {

inline Tensor float_tensor(std::initializer_list<float> values) {
  return Tensor::vector<float>(DType::kFloat, std::span(values.begin(), values.size()));
}

inline Operand argument(Graph& graph, ValueType type, std::string_view name) {
  return graph.add_argument(graph.body(), std::move(type), name);
}

inline Operand float_argument(Graph& graph, std::initializer_list<Dim> dims,
                              std::string_view name) {
  return argument(graph, tensor_type(DType::kFloat, PartialShape(dims)), name);
}

inline void add_result(GraphBuilder& builder, const Operand& operand) {
  builder.graph().body().results.push_back(builder.import(operand));
}

// The message of the Error that the callable throws, "" if it throws none.
template <class Callable>
std::string error_text(Callable callable) {
  try {
    callable();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

template <class Callable>
ErrorKind error_kind(Callable callable) {
  try {
    callable();
  } catch (const Error& error) {
    return error.detail().kind;
  }
  return ErrorKind::kRuntimeError;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// x, three times: x = x + x while true, at most 3 times; the loop adds a constant from outside.
inline std::shared_ptr<Graph> loop_graph() {
  auto graph = std::make_shared<Graph>("loop");
  GraphBuilder builder(*graph);
  Operand x = float_argument(*graph, {2}, "x");
  Operand step = builder.constant(float_tensor({1, 2}), "step");
  WhileOptions options;
  options.maximum_iterations = Operand(Tensor::int32_scalar(3));
  OperandVector carried{x};
  OperandVector results = builder.while_loop(
      options, carried,
      [&](std::span<const Operand>) { return OperandVector{Tensor::bool_scalar(true)}; },
      [&](std::span<const Operand> arguments) {
        return OperandVector{builder.op("AddV2", {arguments[1], step})};
      });
  add_result(builder, results[0]);
  add_result(builder, results[1]);
  return graph;
}

}  // namespace graphwright::test
