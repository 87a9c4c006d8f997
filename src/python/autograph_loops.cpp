// while and for statements that become loops of the graph being built.
#include <algorithm>
#include <functional>
#include <optional>

#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/autograph_staging.h"
#include "python/control_values.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_object.h"

namespace graphwright {
namespace {

// Thrown out of a loop's body when the shape of a variable turns out to vary.
struct ShapeVaries {
  size_t operand;
  PartialShape shape;
};

class StagedLoop {
 public:
  // `iterate`: what the loop itself carries in front of the state (a for loop's position); null:
  // nothing. Both functions get its current value; the body returns the next one.
  using Condition = std::function<Operand(const Operand& iterate)>;
  using Body = std::function<Operand(const Operand& iterate)>;

  StagedLoop(const StateAccess& state, Operand iterate, Condition condition, Body body,
             PyObject* options)
      : state_(state),
        iterate_(std::move(iterate)),
        condition_(std::move(condition)),
        body_(std::move(body)),
        initial_(state.get()),
        options_(options) {}

  // The position of a loop over rows counts as a Python number (see is_python_constant).
  void iterate_is_python_number() { python_iterate_ = true; }

  // A value for a variable that has none before the loop.
  void set_default(std::string_view name, const Operand& value) {
    for (size_t i = 0; i < initial_.size(); ++i) {
      if (!initial_[i] && state_.name(i) == name) initial_[i] = wrapped(value);
    }
  }

  void run() {
    try {
      read_options();
      find_missing_types();
      for (size_t i = 0; i < flats_.size(); ++i) add_operands(i);
      build();
    } catch (...) {
      state_.set(state_before_);
      throw;
    }
  }

 private:
  void read_options() {
    loop_.variable_names.clear();
    if (options_ == nullptr) return;
    if (PyObject* limit = PyDict_GetItemString(options_, "maximum_iterations");
        limit && limit != Py_None) {
      loop_.maximum_iterations = operand_of(limit);
    }
    if (PyObject* parallel = PyDict_GetItemString(options_, "parallel_iterations");
        parallel && parallel != Py_None) {
      loop_.parallel_iterations = PyLong_AsLongLong(parallel);
      if (loop_.parallel_iterations == -1 && PyErr_Occurred()) throw_python_error();
    }
  }

  // The shape that set_loop_options gives for the variable with this value.
  bool invariant_of(PyObject* value, PartialShape* shape) const {
    PyObject* pairs = options_ ? PyDict_GetItemString(options_, "shape_invariants") : nullptr;
    if (pairs == nullptr || pairs == Py_None) return false;
    Py_ssize_t count = PySequence_Size(pairs);
    if (count < 0) throw_python_error();
    for (Py_ssize_t i = 0; i < count; ++i) {
      Ref pair = checked_ref(PySequence_GetItem(pairs, i));
      Ref variable = checked_ref(PySequence_GetItem(pair.get(), 0));
      if (variable.get() != value) continue;
      Ref given = checked_ref(PySequence_GetItem(pair.get(), 1));
      *shape = shape_from_python(given.get());
      return true;
    }
    return false;
  }

  // Variables without a value, or with None, may get one in the body: tracing it once tells its
  // type.
  void find_missing_types() {
    state_before_ = state_.get();
    flats_.assign(initial_.size(), Flat());
    missing_.assign(initial_.size(), false);
    bool any = false;
    for (size_t i = 0; i < initial_.size(); ++i) {
      missing_[i] =
          !initial_[i] || initial_[i].get() == Py_None || is_missing_return(initial_[i].get());
      any |= missing_[i];
      if (!missing_[i]) flats_[i] = Flat(initial_[i].get());
    }
    if (!any) return;

    GraphBuilder& builder = graph_builder();
    GraphBuilder::Mark mark = builder.mark();
    std::vector<Ref> values = initial_;
    for (size_t i = 0; i < values.size(); ++i) {
      if (missing_[i]) continue;
      // Inside the loop a Python number is a tensor.
      Flat carried = flats_[i];
      for (size_t leaf = 0; leaf < carried.leaves.size(); ++leaf) {
        if (!carried.carried[leaf]) continue;
        PyObject* value = carried.leaves[leaf].get();
        carried.leaves[leaf] = leaf_with(value, Operand(builder.import(leaf_operand(value))));
      }
      values[i] = carried.value();
    }
    state_.set(values);
    body_(iterate_ ? Operand(builder.import(iterate_)) : Operand());
    std::vector<Ref> after = state_.get();
    state_.set(state_before_);
    for (size_t i = 0; i < initial_.size(); ++i) {
      if (!missing_[i]) continue;
      if (!after[i] || is_missing_return(after[i].get())) {
        if (initial_[i]) {
          // No return was met where one might have been: nothing to carry.
          flats_[i] = Flat(initial_[i].get());
        } else {
          throw_value_error("'" + state_.name(i) + "' must be defined before the loop");
        }
        missing_[i] = false;
        continue;
      }
      flats_[i] = Flat(after[i].get());
      std::vector<ValueType> types;
      for (size_t leaf = 0; leaf < flats_[i].leaves.size(); ++leaf) {
        types.push_back(flats_[i].carried[leaf]
                            ? type_of(leaf_operand(flats_[i].leaves[leaf].get()))
                            : ValueType());
      }
      missing_types_.push_back({i, std::move(types)});
    }
    builder.rollback(mark);
    for (auto& [i, types] : missing_types_) {
      for (size_t leaf = 0; leaf < types.size(); ++leaf) {
        if (!flats_[i].carried[leaf]) continue;
        flats_[i].leaves[leaf] = wrapped(placeholder_value(builder, types[leaf]));
      }
      if (initial_[i] && initial_[i].get() == Py_None && !flats_[i].carried[0]) missing_[i] = false;
    }
  }

  void add_operands(size_t i) {
    Flat& flat = flats_[i];
    PartialShape invariant;
    bool has_invariant = initial_[i] && invariant_of(initial_[i].get(), &invariant);
    const std::vector<ValueType>* types = nullptr;
    for (auto& [variable, missing] : missing_types_) {
      if (variable == i) types = &missing;
    }
    for (size_t leaf = 0; leaf < flat.leaves.size(); ++leaf) {
      if (!flat.carried[leaf]) continue;
      // Constants become nodes of the block around the loop.
      Operand operand(graph_builder().import(leaf_operand(flat.leaves[leaf].get())));
      shapes_.push_back(has_invariant ? invariant
                        : types       ? (*types)[leaf].shape
                                      : shape_of(operand));
      fixed_.push_back(has_invariant);
      operands_.push_back(std::move(operand));
      std::string name = leaf_name(state_.name(i), flat, leaf);
      loop_.variable_names.push_back(name.substr(1, name.size() - 2));
      names_.push_back(std::move(name));
    }
  }

  // Puts the values of an iteration into the variables.
  void enter(std::span<const Operand> arguments) {
    size_t next = iterate_ ? 2 : 1;
    std::vector<Ref> values;
    entry_.clear();
    for (const Flat& flat : flats_) {
      Flat current = flat;
      for (size_t leaf = 0; leaf < current.leaves.size(); ++leaf) {
        if (!current.carried[leaf]) continue;
        current.leaves[leaf] = leaf_with(current.leaves[leaf].get(), arguments[next++]);
      }
      values.push_back(current.value());
      entry_.push_back(std::move(current));
    }
    state_.set(values);
  }

  Operand iterate_in(std::span<const Operand> arguments) const {
    return iterate_ ? arguments[1] : Operand();
  }

  OperandVector iteration(std::span<const Operand> arguments) {
    enter(arguments);
    std::vector<Flat> entry = entry_;
    Operand next_iterate = body_(iterate_in(arguments));
    std::vector<Ref> values = state_.get();
    OperandVector results;
    if (iterate_) results.push_back(std::move(next_iterate));
    if (python_iterate_) graph_builder().constant(Tensor::int32_scalar(0));
    size_t operand = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string& name = state_.name(i);
      if (!values[i]) throw_value_error("'" + name + "' has no value at the end of the iteration");
      Flat after(values[i].get());
      if (!(after.structure == entry[i].structure)) {
        throw_type_error(
            "'" + name + "' does not have the same nested structure after one iteration: " +
            entry[i].structure.to_string() + " before, " + after.structure.to_string() + " after");
      }
      for (size_t leaf = 0; leaf < after.leaves.size(); ++leaf) {
        PyObject* value = after.leaves[leaf].get();
        if (!entry[i].carried[leaf]) {
          check_unchanged(name, entry[i], leaf, value);
          continue;
        }
        if (value == Py_None)
          throw_value_error("'" + name + "' is None at the end of the iteration.");
        if (!after.carried[leaf]) {
          throw_type_error(leaf_name(name, after, leaf) +
                           " must stay a tensor in a loop on tensors; it is " + repr_of(value) +
                           " after one iteration");
        }
        // TensorFlow makes a constant of every Python value that it compares; the traces are alike.
        if (!missing_[i] && is_python_constant(flats_[i].leaves[leaf].get())) {
          operand_of(flats_[i].leaves[leaf].get());
        }
        if (is_python_constant(value)) operand_of(value);
        Operand result = leaf_operand(value);
        check_iteration(operand, result);
        results.push_back(std::move(result));
        ++operand;
      }
    }
    return results;
  }

  void check_unchanged(const std::string& name, const Flat& before, size_t leaf,
                       PyObject* value) const {
    PyObject* old = before.leaves[leaf].get();
    if (old == value) return;
    throw_type_error(leaf_name(name, before, leaf) +
                     " must be a tensor or a number to change in a loop on tensors; it is " +
                     repr_of(old) + " before the loop and " + repr_of(value) +
                     " after one iteration");
  }

  void check_iteration(size_t operand, const Operand& result) const {
    DType before = dtype_of(operands_[operand]), after = dtype_of(result);
    if (before != after) {
      throw_type_error(names_[operand] + " has dtype " + std::string(dtype_name(before)) +
                       " before the loop, but dtype " + std::string(dtype_name(after)) +
                       " after one iteration");
    }
    PartialShape shape = shape_of(result).without_symbols();
    PartialShape expected = shapes_[operand].without_symbols();
    if (expected.is_supertype_of(shape)) return;
    if (fixed_[operand]) {
      throw_value_error(names_[operand] + " has shape " + shape.to_string() +
                        " after one iteration, which does not conform with the shape invariant " +
                        expected.to_string() + ".");
    }
    throw ShapeVaries{operand, expected.common_supertype(shape)};
  }

  void build() {
    GraphBuilder& builder = graph_builder();
    OperandVector carried;
    if (iterate_) carried.push_back(iterate_);
    carried.insert(carried.end(), operands_.begin(), operands_.end());
    std::vector<std::string> names = loop_.variable_names;
    if (iterate_) names.insert(names.begin(), "<internal iterate>");
    loop_.variable_names = std::move(names);
    OperandVector outputs;
    for (;;) {
      loop_.shape_invariants.clear();
      bool varies = false;
      for (size_t i = 0; i < operands_.size(); ++i) {
        varies |= !(shapes_[i] == shape_of(operands_[i]));
      }
      if (varies) {
        if (iterate_) loop_.shape_invariants.push_back(shape_of(iterate_));
        loop_.shape_invariants.insert(loop_.shape_invariants.end(), shapes_.begin(), shapes_.end());
      }
      try {
        outputs = builder.while_loop(
            loop_, carried,
            [&](std::span<const Operand> arguments) {
              enter(arguments);
              Operand condition = condition_(iterate_in(arguments));
              exit_flag_ = loop_.maximum_iterations ? std::nullopt : negated(condition);
              for (size_t i = 0; exit_flag_ && i < arguments.size(); ++i) {
                if (arguments[i] == *exit_flag_) exit_index_ = i;
              }
              return OperandVector{std::move(condition)};
            },
            [&](std::span<const Operand> arguments) { return iteration(arguments); });
        break;
      } catch (const ShapeVaries& change) {
        // Traced again with a shape that covers both, as no shape invariant says otherwise.
        shapes_[change.operand] = change.shape;
      }
    }
    finish(outputs);
  }

  void finish(const OperandVector& outputs) {
    require_iteration(outputs[0]);
    size_t next = iterate_ ? 2 : 1;
    std::vector<Ref> values;
    for (size_t i = 0; i < flats_.size(); ++i) {
      Flat result = flats_[i];
      for (size_t leaf = 0; leaf < result.leaves.size(); ++leaf) {
        if (!result.carried[leaf]) continue;
        // A loop that runs until a flag is set ends with the flag set.
        bool is_set = exit_flag_ && exit_index_ == next && state_.is_flag(i);
        result.leaves[leaf] =
            is_set ? Ref::borrow(Py_True) : leaf_with(result.leaves[leaf].get(), outputs[next]);
        ++next;
      }
      values.push_back(result.value());
    }
    state_.set(values);
  }

  // A variable that only the loop makes has no value if the loop does not run.
  void require_iteration(const Operand& count) {
    std::string names;
    for (size_t i = 0; i < flats_.size(); ++i) {
      if (!missing_[i] || state_.is_flag(i) || i >= state_.output_count()) continue;
      names += (names.empty() ? "" : ", ") + state_.name(i);
    }
    if (names.empty()) return;
    GraphBuilder& builder = graph_builder();
    Operand ran = builder.op("Greater", {count, builder.constant(Tensor::int32_scalar(0))});
    Operand message = builder.constant(
        Tensor::string_scalar("loop must iterate at least once to initialize " + names));
    OperandVector none;
    builder.apply(get_op("Assert"), std::vector<Operand>{ran, message}, {}, none);
  }

  const StateAccess& state_;
  Operand iterate_;
  bool python_iterate_ = false;
  std::optional<Operand> exit_flag_;  // of which the loop's condition is the negation
  size_t exit_index_ = 0;             // the argument of the condition that it is
  Condition condition_;
  Body body_;
  std::vector<Ref> initial_;
  std::vector<Ref> state_before_;
  PyObject* options_;
  WhileOptions loop_;
  std::vector<Flat> flats_;                                               // by variable
  std::vector<bool> missing_;                                             // made by the loop
  std::vector<std::pair<size_t, std::vector<ValueType>>> missing_types_;  // of these
  std::vector<Flat> entry_;  // in the iteration being traced
  // By carried leaf.
  OperandVector operands_;
  std::vector<PartialShape> shapes_;
  std::vector<bool> fixed_;  // the shape is a given invariant
  std::vector<std::string> names_;
};

// The op as an operator of Python's makes it: named as a scope of its own, which what it captures
// or makes on the way belongs to.
Operand operator_op(std::string_view op, std::string_view scope, const Operand& left,
                    const Operand& right) {
  Builder& builder = current_builder();
  NameScopeGuard guard(builder, scope);
  return builder.op(op, {left, right}, {}, kScopeName);
}

// The length of a range, which TensorFlow computes beside every loop over one; nothing uses it, but
// the traces are alike.
void add_range_length(GraphBuilder& builder, const Operand& start, const Operand& limit,
                      const Operand& delta) {
  DType dtype = dtype_of(start);
  auto zero = [&] { return builder.constant(Tensor::zeros(dtype, {}), "zeros_like"); };
  Operand distance = operator_op("Sub", "sub", limit, start);
  Operand length = operator_op("FloorDiv", "floordiv", distance, delta);
  Operand rest = operator_op("FloorMod", "mod", distance, delta);
  Operand unequal = builder.op("NotEqual", {rest, zero()});
  const OpDef& cast = get_op("Cast");
  OperandVector adjustment;
  builder.apply(cast, std::vector<Operand>{unequal}, named_attributes(cast, {{"DstT", dtype}}),
                adjustment);
  Operand total = operator_op("AddV2", "add", length, adjustment[0]);
  Operand bounded = builder.op("Maximum", {total, zero()});
  if (dtype != DType::kInt32) {
    OperandVector as_int32;
    builder.apply(cast, std::vector<Operand>{bounded},
                  named_attributes(cast, {{"DstT", DType::kInt32}}), as_int32);
  }
}

// The rows of a tensor as a list, of which a loop reads one per iteration: what TensorFlow makes of
// a TensorArray, and of which gradients are cheap.
class RowList {
 public:
  RowList(GraphBuilder& builder, const Operand& tensor,
          const std::function<Operand(std::string_view)>& row_count)
      : dtype_(dtype_of(tensor)) {
    PartialShape shape = shape_of(tensor);
    std::vector<int32_t> dims;
    bool has_rank = shape.has_rank();
    for (int i = 1; has_rank && i < shape.rank(); ++i) {
      dims.push_back(is_known(shape.dim(i)) ? static_cast<int32_t>(shape.dim(i)) : -1);
    }
    row_shape_ = has_rank ? Tensor::vector<int32_t>(DType::kInt32, dims) : Tensor::int32_scalar(-1);
    {
      NameScopeGuard guard(builder, "TensorArrayV2");
      Operand any_shape = builder.constant(Tensor::int32_scalar(-1), "element_shape");
      const OpDef& reserve = get_op("TensorListReserve");
      OperandVector unused;
      builder.apply(reserve, std::vector<Operand>{any_shape, row_count("num_elements")},
                    named_attributes(reserve, {{"element_dtype", dtype_}}), unused, kScopeName);
    }
    NameScopeGuard outer(builder, "TensorArrayUnstack");
    NameScopeGuard inner(builder, "TensorListFromTensor");
    Operand element_shape = builder.constant(row_shape_, "element_shape");
    list_ = builder.op("TensorListFromTensor", {tensor, element_shape}, {}, kScopeName);
  }

  Operand row(Builder& builder, const Operand& index) const {
    NameScopeGuard outer(builder, "TensorArrayV2Read");
    NameScopeGuard inner(builder, "TensorListGetItem");
    Operand element_shape = builder.constant(row_shape_, "element_shape");
    const OpDef& get = get_op("TensorListGetItem");
    OperandVector item;
    builder.apply(get, std::vector<Operand>{list_, index, element_shape},
                  named_attributes(get, {{"element_dtype", dtype_}}), item, kScopeName);
    return item[0];
  }

 private:
  DType dtype_;
  Tensor row_shape_;
  Operand list_;
};

// Whether the extra condition of a for loop (its flags for break and return) holds, and the main
// one.
Operand with_extra_test(const Operand& main_test, PyObject* extra_test) {
  if (extra_test == nullptr) return main_test;
  Ref extra = checked_ref(PyObject_CallObject(extra_test, nullptr));
  return current_builder().op("LogicalAnd",
                              {main_test, bool_condition(operand_of(extra.get()), "for loop")});
}

bool is_negative(const Tensor& number) {
  switch (number.dtype()) {
    case DType::kInt32:
      return *number.data<int32_t>() < 0;
    case DType::kInt64:
      return *number.data<int64_t>() < 0;
    case DType::kFloat:
      return *number.data<float>() < 0;
    case DType::kDouble:
      return *number.data<double>() < 0;
    default:
      return false;
  }
}

void run_body(PyObject* body, const Operand& item) {
  checked_ref(PyObject_CallFunctionObjArgs(body, wrapped(item).get(), nullptr));
}

}  // namespace

Ref staged_while(PyObject* test, PyObject* body, const StateAccess& state, PyObject* options) {
  GraphBuilder& builder = graph_builder();
  GraphBuilder::Mark mark = builder.mark();
  Ref first = checked_ref(PyObject_CallObject(test, nullptr));
  if (!is_staged(first.get())) return first;
  builder.rollback(mark);
  auto condition = [&](const Operand&) {
    Ref value = checked_ref(PyObject_CallObject(test, nullptr));
    return bool_condition(operand_of(value.get()), "while loop");
  };
  auto iterate = [&](const Operand&) {
    checked_ref(PyObject_CallObject(body, nullptr));
    return Operand();
  };
  StagedLoop(state, Operand(), condition, iterate, options).run();
  return {};
}

void staged_for(PyObject* iterated, PyObject* extra_test, PyObject* body, const StateAccess& state,
                PyObject* target, PyObject* options) {
  GraphBuilder& builder = graph_builder();
  Operand sequence = operand_of(iterated);
  const Node* range = sequence.is_value() ? sequence.value()->node : nullptr;
  if (range != nullptr && range->op->name == "Range") {
    // A range is counted, not made.
    Operand start(range->inputs[0]), limit(range->inputs[1]), delta(range->inputs[2]);
    Tensor known_delta = constant_value(delta);
    add_range_length(builder, start, limit, delta);
    auto condition = [&](const Operand& iterate) {
      Builder& inner = current_builder();
      if (known_delta) {
        const char* comparison = is_negative(known_delta) ? "Greater" : "Less";
        return with_extra_test(operator_op(comparison, comparison, iterate, limit), extra_test);
      }
      Operand zero = inner.scalar(0, dtype_of(delta));
      Operand up = inner.op("LogicalAnd", {inner.op("GreaterEqual", {delta, zero}),
                                           inner.op("Less", {iterate, limit})});
      Operand down = inner.op(
          "LogicalAnd", {inner.op("Less", {delta, zero}), inner.op("Greater", {iterate, limit})});
      return with_extra_test(inner.op("LogicalOr", {up, down}), extra_test);
    };
    auto step = [&](const Operand& iterate) {
      run_body(body, iterate);
      return operator_op("AddV2", "add", iterate, delta);
    };
    StagedLoop loop(state, start, condition, step, options);
    loop.set_default(text_of(target), start);
    loop.run();
    return;
  }

  PartialShape shape = shape_of(sequence);
  if (shape.has_rank() && shape.rank() == 0) {
    throw_type_error("Iteration over a scalar tensor is not allowed");
  }
  // An int, or a tensor where the length is not known.
  Ref length = checked_ref(PyObject_CallFunctionObjArgs(
      imported("graphwright.autograph.builtin_functions", "len"), iterated, nullptr));
  auto rows = [&](std::string_view name) {
    if (is_tensor(length.get())) return operand_in(length.get());
    return operand_of(length.get(), ConversionOptions{DType::kInt32, DType::kInvalid, name});
  };
  RowList list(builder, sequence, rows);
  auto condition = [&](const Operand& iterate) {
    Builder& inner = current_builder();
    NameScopeGuard guard(inner, "Less");
    Operand test = inner.op("Less", {iterate, rows("y")}, {}, kScopeName);
    return with_extra_test(test, extra_test);
  };
  auto step = [&](const Operand& iterate) {
    Builder& inner = current_builder();
    run_body(body, list.row(inner, iterate));
    NameScopeGuard guard(inner, "add");
    return inner.op("AddV2", {iterate, inner.constant(Tensor::int32_scalar(1), "y")}, {},
                    kScopeName);
  };
  StagedLoop loop(state, Operand(builder.import(Operand(Tensor::int32_scalar(0)))), condition, step,
                  options);
  loop.iterate_is_python_number();
  loop.run();
}

}  // namespace graphwright
