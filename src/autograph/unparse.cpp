#include "autograph/unparse.h"

#include <algorithm>

#include "autograph/string_literals.h"
#include "base/status.h"

namespace graphwright::autograph {
namespace {

using namespace field;

// How tightly a construct binds, loosest first (Python's grammar).
enum Precedence : uint8_t {
  kNamedExpr,
  kTuple,
  kYield,
  kTest,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kArithmetic,
  kTerm,
  kFactor,
  kPower,
  kAwait,
  kAtom
};

Precedence next(Precedence p) { return p == kAtom ? p : static_cast<Precedence>(p + 1); }

constexpr const char* kOperatorText[] = {
    "and", "or",  "+", "-", "*",  "@",  "/", "%",  "**", "<<", ">>", "|",      "^",  "&",     "//",
    "~",   "not", "+", "-", "==", "!=", "<", "<=", ">",  ">=", "is", "is not", "in", "not in"};
static_assert(std::size(kOperatorText) == static_cast<size_t>(Operator::kCount));

Precedence binary_precedence(Operator op) {
  switch (op) {
    case Operator::kAdd:
    case Operator::kSub:
      return kArithmetic;
    case Operator::kLShift:
    case Operator::kRShift:
      return kShift;
    case Operator::kBitOr:
      return kBitOr;
    case Operator::kBitXor:
      return kBitXor;
    case Operator::kBitAnd:
      return kBitAnd;
    case Operator::kPow:
      return kPower;
    default:
      return kTerm;
  }
}

class Unparser {
 public:
  Unparser(const NodeTable& table, int indent, bool avoid_backslashes)
      : t_(table), indent_(indent), avoid_backslashes_(avoid_backslashes) {}

  std::string run(NodeId node, Precedence precedence) {
    expression(node, precedence);
    return std::move(out_);
  }
  std::string run_statement(NodeId node) {
    visit(node, kTest);
    return std::move(out_);
  }

 private:
  std::span<const uint32_t> items(NodeId node, int f) const { return t_.list_field(node, f); }
  const std::string& str(NodeId node, int f) const { return t_.string(t_.get(node, f)); }

  void fill(std::string_view text) {
    if (!out_.empty()) out_ += '\n';
    out_.append(4 * indent_, ' ');
    out_ += text;
  }

  void block(std::span<const uint32_t> body) {
    out_ += ':';
    ++indent_;
    for (NodeId statement : body) visit(statement, kTest);
    --indent_;
  }

  void body_with_docstring(std::span<const uint32_t> body) {
    out_ += ':';
    ++indent_;
    size_t first = 0;
    if (!body.empty() && t_.kind(body[0]) == Kind::kExpr) {
      NodeId value = t_.get(body[0], kExprValue);
      if (t_.kind(value) == Kind::kConstant &&
          t_.constant(t_.get(value, 0)).type == ConstantType::kString) {
        const Constant& constant = t_.constant(t_.get(value, 0));
        fill(constant.u_prefix ? "u" : "");
        out_ += avoid_backslash_literal(t_, constant.text, multi_quotes());
        first = 1;
      }
    }
    for (; first < body.size(); ++first) visit(body[first], kTest);
    --indent_;
  }

  template <typename F>
  void interleave(std::span<const uint32_t> nodes, F each) {
    bool comma = false;
    for (NodeId node : nodes) {
      if (comma) out_ += ", ";
      comma = true;
      each(node);
    }
  }
  void comma_list(std::span<const uint32_t> nodes) {
    interleave(nodes, [&](NodeId node) { expression(node, kTest); });
  }
  void tuple_items(std::span<const uint32_t> nodes) {
    comma_list(nodes);
    if (nodes.size() == 1) out_ += ',';
  }
  void names(NodeId node, const char* keyword) {
    fill(keyword);
    interleave(items(node, kNamesNames), [&](StringId id) { out_ += t_.string(id); });
  }

  void expression(NodeId node, Precedence precedence) { visit(node, precedence); }

  // Parentheses around what binds looser than its place asks for.
  struct Parens {
    Parens(std::string& out, bool needed) : out_(out), needed_(needed) {
      if (needed_) out_ += '(';
    }
    ~Parens() {
      if (needed_) out_ += ')';
    }
    std::string& out_;
    bool needed_;
  };

  // --- string literals

  void constant(const Constant& constant) {
    switch (constant.type) {
      case ConstantType::kNone:
        out_ += "None";
        break;
      case ConstantType::kTrue:
        out_ += "True";
        break;
      case ConstantType::kFalse:
        out_ += "False";
        break;
      case ConstantType::kEllipsis:
        out_ += "...";
        break;
      case ConstantType::kInt:
        out_ += constant.text;
        break;
      case ConstantType::kFloat:
      case ConstantType::kComplex:
        out_ += number(constant.text);
        break;
      case ConstantType::kBytes:
        out_ += bytes_repr(constant.text);
        break;
      case ConstantType::kString:
        if (constant.u_prefix) out_ += 'u';
        out_ += avoid_backslashes_ ? avoid_backslash_literal(t_, constant.text, all_quotes())
                                   : string_repr(t_, constant.text);
        break;
      case ConstantType::kTuple: {
        out_ += '(';
        bool comma = false;
        for (ConstantId part : constant.parts) {
          if (comma) out_ += ", ";
          comma = true;
          this->constant(t_.constant(part));
        }
        out_ += constant.parts.size() == 1 ? ",)" : ")";
        break;
      }
    }
  }

  // An overflowing decimal literal stands for an infinity, and inf - inf for NaN.
  static std::string number(std::string text) {
    for (size_t at = 0; (at = text.find("inf", at)) != std::string::npos; at += 5)
      text.replace(at, 3, "1e309");
    for (size_t at = 0; (at = text.find("nan", at)) != std::string::npos; at += 13) {
      text.replace(at, 3, "(1e309-1e309)");
    }
    return text;
  }

  void fstring_inner(NodeId node) {
    switch (t_.kind(node)) {
      case Kind::kJoinedStr:
        for (NodeId value : items(node, 0)) fstring_inner(value);
        break;
      case Kind::kConstant:
        for (char c : t_.constant(t_.get(node, 0)).text) {
          out_ += c;
          if (c == '{' || c == '}') out_ += c;
        }
        break;
      default:
        formatted_value(node);
    }
  }

  void formatted_value(NodeId node) {
    std::string inner = Unparser(t_, 0, true).run(t_.get(node, kFormattedValue), next(kTest));
    if (inner.find('\\') != std::string::npos) {
      throw_value_error("Unable to avoid backslash in f-string expression part");
    }
    out_ += '{';
    if (inner.starts_with('{')) out_ += ' ';
    out_ += inner;
    int32_t conversion = static_cast<int32_t>(t_.get(node, kFormattedConversion));
    if (conversion != -1) {
      out_ += '!';
      out_ += static_cast<char>(conversion);
    }
    if (NodeId format = t_.get(node, kFormattedSpec)) {
      out_ += ':';
      fstring_inner(format);
    }
    out_ += '}';
  }

  std::string fstring_text(NodeId node) {
    std::string saved = std::move(out_);
    out_.clear();
    fstring_inner(node);
    std::swap(saved, out_);
    return saved;
  }

  void joined_string(NodeId node) {
    out_ += 'f';
    if (avoid_backslashes_) {
      out_ += avoid_backslash_literal(t_, fstring_text(node), all_quotes());
      return;
    }
    std::vector<std::pair<std::string, bool>> parts;
    for (NodeId value : items(node, 0)) {
      parts.emplace_back(fstring_text(value), t_.kind(value) == Kind::kConstant);
    }
    std::vector<std::string> quote_types = all_quotes();
    std::string inside;
    bool fall_back = false;
    for (auto& [text, is_constant] : parts) {
      auto [escaped, new_types] = string_literal(t_, text, quote_types, is_constant);
      inside += escaped;
      bool disjoint =
          std::none_of(new_types.begin(), new_types.end(), [&](const std::string& quote) {
            return std::find(quote_types.begin(), quote_types.end(), quote) != quote_types.end();
          });
      if (disjoint) {
        fall_back = true;
        break;
      }
      quote_types = new_types;
    }
    if (fall_back) {
      quote_types = {"'''"};
      inside.clear();
      for (auto& [text, is_constant] : parts) {
        std::string repr = string_repr(t_, "\"" + text);  // the leading quote forces single quotes
        inside += repr.substr(2, repr.size() - 3);
      }
    }
    out_ += quote_types[0] + inside + quote_types[0];
  }

  // --- everything else

  void function(NodeId node, const char* keyword) {
    if (!out_.empty()) out_ += '\n';
    for (NodeId decorator : items(node, kFunctionDecorators)) {
      fill("@");
      expression(decorator, kTest);
    }
    fill(keyword);
    out_ += str(node, kFunctionName);
    out_ += '(';
    arguments(t_.get(node, kFunctionArgs));
    out_ += ')';
    if (NodeId returns = t_.get(node, kFunctionReturns)) {
      out_ += " -> ";
      expression(returns, kTest);
    }
    body_with_docstring(items(node, kFunctionBody));
  }

  void class_definition(NodeId node) {
    if (!out_.empty()) out_ += '\n';
    for (NodeId decorator : items(node, kClassDecorators)) {
      fill("@");
      expression(decorator, kTest);
    }
    fill("class ");
    out_ += str(node, kClassName);
    auto bases = items(node, kClassBases);
    auto keywords = items(node, kClassKeywords);
    if (!bases.empty() || !keywords.empty()) {
      out_ += '(';
      comma_list(bases);
      if (!bases.empty() && !keywords.empty()) out_ += ", ";
      comma_list(keywords);
      out_ += ')';
    }
    body_with_docstring(items(node, kClassBody));
  }

  void argument(NodeId node) {
    out_ += str(node, kArgName);
    if (NodeId annotation = t_.get(node, kArgAnnotation)) {
      out_ += ": ";
      expression(annotation, kTest);
    }
  }

  void arguments(NodeId node) {
    bool first = true;
    auto comma = [&] {
      if (!first) out_ += ", ";
      first = false;
    };
    auto with_default = [&](NodeId arg, NodeId value) {
      argument(arg);
      if (value != 0) {
        out_ += '=';
        expression(value, kTest);
      }
    };
    auto positional = items(node, kPosonlyargs);
    auto ordinary = items(node, kArgs);
    auto defaults = items(node, kDefaults);
    size_t total = positional.size() + ordinary.size();
    for (size_t i = 0; i < total; ++i) {
      comma();
      NodeId arg = i < positional.size() ? positional[i] : ordinary[i - positional.size()];
      size_t from = total - defaults.size();
      with_default(arg, i >= from ? defaults[i - from] : 0);
      if (i + 1 == positional.size()) out_ += ", /";
    }
    NodeId vararg = t_.get(node, kVararg);
    auto keyword_only = items(node, kKwonlyargs);
    if (vararg != 0 || !keyword_only.empty()) {
      comma();
      out_ += '*';
      if (vararg != 0) argument(vararg);
    }
    auto keyword_defaults = items(node, kKwDefaults);
    for (size_t i = 0; i < keyword_only.size(); ++i) {
      out_ += ", ";
      with_default(keyword_only[i], keyword_defaults[i]);
    }
    if (NodeId kwarg = t_.get(node, kKwarg)) {
      comma();
      out_ += "**";
      argument(kwarg);
    }
  }

  void else_block(NodeId node, int f, const char* keyword) {
    if (items(node, f).empty()) return;
    fill(keyword);
    block(items(node, f));
  }

  void if_statement(NodeId node) {
    fill("if ");
    for (;;) {
      expression(t_.get(node, kIfTest), kTest);
      block(items(node, kIfBody));
      auto orelse = items(node, kIfOrelse);
      if (orelse.size() != 1 || t_.kind(orelse[0]) != Kind::kIf) break;
      node = orelse[0];
      fill("elif ");
    }
    else_block(node, kIfOrelse, "else");
  }

  void for_statement(NodeId node, const char* keyword) {
    fill(keyword);
    expression(t_.get(node, kForTarget), kTuple);
    out_ += " in ";
    expression(t_.get(node, kForIter), kTest);
    block(items(node, kForBody));
    else_block(node, kForOrelse, "else");
  }

  void try_statement(NodeId node, bool star) {
    bool saved = in_try_star_;
    in_try_star_ = star;
    fill("try");
    block(items(node, kTryBody));
    for (NodeId handler : items(node, kTryHandlers)) visit(handler, kTest);
    else_block(node, kTryOrelse, "else");
    else_block(node, kTryFinalbody, "finally");
    in_try_star_ = saved;
  }

  void with_statement(NodeId node, const char* keyword) {
    fill(keyword);
    interleave(items(node, kWithItems), [&](NodeId item) {
      expression(t_.get(item, kItemExpr), kTest);
      if (NodeId variables = t_.get(item, kItemVars)) {
        out_ += " as ";
        expression(variables, kTest);
      }
    });
    block(items(node, kWithBody));
  }

  void comprehension(NodeId node) {
    out_ += t_.get(node, kGenIsAsync) ? " async for " : " for ";
    expression(t_.get(node, kGenTarget), kTuple);
    out_ += " in ";
    expression(t_.get(node, kGenIter), next(kTest));
    for (NodeId condition : items(node, kGenIfs)) {
      out_ += " if ";
      expression(condition, next(kTest));
    }
  }

  void comprehension_of(NodeId node, char open, char close) {
    out_ += open;
    expression(t_.get(node, kCompElt), kTest);
    for (NodeId generator : items(node, kCompGenerators)) comprehension(generator);
    out_ += close;
  }

  void optional(const char* before, NodeId node) {
    if (node == 0) return;
    out_ += before;
    expression(node, kTest);
  }

  void subscript(NodeId node) {
    expression(t_.get(node, kSubscriptValue), kAtom);
    out_ += '[';
    NodeId slice = t_.get(node, kSubscriptSlice);
    if (t_.kind(slice) == Kind::kTuple && !items(slice, kElts).empty()) {
      tuple_items(items(slice, kElts));
    } else {
      expression(slice, kTest);
    }
    out_ += ']';
  }

  void dictionary(NodeId node) {
    out_ += '{';
    auto keys = items(node, kDictKeys);
    auto values = items(node, kDictValues);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i != 0) out_ += ", ";
      if (keys[i] == 0) {
        out_ += "**";
        expression(values[i], kBitOr);
      } else {
        expression(keys[i], kTest);
        out_ += ": ";
        expression(values[i], kTest);
      }
    }
    out_ += '}';
  }

  void pattern(NodeId node, Precedence precedence) {
    switch (t_.kind(node)) {
      case Kind::kMatchValue:
        expression(t_.get(node, 0), kTest);
        break;
      case Kind::kMatchSingleton:
        constant(t_.constant(t_.get(node, 0)));
        break;
      case Kind::kMatchSequence:
        out_ += '[';
        interleave(items(node, 0), [&](NodeId p) { pattern(p, kTest); });
        out_ += ']';
        break;
      case Kind::kMatchMapping: {
        out_ += '{';
        auto keys = items(node, 0);
        auto patterns = items(node, 1);
        for (size_t i = 0; i < keys.size(); ++i) {
          if (i != 0) out_ += ", ";
          expression(keys[i], kTest);
          out_ += ": ";
          pattern(patterns[i], kTest);
        }
        if (t_.get(node, 2) != 0) {
          if (!keys.empty()) out_ += ", ";
          out_ += "**" + str(node, 2);
        }
        out_ += '}';
        break;
      }
      case Kind::kMatchClass: {
        expression(t_.get(node, 0), kAtom);
        out_ += '(';
        interleave(items(node, 1), [&](NodeId p) { pattern(p, kTest); });
        auto attributes = items(node, 2);
        auto patterns = items(node, 3);
        for (size_t i = 0; i < attributes.size(); ++i) {
          if (i != 0 || !items(node, 1).empty()) out_ += ", ";
          out_ += t_.string(attributes[i]) + "=";
          pattern(patterns[i], kTest);
        }
        out_ += ')';
        break;
      }
      case Kind::kMatchStar:
        out_ += "*" + (t_.get(node, 0) ? str(node, 0) : std::string("_"));
        break;
      case Kind::kMatchAs:
        if (t_.get(node, 1) == 0) {
          out_ += '_';
        } else if (t_.get(node, 0) == 0) {
          out_ += str(node, 1);
        } else {
          Parens parens(out_, precedence > kTest);
          pattern(t_.get(node, 0), kBitOr);
          out_ += " as " + str(node, 1);
        }
        break;
      default: {  // kMatchOr
        Parens parens(out_, precedence > kBitOr);
        bool bar = false;
        for (NodeId alternative : items(node, 0)) {
          if (bar) out_ += " | ";
          bar = true;
          pattern(alternative, next(kBitOr));
        }
      }
    }
  }

  void visit(NodeId node, Precedence precedence) {
    switch (t_.kind(node)) {
      case Kind::kFunctionDef:
        function(node, "def ");
        break;
      case Kind::kAsyncFunctionDef:
        function(node, "async def ");
        break;
      case Kind::kClassDef:
        class_definition(node);
        break;
      case Kind::kReturn:
        fill("return");
        optional(" ", t_.get(node, kReturnValue));
        break;
      case Kind::kDelete:
        fill("del ");
        comma_list(items(node, kDeleteTargets));
        break;
      case Kind::kAssign:
        fill("");
        for (NodeId target : items(node, kAssignTargets)) {
          expression(target, kTuple);
          out_ += " = ";
        }
        expression(t_.get(node, kAssignValue), kTest);
        break;
      case Kind::kAugAssign:
        fill("");
        expression(t_.get(node, kAugTarget), kTest);
        out_ += std::string(" ") + kOperatorText[t_.get(node, kAugOp)] + "= ";
        expression(t_.get(node, kAugValue), kTest);
        break;
      case Kind::kAnnAssign: {
        fill("");
        NodeId target = t_.get(node, kAnnTarget);
        {
          Parens parens(out_, !t_.get(node, kAnnSimple) && t_.kind(target) == Kind::kName);
          expression(target, kTest);
        }
        out_ += ": ";
        expression(t_.get(node, kAnnAnnotation), kTest);
        optional(" = ", t_.get(node, kAnnValue));
        break;
      }
      case Kind::kFor:
        for_statement(node, "for ");
        break;
      case Kind::kAsyncFor:
        for_statement(node, "async for ");
        break;
      case Kind::kWhile:
        fill("while ");
        expression(t_.get(node, kWhileTest), kTest);
        block(items(node, kWhileBody));
        else_block(node, kWhileOrelse, "else");
        break;
      case Kind::kIf:
        if_statement(node);
        break;
      case Kind::kWith:
        with_statement(node, "with ");
        break;
      case Kind::kAsyncWith:
        with_statement(node, "async with ");
        break;
      case Kind::kMatch:
        fill("match ");
        expression(t_.get(node, 0), kTest);
        out_ += ':';
        ++indent_;
        for (NodeId match_case : items(node, 1)) {
          fill("case ");
          pattern(t_.get(match_case, 0), kTest);
          optional(" if ", t_.get(match_case, 1));
          block(items(match_case, 2));
        }
        --indent_;
        break;
      case Kind::kRaise:
        fill("raise");
        optional(" ", t_.get(node, 0));
        optional(" from ", t_.get(node, 1));
        break;
      case Kind::kTry:
        try_statement(node, false);
        break;
      case Kind::kTryStar:
        try_statement(node, true);
        break;
      case Kind::kExceptHandler:
        fill(in_try_star_ ? "except*" : "except");
        optional(" ", t_.get(node, kHandlerType));
        if (t_.get(node, kHandlerName) != 0) out_ += " as " + str(node, kHandlerName);
        block(items(node, kHandlerBody));
        break;
      case Kind::kAssert:
        fill("assert ");
        expression(t_.get(node, 0), kTest);
        optional(", ", t_.get(node, 1));
        break;
      case Kind::kImport:
        fill("import ");
        comma_list(items(node, kImportNames));
        break;
      case Kind::kImportFrom:
        fill("from ");
        out_.append(t_.get(node, kFromLevel), '.');
        if (t_.get(node, kFromModule) != 0) out_ += str(node, kFromModule);
        out_ += " import ";
        comma_list(items(node, kFromNames));
        break;
      case Kind::kGlobal:
        names(node, "global ");
        break;
      case Kind::kNonlocal:
        names(node, "nonlocal ");
        break;
      case Kind::kExpr:
        fill("");
        expression(t_.get(node, kExprValue), kYield);
        break;
      case Kind::kPass:
        fill("pass");
        break;
      case Kind::kBreak:
        fill("break");
        break;
      case Kind::kContinue:
        fill("continue");
        break;

      case Kind::kBoolOp: {
        Operator op = static_cast<Operator>(t_.get(node, field::kBoolOp));
        Precedence level = op == Operator::kAnd ? kAnd : kOr;
        Parens parens(out_, precedence > level);
        bool first = true;
        for (NodeId value : items(node, kBoolValues)) {
          if (!first) out_ += op == Operator::kAnd ? " and " : " or ";
          first = false;
          level = next(level);  // rises from operand to operand, as in Python's own printer
          expression(value, level);
        }
        break;
      }
      case Kind::kNamedExpr: {
        Parens parens(out_, precedence > kNamedExpr);
        expression(t_.get(node, 0), kAtom);
        out_ += " := ";
        expression(t_.get(node, 1), kAtom);
        break;
      }
      case Kind::kBinOp: {
        Operator op = static_cast<Operator>(t_.get(node, field::kBinOp));
        Precedence level = binary_precedence(op);
        bool right_first = op == Operator::kPow;
        Parens parens(out_, precedence > level);
        expression(t_.get(node, kBinLeft), right_first ? next(level) : level);
        out_ += std::string(" ") + kOperatorText[static_cast<size_t>(op)] + " ";
        expression(t_.get(node, kBinRight), right_first ? level : next(level));
        break;
      }
      case Kind::kUnaryOp: {
        Operator op = static_cast<Operator>(t_.get(node, field::kUnaryOp));
        Precedence level = op == Operator::kNot ? kNot : kFactor;
        Parens parens(out_, precedence > level);
        out_ += kOperatorText[static_cast<size_t>(op)];
        if (level != kFactor) out_ += ' ';
        expression(t_.get(node, kUnaryOperand), level);
        break;
      }
      case Kind::kLambda: {
        Parens parens(out_, precedence > kTest);
        out_ += "lambda";
        size_t before = out_.size();
        arguments(t_.get(node, kLambdaArgs));
        if (out_.size() != before) out_.insert(before, " ");
        out_ += ": ";
        expression(t_.get(node, kLambdaBody), kTest);
        break;
      }
      case Kind::kIfExp: {
        Parens parens(out_, precedence > kTest);
        expression(t_.get(node, kIfExpBody), next(kTest));
        out_ += " if ";
        expression(t_.get(node, kIfExpTest), next(kTest));
        out_ += " else ";
        expression(t_.get(node, kIfExpOrelse), kTest);
        break;
      }
      case Kind::kDict:
        dictionary(node);
        break;
      case Kind::kSet:
        if (items(node, kElts).empty()) {
          out_ += "{*()}";
        } else {
          out_ += '{';
          comma_list(items(node, kElts));
          out_ += '}';
        }
        break;
      case Kind::kListComp:
        comprehension_of(node, '[', ']');
        break;
      case Kind::kSetComp:
        comprehension_of(node, '{', '}');
        break;
      case Kind::kGeneratorExp:
        comprehension_of(node, '(', ')');
        break;
      case Kind::kDictComp:
        out_ += '{';
        expression(t_.get(node, kDictCompKey), kTest);
        out_ += ": ";
        expression(t_.get(node, kDictCompValue), kTest);
        for (NodeId generator : items(node, kDictCompGenerators)) comprehension(generator);
        out_ += '}';
        break;
      case Kind::kAwait: {
        Parens parens(out_, precedence > kAwait);
        out_ += "await ";
        expression(t_.get(node, 0), kAtom);
        break;
      }
      case Kind::kYield: {
        Parens parens(out_, precedence > kYield);
        out_ += "yield";
        if (NodeId value = t_.get(node, 0)) {
          out_ += ' ';
          expression(value, kAtom);
        }
        break;
      }
      case Kind::kYieldFrom: {
        Parens parens(out_, precedence > kYield);
        out_ += "yield from ";
        expression(t_.get(node, 0), kAtom);
        break;
      }
      case Kind::kCompare: {
        Parens parens(out_, precedence > kCompare);
        expression(t_.get(node, kCompareLeft), next(kCompare));
        auto ops = items(node, kCompareOps);
        auto comparators = items(node, kCompareComparators);
        for (size_t i = 0; i < ops.size(); ++i) {
          out_ += std::string(" ") + kOperatorText[ops[i]] + " ";
          expression(comparators[i], next(kCompare));
        }
        break;
      }
      case Kind::kCall: {
        expression(t_.get(node, kCallFunc), kAtom);
        out_ += '(';
        comma_list(items(node, kCallArgs));
        if (!items(node, kCallArgs).empty() && !items(node, kCallKeywords).empty()) out_ += ", ";
        comma_list(items(node, kCallKeywords));
        out_ += ')';
        break;
      }
      case Kind::kFormattedValue:
        formatted_value(node);
        break;
      case Kind::kJoinedStr:
        joined_string(node);
        break;
      case Kind::kConstant:
        constant(t_.constant(t_.get(node, 0)));
        break;
      case Kind::kAttribute: {
        NodeId value = t_.get(node, kAttributeValue);
        expression(value, kAtom);
        if (t_.kind(value) == Kind::kConstant) {
          ConstantType type = t_.constant(t_.get(value, 0)).type;
          if (type == ConstantType::kInt || type == ConstantType::kTrue ||
              type == ConstantType::kFalse) {
            out_ += ' ';
          }
        }
        out_ += "." + str(node, kAttributeName);
        break;
      }
      case Kind::kSubscript:
        subscript(node);
        break;
      case Kind::kStarred:
        out_ += '*';
        expression(t_.get(node, kStarredValue), kBitOr);
        break;
      case Kind::kName:
        out_ += str(node, kNameId);
        break;
      case Kind::kList:
        out_ += '[';
        comma_list(items(node, kElts));
        out_ += ']';
        break;
      case Kind::kTuple: {
        Parens parens(out_, items(node, kElts).empty() || precedence > kTuple);
        tuple_items(items(node, kElts));
        break;
      }
      case Kind::kSlice:
        optional("", t_.get(node, kSliceLower));
        out_ += ':';
        optional("", t_.get(node, kSliceUpper));
        optional(":", t_.get(node, kSliceStep));
        break;
      case Kind::kKeyword:
        if (t_.get(node, kKeywordName) == 0) {
          out_ += "**";
        } else {
          out_ += str(node, kKeywordName) + "=";
        }
        expression(t_.get(node, kKeywordValue), kTest);
        break;
      case Kind::kAlias:
        out_ += str(node, kAliasName);
        if (t_.get(node, kAliasAsname) != 0) out_ += " as " + str(node, kAliasAsname);
        break;
      default:
        throw_value_error(std::string("cannot print a Python ") + kind_spec(t_.kind(node)).name +
                          " in the syntax of Python 3.11");
    }
  }

  const NodeTable& t_;
  std::string out_;
  int indent_;
  bool avoid_backslashes_;
  bool in_try_star_ = false;
};

}  // namespace

std::string unparse(const NodeTable& table, NodeId node, int indent) {
  Unparser unparser(table, indent, false);
  return is_statement(table.kind(node)) ? unparser.run_statement(node) : unparser.run(node, kTest);
}

}  // namespace graphwright::autograph
