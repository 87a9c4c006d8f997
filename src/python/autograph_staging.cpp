#include "python/autograph_staging.h"

#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/control_values.h"
#include "python/errors.h"
#include "python/nest.h"
#include "python/tensor_object.h"

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
bool is_staged(PyObject* value) { return is_staging() && is_tensor_like(value); }
bool is_staged_iterable(PyObject* value) { return is_staged(value); }

namespace {

// --- if ---

// What a branch leaves in the variables.
struct Branch {
  const char* name;
  PyObject* function;  // null: nothing happens
  std::vector<Ref> values;
  std::vector<Flat> flats;
};

class StagedIf {
 public:
  StagedIf(const Operand& test, PyObject* body, PyObject* orelse, const StateAccess& state)
      : test_(test),
        state_(state),
        initial_(state.get()),
        branches_{{"main", body, {}, {}}, {"else", orelse, {}, {}}} {}

  void run() {
    try {
      GraphBuilder& builder = graph_builder();
      OperandVector outputs = builder.if_else(
          test_, [&](std::span<const Operand>) { return trace(0); },
          [&](std::span<const Operand>) { return trace(1); });
      finish(outputs);
    } catch (...) {
      state_.set(initial_);
      throw;
    }
  }

 private:
  void execute(Branch& branch) {
    state_.set(initial_);
    if (branch.function != nullptr && branch.function != Py_None) {
      checked_ref(PyObject_CallObject(branch.function, nullptr));
    }
    branch.values = state_.get();
    branch.values.resize(state_.output_count());
    branch.flats.assign(branch.values.size(), Flat());
    for (size_t i = 0; i < branch.values.size(); ++i) {
      if (!branch.values[i]) {
        throw_value_error("'" + state_.name(i) + "' must also be initialized in the " +
                          branch.name + " branch");
      }
      // A flag that the test has found out to be set, is.
      if (state_.is_flag(i) && is_tensor(branch.values[i].get()) &&
          implied(branch, operand_in(branch.values[i].get()))) {
        branch.values[i] = Ref::borrow(Py_True);
      }
      branch.flats[i] = Flat(branch.values[i].get());
    }
  }

  // Whether `operand` is true in the branch because of the condition.
  bool implied(const Branch& branch, const Operand& operand) const {
    if (&branch == &branches_[0]) return operand == test_;
    return negated(test_) && *negated(test_) == operand;
  }

  OperandVector trace(int which) {
    Branch& branch = branches_[which];
    execute(branch);
    if (which == 0 && has_missing_return(branch)) {
      // What the other branch returns tells the type of the value that is not there.
      GraphBuilder& builder = graph_builder();
      GraphBuilder::Mark mark = builder.mark();
      Branch trial{branches_[1].name, branches_[1].function, {}, {}};
      execute(trial);
      fill_missing_return(branch, trial);
      builder.rollback(mark);
    } else if (which == 1) {
      fill_missing_return(branch, branches_[0]);
      check_agreement();
    }
    OperandVector operands;
    for (Flat& flat : branch.flats) {
      for (size_t leaf = 0; leaf < flat.leaves.size(); ++leaf) {
        if (flat.carried[leaf]) operands.push_back(leaf_operand(flat.leaves[leaf].get()));
      }
    }
    return operands;
  }

  static bool has_missing_return(const Branch& branch) {
    for (const Ref& value : branch.values) {
      if (is_missing_return(value.get())) return true;
    }
    return false;
  }

  // A path that has not returned has any value to return: the flag beside it says not to read it.
  void fill_missing_return(Branch& branch, const Branch& other) const {
    for (size_t i = 0; i < branch.values.size(); ++i) {
      if (!is_missing_return(branch.values[i].get()) || is_missing_return(other.values[i].get()))
        continue;
      Flat filled = other.flats[i];
      for (size_t leaf = 0; leaf < filled.leaves.size(); ++leaf) {
        if (!filled.carried[leaf]) continue;
        Operand operand = leaf_operand(other.flats[i].leaves[leaf].get());
        filled.leaves[leaf] = wrapped(placeholder_value(current_builder(), type_of(operand)));
      }
      branch.flats[i] = std::move(filled);
      branch.values[i] = branch.flats[i].value();
    }
  }

  void check_agreement() const {
    for (size_t i = 0; i < branches_[0].flats.size(); ++i) {
      const std::string& name = state_.name(i);
      const Flat &main = branches_[0].flats[i], &orelse = branches_[1].flats[i];
      if (!(main.structure == orelse.structure)) {
        throw_type_error("'" + name +
                         "' must have the same nested structure in the main and else branches: " +
                         main.structure.to_string() + " and " + orelse.structure.to_string());
      }
      for (size_t leaf = 0; leaf < main.leaves.size(); ++leaf) {
        PyObject *a = main.leaves[leaf].get(), *b = orelse.leaves[leaf].get();
        if (main.carried[leaf] && orelse.carried[leaf]) {
          DType first = dtype_of(leaf_operand(a)), second = dtype_of(leaf_operand(b));
          if (first != second) {
            throw_type_error(leaf_name(name, main, leaf) + " has dtype " +
                             std::string(dtype_name(first)) + " in the main branch, but dtype " +
                             std::string(dtype_name(second)) + " in the else branch");
          }
          continue;
        }
        if (a == b) continue;
        if (a == Py_None || b == Py_None) {
          throw_value_error("'" + name + "' is None at the end of the " +
                            (a == Py_None ? "main" : "else") + " branch.");
        }
        throw_type_error(
            leaf_name(name, main, leaf) +
            " must be a tensor or a number to depend on a condition that is a tensor; it is " +
            repr_of(a) + " at the end of the main branch and " + repr_of(b) +
            " at the end of the else branch");
      }
    }
  }

  void finish(const OperandVector& outputs) {
    std::vector<Ref> values = initial_;
    size_t next = 0;
    for (size_t i = 0; i < branches_[0].flats.size(); ++i) {
      Flat result = branches_[0].flats[i];
      for (size_t leaf = 0; leaf < result.leaves.size(); ++leaf) {
        if (!result.carried[leaf]) continue;
        result.leaves[leaf] = branch_leaf_with(result.leaves[leaf].get(), outputs[next++]);
      }
      // A flag that both branches leave the same is known without running.
      bool known_flag = state_.is_flag(i) && PyBool_Check(branches_[0].values[i].get()) &&
                        branches_[0].values[i].get() == branches_[1].values[i].get();
      values[i] = known_flag ? branches_[0].values[i] : result.value();
    }
    state_.set(values);
  }

  Operand test_;
  const StateAccess& state_;
  std::vector<Ref> initial_;
  Branch branches_[2];
};

}  // namespace

void staged_if(PyObject* test, PyObject* body, PyObject* orelse, const StateAccess& state) {
  StagedIf(bool_condition(operand_of(test), "if statement"), body, orelse, state).run();
}

// --- expressions ---

Ref staged_if_expression(PyObject* test, PyObject* body, PyObject* orelse) {
  Operand condition = bool_condition(operand_of(test), "conditional expression");
  Flat flats[2];
  auto trace = [&](int which, PyObject* function) {
    Ref value = checked_ref(PyObject_CallObject(function, nullptr));
    flats[which] = Flat(value.get());
    if (which == 1 && !(flats[0].structure == flats[1].structure)) {
      throw_type_error(
          "the values of a conditional expression on a tensor must have the same nested "
          "structure: " +
          flats[0].structure.to_string() + " and " + flats[1].structure.to_string());
    }
    OperandVector operands;
    for (const Ref& leaf : flats[which].leaves) operands.push_back(leaf_operand(leaf.get()));
    return operands;
  };
  OperandVector outputs = current_builder().if_else(
      condition, [&](std::span<const Operand>) { return trace(0, body); },
      [&](std::span<const Operand>) { return trace(1, orelse); });
  for (size_t leaf = 0; leaf < outputs.size(); ++leaf) {
    flats[0].leaves[leaf] = branch_leaf_with(flats[0].leaves[leaf].get(), outputs[leaf]);
  }
  return flats[0].value();
}

Ref staged_logical(PyObject* left, PyObject* right, bool is_and) {
  Operand condition = bool_condition(operand_of(left), is_and ? "`and`" : "`or`");
  struct LeftAlone {};
  auto known = [&](std::span<const Operand>) { return OperandVector{condition}; };
  auto evaluated = [&](std::span<const Operand>) {
    Ref value = checked_ref(PyObject_CallObject(right, nullptr));
    // `not flag and True`, the condition of an endless loop with a way out, is `not flag`.
    if (is_and && value.get() == Py_True && negated(condition)) throw LeftAlone();
    return OperandVector{operand_of(value.get())};
  };
  try {
    OperandVector outputs = is_and ? current_builder().if_else(condition, evaluated, known)
                                   : current_builder().if_else(condition, known, evaluated);
    return wrapped(outputs[0]);
  } catch (const LeftAlone&) {
    return Ref::borrow(left);
  }
}

Ref staged_not(PyObject* operand) {
  return wrapped(current_builder().op("LogicalNot", {operand_of(operand)}));
}

void staged_assert(PyObject* test, PyObject* message) {
  Operand condition = bool_condition(operand_of(test), "assert statement");
  OperandVector inputs{condition};
  std::vector<Ref> leaves;
  if (message != nullptr) nest_flatten(message, leaves);
  for (const Ref& leaf : leaves) {
    // What is no tensor is shown as its text.
    inputs.push_back(is_carried(leaf.get())
                         ? operand_of(leaf.get())
                         : operand_of(checked_ref(PyObject_Str(leaf.get())).get()));
  }
  if (inputs.size() == 1) {
    inputs.push_back(current_builder().constant(Tensor::string_scalar("assertion failed")));
  }
  OperandVector outputs;
  current_builder().apply(get_op("Assert"), inputs, {}, outputs);
}

}  // namespace graphwright
