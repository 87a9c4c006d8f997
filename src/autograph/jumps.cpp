// break, continue and return become flags and conditionals, so that what remains has one way in and
// one way out.
#include <algorithm>

#include "autograph/passes.h"

namespace graphwright::autograph {
namespace {

using namespace field;

ScopeId body_scope(const LoweringState& state, NodeId node) {
  return state.original_activity ? state.original_activity->body(node) : 0;
}

// --- break

class BreakLowering : public Rewriter {
 public:
  explicit BreakLowering(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  void visit_statement(NodeId node, Nodes* out) override {
    switch (t_.kind(node)) {
      case Kind::kBreak: {
        used_ = true;
        TreeMaker make = at(node);
        out->push_back(make.assign_name(flag_, make.boolean(true)));
        out->push_back(t_.add(Kind::kContinue, t_.position(node)));
        break;
      }
      case Kind::kWhile:
        while_statement(node, out);
        break;
      case Kind::kFor:
        for_statement(node, out);
        break;
      default:
        Rewriter::visit_statement(node, out);
    }
  }

 private:
  // Whether the body breaks.
  bool loop_body(NodeId node, int body, StringId flag) {
    std::swap(flag_, flag);
    bool outer_used = used_;
    used_ = false;
    visit_field(node, body);
    bool broke = used_;
    used_ = outer_used;
    flag_ = flag;
    return broke;
  }

  void while_statement(NodeId node, Nodes* out) {
    StringId flag =
        state_.namer.new_name("break_", state_.original_activity.get(), body_scope(state_, node));
    visit_field(node, kWhileTest);
    if (loop_body(node, kWhileBody, flag)) {
      TreeMaker make = at(node);
      out->push_back(make.assign_name(flag, make.boolean(false)));
      t_.set(node, kWhileTest,
             make.conjunction(make.negation(make.name(flag)), t_.get(node, kWhileTest)));
    }
    out->push_back(node);
  }

  void for_statement(NodeId node, Nodes* out) {
    StringId flag =
        state_.namer.new_name("break_", state_.original_activity.get(), body_scope(state_, node));
    visit_field(node, kForTarget);
    visit_field(node, kForIter);
    if (loop_body(node, kForBody, flag)) {
      TreeMaker make = at(node);
      out->push_back(make.assign_name(flag, make.boolean(false)));
      t_.set(node, kForExtraTest, make.negation(make.name(flag)));
      if (!state_.lean()) {
        // The TensorFlow shape shows the flag being read in the body.
        Nodes body = items(node, kForBody);
        body.insert(body.begin(), make.expression_statement(make.tuple({make.name(flag)})));
        set_items(node, kForBody, body);
      }
    }
    out->push_back(node);
  }

  LoweringState& state_;
  StringId flag_ = 0;
  bool used_ = false;
};

// --- continue

class ContinueLowering : public Rewriter {
 public:
  explicit ContinueLowering(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  void visit_statement(NodeId node, Nodes* out) override {
    switch (t_.kind(node)) {
      case Kind::kContinue: {
        used_ = true;
        // What follows in every block up to the loop's runs only if the flag is not set.
        for (size_t i = blocks_.size(); i-- > 0;) {
          blocks_[i].guard_next = true;
          if (blocks_[i].is_loop) break;
        }
        TreeMaker make = at(node);
        out->push_back(make.assign_name(flag_, make.boolean(true)));
        return;
      }
      case Kind::kWhile:
        visit_field(node, kWhileTest);
        loop_body(node, kWhileBody);
        block(node, kWhileOrelse, false);
        break;
      case Kind::kFor:
        visit_field(node, kForTarget);
        visit_field(node, kForIter);
        loop_body(node, kForBody);
        block(node, kForOrelse, false);
        break;
      case Kind::kIf:
        block(node, kIfBody, false);
        block(node, kIfOrelse, false);
        break;
      case Kind::kWith:
        block(node, kWithBody, false);
        break;
      case Kind::kTry:
      case Kind::kTryStar:
        block(node, kTryBody, false);
        block(node, kTryOrelse, false);
        block(node, kTryFinalbody, false);
        for (NodeId handler : items(node, kTryHandlers)) block(handler, kHandlerBody, false);
        break;
      case Kind::kMatch:
        for (NodeId match_case : items(node, 1)) block(match_case, 2, false);
        break;
      default:
        visit_children(node);
    }
    out->push_back(node);
  }

 private:
  struct Block {
    bool is_loop = false;
    bool guard_current = false;
    bool guard_next = false;
  };

  void loop_body(NodeId node, int body) {
    StringId flag = state_.namer.new_name("continue_", state_.original_activity.get(),
                                          body_scope(state_, node));
    StringId outer_flag = flag_;
    bool outer_used = used_;
    flag_ = flag;
    used_ = false;
    block(node, body, true);
    if (used_) {
      TreeMaker make = at(node);
      Nodes statements = items(node, body);
      statements.insert(statements.begin(), make.assign_name(flag, make.boolean(false)));
      set_items(node, body, statements);
    }
    flag_ = outer_flag;
    used_ = outer_used;
  }

  void block(NodeId node, int body, bool is_loop) {
    if (t_.get(node, body) == 0) return;
    blocks_.push_back({.is_loop = is_loop});
    MovingBlock moving(t_);
    for (NodeId statement : items(node, body)) {
      Nodes placed;
      process(statement, &placed);
      if (used_) {
        Block& current = blocks_.back();
        bool wrap = current.guard_current;
        current.guard_current = current.guard_next;
        current.guard_next = false;
        if (wrap) {
          TreeMaker make = at(statement);
          moving.move_into(make.if_statement(make.negation(make.name(flag_)), {}), kIfBody);
        }
      }
      moving.add(placed);
    }
    set_items(node, body, moving.finish());
    blocks_.pop_back();
  }

  LoweringState& state_;
  StringId flag_ = 0;
  bool used_ = false;
  std::vector<Block> blocks_;
};

// --- return

// Where one branch of a conditional surely returns, what follows the conditional moves into the
// other branch, so that no path goes on with a value yet to be returned.
class ConditionalReturns : public Rewriter {
 public:
  using Rewriter::Rewriter;

  void visit_statement(NodeId node, Nodes* out) override {
    switch (t_.kind(node)) {
      case Kind::kReturn:
        returns_ = true;
        break;
      case Kind::kWhile:
        visit_field(node, kWhileTest);
        block(node, kWhileBody);
        block(node, kWhileOrelse);
        break;
      case Kind::kFor:
        visit_field(node, kForIter);
        visit_field(node, kForTarget);
        block(node, kForBody);
        block(node, kForOrelse);
        break;
      case Kind::kWith:
        visit_field(node, kWithItems);
        if (block(node, kWithBody)) returns_ = true;
        break;
      case Kind::kTry:
      case Kind::kTryStar:
        block(node, kTryBody);
        block(node, kTryOrelse);
        block(node, kTryFinalbody);
        for (NodeId handler : items(node, kTryHandlers)) block(handler, kHandlerBody);
        break;
      case Kind::kMatch:
        for (NodeId match_case : items(node, 1)) block(match_case, 2);
        break;
      case Kind::kIf: {
        visit_field(node, kIfTest);
        body_returns_ = block(node, kIfBody);
        bool body_returns = body_returns_;
        bool orelse_returns = block(node, kIfOrelse);
        if (body_returns && orelse_returns) returns_ = true;
        if (body_returns) returning_body_.push_back(node);
        if (orelse_returns) returning_orelse_.push_back(node);
        break;
      }
      case Kind::kFunctionDef:
        block(node, kFunctionBody);
        break;
      default:
        visit_children(node);
    }
    out->push_back(node);
  }

 private:
  // Whether the block surely returns.
  bool block(NodeId node, int body) {
    if (t_.get(node, body) == 0) return false;
    bool outer = returns_;
    returns_ = false;
    MovingBlock moving(t_);
    for (NodeId statement : items(node, body)) {
      Nodes placed;
      process(statement, &placed);
      bool is_if = t_.kind(statement) == Kind::kIf;
      if (is_if && contains(returning_body_, statement)) {
        moving.move_into(statement, kIfOrelse);
      } else if (is_if && contains(returning_orelse_, statement)) {
        moving.move_into(statement, kIfBody);
      } else {
        moving.add(placed);
      }
    }
    set_items(node, body, moving.finish());
    bool result = returns_;
    returns_ = outer;
    return result;
  }

  static bool contains(const Nodes& nodes, NodeId node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }

  bool returns_ = false;
  bool body_returns_ = false;
  Nodes returning_body_, returning_orelse_;
};

class ReturnLowering : public Rewriter {
 public:
  explicit ReturnLowering(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  void visit_statement(NodeId node, Nodes* out) override {
    switch (t_.kind(node)) {
      case Kind::kReturn:
        if (native_) break;
        return_statement(node, out);
        return;
      case Kind::kWhile: {
        visit_field(node, kWhileTest);
        block(node, kWhileBody);
        if (blocks_.back().return_used) {
          TreeMaker make = at(node);
          t_.set(node, kWhileTest,
                 make.conjunction(make.negation(make.name(do_return_)), t_.get(node, kWhileTest)));
        }
        block(node, kWhileOrelse);
        break;
      }
      case Kind::kFor: {
        visit_field(node, kForIter);
        visit_field(node, kForTarget);
        block(node, kForBody);
        if (blocks_.back().return_used) {
          TreeMaker make = at(node);
          NodeId not_returned = make.negation(make.name(do_return_));
          NodeId extra = t_.get(node, kForExtraTest);
          t_.set(node, kForExtraTest,
                 extra == 0 ? not_returned : make.conjunction(not_returned, extra));
        }
        block(node, kForOrelse);
        break;
      }
      case Kind::kWith:
        visit_field(node, kWithItems);
        block(node, kWithBody);
        break;
      case Kind::kTry:
      case Kind::kTryStar:
        block(node, kTryBody);
        block(node, kTryOrelse);
        block(node, kTryFinalbody);
        for (NodeId handler : items(node, kTryHandlers)) block(handler, kHandlerBody);
        break;
      case Kind::kMatch:
        for (NodeId match_case : items(node, 1)) block(match_case, 2);
        break;
      case Kind::kIf:
        visit_field(node, kIfTest);
        block(node, kIfBody);
        block(node, kIfOrelse);
        break;
      case Kind::kFunctionDef:
        function(node);
        break;
      default:
        visit_children(node);
    }
    out->push_back(node);
  }

  void function(NodeId node) {
    const Activity* activity = state_.original_activity.get();
    StringId outer_flag = do_return_, outer_value = retval_;
    bool outer_native = native_;
    // A function whose every return is on its straight path needs no flag where it runs.
    native_ = state_.lean() && !returns_inside_control_flow(node, false);
    if (!native_) {
      do_return_ = state_.namer.new_name("do_return", activity, body_scope(state_, node));
      retval_ = state_.namer.new_name("retval_", activity, body_scope(state_, node));
    }
    blocks_.push_back({.is_function = true});
    block(node, kFunctionBody);
    bool used = blocks_.back().return_used;
    blocks_.pop_back();
    if (used) wrap_body(node);
    do_return_ = outer_flag;
    retval_ = outer_value;
    native_ = outer_native;
  }

 private:
  struct Block {
    bool is_function = false;
    bool return_used = false;
    bool guard_now = false;
    bool guard_next = false;
  };

  void wrap_body(NodeId function) {
    TreeMaker make = at(function);
    NodeId holder = function;
    int body = kFunctionBody;
    size_t first = 0;
    NodeId result;
    if (state_.lean()) {
      result = make.call(make.operator_of_autograph("returned"),
                         {make.name(retval_), make.name(do_return_)});
    } else {
      holder = items(function, kFunctionBody).back();  // the function scope
      body = kWithBody;
      result = make.call(make.attribute(make.name(t_.get(function, kFunctionContextName)), "ret"),
                         {make.name(retval_), make.name(do_return_)});
    }
    Nodes statements = items(holder, body);
    statements.insert(
        statements.begin() + first,
        {make.assign_name(do_return_, make.boolean(false)),
         make.assign_name(retval_,
                          make.call(make.operator_of_autograph("UndefinedReturnValue"), {}))});
    statements.push_back(make.return_statement(result));
    set_items(holder, body, statements);
  }

  void return_statement(NodeId node, Nodes* out) {
    for (size_t i = blocks_.size(); i-- > 0;) {
      blocks_[i].return_used = true;
      blocks_[i].guard_next = true;
      if (blocks_[i].is_function) break;
    }
    TreeMaker make = at(node);
    NodeId value = t_.get(node, kReturnValue);
    if (value == 0) value = make.none();
    if (state_.lean()) {
      out->push_back(make.assign_name(retval_, value));
      out->push_back(make.assign_name(do_return_, make.boolean(true)));
      return;
    }
    // If the value's expression raises, the return is called off.
    NodeId handler = t_.add(Kind::kExceptHandler, t_.position(node));
    set_items(handler, kHandlerBody,
              {make.assign_name(do_return_, make.boolean(false)),
               t_.add(Kind::kRaise, t_.position(node))});
    NodeId statement = t_.add(Kind::kTry, t_.position(node));
    set_items(statement, kTryBody,
              {make.assign_name(do_return_, make.boolean(true)), make.assign_name(retval_, value)});
    set_items(statement, kTryHandlers, {handler});
    out->push_back(statement);
  }

  void block(NodeId node, int body) {
    if (t_.get(node, body) == 0) return;
    blocks_.push_back({});
    MovingBlock moving(t_);
    for (NodeId statement : items(node, body)) {
      Nodes placed;
      process(statement, &placed);
      Block& current = blocks_.back();
      if (current.return_used) {
        if (current.guard_now) {
          TreeMaker make = at(statement);
          moving.move_into(make.if_statement(make.negation(make.name(do_return_)), {}), kIfBody);
        }
        current.guard_now = current.guard_next;
        current.guard_next = false;
      }
      moving.add(placed);
    }
    set_items(node, body, moving.finish());
    blocks_.pop_back();
  }

  bool returns_inside_control_flow(NodeId node, bool inside) const {
    if (node == 0) return false;
    Kind kind = t_.kind(node);
    if (kind == Kind::kReturn) return inside;
    if (inside && kind == Kind::kFunctionDef) return false;
    bool is_control_flow = kind == Kind::kIf || kind == Kind::kWhile || kind == Kind::kFor;
    std::span<const FieldSpec> specs = kind_spec(kind).fields;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].type != FieldType::kBlock && specs[i].type != FieldType::kNodeList) continue;
      auto list = t_.list_field(node, i);
      for (NodeId child : list) {
        if (child == 0 || t_.kind(child) == Kind::kFunctionDef || t_.kind(child) == Kind::kClassDef)
          continue;
        if (returns_inside_control_flow(child, inside || is_control_flow)) return true;
      }
    }
    return false;
  }

  LoweringState& state_;
  StringId do_return_ = 0;
  StringId retval_ = 0;
  bool native_ = false;
  std::vector<Block> blocks_;
};

}  // namespace

NodeId lower_breaks(LoweringState* state, NodeId root) { return BreakLowering(state).visit(root); }

NodeId lower_continues(LoweringState* state, NodeId root) {
  return ContinueLowering(state).visit(root);
}

NodeId lower_returns(LoweringState* state, NodeId root) {
  Nodes out;
  if (state->table.kind(root) == Kind::kLambda) return root;  // no statements inside
  ConditionalReturns(state->table).visit_statement(root, &out);
  ReturnLowering(state).function(root);
  return root;
}

}  // namespace graphwright::autograph
