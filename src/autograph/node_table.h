// A Python syntax tree as flat arrays: the form in which AutoGraph analyses, lowers and prints
// functions.
//
// A node is a row (kind, position, where its fields start); its fields are 32-bit references in one
// array, laid out by the kind's schema, which follows Python's own `ast` field by field. So one
// loop over the schema walks, copies or emits any node, and nothing here depends on Python.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace graphwright::autograph {

using NodeId = uint32_t;      // 0: no node
using StringId = uint32_t;    // 0: no string (Python's None)
using ConstantId = uint32_t;  // index into the constants
using ListId = uint32_t;      // 0: the empty list

enum class Kind : uint8_t {
  kNone,
  // Statements.
  kFunctionDef,
  kAsyncFunctionDef,
  kClassDef,
  kReturn,
  kDelete,
  kAssign,
  kTypeAlias,
  kAugAssign,
  kAnnAssign,
  kFor,
  kAsyncFor,
  kWhile,
  kIf,
  kWith,
  kAsyncWith,
  kMatch,
  kRaise,
  kTry,
  kTryStar,
  kAssert,
  kImport,
  kImportFrom,
  kGlobal,
  kNonlocal,
  kExpr,
  kPass,
  kBreak,
  kContinue,
  // Expressions.
  kBoolOp,
  kNamedExpr,
  kBinOp,
  kUnaryOp,
  kLambda,
  kIfExp,
  kDict,
  kSet,
  kListComp,
  kSetComp,
  kDictComp,
  kGeneratorExp,
  kAwait,
  kYield,
  kYieldFrom,
  kCompare,
  kCall,
  kFormattedValue,
  kJoinedStr,
  kConstant,
  kAttribute,
  kSubscript,
  kStarred,
  kName,
  kList,
  kTuple,
  kSlice,
  // Parts of the above.
  kComprehension,
  kExceptHandler,
  kArguments,
  kArg,
  kKeyword,
  kAlias,
  kWithItem,
  kMatchCase,
  kMatchValue,
  kMatchSingleton,
  kMatchSequence,
  kMatchMapping,
  kMatchClass,
  kMatchStar,
  kMatchAs,
  kMatchOr,
  kTypeVar,
  kParamSpec,
  kTypeVarTuple,
  kCount
};

enum class FieldType : uint8_t {
  kNode,          // NodeId, may be 0
  kNodeList,      // ListId of NodeIds; 0 entries stand for None
  kBlock,         // ListId of statements
  kString,        // StringId, may be 0
  kStringList,    // ListId of StringIds
  kConstant,      // ConstantId
  kInteger,       // int32_t
  kOperator,      // Operator
  kOperatorList,  // ListId of Operators
  kContext,       // Context
};

enum class Operator : uint8_t {
  kAnd,
  kOr,
  kAdd,
  kSub,
  kMult,
  kMatMult,
  kDiv,
  kMod,
  kPow,
  kLShift,
  kRShift,
  kBitOr,
  kBitXor,
  kBitAnd,
  kFloorDiv,
  kInvert,
  kNot,
  kUAdd,
  kUSub,
  kEq,
  kNotEq,
  kLt,
  kLtE,
  kGt,
  kGtE,
  kIs,
  kIsNot,
  kIn,
  kNotIn,
  kCount
};

enum class Context : uint8_t { kLoad, kStore, kDel };

struct FieldSpec {
  const char* name;
  FieldType type;
};

struct KindSpec {
  const char* name;  // Python's class name
  std::span<const FieldSpec> fields;
  // Fields from here on are AutoGraph's own notes; Python's class does not have them.
  uint8_t python_field_count;
};

const KindSpec& kind_spec(Kind kind);
const char* operator_name(Operator op);  // Python's class name, e.g. "Add"
bool is_statement(Kind kind);

struct Position {
  int32_t line = 0;  // 1-based; 0: unknown
  int32_t column = 0;
  int32_t end_line = 0;
  int32_t end_column = 0;
};

enum class ConstantType : uint8_t {
  kNone,
  kTrue,
  kFalse,
  kEllipsis,
  kInt,
  kFloat,
  kComplex,
  kString,
  kBytes,
  kTuple,  // made by the lowering: `parts` are its elements
};

struct Constant {
  ConstantType type;
  bool u_prefix = false;  // written u'...'
  std::string text =
      {};  // numbers: Python's repr; strings: UTF-8 (surrogates passed through); bytes: raw
  std::vector<ConstantId> parts = {};
  // For the side that owns Python objects: the object's number plus one; 0 if made by the lowering.
  uint32_t external = 0;
};

// Flags of a node.
inline constexpr uint8_t kFlagUserName = 1;       // a name that stood in the user's code
inline constexpr uint8_t kFlagConverterMade = 2;  // a lambda or function made by the lowering
// A function inside the function that is not converted, since its body is no plain code: a
// coroutine or a generator.
inline constexpr uint8_t kFlagOpaque = 4;

// Field numbers, by kind. The order is that of the schema in node_table.cpp.
namespace field {
enum FunctionDef {
  kFunctionName,
  kFunctionArgs,
  kFunctionBody,
  kFunctionDecorators,
  kFunctionReturns,
  kFunctionTypeParams,
  kFunctionContextName
};
enum ClassDef {
  kClassName,
  kClassBases,
  kClassKeywords,
  kClassBody,
  kClassDecorators,
  kClassTypeParams
};
enum Return { kReturnValue };
enum Delete { kDeleteTargets };
enum Assign { kAssignTargets, kAssignValue };
enum AugAssign { kAugTarget, kAugOp, kAugValue };
enum AnnAssign { kAnnTarget, kAnnAnnotation, kAnnValue, kAnnSimple };
enum For { kForTarget, kForIter, kForBody, kForOrelse, kForExtraTest, kForOptions };
enum While { kWhileTest, kWhileBody, kWhileOrelse, kWhileOptions };
enum If { kIfTest, kIfBody, kIfOrelse };
enum With { kWithItems, kWithBody };
enum Try { kTryBody, kTryHandlers, kTryOrelse, kTryFinalbody };
enum Import { kImportNames };
enum ImportFrom { kFromModule, kFromNames, kFromLevel };
enum Names { kNamesNames };
enum Expr { kExprValue };
enum BoolOp { kBoolOp, kBoolValues };
enum BinOp { kBinLeft, kBinOp, kBinRight };
enum UnaryOp { kUnaryOp, kUnaryOperand };
enum Lambda { kLambdaArgs, kLambdaBody, kLambdaContextName };
enum IfExp { kIfExpTest, kIfExpBody, kIfExpOrelse };
enum Dict { kDictKeys, kDictValues };
enum Elements { kElts, kEltsContext };
enum Comp { kCompElt, kCompGenerators };
enum DictComp { kDictCompKey, kDictCompValue, kDictCompGenerators };
enum Compare { kCompareLeft, kCompareOps, kCompareComparators };
enum Call { kCallFunc, kCallArgs, kCallKeywords };
enum FormattedValue { kFormattedValue, kFormattedConversion, kFormattedSpec };
enum Attribute { kAttributeValue, kAttributeName, kAttributeContext };
enum Subscript { kSubscriptValue, kSubscriptSlice, kSubscriptContext };
enum Starred { kStarredValue, kStarredContext };
enum Name { kNameId, kNameContext };
enum Slice { kSliceLower, kSliceUpper, kSliceStep };
enum Comprehension { kGenTarget, kGenIter, kGenIfs, kGenIsAsync };
enum ExceptHandler { kHandlerType, kHandlerName, kHandlerBody };
enum Arguments { kPosonlyargs, kArgs, kVararg, kKwonlyargs, kKwDefaults, kKwarg, kDefaults };
enum Arg { kArgName, kArgAnnotation };
enum Keyword { kKeywordName, kKeywordValue };
enum Alias { kAliasName, kAliasAsname };
enum WithItem { kItemExpr, kItemVars };
}  // namespace field

class NodeTable {
 public:
  NodeTable();

  // Nodes. A new node's fields are all 0.
  NodeId add(Kind kind, const Position& position);
  Kind kind(NodeId node) const { return nodes_[node].kind; }
  const Position& position(NodeId node) const { return nodes_[node].position; }
  void set_position(NodeId node, const Position& position) { nodes_[node].position = position; }
  uint8_t flags(NodeId node) const { return nodes_[node].flags; }
  void set_flags(NodeId node, uint8_t flags) { nodes_[node].flags = flags; }
  uint32_t get(NodeId node, int field) const { return fields_[nodes_[node].first_field + field]; }
  void set(NodeId node, int field, uint32_t value) {
    fields_[nodes_[node].first_field + field] = value;
  }
  size_t size() const { return nodes_.size(); }
  NodeId copy_tree(NodeId node);  // deep, with flags and positions

  // Lists, never changed once made.
  ListId add_list(std::span<const uint32_t> items);
  std::span<const uint32_t> list(ListId id) const {
    return {items_.data() + lists_[id].offset, lists_[id].size};
  }
  std::span<const uint32_t> list_field(NodeId node, int field) const {
    return list(get(node, field));
  }

  // Strings.
  StringId intern(std::string_view text);
  StringId find_string(std::string_view text) const;  // 0 if absent
  const std::string& string(StringId id) const { return *strings_[id]; }
  size_t string_count() const { return strings_.size(); }

  // Constants.
  ConstantId add_constant(Constant constant);
  const Constant& constant(ConstantId id) const { return constants_[id]; }
  size_t constant_count() const { return constants_.size(); }

  // Code points of the constants outside ASCII that Python's str.isprintable refuses.
  std::unordered_set<uint32_t> nonprintable;

 private:
  struct Node {
    Kind kind;
    uint8_t flags;
    uint32_t first_field;
    Position position;
  };
  struct List {
    uint32_t offset;
    uint32_t size;
  };
  std::vector<Node> nodes_;
  std::vector<uint32_t> fields_;
  std::vector<List> lists_;
  std::vector<uint32_t> items_;
  std::unordered_map<std::string, StringId> string_ids_;
  std::vector<const std::string*> strings_;
  std::vector<Constant> constants_;
};

}  // namespace graphwright::autograph
