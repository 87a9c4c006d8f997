// Random ops against numbers recorded from TensorFlow 2.21.
#include <array>
#include <cstring>

#include <doctest/doctest.h>

#include "ir/functiondef.h"
#include "ops/op_support.h"
#include "ops/random_seed.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

Tensor run(std::string_view op, std::vector<Operand> inputs,
           std::vector<std::pair<std::string_view, AttributeValue>> attributes) {
  return eager_builder()
      .op(op, std::span<const Operand>(inputs), attributes_of(op, std::move(attributes)))
      .tensor();
}
Tensor shape_of_size(int32_t size) {
  return Tensor::vector<int32_t>(DType::kInt32, std::array{size});
}
template <class T>
void check_close(const Tensor& got, std::vector<T> wanted) {
  REQUIRE(got.element_count() == static_cast<int64_t>(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    CHECK(got.data<T>()[i] == doctest::Approx(wanted[i]).epsilon(2e-7));
  }
}

TEST_CASE("equal seeds give TensorFlow's numbers") {
  auto uniform = [](int32_t size) {
    return run("RandomUniform", {shape_of_size(size)},
               {{"seed", int64_t{5}}, {"seed2", int64_t{9}}, {"dtype", DType::kFloat}});
  };
  check_close<float>(uniform(3), {0.8590066432952881f, 0.2115098237991333f, 0.17018115520477295f});
  Tensor integers = run("RandomUniformInt",
                        {shape_of_size(3), Tensor::int32_scalar(0), Tensor::int32_scalar(100)},
                        {{"seed", int64_t{5}}, {"seed2", int64_t{9}}});
  CHECK(integer_values(integers) == std::vector<int64_t>{42, 33, 15});
}

// The seeds that an eager function draws after set_seed.
RandomSeeds draw() { return random_seeds(eager_builder(), std::nullopt); }
Tensor draw_numbers(std::string_view op, int32_t size, DType dtype) {
  RandomSeeds seeds = draw();
  return run(op, {shape_of_size(size)},
             {{"seed", seeds.seed}, {"seed2", seeds.second}, {"dtype", dtype}});
}

TEST_CASE("the global seed decides what eager ops draw") {
  set_global_seed(2026);
  check_close<float>(draw_numbers("RandomUniform", 5, DType::kFloat),
                     {0.10240662097930908f, 0.6276571750640869f, 0.5165997743606567f,
                      0.5038001537322998f, 0.8562207221984863f});
  check_close<float>(draw_numbers("RandomUniform", 3, DType::kFloat),
                     {0.555588960647583f, 0.19593417644500732f, 0.7698478698730469f});
  Tensor normal = draw_numbers("RandomStandardNormal", 5, DType::kFloat);
  const float wanted[] = {1.3427417278289795f, 0.9897116422653198f, 0.2596309781074524f,
                          0.2353653758764267f, -0.4245804250240326f};
  for (int i = 0; i < 5; ++i) {
    CHECK(normal.data<float>()[i] == doctest::Approx(wanted[i]).epsilon(1e-6));
  }
  RandomSeeds seeds = draw();
  Tensor wide =
      run("RandomUniformInt", {shape_of_size(3), Tensor::int32_scalar(0), Tensor::int32_scalar(10)},
          {{"seed", seeds.seed}, {"seed2", seeds.second}});
  CHECK(integer_values(wide) == std::vector<int64_t>{5, 7, 4});
  seeds = draw();
  wide = run("RandomUniformInt",
             {shape_of_size(3), Tensor::int64_scalar(-5), Tensor::int64_scalar(1000000000000)},
             {{"seed", seeds.seed}, {"seed2", seeds.second}});
  CHECK(integer_values(wide) == std::vector<int64_t>{219652758142, 465918063153, 91056184080});
  check_close<double>(draw_numbers("RandomUniform", 3, DType::kDouble),
                      {0.12603079696396846, 0.4032909173625847, 0.35794025553162423});
  check_close<double>(draw_numbers("RandomStandardNormal", 3, DType::kDouble),
                      {-0.7614982141004987, -0.31187272071974, 0.06621056392884966});
  set_global_seed(2026);
  check_close<float>(draw_numbers("RandomUniform", 1, DType::kFloat), {0.10240662097930908f});
  for (auto [seed, first] : {std::pair{int64_t{0}, 0.29197514057159424f},
                             {int64_t{123456789012345}, 0.7152974605560303f},
                             {int64_t{-5}, 0.5703092813491821f}}) {
    set_global_seed(seed);
    check_close<float>(draw_numbers("RandomUniform", 1, DType::kFloat), {first});
  }
  set_global_seed(std::nullopt);
}

TEST_CASE("ops with a seed of their own go on where they stopped, until the seed is set anew") {
  auto next = [] {
    RandomSeeds seeds = random_seeds(eager_builder(), 7);
    return run("RandomUniform", {shape_of_size(2)},
               {{"seed", seeds.seed}, {"seed2", seeds.second}, {"dtype", DType::kFloat}});
  };
  set_global_seed(1);
  check_close<float>(next(), {0.787847638130188f, 0.7003978490829468f});
  check_close<float>(next(), {0.3380305767059326f, 0.5649691820144653f});
  check_close<float>(next(), {0.8580079078674316f, 0.8567783832550049f});
  check_close<float>(draw_numbers("RandomUniform", 2, DType::kFloat),
                     {0.1651308536529541f, 0.9014812707901001f});
  set_global_seed(1);
  check_close<float>(next(), {0.787847638130188f, 0.7003978490829468f});
  set_global_seed(std::nullopt);
}

TEST_CASE("bad arguments of random ops are refused") {
  CHECK_THROWS_AS(run("RandomUniformInt",
                      {shape_of_size(3), Tensor::int32_scalar(5), Tensor::int32_scalar(3)}, {}),
                  Error);
  CHECK_THROWS_AS(run("RandomUniform", {shape_of_size(-1)}, {{"dtype", DType::kFloat}}), Error);
  CHECK_THROWS_AS(run("RandomUniform", {Tensor::int32_scalar(3)}, {{"dtype", DType::kFloat}}),
                  Error);
  Tensor one = run("RandomUniform", {shape_of_size(100)}, {{"dtype", DType::kFloat}});
  Tensor two = run("RandomUniform", {shape_of_size(100)}, {{"dtype", DType::kFloat}});
  CHECK(std::memcmp(one.raw_data(), two.raw_data(), one.byte_size()) != 0);
}

}  // namespace
}  // namespace graphwright
