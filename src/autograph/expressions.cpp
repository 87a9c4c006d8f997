// Conditional and logical expressions, and reads of variables, become operators.
#include "autograph/passes.h"
#include "autograph/unparse.h"

namespace graphwright::autograph {
namespace {

using namespace field;

// `a if t else b`.
class ConditionalExpressions : public Rewriter {
 public:
  explicit ConditionalExpressions(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  NodeId visit(NodeId node) override {
    if (t_.kind(node) != Kind::kIfExp) return Rewriter::visit(node);
    std::string text;
    // In the TensorFlow shape, conditional expressions inside this one stay as they are.
    if (state_.lean()) {
      visit_children(node);
    } else {
      text = unparse(t_, t_.get(node, kIfExpTest));
    }
    TreeMaker make = at(node);
    Nodes arguments = {t_.get(node, kIfExpTest), make.lambda(t_.get(node, kIfExpBody)),
                       make.lambda(t_.get(node, kIfExpOrelse))};
    if (!state_.lean()) arguments.push_back(make.string(text));
    return make.call(make.operator_of_autograph("if_exp"), arguments);
  }

 private:
  LoweringState& state_;
};

// `and`, `or`, `not`, and comparisons in a row.
class LogicalExpressions : public Rewriter {
 public:
  explicit LogicalExpressions(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  NodeId visit(NodeId node) override {
    switch (t_.kind(node)) {
      case Kind::kBoolOp: {
        visit_children(node);
        TreeMaker make = at(node);
        bool is_and = static_cast<Operator>(t_.get(node, field::kBoolOp)) == Operator::kAnd;
        Nodes values = items(node, kBoolValues);
        NodeId right = values.back();
        for (size_t i = values.size() - 1; i-- > 0;) {
          right = make.call(make.operator_of_autograph(is_and ? "and_" : "or_"),
                            {make.lambda(values[i]), make.lambda(right)});
        }
        return right;
      }
      case Kind::kUnaryOp: {
        visit_children(node);
        if (static_cast<Operator>(t_.get(node, field::kUnaryOp)) != Operator::kNot) return node;
        TreeMaker make = at(node);
        return make.call(make.operator_of_autograph("not_"), {t_.get(node, kUnaryOperand)});
      }
      case Kind::kCompare: {
        visit_children(node);
        return comparison(node);
      }
      default:
        return Rewriter::visit(node);
    }
  }

 private:
  NodeId comparison(NodeId node) {
    auto ops_list = t_.list_field(node, kCompareOps);
    std::vector<uint32_t> ops(ops_list.begin(), ops_list.end());
    Nodes comparators = items(node, kCompareComparators);
    bool equality_operators = state_.options.uses_feature("EQUALITY_OPERATORS");
    if (ops.size() == 1 && !equality_operators) return node;
    TreeMaker make = at(node);
    NodeId left = t_.get(node, kCompareLeft);
    NodeId result = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      Operator op = static_cast<Operator>(ops[i]);
      NodeId right = comparators[i];
      NodeId pair;
      if (equality_operators && (op == Operator::kEq || op == Operator::kNotEq)) {
        pair = make.call(make.operator_of_autograph(op == Operator::kEq ? "eq" : "not_eq"),
                         {left, right});
      } else {
        pair = t_.add(Kind::kCompare, t_.position(node));
        t_.set(pair, kCompareLeft, left);
        t_.set(pair, kCompareOps, t_.add_list(std::vector<uint32_t>{ops[i]}));
        set_items(pair, kCompareComparators, {right});
      }
      result = result == 0 ? pair
                           : make.call(make.operator_of_autograph("and_"),
                                       {make.lambda(result), make.lambda(pair)});
      if (i + 1 < ops.size()) left = t_.copy_tree(right);
    }
    return result;
  }

  LoweringState& state_;
};

// `assert`, in the lean shape.
class Assertions : public Rewriter {
 public:
  using Rewriter::Rewriter;

  void visit_statement(NodeId node, Nodes* out) override {
    visit_children(node);
    if (t_.kind(node) != Kind::kAssert) {
      out->push_back(node);
      return;
    }
    TreeMaker make = at(node);
    NodeId message = t_.get(node, 1);
    NodeId call = make.call(make.operator_of_autograph("assert_stmt"),
                            {t_.get(node, 0), message == 0 ? make.none() : make.lambda(message)});
    // Python leaves assertions out when it optimises.
    out->push_back(make.if_statement(make.name("__debug__"), {make.expression_statement(call)}));
  }
};

// Reads and deletions of variables, in the TensorFlow shape.
class VariableAccess : public Rewriter {
 public:
  explicit VariableAccess(NodeTable& table) : Rewriter(table) { skips_opaque_ = false; }

  NodeId visit(NodeId node) override {
    if (t_.kind(node) != Kind::kName) return Rewriter::visit(node);
    if ((t_.flags(node) & kFlagUserName) == 0 ||
        static_cast<Context>(t_.get(node, kNameContext)) != Context::kLoad) {
      return node;
    }
    return load(node);
  }

  void visit_statement(NodeId node, Nodes* out) override {
    switch (t_.kind(node)) {
      case Kind::kDelete: {
        visit_children(node);
        Nodes others;
        TreeMaker make = at(node);
        bool any = false;
        for (NodeId target : items(node, kDeleteTargets)) {
          if (t_.kind(target) != Kind::kName) {
            others.push_back(target);
            continue;
          }
          any = true;
          StringId name = t_.get(target, kNameId);
          out->push_back(make.assign_name(name, make.call(make.operator_of_autograph("Undefined"),
                                                          {make.string(t_.string(name))})));
        }
        if (!others.empty()) {
          if (any) set_items(node, kDeleteTargets, others);
          out->push_back(node);
        }
        break;
      }
      case Kind::kAugAssign: {
        NodeId target = t_.get(node, kAugTarget);
        if (t_.kind(target) != Kind::kName) {
          visit_children(node);
        } else {
          TreeMaker make = at(node);
          StringId name = t_.get(target, kNameId);
          out->push_back(make.assign_name(name, load(make.name(name))));
        }
        out->push_back(node);
        break;
      }
      default:
        Rewriter::visit_statement(node, out);
    }
  }

 private:
  NodeId load(NodeId name) {
    TreeMaker make = at(name);
    return make.call(make.operator_of_autograph("ld"), {name});
  }
};

}  // namespace

NodeId lower_expressions(LoweringState* state, NodeId root) {
  if (state->lean()) root = Assertions(state->table).visit(root);
  root = ConditionalExpressions(state).visit(root);
  return LogicalExpressions(state).visit(root);
}

NodeId lower_variables(LoweringState* state, NodeId root) {
  return state->lean() ? root : VariableAccess(state->table).visit(root);
}

}  // namespace graphwright::autograph
