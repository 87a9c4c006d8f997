// The parameters of a public function made from a row of the op or function table: what the row's
// signature says, for whatever language calls it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/functiondef.h"
#include "ir/opdef.h"

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
  kDimension,    // as kAxis, but what is no integer is a TypeError whatever the tier
  kCount,        // an integer tensor; TypeError as kDimension
  kFlag,         // True or False and nothing that is only true or false
  kShape,        // as a tensor; one number is the shape of a vector
  kDims,         // the same, but one number only where ops run eagerly
  kDimVector,    // the same, and never one number
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

struct ParameterSpec {
  std::string name;
  ParameterKind kind = ParameterKind::kAny;
  bool optional = false;  // None is allowed
  bool has_default = false;
  std::string default_text;       // None, True, 1, 0.5, 'text', float32, [1, 2]
  int variable = -1;              // of kVariable and kTensors: number of the type variable
  DType dtype = DType::kInvalid;  // of kTyped and kTensors
  int attribute = -1;             // op rows: position among the attributes; -1: an input
  std::string_view allowed;       // attributes: the set of strings, "" if any
};

struct ParameterList {
  std::vector<ParameterSpec> parameters;
  std::vector<std::string> variables;  // names of the type variables
  std::vector<DTypeSet> allowed;       // of each type variable
  int required = 0;                    // leading parameters without a default
  bool constants_by_body = false;      // FunctionDef's
  int name_parameter = -1;             // position of name=
};

// Parses a row's text; Internal for a text that is not well formed.
ParameterList parse_parameters(const FunctionDef& function);
ParameterList parse_parameters(const OpDef& op);

// Text up to a comma outside brackets and quotes, without spaces around it; the rest stays in
// `text`.
std::string_view next_list_item(std::string_view& text);
std::string_view without_spaces(std::string_view text);

}  // namespace graphwright
