#include "python/row_signature.h"

#include <charconv>
#include <string>

#include "python/convert.h"
#include "python/errors.h"

namespace graphwright {
namespace {

PyObject* parse_list(std::string_view text) {
  std::string_view inside = text.substr(1, text.size() - 2);
  Ref list = checked_ref(PyList_New(0));
  while (!without_spaces(inside).empty()) {
    if (PyList_Append(list.get(), parse_default(next_list_item(inside))) < 0) throw_python_error();
  }
  return list.release();
}

RowSignature with_objects(ParameterList list) {
  RowSignature signature;
  signature.variables = std::move(list.variables);
  signature.allowed = std::move(list.allowed);
  signature.required = list.required;
  signature.constants_by_body = list.constants_by_body;
  signature.name_parameter = list.name_parameter;
  for (ParameterSpec& spec : list.parameters) {
    RowParameter parameter;
    static_cast<ParameterSpec&>(parameter) = std::move(spec);
    parameter.interned_name = checked(PyUnicode_InternFromString(parameter.name.c_str()));
    if (parameter.has_default) parameter.default_value = parse_default(parameter.default_text);
    signature.parameters.push_back(std::move(parameter));
  }
  return signature;
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
  return with_objects(parse_parameters(function));
}

RowSignature parse_signature(const OpDef& op) { return with_objects(parse_parameters(op)); }

}  // namespace graphwright
