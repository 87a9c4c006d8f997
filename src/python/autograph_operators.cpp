#include "python/autograph_operators.h"

#include <unordered_map>

#include "python/autograph_staging.h"
#include "python/errors.h"

namespace graphwright {
namespace {

thread_local bool enabled = true;

PyObject* call0(PyObject* function) { return PyObject_CallObject(function, nullptr); }

// Runs a block of converted code for its effects.
void run(PyObject* block) { checked_ref(call0(block)); }

bool truth(PyObject* value) {
  int result = PyObject_IsTrue(value);
  if (result < 0) throw_python_error();
  return result == 1;
}

bool given(PyObject* const* arguments, Py_ssize_t count, Py_ssize_t index) {
  return index < count && arguments[index] != Py_None;
}

void expect(Py_ssize_t count, Py_ssize_t least, Py_ssize_t most, const char* name) {
  if (count < least || count > most)
    throw_type_error(std::string(name) + "() was called by code not made for it");
}

// if_stmt(test, body, orelse or None, specification[, get_state, set_state])
PyObject* if_statement(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    expect(count, 4, 6, "if_stmt");
    PyObject* test = arguments[0];
    if (is_staged(test)) {
      StateAccess state(arguments[1], arguments[3], count > 4 ? arguments[4] : nullptr,
                        count > 5 ? arguments[5] : nullptr);
      staged_if(test, arguments[1], arguments[2], state);
    } else if (truth(test)) {
      run(arguments[1]);
    } else if (arguments[2] != Py_None) {
      run(arguments[2]);
    }
    Py_RETURN_NONE;
  });
}

// while_stmt(test, body, specification[, options or None[, get_state, set_state]])
PyObject* while_statement(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    expect(count, 3, 6, "while_stmt");
    PyObject *test = arguments[0], *body = arguments[1];
    for (;;) {
      Ref condition;
      if (is_staging()) {
        // A loop that starts in Python goes on in the graph once its condition is a tensor: after
        // `if tensor: break` in a `while True`, say.
        StateAccess state(body, arguments[2], count > 4 ? arguments[4] : nullptr,
                          count > 5 ? arguments[5] : nullptr);
        condition =
            staged_while(test, body, state, given(arguments, count, 3) ? arguments[3] : nullptr);
        if (!condition) break;
      } else {
        condition = checked_ref(call0(test));
      }
      if (!truth(condition.get())) break;
      run(body);
      if (PyErr_CheckSignals() < 0) throw_python_error();
    }
    Py_RETURN_NONE;
  });
}

// for_stmt(iterated, extra_test or None, body, specification, target[, options or None[, get_state,
// set_state]])
PyObject* for_statement(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    expect(count, 5, 8, "for_stmt");
    PyObject *iterated = arguments[0], *body = arguments[2];
    PyObject* extra_test = arguments[1] == Py_None ? nullptr : arguments[1];
    if (is_staged_iterable(iterated)) {
      StateAccess state(body, arguments[3], count > 6 ? arguments[6] : nullptr,
                        count > 7 ? arguments[7] : nullptr);
      staged_for(iterated, extra_test, body, state, arguments[4],
                 given(arguments, count, 5) ? arguments[5] : nullptr);
      Py_RETURN_NONE;
    }
    Ref iterator = checked_ref(PyObject_GetIter(iterated));
    for (;;) {
      // The flags for break and return.
      Ref goes_on = extra_test == nullptr ? Ref() : checked_ref(call0(extra_test));
      bool depends = goes_on && is_staged(goes_on.get());
      if (goes_on && !depends && !truth(goes_on.get())) break;
      Ref item = Ref::steal(PyIter_Next(iterator.get()));
      if (!item) {
        if (PyErr_Occurred()) throw_python_error();
        break;
      }
      if (depends) {
        // Whether the iteration happens is known only when the graph runs.
        StateAccess state(body, arguments[3], count > 6 ? arguments[6] : nullptr,
                          count > 7 ? arguments[7] : nullptr);
        Ref iteration = checked_ref(PyObject_CallFunctionObjArgs(imported("functools", "partial"),
                                                                 body, item.get(), nullptr));
        staged_if(goes_on.get(), iteration.get(), nullptr, state);
      } else {
        checked_ref(PyObject_CallFunctionObjArgs(body, item.get(), nullptr));
      }
    }
    Py_RETURN_NONE;
  });
}

// if_exp(test, body, orelse)
PyObject* if_expression(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    expect(count, 3, 3, "if_exp");
    if (is_staged(arguments[0]))
      return staged_if_expression(arguments[0], arguments[1], arguments[2]).release();
    return call0(arguments[truth(arguments[0]) ? 1 : 2]);
  });
}

// and_(left, right), or_(left, right): functions without arguments.
PyObject* logical(PyObject* const* arguments, Py_ssize_t count, bool is_and) {
  return guarded([&]() -> PyObject* {
    expect(count, 2, 2, is_and ? "and_" : "or_");
    Ref left = checked_ref(call0(arguments[0]));
    if (is_staged(left.get())) return staged_logical(left.get(), arguments[1], is_and).release();
    return truth(left.get()) == is_and ? call0(arguments[1]) : left.release();
  });
}
PyObject* logical_and(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return logical(arguments, count, true);
}
PyObject* logical_or(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return logical(arguments, count, false);
}

PyObject* logical_not(PyObject*, PyObject* operand) {
  return guarded([&]() -> PyObject* {
    if (is_staged(operand)) return staged_not(operand).release();
    return PyBool_FromLong(!truth(operand));
  });
}

// assert_stmt(test, function that gives the message or None)
PyObject* assert_statement(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    expect(count, 2, 2, "assert_stmt");
    PyObject* message = arguments[1] == Py_None ? nullptr : arguments[1];
    if (is_staged(arguments[0])) {
      Ref data = message != nullptr ? checked_ref(call0(message)) : Ref();
      staged_assert(arguments[0], data.get());
    } else if (!truth(arguments[0])) {
      if (message == nullptr) {
        PyErr_SetNone(PyExc_AssertionError);
      } else {
        Ref data = checked_ref(call0(message));
        PyErr_SetObject(PyExc_AssertionError, data.get());
      }
      return nullptr;
    }
    Py_RETURN_NONE;
  });
}

// The value of a composite variable, or the mark of an undefined one.
PyObject* load_undefined(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    expect(count, 2, 2, "ldu");
    PyObject* value = call0(arguments[0]);
    if (value != nullptr) return value;
    for (PyObject* expected :
         {PyExc_KeyError, PyExc_AttributeError, PyExc_NameError, PyExc_IndexError}) {
      if (PyErr_ExceptionMatches(expected)) {
        PyErr_Clear();
        return PyObject_CallFunctionObjArgs(
            imported("graphwright.autograph.variables", "Undefined"), arguments[1], nullptr);
      }
    }
    return nullptr;
  });
}

PyObject* undefined_return_value(PyObject*, PyObject*) {
  return guarded([&] {
    return Ref::borrow(imported("graphwright.autograph.variables", "UNDEFINED_RETURN_VALUE"))
        .release();
  });
}

// returned(value, whether a return was met)
PyObject* returned(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    expect(count, 2, 2, "returned");
    PyObject* value = arguments[0];
    if (is_staged(arguments[1])) {
      // Whether a return is met depends on a tensor: on some path there is nothing to return.
      throw_value_error(
          "every path through the function must end in a return statement, since a condition on a "
          "tensor decides which is taken: the else branch must also have a return statement.");
    }
    if (value == imported("graphwright.autograph.variables", "UNDEFINED_RETURN_VALUE"))
      value = Py_None;
    return Ref::borrow(value).release();
  });
}

template <typename F>
PyCFunction method(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef kOperators[] = {
    {"if_stmt", method(if_statement), METH_FASTCALL, "An if statement."},
    {"while_stmt", method(while_statement), METH_FASTCALL, "A while statement."},
    {"for_stmt", method(for_statement), METH_FASTCALL, "A for statement."},
    {"if_exp", method(if_expression), METH_FASTCALL, "A conditional expression."},
    {"and_", method(logical_and), METH_FASTCALL, "`and`, of functions without arguments."},
    {"or_", method(logical_or), METH_FASTCALL, "`or`, of functions without arguments."},
    {"not_", method(logical_not), METH_O, "`not`."},
    {"assert_stmt", method(assert_statement), METH_FASTCALL, "An assert statement."},
    {"ldu", method(load_undefined), METH_FASTCALL,
     "The value of a variable that may be undefined."},
    {"UndefinedReturnValue", method(undefined_return_value), METH_NOARGS,
     "The value of a missing return."},
    {"returned", method(returned), METH_FASTCALL,
     "The value that a function with early returns returns."},
};

// --- state of conversion, for the Python package

std::unordered_map<PyObject*, PyObject*>& overloads() {
  static auto* const overloads = new std::unordered_map<PyObject*, PyObject*>;
  return *overloads;
}

}  // namespace

PyObject* autograph_operators() {
  static PyObject* operators = [] {
    PyObject* module = checked(PyModule_New("ag__"));
    for (PyMethodDef& definition : kOperators) {
      Ref function = checked_ref(PyCFunction_NewEx(&definition, nullptr, nullptr));
      if (PyObject_SetAttrString(module, definition.ml_name, function.get()) < 0)
        throw_python_error();
    }
    return module;
  }();
  return operators;
}

bool autograph_enabled() { return enabled; }
bool set_autograph_enabled(bool value) { return std::exchange(enabled, value); }

namespace {
thread_local bool trace_converts = false;
}  // namespace

bool autograph_active() { return enabled && trace_converts; }
AutographTrace::AutographTrace(bool converts)
    : previous_(std::exchange(trace_converts, converts)) {}
AutographTrace::~AutographTrace() { trace_converts = previous_; }

PyObject* autograph_overload(PyObject* callable) {
  auto found = overloads().find(callable);
  return found == overloads().end() ? callable : found->second;
}

void set_autograph_overload(PyObject* callable, PyObject* overload) {
  Py_INCREF(callable);
  Py_INCREF(overload);
  overloads()[callable] = overload;
}

}  // namespace graphwright
