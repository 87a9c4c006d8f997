// The parameters of a Python function made from a row of the op or function table.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ir/functiondef.h"
#include "ir/opdef.h"
#include "python/python_api.h"

namespace graphwright {

enum class ParameterKind : uint8_t {
  kVariable,  // tensor of a type variable
  kTensor,    // tensor of any dtype
  kReadable,  // tensor of any dtype, or the handle of a variable
  kTyped,     // tensor of one dtype
  kIndex,     // tensor of int32 or int64
  kTensors,   // list of tensors of one dtype, a type variable or a fixed one
  kMixed,     // list of tensors of any dtypes
  kInt,
  kFloat,
  kBool,
  kString,
  kType,
  kInts,
  kAxis,
  kShape,        // as a tensor
  kOption,       // a str, an int or a float
  kPadding,      // a str, or pairs of ints
  kStaticShape,  // attributes: a shape that may be partly known
  kConstant,     // attributes: an eager tensor
  kFloats,
  kStrings,
  kTypes,
  kStaticShapes,
  kAny,
  kName,  // name=None
};

struct RowParameter {
  std::string name;
  PyObject* interned_name = nullptr;  // lives for ever
  ParameterKind kind = ParameterKind::kAny;
  bool optional = false;              // None is allowed
  PyObject* default_value = nullptr;  // null: required. Lives for ever
  int variable = -1;                  // of kVariable and kTensors: number of the type variable
  DType dtype = DType::kInvalid;      // of kTyped and kTensors
  int attribute = -1;                 // op rows: position among the attributes; -1: an input
  std::string_view allowed;           // attributes: the set of strings, "" if any
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
