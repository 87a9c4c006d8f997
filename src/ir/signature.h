// Op signatures, written as text and parsed at compile time:
//
//   "input: T, filter: T; strides: list(int), padding: {'SAME','VALID'}, use_bias: bool=false ->
//   output: T"
//
// Inputs and outputs are `name: type`. A type is a type variable (upper case first: `T`), the name
// of a `type` attribute, a dtype name (`int32`, `resource`), a counted list of one type (`values: N
// * T`, as many values as fit; for an output N names an int attribute or an input's count), or a
// list of any types (`args: [Tin]`). Attributes are `name: kind` or `name: kind=default`, with kind
// one of bool, int, float, string, type, shape, tensor, block, list(int), list(float),
// list(string), list(type), list(shape), or a set of strings in braces. A type variable that no
// input fixes must be a `type` attribute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphwright {

inline constexpr size_t kMaxSignatureInputs = 12;
inline constexpr size_t kMaxSignatureAttributes = 14;
inline constexpr size_t kMaxSignatureOutputs = 8;

enum class AttributeKind : uint8_t {
  kBool,
  kInt,
  kFloat,
  kString,
  kType,
  kShape,
  kTensor,
  kBlock,
  kIntList,
  kFloatList,
  kStringList,
  kTypeList,
  kShapeList,
};

enum class Arity : uint8_t {
  kSingle,   // name: T
  kCounted,  // name: N * T
  kMixed,    // name: [T]
};

struct ArgumentSpec {
  std::string_view name;
  std::string_view type;   // type variable or dtype name
  std::string_view count;  // N of `N * T`, else ""
  Arity arity = Arity::kSingle;
  constexpr bool is_variable() const { return !type.empty() && type[0] >= 'A' && type[0] <= 'Z'; }
};

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind = AttributeKind::kInt;
  std::string_view allowed;       // text inside the braces of a string set, else ""
  std::string_view default_text;  // without the "="; meaningful if has_default
  bool has_default = false;
};

class Signature {
 public:
  std::string_view text;
  std::array<ArgumentSpec, kMaxSignatureInputs> inputs{};
  std::array<AttributeSpec, kMaxSignatureAttributes> attributes{};
  std::array<ArgumentSpec, kMaxSignatureOutputs> outputs{};
  uint8_t input_count = 0;
  uint8_t attribute_count = 0;
  uint8_t output_count = 0;
  bool variadic = false;  // an input is kCounted or kMixed

  consteval Signature(const char* source) : text(source) { parse(); }  // NOLINT: written as text

  constexpr int attribute_index(std::string_view name) const {
    for (int i = 0; i < attribute_count; ++i) {
      if (attributes[static_cast<size_t>(i)].name == name) return i;
    }
    return -1;
  }

 private:
  struct Cursor {
    std::string_view text;
    size_t at = 0;
    constexpr void skip_spaces() {
      while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
    }
    constexpr bool done() {
      skip_spaces();
      return at >= text.size();
    }
    constexpr bool accept(std::string_view token) {
      skip_spaces();
      if (text.substr(at, token.size()) != token) return false;
      at += token.size();
      return true;
    }
    constexpr std::string_view identifier() {
      skip_spaces();
      size_t start = at;
      while (at < text.size() && (is_letter(text[at]) || (text[at] >= '0' && text[at] <= '9')))
        ++at;
      if (at == start) throw "expected a name in an op signature";
      return text.substr(start, at - start);
    }
    static constexpr bool is_letter(char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }
    // Text up to a comma, semicolon or arrow outside brackets and quotes.
    constexpr std::string_view value() {
      skip_spaces();
      size_t start = at;
      int depth = 0;
      bool quoted = false;
      for (; at < text.size(); ++at) {
        char c = text[at];
        if (c == '\'') quoted = !quoted;
        if (quoted) continue;
        if (c == '[' || c == '(') ++depth;
        if (c == ']' || c == ')') --depth;
        if (depth == 0 && (c == ',' || c == ';' || (c == '-' && text.substr(at, 2) == "->"))) break;
      }
      size_t end = at;
      while (end > start && text[end - 1] == ' ') --end;
      return text.substr(start, end - start);
    }
  };

  consteval void parse() {
    Cursor cursor{text};
    while (!cursor.accept("->")) {
      if (cursor.accept(";")) {
        do {
          if (attribute_count == kMaxSignatureAttributes) throw "too many attributes";
          attributes[attribute_count++] = parse_attribute(cursor);
        } while (cursor.accept(","));
        if (!cursor.accept("->")) throw "expected -> after the attributes";
        break;
      }
      if (input_count == kMaxSignatureInputs) throw "too many inputs";
      inputs[input_count] = parse_argument(cursor);
      if (inputs[input_count].arity != Arity::kSingle) variadic = true;
      ++input_count;
      cursor.accept(",");
    }
    while (!cursor.done()) {
      if (output_count == kMaxSignatureOutputs) throw "too many outputs";
      outputs[output_count++] = parse_argument(cursor);
      cursor.accept(",");
    }
  }

  static consteval ArgumentSpec parse_argument(Cursor& cursor) {
    ArgumentSpec result;
    result.name = cursor.identifier();
    if (!cursor.accept(":")) throw "expected : after an argument's name";
    if (cursor.accept("[")) {
      result.arity = Arity::kMixed;
      result.type = cursor.identifier();
      if (!cursor.accept("]")) throw "expected ] after a list type";
      return result;
    }
    result.type = cursor.identifier();
    if (cursor.accept("*")) {
      result.arity = Arity::kCounted;
      result.count = result.type;
      result.type = cursor.identifier();
    }
    return result;
  }

  static consteval AttributeSpec parse_attribute(Cursor& cursor) {
    AttributeSpec result;
    result.name = cursor.identifier();
    if (!cursor.accept(":")) throw "expected : after an attribute's name";
    if (cursor.accept("{")) {
      size_t start = cursor.at;
      while (cursor.at < cursor.text.size() && cursor.text[cursor.at] != '}') ++cursor.at;
      result.allowed = cursor.text.substr(start, cursor.at - start);
      if (!cursor.accept("}")) throw "expected } after a set of strings";
      result.kind = AttributeKind::kString;
    } else if (cursor.accept("list(")) {
      std::string_view kind = cursor.identifier();
      if (!cursor.accept(")")) throw "expected ) after a list kind";
      result.kind = kind == "int"      ? AttributeKind::kIntList
                    : kind == "float"  ? AttributeKind::kFloatList
                    : kind == "string" ? AttributeKind::kStringList
                    : kind == "type"   ? AttributeKind::kTypeList
                    : kind == "shape"  ? AttributeKind::kShapeList
                                       : throw "unknown list kind of an attribute";
    } else {
      std::string_view kind = cursor.identifier();
      result.kind = kind == "bool"     ? AttributeKind::kBool
                    : kind == "int"    ? AttributeKind::kInt
                    : kind == "float"  ? AttributeKind::kFloat
                    : kind == "string" ? AttributeKind::kString
                    : kind == "type"   ? AttributeKind::kType
                    : kind == "shape"  ? AttributeKind::kShape
                    : kind == "tensor" ? AttributeKind::kTensor
                    : kind == "block"  ? AttributeKind::kBlock
                                       : throw "unknown attribute kind";
    }
    if (cursor.accept("=")) {
      result.has_default = true;
      result.default_text = cursor.value();
    }
    return result;
  }
};

}  // namespace graphwright
