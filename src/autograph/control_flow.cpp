// if, while and for become calls of operators on functions that hold their blocks.
#include <algorithm>

#include "autograph/dataflow.h"
#include "autograph/passes.h"
#include "autograph/unparse.h"

namespace graphwright::autograph {
namespace {

using namespace field;

// The variables that a construct changes and that matter outside it.
struct State {
  std::vector<SymbolId> variables;  // outputs first, each part in the order of the text
  std::vector<SymbolId> undefined;  // modified inside, and perhaps without a value before
  size_t output_count = 0;
};

class ControlFlowLowering : public Rewriter {
 public:
  ControlFlowLowering(LoweringState* state, NodeId root)
      : Rewriter(state->table),
        state_(*state),
        s_(state->symbols),
        activity_(state->table, &state->symbols, root),
        flows_(analyse_dataflow(state->table, activity_, root)) {}

  NodeId visit(NodeId node) override {
    if (t_.kind(node) != Kind::kLambda) return Rewriter::visit(node);
    ScopeId outer = function_scope_;
    function_scope_ = activity_.of(node);
    visit_children(node);
    function_scope_ = outer;
    return node;
  }

  void visit_statement(NodeId node, Nodes* out) override {
    bool known = flows_.count(node) != 0;  // not so in a class body, which stays as it is
    switch (t_.kind(node)) {
      case Kind::kFunctionDef: {
        ScopeId outer = function_scope_;
        function_scope_ = activity_.body(node);
        visit_children(node);
        function_scope_ = outer;
        out->push_back(node);
        break;
      }
      case Kind::kIf:
        visit_children(node);
        known ? if_statement(node, out) : out->push_back(node);
        break;
      case Kind::kWhile:
        visit_children(node);
        known ? while_statement(node, out) : out->push_back(node);
        break;
      case Kind::kFor:
        visit_children(node);
        known ? for_statement(node, out) : out->push_back(node);
        break;
      default:
        Rewriter::visit_statement(node, out);
    }
  }

 private:
  const Scope& function_scope() const { return activity_.scope(function_scope_); }

  State state_of(NodeId node, const SymbolSet& modified) const {
    const StatementFlow& flow = flows_.at(node);
    const Scope& function = function_scope();
    State state;
    SymbolSet input_only;
    for (SymbolId symbol : modified.members()) {
      bool composite = s_.is_composite(symbol);
      if (composite) {
        // A write to x.a matters outside only if x itself comes from outside.
        SymbolSet support;
        s_.support(symbol, &support);
        std::vector<SymbolId> names = support.members();
        if (std::all_of(names.begin(), names.end(),
                        [&](SymbolId name) { return flow.live_in.contains(name); })) {
          state.variables.push_back(symbol);
        }
        continue;
      }
      bool is_global = function.globals.contains(symbol);
      if (flow.live_in.contains(symbol) || flow.live_out.contains(symbol) ||
          function.nonlocals.contains(symbol) || (state_.lean() && is_global)) {
        state.variables.push_back(symbol);
        bool lives_on =
            flow.live_out.contains(symbol) || function.nonlocals.contains(symbol) || is_global;
        if (flow.live_in.contains(symbol) && !flow.live_out.contains(symbol) &&
            !(state_.lean() && lives_on)) {
          input_only.add(symbol);
        }
      }
      if (!flow.defined_in.contains(symbol) && !is_global && !function.nonlocals.contains(symbol)) {
        state.undefined.push_back(symbol);
      }
    }
    auto by_text = [&](SymbolId a, SymbolId b) { return s_.text(a) < s_.text(b); };
    std::sort(state.variables.begin(), state.variables.end(), [&](SymbolId a, SymbolId b) {
      bool a_last = input_only.contains(a), b_last = input_only.contains(b);
      return a_last != b_last ? b_last : by_text(a, b);
    });
    std::sort(state.undefined.begin(), state.undefined.end(), by_text);
    state.output_count = state.variables.size() - input_only.members().size();
    return state;
  }

  StringId new_name(std::string_view root, std::initializer_list<ScopeId> scopes) {
    // The scopes of one construct share what is around them, and each reports to it, so one stands
    // for all.
    return state_.namer.new_name(root, state_.lean() ? nullptr : &activity_, *scopes.begin());
  }

  Nodes declarations(const State& state, const TreeMaker& make) const {
    std::vector<StringId> globals, nonlocals;
    for (SymbolId symbol : state.variables) {
      if (s_.is_composite(symbol)) continue;
      (function_scope().globals.contains(symbol) ? globals : nonlocals)
          .push_back(s_.name_of(symbol));
    }
    auto by_text = [&](StringId a, StringId b) { return t_.string(a) < t_.string(b); };
    std::sort(globals.begin(), globals.end(), by_text);
    std::sort(nonlocals.begin(), nonlocals.end(), by_text);
    Nodes result;
    if (!globals.empty()) result.push_back(make.names_statement(Kind::kGlobal, globals));
    if (!nonlocals.empty()) result.push_back(make.names_statement(Kind::kNonlocal, nonlocals));
    return result;
  }

  static Nodes joined(Nodes first, const Nodes& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  // get_state and set_state. Lean: only composite variables need them, the rest are cells.
  Nodes state_functions(const State& state, StringId getter, StringId setter, const TreeMaker& make,
                        const Position& position) {
    Nodes values, targets;
    for (SymbolId symbol : state.variables) {
      bool composite = s_.is_composite(symbol);
      if (state_.lean() && !composite) continue;
      NodeId value = s_.expression(&t_, symbol, Context::kLoad, position);
      if (composite) {
        value = make.call(make.operator_of_autograph("ldu"),
                          {make.lambda(value), make.string(s_.text(symbol))});
      }
      values.push_back(value);
      targets.push_back(s_.expression(&t_, symbol, Context::kStore, position));
    }
    if (values.empty()) {
      return {make.function(getter, {}, {make.return_statement(make.tuple({}))}),
              make.function(setter, {t_.intern("block_vars")}, {make.pass()})};
    }
    StringId parameter = t_.intern("vars_");
    Nodes body;
    if (!state_.lean()) body = declarations(state, make);
    body.push_back(make.assign(make.tuple(targets, Context::kStore), make.name(parameter)));
    return {make.function(getter, {}, {make.return_statement(make.tuple(values))}),
            make.function(setter, {parameter}, body)};
  }

  // TensorFlow shape: gives possibly undefined variables a value that says so. Lean: an empty cell
  // says it, but the compiler must see a binding in the function that owns the cell.
  Nodes undefined_assignments(const State& state, const TreeMaker& make) {
    Nodes result;
    if (!state_.lean()) {
      for (SymbolId symbol : state.undefined) {
        NodeId value = make.call(make.operator_of_autograph("Undefined"),
                                 {make.string(s_.identifier_text(symbol))});
        result.push_back(make.assign_name(s_.name_of(symbol), value));
      }
      return result;
    }
    Nodes targets;
    for (SymbolId symbol : state.undefined) {
      if (std::find(state.variables.begin(), state.variables.end(), symbol) ==
          state.variables.end())
        continue;
      targets.push_back(make.name(s_.name_of(symbol), Context::kStore));
    }
    if (targets.empty()) return {};
    NodeId binding = t_.add(Kind::kAssign, t_.position(targets[0]));
    set_items(binding, kAssignTargets, targets);
    t_.set(binding, kAssignValue, make.none());
    return {make.if_statement(make.boolean(false), {binding})};
  }

  NodeId symbol_names(const State& state, const TreeMaker& make) {
    Nodes names;
    for (SymbolId symbol : state.variables) names.push_back(make.string(s_.text(symbol)));
    return make.tuple(names);
  }

  // What the lean operators need to know, as one constant: names, number of outputs, and per name a
  // letter: v: a variable in a cell, g: a global, c: a composite, f: a flag made by the lowering.
  NodeId specification(const State& state, const TreeMaker& make) {
    Constant names{.type = ConstantType::kTuple};
    std::string letters;
    for (SymbolId symbol : state.variables) {
      const std::string& text = s_.text(symbol);
      names.parts.push_back(t_.add_constant({.type = ConstantType::kString, .text = text}));
      if (s_.is_composite(symbol)) {
        letters += 'c';
      } else if (function_scope().globals.contains(symbol)) {
        letters += 'g';
      } else {
        letters += state_.namer.made(text) ? 'f' : 'v';
      }
    }
    Constant specification{.type = ConstantType::kTuple};
    specification.parts = {
        t_.add_constant(std::move(names)),
        t_.add_constant({.type = ConstantType::kInt, .text = std::to_string(state.output_count)}),
        t_.add_constant({.type = ConstantType::kString, .text = letters})};
    return make.constant(std::move(specification));
  }

  bool has_composites(const State& state) const {
    return std::any_of(state.variables.begin(), state.variables.end(),
                       [&](SymbolId symbol) { return s_.is_composite(symbol); });
  }

  SymbolSet bound(std::initializer_list<ScopeId> scopes) const {
    SymbolSet result;
    for (ScopeId scope : scopes) result |= activity_.scope(scope).bound;
    return result;
  }

  void if_statement(NodeId node, Nodes* out) {
    TreeMaker make = at(node);
    ScopeId body_scope = activity_.body(node), orelse_scope = activity_.orelse(node);
    State state = state_of(node, bound({body_scope, orelse_scope}));
    bool with_functions = !state_.lean() || has_composites(state);
    StringId getter = 0, setter = 0;
    if (with_functions) {
      getter = new_name("get_state", {body_scope, orelse_scope});
      setter = new_name("set_state", {body_scope, orelse_scope});
    }
    Nodes functions;
    if (with_functions) functions = state_functions(state, getter, setter, make, t_.position(node));
    StringId body_name = new_name("if_body", {body_scope, orelse_scope});
    StringId orelse_name = new_name("else_body", {body_scope, orelse_scope});

    Nodes body = joined(declarations(state, make), items(node, kIfBody));
    Nodes orelse_body = items(node, kIfOrelse);
    bool no_orelse = orelse_body.empty();
    if (no_orelse) orelse_body.push_back(make.pass());
    Nodes orelse = joined(declarations(state, make), orelse_body);

    Nodes result = functions;
    result.push_back(make.function(body_name, {}, body));
    Nodes arguments = {t_.get(node, kIfTest), make.name(body_name)};
    if (state_.lean() && no_orelse) {
      arguments.push_back(make.none());
    } else {
      result.push_back(make.function(orelse_name, {}, orelse));
      arguments.push_back(make.name(orelse_name));
    }
    result = joined(std::move(result), undefined_assignments(state, make));
    if (state_.lean()) {
      arguments.push_back(specification(state, make));
      if (with_functions)
        arguments = joined(std::move(arguments), {make.name(getter), make.name(setter)});
    } else {
      arguments = joined(std::move(arguments),
                         {make.name(getter), make.name(setter), symbol_names(state, make),
                          make.integer(static_cast<int>(state.output_count))});
    }
    result.push_back(
        make.expression_statement(make.call(make.operator_of_autograph("if_stmt"), arguments)));
    out->insert(out->end(), result.begin(), result.end());
  }

  NodeId options(NodeId node, int options_field, const TreeMaker& make) {
    NodeId given = t_.get(node, options_field);
    return given != 0 ? given : make.dictionary({}, {});
  }

  void while_statement(NodeId node, Nodes* out) {
    TreeMaker make = at(node);
    ScopeId body_scope = activity_.body(node);
    State state = state_of(node, bound({body_scope}));
    bool with_functions = !state_.lean() || has_composites(state);
    StringId getter = 0, setter = 0;
    if (with_functions) {
      getter = new_name("get_state", {body_scope});
      setter = new_name("set_state", {body_scope});
    }
    Nodes result;
    if (with_functions) result = state_functions(state, getter, setter, make, t_.position(node));
    StringId body_name = new_name("loop_body", {body_scope});
    StringId test_name = new_name("loop_test", {body_scope});
    result.push_back(
        make.function(body_name, {}, joined(declarations(state, make), items(node, kWhileBody))));
    TreeMaker make_test = at(t_.get(node, kWhileTest));
    result.push_back(
        make_test.function(test_name, {}, {make_test.return_statement(t_.get(node, kWhileTest))}));
    result = joined(std::move(result), undefined_assignments(state, make));
    Nodes arguments = {make.name(test_name), make.name(body_name)};
    if (state_.lean()) {
      arguments.push_back(specification(state, make));
      NodeId given = t_.get(node, kWhileOptions);
      if (with_functions || given != 0) arguments.push_back(given != 0 ? given : make.none());
      if (with_functions)
        arguments = joined(std::move(arguments), {make.name(getter), make.name(setter)});
    } else {
      arguments = joined(std::move(arguments),
                         {make.name(getter), make.name(setter), symbol_names(state, make),
                          options(node, kWhileOptions, make)});
    }
    result.push_back(
        make.expression_statement(make.call(make.operator_of_autograph("while_stmt"), arguments)));
    out->insert(out->end(), result.begin(), result.end());
  }

  void for_statement(NodeId node, Nodes* out) {
    TreeMaker make = at(node);
    ScopeId body_scope = activity_.body(node), iterate_scope = activity_.iterate(node);
    State state = state_of(node, bound({body_scope, iterate_scope}));
    bool with_functions = !state_.lean() || has_composites(state);
    StringId getter = 0, setter = 0;
    if (with_functions) {
      getter = new_name("get_state", {body_scope, iterate_scope});
      setter = new_name("set_state", {body_scope, iterate_scope});
    }
    Nodes result;
    if (with_functions) result = state_functions(state, getter, setter, make, t_.position(node));

    NodeId target = t_.get(node, kForTarget);
    std::string target_text = unparse(t_, target);
    NodeId extra_test = t_.get(node, kForExtraTest);
    Nodes extra_function;
    NodeId extra_argument = make.none();
    if (extra_test != 0) {
      StringId extra_name = new_name("extra_test", {body_scope, iterate_scope});
      extra_argument = make.name(extra_name);
      extra_function.push_back(make.function(
          extra_name, {}, joined(declarations(state, make), {make.return_statement(extra_test)})));
    }
    StringId iterate_name = new_name("itr", {body_scope, iterate_scope});
    StringId body_name = new_name("loop_body", {body_scope, iterate_scope});
    Nodes body = declarations(state, make);
    body.push_back(make.assign(target, make.name(iterate_name)));
    result.push_back(
        make.function(body_name, {iterate_name}, joined(std::move(body), items(node, kForBody))));
    result = joined(std::move(result), extra_function);
    result = joined(std::move(result), undefined_assignments(state, make));

    Nodes arguments = {t_.get(node, kForIter), extra_argument, make.name(body_name)};
    if (state_.lean()) {
      arguments.push_back(specification(state, make));
      arguments.push_back(make.string(target_text));
      NodeId given = t_.get(node, kForOptions);
      if (with_functions || given != 0) arguments.push_back(given != 0 ? given : make.none());
      if (with_functions)
        arguments = joined(std::move(arguments), {make.name(getter), make.name(setter)});
    } else {
      NodeId all_options = options(node, kForOptions, make);
      set_items(all_options, kDictKeys,
                joined(items(all_options, kDictKeys), {make.string("iterate_names")}));
      set_items(all_options, kDictValues,
                joined(items(all_options, kDictValues), {make.string(target_text)}));
      arguments = joined(std::move(arguments), {make.name(getter), make.name(setter),
                                                symbol_names(state, make), all_options});
    }
    result.push_back(
        make.expression_statement(make.call(make.operator_of_autograph("for_stmt"), arguments)));
    out->insert(out->end(), result.begin(), result.end());
  }

  LoweringState& state_;
  Symbols& s_;
  Activity activity_;
  std::unordered_map<NodeId, StatementFlow> flows_;
  ScopeId function_scope_ = 0;
};

}  // namespace

NodeId lower_control_flow(LoweringState* state, NodeId root) {
  // Without control flow there is nothing to analyse.
  bool any = false;
  for (NodeId node = 1; node < state->table.size() && !any; ++node) {
    Kind kind = state->table.kind(node);
    any = kind == Kind::kIf || kind == Kind::kWhile || kind == Kind::kFor;
  }
  if (!any) return root;
  ControlFlowLowering lowering(state, root);
  if (state->table.kind(root) == Kind::kLambda) return lowering.visit(root);
  Nodes out;
  lowering.visit_statement(root, &out);
  return out[0];
}

}  // namespace graphwright::autograph
