// Build contexts, captures and concrete functions, without Python.
#include <thread>

#include <doctest/doctest.h>

#include "autodiff/tape.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "runtime/eager.h"
#include "trace/build_context.h"
#include "trace/concrete_function.h"
#include "trace/lifting.h"

using namespace graphwright;

namespace {

Tensor float_scalar(float value) { return Tensor::scalar<float>(DType::kFloat, value); }
float value_of(const Operand& operand) { return *operand.tensor().data<float>(); }

std::shared_ptr<VariableResource> make_variable(float value, bool trainable = true) {
  auto variable =
      std::make_shared<VariableResource>("v", DType::kFloat, PartialShape::scalar(), trainable);
  variable->assign(float_scalar(value)).throw_if_error();
  return variable;
}
Operand read(Builder& builder, const Operand& handle) {
  return builder.op("ReadVariableOp", {handle},
                    named_attributes(get_op("ReadVariableOp"), {{"dtype", DType::kFloat}}));
}

// x -> body(x), traced for a float scalar.
template <class Body>
std::shared_ptr<ConcreteFunction> trace(Body body) {
  auto graph = std::make_shared<Graph>("f");
  BuildContext context(ContextKind::kFunction, graph, VariableCreation::kForbid);
  {
    ContextScope scope(context);
    Value* x =
        graph->add_argument(graph->body(), tensor_type(DType::kFloat, PartialShape::scalar()), "x");
    Operand result = body(current_builder(), Operand(x));
    graph->body().results.push_back(context.builder().import(result));
  }
  return std::make_shared<ConcreteFunction>(graph, 1);
}

Operand call(ConcreteFunction& function, const Operand& argument) {
  OperandVector results;
  Operand arguments[] = {argument};
  function.call(arguments, results);
  return results.at(0);
}

}  // namespace

TEST_CASE("contexts nest, and the state word follows") {
  CHECK(current_context().is_eager());
  CHECK(&current_builder() == &eager_builder());
  auto graph = std::make_shared<Graph>("g");
  BuildContext context(ContextKind::kFunction, graph, VariableCreation::kForbid);
  {
    ContextScope scope(context);
    CHECK(&current_context() == &context);
    CHECK((thread_state.bits & ThreadState::kBuilding) != 0);
    {
      InitScope init;
      CHECK(current_context().is_eager());
      CHECK((thread_state.bits & ThreadState::kBuilding) == 0);
    }
    CHECK(&current_context() == &context);
    // Another thread has a stack of its own.
    bool eager_there = false;
    std::thread([&] { eager_there = current_context().is_eager(); }).join();
    CHECK(eager_there);
  }
  CHECK(current_context().is_eager());
  CHECK((thread_state.bits & ThreadState::kBuilding) == 0);
}

TEST_CASE("init_scope enters the innermost graph that is no function") {
  auto outer_graph = std::make_shared<Graph>("outer"),
       inner_graph = std::make_shared<Graph>("inner");
  BuildContext outer(ContextKind::kGraph, outer_graph, VariableCreation::kLift);
  BuildContext inner(ContextKind::kFunction, inner_graph, VariableCreation::kForbid);
  ContextScope outer_scope(outer);
  ContextScope inner_scope(inner);
  {
    InitScope init;
    CHECK(&current_context() == &outer);
  }
  CHECK(&current_context() == &inner);
  CHECK(inner.outer() == &outer);
}

TEST_CASE("small tensors become constants, large ones and resources captures") {
  auto graph = std::make_shared<Graph>("g");
  BuildContext context(ContextKind::kFunction, graph, VariableCreation::kForbid);
  ContextScope scope(context);
  TracingBuilder& builder = context.builder();
  CHECK(builder.import(Operand(Tensor::zeros(DType::kFloat, std::array<int64_t, 1>{128})))
            ->node->op->name == "Const");
  CHECK(graph->captures().empty());
  Tensor large = Tensor::zeros(DType::kFloat, std::array<int64_t, 1>{129});
  Value* captured = builder.import(Operand(large));
  CHECK(captured->node == nullptr);
  CHECK(builder.import(Operand(large)) == captured);
  CHECK(graph->captures().size() == 1);
  // Two handles of one variable are one capture.
  auto variable = make_variable(1);
  Value* handle = builder.import(Operand(Tensor::object(DType::kResource, variable)));
  CHECK(builder.import(Operand(Tensor::object(DType::kResource, variable))) == handle);
  CHECK(graph->captures().size() == 2);
  REQUIRE(handle->type.handle);
  CHECK(handle->type.handle->dtype == DType::kFloat);
}

TEST_CASE("a value of an enclosing trace is captured through every context between") {
  auto outer_graph = std::make_shared<Graph>("outer");
  BuildContext outer(ContextKind::kFunction, outer_graph, VariableCreation::kForbid);
  ContextScope outer_scope(outer);
  Value* x = outer_graph->add_argument(outer_graph->body(),
                                       tensor_type(DType::kFloat, PartialShape::scalar()));
  auto middle_graph = std::make_shared<Graph>("middle");
  BuildContext middle(ContextKind::kFunction, middle_graph, VariableCreation::kForbid);
  ContextScope middle_scope(middle);
  auto inner_graph = std::make_shared<Graph>("inner");
  BuildContext inner(ContextKind::kFunction, inner_graph, VariableCreation::kForbid);
  ContextScope inner_scope(inner);
  Value* here = inner.builder().import(Operand(x));
  CHECK(here->block->graph == inner_graph.get());
  REQUIRE(middle_graph->captures().size() == 1);
  CHECK(middle_graph->captures()[0].outer == x);
  REQUIRE(inner_graph->captures().size() == 1);
  CHECK(inner_graph->captures()[0].outer == middle_graph->captures()[0].inner);
}

TEST_CASE("values that cannot be reached are refused by name") {
  Value* leaked = nullptr;
  auto graph = std::make_shared<Graph>("leaky");
  {
    BuildContext context(ContextKind::kFunction, graph, VariableCreation::kForbid);
    ContextScope scope(context);
    leaked = context.builder().op("Neg", {float_scalar(1)}).value();
  }
  CHECK_FALSE(is_reachable(*leaked));
  auto other = std::make_shared<Graph>("other");
  BuildContext context(ContextKind::kFunction, other, VariableCreation::kForbid);
  ContextScope scope(context);
  try {
    context.builder().import(Operand(leaked));
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.detail().kind == ErrorKind::kTypeError);
    CHECK(error.detail().message.find("'Neg:0'") != std::string::npos);
    CHECK(error.detail().message.find("is out of scope and cannot be used here") !=
          std::string::npos);
  }
}

TEST_CASE("a concrete function runs eagerly and becomes a call while tracing") {
  auto variable = make_variable(10);
  Operand handle = Tensor::object(DType::kResource, variable);
  auto function = trace([&](Builder& builder, const Operand& x) {
    return builder.op("AddV2", {x, read(builder, handle)});
  });
  CHECK(value_of(call(*function, float_scalar(1))) == 11);
  variable->assign(float_scalar(20)).throw_if_error();
  CHECK(value_of(call(*function, float_scalar(1))) == 21);
  auto caller = trace([&](Builder& builder, const Operand& x) {
    return builder.op("Mul", {call(*function, x), x});
  });
  CHECK(value_of(call(*caller, float_scalar(2))) == 44);
  bool has_call = false;
  for (const Node* node : caller->graph()->body().nodes) {
    has_call |= node->callee.get() == function.get();
  }
  CHECK(has_call);
  // Wrong dtypes are refused before anything runs.
  OperandVector results;
  Operand integer[] = {Operand(Tensor::int32_scalar(1))};
  CHECK_THROWS_AS(function->call(integer, results), Error);
}

TEST_CASE("threads call one concrete function at once") {
  auto function = trace([&](Builder& builder, const Operand& x) {
    Operand y = x;
    for (int i = 0; i < 10; ++i) y = builder.op("AddV2", {y, x});
    return y;
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        float x = static_cast<float>(t * 1000 + i);
        if (value_of(call(*function, float_scalar(x))) != 11 * x) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("lifted variables are initialised from what they depend on alone") {
  auto graph = std::make_shared<Graph>("g");
  auto variable = std::make_shared<VariableResource>("v", DType::kFloat, PartialShape::scalar());
  auto counter = make_variable(0);
  BuildContext context(ContextKind::kFunction, graph, VariableCreation::kLift);
  {
    ContextScope scope(context);
    Builder& builder = current_builder();
    Value* x =
        graph->add_argument(graph->body(), tensor_type(DType::kFloat, PartialShape::scalar()));
    // An effect of the function itself, which initialising must not have.
    OperandVector none;
    Operand inputs[] = {Tensor::object(DType::kResource, counter), float_scalar(1)};
    builder.apply(get_op("AssignAddVariableOp"), inputs, {}, none);
    Operand initial = builder.op("Mul", {Operand(x), float_scalar(3)});
    context.lifted_variables().push_back({variable, initial});
  }
  Tensor given[] = {float_scalar(2)};
  initialize_lifted_variables(*graph, context.lifted_variables(), given);
  CHECK(*variable->read().data<float>() == 6);
  CHECK(*counter->read().data<float>() == 0);
  Tensor unknown[] = {Tensor()};
  CHECK_THROWS_AS(initialize_lifted_variables(*graph, context.lifted_variables(), unknown), Error);
}

TEST_CASE("a tape sees ops and whole calls, and nothing when it does not record") {
  auto variable = make_variable(3), frozen = make_variable(5, false);
  Operand handle = Tensor::object(DType::kResource, variable);
  Operand frozen_handle = Tensor::object(DType::kResource, frozen);
  auto function = trace([&](Builder& builder, const Operand& x) {
    Operand v = read(builder, handle);
    return builder.op("Mul", {builder.op("Mul", {v, v}), x});
  });
  Builder& builder = eager_builder();
  GradientTape tape(/*persistent=*/true, /*watch_accessed_variables=*/true);
  Operand x = float_scalar(2);
  tape.start();
  tape.watch(x);
  Operand y = call(*function, x);
  Operand z = builder.op("Mul", {y, read(builder, frozen_handle)});
  tape.stop();
  CHECK(thread_state.observers.empty());
  builder.op("Mul", {z, z});
  CHECK(value_of(z) == 90);
  Operand targets[] = {z}, sources[] = {x, handle, frozen_handle};
  std::vector<Gradient> gradients = tape.gradient(targets, {}, sources);
  CHECK(value_of(gradients[0].values) == 45);
  CHECK(value_of(gradients[1].values) == 60);
  CHECK_FALSE(gradients[2]);
  REQUIRE(tape.watched_variables().size() == 1);
  CHECK(tape.watched_variables()[0] == variable);
  CHECK_THROWS_AS(tape.stop(), Error);
}
