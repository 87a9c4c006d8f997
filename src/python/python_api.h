// The C API of Python as the raw types use it: limited to what 3.10's stable ABI has, plus owned
// references and the vectorcall protocol, which 3.10 and 3.11 know but their limited headers hide.
#pragma once

#include <Python.h>
// After Python.h, which it needs.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <structmember.h>

namespace graphwright {

// An owned reference, or null.
class Ref {
 public:
  Ref() = default;
  static Ref steal(PyObject* object) { return Ref(object); }
  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Adds or drops the GIL for a scope.
class GilHold {
 public:
  GilHold() : state_(PyGILState_Ensure()) {}
  ~GilHold() { PyGILState_Release(state_); }
  GilHold(const GilHold&) = delete;
  GilHold& operator=(const GilHold&) = delete;

 private:
  PyGILState_STATE state_;
};
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { PyEval_RestoreThread(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

using VectorCall = PyObject* (*)(PyObject* callable, PyObject* const* arguments, size_t flags,
                                 PyObject* keywords);
inline constexpr unsigned long kVectorCallFlag = 1UL << 11;  // Py_TPFLAGS_HAVE_VECTORCALL
inline constexpr size_t kVectorCallOffset = size_t{1} << (8 * sizeof(size_t) - 1);
inline Py_ssize_t vectorcall_count(size_t flags) {
  return static_cast<Py_ssize_t>(flags & ~kVectorCallOffset);
}

// The UTF-8 text of a str, valid while the object lives. TypeError (as a thrown Error) otherwise.
std::string_view text_of(PyObject* str);
Ref make_text(std::string_view text);

// Attribute of a module, imported on first use and kept: imported("numpy", "ndarray"). Throws the
// import's own exception.
PyObject* imported(const char* module, const char* attribute);
// An interned str that lives for ever.
PyObject* interned(const char* text);

std::string type_name(PyObject* object);  // __name__ of its type, without the module
// repr(object), or a text naming its type where repr raises; neither function raises itself.
std::string repr_of(PyObject* object);

}  // namespace graphwright
