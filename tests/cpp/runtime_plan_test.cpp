// Plans: what they compute, in which memory, and how they fail.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

#include <doctest/doctest.h>

#include "base/run_control.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "ir/resources.h"
#include "plan_testing.h"
#include "runtime/plan.h"

namespace graphwright {
namespace {

using namespace testing;  // NOLINT: helpers of tests

// while i < n: x = x * 0.999 + 0.1; i += 1
std::shared_ptr<Graph> scalar_loop() {
  return make_graph(
      {tensor_type(kInt32, PartialShape::scalar()), tensor_type(kFloat, PartialShape::scalar())},
      [](Builder& builder, std::span<const Operand> arguments) {
        Operand limit = arguments[0];
        std::vector<Operand> carried{builder.constant(Tensor::int32_scalar(0)), arguments[1]};
        OperandVector outputs = builder.while_loop(
            {}, carried,
            [&](std::span<const Operand> values) {
              return OperandVector{less(builder, values[1], limit)};
            },
            [&](std::span<const Operand> values) {
              Operand scaled = builder.op("Mul", {values[2], builder.constant(number(0.999f))});
              Operand next = builder.op("AddV2", {scaled, builder.constant(number(0.1f))});
              Operand one = builder.constant(Tensor::int32_scalar(1));
              return OperandVector{builder.op("AddV2", {values[1], one}), next};
            });
        return OperandVector{outputs[1], outputs[2]};
      });
}

// A loop that writes vectors to a list.
std::shared_ptr<Graph> list_loop() {
  return make_graph({tensor_type(kInt32, PartialShape::scalar())}, [](Builder& builder,
                                                                      std::span<const Operand> x) {
    Operand size = x[0];
    Operand shape = builder.constant(integers({4}));
    Operand list =
        builder.op("TensorListReserve", {shape, size},
                   named_attributes(get_op("TensorListReserve"), {{"element_dtype", kFloat}}));
    Tensor four = floats({1, 2, 3, 4});
    std::vector<Operand> carried{list, builder.constant(four)};
    OperandVector outputs = builder.while_loop(
        {}, carried,
        [&](std::span<const Operand> v) { return OperandVector{less(builder, v[0], size)}; },
        [&](std::span<const Operand> v) {
          Operand next = builder.op("AddV2", {v[2], v[2]});
          return OperandVector{builder.op("TensorListSetItem", {v[1], v[0], next}),
                               builder.op("Tanh", {next})};
        });
    Operand stacked =
        builder.op("TensorListStack", {outputs[1], shape},
                   named_attributes(get_op("TensorListStack"), {{"element_dtype", kFloat}}));
    return OperandVector{stacked};
  });
}

}  // namespace

TEST_CASE("plans run straight-line programs of scalars, vectors and broadcasts") {
  auto graph = make_graph({tensor_type(kFloat, {3}), tensor_type(kFloat, PartialShape::scalar()),
                           tensor_type(kFloat, {2, 1})},
                          [](Builder& builder, std::span<const Operand> x) {
                            Operand sum = builder.op("AddV2", {x[0], x[1]});
                            Operand wide = builder.op("Mul", {sum, x[2]});
                            Operand scalar = builder.op("Tanh", {x[1]});
                            return OperandVector{sum,    wide,
                                                 scalar, builder.op("AddV2", {wide, scalar}),
                                                 x[0],   builder.constant(number(7))};
                          });
  check(*graph,
        {floats({1, 2, 3}), number(0.5f), floats({1, -1}).reshaped(std::array<int64_t, 2>{2, 1})});
}

TEST_CASE("a scalar loop does not allocate") {
  auto graph = scalar_loop();
  check(*graph, {Tensor::int32_scalar(0), number(2)});
  check(*graph, {Tensor::int32_scalar(1000), number(2)});
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  auto allocations = [&](int32_t iterations) {
    std::vector<Tensor> inputs{Tensor::int32_scalar(iterations), number(0)};
    int64_t before = memory_statistics().allocation_count;
    run(*plan, inputs);
    return memory_statistics().allocation_count - before;
  };
  allocations(1);  // makes the frame
  int64_t few = allocations(1);
  CHECK(allocations(10'000'000) == few);
  CHECK(few == 2);  // the two results
  // Multiply, add, add, compare, test: nothing is moved.
  std::string text = plan_to_text(*plan);
  CHECK(text.find("copy", text.find("jump")) == std::string::npos);
}

TEST_CASE("carried values that change places") {
  auto graph = make_graph(
      {tensor_type(kInt32, PartialShape::scalar()), tensor_type(kFloat, {32}),
       tensor_type(kFloat, {32})},
      [](Builder& builder, std::span<const Operand> x) {
        Operand limit = x[0];
        std::vector<Operand> carried{x[1], x[2], builder.constant(number(1)),
                                     builder.constant(number(2)), builder.constant(number(3))};
        return builder.while_loop(
            {}, carried,
            [&](std::span<const Operand> v) { return OperandVector{less(builder, v[0], limit)}; },
            [&](std::span<const Operand> v) {
              // A rotation of three scalars, and Fibonacci of vectors.
              return OperandVector{v[2], builder.op("AddV2", {v[1], v[2]}), v[4], v[5], v[3]};
            });
      });
  Tensor ones = Tensor::zeros(kFloat, std::array<int64_t, 1>{32});
  std::fill_n(ones.mutable_data<float>(), 32, 1.0f);
  for (int32_t count : {0, 1, 2, 3, 7, 10}) {
    auto results = check(*graph, {Tensor::int32_scalar(count), ones, ones});
    CHECK(*results[0].data<int32_t>() == count);
  }
}

TEST_CASE("nested loops and branches") {
  auto graph = make_graph(
      {tensor_type(kInt32, PartialShape::scalar()), tensor_type(kFloat, PartialShape::scalar())},
      [](Builder& builder, std::span<const Operand> x) {
        Operand limit = x[0];
        Operand one = builder.constant(number(1));
        std::vector<Operand> carried{x[1]};
        return builder.while_loop(
            {}, carried,
            [&](std::span<const Operand> v) { return OperandVector{less(builder, v[0], limit)}; },
            [&](std::span<const Operand> v) {
              Operand outer_counter = v[0];
              OperandVector inner = builder.while_loop(
                  {}, v.subspan(1),
                  [&](std::span<const Operand> w) {
                    return OperandVector{less(builder, w[0], outer_counter)};
                  },
                  [&](std::span<const Operand> w) {
                    Operand small = less(builder, w[1], builder.constant(number(10)));
                    return builder.if_else(
                        small,
                        [&](std::span<const Operand>) {
                          return OperandVector{builder.op("AddV2", {w[1], w[1]})};
                        },
                        [&](std::span<const Operand>) {
                          Operand is_odd = less(builder, w[1], builder.constant(number(50)));
                          return builder.if_else(
                              is_odd,
                              [&](std::span<const Operand>) {
                                return OperandVector{builder.op("AddV2", {w[1], one})};
                              },
                              [&](std::span<const Operand>) { return OperandVector{w[1]}; });
                        });
                  });
              return OperandVector{builder.op("AddV2", {inner[1], one})};
            });
      });
  for (int32_t count : {0, 1, 2, 3, 6, 20}) check(*graph, {Tensor::int32_scalar(count), number(1)});
}

TEST_CASE("maximum_iterations bounds a loop") {
  for (int32_t limit : {-1, 0, 3}) {
    auto graph = make_graph(
        {tensor_type(kFloat, PartialShape::scalar()), tensor_type(kInt32, PartialShape::scalar())},
        [](Builder& builder, std::span<const Operand> x) {
          WhileOptions options;
          options.maximum_iterations = x[1];
          return builder.while_loop(
              options, x.first(1),
              [&](std::span<const Operand> v) {
                return OperandVector{less(builder, v[1], builder.constant(number(100)))};
              },
              [&](std::span<const Operand> v) {
                return OperandVector{builder.op("AddV2", {v[1], v[1]})};
              });
        });
    auto results = check(*graph, {number(1), Tensor::int32_scalar(limit)});
    CHECK(*results[0].data<int32_t>() == (limit < 0 ? 7 : limit));
  }
}

TEST_CASE("shapes that are not known") {
  PartialShape unknown_length{kUnknownDim};
  auto graph = make_graph(
      {tensor_type(kFloat, unknown_length), tensor_type(kInt32, PartialShape::scalar()),
       tensor_type(kFloat, PartialShape::unknown())},
      [](Builder& builder, std::span<const Operand> x) {
        Operand limit = x[1];
        Operand sum = builder.op("AddV2", {x[0], x[2]});
        std::vector<Operand> carried{x[0], sum};
        WhileOptions options;
        options.shape_invariants = {PartialShape{kUnknownDim}, PartialShape::unknown()};
        return builder.while_loop(
            options, carried,
            [&](std::span<const Operand> v) { return OperandVector{less(builder, v[0], limit)}; },
            [&](std::span<const Operand> v) {
              return OperandVector{v[1], builder.op("Tanh", {builder.op("AddV2", {v[1], v[2]})})};
            });
      });
  check(*graph, {floats({1, 2, 3}), Tensor::int32_scalar(3), number(2)});
  check(*graph, {floats({1}), Tensor::int32_scalar(0), floats({4, 5})});
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  auto error = error_of(*plan, {floats({1, 2, 3}), Tensor::int32_scalar(3), floats({1, 2})});
  REQUIRE(error);
  CHECK(error->code == Code::kInvalidArgument);
  CHECK(error->op == "AddV2");
  CHECK(error->message == "Incompatible shapes: [3] vs. [2]");
}

TEST_CASE("lists are written in place") {
  std::shared_ptr<Graph> graph = list_loop();
  check(*graph, {Tensor::int32_scalar(7)});
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  INFO(plan_to_text(*plan));
  auto allocations = [&](int32_t count) {
    std::vector<Tensor> inputs{Tensor::int32_scalar(count)};
    int64_t before = memory_statistics().allocation_count;
    run(*plan, inputs);
    return memory_statistics().allocation_count - before;
  };
  allocations(1);
  // A list that is copied at each write would allocate with every iteration.
  CHECK(allocations(1000) <= allocations(10) + 20);
}

TEST_CASE("a list that is still needed is not overwritten") {
  auto graph = make_graph(
      {tensor_type(DType::kBool, PartialShape::scalar())},
      [](Builder& builder, std::span<const Operand> x) {
        Operand shape = builder.constant(integers({1}));
        Attributes element =
            named_attributes(get_op("TensorListReserve"), {{"element_dtype", kFloat}});
        Operand list = builder.op("TensorListReserve",
                                  {shape, builder.constant(Tensor::int32_scalar(2))}, element);
        Operand zero = builder.constant(Tensor::int32_scalar(0));
        Operand first =
            builder.op("TensorListSetItem", {list, zero, builder.constant(floats({1}))});
        Operand second =
            builder.op("TensorListSetItem", {first, zero, builder.constant(floats({2}))});
        OperandVector third = builder.if_else(
            x[0],
            [&](std::span<const Operand>) {
              return OperandVector{
                  builder.op("TensorListSetItem", {second, zero, builder.constant(floats({3}))})};
            },
            [&](std::span<const Operand>) { return OperandVector{second}; });
        Attributes stack = named_attributes(get_op("TensorListStack"), {{"element_dtype", kFloat}});
        return OperandVector{builder.op("TensorListStack", {first, shape}, stack),
                             builder.op("TensorListStack", {third[0], shape}, stack)};
      });
  auto results = check(*graph, {Tensor::bool_scalar(true)});
  CHECK(results[0].data<float>()[0] == 1);
  CHECK(results[1].data<float>()[0] == 3);
  results = check(*graph, {Tensor::bool_scalar(false)});
  CHECK(results[1].data<float>()[0] == 2);
}

TEST_CASE("variables: effects in program order, reads keep their value") {
  auto variable = std::make_shared<VariableResource>("v", kFloat, PartialShape{40});
  Tensor handle = Tensor::object(DType::kResource, variable);
  Attributes dtype = named_attributes(get_op("ReadVariableOp"), {{"dtype", kFloat}});
  auto graph = make_graph(
      {variable_type(kFloat, PartialShape{40}), tensor_type(kInt32, PartialShape::scalar())},
      [&](Builder& builder, std::span<const Operand> x) {
        Operand before = builder.op("ReadVariableOp", {x[0]}, dtype);
        OperandVector outputs;
        Operand doubled = builder.op("AddV2", {before, before});
        std::vector<Operand> assign{x[0], doubled};
        builder.apply(get_op("AssignVariableOp"), assign, {}, outputs);
        Operand after = builder.op("ReadVariableOp", {x[0]}, dtype);
        std::vector<Operand> carried{after};
        OperandVector loop = builder.while_loop(
            {}, carried,
            [&](std::span<const Operand> v) { return OperandVector{less(builder, v[0], x[1])}; },
            [&](std::span<const Operand> v) {
              OperandVector none;
              Operand one = builder.constant(number(1));
              std::vector<Operand> inputs{
                  x[0], builder.op("AddV2", {builder.op("ReadVariableOp", {x[0]}, dtype), one})};
              builder.apply(get_op("AssignVariableOp"), inputs, {}, none);
              return OperandVector{builder.op("AddV2", {v[1], one})};
            });
        return OperandVector{before, after, loop[1], builder.op("ReadVariableOp", {x[0]}, dtype)};
      });
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  INFO(plan_to_text(*plan));
  for (int repeat = 0; repeat < 2; ++repeat) {
    Tensor start = Tensor::zeros(kFloat, std::array<int64_t, 1>{40});
    start.mutable_data<float>()[39] = 1;
    variable->assign(start).throw_if_error();
    auto results = run(*plan, {handle, Tensor::int32_scalar(3)});
    CHECK(results[0].data<float>()[39] == 1);
    CHECK(results[1].data<float>()[39] == 2);
    CHECK(results[2].data<float>()[39] == 5);
    CHECK(results[3].data<float>()[39] == 5);
    CHECK(variable->read().data<float>()[39] == 5);
  }
}

TEST_CASE("unused pure nodes do not run, even if they would fail") {
  auto failing = [](bool used) {
    return make_graph({tensor_type(kInt32, PartialShape::scalar())},
                      [used](Builder& builder, std::span<const Operand> x) {
                        Operand quotient = builder.op(
                            "FloorDiv", {x[0], builder.constant(Tensor::int32_scalar(0))}, {},
                            "quotient");
                        return OperandVector{used ? quotient : x[0]};
                      });
  };
  std::shared_ptr<Plan> unused = compile_plan(*failing(false));
  CHECK(*run(*unused, {Tensor::int32_scalar(3)})[0].data<int32_t>() == 3);
  CHECK(plan_statistics(*unused).instruction_count == 1);
  std::shared_ptr<Plan> used = compile_plan(*failing(true));
  auto error = error_of(*used, {Tensor::int32_scalar(3)});
  REQUIRE(error);
  CHECK(error->code == Code::kInvalidArgument);
  CHECK(error->node_name == "quotient");
  CHECK(error->op == "FloorDiv");
  CHECK(error->message == "Integer division by zero");
}

TEST_CASE("a loop whose results nobody needs does not run, nor do unneeded carried values") {
  auto graph = make_graph(
      {tensor_type(kInt32, PartialShape::scalar())},
      [](Builder& builder, std::span<const Operand> x) {
        Operand zero = builder.constant(Tensor::int32_scalar(0));
        std::vector<Operand> carried{zero, x[0]};
        OperandVector outputs = builder.while_loop(
            {}, carried,
            [&](std::span<const Operand> v) { return OperandVector{less(builder, v[0], x[0])}; },
            [&](std::span<const Operand> v) {
              Operand one = builder.constant(Tensor::int32_scalar(1));
              return OperandVector{builder.op("AddV2", {v[1], one}),
                                   builder.op("FloorDiv", {v[2], zero})};
            });
        return OperandVector{outputs[1]};
      });
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  CHECK(*run(*plan, {Tensor::int32_scalar(5)})[0].data<int32_t>() == 5);
  CHECK(plan_to_text(*plan).find("FloorDiv") == std::string::npos);
}

TEST_CASE("calls: small ones inlined, large ones and recursion by frames") {
  for (int size : {2, 300}) {
    auto callee = make_graph(
        {tensor_type(kFloat, {20}), tensor_type(kFloat, PartialShape::scalar())},
        [size](Builder& builder, std::span<const Operand> x) {
          Operand value = x[0];
          for (int i = 0; i < size; ++i) value = builder.op("AddV2", {value, x[1]});
          return OperandVector{value, x[0], x[1]};
        },
        "callee");
    auto shared = std::make_shared<testing::GraphCallee>(callee);
    auto graph = make_graph(
        {tensor_type(kFloat, {20}), tensor_type(kInt32, PartialShape::scalar())},
        [&](Builder& builder, std::span<const Operand> x) {
          return builder.while_loop(
              {}, x.first(1),
              [&](std::span<const Operand> v) { return OperandVector{less(builder, v[0], x[1])}; },
              [&](std::span<const Operand> v) {
                std::vector<Operand> inputs{v[1], builder.constant(number(2))};
                OperandVector outputs;
                auto& recorder = dynamic_cast<GraphBuilder&>(builder);
                recorder.call(get_op("PartitionedCall"), shared, inputs, outputs);
                inputs[0] = outputs[0];
                OperandVector again;
                recorder.call(get_op("PartitionedCall"), shared, inputs, again);
                return OperandVector{builder.op("AddV2", {again[0], again[1]})};
              });
        });
    check(*graph, {Tensor::zeros(kFloat, std::array<int64_t, 1>{20}), Tensor::int32_scalar(4)});
    std::string text = plan_to_text(*compile_plan(*graph));
    CHECK((text.find("= callee(") != std::string::npos) == (size > 200));
  }
}

TEST_CASE("the plan's text says what is overwritten") {
  auto graph =
      make_graph({tensor_type(kFloat, {20})}, [](Builder& builder, std::span<const Operand> x) {
        Operand first = builder.op("Tanh", {x[0]});
        Operand second = builder.op("Neg", {first});  // first dies here
        Operand sum = builder.op("Sum", {second, builder.int32_vector(std::array<int64_t, 1>{0})});
        return OperandVector{sum};
      });
  std::string text = plan_to_text(*compile_plan(*graph));
  INFO(text);
  size_t tanh = text.find("Tanh("), negative = text.find("Neg("), sum = text.find("Sum(");
  REQUIRE(sum != std::string::npos);
  size_t note = text.find(" in place of %");
  CHECK((tanh < negative && negative < note && note < sum));
  CHECK(text.find(" in place of %", note + 1) == std::string::npos);
  check(*graph, {Tensor::zeros(kFloat, std::array<int64_t, 1>{20})});
}

TEST_CASE("errors of bad arguments") {
  std::shared_ptr<Plan> plan = compile_plan(*scalar_loop());
  auto dtype = error_of(*plan, {number(1), number(1)});
  REQUIRE(dtype);
  CHECK(dtype->message == "Argument #0 of test has dtype float32, but the program takes int32.");
  auto shape = error_of(*plan, {Tensor::int32_scalar(1), floats({1})});
  REQUIRE(shape);
  CHECK(shape->message == "Argument #1 of test has shape [1], but the program takes [].");
  CHECK(error_of(*plan, {number(1)}));
  CHECK(error_of(*plan, {Tensor(), number(1)}));
}

TEST_CASE("a loop without end stops when told to") {
  auto graph = make_graph(
      {tensor_type(kFloat, PartialShape::scalar())},
      [](Builder& builder, std::span<const Operand> x) {
        return builder.while_loop(
            {}, x,
            [&](std::span<const Operand>) {
              return OperandVector{builder.constant(Tensor::bool_scalar(true))};
            },
            [&](std::span<const Operand> v) { return OperandVector{builder.op("Tanh", {v[1]})}; });
      });
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  StopFlag stop{0};
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.store(1);
  });
  auto error = error_of(*plan, {number(1)}, {&stop});
  canceller.join();
  REQUIRE(error);
  CHECK(error->code == Code::kCancelled);
  CHECK(error->node_name == "while");

  // An interrupt ends the run in progress, not later ones.
  std::thread signal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    interrupt_count.fetch_add(1);
  });
  error = error_of(*plan, {number(1)});
  signal.join();
  REQUIRE(error);
  CHECK(error->code == Code::kCancelled);
  check(*scalar_loop(), {Tensor::int32_scalar(10), number(2)});
}

TEST_CASE("one plan on eight threads") {
  auto graph = scalar_loop();
  std::shared_ptr<Plan> plan = compile_plan(*graph);
  std::vector<Tensor> inputs{Tensor::int32_scalar(200), number(1)};
  float expected = *GraphInterpreter::run(*graph, inputs)[1].data<float>();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        std::vector<Tensor> outputs(2);
        bool ok = run_plan(*plan, inputs, outputs).ok();
        if (!ok || *outputs[1].data<float>() != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("plan speed" * doctest::skip()) {
  auto time = [&](Plan& plan, const std::vector<Tensor>& inputs, int repeats) {
    std::vector<Tensor> outputs(static_cast<size_t>(plan_statistics(plan).result_count));
    double best = 1e18;
    for (int i = 0; i < repeats; ++i) {
      auto start = std::chrono::steady_clock::now();
      run_plan(plan, inputs, outputs).throw_if_error();
      std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
      best = std::min(best, taken.count());
    }
    return best;
  };
  std::shared_ptr<Plan> scalars = compile_plan(*scalar_loop());
  std::printf("scalar loop: %.2f ns per iteration, run of none: %.0f ns\n",
              time(*scalars, {Tensor::int32_scalar(10'000), number(1)}, 2000) / 1e4,
              time(*scalars, {Tensor::int32_scalar(0), number(1)}, 1000));
  std::shared_ptr<Plan> lists = compile_plan(*list_loop());
  std::printf("loop with a list: %.2f ns per iteration\n",
              time(*lists, {Tensor::int32_scalar(1000)}, 2000) / 1e3);
  std::shared_ptr<Plan> chain = compile_plan(
      *make_graph({tensor_type(kFloat, {32})}, [](Builder& builder, std::span<const Operand> x) {
        Operand value = x[0];
        for (int i = 0; i < 100; ++i) value = builder.op("AddV2", {value, x[0]});
        return OperandVector{value};
      }));
  std::printf("chain of adds of 32 floats: %.2f ns per op\n",
              time(*chain, {Tensor::zeros(kFloat, std::array<int64_t, 1>{32})}, 1000) / 100);
  double compile = 1e18;
  auto graph = scalar_loop();
  for (int i = 0; i < 200; ++i) {
    auto start = std::chrono::steady_clock::now();
    compile_plan(*graph);
    std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    compile = std::min(compile, taken.count());
  }
  std::printf("compiling the scalar loop: %.1f us\n", compile);
  for (const ValueType& type :
       {tensor_type(kFloat, PartialShape{32}), tensor_type(kFloat, PartialShape::unknown())}) {
    auto large = make_graph({type}, [](Builder& builder, std::span<const Operand> x) {
      Operand value = x[0];
      for (int i = 0; i < 10000; ++i) value = builder.op("AddV2", {value, x[0]});
      return OperandVector{value};
    });
    auto start = std::chrono::steady_clock::now();
    compile_plan(*large);
    std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    std::printf("compiling 10,000 nodes: %.1f ms\n", taken.count());
  }
}

}  // namespace graphwright
