#include "python/autograph_staging.h"

#include "ir/thread_state.h"
#include "python/errors.h"

namespace graphwright {

namespace {

Ref attribute(PyObject* object, const char* name) {
  return checked_ref(PyObject_GetAttr(object, interned(name)));
}

}  // namespace

StateAccess::StateAccess(PyObject* body, PyObject* specification, PyObject* getter,
                         PyObject* setter)
    : letters_(text_of(PyTuple_GetItem(specification, 2))),
      body_(body),
      getter_(getter),
      setter_(setter) {
  PyObject* names = PyTuple_GetItem(specification, 0);
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i)
    names_.emplace_back(text_of(PyTuple_GetItem(names, i)));
  output_count_ = static_cast<size_t>(PyLong_AsLong(PyTuple_GetItem(specification, 1)));
  cells_.resize(names_.size());
  if (names_.empty()) return;
  Ref code = attribute(body, "__code__");
  Ref free_variables = attribute(code.get(), "co_freevars");
  Ref closure = attribute(body, "__closure__");
  for (size_t i = 0; i < names_.size(); ++i) {
    if (letters_[i] != 'v' && letters_[i] != 'f') continue;
    for (Py_ssize_t j = 0; j < PyTuple_Size(free_variables.get()); ++j) {
      if (text_of(PyTuple_GetItem(free_variables.get(), j)) == names_[i]) {
        cells_[i] = Ref::borrow(PyTuple_GetItem(closure.get(), j));
      }
    }
    if (!cells_[i])
      throw_internal("the variable '" + names_[i] + "' has no cell in " + repr_of(body));
  }
}

std::vector<Ref> StateAccess::get() const {
  std::vector<Ref> values(names_.size());
  Ref composites;
  Py_ssize_t next_composite = 0;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (cells_[i]) {
      values[i] = Ref::steal(PyObject_GetAttr(cells_[i].get(), interned("cell_contents")));
      if (!values[i]) PyErr_Clear();  // an empty cell
    } else if (letters_[i] == 'g') {
      Ref globals = attribute(body_, "__globals__");
      values[i] = Ref::borrow(PyDict_GetItemWithError(globals.get(), make_text(names_[i]).get()));
    } else {
      if (!composites) composites = checked_ref(PyObject_CallObject(getter_, nullptr));
      PyObject* value = PyTuple_GetItem(composites.get(), next_composite++);
      PyObject* undefined = imported("graphwright.autograph.variables", "Undefined");
      if (reinterpret_cast<PyObject*>(Py_TYPE(value)) != undefined) values[i] = Ref::borrow(value);
    }
  }
  return values;
}

void StateAccess::set(const std::vector<Ref>& values) const {
  std::vector<Ref> composites;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (cells_[i]) {
      // Setting to null deletes, which an empty cell refuses.
      if (PyObject_SetAttr(cells_[i].get(), interned("cell_contents"), values[i].get()) < 0) {
        if (values[i]) throw_python_error();
        PyErr_Clear();
      }
    } else if (letters_[i] == 'g') {
      Ref globals = attribute(body_, "__globals__");
      Ref name = make_text(names_[i]);
      int failed = values[i] ? PyDict_SetItem(globals.get(), name.get(), values[i].get())
                             : PyDict_DelItem(globals.get(), name.get());
      if (failed < 0) {
        if (values[i]) throw_python_error();
        PyErr_Clear();
      }
    } else {
      composites.push_back(values[i]);
    }
  }
  if (composites.empty()) return;
  Ref tuple = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(composites.size())));
  for (size_t i = 0; i < composites.size(); ++i) {
    Ref value = composites[i];
    if (!value) value = Ref::borrow(imported("graphwright.autograph.variables", "UNDEFINED"));
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), value.release());
  }
  checked_ref(PyObject_CallFunctionObjArgs(setter_, tuple.get(), nullptr));
}

bool is_staging() { return (thread_state.bits & ThreadState::kBuilding) != 0; }

bool is_staged(PyObject*) { return false; }
bool is_staged_iterable(PyObject*) { return false; }
void staged_if(PyObject*, PyObject*, PyObject*, const StateAccess&) {
  throw_unimplemented("if on a tensor");
}
bool staged_while(PyObject*, PyObject*, const StateAccess&, PyObject*) { return false; }
void staged_for(PyObject*, PyObject*, PyObject*, const StateAccess&, PyObject*, PyObject*) {
  throw_unimplemented("for over a tensor");
}
Ref staged_if_expression(PyObject*, PyObject*, PyObject*) {
  throw_unimplemented("a conditional on a tensor");
}
Ref staged_logical(PyObject*, PyObject*, bool) { throw_unimplemented("and, or on a tensor"); }
Ref staged_not(PyObject*) { throw_unimplemented("not on a tensor"); }

}  // namespace graphwright
