#include "autograph/lowering.h"

#include <algorithm>

#include "autograph/passes.h"
#include "base/status.h"

namespace graphwright::autograph {

using namespace field;

bool LoweringOptions::uses_feature(std::string_view name) const {
  return std::any_of(
      optional_features.begin(), optional_features.end(),
      [&](const std::string& feature) { return feature == "ALL" || feature == name; });
}

StringId Namer::new_name(std::string_view root, const Activity* activity, ScopeId scope) {
  // A root that ends in a number counts on from it.
  std::string base(root);
  int number = 0;
  size_t underscore = base.rfind('_');
  if (underscore != std::string::npos && underscore + 1 < base.size() &&
      base.find_first_not_of("0123456789", underscore + 1) == std::string::npos) {
    number = std::stoi(base.substr(underscore + 1));
    base.resize(underscore);
  }
  auto reserved = [&](const std::string& name) {
    StringId id = t_.find_string(name);
    if (id == 0) return false;  // stands nowhere in the function
    if (activity == nullptr) return true;
    std::vector<StringId> identifiers;
    for (SymbolId symbol : activity->referenced(scope).members()) {
      s_.reserved_identifiers(symbol, &identifiers);
    }
    return std::find(identifiers.begin(), identifiers.end(), id) != identifiers.end();
  };
  std::string name(root);
  while (made_.count(name) != 0 || options_.in_namespace(name) || reserved(name)) {
    name = base + "_" + std::to_string(++number);
  }
  made_.insert(name);
  return t_.intern(name);
}

namespace {

// Whether any of the names that the early passes make could clash with one of the function's.
bool names_may_clash(const NodeTable& table) {
  for (StringId id = 1; id < table.string_count(); ++id) {
    const std::string& text = table.string(id);
    for (const char* root : {"fscope", "lscope", "break_", "continue_", "do_return", "retval_"}) {
      if (text.starts_with(root)) return true;
    }
  }
  return false;
}

}  // namespace

NodeId lower(NodeTable* table, NodeId root, const LoweringOptions& options) {
  check_supported(table, root, options.shape);
  bool is_lambda = table->kind(root) == Kind::kLambda;
  bool lean = options.shape == Shape::kLean;
  LoweringState state(*table, options);

  // The new name is made first, so that it is the plain one. What runs keeps the user's name.
  StringId new_name = 0;
  if (!lean) {
    std::string base =
        "tf__" + (is_lambda ? "lam" : table->string(table->get(root, kFunctionName)));
    std::string name = base;
    for (int number = 1; options.in_namespace(name); ++number)
      name = base + "_" + std::to_string(number);
    new_name = table->intern(name);
    mark_user_names(table, root);
  }
  if (names_may_clash(*table)) {
    state.original_activity = std::make_unique<Activity>(*table, &state.symbols, root);
  }

  for (auto* pass : {wrap_functions, take_directives, lower_breaks, lower_continues, lower_returns,
                     lower_calls, lower_control_flow, lower_expressions, lower_variables}) {
    root = pass(&state, root);
    state.symbols.forget_nodes();
  }
  if (options.made_names != nullptr) *options.made_names = state.namer.all_made();
  if (lean) return root;
  if (is_lambda) return TreeMaker(*table, table->position(root)).assign_name(new_name, root);
  table->set(root, kFunctionName, new_name);
  return root;
}

namespace {

class Checker {
 public:
  Checker(NodeTable& table, Shape shape) : t_(table), shape_(shape) {}

  // `moved`: whether the lowering puts the expression into a function of its own.
  void check(NodeId node, bool outermost, bool moved) {
    if (node == 0) return;
    Kind kind = t_.kind(node);
    switch (kind) {
      case Kind::kFor:
        if (t_.get(node, kForOrelse) != 0) refuse(node, "for/else statement not yet supported");
        break;
      case Kind::kWhile:
        if (t_.get(node, kWhileOrelse) != 0) refuse(node, "while/else statement not yet supported");
        check(t_.get(node, kWhileTest), false, true);
        break;
      case Kind::kYield:
      case Kind::kYieldFrom:
        refuse(node, "generators are not supported");
      case Kind::kAsyncFunctionDef:
        if (outermost) refuse(node, "async functions are not supported");
        t_.set_flags(node, t_.flags(node) | kFlagOpaque);
        return;
      case Kind::kFunctionDef:
        if (!outermost && shape_ == Shape::kLean && yields(t_.list_field(node, kFunctionBody))) {
          t_.set_flags(node, t_.flags(node) | kFlagOpaque);
          return;
        }
        moved = false;
        break;
      case Kind::kLambda:
      case Kind::kClassDef:
        moved = false;
        break;
      case Kind::kBoolOp:
      case Kind::kIfExp:
        moved = true;
        break;
      case Kind::kCompare:
        moved = moved || t_.list_field(node, kCompareOps).size() > 1;
        break;
      case Kind::kNamedExpr:
        if (moved) {
          refuse(node,
                 "an assignment expression (:=) inside a logical or conditional expression or the "
                 "condition of a loop is not yet supported");
        }
        break;
      case Kind::kAttribute: {
        const std::string& name = t_.string(t_.get(node, kAttributeName));
        if (name.starts_with("__") && !name.ends_with("__")) {
          refuse(node, "mangled names are not yet supported: " + name);
        }
        break;
      }
      default:
        break;
    }
    std::span<const FieldSpec> specs = kind_spec(kind).fields;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].type == FieldType::kNode) {
        check(t_.get(node, i), false, moved);
      } else if (specs[i].type == FieldType::kNodeList || specs[i].type == FieldType::kBlock) {
        for (NodeId child : t_.list_field(node, i)) check(child, false, moved);
      }
    }
  }

 private:
  [[noreturn]] void refuse(NodeId node, const std::string& what) const {
    throw Error(ErrorKind::kNotImplementedError,
                what + " (line " + std::to_string(t_.position(node).line) + ")");
  }

  // Whether the code itself yields, functions in it left out.
  bool yields(std::span<const uint32_t> nodes) const {
    for (NodeId node : nodes) {
      if (node == 0) continue;
      Kind kind = t_.kind(node);
      if (kind == Kind::kYield || kind == Kind::kYieldFrom) return true;
      if (kind == Kind::kFunctionDef || kind == Kind::kAsyncFunctionDef || kind == Kind::kLambda)
        continue;
      std::span<const FieldSpec> specs = kind_spec(kind).fields;
      for (size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].type == FieldType::kNode) {
          NodeId child = t_.get(node, i);
          if (yields({&child, 1})) return true;
        } else if (specs[i].type == FieldType::kNodeList || specs[i].type == FieldType::kBlock) {
          if (yields(t_.list_field(node, i))) return true;
        }
      }
    }
    return false;
  }

  NodeTable& t_;
  Shape shape_;
};

}  // namespace

void check_supported(NodeTable* table, NodeId root, Shape shape) {
  Checker(*table, shape).check(root, true, false);
}

namespace {

void mark_names(NodeTable* table, NodeId node) {
  if (node == 0) return;
  Kind kind = table->kind(node);
  if (kind == Kind::kName) table->set_flags(node, table->flags(node) | kFlagUserName);
  std::span<const FieldSpec> specs = kind_spec(kind).fields;
  for (int i = 0; i < static_cast<int>(specs.size()); ++i) {
    bool is_function = kind == Kind::kFunctionDef;
    if (is_function &&
        (i == kFunctionDecorators || i == kFunctionReturns || i == kFunctionTypeParams))
      continue;
    if (kind == Kind::kArg) continue;  // annotations
    if (kind == Kind::kExceptHandler && i == kHandlerType) continue;
    if (kind == Kind::kMatchCase && i == 0) continue;  // patterns are no expressions
    if (specs[i].type == FieldType::kNode) {
      mark_names(table, table->get(node, i));
    } else if (specs[i].type == FieldType::kNodeList || specs[i].type == FieldType::kBlock) {
      for (NodeId child : table->list_field(node, i)) mark_names(table, child);
    }
  }
}

// --- function scopes

class FunctionWrapper : public Rewriter {
 public:
  explicit FunctionWrapper(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  NodeId visit(NodeId node) override {
    if (t_.kind(node) != Kind::kLambda) return Rewriter::visit(node);
    ++level_;
    visit_children(node);
    --level_;
    if (state_.lean()) return node;
    TreeMaker make = at(node);
    if (level_ > 0) return make.call(make.operator_of_autograph("autograph_artifact"), {node});
    StringId context = context_name("lscope", node);
    t_.set(node, kLambdaContextName, context);
    NodeId inner = make.lambda(t_.get(node, kLambdaBody), {context});
    t_.set(node, kLambdaBody,
           make.call(make.operator_of_autograph("with_function_scope"),
                     {inner, make.string(t_.string(context)), options_expression(make)}));
    return node;
  }

  void visit_statement(NodeId node, Nodes* out) override {
    if (t_.kind(node) == Kind::kFunctionDef) {
      function(node);
      out->push_back(node);
    } else {
      Rewriter::visit_statement(node, out);
    }
  }

  void function(NodeId node) {
    StringId context = state_.lean() ? 0 : context_name("fscope", node);
    t_.set(node, kFunctionContextName, context);
    ++level_;
    visit_children(node);
    --level_;
    Nodes decorators = items(node, kFunctionDecorators);
    if (level_ == 0) {
      // Conversion happens when the function is called, when its decorators have been applied.
      decorators.clear();
    } else if (!state_.lean()) {
      decorators.push_back(at(node).operator_of_autograph("autograph_artifact"));
    }
    set_items(node, kFunctionDecorators, decorators);
    if (state_.lean()) return;

    Nodes body = items(node, kFunctionBody);
    Nodes outer;
    if (!body.empty() && t_.kind(body[0]) == Kind::kExpr &&
        t_.kind(t_.get(body[0], kExprValue)) == Kind::kConstant) {
      outer.push_back(body[0]);
      body.erase(body.begin());
    }
    TreeMaker make = at(node);
    if (body.empty()) body.push_back(make.pass());
    NodeId item = t_.add(Kind::kWithItem, t_.position(node));
    t_.set(item, kItemExpr,
           make.call(make.operator_of_autograph("FunctionScope"),
                     {make.string(t_.string(t_.get(node, kFunctionName))),
                      make.string(t_.string(context)), options_expression(make)}));
    t_.set(item, kItemVars, make.name(context, Context::kStore));
    NodeId with = t_.add(Kind::kWith, t_.position(node));
    set_items(with, kWithItems, {item});
    set_items(with, kWithBody, body);
    outer.push_back(with);
    set_items(node, kFunctionBody, outer);
  }

 private:
  StringId context_name(std::string_view root, NodeId node) {
    const Activity* activity = state_.original_activity.get();
    ScopeId scope = activity == nullptr              ? 0
                    : t_.kind(node) == Kind::kLambda ? activity->of(node)
                                                     : activity->body(node);
    return state_.namer.new_name(root, activity, scope);
  }

  // The options with which a scope is made: those asked for outermost, those of a recursive
  // conversion inside.
  NodeId options_expression(const TreeMaker& make) {
    const LoweringOptions& options = state_.options;
    bool outermost = level_ == 0;
    bool user_requested = outermost && options.user_requested;
    bool convert_user_code = outermost ? options.internal_convert_user_code : options.recursive;
    if (options.recursive && !user_requested && convert_user_code &&
        options.optional_features.empty()) {
      return make.operator_of_autograph("STD");
    }
    Nodes features;
    for (const std::string& feature : options.optional_features) {
      features.push_back(make.attribute(make.operator_of_autograph("Feature"), feature));
    }
    NodeId feature_expression = features.size() == 1 ? features[0] : make.tuple(features);
    return make.call(make.operator_of_autograph("ConversionOptions"), {},
                     {make.keyword("recursive", make.boolean(options.recursive)),
                      make.keyword("user_requested", make.boolean(user_requested)),
                      make.keyword("optional_features", feature_expression),
                      make.keyword("internal_convert_user_code", make.boolean(convert_user_code))});
  }

  LoweringState& state_;
  int level_ = 0;
};

// --- loop options

class DirectiveTaker : public Rewriter {
 public:
  explicit DirectiveTaker(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  void visit_statement(NodeId node, Nodes* out) override {
    switch (t_.kind(node)) {
      case Kind::kWhile:
        loop(node, kWhileBody, kWhileOptions);
        break;
      case Kind::kFor:
        loop(node, kForBody, kForOptions);
        break;
      case Kind::kExpr:
        ++statements_seen_;
        if (directive(node)) return;
        visit_children(node);
        break;
      case Kind::kAssign:
      case Kind::kAugAssign:
        ++statements_seen_;
        visit_children(node);
        break;
      default:
        visit_children(node);
    }
    out->push_back(node);
  }

 private:
  void loop(NodeId node, int body, int options) {
    int seen = statements_seen_;
    NodeId outer = loop_;
    int outer_options = options_field_;
    statements_seen_ = 0;
    loop_ = node;
    options_field_ = options;
    visit_children(node);
    if (t_.get(node, body) == 0) set_items(node, body, {at(node).pass()});
    statements_seen_ = seen;
    loop_ = outer;
    options_field_ = outer_options;
  }

  bool directive(NodeId node) {
    NodeId call = t_.get(node, kExprValue);
    if (t_.kind(call) != Kind::kCall) return false;
    NodeId function = t_.get(call, kCallFunc);
    Kind kind = t_.kind(function);
    if (kind == Kind::kAttribute) {
      if (t_.string(t_.get(function, kAttributeName)) != "set_loop_options") return false;
    } else if (kind != Kind::kName) {
      return false;
    }
    if (!state_.options.is_loop_options(function)) return false;
    std::string line = " (line " + std::to_string(t_.position(node).line) + ")";
    if (loop_ == 0)
      throw_value_error("\"set_loop_options\" must be used inside a statement" + line);
    if (statements_seen_ > 1) {
      throw_value_error("\"set_loop_options\" must be the first statement in the loop block" +
                        line);
    }
    constexpr const char* kParameters[] = {"parallel_iterations", "swap_memory",
                                           "maximum_iterations", "shape_invariants"};
    NodeId values[4] = {};
    Nodes arguments = items(call, kCallArgs);
    if (arguments.size() > 4)
      throw_type_error("set_loop_options() takes at most 4 arguments" + line);
    std::copy(arguments.begin(), arguments.end(), values);
    for (NodeId keyword : items(call, kCallKeywords)) {
      StringId name = t_.get(keyword, kKeywordName);
      auto* found = std::find_if(
          std::begin(kParameters), std::end(kParameters),
          [&](const char* parameter) { return name != 0 && t_.string(name) == parameter; });
      if (found == std::end(kParameters)) {
        throw_type_error("set_loop_options() got an unexpected keyword argument" + line);
      }
      values[found - kParameters] = t_.get(keyword, kKeywordValue);
    }
    TreeMaker make = at(node);
    Nodes keys, given;
    for (int i = 0; i < 4; ++i) {
      if (values[i] == 0) continue;
      keys.push_back(make.string(kParameters[i]));
      given.push_back(values[i]);
    }
    t_.set(loop_, options_field_, make.dictionary(keys, given));
    return true;
  }

  LoweringState& state_;
  NodeId loop_ = 0;
  int options_field_ = 0;
  int statements_seen_ = 0;
};

}  // namespace

void mark_user_names(NodeTable* table, NodeId root) {
  if (table->kind(root) != Kind::kLambda) mark_names(table, root);
}

NodeId wrap_functions(LoweringState* state, NodeId root) {
  FunctionWrapper wrapper(state);
  if (state->table.kind(root) == Kind::kLambda) return wrapper.visit(root);
  wrapper.function(root);
  return root;
}

NodeId take_directives(LoweringState* state, NodeId root) {
  return DirectiveTaker(state).visit(root);
}

}  // namespace graphwright::autograph
