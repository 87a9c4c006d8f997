// tf.cond, tf.case and tf.switch_case.
#include <algorithm>
#include <functional>

#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/control_flow.h"
#include "python/control_values.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/name_scope.h"
#include "python/nest.h"
#include "python/tensor_object.h"

namespace graphwright {
namespace {

constexpr NestOptions kNest{.expand_composites = true};

// Enters a scope of the current context while it lives.
class ScopeGuard {
 public:
  explicit ScopeGuard(std::string_view name) { enter_name_scope(name); }
  ~ScopeGuard() { leave_name_scope(); }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
};

bool is_callable(PyObject* object) { return PyCallable_Check(object) != 0; }

BranchFunction branch_of(PyObject* function) {
  return {[function] { return checked_ref(PyObject_CallObject(function, nullptr)); }, function};
}

// Python's truth of an eager tensor's value.
bool truth(const Tensor& tensor) {
  if (tensor.dtype() == DType::kBool && tensor.element_count() == 1) return *tensor.data<bool>();
  Ref array = Ref::steal(checked(tensor_to_numpy(tensor)));
  int result = PyObject_IsTrue(array.get());
  if (result < 0) throw_python_error();
  return result == 1;
}

// How a conditional calls itself and its branches in messages.
struct BranchNames {
  const char* function;  // "tf.cond"
  const char* kind;      // "cond"
  std::string (*branch)(size_t index);
};
constexpr BranchNames kCondNames{"tf.cond", "cond", +[](size_t index) {
                                   return std::string(index == 0 ? "true_fn" : "false_fn");
                                 }};
constexpr BranchNames kCaseNames{"tf.switch_case", "case", +[](size_t index) {
                                   return "branches[" + std::to_string(index) + "]";
                                 }};

// Traces Python functions into the blocks of one control node and sees that they agree.
class BranchTrace {
 public:
  BranchTrace(const BranchNames& names, std::span<const BranchFunction> branches)
      : names_(names), branches_(branches) {}

  OperandVector trace(size_t index) {
    const BranchFunction& branch = branches_[index];
    Ref value = branch.call();
    // An operation returned stands for the value that the branch was chosen by.
    Operand selector(graph_builder().block().owner->inputs[0]);
    flats_.push_back(traced_results(branch.function, value.get(), selector));
    if (index > 0) check_agreement(index);
    return carried_operands(flats_.back());
  }

  Ref result(std::span<const Operand> outputs) const { return pack_branches(flats_[0], outputs); }

 private:
  void check_agreement(size_t index) const {
    const Flat &first = flats_[0], &other = flats_[index];
    Ref first_value = first.value(), other_value = other.value();
    auto fail = [&](const std::string& detail) {
      std::string first_name = names_.branch(0), other_name = names_.branch(index);
      throw_type_error(first_name + " and " + other_name + " arguments to " + names_.function +
                       " must have the same number, type, and overall structure of return "
                       "values.\n\n" +
                       first_name + " output: " + repr_of(first_value.get()) + "\n" + other_name +
                       " output: " + repr_of(other_value.get()) + "\n\nError details:\n" + detail);
    };
    if (!(first.structure == other.structure)) {
      std::string detail = "The two structures don't have the same nested structure: " +
                           first.structure.to_string() + " and " + other.structure.to_string();
      // Composite values agree where their specs are compatible, though they are not equal: slices
      // of other numbers of rows.
      bool agree = first.structure.leaf_count() == other.structure.leaf_count();
      try {
        nest_assert_same(first_value.get(), other_value.get(), true, kNest);
      } catch (const Error& error) {
        agree = false;
        detail = error.what();
        PyErr_Clear();
      }
      if (!agree) fail(detail);
    }
    OperandVector first_operands = carried_operands(first), operands = carried_operands(other);
    if (first_operands.size() != operands.size()) {
      throw_value_error(
          "Lengths of branch outputs of " + std::string(names_.kind) +
          " must match.\nlen(graphs[0].outputs): " + std::to_string(first_operands.size()) +
          "\nlen(graphs[" + std::to_string(index) +
          "].outputs): " + std::to_string(operands.size()) + "\n");
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (dtype_of(first_operands[i]) != dtype_of(operands[i])) {
        fail(repr_of(wrapped(first_operands[i]).get()) + " and " +
             repr_of(wrapped(operands[i]).get()) + " have different types");
      }
    }
    for (size_t leaf = 0; leaf < first.carried.size(); ++leaf) {
      if (first.carried[leaf] != other.carried[leaf]) {
        fail("one of them has None where the other has a tensor");
      }
    }
  }

  const BranchNames& names_;
  std::span<const BranchFunction> branches_;
  std::vector<Flat> flats_;
};

// The predicate as a bool tensor of the graph; numbers and texts count as in Python.
Operand graph_predicate(PyObject* value) {
  // A constant is made where it is used, in the scope of the conditional.
  Operand predicate = operand_of(value, ConversionOptions{.small_is_eager = true});
  Builder& builder = current_builder();
  DType dtype = dtype_of(predicate);
  if (dtype == DType::kBool) return predicate;
  if (dtype == DType::kString) {
    predicate = builder.op("StringLength", {predicate});
    dtype = DType::kInt32;
  }
  if (dtype == DType::kResource || dtype == DType::kVariant) {
    throw_type_error("pred must be a bool tensor, but is " + type_of(predicate).to_string());
  }
  return builder.op("NotEqual", {predicate, Operand(Tensor::zeros(dtype, {}))});
}

void check_callable(const BranchFunction& branch, const char* name) {
  if (!branch.function || branch.function == Py_None) {
    throw_type_error("cond(): '" + std::string(name) + "' argument required");
  }
  if (!is_callable(branch.function)) {
    throw_type_error("'" + std::string(name) + "' must be callable.");
  }
}

}  // namespace

std::string name_or(PyObject* name, std::string_view otherwise) {
  if (!name || name == Py_None) return std::string(otherwise);
  if (!PyUnicode_Check(name)) {
    throw_type_error("name must be a str or None, but is " + repr_of(name));
  }
  std::string_view text = text_of(name);
  return std::string(text.empty() ? otherwise : text);
}

Ref control_cond(PyObject* predicate, PyObject* true_function, PyObject* false_function,
                 PyObject* name) {
  return control_cond(predicate, branch_of(true_function), branch_of(false_function), name);
}

Ref control_cond(PyObject* predicate, const BranchFunction& true_branch,
                 const BranchFunction& false_branch, PyObject* name) {
  check_callable(true_branch, "true_fn");
  check_callable(false_branch, "false_fn");
  std::string scope = name_or(name, "cond");
  if (current_builder().is_eager()) {
    bool taken = truth(eager_tensor_of(predicate));
    ScopeGuard guard(scope);
    return taken ? true_branch.call() : false_branch.call();
  }
  if (PyBool_Check(predicate)) {
    Ref arguments =
        checked_ref(PyTuple_Pack(2, make_text("pred must not be a Python bool").get(), predicate));
    PyErr_SetObject(PyExc_TypeError, arguments.get());
    throw_python_error();
  }
  const BranchFunction branches[] = {true_branch, false_branch};
  BranchTrace trace(kCondNames, branches);
  OperandVector outputs = graph_builder().if_else(
      graph_predicate(predicate), [&](std::span<const Operand>) { return trace.trace(0); },
      [&](std::span<const Operand>) { return trace.trace(1); }, scope);
  return trace.result(outputs);
}

// --- tf.case ---

namespace {

struct CasePair {
  Ref predicate, function;
};

std::vector<CasePair> case_pairs(PyObject* pairs, bool exclusive) {
  if (!PyList_Check(pairs) && !PyTuple_Check(pairs) && !PyDict_Check(pairs)) {
    throw_type_error("'pred_fn_pairs' must be a list, tuple, or dict. Received: " +
                     repr_of(reinterpret_cast<PyObject*>(Py_TYPE(pairs))));
  }
  Ref items = Ref::borrow(pairs);
  if (PyDict_Check(pairs)) {
    bool ordered = PyObject_IsInstance(pairs, imported("collections", "OrderedDict")) == 1;
    items = checked_ref(PyDict_Items(pairs));
    if (!ordered && current_builder().is_eager() && !exclusive) {
      throw_value_error(
          "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
          "`exclusive=False` and eager mode is enabled.");
    }
  }
  std::vector<CasePair> result;
  Ref list = checked_ref(PySequence_List(items.get()));
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    PyObject* pair = PyList_GetItem(list.get(), i);
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
      throw_type_error("Each entry in 'pred_fn_pairs' must be a 2-tuple. Received " +
                       repr_of(pair) + ".");
    }
    PyObject *predicate = PyTuple_GetItem(pair, 0), *function = PyTuple_GetItem(pair, 1);
    if (!is_tensor(predicate)) {
      throw_type_error("pred must be a Tensor, got: " + repr_of(predicate));
    }
    if (dtype_of(operand_in(predicate)) != DType::kBool) {
      throw_type_error("pred must be Tensor of type bool: " + repr_of(predicate));
    }
    if (!is_callable(function)) {
      throw_type_error("fn for pred " + repr_of(predicate) + " must be callable.");
    }
    result.push_back({Ref::borrow(predicate), Ref::borrow(function)});
  }
  if (result.empty()) throw_value_error("'pred_fn_pairs' must have at least one pair.");
  return result;
}

Operand packed_predicates(std::span<const CasePair> pairs) {
  OperandVector predicates;
  for (const CasePair& pair : pairs) predicates.push_back(operand_in(pair.predicate.get()));
  return current_builder().op("Pack", predicates, {}, "preds_c");
}

Ref assert_data(std::string_view text, const Operand& predicates) {
  return checked_ref(PyTuple_Pack(2, make_text(text).get(), wrapped(predicates).get()));
}

// An assertion that at most `count` of the predicates are true.
Ref assert_at_most(std::span<const CasePair> pairs, int count, const std::string& what) {
  Builder& builder = current_builder();
  Operand predicates = packed_predicates(pairs);
  const OpDef& cast = get_op("Cast");
  OperandVector numbers;
  builder.apply(cast, std::vector<Operand>{predicates},
                named_attributes(cast, {{"DstT", DType::kInt32}}), numbers);
  const int32_t first_axis[] = {0};
  Operand axes = builder.constant(Tensor::vector<int32_t>(DType::kInt32, first_axis));
  Operand total = builder.op("Sum", {numbers[0], axes}, {}, "num_true_conds");
  Operand limit = builder.constant(Tensor::int32_scalar(count), "n_true_conds");
  Operand holds = builder.op("LessEqual", {total, limit});
  std::string names;
  for (const CasePair& pair : pairs) {
    names += names.empty() ? "" : ", ";
    names += is_symbolic_tensor(pair.predicate.get())
                 ? std::string(text_of(
                       checked_ref(PyObject_GetAttrString(pair.predicate.get(), "name")).get()))
                 : "?";
  }
  Ref data = assert_data(what + ": more than " + std::to_string(count) + " conditions (" + names +
                             ") evaluated as True:",
                         predicates);
  return control_assert(wrapped(holds).get(), data.get(), static_cast<int64_t>(pairs.size()),
                        nullptr);
}

std::vector<Node*> nodes_of(std::initializer_list<Ref> operations) {
  Ref list = checked_ref(PyList_New(0));
  for (const Ref& operation : operations) {
    if (operation.get() != Py_None) PyList_Append(list.get(), operation.get());
  }
  return awaited_nodes(list.get());
}

}  // namespace

Ref control_case(PyObject* pair_values, PyObject* otherwise, bool exclusive, PyObject* name) {
  std::vector<CasePair> pairs = case_pairs(pair_values, exclusive);
  ScopeGuard guard(name_or(name, "case"));
  BranchFunction last;
  if (otherwise && otherwise != Py_None) {
    last = branch_of(otherwise);
  } else {
    // One of them must hold, so the last one is what is left.
    CasePair chosen = pairs.back();
    std::vector<CasePair> all = pairs;
    pairs.pop_back();
    std::string what = "Implementation error: selected default action #" +
                       std::to_string(pairs.size()) +
                       " was called, but some of other predicates are True: ";
    last = {[chosen, all, others = pairs, what]() -> Ref {
              Ref data = assert_data("Input error: None of conditions evaluated as True:",
                                     packed_predicates(all));
              Ref first = Ref::borrow(Py_None);
              if (!others.empty()) first = assert_at_most(others, 0, what);
              Ref second = control_assert(chosen.predicate.get(), data.get(), 3, nullptr);
              ControlDependencies dependencies(nodes_of({first, second}));
              return checked_ref(PyObject_CallObject(chosen.function.get(), nullptr));
            },
            chosen.function.get()};
  }
  for (size_t i = pairs.size(); i-- > 0;) {
    Ref predicate = pairs[i].predicate;
    BranchFunction taken = branch_of(pairs[i].function.get());
    last = {[predicate, taken, other = last] {
              return control_cond(predicate.get(), taken, other, nullptr);
            },
            pairs[i].function.get()};
  }
  if (!exclusive || pairs.empty()) return last.call();
  Ref assertion = assert_at_most(pairs, 1, "Input error: exclusive=True");
  ControlDependencies dependencies(nodes_of({assertion}));
  return last.call();
}

// --- tf.switch_case ---

namespace {

std::vector<Ref> switch_functions(PyObject* given, PyObject* otherwise) {
  int filled = PyObject_IsTrue(given);
  if (filled < 0) throw_python_error();
  if (!filled) throw_value_error("Must provide at least one item in 'branch_fns'");
  if (!PyList_Check(given) && !PyTuple_Check(given) && !PyDict_Check(given)) {
    throw_type_error("'branch_fns' must be a list, tuple, or dict");
  }
  Ref list =
      PyDict_Check(given) ? checked_ref(PyDict_Items(given)) : checked_ref(PySequence_List(given));
  const Py_ssize_t count = PyList_Size(list.get());
  bool functions_only = true;
  for (Py_ssize_t i = 0; i < count; ++i) {
    functions_only &= is_callable(PyList_GetItem(list.get(), i));
  }
  std::vector<Ref> functions(static_cast<size_t>(count));
  std::vector<long long> keys;
  bool contiguous = true;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GetItem(list.get(), i);
    if (functions_only) {
      functions[static_cast<size_t>(i)] = Ref::borrow(item);
      continue;
    }
    if (!PyTuple_Check(item) || PyTuple_Size(item) != 2) {
      throw_type_error("Each entry in 'branch_fns' must be a 2-tuple. Received " + repr_of(item) +
                       ".");
    }
    PyObject *key = PyTuple_GetItem(item, 0), *function = PyTuple_GetItem(item, 1);
    if (!PyLong_Check(key)) {
      throw_type_error("key must be a Python `int`, got " +
                       repr_of(reinterpret_cast<PyObject*>(Py_TYPE(key))));
    }
    if (!is_callable(function)) {
      throw_type_error("fn for key " + repr_of(key) + " must be callable.");
    }
    int overflow = 0;
    long long position = PyLong_AsLongLongAndOverflow(key, &overflow);
    if (overflow) position = -1;
    keys.push_back(position);
    if (position < 0 || position >= count || functions[static_cast<size_t>(position)]) {
      contiguous = false;
    } else {
      functions[static_cast<size_t>(position)] = Ref::borrow(function);
    }
  }
  if (!contiguous) {
    std::sort(keys.begin(), keys.end());
    std::string text;
    for (long long key : keys) text += (text.empty() ? "" : ",") + std::to_string(key);
    throw_value_error("branch indices (keys) must form contiguous range of [0 to " +
                      std::to_string(count) + ") but found {" + text + "}");
  }
  if (otherwise && otherwise != Py_None) {
    if (!is_callable(otherwise)) throw_type_error("'default' must be callable.");
    functions.push_back(Ref::borrow(otherwise));
  }
  return functions;
}

int64_t eager_index(const Tensor& tensor) {
  if (tensor.element_count() != 1 || tensor.shape().rank() != 0) {
    throw_invalid_argument("'branch_index' must be a scalar, but has shape " +
                           tensor.shape().to_string());
  }
  Ref number = Ref::steal(checked(tensor_to_numpy(tensor)));
  Ref index = checked_ref(PyNumber_Index(number.get()));
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  return overflow ? -1 : value;
}

}  // namespace

Ref control_switch_case(PyObject* index, PyObject* given, PyObject* otherwise, PyObject* name) {
  if (!is_tensor(index)) {
    throw_type_error("'branch_index' must be a Tensor, got " +
                     repr_of(reinterpret_cast<PyObject*>(Py_TYPE(index))));
  }
  DType dtype = dtype_of(operand_in(index));
  if (!kInteger.contains(dtype)) {
    Ref object = Ref::steal(dtype_object(dtype));
    throw_type_error("'branch_index' must be an integer Tensor, got " +
                     std::string(text_of(checked_ref(PyObject_Str(object.get())).get())));
  }
  std::vector<Ref> functions = switch_functions(given, otherwise);
  ScopeGuard guard(name_or(name, "case"));
  if (current_builder().is_eager()) {
    int64_t position = eager_index(eager_tensor_of(index));
    auto count = static_cast<int64_t>(functions.size());
    if (position < 0 || position >= count) position = count - 1;
    return checked_ref(
        PyObject_CallObject(functions[static_cast<size_t>(position)].get(), nullptr));
  }
  GraphBuilder& builder = graph_builder();
  std::vector<BranchFunction> branches;
  for (const Ref& function : functions) branches.push_back(branch_of(function.get()));
  BranchTrace trace(kCaseNames, branches);
  std::vector<std::function<OperandVector(std::span<const Operand>)>> blocks;
  for (size_t i = 0; i < branches.size(); ++i) {
    blocks.emplace_back([&trace, i](std::span<const Operand>) { return trace.trace(i); });
  }
  std::vector<BlockFunction> references(blocks.begin(), blocks.end());
  OperandVector outputs = builder.switch_case(operand_in(index), references);
  return trace.result(outputs);
}

}  // namespace graphwright
