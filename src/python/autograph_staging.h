// Control flow that becomes part of a graph: AutoGraph's operators where their condition, or what
// they iterate over, is a tensor and a graph is being built.
#pragma once

#include <string>
#include <vector>

#include "python/python_api.h"

namespace graphwright {

// The variables that a construct changes and that matter outside it, as the lowering lists them.
// Plain variables live in closure cells of the construct's body, global ones in its globals,
// composite ones (`a.b`, `a[i]`) behind functions that get and set them. A variable without a value
// is a null reference.
class StateAccess {
 public:
  // `specification` is (names, number of outputs, one letter per name), see the lowering's
  // control_flow.cpp.
  StateAccess(PyObject* body, PyObject* specification, PyObject* getter, PyObject* setter);

  size_t size() const { return names_.size(); }
  const std::string& name(size_t i) const { return names_[i]; }
  // Variables from here on are only read inside; what they hold afterwards does not matter.
  size_t output_count() const { return output_count_; }
  // Made by the lowering for break, continue and return.
  bool is_flag(size_t i) const { return letters_[i] == 'f'; }

  std::vector<Ref> get() const;
  void set(const std::vector<Ref>& values) const;

 private:
  std::vector<std::string> names_;
  std::string letters_;
  size_t output_count_ = 0;
  std::vector<Ref> cells_;  // by variable; null where it is no cell
  PyObject* body_;
  PyObject* getter_;
  PyObject* setter_;
};

// Whether a graph is being built.
bool is_staging();
// Whether the value is a tensor that control flow must be staged for.
bool is_staged(PyObject* value);
bool is_staged_iterable(PyObject* value);

void staged_if(PyObject* test, PyObject* body, PyObject* orelse, const StateAccess& state);
// Null if the loop was staged; otherwise the first value of its condition, which is a Python value.
Ref staged_while(PyObject* test, PyObject* body, const StateAccess& state, PyObject* options);
void staged_for(PyObject* iterated, PyObject* extra_test, PyObject* body, const StateAccess& state,
                PyObject* target, PyObject* options);
Ref staged_if_expression(PyObject* test, PyObject* body, PyObject* orelse);
Ref staged_logical(PyObject* left, PyObject* right, bool is_and);
Ref staged_not(PyObject* operand);
// `message`: what to say when the assertion fails, or null.
void staged_assert(PyObject* test, PyObject* message);

}  // namespace graphwright
