#include "python/locations.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph_builder.h"
#include "python/autograph_convert.h"
#include "python/errors.h"

namespace graphwright {
namespace {

// The innermost frame of the program outside the current trace, and its location.
thread_local const void* boundary_frame = nullptr;
thread_local Location boundary_location = kNoLocation;

constexpr size_t kMaxFrames = 64;  // beyond, the outermost are left out

std::string text_attribute(PyObject* object, const char* name) {
  Ref value = checked_ref(PyObject_GetAttr(object, interned(name)));
  return std::string(text_of(value.get()));
}

const std::string& package_folder() {
  static const std::string* const folder = [] {
    std::string file =
        text_attribute(Ref::steal(PyImport_ImportModule("graphwright")).get(), "__file__");
    return new std::string(file.substr(0, file.rfind('/') + 1));
  }();
  return *folder;
}

// Code of this package and of the import system is no place that a user wants to see. Asked for
// every frame, so the answer is kept; the table keeps the code objects alive.
bool is_internal(PyObject* code) {
  static auto* const answers = new std::unordered_map<PyObject*, bool>();
  auto [entry, added] = answers->try_emplace(code, false);
  if (added) {
    Py_INCREF(code);
    std::string file = text_attribute(code, "co_filename");
    entry->second = file.starts_with(package_folder()) || file.starts_with("<frozen");
  }
  return entry->second;
}

int line_of(PyObject* code, int instruction) {
  // (start, end, line) of consecutive ranges of instructions.
  Ref lines = checked_ref(PyObject_CallMethod(code, "co_lines", nullptr));
  while (Ref range = Ref::steal(PyIter_Next(lines.get()))) {
    long start = PyLong_AsLong(PyTuple_GetItem(range.get(), 0));
    long end = PyLong_AsLong(PyTuple_GetItem(range.get(), 1));
    PyObject* line = PyTuple_GetItem(range.get(), 2);
    if (instruction >= start && instruction < end && line != Py_None) {
      return static_cast<int>(PyLong_AsLong(line));
    }
  }
  if (PyErr_Occurred()) throw_python_error();
  Ref first = checked_ref(PyObject_GetAttr(code, interned("co_firstlineno")));
  return static_cast<int>(PyLong_AsLong(first.get()));
}

SourceFrame resolve(const LocationKey& key) {
  GilHold gil;
  SourceFrame frame;
  try {
    PyObject* code = static_cast<PyObject*>(const_cast<void*>(key.code));
    frame.file = text_attribute(code, "co_filename");
    frame.function = text_attribute(code, "co_name");
    frame.line = line_of(code, key.instruction);
    frame.converted = is_converted_code(code);
    constexpr std::string_view kConvertedPrefix = "tf__";
    if (frame.converted && frame.function.starts_with(kConvertedPrefix)) {
      frame.function.erase(0, kConvertedPrefix.size());
    }
  } catch (const Error&) {
    // A location that cannot be shown must not hide the error that it was asked for.
    PyErr_Clear();
  }
  return frame;
}

void retain(const void* code) {
  GilHold gil;
  Py_INCREF(static_cast<PyObject*>(const_cast<void*>(code)));
}

int instruction_of(PyObject* frame) {
  Ref instruction = checked_ref(PyObject_GetAttr(frame, interned("f_lasti")));
  return static_cast<int>(PyLong_AsLong(instruction.get()));
}

Location walk() {
  struct Step {
    Ref code;
    int instruction;
  };
  std::vector<Step> steps;
  Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  Location location = kNoLocation;
  while (frame && frame.get() != Py_None && steps.size() < kMaxFrames) {
    if (frame.get() == boundary_frame) {
      location = boundary_location;
      break;
    }
    Ref code = Ref::steal(reinterpret_cast<PyObject*>(
        PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.get()))));
    if (!is_internal(code.get())) steps.push_back({code, instruction_of(frame.get())});
    frame = checked_ref(PyObject_GetAttr(frame.get(), interned("f_back")));
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    location = intern_location({step->code.get(), step->instruction, location});
  }
  return location;
}

}  // namespace

Location current_python_location() {
  if (!PyEval_GetFrame()) return boundary_location;
  try {
    return walk();
  } catch (const Error&) {
    PyErr_Clear();  // as in resolve
    return boundary_location;
  }
}

LocationScope::LocationScope()
    : previous_frame_(boundary_frame), previous_location_(boundary_location) {
  Location here = current_python_location();
  boundary_frame = PyEval_GetFrame();
  boundary_location = here;
}

LocationScope::~LocationScope() {
  boundary_frame = previous_frame_;
  boundary_location = previous_location_;
}

void install_locations() {
  set_location_resolver({resolve, retain});
  set_location_source(current_python_location);
}

}  // namespace graphwright
