// A program of the build: writes graphwright/ops.h, one C++ function for each public row of the op
// and function tables.
//
//   ops_header FILE
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/functiondef.h"
#include "ir/opdef.h"
#include "ir/row_parameters.h"

namespace graphwright {
namespace {

// What functions return other than one tensor; rows do not say.
const std::set<std::string_view> kSeveralTensors = {"shape_n", "split", "unstack", "meshgrid"};

enum class Returns { kTensor, kTensors, kNothing };

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    size_t end = text.find_first_of(" \n");
    if (end != 0) words.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return words;
}

std::string identifier(std::string_view name) {
  static const std::set<std::string_view> keywords = {
      "alignas", "and",      "asm",    "auto",     "bool",      "break",    "case",      "catch",
      "char",    "class",    "const",  "continue", "default",   "delete",   "do",        "double",
      "else",    "enum",     "export", "extern",   "false",     "float",    "for",       "friend",
      "goto",    "if",       "inline", "int",      "long",      "mutable",  "namespace", "new",
      "not",     "operator", "or",     "private",  "protected", "public",   "register",  "return",
      "short",   "signed",   "sizeof", "static",   "struct",    "switch",   "template",  "this",
      "throw",   "true",     "try",    "typedef",  "union",     "unsigned", "using",     "virtual",
      "void",    "volatile", "while",  "xor"};
  return std::string(name) + (keywords.contains(name) ? "_" : "");
}

std::string camel_case(std::string_view name) {
  std::string result;
  bool upper = true;
  for (char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return result;
}

std::string comment(std::string_view text) {
  std::string result, line;
  auto flush = [&] {
    if (!line.empty()) result += "//" + line + "\n";
    line.clear();
  };
  for (const std::string& word : words_of(text)) {
    if (line.size() + word.size() + 3 > 98) flush();
    line += " " + word;
  }
  flush();
  return result;
}

// C++ type of a parameter; "" if it has none here.
std::string type_of(const ParameterSpec& spec) {
  auto maybe = [&](std::string_view type) {
    return spec.optional ? fmt::format("Maybe<{}>", type) : std::string(type);
  };
  switch (spec.kind) {
    case ParameterKind::kVariable:
    case ParameterKind::kTensor:
    case ParameterKind::kReadable:
    case ParameterKind::kTyped:
    case ParameterKind::kIndex:
    case ParameterKind::kAxis:
    case ParameterKind::kDimension:
    case ParameterKind::kCount:
    case ParameterKind::kShape:
    case ParameterKind::kDims:
    case ParameterKind::kDimVector:
    case ParameterKind::kConstant:
      return "Input";
    case ParameterKind::kTensors:
    case ParameterKind::kMixed:
      return maybe("Inputs");
    case ParameterKind::kInt:
      return maybe("int64_t");
    case ParameterKind::kFloat:
      return maybe("double");
    case ParameterKind::kBool:
    case ParameterKind::kFlag:
      return maybe("bool");
    case ParameterKind::kString:
      return maybe("std::string");
    case ParameterKind::kType:
      return "DType";
    case ParameterKind::kInts:
      return "Integers";
    case ParameterKind::kOption:
    case ParameterKind::kPadding:
      return maybe("Choice");
    case ParameterKind::kAny:
      // What Python accepts and ignores.
      return spec.optional && spec.has_default ? "Input" : std::string();
    default:
      return {};
  }
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + "\"";
}

// The default as C++; nullopt-like "?" where it cannot be written.
std::string default_of(const ParameterSpec& spec, const std::string& type) {
  std::string_view text = spec.default_text;
  std::string value;
  if (text == "None" || text == "()") {
    value = type == "DType" ? "DType::kInvalid" : "";
  } else if (text == "True" || text == "true") {
    value = "true";
  } else if (text == "False" || text == "false") {
    value = "false";
  } else if (text.front() == '\'') {
    value = quoted(text.substr(1, text.size() - 2));
  } else if (text.front() == '[') {
    value = "{" + std::string(text.substr(1, text.size() - 2)) + "}";
  } else if (type == "DType") {
    value = "DType::k" + camel_case(text);
  } else {
    value = text;
  }
  if (type == "Input" && !value.empty()) return fmt::format("Input({}, detail::Site())", value);
  return value.empty() ? "{}" : value;
}

struct Parameter {
  std::string name, type, default_value;
  bool has_default;
};

struct PublicFunction {
  std::vector<std::string> names;  // "math.rsqrt"
  std::string_view doc;
  std::string signature;
  Returns returns = Returns::kTensor;
  std::vector<Parameter> parameters;
};

bool add_parameters(PublicFunction& function, const ParameterList& list) {
  for (const ParameterSpec& spec : list.parameters) {
    if (spec.kind == ParameterKind::kName) continue;
    Parameter parameter{identifier(spec.name), type_of(spec), {}, spec.has_default};
    if (parameter.type.empty()) return false;
    if (spec.has_default) parameter.default_value = default_of(spec, parameter.type);
    function.parameters.push_back(std::move(parameter));
  }
  return true;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }
std::string_view path_of(std::string_view name) {
  size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string definition(const PublicFunction& function, std::string_view name) {
  std::string text = comment(function.doc);
  text += comment(fmt::format("{}({})", name, function.signature));
  std::string short_name = identifier(last_part(name));
  bool has_options = false;
  for (const Parameter& parameter : function.parameters) has_options |= parameter.has_default;
  std::string options = has_options ? camel_case(last_part(name)) + "Options" : "NameOption";
  if (has_options) {
    text = fmt::format("struct {} {{\n", options);
    for (const Parameter& parameter : function.parameters) {
      if (!parameter.has_default) continue;
      text += fmt::format("  {} {}", parameter.type, parameter.name);
      text += parameter.default_value == "{}" ? "{};\n" : " = " + parameter.default_value + ";\n";
    }
    text += "  std::string name{};  // of the node in a graph\n};\n";
    text += comment(function.doc) + comment(fmt::format("{}({})", name, function.signature));
  }
  std::string declared, passed;
  for (const Parameter& parameter : function.parameters) {
    passed += ", ";
    if (parameter.has_default) {
      passed += "options." + parameter.name;
      continue;
    }
    passed += parameter.name;
    bool by_value = parameter.type == "int64_t" || parameter.type == "double" ||
                    parameter.type == "bool" || parameter.type == "DType";
    declared += by_value ? fmt::format("{} {}, ", parameter.type, parameter.name)
                         : fmt::format("const {}& {}, ", parameter.type, parameter.name);
  }
  std::string_view type = function.returns == Returns::kTensor    ? "Tensor"
                          : function.returns == Returns::kTensors ? "std::vector<Tensor>"
                                                                  : "void";
  std::string_view call = function.returns == Returns::kTensor    ? "return detail::call"
                          : function.returns == Returns::kTensors ? "return detail::call_list"
                                                                  : "detail::call_list";
  // Rows are found by the first of their names.
  text += fmt::format(
      "inline {} {}({}const {}& options = {{}}) {{\n  {}(\"{}\", options.name{});\n}}\n", type,
      short_name, declared, options, call, function.names.front(), passed);
  return text;
}

std::vector<std::string> public_names(std::string_view names) {
  std::vector<std::string> result;
  for (std::string& name : words_of(names)) {
    if (name.front() != '_' && last_part(name).front() != '_') result.push_back(std::move(name));
  }
  return result;
}

std::vector<PublicFunction> public_functions(std::vector<std::string>& left_out) {
  std::vector<PublicFunction> functions;
  std::set<std::string> taken;
  auto add = [&](PublicFunction function, const ParameterList& list) {
    if (function.names.empty() || taken.contains(function.names.front())) return;
    if (!add_parameters(function, list)) {
      left_out.push_back(function.names.front());
      return;
    }
    taken.insert(function.names.begin(), function.names.end());
    functions.push_back(std::move(function));
  };
  // Where both tables have a name, the row with a body is the public one.
  for (const FunctionDef* row : all_functions()) {
    PublicFunction function{
        public_names(row->names), row->doc, std::string(row->signature), Returns::kTensor, {}};
    if (!function.names.empty()) {
      std::string_view name = function.names.front();
      if (kSeveralTensors.contains(name)) function.returns = Returns::kTensors;
      if (name.starts_with("debugging.")) function.returns = Returns::kNothing;
    }
    add(std::move(function), parse_parameters(*row));
  }
  for (const OpDef* row : all_ops()) {
    PublicFunction function{public_names(row->python_names),
                            row->doc,
                            std::string(row->signature.text),
                            Returns::kTensor,
                            {}};
    bool single =
        row->signature.output_count == 1 && row->signature.outputs[0].arity == Arity::kSingle;
    if (row->signature.output_count == 0) function.returns = Returns::kNothing;
    if (row->signature.output_count > 0 && !single) function.returns = Returns::kTensors;
    add(std::move(function), parse_parameters(*row));
  }
  return functions;
}

std::string header() {
  std::vector<std::string> left_out;
  std::map<std::string, std::string, std::less<>> namespaces;  // path -> text
  std::map<std::string, std::string, std::less<>> aliases;
  std::set<std::string> defined;
  for (const PublicFunction& function : public_functions(left_out)) {
    const std::string& first = function.names.front();
    for (const std::string& name : function.names) {
      if (!defined.insert(name).second) continue;
      std::string path(path_of(name));
      if (name == first || last_part(name) != last_part(first)) {
        namespaces[path] += definition(function, name) + "\n";
      } else {
        std::string target(path_of(first));
        for (size_t dot; (dot = target.find('.')) != std::string::npos;)
          target.replace(dot, 1, "::");
        aliases[path] += fmt::format("using ::graphwright::api::v1::{}{}{};\n", target,
                                     target.empty() ? "" : "::", identifier(last_part(name)));
      }
    }
  }
  std::string text =
      "// Generated from the op and function tables: the functions of TensorFlow's API that this\n"
      "// library has, by the same names, eager and traced.\n"
      "//\n"
      "// What has a default is a field of the function's options, by the same name:\n"
      "// gw::reduce_sum(x, {.axis = {0, 1}, .keepdims = true}). In the signatures, T is a dtype "
      "that\n"
      "// several parameters share, `index` int32 or int64, `axis` integers, `shape` a gw::Shape "
      "or\n"
      "// integers, and `?` may be left out. Everything throws gw::Error.\n"
      "#pragma once\n\n"
      "#include <graphwright/input.h>\n\n"
      "namespace graphwright::api {\ninline namespace v1 {\n\n";
  auto open = [](const std::string& path) {
    std::string inner = path;
    for (size_t dot; (dot = inner.find('.')) != std::string::npos;) inner.replace(dot, 1, "::");
    return inner;
  };
  for (const auto& [path, body] : namespaces) {
    if (path.empty()) {
      text += body;
    } else {
      text +=
          fmt::format("namespace {} {{\n\n{}}}  // namespace {}\n\n", open(path), body, open(path));
    }
  }
  for (const auto& [path, body] : aliases) {
    text += path.empty() ? body + "\n" : fmt::format("namespace {} {{\n{}}}\n\n", open(path), body);
  }
  if (!left_out.empty()) {
    std::string names;
    for (const std::string& name : left_out) names += " " + name;
    text += comment("Not for C++, since they take Python objects:" + names) + "\n";
  }
  return text + "}  // namespace v1\n}  // namespace graphwright::api\n";
}

}  // namespace
}  // namespace graphwright

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: ops_header FILE\n", stderr);
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << graphwright::header();
  file.close();
  if (!file) {
    std::fprintf(stderr, "cannot write %s\n", argv[1]);
    return 1;
  }
  return 0;
}
