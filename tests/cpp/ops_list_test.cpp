// List values: how they are stored and shared, the ops that join, cut, gather and scatter them, and
// loops that write them in place.
#include <doctest/doctest.h>

#include "allocation_counter.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "ir/resources.h"
#include "ops_support.h"
#include "runtime/plan.h"

namespace graphwright {
namespace {

using namespace ops_test;
using Numbers = std::vector<double>;

Tensor stacked(const ListObject& list) {
  Tensor result;
  list.stack(PartialShape::unknown(), &result).throw_if_error();
  return result;
}

TEST_CASE("a full list and its stack share memory until one of them changes") {
  ListObject list(DType::kDouble, PartialShape::unknown(), 2);
  list.set(0, doubles({2}, {1, 2}));
  list.set(1, doubles({2}, {3, 4}));
  Tensor stack = stacked(list);
  CHECK(stack.raw_data() == list.element_data(0));
  list.set(0, doubles({2}, {9, 9}));
  CHECK(values_of(stack) == Numbers{1, 2, 3, 4});
  CHECK(values_of(stacked(list)) == Numbers{9, 9, 3, 4});
}

TEST_CASE("a list shares the rows it is made of until it changes") {
  Tensor rows = doubles({2, 8}, std::vector<double>(16, 1.0));
  ListObject list(rows, PartialShape::unknown());
  CHECK(list.element_data(1) == rows.data<double>() + 8);
  list.set(0, doubles({8}, std::vector<double>(8, 2.0)));
  CHECK(values_of(rows) == Numbers(16, 1.0));
  CHECK(values_of(list.get(0)) == Numbers(8, 2.0));
  CHECK(values_of(list.get(1)) == Numbers(8, 1.0));
}

TEST_CASE("copies of a list are values of their own") {
  auto list = std::make_shared<ListObject>(DType::kDouble, PartialShape::unknown(), 2);
  list->set(0, doubles({1}, {1}));
  std::shared_ptr<ListObject> copy = list->copy();
  copy->set(0, doubles({1}, {2}));
  list->set(1, doubles({1}, {3}));
  CHECK(values_of(stacked(*list)) == Numbers{1, 3});
  CHECK(values_of(stacked(*copy)) == Numbers{2, 0});
}

TEST_CASE("a shorter list forgets what was written behind its end") {
  ListObject list(DType::kDouble, PartialShape{1}, 3);
  for (int64_t i = 0; i < 3; ++i) list.set(i, doubles({1}, {1.0 + static_cast<double>(i)}));
  list.resize(1);
  list.resize(3);
  CHECK(values_of(stacked(list)) == Numbers{1, 0, 0});
}

Tensor int64s(std::vector<int64_t> values) {
  return Tensor::vector<int64_t>(DType::kInt64, std::span<const int64_t>(values));
}

TEST_CASE("pieces of a tensor join to the tensor") {
  Tensor rows = doubles({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor list = run("TensorListSplit", {rows, Tensor::int32_scalar(-1), int64s({1, 0, 2})});
  std::vector<Tensor> joined = run_all("TensorListConcatV2", {list, ints({2}, {-1, 2}), int64s({})},
                                       {{"element_dtype", DType::kDouble}});
  CHECK(values_of(joined[0]) == values_of(rows));
  CHECK(values_of(joined[1]) == Numbers{1, 0, 2});
  error_of("TensorListSplit", {rows, Tensor::int32_scalar(-1), int64s({1, 1})});
  error_of("TensorListSplit", {rows, Tensor::int32_scalar(-1), int64s({1, 3})});
  error_of("TensorListSplit", {rows, Tensor::int32_scalar(-1), int64s({4, -1})});
}

// --- Loops ---

constexpr DType kFloat = DType::kFloat;

// Writes x * i into element i of a list of `size` elements, reading element i - 1 on the way.
std::shared_ptr<Graph> writing_loop(bool growing) {
  auto graph = std::make_shared<Graph>("writing_loop");
  Operand count(
      graph->add_argument(graph->body(), tensor_type(DType::kInt32, PartialShape::scalar()), "n"));
  Operand x(graph->add_argument(graph->body(), tensor_type(kFloat, PartialShape{8}), "x"));
  GraphBuilder builder(*graph);
  const OpDef& reserve = get_op("TensorListReserve");
  OperandVector list;
  builder.apply(reserve,
                OperandVector{ints({1}, {8}), growing ? Operand(Tensor::int32_scalar(0)) : count},
                named_attributes(reserve, {{"element_dtype", kFloat}}), list);
  OperandVector results = builder.while_loop(
      {}, OperandVector{Tensor::int32_scalar(0), list[0], x},
      [&](std::span<const Operand> loop) {
        return OperandVector{builder.op("Less", {loop[1], count})};
      },
      [&](std::span<const Operand> loop) {
        const OpDef& set = get_op("TensorListSetItem");
        const OpDef& get = get_op("TensorListGetItem");
        OperandVector written, item;
        builder.apply(set, OperandVector{loop[2], loop[1], loop[3]},
                      named_attributes(set, {{"resize_if_index_out_of_bounds", growing}}), written);
        builder.apply(get, OperandVector{written[0], loop[1], ints({1}, {8})},
                      named_attributes(get, {{"element_dtype", kFloat}}), item);
        Operand next = builder.op("AddV2", {item[0], x});
        return OperandVector{builder.op("AddV2", {loop[1], Tensor::int32_scalar(1)}), written[0],
                             next};
      });
  const OpDef& stack = get_op("TensorListStack");
  OperandVector stacked;
  builder.apply(stack, OperandVector{results[2], ints({1}, {8})},
                named_attributes(stack, {{"element_dtype", kFloat}}), stacked);
  graph->body().results.push_back(builder.import(stacked[0]));
  graph->body().results.push_back(builder.import(results[3]));
  graph->freeze();
  verify_graph(*graph);
  return graph;
}

int64_t allocations_of(Plan& plan, int32_t count) {
  std::vector<Tensor> inputs{Tensor::int32_scalar(count), floats({8}, std::vector<float>(8, 1.0f))};
  std::vector<Tensor> outputs(2);
  int64_t before = testing::allocation_count();
  run_plan(plan, inputs, outputs).throw_if_error();
  int64_t after = testing::allocation_count();
  CHECK(dims_of(outputs[0]) == std::vector<int64_t>{count, 8});
  CHECK(outputs[0].data<float>()[(count - 1) * 8 + 7] == static_cast<float>(count));
  CHECK(outputs[1].data<float>()[0] == static_cast<float>(count + 1));
  return after - before;
}

TEST_CASE("a loop that writes and reads a list of known size does not allocate") {
  std::shared_ptr<Plan> plan = compile_plan(*writing_loop(/*growing=*/false));
  allocations_of(*plan, 2);  // makes the frame
  int64_t few = allocations_of(*plan, 2);
  CHECK(allocations_of(*plan, 100'000) == few);
}

TEST_CASE("a list that grows in a loop doubles its memory") {
  std::shared_ptr<Plan> plan = compile_plan(*writing_loop(/*growing=*/true));
  allocations_of(*plan, 2);
  int64_t few = allocations_of(*plan, 2);
  // Buffer, its tensor and the flags, each time the size doubles.
  CHECK(allocations_of(*plan, 100'000) <= few + 17 * 5);
}

}  // namespace
}  // namespace graphwright
