// The public interface: tensors, operands, ops, errors. Only public headers.
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "api_support.h"

using Floats = std::vector<float>;

TEST_CASE("api: constants take dtype and shape from C++") {
  gw::Tensor scalar = gw::constant(2.5);
  CHECK(scalar.dtype() == gw::float64);
  CHECK(scalar.shape() == gw::Shape{});
  CHECK(scalar.item<double>() == 2.5);
  gw::Tensor matrix = gw::constant({{1, 2, 3}, {4, 5, 6}});
  CHECK(matrix.dtype() == gw::int32);
  CHECK(matrix.shape() == gw::Shape{2, 3});
  CHECK(matrix.to_vector<int>() == std::vector<int>{1, 2, 3, 4, 5, 6});
  gw::Tensor cube = gw::constant({{{1.0f}, {2.0f}}, {{3.0f}, {4.0f}}});
  CHECK(cube.shape() == gw::Shape{2, 2, 1});
  CHECK(gw::constant({true, false}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(gw::constant({1, 2}, gw::float32).to_vector<float>() == Floats{1, 2});
  CHECK(gw::constant(std::vector<int64_t>{7, 8}).dtype() == gw::int64);
  CHECK(gw::constant(std::vector<float>{1, 2, 3, 4}, gw::Shape{2, 2}).shape() == gw::Shape{2, 2});
  gw::Tensor words = gw::constant({"one", "", "three"});
  CHECK(words.dtype() == gw::string);
  CHECK(words.string_at(2) == "three");
  CHECK(words.string_at(1).empty());
  unsigned char half[] = {0x00, 0x3c, 0x00, 0xc0};
  gw::Tensor halves = gw::from_bytes(half, gw::Shape{2}, gw::float16);
  CHECK(gw::cast(halves, gw::float32).to_vector<float>() == Floats{1, -2});
  CHECK(gw::constant(std::vector<float>(1000, 1.5f)).elements<float>()[999] == 1.5f);
}

TEST_CASE("api: wrong constants are refused") {
  CHECK(error_of([] { gw::constant({{1, 2}, {3}}); }).code() == gw::Code::kInvalidArgument);
  gw::Error count = error_of([] { gw::constant(std::vector<int>{1, 2, 3}, gw::Shape{2}); });
  CHECK(mentions(count.what(), "3 elements were given for a tensor of shape (2,)"));
  CHECK(error_of([] { gw::constant(std::vector<int>{1}, gw::Shape{gw::kUnknownDim}); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(error_of([] { gw::constant(std::vector<int>{}, gw::Shape{-7}); }).code() ==
        gw::Code::kInvalidArgument);
  unsigned char two[] = {2};
  CHECK(mentions(error_of([&] { gw::from_bytes(two, gw::Shape{1}, gw::boolean); }).what(), "is 2"));
  CHECK(error_of([&] { gw::from_bytes(two, gw::Shape{1}, static_cast<gw::DType>(200)); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(error_of([&] { gw::from_bytes(two, gw::Shape{}, gw::string); }).code() ==
        gw::Code::kInvalidArgument);
}

TEST_CASE("api: elements are read only as what they are") {
  gw::Tensor x = gw::constant({1.0f, 2.0f});
  CHECK(mentions(error_of([&] { x.elements<double>(); }).what(), "float32, not float64"));
  CHECK(error_of([&] { x.item<float>(); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { x.string_at(0); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([] { gw::constant({"a"}).string_at(1); }).code() == gw::Code::kOutOfRange);
  CHECK(error_of([] { gw::constant({"a"}).string_at(-1); }).code() == gw::Code::kOutOfRange);
  CHECK(error_of([&] { static_cast<void>(static_cast<bool>(x)); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(static_cast<bool>(gw::constant(0.5)));
  CHECK(!static_cast<bool>(gw::constant({0})));
  CHECK(gw::constant(std::vector<float>{}, gw::Shape{0, 3}).elements<float>().empty());
}

TEST_CASE("api: null and moved-from tensors are refused, not dereferenced") {
  gw::Tensor null;
  CHECK(!null.defined());
  CHECK(error_of([&] { null.dtype(); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { null + 1; }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { gw::tanh(null); }).code() == gw::Code::kInvalidArgument);
  gw::Tensor x = gw::constant(1.0f);
  gw::Tensor y = std::move(x);
  CHECK(!x.defined());  // NOLINT(bugprone-use-after-move): what the test is about
  CHECK(y.item<float>() == 1);
  CHECK(null.to_string() == "<null tensor>");
  CHECK(error_of([] { gw::Function().argument_count(); }).code() == gw::Code::kInvalidArgument);
}

TEST_CASE("api: numbers take the dtype of the other operand") {
  gw::Tensor x = gw::constant({1.0, 2.0});
  CHECK((x * 2).dtype() == gw::float64);
  CHECK((0.5 * x).to_vector<double>() == std::vector<double>{0.5, 1});
  gw::Tensor i = gw::constant({1, 2});
  CHECK((i + 1).to_vector<int>() == std::vector<int>{2, 3});
  CHECK(mentions(error_of([&] { i + 0.5; }).what(), "0.5 is no int32"));
  CHECK(mentions(error_of([&] { gw::constant({uint8_t{1}}) + 300; }).what(), "300 does not fit"));
  CHECK(error_of([&] { x + true; }).code() == gw::Code::kInvalidArgument);
  CHECK(gw::add(1, 2).dtype() == gw::int32);
  CHECK(gw::add(1, 2.5).dtype() == gw::float32);
  CHECK(gw::add(1, 2.5).item<float>() == 3.5f);
  CHECK((-x)[1].item<double>() == -2);
  CHECK((i / 2).to_vector<double>() == std::vector<double>{0.5, 1});
  CHECK((i % 2).to_vector<int>() == std::vector<int>{1, 0});
  CHECK(((i > 1) & !(i == 3)).to_vector<bool>() == std::vector<bool>{false, true});
  i += 1;
  CHECK(i.to_vector<int>() == std::vector<int>{2, 3});
}

TEST_CASE("api: functions of the tables, with their options") {
  gw::Tensor x = gw::constant({{1.0f, 2.0f}, {3.0f, 4.0f}});
  CHECK(gw::reduce_sum(x).item<float>() == 10);
  CHECK(gw::reduce_sum(x, {.axis = 0}).to_vector<float>() == Floats{4, 6});
  CHECK(gw::reduce_sum(x, {.axis = {0, 1}, .keepdims = true}).shape() == gw::Shape{1, 1});
  CHECK(gw::matmul(x, x, {.transpose_b = true}).to_vector<float>() == Floats{5, 11, 11, 25});
  CHECK(gw::concat({x, x}, 0).shape() == gw::Shape{4, 2});
  CHECK(gw::reshape(x, {4}).shape() == gw::Shape{4});
  CHECK(gw::reshape(x, gw::Shape{1, 4}).shape() == gw::Shape{1, 4});
  CHECK(gw::transpose(x, {.perm = {1, 0}}).to_vector<float>() == Floats{1, 3, 2, 4});
  CHECK(gw::split(x, 2).size() == 2);
  CHECK(gw::split(x, 2)[1].to_vector<float>() == Floats{3, 4});
  CHECK(gw::zeros({2, 3}, {.dtype = gw::int32}).to_vector<int>() == std::vector<int>(6, 0));
  CHECK(gw::nn::softmax(gw::constant({0.0f, 0.0f})).to_vector<float>() == Floats{0.5, 0.5});
  CHECK(gw::math::tanh(gw::constant(0.0f)).item<float>() == 0);
  CHECK(gw::strings::join({gw::constant("a"), "b"}, {.separator = "-"}).string_at() == "a-b");
  CHECK(gw::strings::as_string(gw::constant({1, 20})).string_at(1) == "20");
  CHECK(gw::where(x > 2, {.x = x, .y = -x}).to_vector<float>() == Floats{-1, -2, 3, 4});
  CHECK(gw::cast(x, gw::int64).dtype() == gw::int64);
  gw::Tensor image = gw::ones({1, 3, 3, 1}), filter = gw::ones({2, 2, 1, 1});
  CHECK(gw::nn::conv2d(image, filter, 1, "VALID").to_vector<float>() == Floats(4, 4));
}

TEST_CASE("api: indexing") {
  gw::Tensor x = gw::constant({{1, 2}, {3, 4}});
  CHECK(x[0].to_vector<int>() == std::vector<int>{1, 2});
  CHECK(x[-1].to_vector<int>() == std::vector<int>{3, 4});
  CHECK(x[gw::constant(int64_t{1})][0].item<int>() == 3);
  CHECK(error_of([&] { x[2]; }).code() != gw::Code::kOk);
  CHECK(error_of([&] { x[0.5]; }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { x[{0, 1}]; }).code() == gw::Code::kInvalidArgument);
}

TEST_CASE("api: errors say what, where and with which arguments") {
  gw::Tensor x = gw::constant({1.0f, 2.0f}), y = gw::constant({1.0f, 2.0f, 3.0f});
  gw::Error shapes = error_of([&] { x + y; });
  CHECK(shapes.code() == gw::Code::kInvalidArgument);
  CHECK(std::string(shapes.op()) == "AddV2");
  CHECK(mentions(shapes.location(), "api_tensor_test.cpp:"));
  gw::Error dtypes = error_of([&] { x + gw::constant({1.0, 2.0}); });
  CHECK(dtypes.code() == gw::Code::kInvalidArgument);
  gw::Error axis = error_of([&] { gw::reduce_sum(x, {.axis = 5}); });
  CHECK(axis.code() != gw::Code::kOk);
  gw::Error none = error_of([&] { gw::add(x, {}); });
  CHECK(std::string(none.argument()) == "y");
  gw::Error word = error_of([&] { gw::nn::conv2d(x, y, 1, "SOMEHOW"); });
  CHECK(word.code() == gw::Code::kInvalidArgument);
  gw::Error copy = shapes;
  copy = dtypes;
  CHECK(std::string(copy.what()) == dtypes.what());
  CHECK(error_of([] { gw::detail::call("no_such_function", ""); }).code() ==
        gw::Code::kUnimplemented);
}

TEST_CASE("api: text") {
  std::ostringstream stream;
  stream << gw::constant({1.0f, 2.0f});
  CHECK(stream.str() == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)");
  CHECK(gw::Shape({2, gw::kUnknownDim}).to_string() == "(2, None)");
  CHECK(gw::Shape({2}).to_string() == "(2,)");
  CHECK(gw::Shape::unknown_rank().to_string() == "<unknown>");
  CHECK(gw::Shape({2, 3}).dim(-1) == 3);
  CHECK(gw::Shape({2, 3}).dim(2) == gw::kUnknownDim);
  CHECK(gw::to_string(gw::bfloat16) == "bfloat16");
  CHECK(gw::size_of(gw::complex128) == 16);
  CHECK(gw::size_of(gw::string) == 0);
}
