#include "ir/row_parameters.h"

#include <string>

namespace graphwright {

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// Text up to a comma outside brackets and quotes; the rest stays in `text`.
std::string_view next_list_item(std::string_view& text) {
  int depth = 0;
  bool quoted = false;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '\'') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
    if (c == ',' && depth == 0) break;
  }
  std::string_view item = without_spaces(text.substr(0, at));
  text = at < text.size() ? text.substr(at + 1) : std::string_view();
  return item;
}

namespace {

int variable_number(ParameterList& list, std::string_view name) {
  for (size_t i = 0; i < list.variables.size(); ++i) {
    if (list.variables[i] == name) return static_cast<int>(i);
  }
  list.variables.emplace_back(name);
  return static_cast<int>(list.variables.size()) - 1;
}

void finish(ParameterList& list, std::span<const TypeConstraint> types) {
  bool named = false;
  for (const ParameterSpec& parameter : list.parameters) named |= parameter.name == "name";
  if (!named) {
    ParameterSpec name;
    name.name = "name";
    name.optional = true;
    name.has_default = true;
    name.default_text = "None";
    list.parameters.push_back(std::move(name));
  }
  for (size_t i = 0; i < list.parameters.size(); ++i) {
    ParameterSpec& parameter = list.parameters[i];
    if (parameter.name == "name") {
      parameter.kind = ParameterKind::kName;
      list.name_parameter = static_cast<int>(i);
    }
    if (!parameter.has_default && static_cast<int>(i) == list.required) ++list.required;
  }
  for (const std::string& variable : list.variables) {
    DTypeSet allowed = kAnyType;
    for (const TypeConstraint& constraint : types) {
      if (constraint.variable == variable) allowed = constraint.allowed;
    }
    list.allowed.push_back(allowed);
  }
}

bool is_variable(std::string_view type) {
  return !type.empty() && type[0] >= 'A' && type[0] <= 'Z';
}

struct KindName {
  std::string_view text;
  ParameterKind kind;
};
constexpr KindName kFunctionKinds[] = {
    {"tensor", ParameterKind::kTensor},
    {"index", ParameterKind::kIndex},
    {"tensors", ParameterKind::kTensors},
    {"int", ParameterKind::kInt},
    {"float", ParameterKind::kFloat},
    {"bool", ParameterKind::kBool},
    {"str", ParameterKind::kString},
    {"dtype", ParameterKind::kType},
    {"ints", ParameterKind::kInts},
    {"axis", ParameterKind::kAxis},
    {"dimension", ParameterKind::kDimension},
    {"count", ParameterKind::kCount},
    {"flag", ParameterKind::kFlag},
    {"dims", ParameterKind::kDims},
    {"dim_vector", ParameterKind::kDimVector},
    {"shape", ParameterKind::kShape},
    {"any", ParameterKind::kAny},
    {"option", ParameterKind::kOption},
    {"mixed", ParameterKind::kMixed},
    {"padding", ParameterKind::kPadding},
    {"readable", ParameterKind::kReadable},
};

void set_kind(ParameterList& list, ParameterSpec& parameter, std::string_view kind,
              bool has_default) {
  if (is_variable(kind)) {
    parameter.kind = ParameterKind::kVariable;
    parameter.variable = variable_number(list, kind);
    return;
  }
  if (kind == "bool" && !has_default) {
    // "keepdims: bool = False" is an option, "mask: bool" a tensor.
    parameter.kind = ParameterKind::kTyped;
    parameter.dtype = DType::kBool;
    return;
  }
  if (kind == "strings") {
    parameter.kind = ParameterKind::kTensors;
    parameter.dtype = DType::kString;
    return;
  }
  for (const KindName& known : kFunctionKinds) {
    if (known.text == kind) {
      parameter.kind = known.kind;
      if (known.kind == ParameterKind::kTensors) {
        // Lists of one dtype of their own: a variable that nothing else shares.
        parameter.variable = variable_number(list, "tensors " + parameter.name);
      }
      return;
    }
  }
  parameter.dtype = dtype_from_name(kind);
  if (parameter.dtype == DType::kInvalid) {
    throw_internal("parameter " + parameter.name + " has the unknown kind " + std::string(kind));
  }
  parameter.kind = ParameterKind::kTyped;
}

ParameterSpec input_parameter(ParameterList& list, const ArgumentSpec& input) {
  ParameterSpec parameter;
  parameter.name = input.name;
  switch (input.arity) {
    case Arity::kSingle:
      if (input.is_variable()) {
        parameter.kind = ParameterKind::kVariable;
        parameter.variable = variable_number(list, input.type);
      } else {
        parameter.kind = ParameterKind::kTyped;
        parameter.dtype = dtype_from_name(input.type);
      }
      break;
    case Arity::kCounted:
      parameter.kind = ParameterKind::kTensors;
      if (input.is_variable()) {
        parameter.variable = variable_number(list, input.type);
      } else {
        parameter.dtype = dtype_from_name(input.type);
      }
      break;
    case Arity::kMixed:
      parameter.kind = ParameterKind::kMixed;
      break;
  }
  return parameter;
}

ParameterKind attribute_parameter(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return ParameterKind::kBool;
    case AttributeKind::kInt:
      return ParameterKind::kInt;
    case AttributeKind::kFloat:
      return ParameterKind::kFloat;
    case AttributeKind::kString:
      return ParameterKind::kString;
    case AttributeKind::kType:
      return ParameterKind::kType;
    case AttributeKind::kShape:
      return ParameterKind::kStaticShape;
    case AttributeKind::kTensor:
      return ParameterKind::kConstant;
    case AttributeKind::kBlock:
      return ParameterKind::kAny;
    case AttributeKind::kIntList:
      return ParameterKind::kInts;
    case AttributeKind::kFloatList:
      return ParameterKind::kFloats;
    case AttributeKind::kStringList:
      return ParameterKind::kStrings;
    case AttributeKind::kTypeList:
      return ParameterKind::kTypes;
    case AttributeKind::kShapeList:
      return ParameterKind::kStaticShapes;
  }
  return ParameterKind::kAny;
}

// A type variable or count that inputs fix is no parameter.
bool fixed_by_inputs(const Signature& signature, std::string_view attribute) {
  for (int i = 0; i < signature.input_count; ++i) {
    const ArgumentSpec& input = signature.inputs[static_cast<size_t>(i)];
    if (input.type == attribute || input.count == attribute) return true;
  }
  return false;
}

// Strings may stand without quotes, and a shape may be `unknown`.
std::string attribute_default(const AttributeSpec& attribute) {
  std::string_view text = attribute.default_text;
  bool quoted = text.size() >= 2 && text.front() == '\'';
  if (attribute.kind == AttributeKind::kString && !quoted) return "'" + std::string(text) + "'";
  if (attribute.kind == AttributeKind::kShape && text == "unknown") return "None";
  return std::string(text);
}

}  // namespace

ParameterList parse_parameters(const FunctionDef& function) {
  ParameterList list;
  list.constants_by_body = function.constants_by_body;
  std::string_view rest = function.signature;
  while (!without_spaces(rest).empty()) {
    std::string_view item = next_list_item(rest);
    ParameterSpec parameter;
    size_t colon = item.find(':');
    size_t equals = item.find('=', colon == std::string_view::npos ? 0 : colon);
    if (colon == std::string_view::npos) {
      throw_internal("a parameter of " + std::string(function.names) +
                     " has no kind: " + std::string(item));
    }
    parameter.name = without_spaces(item.substr(0, colon));
    std::string_view kind = without_spaces(
        item.substr(colon + 1, equals == std::string_view::npos ? equals : equals - colon - 1));
    if (!kind.empty() && kind.back() == '?') {
      parameter.optional = true;
      kind = without_spaces(kind.substr(0, kind.size() - 1));
    }
    set_kind(list, parameter, kind, equals != std::string_view::npos);
    if (equals != std::string_view::npos) {
      parameter.has_default = true;
      parameter.default_text = without_spaces(item.substr(equals + 1));
    }
    list.parameters.push_back(std::move(parameter));
  }
  finish(list, function.types);
  return list;
}

ParameterList parse_parameters(const OpDef& op) {
  ParameterList list;
  for (int i = 0; i < op.signature.input_count; ++i) {
    list.parameters.push_back(input_parameter(list, op.signature.inputs[static_cast<size_t>(i)]));
  }
  // Required attributes come before those with a default, as Python demands.
  for (bool with_default : {false, true}) {
    for (int i = 0; i < op.signature.attribute_count; ++i) {
      const AttributeSpec& attribute = op.signature.attributes[static_cast<size_t>(i)];
      if (attribute.has_default != with_default) continue;
      if (fixed_by_inputs(op.signature, attribute.name)) continue;
      ParameterSpec parameter;
      parameter.name = attribute.name;
      parameter.kind = attribute_parameter(attribute.kind);
      parameter.attribute = i;
      parameter.allowed = attribute.allowed;
      parameter.has_default = with_default;
      if (with_default) parameter.default_text = attribute_default(attribute);
      list.parameters.push_back(std::move(parameter));
    }
  }
  finish(list, op.types);
  return list;
}

}  // namespace graphwright
