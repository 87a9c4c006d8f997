#include "python/function_signature.h"

#include <fmt/format.h>

#include "python/errors.h"

namespace graphwright {
namespace {

long integer_attribute(PyObject* object, const char* name) {
  Ref value = checked_ref(PyObject_GetAttrString(object, name));
  return PyLong_AsLong(value.get());
}

constexpr long kHasVarPositional = 0x04;  // co_flags
constexpr long kHasVarKeyword = 0x08;

}  // namespace

FunctionSignature::FunctionSignature(PyObject* callable, bool skip_first) {
  PyObject* function_type = imported("types", "FunctionType");
  if (Py_TYPE(callable) == reinterpret_cast<PyTypeObject*>(function_type)) {
    // A decorator that used functools.wraps states the signature of what it wraps.
    if (!PyObject_HasAttrString(callable, "__wrapped__")) {
      read_code(callable, skip_first);
      return;
    }
  }
  read_inspect(callable, skip_first);
}

void FunctionSignature::read_code(PyObject* function, bool skip_first) {
  Ref code = checked_ref(PyObject_GetAttrString(function, "__code__"));
  long positional = integer_attribute(code.get(), "co_argcount");
  long positional_only = integer_attribute(code.get(), "co_posonlyargcount");
  long keyword_only = integer_attribute(code.get(), "co_kwonlyargcount");
  long flags = integer_attribute(code.get(), "co_flags");
  Ref names = checked_ref(PyObject_GetAttrString(code.get(), "co_varnames"));
  Ref defaults = checked_ref(PyObject_GetAttrString(function, "__defaults__"));
  Ref keyword_defaults = checked_ref(PyObject_GetAttrString(function, "__kwdefaults__"));
  long default_count =
      defaults.get() == Py_None ? 0 : static_cast<long>(PyTuple_Size(defaults.get()));
  for (long i = 0; i < positional + keyword_only; ++i) {
    if (i == 0 && skip_first && positional > 0) continue;
    Parameter parameter;
    parameter.name = Ref::borrow(PyTuple_GetItem(names.get(), i));
    parameter.text = text_of(parameter.name.get());
    if (i < positional) {
      parameter.kind =
          i < positional_only ? Parameter::Kind::kPositionalOnly : Parameter::Kind::kPositional;
      long from_end = positional - i;
      if (from_end <= default_count) {
        parameter.default_value =
            Ref::borrow(PyTuple_GetItem(defaults.get(), default_count - from_end));
      }
      ++positional_count_;
    } else {
      parameter.kind = Parameter::Kind::kKeywordOnly;
      if (keyword_defaults.get() != Py_None) {
        parameter.default_value =
            Ref::borrow(PyDict_GetItemWithError(keyword_defaults.get(), parameter.name.get()));
      }
    }
    parameters_.push_back(std::move(parameter));
  }
  long next = positional + keyword_only;
  if (flags & kHasVarPositional) {
    has_var_positional_ = true;
    var_positional_name_ = text_of(PyTuple_GetItem(names.get(), next++));
  }
  if (flags & kHasVarKeyword) {
    has_var_keyword_ = true;
    var_keyword_name_ = text_of(PyTuple_GetItem(names.get(), next));
  }
}

void FunctionSignature::read_inspect(PyObject* callable, bool skip_first) {
  Ref signature = checked_ref(
      PyObject_CallFunctionObjArgs(imported("inspect", "signature"), callable, nullptr));
  PyObject* parameter_class = imported("inspect", "Parameter");
  Ref empty = checked_ref(PyObject_GetAttrString(parameter_class, "empty"));
  Ref parameters = checked_ref(PyObject_GetAttrString(signature.get(), "parameters"));
  Ref values = checked_ref(PyMapping_Values(parameters.get()));
  for (Py_ssize_t i = 0; i < PyList_Size(values.get()); ++i) {
    if (i == 0 && skip_first) continue;
    PyObject* item = PyList_GetItem(values.get(), i);
    Ref name = checked_ref(PyObject_GetAttrString(item, "name"));
    // inspect numbers the kinds: positional only, positional or keyword, *args, keyword only,
    // **kwargs.
    long kind = integer_attribute(item, "kind");
    Ref default_value = checked_ref(PyObject_GetAttrString(item, "default"));
    if (kind == 2) {
      has_var_positional_ = true;
      var_positional_name_ = text_of(name.get());
    } else if (kind == 4) {
      has_var_keyword_ = true;
      var_keyword_name_ = text_of(name.get());
    } else {
      Parameter parameter;
      parameter.text = text_of(name.get());
      parameter.name = std::move(name);
      parameter.kind = kind == 0   ? Parameter::Kind::kPositionalOnly
                       : kind == 1 ? Parameter::Kind::kPositional
                                   : Parameter::Kind::kKeywordOnly;
      if (default_value.get() != empty.get()) parameter.default_value = std::move(default_value);
      if (kind <= 1) ++positional_count_;
      parameters_.push_back(std::move(parameter));
    }
  }
}

void FunctionSignature::bind(PyObject* const* arguments, Py_ssize_t positional_count,
                             PyObject* keywords, BoundArguments& bound) const {
  size_t given = static_cast<size_t>(positional_count);
  bound.values.assign(parameters_.size(), nullptr);
  bound.extra_positional = Ref();
  bound.extra_keywords = Ref();
  size_t direct = std::min(given, positional_count_);
  for (size_t i = 0; i < direct; ++i) bound.values[i] = arguments[i];
  if (has_var_positional_) {
    bound.extra_positional = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(given - direct)));
    for (size_t i = direct; i < given; ++i) {
      Py_INCREF(arguments[i]);
      PyTuple_SetItem(bound.extra_positional.get(), static_cast<Py_ssize_t>(i - direct),
                      arguments[i]);
    }
  } else if (given > positional_count_) {
    fail("too many positional arguments", arguments, positional_count, keywords);
  }
  if (has_var_keyword_) bound.extra_keywords = checked_ref(PyDict_New());
  Py_ssize_t keyword_count = keywords ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t k = 0; k < keyword_count; ++k) {
    PyObject* name = PyTuple_GetItem(keywords, k);
    PyObject* value = arguments[positional_count + k];
    bool found = false;
    for (size_t i = 0; i < parameters_.size() && !found; ++i) {
      const Parameter& parameter = parameters_[i];
      if (parameter.kind == Parameter::Kind::kPositionalOnly) continue;
      if (parameter.name.get() != name && parameter.text != text_of(name)) continue;
      if (bound.values[i]) {
        fail(fmt::format("multiple values for argument '{}'", parameter.text), arguments,
             positional_count, keywords);
      }
      bound.values[i] = value;
      found = true;
    }
    if (found) continue;
    if (!has_var_keyword_) {
      fail(fmt::format("got an unexpected keyword argument '{}'", text_of(name)), arguments,
           positional_count, keywords);
    }
    if (PyDict_SetItem(bound.extra_keywords.get(), name, value) < 0) throw_python_error();
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (bound.values[i]) continue;
    bound.values[i] = parameters_[i].default_value.get();
    if (!bound.values[i]) {
      fail(fmt::format("missing a required argument: '{}'", parameters_[i].text), arguments,
           positional_count, keywords);
    }
  }
}

std::string FunctionSignature::to_string() const {
  std::string text;
  auto add = [&](const std::string& item) {
    if (!text.empty()) text += ", ";
    text += item;
  };
  bool star_shown = false;
  size_t positional_only = 0;
  for (const Parameter& parameter : parameters_) {
    if (parameter.kind == Parameter::Kind::kPositionalOnly) ++positional_only;
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (parameter.kind == Parameter::Kind::kKeywordOnly && !star_shown) {
      add(has_var_positional_ ? "*" + var_positional_name_ : "*");
      star_shown = true;
    }
    add(parameter.default_value ? parameter.text + "=<captured_default_value>" : parameter.text);
    if (positional_only && i + 1 == positional_only) add("/");
  }
  if (has_var_positional_ && !star_shown) add("*" + var_positional_name_);
  if (has_var_keyword_) add("**" + var_keyword_name_);
  return "(" + text + ")";
}

void FunctionSignature::fail(const std::string& reason, PyObject* const* arguments,
                             Py_ssize_t positional_count, PyObject* keywords) const {
  Ref positional = checked_ref(PyTuple_New(positional_count));
  for (Py_ssize_t i = 0; i < positional_count; ++i) {
    Py_INCREF(arguments[i]);
    PyTuple_SetItem(positional.get(), i, arguments[i]);
  }
  Ref named = checked_ref(PyDict_New());
  Py_ssize_t keyword_count = keywords ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t k = 0; k < keyword_count; ++k) {
    if (PyDict_SetItem(named.get(), PyTuple_GetItem(keywords, k), arguments[positional_count + k]) <
        0) {
      throw_python_error();
    }
  }
  throw_type_error(fmt::format(
      "Binding inputs to tf.function failed due to `{}`. Received args: {} and kwargs: {} for "
      "signature: {}.",
      reason, repr_of(positional.get()), repr_of(named.get()), to_string()));
}

}  // namespace graphwright
