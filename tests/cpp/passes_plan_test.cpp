// What the passes are for: plans that do less.
#include <doctest/doctest.h>

#include "graph_interpreter.h"
#include "ir/text.h"
#include "runtime/plan.h"

namespace graphwright {
namespace {

std::shared_ptr<Graph> graph_of(std::string_view body) {
  return parse_module("graphwright-ir 2\n" + std::string(body), "test").back();
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("sizes that a loop keeps need no check and no memory of their own") {
  auto graph = graph_of(R"(graph "f"
body(%0: float32[s0,3] "x") {
  %1: int32[] = Const() {value = int32[] {3}, dtype = int32}
  %2: bool[] = Const() {value = bool[] {true}, dtype = bool}
  %3: int32[], %4: float32[s1,3] = While(%1, %0) block(%5: int32[], %6: float32[s2,3]) {
    return %2
  } block(%7: int32[], %8: float32[s3,3]) {
    %9: float32[s4,3] = AddV2(%8, %0)
    return %9
  }
  %10: float32[s5,3] = Mul(%4, %0)
  return %10
}
)");
  const std::string text = plan_to_text(*compile_plan(*graph));
  INFO(text);
  CHECK(count(text, "check") == 0);
  CHECK(count(text, "dynamic") == 0);
  Tensor x = Tensor::empty(DType::kFloat, std::array<int64_t, 2>{2, 3});
  for (int i = 0; i < 6; ++i) x.mutable_data<float>()[i] = static_cast<float>(i) - 2.5f;
  std::vector<Tensor> inputs{x}, outputs(1);
  run_plan(*compile_plan(*graph), inputs, outputs).throw_if_error();
  Tensor expected = testing::GraphInterpreter::run(*graph, inputs)[0];
  CHECK(std::ranges::equal(outputs[0].elements<float>(), expected.elements<float>()));
}

TEST_CASE("a plan has one instruction for what the program says several times") {
  auto graph = graph_of(R"(graph "f"
body(%0: float32[] "x", %1: float32[] "y") {
  %2: float32[] = Const() {value = float32[] {1}, dtype = float32}
  %3: float32[] = Mul(%0, %2)
  %4: float32[] = Tanh(%3)
  %5: float32[] = Tanh(%0)
  %6: float32[] = Neg(%4)
  %7: float32[] = Neg(%6)
  %8: float32[] = Sub(%7, %5)
  %9: int32[] = Const() {value = int32[] {10}, dtype = int32}
  %10: bool[] = Const() {value = bool[] {true}, dtype = bool}
  %11: int32[], %12: float32[] = While(%9, %8) block(%13: int32[], %14: float32[]) {
    return %10
  } block(%15: int32[], %16: float32[]) {
    %17: float32[] = Sin(%1)
    %18: float32[] = AddV2(%16, %17)
    return %18
  }
  return %12
}
)");
  const std::string text = plan_to_text(*compile_plan(*graph));
  INFO(text);
  CHECK(count(text, "Tanh(") == 1);
  CHECK(count(text, "Mul(") == 0);
  CHECK(count(text, "Neg(") == 0);
  CHECK(text.find("Sin(") < text.find("AddV2("));
  CHECK(text.find("Sin(") < text.find("jump"));
}

TEST_CASE("a loop that the program leaves at once reports the first error all the same") {
  // The division stands in a loop that does not run; nothing may move it out.
  auto graph = graph_of(R"(graph "f"
body(%0: int32[] "n", %1: int32[] "d") {
  %2: int32[] = Const() {value = int32[] {-1}, dtype = int32}
  %3: int32[], %4: int32[] = While(%2, %0) block(%5: int32[], %6: int32[]) {
    %7: bool[] = Less(%6, %1)
    return %7
  } block(%8: int32[], %9: int32[]) {
    %10: int32[] = FloorDiv(%0, %1)
    %11: int32[] = AddV2(%9, %10)
    return %11
  }
  return %4
}
)");
  std::vector<Tensor> outputs(1);
  std::vector<Tensor> inputs{Tensor::int32_scalar(5), Tensor::int32_scalar(0)};
  run_plan(*compile_plan(*graph), inputs, outputs).throw_if_error();
  CHECK(*outputs[0].data<int32_t>() == 5);
}

}  // namespace graphwright
