#include <map>

#include <doctest/doctest.h>

#include "ir_support.h"
#include "serial/export_graph.h"
#include "serial/graphdef.h"

namespace graphwright {
namespace {

using serial::decode_graph;
using serial::decode_tensor;
using serial::encode;
using serial::GraphDef;
using serial::NodeDef;
using test::add_result;
using test::argument;
using test::contains;
using test::error_text;
using test::float_argument;
using test::float_tensor;

std::vector<std::string> summary(const std::vector<NodeDef>& nodes) {
  std::vector<std::string> lines;
  for (const NodeDef& node : nodes) {
    std::string line = node.name + " = " + node.op + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) line += (i ? ", " : "") + node.inputs[i];
    lines.push_back(line + ")");
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST_CASE("an unrolled loop has one Const, and a node per op and step") {
  for (int steps : {3, 10}) {
    Graph graph("train");
    GraphBuilder builder(graph);
    Operand loss = builder.constant(Tensor::int32_scalar(0));
    for (int i = 0; i < steps; ++i) {
      builder.enter_scope("Abs");
      Operand x = builder.constant(Tensor::int32_scalar(0), "x");
      OperandVector outputs;
      Operand inputs[] = {x};
      builder.apply(get_op("Identity"), inputs, {}, outputs, kScopeName);
      builder.leave_scope();
      loss = builder.op("AddV2", {loss, outputs[0]});
    }
    add_result(builder, loss);
    GraphDef exported = serial::export_graph(graph);
    CHECK(exported.nodes.size() == static_cast<size_t>(2 + 3 * steps));
    if (steps == 3) {
      CHECK(summary(exported.nodes) ==
            Lines{"Const = Const()", "Abs/x = Const()", "Abs = Identity(Abs/x)",
                  "add = AddV2(Const, Abs)", "Abs_1/x = Const()", "Abs_1 = Identity(Abs_1/x)",
                  "add_1 = AddV2(add, Abs_1)", "Abs_2/x = Const()", "Abs_2 = Identity(Abs_2/x)",
                  "add_2 = AddV2(add_1, Abs_2)", "Identity = Identity(add_2)"});
    }
  }
}

TEST_CASE("a loop is a StatelessWhile with a counter, a maximum, carried values and captures") {
  GraphDef exported = serial::export_graph(*test::loop_graph());
  CHECK(summary(exported.nodes) ==
        Lines{"x = Placeholder()", "step = Const()", "while/maximum_iterations = Const()",
              "while/loop_counter = Const()",
              "while = StatelessWhile(while/loop_counter, while/maximum_iterations, x, step)",
              "Identity = Identity(while)", "Identity_1 = Identity(while:2)"});
  REQUIRE(exported.functions.size() == 2);
  const serial::FunctionDef& condition = exported.functions[0];
  const serial::FunctionDef& body = exported.functions[1];
  CHECK(condition.name.starts_with("while_cond_"));
  CHECK(summary(condition.nodes).back() == "while/Identity = Identity(while/LogicalAnd:z:0)");
  CHECK(summary(body.nodes) ==
        Lines{"while/add = AddV2(while_placeholder, while_add_step_0)", "while/add_1/y = Const()",
              "while/add_1 = AddV2(while_while_loop_counter, while/add_1/y:output:0)",
              "while/Identity = Identity(while/add_1:z:0)",
              "while/Identity_1 = Identity(while_while_maximum_iterations)",
              "while/Identity_2 = Identity(while/add:z:0)"});
  CHECK(body.returns.at("while_add_step") == "while_add_step_0");
  CHECK_FALSE(body.is_stateful);
}

TEST_CASE("effects keep their order by control inputs and hang on a NoOp") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand v = argument(graph, variable_type(DType::kFloat, PartialShape::scalar()), "v");
  Operand one = builder.scalar(1, DType::kFloat);
  builder.op_outputs("AssignVariableOp", OperandVector{v, one});
  Attributes dtype = named_attributes(get_op("ReadVariableOp"), {{"dtype", DType::kFloat}});
  Operand read = builder.op("ReadVariableOp", {v}, dtype);
  builder.op_outputs("AssignVariableOp", OperandVector{v, one});
  add_result(builder, read);
  CHECK(summary(serial::export_graph(graph).nodes) ==
        Lines{"v = Placeholder()", "Const = Const()",
              "AssignVariableOp = AssignVariableOp(v, Const)",
              "ReadVariableOp = ReadVariableOp(v, ^AssignVariableOp)",
              "AssignVariableOp_1 = AssignVariableOp(v, Const, ^AssignVariableOp, ^ReadVariableOp)",
              "Identity = Identity(ReadVariableOp, ^NoOp)",
              "NoOp = NoOp(^AssignVariableOp, ^AssignVariableOp_1, ^ReadVariableOp)"});
}

TEST_CASE("branches take what they see as inputs") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand c = argument(graph, tensor_type(DType::kBool, PartialShape::scalar()), "c");
  Operand x = float_argument(graph, {2}, "x");
  OperandVector outputs = builder.if_else(
      c, [&](std::span<const Operand>) { return OperandVector{builder.op("Tanh", {x})}; },
      [&](std::span<const Operand>) { return OperandVector{x}; });
  add_result(builder, outputs[0]);
  GraphDef exported = serial::export_graph(graph);
  CHECK(summary(exported.nodes) ==
        Lines{"c = Placeholder()", "x = Placeholder()", "cond = StatelessIf(c, x)",
              "cond/Identity = Identity(cond)", "Identity = Identity(cond/Identity)"});
  CHECK(summary(exported.functions[1].nodes) == Lines{"cond/Identity = Identity(cond_identity_x)"});
}

TEST_CASE("messages survive encoding and decoding") {
  GraphDef exported = serial::export_graph(*test::loop_graph());
  std::string bytes = encode(exported);
  GraphDef decoded = decode_graph(bytes);
  CHECK(encode(decoded) == bytes);
  CHECK(summary(decoded.nodes) == summary(exported.nodes));
  CHECK(decoded.functions[1].returns == exported.functions[1].returns);
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A prefix is malformed or another message; never a crash.
    error_text([&] { decode_graph(std::string_view(bytes).substr(0, length)); });
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (unsigned char flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      error_text([&] { decode_graph(damaged); });
    }
  }
}

TEST_CASE("tensors of every kind survive") {
  std::vector<Tensor> tensors{Tensor::int32_scalar(-7),
                              Tensor::int64_scalar(INT64_MIN),
                              Tensor::bool_scalar(true),
                              float_tensor({1, -0.0f, 3}),
                              float_tensor({}),
                              Tensor::scalar<int8_t>(DType::kInt8, -5),
                              Tensor::string_scalar(std::string("a\0b", 3)),
                              Tensor::scalar<uint64_t>(DType::kUint64, UINT64_MAX),
                              Tensor::scalar<uint16_t>(DType::kHalf, 0x3c00),
                              Tensor::scalar<double>(DType::kDouble, 0.1)};
  for (const Tensor& tensor : tensors) {
    Tensor back = decode_tensor(encode(tensor));
    Attributes left = named_attributes(get_op("Const"), {{"value", tensor}});
    Attributes right = named_attributes(get_op("Const"), {{"value", back}});
    CHECK(attributes_equal(get_op("Const"), left, right));
  }
}

TEST_CASE("hostile tensors are refused") {
  // dtype float, shape [2^40], one value: would repeat it over 4 TiB.
  std::string huge("\x08\x01\x12\x09\x12\x07\x08\x80\x80\x80\x80\x80\x20\x2d\x00\x00\x80\x3f", 18);
  CHECK(contains(error_text([&] { decode_tensor(huge); }), "much larger than its elements"));
  std::string repeated("\x08\x01\x12\x04\x12\x02\x08\x03\x2d\x00\x00\x80\x3f", 13);
  CHECK(decode_tensor(repeated).element_count() == 3);
  CHECK(decode_tensor(repeated).data<float>()[2] == 1.0f);
  std::string too_many("\x08\x01\x12\x00\x2a\x08\x00\x00\x80\x3f\x00\x00\x80\x3f", 14);
  CHECK(contains(error_text([&] { decode_tensor(too_many); }), "more elements than its shape"));
}

}  // namespace
}  // namespace graphwright
