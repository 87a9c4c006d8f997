// The parameters of a Python function made from a row of the op or function table.
#pragma once

#include <string>
#include <vector>

#include "ir/row_parameters.h"
#include "python/python_api.h"

namespace graphwright {

struct RowParameter : ParameterSpec {
  PyObject* interned_name = nullptr;  // lives for ever
  PyObject* default_value = nullptr;  // null: required. Lives for ever
};

struct RowSignature {
  std::vector<RowParameter> parameters;
  std::vector<std::string> variables;  // names of the type variables
  std::vector<DTypeSet> allowed;       // of each type variable
  int required = 0;                    // leading parameters without a default
  bool constants_by_body = false;      // FunctionDef's
  int name_parameter = -1;             // position of name=
  int find(PyObject* keyword) const;   // -1 if there is none
};

// Parses a function row's text; Internal for a text that is not well formed.
RowSignature parse_signature(const FunctionDef& function);
RowSignature parse_signature(const OpDef& op);
// The literal of a default: None, True, 1, 0.5, 'text', float32, [1, 2]. A reference that lives for
// ever.
PyObject* parse_default(std::string_view text);

}  // namespace graphwright
