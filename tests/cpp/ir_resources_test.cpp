#include <doctest/doctest.h>

#include "ir/observer.h"
#include "ir/resources.h"
#include "ir/thread_state.h"
#include "ir_support.h"

namespace graphwright {
namespace {

using test::contains;
using test::float_tensor;

TEST_CASE("variables check what is assigned") {
  VariableResource variable("v", DType::kFloat, PartialShape({2}));
  CHECK_FALSE(variable.is_initialized());
  CHECK(variable.modify([](Tensor&) { return Status(); }).code() == Code::kFailedPrecondition);
  Status dtype = variable.assign(Tensor::int32_scalar(1));
  CHECK(dtype.code() == Code::kInvalidArgument);
  CHECK(contains(dtype.message(), "Expected float32 got int32"));
  Status shape = variable.assign(float_tensor({1, 2, 3}));
  CHECK(contains(shape.message(), "(2,)"));
  CHECK(contains(shape.message(), "(3,)"));
  CHECK(variable.assign(float_tensor({1, 2, 3}), /*validate_shape=*/false).ok());
  CHECK(variable.assign(float_tensor({1, 2})).ok());
  Tensor read = variable.read();
  CHECK(variable
            .modify([](Tensor& value) {
              CHECK_FALSE(value.is_unique());  // somebody reads it
              return Status();
            })
            .ok());
  read = Tensor();
  CHECK(variable
            .modify([](Tensor& value) {
              CHECK(value.is_unique());
              return Status();
            })
            .ok());
  variable.destroy();
  CHECK_FALSE(variable.read());
}

TEST_CASE("lists are contiguous while shapes agree, and ragged afterwards") {
  ListObject list(DType::kFloat, PartialShape::unknown(), 0);
  for (int i = 0; i < 10; ++i) list.push_back(float_tensor({static_cast<float>(i), 1}));
  CHECK(list.size() == 10);
  CHECK(list.get(7).data<float>()[0] == 7);
  Tensor stacked;
  REQUIRE(list.stack(PartialShape::unknown(), &stacked).ok());
  CHECK(stacked.dim(0) == 10);
  CHECK(stacked.dim(1) == 2);
  CHECK(stacked.data<float>()[2 * 9] == 9);

  std::shared_ptr<ListObject> copy = list.copy();
  copy->set(0, float_tensor({5}));
  CHECK(list.get(0).element_count() == 2);
  CHECK(copy->get(0).element_count() == 1);
  CHECK(copy->get(9).data<float>()[0] == 9);
  CHECK(copy->stack(PartialShape::unknown(), &stacked).code() == Code::kInvalidArgument);

  CHECK(list.pop_back().data<float>()[0] == 9);
  CHECK(list.size() == 9);
  list.resize(12);
  CHECK_FALSE(list.get(11));  // popped and grown: never written
  REQUIRE(list.stack(PartialShape::unknown(), &stacked).ok());
  CHECK(stacked.data<float>()[2 * 11] == 0);
}

TEST_CASE("lists of unwritten elements and of strings") {
  ListObject unwritten(DType::kInt32, PartialShape::unknown(), 3);
  Tensor stacked;
  CHECK(
      contains(unwritten.stack(PartialShape::unknown(), &stacked).message(), "non-fully-defined"));
  REQUIRE(unwritten.stack(PartialShape({2}), &stacked).ok());
  CHECK(stacked.element_count() == 6);
  unwritten.set(1, Tensor::int32_scalar(4));
  REQUIRE(unwritten.stack(PartialShape::unknown(), &stacked).ok());
  CHECK(stacked.data<int32_t>()[0] == 0);
  CHECK(stacked.data<int32_t>()[1] == 4);

  ListObject strings(DType::kString, PartialShape::scalar(), 1);
  strings.push_back(Tensor::string_scalar("b"));
  strings.set(0, Tensor::string_scalar("a"));
  REQUIRE(strings.stack(PartialShape::unknown(), &stacked).ok());
  CHECK(stacked.elements<StringElement>()[1] == "b");
  CHECK(strings.pop_back().elements<StringElement>()[0] == "b");
}

struct CountingObserver final : OpObserver {
  int ops = 0;
  void on_op(const OpDef&, const Attributes&, std::span<const Operand> inputs,
             std::span<const Operand>, Node* node) override {
    ++ops;
    CHECK(node != nullptr);
    CHECK(node->inputs.size() == inputs.size());
  }
  bool wants_call(std::span<const Operand>) override { return false; }
  void on_call(const std::shared_ptr<Callee>&, std::span<const Operand>, std::span<const Operand>,
               std::span<const Operand>) override {}
  void on_variable(const std::shared_ptr<VariableResource>&, bool) override {}
};

TEST_CASE("observers see nodes being made, unless they are paused") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand x = test::float_argument(graph, {2}, "x");
  CountingObserver observer;
  push_observer(&observer);
  CHECK((thread_state.bits & ThreadState::kObserving) != 0);
  builder.op("Tanh", {x});
  {
    ObserverPause pause;
    CHECK((thread_state.bits & ThreadState::kObserving) == 0);
    builder.op("Tanh", {x});
  }
  builder.op("AddV2", {x, float_tensor({1, 2})});
  remove_observer(&observer);
  CHECK((thread_state.bits & ThreadState::kObserving) == 0);
  builder.op("Tanh", {x});
  CHECK(observer.ops == 2);
}

}  // namespace
}  // namespace graphwright
