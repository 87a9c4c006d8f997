#include "autograph/tree_maker.h"

namespace graphwright::autograph {

using namespace field;

NodeId TreeMaker::name(StringId id, Context context) const {
  NodeId node = t_.add(Kind::kName, at_);
  t_.set(node, kNameId, id);
  t_.set(node, kNameContext, static_cast<uint32_t>(context));
  return node;
}

NodeId TreeMaker::attribute(NodeId value, std::string_view name) const {
  NodeId node = t_.add(Kind::kAttribute, at_);
  t_.set(node, kAttributeValue, value);
  t_.set(node, kAttributeName, t_.intern(name));
  return node;
}

NodeId TreeMaker::constant(Constant value) const {
  NodeId node = t_.add(Kind::kConstant, at_);
  t_.set(node, 0, t_.add_constant(std::move(value)));
  return node;
}

NodeId TreeMaker::tuple(const Nodes& elements, Context context) const {
  NodeId node = t_.add(Kind::kTuple, at_);
  t_.set(node, kElts, t_.add_list(elements));
  t_.set(node, kEltsContext, static_cast<uint32_t>(context));
  return node;
}

NodeId TreeMaker::call(NodeId function, const Nodes& arguments, const Nodes& keywords) const {
  NodeId node = t_.add(Kind::kCall, at_);
  t_.set(node, kCallFunc, function);
  t_.set(node, kCallArgs, t_.add_list(arguments));
  t_.set(node, kCallKeywords, t_.add_list(keywords));
  return node;
}

NodeId TreeMaker::keyword(std::string_view name, NodeId value) const {
  NodeId node = t_.add(Kind::kKeyword, at_);
  t_.set(node, kKeywordName, t_.intern(name));
  t_.set(node, kKeywordValue, value);
  return node;
}

NodeId TreeMaker::negation(NodeId operand) const {
  NodeId node = t_.add(Kind::kUnaryOp, at_);
  t_.set(node, field::kUnaryOp, static_cast<uint32_t>(Operator::kNot));
  t_.set(node, kUnaryOperand, operand);
  return node;
}

NodeId TreeMaker::conjunction(NodeId left, NodeId right) const {
  NodeId node = t_.add(Kind::kBoolOp, at_);
  t_.set(node, field::kBoolOp, static_cast<uint32_t>(Operator::kAnd));
  t_.set(node, kBoolValues, t_.add_list(Nodes{left, right}));
  return node;
}

NodeId TreeMaker::arguments(const std::vector<StringId>& names) const {
  NodeId node = t_.add(Kind::kArguments, at_);
  Nodes args;
  for (StringId name : names) {
    NodeId arg = t_.add(Kind::kArg, at_);
    t_.set(arg, kArgName, name);
    args.push_back(arg);
  }
  t_.set(node, kArgs, t_.add_list(args));
  return node;
}

NodeId TreeMaker::lambda(NodeId body, const std::vector<StringId>& parameters) const {
  NodeId args = arguments(parameters);
  NodeId node = t_.add(Kind::kLambda, at_);
  t_.set(node, kLambdaArgs, args);
  t_.set(node, kLambdaBody, body);
  t_.set_flags(node, kFlagConverterMade);
  return node;
}

NodeId TreeMaker::dictionary(const Nodes& keys, const Nodes& values) const {
  NodeId node = t_.add(Kind::kDict, at_);
  t_.set(node, kDictKeys, t_.add_list(keys));
  t_.set(node, kDictValues, t_.add_list(values));
  return node;
}

NodeId TreeMaker::expression_statement(NodeId value) const {
  NodeId node = t_.add(Kind::kExpr, at_);
  t_.set(node, kExprValue, value);
  return node;
}

NodeId TreeMaker::assign(NodeId target, NodeId value) const {
  NodeId node = t_.add(Kind::kAssign, at_);
  t_.set(node, kAssignTargets, t_.add_list(Nodes{target}));
  t_.set(node, kAssignValue, value);
  return node;
}

NodeId TreeMaker::if_statement(NodeId test, const Nodes& body) const {
  NodeId node = t_.add(Kind::kIf, at_);
  t_.set(node, kIfTest, test);
  t_.set(node, kIfBody, t_.add_list(body));
  return node;
}

NodeId TreeMaker::return_statement(NodeId value) const {
  NodeId node = t_.add(Kind::kReturn, at_);
  t_.set(node, kReturnValue, value);
  return node;
}

NodeId TreeMaker::function(StringId name, const std::vector<StringId>& parameters,
                           const Nodes& body) const {
  NodeId args = arguments(parameters);
  NodeId node = t_.add(Kind::kFunctionDef, at_);
  t_.set(node, kFunctionName, name);
  t_.set(node, kFunctionArgs, args);
  t_.set(node, kFunctionBody, t_.add_list(body));
  t_.set_flags(node, kFlagConverterMade);
  return node;
}

NodeId TreeMaker::names_statement(Kind kind, const std::vector<StringId>& names) const {
  NodeId node = t_.add(kind, at_);
  t_.set(node, kNamesNames, t_.add_list(names));
  return node;
}

NodeId Rewriter::visit(NodeId node) {
  visit_children(node);
  return node;
}

void Rewriter::visit_statement(NodeId node, Nodes* out) {
  visit_children(node);
  out->push_back(node);
}

Nodes Rewriter::visited_block(ListId block) {
  Nodes out;
  auto list = t_.list(block);
  Nodes statements(list.begin(), list.end());
  out.reserve(statements.size());
  for (NodeId statement : statements) process(statement, &out);
  return out;
}

void Rewriter::visit_field(NodeId node, int field) {
  uint32_t value = t_.get(node, field);
  if (value == 0) return;
  switch (kind_spec(t_.kind(node)).fields[field].type) {
    case FieldType::kNode:
      t_.set(node, field, visit(value));
      break;
    case FieldType::kNodeList: {
      Nodes nodes = items(node, field);
      bool changed = false;
      for (NodeId& item : nodes) {
        if (item == 0) continue;
        NodeId replacement = visit(item);
        changed |= replacement != item;
        item = replacement;
      }
      if (changed) set_items(node, field, nodes);
      break;
    }
    case FieldType::kBlock: {
      Nodes out = visited_block(value);
      auto before = t_.list(value);
      if (!std::equal(out.begin(), out.end(), before.begin(), before.end()))
        set_items(node, field, out);
      break;
    }
    default:
      break;
  }
}

void Rewriter::visit_children(NodeId node) {
  int count = kind_spec(t_.kind(node)).python_field_count;
  for (int i = 0; i < count; ++i) visit_field(node, i);
}

Nodes MovingBlock::finish() {
  while (open_.size() > 1) {
    Open top = std::move(open_.back());
    open_.pop_back();
    t_.set(top.node, top.field, t_.add_list(top.body));
    open_.back().body.push_back(top.node);
  }
  return std::move(open_.back().body);
}

}  // namespace graphwright::autograph
