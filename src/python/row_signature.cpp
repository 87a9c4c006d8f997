#include "python/row_signature.h"

#include <charconv>
#include <string>

#include "python/convert.h"
#include "python/errors.h"

namespace graphwright {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// Text up to a comma outside brackets and quotes; the rest stays in `text`.
std::string_view next_item(std::string_view& text) {
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
  std::string_view item = trimmed(text.substr(0, at));
  text = at < text.size() ? text.substr(at + 1) : std::string_view();
  return item;
}

int variable_number(RowSignature& signature, std::string_view name) {
  for (size_t i = 0; i < signature.variables.size(); ++i) {
    if (signature.variables[i] == name) return static_cast<int>(i);
  }
  signature.variables.emplace_back(name);
  return static_cast<int>(signature.variables.size()) - 1;
}

void finish(RowSignature& signature, std::span<const TypeConstraint> types) {
  bool named = false;
  for (const RowParameter& parameter : signature.parameters) named |= parameter.name == "name";
  if (!named) {
    RowParameter name;
    name.name = "name";
    name.optional = true;
    name.default_value = Py_None;
    signature.parameters.push_back(std::move(name));
  }
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    RowParameter& parameter = signature.parameters[i];
    parameter.interned_name = checked(PyUnicode_InternFromString(parameter.name.c_str()));
    if (parameter.name == "name") {
      parameter.kind = ParameterKind::kName;
      signature.name_parameter = static_cast<int>(i);
    }
    if (!parameter.default_value && static_cast<int>(i) == signature.required) {
      ++signature.required;
    }
  }
  for (const std::string& variable : signature.variables) {
    DTypeSet allowed = kAnyType;
    for (const TypeConstraint& constraint : types) {
      if (constraint.variable == variable) allowed = constraint.allowed;
    }
    signature.allowed.push_back(allowed);
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
    {"tensor", ParameterKind::kTensor},   {"index", ParameterKind::kIndex},
    {"tensors", ParameterKind::kTensors}, {"int", ParameterKind::kInt},
    {"float", ParameterKind::kFloat},     {"bool", ParameterKind::kBool},
    {"str", ParameterKind::kString},      {"dtype", ParameterKind::kType},
    {"ints", ParameterKind::kInts},       {"axis", ParameterKind::kAxis},
    {"shape", ParameterKind::kShape},     {"any", ParameterKind::kAny},
    {"option", ParameterKind::kOption},   {"mixed", ParameterKind::kMixed},
    {"padding", ParameterKind::kPadding}, {"readable", ParameterKind::kReadable},
};

void set_kind(RowSignature& signature, RowParameter& parameter, std::string_view kind,
              bool has_default) {
  if (is_variable(kind)) {
    parameter.kind = ParameterKind::kVariable;
    parameter.variable = variable_number(signature, kind);
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
        parameter.variable = variable_number(signature, "tensors " + parameter.name);
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

RowParameter input_parameter(RowSignature& signature, const ArgumentSpec& input) {
  RowParameter parameter;
  parameter.name = input.name;
  switch (input.arity) {
    case Arity::kSingle:
      if (input.is_variable()) {
        parameter.kind = ParameterKind::kVariable;
        parameter.variable = variable_number(signature, input.type);
      } else {
        parameter.kind = ParameterKind::kTyped;
        parameter.dtype = dtype_from_name(input.type);
      }
      break;
    case Arity::kCounted:
      parameter.kind = ParameterKind::kTensors;
      if (input.is_variable()) {
        parameter.variable = variable_number(signature, input.type);
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
PyObject* attribute_default(const AttributeSpec& attribute) {
  std::string_view text = attribute.default_text;
  bool quoted = text.size() >= 2 && text.front() == '\'';
  if (attribute.kind == AttributeKind::kString && !quoted) return make_text(text).release();
  if (attribute.kind == AttributeKind::kShape && text == "unknown") return parse_default("None");
  return parse_default(text);
}

PyObject* parse_list(std::string_view text) {
  std::string_view inside = text.substr(1, text.size() - 2);
  Ref list = checked_ref(PyList_New(0));
  while (!trimmed(inside).empty()) {
    if (PyList_Append(list.get(), parse_default(next_item(inside))) < 0) throw_python_error();
  }
  return list.release();
}

}  // namespace

int RowSignature::find(PyObject* keyword) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].interned_name == keyword) return static_cast<int>(i);
  }
  std::string_view text = text_of(keyword);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == text) return static_cast<int>(i);
  }
  return -1;
}

PyObject* parse_default(std::string_view text) {
  PyObject* constant = nullptr;
  if (text == "None") constant = Py_None;
  if (text == "True" || text == "true") constant = Py_True;
  if (text == "False" || text == "false") constant = Py_False;
  if (constant) {
    Py_INCREF(constant);
    return constant;
  }
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
    return make_text(text.substr(1, text.size() - 2)).release();
  }
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') return parse_list(text);
  if (text == "()") return checked(PyTuple_New(0));
  long long integer = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(end - text.size(), end, integer);
  if (error == std::errc() && stop == end) return checked(PyLong_FromLongLong(integer));
  double real = 0;
  auto [real_stop, real_error] = std::from_chars(end - text.size(), end, real);
  if (real_error == std::errc() && real_stop == end) return checked(PyFloat_FromDouble(real));
  DType dtype = dtype_from_name(text);
  if (dtype != DType::kInvalid) return dtype_object(dtype);
  throw_internal("a signature has the unknown default " + std::string(text));
}

RowSignature parse_signature(const FunctionDef& function) {
  RowSignature signature;
  signature.constants_by_body = function.constants_by_body;
  std::string_view rest = function.signature;
  while (!trimmed(rest).empty()) {
    std::string_view item = next_item(rest);
    RowParameter parameter;
    size_t colon = item.find(':');
    size_t equals = item.find('=', colon == std::string_view::npos ? 0 : colon);
    if (colon == std::string_view::npos) {
      throw_internal("a parameter of " + std::string(function.names) +
                     " has no kind: " + std::string(item));
    }
    parameter.name = trimmed(item.substr(0, colon));
    std::string_view kind = trimmed(
        item.substr(colon + 1, equals == std::string_view::npos ? equals : equals - colon - 1));
    if (!kind.empty() && kind.back() == '?') {
      parameter.optional = true;
      kind = trimmed(kind.substr(0, kind.size() - 1));
    }
    set_kind(signature, parameter, kind, equals != std::string_view::npos);
    if (equals != std::string_view::npos) {
      parameter.default_value = parse_default(trimmed(item.substr(equals + 1)));
    }
    signature.parameters.push_back(std::move(parameter));
  }
  finish(signature, function.types);
  return signature;
}

RowSignature parse_signature(const OpDef& op) {
  RowSignature signature;
  for (int i = 0; i < op.signature.input_count; ++i) {
    signature.parameters.push_back(
        input_parameter(signature, op.signature.inputs[static_cast<size_t>(i)]));
  }
  // Required attributes come before those with a default, as Python demands.
  for (bool with_default : {false, true}) {
    for (int i = 0; i < op.signature.attribute_count; ++i) {
      const AttributeSpec& attribute = op.signature.attributes[static_cast<size_t>(i)];
      if (attribute.has_default != with_default) continue;
      if (fixed_by_inputs(op.signature, attribute.name)) continue;
      RowParameter parameter;
      parameter.name = attribute.name;
      parameter.kind = attribute_parameter(attribute.kind);
      parameter.attribute = i;
      parameter.allowed = attribute.allowed;
      if (with_default) parameter.default_value = attribute_default(attribute);
      signature.parameters.push_back(std::move(parameter));
    }
  }
  finish(signature, op.types);
  return signature;
}

}  // namespace graphwright
