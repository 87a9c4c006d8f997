// Short forms for making nodes, and the base of the passes that rewrite trees.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "autograph/node_table.h"

namespace graphwright::autograph {

using Nodes = std::vector<NodeId>;

// Makes nodes at one position. Of a position that spans lines only the first line is taken: Python
// takes a method call to stand on the last line of its function expression.
class TreeMaker {
 public:
  TreeMaker(NodeTable& table, const Position& position) : t_(table), at_(position) {
    if (at_.end_line != at_.line) {
      at_.end_line = at_.line;
      at_.end_column = at_.column + 1;
    }
  }

  NodeId name(std::string_view id, Context context = Context::kLoad) const {
    return name(t_.intern(id), context);
  }
  NodeId name(StringId id, Context context = Context::kLoad) const;
  NodeId attribute(NodeId value, std::string_view name) const;
  NodeId operator_of_autograph(std::string_view name) const {
    return attribute(this->name("ag__"), name);
  }
  NodeId constant(Constant value) const;
  NodeId none() const { return constant({.type = ConstantType::kNone}); }
  NodeId boolean(bool value) const {
    return constant({.type = value ? ConstantType::kTrue : ConstantType::kFalse});
  }
  NodeId integer(int value) const {
    return constant({.type = ConstantType::kInt, .text = std::to_string(value)});
  }
  NodeId string(std::string_view value) const {
    return constant({.type = ConstantType::kString, .text = std::string(value)});
  }
  NodeId tuple(const Nodes& elements, Context context = Context::kLoad) const;
  NodeId call(NodeId function, const Nodes& arguments, const Nodes& keywords = {}) const;
  NodeId keyword(std::string_view name, NodeId value) const;
  NodeId negation(NodeId operand) const;
  NodeId conjunction(NodeId left, NodeId right) const;
  NodeId arguments(const std::vector<StringId>& names) const;
  NodeId lambda(NodeId body, const std::vector<StringId>& parameters = {}) const;
  NodeId dictionary(const Nodes& keys, const Nodes& values) const;

  NodeId expression_statement(NodeId value) const;
  NodeId assign(NodeId target, NodeId value) const;
  NodeId assign_name(StringId target, NodeId value) const {
    return assign(name(target, Context::kStore), value);
  }
  NodeId if_statement(NodeId test, const Nodes& body) const;
  NodeId return_statement(NodeId value) const;
  NodeId function(StringId name, const std::vector<StringId>& parameters, const Nodes& body) const;
  NodeId names_statement(Kind kind, const std::vector<StringId>& names) const;  // global, nonlocal
  NodeId pass() const { return t_.add(Kind::kPass, at_); }

 private:
  NodeTable& t_;
  Position at_;
};

// A pass: visits a tree and replaces nodes. The defaults visit the children and keep the node.
class Rewriter {
 public:
  explicit Rewriter(NodeTable& table) : t_(table) {}
  virtual ~Rewriter() = default;

  // A node that is no statement.
  virtual NodeId visit(NodeId node);
  // A statement; appends what takes its place. Called through `process`.
  virtual void visit_statement(NodeId node, Nodes* out);
  // The same, but for functions that stay as they are (see kFlagOpaque).
  void process(NodeId node, Nodes* out) {
    if (skips_opaque_ && (t_.flags(node) & kFlagOpaque)) {
      out->push_back(node);
    } else {
      visit_statement(node, out);
    }
  }

 protected:
  void visit_field(NodeId node, int field);
  void visit_children(NodeId node);
  Nodes visited_block(ListId block);
  Nodes items(NodeId node, int field) const {
    auto list = t_.list_field(node, field);
    return {list.begin(), list.end()};
  }
  void set_items(NodeId node, int field, const Nodes& nodes) {
    t_.set(node, field, t_.add_list(nodes));
  }
  TreeMaker at(NodeId node) { return {t_, t_.position(node)}; }

  NodeTable& t_;
  bool skips_opaque_ = true;
};

// Statements of a block being rebuilt, where from some statement on all that follows moves into the
// body (or the else) of an if statement that was placed last.
class MovingBlock {
 public:
  explicit MovingBlock(NodeTable& table) : t_(table) { open_.push_back({0, 0, {}}); }
  void add(const Nodes& statements) {
    open_.back().body.insert(open_.back().body.end(), statements.begin(), statements.end());
  }
  // Places `if_node`, into whose block `field` everything added later goes, after what it holds
  // already.
  void move_into(NodeId if_node, int field) {
    auto list = t_.list_field(if_node, field);
    open_.push_back({if_node, field, {list.begin(), list.end()}});
  }
  Nodes finish();

 private:
  struct Open {
    NodeId node;
    int field;
    Nodes body;
  };
  NodeTable& t_;
  std::vector<Open> open_;
};

}  // namespace graphwright::autograph
