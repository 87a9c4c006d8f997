#include "tensor/tensor.h"

#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/status.h"

using namespace graphwright;

namespace {

struct Probe : Object {
  explicit Probe(int* alive) : alive(alive) { ++*alive; }
  ~Probe() override { --*alive; }
  std::string_view kind_name() const override { return "Probe"; }
  int* alive;
};

Tensor iota(std::initializer_list<int64_t> dims) {
  Tensor tensor = Tensor::empty(DType::kInt32, dims);
  std::iota(tensor.mutable_data<int32_t>(), tensor.mutable_data<int32_t>() + tensor.element_count(),
            0);
  return tensor;
}

}  // namespace

TEST_CASE("dtypes know their names and sizes") {
  for (int i = 0; i < kDTypeCount; ++i) {
    DType type = static_cast<DType>(i);
    if (dtype_size(type) == 0) {
      CHECK(dtype_name(type) == "invalid");
    } else {
      CHECK(dtype_from_name(dtype_name(type)) == type);
    }
  }
  CHECK(dtype_size(DType::kBfloat16) == 2);
  CHECK(dtype_size(DType::kComplex128) == 16);
  CHECK(dtype_from_name("half") == DType::kHalf);
  CHECK(dtype_from_name("float") == DType::kFloat);
  CHECK(dtype_from_name("nonsense") == DType::kInvalid);
  CHECK(dtype_name(static_cast<DType>(200)) == "invalid");
}

TEST_CASE("tensors of every size hold what was written") {
  for (int64_t count : {0, 1, 8, 9, 1000, 100000}) {
    Tensor tensor = iota({count});
    CHECK(tensor.element_count() == count);
    CHECK(reinterpret_cast<uintptr_t>(tensor.raw_data()) % 16 == 0);
    if (count > 8) CHECK(reinterpret_cast<uintptr_t>(tensor.raw_data()) % 64 == 0);
    for (int64_t i = 0; i < count; ++i) REQUIRE(tensor.data<int32_t>()[i] == i);
  }
}

TEST_CASE("a scalar is one object without a buffer") {
  int64_t before = memory_statistics().allocation_count;
  Tensor scalar = Tensor::int64_scalar(7);
  CHECK(memory_statistics().allocation_count == before + 1);
  CHECK(scalar.rank() == 0);
  CHECK(scalar.data<int64_t>()[0] == 7);
  CHECK(scalar.impl()->buffer == nullptr);
  CHECK(scalar.is_unique());
  Tensor second = scalar;
  CHECK_FALSE(scalar.is_unique());
  CHECK(second.is_same(scalar));
}

TEST_CASE("views and reshapes share elements and keep them alive") {
  Tensor base = iota({6, 10});
  std::vector<int64_t> flat{60}, row{10};
  Tensor reshaped = base.reshaped(flat);
  CHECK(reshaped.raw_data() == base.raw_data());
  CHECK_FALSE(base.is_unique());
  Tensor view = base.view(20, row);
  base = Tensor();
  reshaped = Tensor();
  CHECK(view.is_unique());
  for (int i = 0; i < 10; ++i) CHECK(view.data<int32_t>()[i] == 20 + i);
  CHECK_THROWS_AS(view.reshaped(flat), Error);
  CHECK_THROWS_AS(view.view(1, row), Error);
  CHECK_THROWS_AS(view.view(-1, std::vector<int64_t>{2}), Error);
  Tensor copy = view.copy();
  CHECK(copy.raw_data() != view.raw_data());
  CHECK(copy.data<int32_t>()[9] == 29);
  // Without a buffer the elements are copied.
  Tensor small = iota({2, 2});
  Tensor small_row = small.view(2, std::vector<int64_t>{2});
  CHECK(small.is_unique());
  CHECK(small_row.data<int32_t>()[1] == 3);
}

TEST_CASE("strings and objects are constructed, copied and destroyed") {
  Tensor strings = Tensor::empty(DType::kString, {3});
  strings.mutable_data<StringElement>()[1] = std::string(100, 'x');
  CHECK(strings.copy().data<StringElement>()[1].size() == 100);
  CHECK(strings.data<StringElement>()[0].empty());
  CHECK(Tensor::string_scalar("kept inside").data<StringElement>()[0] == "kept inside");
  CHECK(strings.view(1, std::vector<int64_t>{1}).data<StringElement>()[0][5] == 'x');

  int alive = 0;
  {
    Tensor one = Tensor::object(DType::kResource, std::make_shared<Probe>(&alive));
    CHECK(one.object_element()->kind_name() == "Probe");
    Tensor several = Tensor::empty(DType::kVariant, {5});
    for (int i = 0; i < 5; ++i) {
      several.mutable_data<ObjectPointer>()[i] = std::make_shared<Probe>(&alive);
    }
    Tensor copy = several.copy();
    several = Tensor();
    CHECK(alive == 6);
  }
  CHECK(alive == 0);
  CHECK_THROWS_AS(Tensor::object(DType::kInt32, nullptr), Error);
}

TEST_CASE("more dimensions than fit inside") {
  std::vector<int64_t> dims(20, 1);
  dims[19] = 3;
  Tensor deep = Tensor::zeros(DType::kFloat, dims);
  CHECK(deep.rank() == 20);
  CHECK(deep.dim(19) == 3);
  CHECK(deep.reshaped(std::vector<int64_t>{3}).dim(0) == 3);
  CHECK(deep.copy().dims().size() == 20);
  CHECK_THROWS_AS(Tensor::zeros(DType::kFloat, std::vector<int64_t>(255, 1)), Error);
}

TEST_CASE("impossible shapes are refused") {
  int64_t big = int64_t{1} << 40;
  CHECK_THROWS_AS(Tensor::empty(DType::kFloat, {big, big}), Error);
  CHECK_THROWS_AS(Tensor::empty(DType::kFloat, {int64_t{1} << 62}), Error);
  CHECK_THROWS_AS(Tensor::empty(DType::kFloat, {-1}), Error);
  CHECK_THROWS_AS(Tensor::empty(DType::kInvalid, {1}), Error);
  CHECK(Tensor::empty(DType::kFloat, {big, 0, big}).element_count() == 0);
}

TEST_CASE("borrowed tensors become owned by copying") {
  int32_t arena[2] = {4, 5};
  Tensor borrowed = Tensor::empty(DType::kInt32, {2});
  borrowed.impl()->data = arena;
  borrowed.impl()->flags = TensorImpl::kBorrowed;
  CHECK_FALSE(borrowed.is_unique());
  Tensor owned = borrowed.owned();
  CHECK_FALSE(owned.is_same(borrowed));
  arena[0] = 9;
  CHECK(owned.data<int32_t>()[0] == 4);
  CHECK(owned.owned().is_same(owned));
}

TEST_CASE("partial shapes compare, merge and print") {
  PartialShape a{2, kUnknownDim}, b{kUnknownDim, 3};
  CHECK(a.to_string() == "(2, None)");
  CHECK(PartialShape{4}.to_string() == "(4,)");
  CHECK(PartialShape::scalar().to_string() == "()");
  CHECK(PartialShape().to_string() == "<unknown>");
  CHECK(a.merged_with(b) == PartialShape{2, 3});
  CHECK(a.common_supertype(b) == PartialShape{kUnknownDim, kUnknownDim});
  CHECK_FALSE(a.common_supertype(PartialShape{2}).has_rank());
  CHECK(a.is_compatible_with(b));
  CHECK_FALSE(a.is_supertype_of(b));
  CHECK(a.is_supertype_of(PartialShape{2, 7}));
  CHECK(PartialShape().is_supertype_of(a));
  CHECK_FALSE(a.is_supertype_of(PartialShape()));
  CHECK_FALSE(a == PartialShape{2});
  CHECK(a.concatenated(b) == PartialShape{2, kUnknownDim, kUnknownDim, 3});
  CHECK_THROWS_WITH_AS((PartialShape{2}.merged_with(PartialShape{3})),
                       "Shapes (2,) and (3,) are not compatible", Error);
  CHECK(PartialShape{2, 3}.element_count() == 6);
  CHECK(PartialShape{0, kUnknownDim}.element_count() == std::nullopt);
  CHECK_THROWS_AS((PartialShape{int64_t{1} << 40, int64_t{1} << 40}.element_count()), Error);
  PartialShape deep = PartialShape::unknown_dims(9), copy = deep;
  copy.set_dim(8, 4);
  CHECK(deep.dim(8) == kUnknownDim);
  deep = copy;
  CHECK(deep == copy);
  CHECK_THROWS_AS(PartialShape::unknown_dims(255), Error);
}

TEST_CASE("symbols equal only themselves") {
  Dim s = new_symbol(), t = new_symbol();
  CHECK(s != t);
  CHECK((PartialShape{s} == PartialShape{s}));
  CHECK_FALSE((PartialShape{s} == PartialShape{t}));
  CHECK((PartialShape{s}.is_compatible_with(PartialShape{t})));
  CHECK_FALSE((PartialShape{s}.is_supertype_of(PartialShape{3})));
  CHECK((PartialShape{kUnknownDim}.merged_with(PartialShape{s}) == PartialShape{s}));
  CHECK((PartialShape{s}.merged_with(PartialShape{3}) == PartialShape{3}));
  CHECK((PartialShape{3}.merged_with(PartialShape{s}) == PartialShape{3}));
  CHECK((PartialShape{s, 2}.without_symbols() == PartialShape{kUnknownDim, 2}));
  CHECK(*broadcast_shapes({s}, {s}) == PartialShape{s});
  CHECK(*broadcast_shapes({s}, {1}) == PartialShape{s});
  CHECK(*broadcast_shapes({s}, {t}) == PartialShape{kUnknownDim});
}

TEST_CASE("broadcasting follows NumPy") {
  CHECK(*broadcast_shapes({2, 1}, {3}) == PartialShape{2, 3});
  CHECK(*broadcast_shapes(PartialShape::scalar(), {4, 5}) == PartialShape{4, 5});
  CHECK(*broadcast_shapes({0}, {1}) == PartialShape{0});
  CHECK(*broadcast_shapes({kUnknownDim}, {4}) == PartialShape{4});
  CHECK(*broadcast_shapes({kUnknownDim}, {1}) == PartialShape{kUnknownDim});
  CHECK_FALSE(broadcast_shapes(PartialShape(), {2})->has_rank());
  CHECK_FALSE(broadcast_shapes({2}, {3}).has_value());
  CHECK_FALSE(broadcast_shapes({0}, {2}).has_value());
  CHECK(dims_to_string(std::vector<int64_t>{2, 3}) == "[2,3]");
  CHECK(dims_to_string({}) == "[]");
}
