#include "python/errors.h"

#include <new>
#include <string>

namespace graphwright {
namespace {

constexpr std::string_view kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

PyObject* builtin_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kValueError:
      return PyExc_ValueError;
    case ErrorKind::kTypeError:
      return PyExc_TypeError;
    case ErrorKind::kIndexError:
      return PyExc_IndexError;
    case ErrorKind::kKeyError:
      return PyExc_KeyError;
    case ErrorKind::kAttributeError:
      return PyExc_AttributeError;
    case ErrorKind::kRuntimeError:
      return PyExc_RuntimeError;
    case ErrorKind::kOverflowError:
      return PyExc_OverflowError;
    case ErrorKind::kNotImplementedError:
      return PyExc_NotImplementedError;
    case ErrorKind::kOp:
      break;
  }
  return nullptr;
}

void release_exception(void* exception) {
  if (!Py_IsInitialized()) return;  // the interpreter and its objects are gone
  GilHold gil;
  Py_DECREF(static_cast<PyObject*>(exception));
}

// The current Python exception as an object with its traceback; the error is cleared.
PyObject* take_python_exception() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (!type) return nullptr;
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(traceback);
  Py_DECREF(type);
  return value;
}

std::shared_ptr<ErrorDetail> detail_of_python_error() {
  auto detail = std::make_shared<ErrorDetail>();
  PyObject* exception = take_python_exception();
  if (!exception) {
    detail->kind = ErrorKind::kRuntimeError;
    detail->message = "a Python call failed without raising an exception";
    return detail;
  }
  Ref text = Ref::steal(PyObject_Str(exception));
  Py_ssize_t size = 0;
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr;
  if (utf8) {
    detail->message.assign(utf8, static_cast<size_t>(size));
  } else {
    PyErr_Clear();
  }
  detail->foreign = exception;
  detail->release_foreign = release_exception;
  return detail;
}

std::string traceback_text(Location location) {
  std::string text;
  for (const SourceFrame& frame : resolve_location(location)) {
    text += "  File \"" + frame.file + "\", line " + std::to_string(frame.line) + ", in " +
            frame.function + "\n\n";
  }
  return text;
}

}  // namespace

std::string rendered_message(const ErrorDetail& error) {
  if (error.kind != ErrorKind::kOp) return error.message;
  if (!error.node_name.empty()) {
    std::string text = "Graph execution error:\n\nDetected at node " + error.node_name +
                       " defined at (most recent call last):\n" + traceback_text(error.location);
    text += error.message + "\n\t [[{{node " + error.node_name + "}}]]";
    if (!error.op.empty()) text += " [Op:" + error.op + "]";
    return text;
  }
  if (error.op.empty()) return error.message;
  std::string text;
  // Errors about dtypes are found before the op's own function would have been entered.
  bool before_the_op = error.message.starts_with("cannot compute") ||
                       error.message.starts_with("Value for attr") ||
                       error.message.starts_with("{{function_node");
  if (!before_the_op) {
    text = "{{function_node __wrapped__" + error.op + "_device_" + std::string(kDevice) + "}} ";
  }
  const std::string suffix = " [Op:" + error.op + "]";
  std::string_view message = error.message;
  if (message.ends_with(suffix)) message.remove_suffix(suffix.size());
  return text.append(message) + suffix + " name: ";
}

PyObject* make_exception(const ErrorDetail& error) {
  if (error.foreign) {
    PyObject* exception = static_cast<PyObject*>(error.foreign);
    Py_INCREF(exception);
    return exception;
  }
  Ref message = make_text(rendered_message(error));
  if (PyObject* type = builtin_class(error.kind)) {
    Ref exception = checked_ref(PyObject_CallFunctionObjArgs(type, message.get(), nullptr));
    // The name under which TensorFlow's programs, too, tell AutoGraph to leave an error alone.
    if (error.plain && PyObject_SetAttrString(exception.get(), "ag_pass_through", Py_True) < 0) {
      throw_python_error();
    }
    return exception.release();
  }
  Ref code = checked_ref(PyLong_FromLong(static_cast<long>(error.code)));
  Ref type =
      checked_ref(PyObject_GetItem(imported("graphwright.errors", "_class_of_code"), code.get()));
  return checked(
      PyObject_CallFunctionObjArgs(type.get(), Py_None, Py_None, message.get(), nullptr));
}

namespace {

// Where a handler of a signal has ended a run: as a note, where Python has them (3.11), else as the
// text of an exception that has none.
void add_place(PyObject* exception, const ErrorDetail& error) {
  std::string text = "Interrupted at node " + error.node_name +
                     ", defined at (most recent call last):\n" + traceback_text(error.location);
  Ref note = make_text(text);
  Ref name = make_text("add_note");
  Ref done = Ref::steal(PyObject_CallMethodObjArgs(exception, name.get(), note.get(), nullptr));
  if (done) return;
  PyErr_Clear();
  Ref arguments = Ref::steal(PyObject_GetAttrString(exception, "args"));
  if (arguments && PyTuple_Check(arguments.get()) && PyTuple_Size(arguments.get()) == 0) {
    Ref one = Ref::steal(PyTuple_Pack(1, note.get()));
    if (one) PyObject_SetAttrString(exception, "args", one.get());
  }
  PyErr_Clear();
}

}  // namespace

void set_python_error(const ErrorDetail& error) {
  try {
    Ref exception = Ref::steal(make_exception(error));
    if (error.foreign && error.code == Code::kCancelled && !error.node_name.empty()) {
      add_place(exception.get(), error);
    }
    PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(exception.get()));
    Py_INCREF(type);
    PyObject* traceback = PyException_GetTraceback(exception.get());
    PyErr_Restore(type, exception.release(), traceback);
  } catch (const Error&) {
    // Even making the exception failed: say what the matter was, if not in its class.
    PyErr_SetString(PyExc_RuntimeError, error.message.c_str());
  }
}

void set_python_error_from_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    // A run that Ctrl-C has ended raises what Python's own handler raises.
    if (error.detail().code == Code::kCancelled && PyErr_CheckSignals() < 0) return;
    set_python_error(error.detail());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}

void throw_python_error() { throw Error(detail_of_python_error()); }

Status python_error_status() { return Status(detail_of_python_error()); }

}  // namespace graphwright
