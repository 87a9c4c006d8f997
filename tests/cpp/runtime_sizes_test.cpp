// Plans of graphs whose shapes are known only when they run: the prologue, and what happens where
// it fails.
#include <array>

#include "plan_testing.h"

namespace graphwright {
namespace {

using namespace testing;  // NOLINT: helpers of tests

Tensor numbers(std::vector<int64_t> dims) {
  Tensor tensor = Tensor::empty(kFloat, dims);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>(i % 17) / 8.0f - 1.0f;
  }
  return tensor;
}

// The plan's results equal the interpreter's for all these inputs, one after the other.
void check_all(const Graph& graph, const std::vector<std::vector<Tensor>>& all_inputs) {
  std::shared_ptr<Plan> plan = compile_plan(graph);
  INFO(plan_to_text(*plan));
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const std::vector<Tensor>& inputs : all_inputs) {
      std::vector<Tensor> expected = GraphInterpreter::run(graph, inputs);
      std::vector<Tensor> results = run(*plan, inputs);
      REQUIRE(results.size() == expected.size());
      for (size_t i = 0; i < results.size(); ++i) check_equal(results[i], expected[i]);
    }
  }
}

ValueType vector_type() { return tensor_type(kFloat, PartialShape{kUnknownDim}); }
ValueType rows_type() { return tensor_type(kFloat, PartialShape{kUnknownDim, 4}); }

// `count` times: h = tanh(h * x + y), with everything of a length that the graph does not know.
std::shared_ptr<Graph> vector_loop() {
  return make_graph({tensor_type(kInt32, PartialShape::scalar()), vector_type(), vector_type()},
                    [](Builder& builder, std::span<const Operand> x) {
                      std::vector<Operand> carried{builder.constant(Tensor::int32_scalar(0)), x[1]};
                      OperandVector outputs = builder.while_loop(
                          {}, carried,
                          [&](std::span<const Operand> values) {
                            return OperandVector{less(builder, values[1], x[0])};
                          },
                          [&](std::span<const Operand> values) {
                            Operand product = builder.op("Mul", {values[2], x[1]});
                            Operand next =
                                builder.op("Tanh", {builder.op("AddV2", {product, x[2]})});
                            Operand count = builder.op(
                                "AddV2", {values[1], builder.constant(Tensor::int32_scalar(1))});
                            return OperandVector{count, next};
                          });
                      return OperandVector{outputs[2]};
                    });
}

}  // namespace

TEST_CASE("formulas over computed sizes") {
  auto graph =
      make_graph({rows_type(), vector_type()}, [](Builder& builder, std::span<const Operand> x) {
        Operand sum = builder.op("AddV2", {x[0], x[1]});
        Operand half = builder.constant(number(0.5f));
        Operand scaled = builder.op("Mul", {sum, half});
        return OperandVector{scaled, builder.op("Sub", {scaled, x[0]})};
      });
  check_all(*graph, {{numbers({3, 4}), numbers({4})},
                     {numbers({3, 4}), numbers({1})},
                     {numbers({1, 4}), numbers({4})},
                     {numbers({0, 4}), numbers({4})},
                     {numbers({20000, 4}), numbers({4})}});
  std::string text = plan_to_text(*compile_plan(*graph));
  CHECK(text.find("s0 = argument 0 dim 0") != std::string::npos);
  CHECK(text.find("s1 = argument 1 dim 0") != std::string::npos);
  CHECK(text.find("sized_formula") != std::string::npos);
  CHECK(text.find("dynamic") == std::string::npos);
}

TEST_CASE("a loop over vectors of a length that is not known does not allocate") {
  auto graph = vector_loop();
  check_all(*graph, {{Tensor::int32_scalar(5), numbers({6}), numbers({6})},
                     {Tensor::int32_scalar(0), numbers({6}), numbers({6})},
                     {Tensor::int32_scalar(3), numbers({100}), numbers({1})}});
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  auto allocations = [&](int32_t iterations, int64_t size) {
    std::vector<Tensor> inputs{Tensor::int32_scalar(iterations), numbers({size}), numbers({size})};
    int64_t before = memory_statistics().allocation_count;
    run(*plan, inputs);
    return memory_statistics().allocation_count - before;
  };
  for (int64_t size : {3, 1000}) {
    allocations(1, size);  // lays the frame out
    CHECK(allocations(10000, size) == allocations(1, size));
  }
  CHECK(plan_to_text(*plan).find("dynamic") == std::string::npos);
}

TEST_CASE("a loop variable that changes its size holds whatever tensor there is") {
  auto graph =
      make_graph({tensor_type(kInt32, PartialShape::scalar()), vector_type()},
                 [](Builder& builder, std::span<const Operand> x) {
                   WhileOptions options;
                   options.shape_invariants = {PartialShape::scalar(), PartialShape{kUnknownDim}};
                   std::vector<Operand> carried{builder.constant(Tensor::int32_scalar(0)), x[1]};
                   OperandVector outputs = builder.while_loop(
                       options, carried,
                       [&](std::span<const Operand> values) {
                         return OperandVector{less(builder, values[1], x[0])};
                       },
                       [&](std::span<const Operand> values) {
                         Operand axis = builder.constant(Tensor::int32_scalar(0));
                         Operand longer = builder.op("ConcatV2", {values[2], x[1], axis});
                         Operand count = builder.op(
                             "AddV2", {values[1], builder.constant(Tensor::int32_scalar(1))});
                         return OperandVector{count, longer};
                       });
                   return OperandVector{builder.op("Tanh", {outputs[2]})};
                 });
  check_all(*graph, {{Tensor::int32_scalar(4), numbers({2})},
                     {Tensor::int32_scalar(0), numbers({2})},
                     {Tensor::int32_scalar(2), numbers({5})}});
}

TEST_CASE("the size of a loop's result that nobody needs otherwise") {
  auto graph =
      make_graph({tensor_type(kInt32, PartialShape::scalar()), vector_type(), vector_type()},
                 [](Builder& builder, std::span<const Operand> x) {
                   WhileOptions options;
                   options.shape_invariants = {PartialShape{kUnknownDim}};
                   std::vector<Operand> carried{x[1]};
                   OperandVector outputs = builder.while_loop(
                       options, carried,
                       [&](std::span<const Operand> values) {
                         return OperandVector{less(builder, values[0], x[0])};
                       },
                       [&](std::span<const Operand>) { return OperandVector{x[2]}; });
                   return OperandVector{builder.op("Size", {outputs[1]})};
                 });
  check_all(*graph, {{Tensor::int32_scalar(2), numbers({3}), numbers({3})},
                     {Tensor::int32_scalar(2), numbers({3}), numbers({1})},
                     {Tensor::int32_scalar(0), numbers({3}), numbers({1})}});
}

TEST_CASE("sizes by shape rules, and numbers that depend on shapes") {
  auto graph = make_graph({rows_type()}, [](Builder& builder, std::span<const Operand> x) {
    Operand shape = builder.op("Shape", {x[0]});
    Operand flat = builder.op("Reshape", {x[0], builder.constant(integers({-1}))});
    Operand axis = builder.constant(Tensor::int32_scalar(0));
    Operand twice = builder.op("ConcatV2", {flat, flat, axis});
    Operand back = builder.op("Reshape", {builder.op("Tanh", {flat}), shape});
    return OperandVector{builder.op("Neg", {twice}), builder.op("Mul", {back, x[0]}), shape};
  });
  check_all(*graph, {{numbers({3, 4})}, {numbers({1, 4})}, {numbers({0, 4})}, {numbers({50, 4})}});
  std::string text = plan_to_text(*compile_plan(*graph));
  CHECK(text.find("= shape of ConcatV2(") != std::string::npos);
  CHECK(text.find("v0 = Shape([s0,4])") != std::string::npos);
  CHECK(text.find("prologue int32[2] v0") != std::string::npos);
}

TEST_CASE("shapes that do not fit are the op's own error, and only if it runs") {
  auto graph = make_graph(
      {tensor_type(DType::kBool, PartialShape::scalar()), vector_type(), vector_type()},
      [](Builder& builder, std::span<const Operand> x) {
        OperandVector outputs = builder.if_else(
            x[0],
            [&](std::span<const Operand>) {
              return OperandVector{builder.op("AddV2", {x[1], x[2]})};
            },
            [&](std::span<const Operand>) { return OperandVector{builder.op("Neg", {x[1]})}; });
        return OperandVector{outputs[0]};
      });
  check_all(*graph, {{Tensor::bool_scalar(true), numbers({3}), numbers({3})},
                     {Tensor::bool_scalar(false), numbers({3}), numbers({2})},
                     {Tensor::bool_scalar(false), numbers({3}), numbers({3})}});
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  auto error = error_of(*plan, {Tensor::bool_scalar(true), numbers({3}), numbers({2})});
  REQUIRE(error);
  CHECK(error->op == "AddV2");
  CHECK(error->message == "Incompatible shapes: [3] vs. [2]");
  check_equal(run(*plan, {Tensor::bool_scalar(true), numbers({2}), numbers({2})})[0],
              GraphInterpreter::run(*graph, std::vector<Tensor>{Tensor::bool_scalar(true),
                                                                numbers({2}), numbers({2})})[0]);
}

TEST_CASE("memory that a branch would need is not asked for where it is too much") {
  // The outer sum would take 4 TB.
  auto graph = make_graph(
      {tensor_type(DType::kBool, PartialShape::scalar()),
       tensor_type(kFloat, PartialShape{kUnknownDim, 1}), vector_type()},
      [](Builder& builder, std::span<const Operand> x) {
        Operand axes = builder.constant(integers({0, 1}));
        OperandVector outputs = builder.if_else(
            x[0],
            [&](std::span<const Operand>) {
              Operand outer = builder.op("Tanh", {builder.op("AddV2", {x[1], x[2]})});
              return OperandVector{builder.op("Sum", {outer, axes})};
            },
            [&](std::span<const Operand>) { return OperandVector{builder.constant(number(7))}; });
        return OperandVector{outputs[0]};
      });
  check_all(*graph, {{Tensor::bool_scalar(true), numbers({3, 1}), numbers({5})},
                     {Tensor::bool_scalar(false), numbers({1000000, 1}), numbers({1000000})}});
}

}  // namespace graphwright
