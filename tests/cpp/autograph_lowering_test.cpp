#include <algorithm>

#include <doctest/doctest.h>

#include "autograph/control_flow_graph.h"
#include "autograph/dataflow.h"
#include "autograph/lowering.h"
#include "autograph/tree_maker.h"
#include "autograph/unparse.h"
#include "base/status.h"

using namespace graphwright;
using namespace graphwright::autograph;
using namespace graphwright::autograph::field;

namespace {

constexpr Position kLine1{1, 0, 1, 10};

// Makes a function whose statements are given; what a parser would have made.
struct Program {
  NodeTable table;
  TreeMaker make{table, kLine1};

  NodeId load(const char* name) { return make.name(name); }
  NodeId store(const char* name, NodeId value) {
    return make.assign(make.name(name, Context::kStore), value);
  }
  NodeId binary(NodeId left, Operator op, NodeId right) {
    NodeId node = table.add(Kind::kBinOp, kLine1);
    table.set(node, kBinLeft, left);
    table.set(node, BinOp::kBinOp, static_cast<uint32_t>(op));
    table.set(node, kBinRight, right);
    return node;
  }
  NodeId less(NodeId left, NodeId right) {
    NodeId node = table.add(Kind::kCompare, kLine1);
    table.set(node, kCompareLeft, left);
    table.set(node, kCompareOps,
              table.add_list(std::vector<uint32_t>{static_cast<uint32_t>(Operator::kLt)}));
    table.set(node, kCompareComparators, table.add_list(Nodes{right}));
    return node;
  }
  NodeId while_loop(NodeId test, const Nodes& body) {
    NodeId node = table.add(Kind::kWhile, kLine1);
    table.set(node, kWhileTest, test);
    table.set(node, kWhileBody, table.add_list(body));
    return node;
  }
  NodeId function(const std::vector<const char*>& parameters, const Nodes& body) {
    std::vector<StringId> names;
    for (const char* parameter : parameters) names.push_back(table.intern(parameter));
    NodeId node = make.function(table.intern("f"), names, body);
    table.set_flags(node, 0);
    return node;
  }
};

// i = 0; while i < n: i = i + 1; t = i; return i
struct Loop : Program {
  NodeId loop = while_loop(
      less(load("i"), load("n")),
      {store("i", binary(load("i"), Operator::kAdd, make.integer(1))), store("t", load("i"))});
  NodeId root =
      function({"n"}, {store("i", make.integer(0)), loop, make.return_statement(load("i"))});
};

std::string lowered(Program& program, NodeId root, Shape shape) {
  auto in_namespace = [](std::string_view) { return false; };
  auto is_loop_options = [](NodeId) { return false; };
  LoweringOptions options{
      .shape = shape, .in_namespace = in_namespace, .is_loop_options = is_loop_options};
  return unparse(program.table, lower(&program.table, root, options));
}

}  // namespace

TEST_CASE("the table keeps lists, strings and copies apart") {
  Program p;
  CHECK(p.table.intern("a") == p.table.intern("a"));
  CHECK(p.table.find_string("b") == 0);
  NodeId sum = p.binary(p.load("a"), Operator::kAdd, p.load("b"));
  NodeId tuple = p.make.tuple({sum, p.load("c")});
  NodeId copy = p.table.copy_tree(tuple);
  p.table.set(sum, kBinRight, p.make.integer(7));
  CHECK(unparse(p.table, tuple) == "(a + 7, c)");
  CHECK(unparse(p.table, copy) == "(a + b, c)");
  // A list made of a part of another.
  auto elements = p.table.list_field(tuple, kElts);
  ListId tail = p.table.add_list(elements.subspan(1));
  CHECK(p.table.list(tail).size() == 1);
  CHECK(unparse(p.table, p.table.list(tail)[0]) == "c");
}

TEST_CASE("operators are printed with the parentheses that they need") {
  Program p;
  NodeId difference = p.binary(p.load("b"), Operator::kSub, p.load("c"));
  CHECK(unparse(p.table, p.binary(p.load("a"), Operator::kSub, difference)) == "a - (b - c)");
  CHECK(unparse(p.table, p.binary(difference, Operator::kSub, p.load("a"))) == "b - c - a");
  NodeId power = p.binary(p.load("a"), Operator::kPow, p.load("b"));
  CHECK(unparse(p.table, p.binary(power, Operator::kPow, p.load("c"))) == "(a ** b) ** c");
  CHECK(unparse(p.table, p.make.attribute(p.make.integer(3), "real")) == "3 .real");
  CHECK(unparse(p.table, p.make.negation(p.make.conjunction(p.load("a"), p.load("b")))) ==
        "not (a and b)");
  CHECK(unparse(p.table, p.make.string("it's")) == "\"it's\"");
  CHECK(unparse(p.table, p.make.string("a\n\x01")) == "'a\\n\\x01'");
}

TEST_CASE("composite names are symbols, calls are not") {
  Program p;
  Symbols symbols(p.table);
  NodeId attribute = p.make.attribute(p.load("a"), "b");
  SymbolId symbol = symbols.of_node(attribute);
  REQUIRE(symbol != kNoSymbol);
  CHECK(symbols.text(symbol) == "a.b");
  CHECK(symbols.is_composite(symbol));
  CHECK(symbols.identifier_text(symbol) == "a_b");
  SymbolSet support;
  symbols.support(symbol, &support);
  CHECK(support.members() == std::vector<SymbolId>{symbols.of_node(p.load("a"))});
  CHECK(symbols.of_node(p.make.call(p.load("a"), {})) == kNoSymbol);
  CHECK(symbols.of_node(p.make.attribute(p.load("a"), "b")) == symbol);
}

TEST_CASE("activity tells reads from writes") {
  Loop p;
  Symbols symbols(p.table);
  Activity activity(p.table, &symbols, p.root);
  SymbolId i = symbols.name(p.table.intern("i"));
  SymbolId n = symbols.name(p.table.intern("n"));
  SymbolId t = symbols.name(p.table.intern("t"));
  const Scope& body = activity.scope(activity.body(p.loop));
  CHECK(body.modified.contains(i));
  CHECK(body.modified.contains(t));
  CHECK(body.read.contains(i));
  CHECK_FALSE(body.read.contains(n));
  const Scope& test = activity.scope(activity.of(p.table.get(p.loop, kWhileTest)));
  CHECK(test.read.contains(n));
  const Scope& whole = activity.scope(activity.arguments_and_body(p.root));
  NodeId arguments = p.table.get(p.root, kFunctionArgs);
  CHECK(activity.scope(activity.of(arguments)).params.contains(n));
  CHECK(whole.bound.contains(t));
}

TEST_CASE("a loop leads back to its test, and out of it") {
  Loop p;
  auto graphs = build_control_flow_graphs(p.table, p.root);
  REQUIRE(graphs.size() == 1);
  const ControlFlowGraph& graph = graphs.at(p.root);
  uint32_t test = graph.index.at(p.table.get(p.loop, kWhileTest));
  CHECK(graph.points[test].next.size() == 2);
  CHECK(graph.points[test].previous.size() == 2);
  REQUIRE(graph.after.at(p.loop).size() == 1);
  NodeId after = graph.points[graph.after.at(p.loop)[0]].node;
  CHECK(p.table.kind(after) == Kind::kReturn);
  REQUIRE(graph.exits.size() == 1);
}

TEST_CASE("what is live around a loop") {
  Loop p;
  Symbols symbols(p.table);
  Activity activity(p.table, &symbols, p.root);
  StatementFlow flow = analyse_dataflow(p.table, activity, p.root).at(p.loop);
  SymbolId i = symbols.name(p.table.intern("i"));
  SymbolId n = symbols.name(p.table.intern("n"));
  SymbolId t = symbols.name(p.table.intern("t"));
  CHECK(flow.live_in.contains(i));
  CHECK(flow.live_in.contains(n));
  CHECK(flow.live_out.contains(i));
  CHECK_FALSE(flow.live_out.contains(n));
  CHECK_FALSE(flow.live_out.contains(t));
  CHECK(flow.defined_in.contains(i));
  CHECK_FALSE(flow.defined_in.contains(t));
}

TEST_CASE("the lean shape of a loop") {
  Loop p;
  CHECK(lowered(p, p.root, Shape::kLean) ==
        "def f(n):\n"
        "    i = 0\n"
        "\n"
        "    def loop_body():\n"
        "        nonlocal i\n"
        "        i = i + 1\n"
        "        t = i\n"
        "\n"
        "    def loop_test():\n"
        "        return i < n\n"
        "    ag__.while_stmt(loop_test, loop_body, (('i',), 1, 'v'))\n"
        "    return i");
}

TEST_CASE("the TensorFlow shape of a loop") {
  Loop p;
  std::string text = lowered(p, p.root, Shape::kTensorFlow);
  CHECK(text.starts_with("def tf__f(n):\n    with ag__.FunctionScope('f', 'fscope', "));
  for (const char* part :
       {"        do_return = False\n        retval_ = ag__.UndefinedReturnValue()\n",
        "        def get_state():\n            return (i,)\n",
        "            nonlocal i\n            i, = vars_\n", "            t = ag__.ld(i)\n",
        "        t = ag__.Undefined('t')\n",
        "ag__.while_stmt(loop_test, loop_body, get_state, set_state, ('i',), {})\n",
        "return fscope.ret(retval_, do_return)"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("a break becomes a flag, and names that clash are avoided") {
  Program p;
  NodeId stop = p.make.if_statement(p.load("break_"), {p.table.add(Kind::kBreak, kLine1)});
  NodeId loop = p.while_loop(p.load("n"), {stop, p.store("n", p.make.integer(0))});
  NodeId root = p.function({"n", "break_"}, {loop, p.make.return_statement(p.load("n"))});
  std::string text = lowered(p, root, Shape::kLean);
  CHECK(text.find("break__1 = False\n") != std::string::npos);
  CHECK(text.find("break__1 = True\n") != std::string::npos);
  CHECK(text.find("ag__.and_(lambda: ag__.not_(break__1), lambda: n)") != std::string::npos);
}

TEST_CASE("what is not supported is named with its line") {
  Program p;
  NodeId loop = p.while_loop(p.load("n"), {p.make.pass()});
  p.table.set(loop, kWhileOrelse, p.table.add_list(Nodes{p.make.pass()}));
  NodeId root = p.function({"n"}, {loop});
  CHECK_THROWS_WITH_AS(lowered(p, root, Shape::kLean),
                       "while/else statement not yet supported (line 1)", Error);
}
