#include "python/python_api.h"

#include <unordered_map>

#include "python/errors.h"

namespace graphwright {

std::string_view text_of(PyObject* str) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(str, &size);
  if (!text) throw_python_error();
  return {text, static_cast<size_t>(size)};
}

Ref make_text(std::string_view text) {
  // Messages may quote a user's bytes: whatever is not UTF-8 is replaced, never an error.
  return checked_ref(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

PyObject* imported(const char* module, const char* attribute) {
  // Guarded by the GIL. Keys are the literals' addresses: equal texts at two addresses only cost
  // a second entry.
  struct KeyHash {
    size_t operator()(const std::pair<const char*, const char*>& key) const {
      return reinterpret_cast<uintptr_t>(key.first) * 31 + reinterpret_cast<uintptr_t>(key.second);
    }
  };
  static auto* const cache =
      new std::unordered_map<std::pair<const char*, const char*>, PyObject*, KeyHash>();
  auto found = cache->find({module, attribute});
  if (found != cache->end()) return found->second;
  Ref imported_module = checked_ref(PyImport_ImportModule(module));
  PyObject* value = checked(PyObject_GetAttrString(imported_module.get(), attribute));
  cache->emplace(std::pair{module, attribute}, value);
  return value;
}

PyObject* interned(const char* text) {
  static auto* const cache = new std::unordered_map<const char*, PyObject*>();
  auto [entry, added] = cache->try_emplace(text, nullptr);
  if (added) entry->second = checked(PyUnicode_InternFromString(text));
  return entry->second;
}

namespace {

std::string text_or(PyObject* text, std::string_view fallback) {
  Ref owned = Ref::steal(text);
  Py_ssize_t size = 0;
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (utf8) return {utf8, static_cast<size_t>(size)};
  PyErr_Clear();
  return std::string(fallback);
}

}  // namespace

std::string type_name(PyObject* object) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return text_or(PyObject_GetAttrString(type, "__name__"), "object");
}

std::string repr_of(PyObject* object) {
  PyObject* repr = PyObject_Repr(object);
  if (repr) return text_or(repr, "");
  PyErr_Clear();
  return "<unprintable " + type_name(object) + " object>";
}

}  // namespace graphwright
