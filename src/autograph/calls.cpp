// Calls go through the call operator, which converts what it calls.
#include "autograph/passes.h"

namespace graphwright::autograph {
namespace {

using namespace field;

class CallLowering : public Rewriter {
 public:
  explicit CallLowering(LoweringState* state) : Rewriter(state->table), state_(*state) {}

  NodeId visit(NodeId node) override {
    switch (t_.kind(node)) {
      case Kind::kCall:
        return call(node);
      case Kind::kLambda: {
        StringId outer = context_;
        if (StringId own = t_.get(node, kLambdaContextName)) context_ = own;
        visit_children(node);
        context_ = outer;
        return node;
      }
      default:
        return Rewriter::visit(node);
    }
  }

  void visit_statement(NodeId node, Nodes* out) override {
    switch (t_.kind(node)) {
      case Kind::kFunctionDef:
        function(node);
        break;
      case Kind::kWith:
        // The calls that make context managers are left alone.
        visit_field(node, kWithBody);
        break;
      default:
        visit_children(node);
    }
    out->push_back(node);
  }

  void function(NodeId node) {
    // Decorators and defaults are evaluated outside.
    visit_field(node, kFunctionDecorators);
    NodeId arguments = t_.get(node, kFunctionArgs);
    visit_field(arguments, kDefaults);
    visit_field(arguments, kKwDefaults);
    StringId outer_context = context_;
    StringId outer_first = first_parameter_;
    context_ = t_.get(node, kFunctionContextName);
    first_parameter_ = 0;
    for (int f : {kArgs, kPosonlyargs}) {
      auto list = t_.list_field(arguments, f);
      if (!list.empty()) first_parameter_ = t_.get(list[0], kArgName);
    }
    visit_field(node, kFunctionBody);
    if (t_.get(node, kFunctionReturns) != 0) visit_field(node, kFunctionReturns);
    context_ = outer_context;
    first_parameter_ = outer_first;
  }

 private:
  NodeId call(NodeId node) {
    SymbolId symbol = state_.symbols.of_node(t_.get(node, kCallFunc));
    std::string name = symbol == kNoSymbol ? std::string() : state_.symbols.text(symbol);
    visit_children(node);
    if (name.starts_with("ag__.")) return node;
    if (context_ != 0 && name.starts_with(t_.string(context_) + ".")) return node;
    // These look at the frame that calls them.
    if (name == "pdb.set_trace" || name == "ipdb.set_trace" || name == "breakpoint") return node;
    if (name == "print" && !state_.options.uses_feature("BUILTIN_FUNCTIONS")) return node;
    TreeMaker make = at(node);
    if (state_.lean()) return lean_call(node, name, make);

    NodeId arguments = arguments_tuple(node, make);
    Nodes keywords = items(node, kCallKeywords);
    NodeId keyword_arguments =
        keywords.empty() ? make.none() : make.call(make.name("dict"), {}, keywords);
    return make.call(make.operator_of_autograph("converted_call"),
                     {t_.get(node, kCallFunc), arguments, keyword_arguments, make.name(context_)});
  }

  NodeId lean_call(NodeId node, const std::string& name, const TreeMaker& make) {
    if (name == "globals" || name == "locals" || name == "eval") return node;
    Nodes arguments = items(node, kCallArgs);
    if (name == "super" && arguments.empty() && first_parameter_ != 0) {
      // The body of a loop or conditional has no first argument of its own to find the object by.
      set_items(node, kCallArgs, {make.name("__class__"), make.name(first_parameter_)});
      return node;
    }
    arguments.insert(arguments.begin(), t_.get(node, kCallFunc));
    t_.set(node, kCallFunc, make.name("ag_call__"));
    set_items(node, kCallArgs, arguments);
    return node;
  }

  // f(a, *b, c) -> (a,) + tuple(b) + (c,)
  NodeId arguments_tuple(NodeId node, const TreeMaker& make) {
    Nodes parts, plain;
    auto flush = [&] {
      if (!plain.empty()) parts.push_back(make.tuple(plain));
      plain.clear();
    };
    for (NodeId argument : items(node, kCallArgs)) {
      if (t_.kind(argument) == Kind::kStarred) {
        flush();
        parts.push_back(make.call(make.name("tuple"), {t_.get(argument, kStarredValue)}));
      } else {
        plain.push_back(argument);
      }
    }
    flush();
    if (parts.empty()) return make.tuple({});
    NodeId result = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) {
      NodeId sum = t_.add(Kind::kBinOp, t_.position(node));
      t_.set(sum, kBinLeft, result);
      t_.set(sum, field::kBinOp, static_cast<uint32_t>(Operator::kAdd));
      t_.set(sum, kBinRight, parts[i]);
      result = sum;
    }
    return result;
  }

  LoweringState& state_;
  StringId context_ = 0;
  StringId first_parameter_ = 0;
};

}  // namespace

NodeId lower_calls(LoweringState* state, NodeId root) {
  CallLowering lowering(state);
  if (state->table.kind(root) == Kind::kLambda) return lowering.visit(root);
  lowering.function(root);
  return root;
}

}  // namespace graphwright::autograph
