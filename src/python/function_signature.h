// The parameters of a Python callable, and the binding of a call's arguments to them. Binding a
// call that passes every parameter by position copies pointers and nothing else.
#pragma once

#include <string>
#include <vector>

#include "python/python_api.h"

namespace graphwright {

struct Parameter {
  enum class Kind : uint8_t { kPositionalOnly, kPositional, kKeywordOnly };
  Ref name;
  std::string text;
  Kind kind = Kind::kPositional;
  Ref default_value;  // null: required
};

// A call's arguments, one per parameter in order, defaults filled in.
struct BoundArguments {
  std::vector<PyObject*> values;  // borrowed from the call or from the signature
  Ref extra_positional;           // tuple for *args; null if the function has none
  Ref extra_keywords;             // dict for **kwargs; null if the function has none
};

class FunctionSignature {
 public:
  // Reads the code object of functions and methods; asks inspect.signature for any other callable.
  // `skip_first`: the first parameter is already bound (self). TypeError if it cannot be had.
  FunctionSignature(PyObject* callable, bool skip_first);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  bool has_var_positional() const { return has_var_positional_; }
  bool has_var_keyword() const { return has_var_keyword_; }
  const std::string& var_positional_name() const { return var_positional_name_; }

  // Borrowed arguments as vectorcall passes them. TypeError (thrown) with TensorFlow's text.
  void bind(PyObject* const* arguments, Py_ssize_t positional_count, PyObject* keywords,
            BoundArguments& bound) const;
  // "(x, y=<captured_default_value>, *args, k, **kwargs)"
  std::string to_string() const;

 private:
  void read_code(PyObject* function, bool skip_first);
  void read_inspect(PyObject* callable, bool skip_first);
  [[noreturn]] void fail(const std::string& reason, PyObject* const* arguments,
                         Py_ssize_t positional_count, PyObject* keywords) const;

  std::vector<Parameter> parameters_;
  size_t positional_count_ = 0;  // of those that may be passed by position
  bool has_var_positional_ = false;
  bool has_var_keyword_ = false;
  std::string var_positional_name_, var_keyword_name_;
};

}  // namespace graphwright
