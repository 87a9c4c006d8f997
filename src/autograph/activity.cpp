#include "autograph/activity.h"

namespace graphwright::autograph {

using namespace field;

class Activity::Builder {
 public:
  Builder(Activity& activity, const NodeTable& table, Symbols* symbols)
      : a_(activity), t_(table), s_(*symbols) {
    a_.scopes_.emplace_back();                 // 0: none
    a_.scopes_.push_back({.isolated = true});  // the world around the root
    current_ = 1;
  }

  void visit(NodeId node) {
    if (node == 0) return;
    switch (t_.kind(node)) {
      case Kind::kFunctionDef:
      case Kind::kAsyncFunctionDef:
        function(node);
        return;
      case Kind::kLambda:
        lambda(node);
        return;
      case Kind::kClassDef:
        class_definition(node);
        return;
      case Kind::kGlobal:
      case Kind::kNonlocal:
        names(node);
        return;
      case Kind::kAnnAssign:
        enter(false);
        visit(t_.get(node, kAnnTarget));
        visit(t_.get(node, kAnnValue));
        visit(t_.get(node, kAnnAnnotation));
        a_.node_scope_[node] = exit();
        return;
      case Kind::kAugAssign:
        // The target is written as a store only, but is read as well.
        enter(false);
        in_augmented_assignment_ = true;
        visit(t_.get(node, kAugTarget));
        in_augmented_assignment_ = false;
        visit(t_.get(node, kAugValue));
        a_.node_scope_[node] = exit();
        return;
      case Kind::kImport:
      case Kind::kImportFrom:
      case Kind::kExpr:
      case Kind::kRaise:
      case Kind::kReturn:
      case Kind::kAssign:
      case Kind::kDelete:
      case Kind::kAssert:
      case Kind::kTypeAlias:
      case Kind::kWithItem:
        enter(false);
        children(node);
        a_.node_scope_[node] = exit();
        return;
      case Kind::kAlias:
        alias(node);
        return;
      case Kind::kName:
        track(node, t_.get(node, kNameContext));
        return;
      case Kind::kAttribute:
        children(node);
        track(node, t_.get(node, kAttributeContext));
        return;
      case Kind::kSubscript:
        children(node);
        track(node, t_.get(node, kSubscriptContext));
        return;
      case Kind::kListComp:
      case Kind::kSetComp:
      case Kind::kGeneratorExp:
        comprehension_of(node, kCompGenerators, {kCompElt});
        return;
      case Kind::kDictComp:
        comprehension_of(node, kDictCompGenerators, {kDictCompKey, kDictCompValue});
        return;
      case Kind::kComprehension:
        // The iterated expression is read before the targets exist.
        visit(t_.get(node, kGenIter));
        visit(t_.get(node, kGenTarget));
        for (NodeId condition : t_.list_field(node, kGenIfs)) visit(condition);
        return;
      case Kind::kWith:
      case Kind::kAsyncWith:
        enter(false);
        children(node);
        a_.body_scope_[node] = exit();
        return;
      case Kind::kIf:
        test(t_.get(node, kIfTest));
        block(node, kIfBody, &a_.body_scope_);
        block(node, kIfOrelse, &a_.orelse_scope_);
        return;
      case Kind::kWhile:
        test(t_.get(node, kWhileTest));
        block(node, kWhileBody, &a_.body_scope_);
        block(node, kWhileOrelse, &a_.orelse_scope_);
        return;
      case Kind::kFor:
      case Kind::kAsyncFor:
        for_statement(node);
        return;
      case Kind::kExceptHandler: {
        enter(false);
        visit(t_.get(node, kHandlerType));
        if (StringId name = t_.get(node, kHandlerName)) {
          SymbolId symbol = s_.name(name);
          scope().isolated_names.add(symbol);
          scope().modified.add(symbol);
          scope().bound.add(symbol);
        }
        for (NodeId statement : t_.list_field(node, kHandlerBody)) visit(statement);
        exit();
        return;
      }
      case Kind::kMatchStar:
      case Kind::kMatchAs:
      case Kind::kMatchMapping: {
        children(node);
        int name_field = t_.kind(node) == Kind::kMatchStar ? 0
                         : t_.kind(node) == Kind::kMatchAs ? 1
                                                           : 2;
        if (StringId name = t_.get(node, name_field)) bind(s_.name(name));
        return;
      }
      default:
        children(node);
    }
  }

 private:
  Scope& scope() { return a_.scopes_[current_]; }

  void enter(bool isolated) {
    a_.scopes_.push_back({.parent = current_, .isolated = isolated});
    current_ = static_cast<ScopeId>(a_.scopes_.size() - 1);
  }

  ScopeId exit() {
    ScopeId left = current_;
    const Scope& inner = a_.scopes_[left];
    Scope& outer = a_.scopes_[inner.parent];
    if (inner.isolated) {
      SymbolSet free = inner.read;
      free -= inner.bound;
      outer.read |= free;
    } else {
      auto report = [&](SymbolSet Scope::* set) {
        SymbolSet reported = inner.*set;
        reported -= inner.isolated_names;
        outer.*set |= reported;
      };
      report(&Scope::read);
      report(&Scope::modified);
      report(&Scope::bound);
      outer.globals |= inner.globals;
      outer.nonlocals |= inner.nonlocals;
    }
    current_ = inner.parent;
    return left;
  }

  void children(NodeId node) {
    std::span<const FieldSpec> specs = kind_spec(t_.kind(node)).fields;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].type == FieldType::kNode) {
        visit(t_.get(node, i));
      } else if (specs[i].type == FieldType::kNodeList || specs[i].type == FieldType::kBlock) {
        for (NodeId child : t_.list_field(node, i)) visit(child);
      }
    }
  }

  void bind(SymbolId symbol) {
    scope().modified.add(symbol);
    scope().bound.add(symbol);
  }

  void track(NodeId node, uint32_t context) {
    SymbolId symbol = s_.of_node(node);
    if (symbol == kNoSymbol) return;
    for (const SymbolSet& targets : comprehension_targets_) {
      if (targets.contains(symbol) || s_.owned_by(symbol, targets)) return;
    }
    switch (static_cast<Context>(context)) {
      case Context::kStore:
        if (!comprehension_targets_.empty()) {
          comprehension_targets_.back().add(symbol);
          return;
        }
        bind(symbol);
        // A constructor that sets an attribute of its object has modified the object.
        if (in_constructor() && s_.is_composite(symbol) && t_.kind(node) == Kind::kAttribute &&
            s_.text(s_.parent(symbol)) == "self") {
          scope().modified.add(s_.parent(symbol));
        }
        if (in_augmented_assignment_) scope().read.add(symbol);
        break;
      case Context::kLoad:
        scope().read.add(symbol);
        break;
      case Context::kDel:
        scope().read.add(symbol);
        scope().bound.add(symbol);
        scope().deleted.add(symbol);
        break;
    }
  }

  bool in_constructor() const {
    size_t depth = owners_.size();
    return depth >= 2 && t_.kind(owners_[depth - 2]) == Kind::kClassDef &&
           t_.kind(owners_[depth - 1]) == Kind::kFunctionDef &&
           t_.string(t_.get(owners_[depth - 1], kFunctionName)) == "__init__";
  }

  void names(NodeId node) {
    bool global = t_.kind(node) == Kind::kGlobal;
    enter(false);
    for (StringId name : t_.list_field(node, kNamesNames)) {
      SymbolId symbol = s_.name(name);
      scope().read.add(symbol);
      if (global) {
        scope().globals.add(symbol);
      } else {
        scope().bound.add(symbol);
        scope().nonlocals.add(symbol);
      }
    }
    a_.node_scope_[node] = exit();
  }

  void alias(NodeId node) {
    StringId bound = t_.get(node, kAliasAsname);
    if (bound == 0) {
      // `import a.b` binds a.
      bound = t_.get(node, kAliasName);
      const std::string& text = t_.string(bound);
      size_t dot = text.find('.');
      if (dot != std::string::npos) bound = const_cast<NodeTable&>(t_).intern(text.substr(0, dot));
    }
    bind(s_.name(bound));
  }

  void test(NodeId node) {
    enter(false);
    visit(node);
    a_.node_scope_[node] = exit();
  }

  void block(NodeId node, int block_field, std::vector<ScopeId>* scopes) {
    enter(false);
    for (NodeId statement : t_.list_field(node, block_field)) visit(statement);
    (*scopes)[node] = exit();
  }

  void for_statement(NodeId node) {
    // Control flow sees the iterated expression as the loop's entry, so the binding of the target
    // counts as its activity too.
    NodeId iterated = t_.get(node, kForIter);
    enter(false);
    visit(t_.get(node, kForTarget));
    visit(iterated);
    a_.node_scope_[iterated] = exit();

    enter(false);
    visit(t_.get(node, kForTarget));
    if (NodeId extra_test = t_.get(node, kForExtraTest)) test(extra_test);
    a_.iterate_scope_[node] = exit();

    block(node, kForBody, &a_.body_scope_);
    block(node, kForOrelse, &a_.orelse_scope_);
  }

  void comprehension_of(NodeId node, int generators, std::initializer_list<int> elements) {
    comprehension_targets_.emplace_back();
    for (NodeId generator : t_.list_field(node, generators)) visit(generator);
    for (int element : elements) visit(t_.get(node, element));
    comprehension_targets_.pop_back();
  }

  void class_definition(NodeId node) {
    owners_.push_back(node);
    auto heading = [&] {
      for (NodeId decorator : t_.list_field(node, kClassDecorators)) visit(decorator);
      for (NodeId base : t_.list_field(node, kClassBases)) visit(base);
      for (NodeId keyword : t_.list_field(node, kClassKeywords)) visit(keyword);
    };
    enter(false);
    heading();
    bind(s_.name(t_.get(node, kClassName)));
    a_.node_scope_[node] = exit();

    enter(true);
    heading();
    for (NodeId statement : t_.list_field(node, kClassBody)) visit(statement);
    exit();
    owners_.pop_back();
  }

  template <typename F>
  void each_argument(NodeId arguments, F each) {
    for (int f : {kPosonlyargs, kArgs}) {
      for (NodeId arg : t_.list_field(arguments, f)) each(arg);
    }
    if (NodeId arg = t_.get(arguments, kVararg)) each(arg);
    for (NodeId arg : t_.list_field(arguments, kKwonlyargs)) each(arg);
    if (NodeId arg = t_.get(arguments, kKwarg)) each(arg);
  }

  // Defaults and annotations are evaluated where the function is defined.
  void argument_values(NodeId arguments) {
    for (NodeId value : t_.list_field(arguments, kKwDefaults)) visit(value);
    for (NodeId value : t_.list_field(arguments, kDefaults)) visit(value);
    each_argument(arguments, [&](NodeId arg) { visit(t_.get(arg, kArgAnnotation)); });
  }

  void argument_names(NodeId arguments) {
    enter(false);
    each_argument(arguments, [&](NodeId arg) {
      visit(t_.get(arg, kArgAnnotation));
      SymbolId symbol = s_.name(t_.get(arg, kArgName));
      scope().bound.add(symbol);
      scope().params.add(symbol);
    });
    a_.node_scope_[arguments] = exit();
  }

  void function(NodeId node) {
    owners_.push_back(node);
    NodeId arguments = t_.get(node, kFunctionArgs);
    enter(false);
    for (NodeId decorator : t_.list_field(node, kFunctionDecorators)) visit(decorator);
    visit(t_.get(node, kFunctionReturns));
    argument_values(arguments);
    bind(s_.name(t_.get(node, kFunctionName)));
    a_.node_scope_[node] = exit();

    enter(true);
    argument_names(arguments);
    enter(false);
    for (NodeId statement : t_.list_field(node, kFunctionBody)) visit(statement);
    a_.body_scope_[node] = exit();
    a_.whole_scope_[node] = exit();
    owners_.pop_back();
  }

  void lambda(NodeId node) {
    owners_.push_back(node);
    NodeId arguments = t_.get(node, kLambdaArgs);
    NodeId body = t_.get(node, kLambdaBody);
    enter(false);
    argument_values(arguments);
    a_.node_scope_[node] = exit();

    enter(true);
    argument_names(arguments);
    enter(false);
    visit(body);
    ScopeId body_scope = exit();
    if (a_.node_scope_[body] == 0) a_.node_scope_[body] = body_scope;
    a_.body_scope_[node] = body_scope;
    a_.whole_scope_[node] = exit();
    owners_.pop_back();
    // A lambda is taken to be used where it stands, so the statement around it reads what the
    // lambda reads; `exit` has reported exactly that.
  }

  Activity& a_;
  const NodeTable& t_;
  Symbols& s_;
  ScopeId current_ = 0;
  bool in_augmented_assignment_ = false;
  std::vector<SymbolSet> comprehension_targets_;
  std::vector<NodeId> owners_;  // functions, lambdas and classes around
};

Activity::Activity(const NodeTable& table, Symbols* symbols, NodeId root) {
  for (auto* scopes :
       {&node_scope_, &body_scope_, &orelse_scope_, &iterate_scope_, &whole_scope_}) {
    scopes->assign(table.size(), 0);
  }
  scopes_.reserve(128);
  Builder(*this, table, symbols).visit(root);
}

SymbolSet Activity::referenced(ScopeId id) const {
  SymbolSet result;
  for (; id != 0; id = scopes_[id].parent) result |= scopes_[id].read;
  return result;
}

}  // namespace graphwright::autograph
