// Every rule of the verifier, broken once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include <doctest/doctest.h>

#include "ir/graph_copy.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ir_support.h"

namespace graphwright {
namespace {

using test::contains;
using test::error_text;

// One of each kind of node. The body: Const 0, While 1, If 4, Case 6, call 8, print 9, StatelessIf.
constexpr std::string_view kEverything = R"(graphwright-ir 2
graph "callee"
body(%0: float32[2] "x") {
  return %0
}
graph "f" next 20
scope "layer" in 0 block 0 before 0
body(%0: float32[2] "x", %1: bool[] "c", %2: int32[] "n", %3: string[] "text", %4: float32[2])
    captures 1 {%4 = float32[2] {1, 2}} {
  %5: int32[] = Const() {value = int32[] {3}, dtype = int32} id 0
  %6: int32[], %7: float32[2] = While(%5, %0) id 1 block(%8: int32[], %9: float32[2]) {
    return %1
  } block(%10: int32[], %11: float32[2]) {
    %12: float32[2] = Neg(%11) id 2
    return %12
  }
  %13: float32[2] = If(%1) id 3 block() {
    return %7
  } block() {
    return %4
  }
  %14: float32[2] = Case(%2) id 4 block() {
    return %7
  }
  %15: float32[2] = PartitionedCall(%14) id 5 calls "callee"
  PrintV2(%3) id 6
  %16: float32[2] = StatelessIf(%1) id 7 block() {
    %17: float32[2] = Neg(%15) id 8
    return %17
  } block() {
    return %13
  }
  %18: float32[2] = Neg(%16) "last" scope 1 id 9 after 6
  return %18
}
)";

// Parts of the graph by the ids of the text.
struct Parts {
  Graph& graph;
  Node& node(uint32_t id) { return *find(graph.body(), id); }
  static Node* find(Block& block, uint32_t id) {
    for (Node* node : block.nodes) {
      if (node->id == id) return node;
      for (const auto& inner : node->blocks) {
        if (Node* found = find(*inner, id)) return found;
      }
    }
    return nullptr;
  }
};

struct Breach {
  const char* rule;
  std::function<void(Parts&)> commit;
};

const Breach kBreaches[] = {
    {"ops", [](Parts& p) { p.node(9).op = nullptr; }},
    {"ids", [](Parts& p) { p.node(9).id = 0; }},
    {"ids", [](Parts& p) { p.node(9).id = 100; }},
    {"order", [](Parts& p) { p.node(3).inputs[0] = p.node(9).outputs[0]; }},
    {"order", [](Parts& p) { p.graph.body().results[0] = p.node(2).outputs[0]; }},
    {"order", [](Parts& p) { p.node(9).inputs[0] = nullptr; }},
    {"control inputs", [](Parts& p) { p.node(9).control_inputs[0] = &p.node(2); }},
    {"control inputs", [](Parts& p) { p.node(5).control_inputs = {&p.node(9)}; }},
    {"captures", [](Parts& p) { p.graph.captures()[0].inner = p.graph.body().arguments[0]; }},
    {"captures", [](Parts& p) { p.graph.captures()[0].tensor = Tensor::int32_scalar(1); }},
    {"captures", [](Parts& p) { p.graph.captures().resize(9); }},
    {"scopes",
     [](Parts& p) {
       std::vector<NameScope> scopes = p.graph.scopes();
       scopes[1].parent = 1;
       p.graph.restore_numbering(scopes, 0);
     }},
    {"scopes",
     [](Parts& p) {
       std::vector<NameScope> scopes = p.graph.scopes();
       scopes[1].block = nullptr;
       p.graph.restore_numbering(scopes, 0);
     }},
    {"block links", [](Parts& p) { p.graph.body().arguments[0]->index = 1; }},
    {"block links", [](Parts& p) { p.graph.body().arguments[0]->block = nullptr; }},
    {"block links", [](Parts& p) { p.graph.body().arguments[0] = nullptr; }},
    {"block links", [](Parts& p) { p.node(2).block = &p.graph.body(); }},
    {"block links", [](Parts& p) { p.graph.body().nodes[0] = nullptr; }},
    {"value types", [](Parts& p) { p.graph.body().arguments[3]->type.dtype = DType::kInvalid; }},
    {"value types",
     [](Parts& p) { p.graph.body().arguments[0]->type.handle = std::make_shared<HandleType>(); }},
    {"value scopes", [](Parts& p) { p.graph.body().arguments[0]->scope = 7; }},
    {"links", [](Parts& p) { p.node(9).outputs[0]->node = nullptr; }},
    {"links", [](Parts& p) { p.node(9).outputs[0]->index = 4; }},
    {"links", [](Parts& p) { p.node(3).blocks[0]->owner = &p.node(4); }},
    {"links", [](Parts& p) { p.node(9).outputs[0] = nullptr; }},
    {"node scopes", [](Parts& p) { p.node(9).scope = 7; }},
    {"blocks", [](Parts& p) { p.graph.add_block(p.node(9)); }},
    {"blocks", [](Parts& p) { p.node(4).blocks.clear(); }},
    {"attributes", [](Parts& p) { p.node(0).attributes.set(0, AttributeValue(true)); }},
    {"attributes", [](Parts& p) { p.node(0).attributes = {}; }},
    {"types", [](Parts& p) { p.node(9).outputs[0]->type.dtype = DType::kInt32; }},
    {"types", [](Parts& p) { p.node(9).inputs.push_back(p.node(9).inputs[0]); }},
    {"types", [](Parts& p) { p.graph.add_output(p.node(9), p.node(9).outputs[0]->type); }},
    {"loop", [](Parts& p) { p.node(1).inputs[0] = p.graph.body().arguments[0]; }},
    {"loop", [](Parts& p) { p.node(1).inputs.pop_back(); }},
    {"loop", [](Parts& p) { p.node(1).outputs.pop_back(); }},
    {"loop", [](Parts& p) { p.node(1).blocks[0]->results.clear(); }},
    {"loop", [](Parts& p) { p.node(1).blocks[0]->results[0] = p.graph.body().arguments[2]; }},
    {"loop", [](Parts& p) { p.node(1).blocks[1]->results[0] = p.graph.body().arguments[2]; }},
    {"loop", [](Parts& p) { p.node(1).blocks[1]->arguments.pop_back(); }},
    {"loop", [](Parts& p) { p.node(1).blocks[1]->arguments[1]->type.shape = PartialShape{3}; }},
    {"loop", [](Parts& p) { p.node(1).blocks.pop_back(); }},
    {"branches", [](Parts& p) { p.node(3).inputs[0] = p.graph.body().arguments[2]; }},
    {"branches", [](Parts& p) { p.node(3).blocks.pop_back(); }},
    {"branches", [](Parts& p) { p.node(3).blocks[1]->results.clear(); }},
    {"branches", [](Parts& p) { p.node(3).outputs[0]->type.shape = PartialShape{3}; }},
    {"branches",
     [](Parts& p) { p.graph.add_argument(*p.node(3).blocks[0], p.node(0).outputs[0]->type); }},
    {"branches", [](Parts& p) { p.node(4).inputs[0] = p.graph.body().arguments[1]; }},
    {"branches", [](Parts& p) { p.node(4).blocks[0]->results[0] = p.node(0).outputs[0]; }},
    {"call", [](Parts& p) { p.node(5).callee = nullptr; }},
    {"call", [](Parts& p) { p.node(9).callee = p.node(5).callee; }},
    {"call", [](Parts& p) { p.node(5).inputs.clear(); }},
    {"call", [](Parts& p) { p.node(5).inputs[0] = p.node(0).outputs[0]; }},
    {"call", [](Parts& p) { p.graph.add_output(p.node(5), p.node(0).outputs[0]->type); }},
    {"effects",
     [](Parts& p) {
       Block& branch = *p.node(7).blocks[0];
       p.graph.add_node(branch, get_op("PrintV2"), {p.graph.body().arguments[3]}, {}, {});
     }},
};

std::shared_ptr<Graph> everything() {
  return copy_graph(*parse_module(kEverything, "everything").back());
}

}  // namespace

TEST_CASE("the verifier accepts one node of each kind") { verify_graph(*everything()); }

TEST_CASE("every rule of the verifier refuses what breaks it") {
  std::set<std::string> broken;
  for (const Breach& breach : kBreaches) {
    std::shared_ptr<Graph> graph = everything();
    Parts parts{*graph};
    breach.commit(parts);
    const std::string error = error_text([&] { verify_graph(*graph); });
    CAPTURE(error);
    CHECK(contains(error, std::string("rule '") + breach.rule + "'"));
    broken.insert(breach.rule);
  }
  for (std::string_view rule : verifier_rules()) {
    CAPTURE(std::string(rule));
    CHECK(broken.contains(std::string(rule)));
  }
}

TEST_CASE("constants of every dtype read back with their bits") {
  for (int i = 0; i < 256; ++i) {
    auto dtype = static_cast<DType>(i);
    if (dtype_name(dtype).empty() || dtype_from_name(dtype_name(dtype)) != dtype) continue;
    if (dtype == DType::kResource || dtype == DType::kVariant || dtype == DType::kInvalid) continue;
    Graph graph("constants");
    GraphBuilder builder(graph);
    Tensor tensor;
    if (dtype == DType::kString) {
      std::string all;
      for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
      tensor = Tensor::string_scalar(all);
    } else {
      // Every byte pattern that has the dtype, among them NaN of many payloads.
      tensor = Tensor::empty(dtype, std::array<int64_t, 2>{3, 512});
      auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw_data());
      uint32_t state = 1;
      for (size_t k = 0; k < tensor.byte_size(); ++k) {
        state = state * 1664525u + 1013904223u;
        bytes[k] = dtype == DType::kBool ? state >> 31 : static_cast<uint8_t>(state >> 24);
        if (k % 5 == 0 && dtype != DType::kBool) bytes[k] |= 0xF8;  // exponents of all ones
      }
    }
    builder.constant(tensor);
    builder.constant(Tensor::empty(dtype, std::array<int64_t, 2>{0, 3}));
    const std::string text = graph_to_text(graph);
    CAPTURE(std::string(dtype_name(dtype)));
    std::shared_ptr<Graph> parsed = parse_graph(text);
    CHECK(graph_to_text(*parsed) == text);
    for (size_t k = 0; k < 2; ++k) {
      CHECK(attributes_equal(get_op("Const"), graph.body().nodes[k]->attributes,
                             parsed->body().nodes[k]->attributes));
    }
  }
}

TEST_CASE("every field of a graph is in its text") {
  std::shared_ptr<Graph> graph = everything();
  Parts parts{*graph};
  parts.node(9).device = InternedString("/cpu:0");
  const TextOptions full{.captures = true};
  const std::string text = graph_to_text(*graph, full);
  auto resolve = [&](std::string_view) { return parts.node(5).callee; };
  std::shared_ptr<Graph> parsed = parse_graph(text, resolve);
  CHECK(graph_to_text(*parsed, full) == text);
  REQUIRE(parsed->captures().size() == 1);
  CHECK(parsed->captures()[0].tensor.data<float>()[1] == 2.0f);
  CHECK(contains(text, "device \"/cpu:0\""));
  CHECK(contains(text, "scope \"layer\" in 0 block 0 before 0"));

  Graph handles("handles");
  test::argument(handles, variable_type(DType::kFloat, PartialShape{2}, false), "fixed");
  test::argument(handles, variable_type(DType::kFloat, PartialShape::unknown()), "v");
  test::argument(handles, list_type(DType::kFloat, PartialShape{kUnknownDim}), "l");
  parsed = parse_graph(graph_to_text(handles));
  CHECK(graph_to_text(*parsed) == graph_to_text(handles));
  CHECK_FALSE(parsed->body().arguments[0]->type.handle->trainable);
  CHECK(parsed->body().arguments[1]->type.handle->trainable);
}

TEST_CASE("attributes of every kind read back equal") {
  static const OpDef kEveryKind{
      .name = "TestEveryKind",
      .signature =
          "x: T; b: bool, i: int, f: float, s: string, t: type, sh: shape, te: tensor, "
          "li: list(int), lf: list(float), ls: list(string), lt: list(type), lsh: list(shape), "
          "unset: int=3 -> y: T",
      .doc = "A row that the test of attributes in texts uses.",
      .traits = kPure,
      .shape = Absent{"not run"},
      .compute = {.kind = ComputeKind::kLibrary, .kernel = [](KernelContext&) { return Status(); }},
  };
  if (!find_op(kEveryKind.name)) register_ops(std::span(&kEveryKind, 1));
  const std::string odd("a\0\"\\ \x80#\n", 9);
  const double nan = std::bit_cast<double>(uint64_t{0xFFF123456789ABCD});
  Attributes attributes = named_attributes(
      kEveryKind,
      {{"b", false},
       {"i", INT64_MIN},
       {"f", nan},
       {"s", odd},
       {"t", DType::kBfloat16},
       {"sh", PartialShape{2, kUnknownDim, 0}},
       {"te", test::float_tensor({-0.0f, 1e-45f, INFINITY, NAN})},
       {"li", std::vector<int64_t>{INT64_MAX, 0, -1}},
       {"lf", std::vector<double>{-0.0, 5e-324, -INFINITY, 0.1, nan}},
       {"ls", std::vector<std::string>{"", odd}},
       {"lt", std::vector<DType>{DType::kString, DType::kComplex128}},
       {"lsh", std::vector<PartialShape>{PartialShape::unknown(), PartialShape::scalar()}}});
  Graph graph("kinds");
  Operand x = test::float_argument(graph, {2}, "x");
  graph.add_node(graph.body(), kEveryKind, {x.value()}, attributes, {x.value()->type});
  const std::string text = graph_to_text(graph);
  CAPTURE(text);
  std::shared_ptr<Graph> parsed = parse_graph(text);
  CHECK(graph_to_text(*parsed) == text);
  const Attributes& read = parsed->body().nodes[0]->attributes;
  for (int i = 0; i < kEveryKind.signature.attribute_count - 1; ++i) {
    CAPTURE(i);
    if (i == 2 || i == 8) continue;  // NaN is not equal to itself; the bits are compared below
    CHECK(attribute_values_equal(read.raw(i), attributes.raw(i)));
  }
  CHECK(std::bit_cast<uint64_t>(std::get<double>(read.raw(2))) == std::bit_cast<uint64_t>(nan));
  const auto& reals = std::get<std::vector<double>>(read.raw(8));
  const auto& wanted = std::get<std::vector<double>>(attributes.raw(8));
  CHECK(std::memcmp(reals.data(), wanted.data(), wanted.size() * sizeof(double)) == 0);
  CHECK_FALSE(read.has(12));
}

TEST_CASE("texts of several graphs name their place in errors") {
  auto error = [](std::string text) {
    return error_text([&] { parse_module("graphwright-ir 2\n" + text, "a.txt"); });
  };
  CHECK(contains(error("graph \"f\"\nbody() {\n  %0: float32[] = What()\n  return\n}\n"),
                 "a.txt:4: there is no op What"));
  CHECK(contains(error("graph \"f\"\nbody(%0: float32[]) {\n  %1: float32[] = PartitionedCall(%0) "
                       "calls \"g\"\n  return\n}\n"),
                 "a.txt:4: there is no function g"));
  CHECK(contains(error("graph \"f\"\nbody() captures 1 {\n  return\n}\n"), "more captures"));
  CHECK(
      contains(error("graph \"f\"\nbody(%0: float32[2]) captures 1 {%0 = float32[3] {1, 2, 3}} {\n"
                     "  return\n}\n"),
               "a captured tensor of another type"));
  CHECK(contains(error("graph \"f\"\nbody() {\n  return\n}\nnonsense"), "expected 'graph'"));
}

}  // namespace graphwright
