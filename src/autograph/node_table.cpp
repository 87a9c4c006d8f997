#include "autograph/node_table.h"

#include <array>

namespace graphwright::autograph {
namespace {

using enum FieldType;

// One schema per kind: Python's fields in Python's order, then AutoGraph's notes.
#define GW_SCHEMA(kind, ...) constexpr FieldSpec k##kind##Fields[] = {__VA_ARGS__}
GW_SCHEMA(FunctionDef, {"name", kString}, {"args", kNode}, {"body", kBlock},
          {"decorator_list", kNodeList}, {"returns", kNode}, {"type_params", kNodeList},
          {"context_name", kString});
GW_SCHEMA(ClassDef, {"name", kString}, {"bases", kNodeList}, {"keywords", kNodeList},
          {"body", kBlock}, {"decorator_list", kNodeList}, {"type_params", kNodeList});
GW_SCHEMA(Return, {"value", kNode});
GW_SCHEMA(Delete, {"targets", kNodeList});
GW_SCHEMA(Assign, {"targets", kNodeList}, {"value", kNode});
GW_SCHEMA(TypeAlias, {"name", kNode}, {"type_params", kNodeList}, {"value", kNode});
GW_SCHEMA(AugAssign, {"target", kNode}, {"op", kOperator}, {"value", kNode});
GW_SCHEMA(AnnAssign, {"target", kNode}, {"annotation", kNode}, {"value", kNode},
          {"simple", kInteger});
GW_SCHEMA(For, {"target", kNode}, {"iter", kNode}, {"body", kBlock}, {"orelse", kBlock},
          {"extra_test", kNode}, {"options", kNode});
GW_SCHEMA(While, {"test", kNode}, {"body", kBlock}, {"orelse", kBlock}, {"options", kNode});
GW_SCHEMA(If, {"test", kNode}, {"body", kBlock}, {"orelse", kBlock});
GW_SCHEMA(With, {"items", kNodeList}, {"body", kBlock});
GW_SCHEMA(Match, {"subject", kNode}, {"cases", kNodeList});
GW_SCHEMA(Raise, {"exc", kNode}, {"cause", kNode});
GW_SCHEMA(Try, {"body", kBlock}, {"handlers", kNodeList}, {"orelse", kBlock},
          {"finalbody", kBlock});
GW_SCHEMA(Assert, {"test", kNode}, {"msg", kNode});
GW_SCHEMA(Import, {"names", kNodeList});
GW_SCHEMA(ImportFrom, {"module", kString}, {"names", kNodeList}, {"level", kInteger});
GW_SCHEMA(Names, {"names", kStringList});
GW_SCHEMA(Expr, {"value", kNode});
GW_SCHEMA(BoolOp, {"op", kOperator}, {"values", kNodeList});
GW_SCHEMA(NamedExpr, {"target", kNode}, {"value", kNode});
GW_SCHEMA(BinOp, {"left", kNode}, {"op", kOperator}, {"right", kNode});
GW_SCHEMA(UnaryOp, {"op", kOperator}, {"operand", kNode});
GW_SCHEMA(Lambda, {"args", kNode}, {"body", kNode}, {"context_name", kString});
GW_SCHEMA(IfExp, {"test", kNode}, {"body", kNode}, {"orelse", kNode});
GW_SCHEMA(Dict, {"keys", kNodeList}, {"values", kNodeList});
GW_SCHEMA(Set, {"elts", kNodeList});
GW_SCHEMA(Comp, {"elt", kNode}, {"generators", kNodeList});
GW_SCHEMA(DictComp, {"key", kNode}, {"value", kNode}, {"generators", kNodeList});
GW_SCHEMA(Value, {"value", kNode});
GW_SCHEMA(Compare, {"left", kNode}, {"ops", kOperatorList}, {"comparators", kNodeList});
GW_SCHEMA(Call, {"func", kNode}, {"args", kNodeList}, {"keywords", kNodeList});
GW_SCHEMA(FormattedValue, {"value", kNode}, {"conversion", kInteger}, {"format_spec", kNode});
GW_SCHEMA(JoinedStr, {"values", kNodeList});
GW_SCHEMA(Constant, {"value", FieldType::kConstant});
GW_SCHEMA(Attribute, {"value", kNode}, {"attr", kString}, {"ctx", kContext});
GW_SCHEMA(Subscript, {"value", kNode}, {"slice", kNode}, {"ctx", kContext});
GW_SCHEMA(Starred, {"value", kNode}, {"ctx", kContext});
GW_SCHEMA(Name, {"id", kString}, {"ctx", kContext});
GW_SCHEMA(Elements, {"elts", kNodeList}, {"ctx", kContext});
GW_SCHEMA(Slice, {"lower", kNode}, {"upper", kNode}, {"step", kNode});
GW_SCHEMA(Comprehension, {"target", kNode}, {"iter", kNode}, {"ifs", kNodeList},
          {"is_async", kInteger});
GW_SCHEMA(ExceptHandler, {"type", kNode}, {"name", kString}, {"body", kBlock});
GW_SCHEMA(Arguments, {"posonlyargs", kNodeList}, {"args", kNodeList}, {"vararg", kNode},
          {"kwonlyargs", kNodeList}, {"kw_defaults", kNodeList}, {"kwarg", kNode},
          {"defaults", kNodeList});
GW_SCHEMA(Arg, {"arg", kString}, {"annotation", kNode});
GW_SCHEMA(Keyword, {"arg", kString}, {"value", kNode});
GW_SCHEMA(Alias, {"name", kString}, {"asname", kString});
GW_SCHEMA(WithItem, {"context_expr", kNode}, {"optional_vars", kNode});
GW_SCHEMA(MatchCase, {"pattern", kNode}, {"guard", kNode}, {"body", kBlock});
GW_SCHEMA(MatchSequence, {"patterns", kNodeList});
GW_SCHEMA(MatchMapping, {"keys", kNodeList}, {"patterns", kNodeList}, {"rest", kString});
GW_SCHEMA(MatchClass, {"cls", kNode}, {"patterns", kNodeList}, {"kwd_attrs", kStringList},
          {"kwd_patterns", kNodeList});
GW_SCHEMA(MatchStar, {"name", kString});
GW_SCHEMA(MatchAs, {"pattern", kNode}, {"name", kString});
GW_SCHEMA(TypeVar, {"name", kString}, {"bound", kNode});
GW_SCHEMA(TypeName, {"name", kString});
#undef GW_SCHEMA

constexpr KindSpec spec(const char* name, std::span<const FieldSpec> fields, int own_notes = 0) {
  return {name, fields, static_cast<uint8_t>(fields.size() - own_notes)};
}

// In the order of Kind.
constexpr KindSpec kSpecs[] = {
    spec("", {}),
    spec("FunctionDef", kFunctionDefFields, 1),
    spec("AsyncFunctionDef", kFunctionDefFields, 1),
    spec("ClassDef", kClassDefFields),
    spec("Return", kReturnFields),
    spec("Delete", kDeleteFields),
    spec("Assign", kAssignFields),
    spec("TypeAlias", kTypeAliasFields),
    spec("AugAssign", kAugAssignFields),
    spec("AnnAssign", kAnnAssignFields),
    spec("For", kForFields, 2),
    spec("AsyncFor", kForFields, 2),
    spec("While", kWhileFields, 1),
    spec("If", kIfFields),
    spec("With", kWithFields),
    spec("AsyncWith", kWithFields),
    spec("Match", kMatchFields),
    spec("Raise", kRaiseFields),
    spec("Try", kTryFields),
    spec("TryStar", kTryFields),
    spec("Assert", kAssertFields),
    spec("Import", kImportFields),
    spec("ImportFrom", kImportFromFields),
    spec("Global", kNamesFields),
    spec("Nonlocal", kNamesFields),
    spec("Expr", kExprFields),
    spec("Pass", {}),
    spec("Break", {}),
    spec("Continue", {}),
    spec("BoolOp", kBoolOpFields),
    spec("NamedExpr", kNamedExprFields),
    spec("BinOp", kBinOpFields),
    spec("UnaryOp", kUnaryOpFields),
    spec("Lambda", kLambdaFields, 1),
    spec("IfExp", kIfExpFields),
    spec("Dict", kDictFields),
    spec("Set", kSetFields),
    spec("ListComp", kCompFields),
    spec("SetComp", kCompFields),
    spec("DictComp", kDictCompFields),
    spec("GeneratorExp", kCompFields),
    spec("Await", kValueFields),
    spec("Yield", kValueFields),
    spec("YieldFrom", kValueFields),
    spec("Compare", kCompareFields),
    spec("Call", kCallFields),
    spec("FormattedValue", kFormattedValueFields),
    spec("JoinedStr", kJoinedStrFields),
    spec("Constant", kConstantFields),
    spec("Attribute", kAttributeFields),
    spec("Subscript", kSubscriptFields),
    spec("Starred", kStarredFields),
    spec("Name", kNameFields),
    spec("List", kElementsFields),
    spec("Tuple", kElementsFields),
    spec("Slice", kSliceFields),
    spec("comprehension", kComprehensionFields),
    spec("ExceptHandler", kExceptHandlerFields),
    spec("arguments", kArgumentsFields),
    spec("arg", kArgFields),
    spec("keyword", kKeywordFields),
    spec("alias", kAliasFields),
    spec("withitem", kWithItemFields),
    spec("match_case", kMatchCaseFields),
    spec("MatchValue", kValueFields),
    spec("MatchSingleton", kConstantFields),
    spec("MatchSequence", kMatchSequenceFields),
    spec("MatchMapping", kMatchMappingFields),
    spec("MatchClass", kMatchClassFields),
    spec("MatchStar", kMatchStarFields),
    spec("MatchAs", kMatchAsFields),
    spec("MatchOr", kMatchSequenceFields),
    spec("TypeVar", kTypeVarFields),
    spec("ParamSpec", kTypeNameFields),
    spec("TypeVarTuple", kTypeNameFields),
};
static_assert(std::size(kSpecs) == static_cast<size_t>(Kind::kCount));

// In the order of Operator.
constexpr const char* kOperatorNames[] = {
    "And",    "Or",    "Add",    "Sub",    "Mult",     "MatMult", "Div",   "Mod",  "Pow",  "LShift",
    "RShift", "BitOr", "BitXor", "BitAnd", "FloorDiv", "Invert",  "Not",   "UAdd", "USub", "Eq",
    "NotEq",  "Lt",    "LtE",    "Gt",     "GtE",      "Is",      "IsNot", "In",   "NotIn"};
static_assert(std::size(kOperatorNames) == static_cast<size_t>(Operator::kCount));

}  // namespace

const KindSpec& kind_spec(Kind kind) { return kSpecs[static_cast<size_t>(kind)]; }
const char* operator_name(Operator op) { return kOperatorNames[static_cast<size_t>(op)]; }
bool is_statement(Kind kind) { return kind >= Kind::kFunctionDef && kind <= Kind::kContinue; }

NodeTable::NodeTable() {
  nodes_.reserve(256);
  fields_.reserve(768);
  items_.reserve(256);
  nodes_.push_back({Kind::kNone, 0, 0, {}});
  lists_.push_back({0, 0});
  static const std::string empty;
  strings_.push_back(&empty);
}

NodeId NodeTable::add(Kind kind, const Position& position) {
  NodeId id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({kind, 0, static_cast<uint32_t>(fields_.size()), position});
  fields_.resize(fields_.size() + kind_spec(kind).fields.size(), 0);
  return id;
}

NodeId NodeTable::copy_tree(NodeId node) {
  if (node == 0) return 0;
  Kind node_kind = kind(node);
  NodeId copy = add(node_kind, position(node));
  set_flags(copy, flags(node));
  std::span<const FieldSpec> specs = kind_spec(node_kind).fields;
  for (size_t i = 0; i < specs.size(); ++i) {
    uint32_t value = get(node, i);
    if (specs[i].type == kNode) {
      value = copy_tree(value);
    } else if (specs[i].type == kNodeList || specs[i].type == kBlock) {
      std::vector<uint32_t> items(list(value).begin(), list(value).end());
      for (uint32_t& item : items) item = copy_tree(item);
      value = add_list(items);
    }
    set(copy, i, value);
  }
  return copy;
}

ListId NodeTable::add_list(std::span<const uint32_t> items) {
  if (items.empty()) return 0;
  uint32_t offset = static_cast<uint32_t>(items_.size());
  // The items may lie in this very array (a slice of an existing list), so room is made first by
  // index.
  if (items.data() >= items_.data() && items.data() < items_.data() + items_.size()) {
    size_t from = items.data() - items_.data();
    size_t count = items.size();
    items_.resize(offset + count);
    for (size_t i = 0; i < count; ++i) items_[offset + i] = items_[from + i];
    lists_.push_back({offset, static_cast<uint32_t>(count)});
  } else {
    items_.insert(items_.end(), items.begin(), items.end());
    lists_.push_back({offset, static_cast<uint32_t>(items.size())});
  }
  return static_cast<ListId>(lists_.size() - 1);
}

StringId NodeTable::intern(std::string_view text) {
  auto [it, inserted] = string_ids_.try_emplace(std::string(text), 0);
  if (inserted) {
    it->second = static_cast<StringId>(strings_.size());
    strings_.push_back(&it->first);
  }
  return it->second;
}

StringId NodeTable::find_string(std::string_view text) const {
  auto it = string_ids_.find(std::string(text));
  return it == string_ids_.end() ? 0 : it->second;
}

ConstantId NodeTable::add_constant(Constant constant) {
  constants_.push_back(std::move(constant));
  return static_cast<ConstantId>(constants_.size() - 1);
}

}  // namespace graphwright::autograph
