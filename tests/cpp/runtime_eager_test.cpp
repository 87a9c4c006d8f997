// Eager execution: dispatch, the fast path, errors, observers, and the eager builder.
#include <chrono>
#include <cmath>
#include <cstdio>

#include <doctest/doctest.h>

#include "ir/observer.h"
#include "ir/thread_state.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

Tensor floats(std::initializer_list<float> values) {
  return Tensor::vector<float>(DType::kFloat, std::span(values.begin(), values.size()));
}

Tensor run_one(std::string_view op, std::initializer_list<Operand> inputs,
               const Attributes& attributes = {}) {
  OperandVector outputs;
  run_eager(get_op(op), std::span(inputs.begin(), inputs.size()), attributes, outputs);
  REQUIRE(outputs.size() == 1);
  return outputs[0].tensor();
}

template <class Run>
std::shared_ptr<ErrorDetail> error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.shared_detail();
  }
  return nullptr;
}

struct Recorder : OpObserver {
  void on_op(const OpDef& op, const Attributes&, std::span<const Operand> inputs,
             std::span<const Operand> outputs, Node* node) override {
    names.push_back(std::string(op.name));
    CHECK(node == nullptr);
    input_count += inputs.size();
    output_count += outputs.size();
  }
  bool wants_call(std::span<const Operand>) override { return false; }
  void on_call(const std::shared_ptr<Callee>&, std::span<const Operand>, std::span<const Operand>,
               std::span<const Operand>) override {}
  void on_variable(const std::shared_ptr<VariableResource>&, bool) override {}
  std::vector<std::string> names;
  size_t input_count = 0, output_count = 0;
};

}  // namespace

TEST_CASE("eager formulas broadcast") {
  Tensor left = floats({1, 2, 3});
  CHECK(*run_one("AddV2", {left, left}).data<float>() == 2);
  Tensor column = left.reshaped(std::array<int64_t, 2>{3, 1});
  Tensor sum = run_one("AddV2", {column, left});
  CHECK(sum.shape() == PartialShape{3, 3});
  CHECK(sum.data<float>()[5] == 5);
  Tensor with_scalar = run_one("AddV2", {left, Tensor::scalar(DType::kFloat, 10.0f)});
  CHECK(with_scalar.shape() == PartialShape{3});
  CHECK(with_scalar.data<float>()[2] == 13);
  Tensor empty = Tensor::empty(DType::kFloat, {0, 3});
  CHECK(run_one("AddV2", {empty, left}).shape() == PartialShape{0, 3});
}

TEST_CASE("eager errors name op and argument") {
  Tensor left = floats({1, 2, 3});
  auto shapes = error_of([&] { run_one("AddV2", {left, floats({1, 2})}); });
  REQUIRE(shapes);
  CHECK(shapes->code == Code::kInvalidArgument);
  CHECK(shapes->op == "AddV2");
  CHECK(shapes->message == "Incompatible shapes: [3] vs. [2]");

  auto dtypes = error_of([&] { run_one("AddV2", {left, Tensor::int32_scalar(1)}); });
  REQUIRE(dtypes);
  CHECK(dtypes->code == Code::kInvalidArgument);
  CHECK(dtypes->message ==
        "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a "
        "int32 tensor");

  auto strings = error_of([&] { run_one("Tanh", {Tensor::string_scalar("a")}); });
  REQUIRE(strings);
  CHECK(strings->op == "Tanh");

  auto missing = error_of([&] { run_one("AddV2", {left, Operand()}); });
  REQUIRE(missing);
  CHECK(missing->kind == ErrorKind::kTypeError);
  CHECK(missing->argument == "y");

  auto control = error_of([&] { run_one("StatelessIf", {Tensor::bool_scalar(true)}); });
  REQUIRE(control);
  CHECK(control->code == Code::kUnimplemented);
}

TEST_CASE("eager kernels see their attributes and shapes") {
  Tensor left = floats({1, 2, 3, 4});
  std::array<int32_t, 2> dims{2, 2};
  Tensor shape = Tensor::vector<int32_t>(DType::kInt32, dims);
  Tensor result = run_one("Reshape", {left, shape});
  CHECK(result.shape() == PartialShape{2, 2});
  CHECK(result.data<float>()[3] == 4);
  std::array<int32_t, 2> wrong{3, 2};
  auto error =
      error_of([&] { run_one("Reshape", {left, Tensor::vector<int32_t>(DType::kInt32, wrong)}); });
  REQUIRE(error);
  CHECK(error->code == Code::kInvalidArgument);
  CHECK(error->op == "Reshape");
}

TEST_CASE("the fast path agrees with the slow one, and leaves to it what is out of the ordinary") {
  const OpDef& add = get_op("AddV2");
  const OpDef& tanh = get_op("Tanh");
  Tensor left = floats({1, 2, 3});
  Tensor scalar = Tensor::scalar(DType::kFloat, 0.5f);
  Tensor sum = Tensor::adopt(try_fast_binary(add, left.impl(), left.impl()));
  REQUIRE(sum);
  CHECK(sum.shape() == PartialShape{3});
  CHECK(sum.data<float>()[2] == 6);
  Tensor result = Tensor::adopt(try_fast_unary(tanh, scalar.impl()));
  REQUIRE(result);
  CHECK(*result.data<float>() == *run_one("Tanh", {scalar}).data<float>());
  CHECK(*result.data<float>() == doctest::Approx(std::tanh(0.5)));

  for (bool scalar_first : {false, true}) {
    Tensor with_scalar =
        Tensor::adopt(scalar_first ? try_fast_binary(add, scalar.impl(), left.impl())
                                   : try_fast_binary(add, left.impl(), scalar.impl()));
    REQUIRE(with_scalar);
    CHECK(with_scalar.shape() == PartialShape{3});
    CHECK(with_scalar.data<float>()[2] == 3.5f);
  }
  CHECK(!try_fast_binary(add, left.impl(), floats({1}).impl()));                // shapes
  CHECK(!try_fast_binary(add, scalar.impl(), Tensor::int32_scalar(1).impl()));  // dtypes
  CHECK(!try_fast_unary(tanh, Tensor::int32_scalar(1).impl()));                 // not allowed
  CHECK(!try_fast_unary(get_op("Shape"), left.impl()));                         // no formula
  thread_state.bits |= ThreadState::kProfiling;
  CHECK(!try_fast_unary(tanh, scalar.impl()));
  thread_state.bits &= ~static_cast<uint32_t>(ThreadState::kProfiling);

  MemoryStatistics before = memory_statistics();
  Tensor::adopt(try_fast_binary(add, scalar.impl(), scalar.impl()));
  CHECK(memory_statistics().allocation_count - before.allocation_count == 1);
}

TEST_CASE("observers are told of eager ops, unless paused") {
  Recorder recorder;
  Tensor value = floats({1, 2});
  push_observer(&recorder);
  CHECK(!try_fast_binary(get_op("AddV2"), value.impl(), value.impl()));
  run_one("AddV2", {value, value});
  {
    ObserverPause pause;
    run_one("Tanh", {value});
  }
  OperandVector outputs;
  std::vector<Operand> inputs{value};
  eager_builder().apply(get_op("Tanh"), inputs, {}, outputs);
  remove_observer(&recorder);
  run_one("Tanh", {value});
  CHECK(recorder.names == std::vector<std::string>{"AddV2", "Tanh"});
  CHECK(recorder.input_count == 3);
  CHECK(recorder.output_count == 2);
}

TEST_CASE("the eager builder runs loops and branches on values") {
  Builder& builder = current_builder();
  REQUIRE(builder.is_eager());
  int tests = 0;
  auto condition = [&](std::span<const Operand> arguments) {
    ++tests;
    return OperandVector{Tensor::bool_scalar(*arguments[0].tensor().data<int32_t>() < 5)};
  };
  auto body = [&](std::span<const Operand> arguments) {
    return OperandVector{builder.op("AddV2", {arguments[1], arguments[1]})};
  };
  std::vector<Operand> carried{Tensor::scalar(DType::kFloat, 1.0f)};
  OperandVector result = builder.while_loop({}, carried, condition, body);
  REQUIRE(result.size() == 2);
  CHECK(*result[0].tensor().data<int32_t>() == 5);
  CHECK(*result[1].tensor().data<float>() == 32);
  CHECK(tests == 6);

  WhileOptions limited;
  limited.maximum_iterations = Tensor::int32_scalar(2);
  result = builder.while_loop(limited, carried, condition, body);
  CHECK(*result[0].tensor().data<int32_t>() == 2);

  auto yes = [&](std::span<const Operand>) { return OperandVector{Tensor::int32_scalar(1)}; };
  auto no = [&](std::span<const Operand>) { return OperandVector{Tensor::int32_scalar(0)}; };
  CHECK(*builder.if_else(Tensor::bool_scalar(true), yes, no)[0].tensor().data<int32_t>() == 1);
  CHECK(*builder.if_else(Tensor::bool_scalar(false), yes, no)[0].tensor().data<int32_t>() == 0);
  CHECK_THROWS_AS(builder.if_else(Tensor::int32_scalar(1), yes, no), Error);
  CHECK_THROWS_AS(builder.if_else(Tensor::empty(DType::kBool, {2}), yes, no), Error);
  auto two = [&](std::span<const Operand> arguments) {
    return OperandVector{arguments[1], arguments[1]};
  };
  CHECK_THROWS_AS(builder.while_loop({}, carried, condition, two), Error);
}

TEST_CASE("eager speed" * doctest::skip()) {
  const OpDef& add = get_op("AddV2");
  const OpDef& tanh = get_op("Tanh");
  Tensor scalar = Tensor::scalar(DType::kFloat, 0.5f);
  Tensor hundred = Tensor::zeros(DType::kFloat, std::array<int64_t, 1>{100});
  auto time = [](const char* what, auto run) {
    double best = 1e9;
    for (int repeat = 0; repeat < 20; ++repeat) {
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 10000; ++i) run();
      std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
      best = std::min(best, taken.count() / 10000);
    }
    std::printf("%s: %.1f ns\n", what, best);
  };
  time("fast add, 0-d", [&] { Tensor::adopt(try_fast_binary(add, scalar.impl(), scalar.impl())); });
  time("fast tanh, 100", [&] { Tensor::adopt(try_fast_unary(tanh, hundred.impl())); });
  auto time_op = [&](const char* what, std::string_view name, std::initializer_list<Operand> inputs,
                     const Attributes& attributes = {}) {
    const OpDef& op = get_op(name);
    std::vector<Operand> operands(inputs);
    OperandVector outputs;
    time(what, [&] {
      outputs.clear();
      run_eager(op, operands, attributes, outputs);
    });
  };
  time_op("run_eager add, 0-d", "AddV2", {scalar, scalar});
  time_op("run_eager add, [100] + 0-d", "AddV2", {hundred, scalar});
  std::array<int32_t, 2> dims{10, 10};
  Tensor shape = Tensor::vector<int32_t>(DType::kInt32, dims);
  time_op("run_eager reshape", "Reshape", {hundred, shape});
}

}  // namespace graphwright
