#include <cmath>

#include <doctest/doctest.h>

#include "ir/dependence.h"
#include "ir/graph_copy.h"
#include "ir/node_names.h"
#include "ir/text.h"
#include "ir_support.h"

namespace graphwright {
namespace {

using test::add_result;
using test::argument;
using test::contains;
using test::error_kind;
using test::error_text;
using test::float_argument;
using test::float_tensor;
using test::loop_graph;

TEST_CASE("a builder records nodes, constants and unknown dimensions") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand x = float_argument(graph, {kUnknownDim, 2}, "x");
  x.value()->type.shape = PartialShape({new_symbol(), 2});
  Operand y = builder.op("Tanh", {x});
  CHECK(y.value()->shape() == x.value()->shape());  // equal unknowns stay equal
  Operand z = builder.op("AddV2", {y, float_tensor({1, 2})});
  add_result(builder, z);
  CHECK(graph.body().nodes.size() == 3);
  CHECK(graph.body().nodes[1]->op->name == "Const");
  CHECK(constant_value(Operand(graph.body().nodes[1]->outputs[0])).element_count() == 2);
  verify_graph(graph);
  graph.freeze();
  CHECK(contains(error_text([&] { builder.op("Tanh", {x}); }), "is finalized"));
}

TEST_CASE("a refused op leaves nothing behind") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand x = float_argument(graph, {2}, "x");
  auto wrong = [&] { builder.op("AddV2", {x, float_tensor({1, 2, 3})}); };
  CHECK(error_kind(wrong) == ErrorKind::kValueError);
  CHECK(graph.body().nodes.empty());
}

TEST_CASE("a loop sees outer values and carries the rest") {
  std::shared_ptr<Graph> graph = loop_graph();
  verify_graph(*graph);
  const Node& loop = *graph->body().nodes.back();
  CHECK(loop.op->name == "While");
  CHECK(loop.inputs.size() == 2);
  CHECK(loop.outputs.size() == 2);
  CHECK(loop.outputs[0]->dtype() == DType::kInt32);
  CHECK(loop.blocks[1]->nodes.size() == 1);
  CHECK(loop.blocks[1]->nodes[0]->inputs[1]->block == &graph->body());
}

TEST_CASE("loop variables keep dtype and shape") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand x = float_argument(graph, {2}, "x");
  OperandVector carried{x};
  auto run = [&](Operand next, std::vector<PartialShape> invariants) {
    WhileOptions options;
    options.shape_invariants = std::move(invariants);
    options.variable_names = {"x"};
    builder.while_loop(
        options, carried,
        [](std::span<const Operand>) { return OperandVector{Tensor::bool_scalar(true)}; },
        [&](std::span<const Operand>) { return OperandVector{next}; });
  };
  auto dtype = [&] { run(Tensor::int32_scalar(1), {}); };
  CHECK(error_kind(dtype) == ErrorKind::kTypeError);
  CHECK(error_text(dtype) ==
        "'x' has dtype float32 before the loop, but dtype int32 after one iteration");
  auto shape = [&] { run(float_tensor({1, 2, 3}), {}); };
  CHECK(error_kind(shape) == ErrorKind::kValueError);
  CHECK(contains(error_text(shape), "'x' has shape (2,) before the loop, but shape (3,) after"));
  CHECK(contains(error_text(shape), "shape_invariants"));
  auto narrow = [&] { run(float_tensor({1, 2, 3}), {PartialShape({3})}); };
  CHECK(contains(error_text(narrow), "not compatible with its initial shape"));
  // Failed traces leave neither nodes nor scopes.
  CHECK(graph.body().nodes.empty());
  CHECK(graph.scopes().size() == 1);
  run(float_tensor({1, 2, 3}), {PartialShape({kUnknownDim})});
  verify_graph(graph);
  CHECK(graph.body().nodes.back()->outputs[1]->shape().without_symbols() ==
        PartialShape({kUnknownDim}));
}

TEST_CASE("branches agree on dtypes and keep what is common of shapes") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand c = argument(graph, tensor_type(DType::kBool, PartialShape::scalar()), "c");
  auto run = [&](Operand first, Operand second) {
    return builder.if_else(
        c, [&](std::span<const Operand>) { return OperandVector{first}; },
        [&](std::span<const Operand>) { return OperandVector{second}; });
  };
  OperandVector same = run(float_tensor({1, 2}), float_tensor({1, 2, 3}));
  CHECK(shape_of(same[0]).without_symbols() == PartialShape({kUnknownDim}));
  CHECK(error_kind([&] { run(float_tensor({1}), Tensor::int32_scalar(1)); }) ==
        ErrorKind::kTypeError);
  Operand number = float_argument(graph, {}, "number");
  CHECK(error_kind([&] {
          builder.if_else(
              number, [](std::span<const Operand>) { return OperandVector(); },
              [](std::span<const Operand>) { return OperandVector(); });
        }) == ErrorKind::kValueError);
  verify_graph(graph);
}

TEST_CASE("values of inner blocks are out of scope outside") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Operand x = float_argument(graph, {2}, "x");
  Operand leaked;
  builder.if_else(
      Tensor::bool_scalar(true),
      [&](std::span<const Operand>) {
        leaked = builder.op("Tanh", {x});
        return OperandVector();
      },
      [](std::span<const Operand>) { return OperandVector(); });
  CHECK(error_kind([&] { builder.op("Tanh", {leaked}); }) == ErrorKind::kTypeError);
}

TEST_CASE("constant inference follows shapes and stays cheap") {
  Graph graph("f");
  GraphBuilder builder(graph);
  Dim rows = new_symbol();
  Operand x = argument(graph, tensor_type(DType::kFloat, PartialShape({rows, 3})), "x");
  Operand shape = builder.op("Shape", {x});
  std::optional<PartialVector> known = partial_constant_vector(shape);
  REQUIRE(known);
  CHECK(known->known == std::vector<bool>{false, true});
  CHECK(known->values[1] == 3);
  CHECK(constant_as_shape(shape).dim(1) == 3);
  CHECK_FALSE(constant_value(shape));
  // Doubling the uses at every step must not double the work.
  Operand sum = builder.op("Shape", {x});
  for (int i = 0; i < 200; ++i) sum = builder.op("AddV2", {sum, sum});
  CHECK_FALSE(constant_value(sum));
}

TEST_CASE("the verifier names the broken rule") {
  std::shared_ptr<Graph> graph = loop_graph();
  Node& loop = *graph->body().nodes.back();
  Value* inner = loop.blocks[1]->nodes[0]->outputs[0];
  graph->body().results[0] = inner;
  CHECK(contains(error_text([&] { verify_graph(*graph); }), "rule 'order'"));
  graph = loop_graph();
  graph->body().nodes.back()->blocks[1]->results.clear();
  CHECK(contains(error_text([&] { verify_graph(*graph); }), "rule 'loop'"));
  graph = loop_graph();
  graph->body().nodes.back()->outputs[1]->type.dtype = DType::kInt32;
  CHECK(contains(error_text([&] { verify_graph(*graph); }), "rule 'loop'"));
  graph = loop_graph();
  graph->body().nodes[0]->outputs[0]->type.dtype = DType::kInt32;
  CHECK(contains(error_text([&] { verify_graph(*graph); }), "rule 'types'"));
}

TEST_CASE("the text form round-trips") {
  std::shared_ptr<Graph> graph = loop_graph();
  std::string text = graph_to_text(*graph);
  std::shared_ptr<Graph> parsed = parse_graph(text);
  CHECK(graph_to_text(*parsed) == text);
  CHECK(contains(text, "float32[2] {1, 2}"));

  Graph constants("quoted \"name\"\n");
  GraphBuilder builder(constants);
  builder.constant(Tensor::string_scalar(std::string("a\0\"\\\xff", 5)));
  builder.constant(float_tensor({0.1f, -0.0f, INFINITY, NAN, 1e-45f}));
  builder.constant(Tensor::scalar<uint16_t>(DType::kBfloat16, 0x3f80));
  builder.constant(Tensor::int64_scalar(INT64_MIN));
  text = graph_to_text(constants);
  parsed = parse_graph(text);
  CHECK(graph_to_text(*parsed) == text);
  for (size_t i = 0; i < constants.body().nodes.size(); ++i) {
    CHECK(attributes_equal(get_op("Const"), constants.body().nodes[i]->attributes,
                           parsed->body().nodes[i]->attributes));
  }
}

TEST_CASE("malformed text is refused with its line") {
  CHECK(contains(error_text([] { parse_graph(""); }), "line 1"));
  CHECK(contains(error_text([] { parse_graph("graphwright-ir 99\n"); }), "version 99"));
  std::string text = graph_to_text(*loop_graph());
  // No prefix crashes or is taken for a graph.
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    CHECK(error_text([&] { parse_graph(std::string_view(text).substr(0, length)); }) != "");
  }
  std::string start = "graphwright-ir 2\ngraph \"f\" next 1\nbody() {\n";
  CHECK(contains(
      error_text([&] { parse_graph(start + "  NoSuchOp() {} \"a\" id 0\n  return\n}\n"); }),
      "NoSuchOp"));
  std::string huge = "  %0: float32[] = Const() {value = float32[99999999999] {1}} \"a\" id 0\n";
  CHECK(contains(error_text([&] { parse_graph(start + huge + "  return\n}\n"); }),
                 "too few elements"));
}

TEST_CASE("copies are equal and independent") {
  std::shared_ptr<Graph> graph = loop_graph();
  ValueMap values;
  std::shared_ptr<Graph> copy = copy_graph(*graph, &values);
  verify_graph(*copy);
  CHECK(graph_to_text(*copy) == graph_to_text(*graph));
  CHECK(values(graph->body().results[1]) == copy->body().results[1]);
  CHECK(copy->body().results[1]->block == &copy->body());

  Graph target("target");
  GraphBuilder builder(target);
  builder.enter_scope("inlined");
  Operand x = float_argument(target, {2}, "x");
  Value* arguments[] = {x.value()};
  std::vector<Value*> results =
      inline_block(graph->body(), target.body(), arguments, nullptr, builder.scope());
  target.body().results = results;
  verify_graph(target);
  NodeNames names(target);
  CHECK(names.name(*results[1]->node) == "inlined/while");
}

TEST_CASE("names are replayed as TensorFlow makes them unique") {
  Graph graph("f");
  GraphBuilder builder(graph);
  auto constant = [&](std::string_view name) { builder.constant(Tensor::int32_scalar(1), name); };
  for (const char* name : {"a", "A", "a_1", "a"}) constant(name);
  builder.enter_scope("s");
  constant({});
  builder.leave_scope();
  builder.enter_scope("s");
  constant({});
  constant({});
  constant(kScopeName);
  builder.leave_scope();
  constant("s");
  NodeNames names(graph);
  std::vector<std::string> all;
  for (const Node* node : graph.body().nodes) all.push_back(names.name(*node));
  CHECK(all == std::vector<std::string>{"a", "A_1", "a_1_1", "a_2", "s/Const", "s_1/Const",
                                        "s_1/Const_1", "s_1", "s_2"});
}

TEST_CASE("names in loop bodies start with the loop's scope") {
  std::shared_ptr<Graph> graph = loop_graph();
  NodeNames names(*graph);
  const Node& loop = *graph->body().nodes.back();
  CHECK(names.name(loop) == "while");
  CHECK(names.name(*loop.blocks[1]->nodes[0]) == "while/add");
  CHECK(names.value_name(*graph->body().arguments[0]) == "x:0");
  CHECK(names.value_name(*loop.outputs[1]) == "while:2");
}

struct Effectful {
  Graph graph{"f"};
  GraphBuilder builder{graph};
  Operand v = argument(graph, variable_type(DType::kFloat, PartialShape::scalar()), "v");
  Operand w = argument(graph, variable_type(DType::kFloat, PartialShape::scalar()), "w");
  Operand one = builder.scalar(1, DType::kFloat);
  void assign(const Operand& variable) {
    builder.op_outputs("AssignVariableOp", OperandVector{variable, one});
  }
  void read(const Operand& variable) {
    const OpDef& op = get_op("ReadVariableOp");
    builder.op("ReadVariableOp", {variable},
               op.signature.attribute_index("dtype") < 0
                   ? Attributes()
                   : named_attributes(op, {{"dtype", DType::kFloat}}));
  }
};

TEST_CASE("order edges: reads commute, resources are independent") {
  Effectful f;
  f.assign(f.v);  // 1, after the constant at 0
  f.read(f.v);    // 2
  f.read(f.v);    // 3
  f.read(f.w);    // 4
  f.assign(f.v);  // 5
  f.assign(f.w);  // 6
  EffectAnalysis analysis;
  std::vector<std::vector<uint32_t>> edges = analysis.order_edges(f.graph.body());
  using Edges = std::vector<uint32_t>;
  CHECK(edges == std::vector<Edges>{{}, {}, {1}, {1}, {}, {1, 2, 3}, {4}});
  // The pairwise function says the same of every pair, up to what follows from other pairs.
  const std::vector<Node*>& nodes = f.graph.body().nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (uint32_t j : edges[i]) {
      CHECK(must_keep_order(analysis.effects(*nodes[j]), analysis.effects(*nodes[i])));
    }
  }
  CHECK_FALSE(must_keep_order(analysis.effects(*nodes[2]), analysis.effects(*nodes[3])));
  CHECK(analysis.effects(*nodes[1]).must_run());
  CHECK_FALSE(analysis.effects(*nodes[2]).must_run());
}

TEST_CASE("a loop has the effects of its blocks, through handles that it carries unchanged") {
  Effectful f;
  OperandVector carried{f.w};
  f.builder.while_loop(
      {}, carried,
      [](std::span<const Operand>) { return OperandVector{Tensor::bool_scalar(true)}; },
      [&](std::span<const Operand> arguments) {
        f.assign(arguments[1]);
        f.read(f.v);
        return OperandVector{arguments[1]};
      });
  EffectAnalysis analysis;
  const EffectSet& set = analysis.effects(*f.graph.body().nodes.back());
  CHECK(set.writes == std::vector<const Value*>{f.w.value()});
  CHECK(set.reads == std::vector<const Value*>{f.v.value()});
  CHECK_FALSE(set.writes_unknown);
}

}  // namespace
}  // namespace graphwright
