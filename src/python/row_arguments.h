// A call's Python arguments as a row wants them: bound to parameters, then converted.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/attribute.h"
#include "ir/functiondef.h"
#include "python/row_signature.h"

namespace graphwright {

// Binds a vectorcall's arguments: one borrowed pointer for each parameter, defaults filled in.
// TypeError (thrown) with Python's own text: "tanh() missing 1 required positional argument: 'x'".
void bind_arguments(const RowSignature& signature, std::string_view function,
                    PyObject* const* arguments, Py_ssize_t positional, PyObject* keywords,
                    std::vector<PyObject*>& bound);

// How converted arguments are named in messages and in graphs.
struct CallNames {
  std::string_view function;  // "concat"
  std::string_view op;        // "ConcatV2" or the function's name, for errors
};

// Parameter by parameter; operands of one type variable come out with one dtype.
void convert_arguments(const RowSignature& signature, const CallNames& names,
                       std::span<PyObject* const> bound, std::vector<Argument>& converted);

// Whether every tensor argument is a tensor already: then no constant is made for the call.
bool needs_no_constants(const RowSignature& signature, std::span<PyObject* const> bound);

// An attribute's value of the signature's kind. TypeError naming function and parameter.
AttributeValue convert_attribute(const RowParameter& parameter, const CallNames& names,
                                 PyObject* value);

}  // namespace graphwright
