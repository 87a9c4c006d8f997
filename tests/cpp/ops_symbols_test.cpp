// Shape rules keep the names of unknown dims, so that equal sizes are known to be equal.
#include <doctest/doctest.h>

#include "ir_support.h"

namespace graphwright {
namespace {

using test::argument;

struct Symbols {
  Graph graph{"f"};
  GraphBuilder builder{graph};
  Dim s = new_symbol(), t = new_symbol();
  Operand x = tensor({s, 3});       // [s, 3]
  Operand y = tensor({s, 3});       // [s, 3]
  Operand z = tensor({t, 3});       // [t, 3]
  Operand square = tensor({s, s});  // [s, s]
  Operand vector = tensor({s});     // [s]
  Operand rows = tensor({3, 5});    // [3, 5]
  Operand ids = argument(graph, tensor_type(DType::kInt32, PartialShape{t}), "ids");
  Operand labels = argument(graph, tensor_type(DType::kInt32, PartialShape{s}), "labels");
  Operand unknown = argument(graph, tensor_type(DType::kFloat, PartialShape{kUnknownDim}), "u");

  Operand tensor(std::initializer_list<Dim> dims) {
    return argument(graph, tensor_type(DType::kFloat, PartialShape(dims)), "");
  }
  Operand ints(std::initializer_list<int64_t> values) {
    return builder.int32_vector(std::vector<int64_t>(values));
  }
  Operand integer(int32_t value) { return builder.constant(Tensor::int32_scalar(value)); }
  Operand op(std::string_view name, std::initializer_list<Operand> inputs,
             std::vector<std::pair<std::string_view, AttributeValue>> attributes = {}) {
    return builder.op(name, inputs, named_attributes(get_op(name), std::move(attributes)));
  }
  void check(const std::string& what, const Operand& result, std::initializer_list<Dim> dims) {
    CAPTURE(what);
    CAPTURE(type_of(result).to_string());
    CHECK(shape_of(result) == PartialShape(dims));
  }
};

}  // namespace

TEST_CASE("shape rules keep the names of unknown sizes") {
  Symbols g;
  Dim s = g.s, t = g.t;
  Operand scalar = g.builder.constant(Tensor::scalar(DType::kFloat, 2.0f));
  g.check("tanh", g.op("Tanh", {g.x}), {s, 3});
  g.check("add", g.op("AddV2", {g.x, g.y}), {s, 3});
  g.check("add scalar", g.op("AddV2", {scalar, g.x}), {s, 3});
  g.check("add row", g.op("AddV2", {g.x, g.tensor({3})}), {s, 3});
  g.check("less", g.op("Less", {g.x, g.y}), {s, 3});
  g.check("select", g.op("SelectV2", {g.op("Less", {g.x, g.y}), g.x, scalar}), {s, 3});
  g.check("cast", g.op("Cast", {g.x}, {{"DstT", DType::kInt32}}), {s, 3});
  g.check("identity", g.op("Identity", {g.x}), {s, 3});
  g.check("zeros_like", g.op("ZerosLike", {g.x}), {s, 3});
  g.check("add_n", g.op("AddN", {g.x, g.y}), {s, 3});
  g.check("transpose", g.op("Transpose", {g.x, g.ints({1, 0})}), {3, s});
  g.check("expand_dims", g.op("ExpandDims", {g.x, g.integer(1)}), {s, 1, 3});
  g.check("squeeze",
          g.op("Squeeze", {g.op("ExpandDims", {g.x, g.integer(0)})},
               {{"squeeze_dims", std::vector<int64_t>{0}}}),
          {s, 3});
  g.check("reshape -1", g.op("Reshape", {g.x, g.ints({-1, 3})}), {s, 3});
  g.check("reshape to shape", g.op("Reshape", {g.x, g.op("Shape", {g.y})}), {s, 3});
  Operand size = g.op("StridedSlice", {g.op("Shape", {g.x}), g.ints({0}), g.ints({1}), g.ints({1})},
                      {{"shrink_axis_mask", int64_t{1}}});
  g.check("reshape to packed",
          g.op("Reshape", {g.x, g.op("Pack", {size, g.integer(1), g.integer(3)})}), {s, 1, 3});
  g.check("reshape to a size and the rest",
          g.op("Reshape", {g.x, g.op("Pack", {size, g.integer(-1)})}), {s, 3});
  g.check("reshape to the rest", g.op("Reshape", {g.x, g.op("Pack", {g.integer(3), size})}),
          {3, s});
  g.check("fill", g.op("Fill", {g.op("Shape", {g.x}), scalar}), {s, 3});
  g.check("broadcast_to", g.op("BroadcastTo", {scalar, g.op("Shape", {g.x})}), {s, 3});
  g.check("range", g.op("Range", {g.integer(0), size, g.integer(1)}), {s});
  g.check("random", g.op("RandomUniform", {g.op("Shape", {g.x})}, {{"dtype", DType::kFloat}}),
          {s, 3});
  g.check("concat", g.op("ConcatV2", {g.x, g.y, g.integer(1)}), {s, 6});
  g.check("concat with unknown",
          g.op("ConcatV2", {g.op("ExpandDims", {g.unknown, g.integer(1)}), g.x, g.integer(1)}),
          {s, 4});
  g.check("split", g.op("Split", {g.integer(1), g.x}, {{"num_split", int64_t{3}}}), {s, 1});
  g.check("pack", g.op("Pack", {g.x, g.y}), {2, s, 3});
  g.check("pack behind", g.op("Pack", {g.x, g.y}, {{"axis", int64_t{1}}}), {s, 2, 3});
  g.check("unpack", g.op("Unpack", {g.x}, {{"axis", int64_t{1}}, {"num", int64_t{3}}}), {s});
  g.check("slice", g.op("Slice", {g.x, g.ints({0, 1}), g.ints({-1, 2})}), {s, 2});
  g.check(
      "x[:, 0]",
      g.op(
          "StridedSlice", {g.x, g.ints({0, 0}), g.ints({0, 1}), g.ints({1, 1})},
          {{"begin_mask", int64_t{1}}, {"end_mask", int64_t{1}}, {"shrink_axis_mask", int64_t{2}}}),
      {s});
  Tensor paddings = Tensor::empty(DType::kInt32, std::array<int64_t, 2>{2, 2});
  for (int i = 0; i < 4; ++i) paddings.mutable_data<int32_t>()[i] = i / 2;
  g.check("pad constant", g.op("Pad", {g.x, g.builder.constant(paddings)}), {s, 5});
  g.check("tile", g.op("Tile", {g.x, g.ints({1, 2})}), {s, 6});
  g.check("reverse", g.op("ReverseV2", {g.x, g.ints({0})}), {s, 3});
  g.check("gather", g.op("GatherV2", {g.rows, g.ids, g.integer(0)}), {t, 5});
  g.check("gather columns", g.op("GatherV2", {g.x, g.ids, g.integer(1)}), {s, t});
  g.check("one_hot", g.op("OneHot", {g.ids, g.integer(4), scalar, scalar}), {t, 4});
  g.check("matmul", g.op("MatMul", {g.x, g.rows}), {s, 5});
  g.check("matmul transposed", g.op("MatMul", {g.x, g.z}, {{"transpose_b", true}}), {s, t});
  g.check("bias_add", g.op("BiasAdd", {g.x, g.tensor({3})}), {s, 3});
  g.check("softmax", g.op("Softmax", {g.x}), {s, 3});
  g.check("cross entropy", g.op("SparseSoftmaxCrossEntropyWithLogits", {g.x, g.labels}), {s});
  g.check("sum", g.op("Sum", {g.x, g.ints({1})}), {s});
  g.check("sum keeping dims", g.op("Sum", {g.x, g.ints({1})}, {{"keep_dims", true}}), {s, 1});
  g.check("argmax", g.op("ArgMax", {g.x, g.integer(1)}), {s});
  g.check("batch matmul", g.op("BatchMatMulV2", {g.tensor({s, 2, 3}), g.tensor({s, 3, 4})}),
          {s, 2, 4});
  g.check("shape of square", g.op("Reshape", {g.square, g.op("Shape", {g.square})}), {s, s});
  verify_graph(g.graph);
}

TEST_CASE("branches and calls of one size have it") {
  Symbols g;
  Operand condition = argument(g.graph, tensor_type(DType::kBool, PartialShape::scalar()), "c");
  OperandVector same = g.builder.if_else(
      condition, [&](std::span<const Operand>) { return OperandVector{g.op("Tanh", {g.x}), g.x}; },
      [&](std::span<const Operand>) { return OperandVector{g.y, g.z}; });
  g.check("of one size", same[0], {g.s, 3});
  CHECK(is_symbol(shape_of(same[1]).dim(0)));
  CHECK(shape_of(same[1]).dim(0) != g.s);
  CHECK(shape_of(same[1]).dim(0) != g.t);
}

}  // namespace graphwright
