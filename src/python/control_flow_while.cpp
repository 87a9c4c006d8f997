// tf.while_loop.
#include <optional>

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
#include "python/tensor_array.h"
#include "python/tensor_object.h"
#include "python/type_spec.h"
#include "python/variable_object.h"

namespace graphwright {
namespace {

constexpr NestOptions kNest{.expand_composites = true};

bool is_none(PyObject* object) { return !object || object == Py_None; }

// The arguments that a call f(*value) passes.
std::vector<Ref> unpacked(PyObject* value) {
  Ref list = checked_ref(PySequence_List(value));
  std::vector<Ref> items;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    items.push_back(Ref::borrow(PyList_GetItem(list.get(), i)));
  }
  return items;
}

int64_t parallel_iterations(PyObject* value) {
  if (!value) return 10;
  Ref one = checked_ref(PyLong_FromLong(1));
  int too_few = PyObject_RichCompareBool(value, one.get(), Py_LT);
  if (too_few < 0) throw_python_error();
  if (too_few) throw_type_error("'parallel_iterations' must be a positive integer.");
  long long count = PyLong_AsLongLong(value);
  if (count == -1 && PyErr_Occurred()) throw_python_error();
  return count;
}

// "<dtype: 'int32'>"
std::string dtype_text(DType dtype) {
  Ref object = Ref::steal(dtype_object(dtype));
  return std::string(text_of(checked_ref(PyObject_Str(object.get())).get()));
}

// Variables as what they hold; the rest as it is.
Ref with_variables_read(PyObject* value) {
  return nest_map(value, [](PyObject* leaf) {
    return is_variable(leaf) ? wrapped(operand_of(leaf)) : Ref::borrow(leaf);
  });
}

// --- Eager ---

Ref eager_loop(const LoopArguments& arguments, Ref variables) {
  int given = PyObject_IsTrue(variables.get());
  if (given < 0) throw_python_error();
  if (!given) throw_value_error("'loop_vars' must be provided.");
  if (PyObject_Size(variables.get()) < 0) throw_python_error();
  std::optional<int64_t> limit;
  if (!is_none(arguments.maximum_iterations)) {
    Tensor tensor = eager_tensor_of(arguments.maximum_iterations);
    if (tensor.shape().rank() != 0) {
      throw_value_error("'maximum_iterations' must be a scalar. Received shape: " +
                        tensor.shape().to_string());
    }
    Ref number = Ref::steal(checked(tensor_to_numpy(tensor)));
    Ref whole = checked_ref(PyNumber_Long(number.get()));
    int overflow = 0;
    limit = PyLong_AsLongLongAndOverflow(whole.get(), &overflow);
    if (overflow > 0) limit.reset();
  }
  enter_name_scope(name_or(arguments.name, "while"));
  try {
    // With a limit the variables must keep their container; without, only what is in them counts.
    auto compared = [&](PyObject* value) {
      return limit ? Ref::borrow(value) : checked_ref(PySequence_List(value));
    };
    Ref structure = compared(variables.get());
    std::vector<Ref> unused;
    Structure before = nest_flatten(structure.get(), unused);
    for (int64_t iteration = 0; !limit || iteration < *limit; ++iteration) {
      Ref test = call_python(arguments.condition, unpacked(variables.get()));
      int holds = PyObject_IsTrue(test.get());
      if (holds < 0) throw_python_error();
      if (!holds) break;
      variables = call_python(arguments.body, unpacked(variables.get()));
      Ref after = compared(variables.get());
      unused.clear();
      if (!(nest_flatten(after.get(), unused) == before)) {
        nest_assert_same(structure.get(), after.get(), true);
      }
    }
    auto convert = [](PyObject* leaf) {
      return is_tensor_array(leaf) ? Ref::borrow(leaf) : wrapped(operand_of(leaf));
    };
    Ref result = nest_map(variables.get(), convert, kNest);
    leave_name_scope();
    return result;
  } catch (...) {
    leave_name_scope();
    throw;
  }
}

// --- In a graph ---

class GraphLoop {
 public:
  GraphLoop(const LoopArguments& arguments, Ref variables)
      : arguments_(arguments), variables_(std::move(variables)) {}

  Ref run() {
    name_ = name_or(arguments_.name, "while");
    options_.name = name_;
    options_.parallel_iterations = parallel_iterations(arguments_.parallel_iterations);
    // Raises what Python's len() raises.
    if (PyObject_Size(variables_.get()) < 0) throw_python_error();
    initial_.structure = nest_flatten(variables_.get(), initial_.leaves, kNest);
    for (Ref& leaf : initial_.leaves) {
      if (leaf.get() == Py_None) throw_value_error("None values not supported.");
      Operand operand(graph_builder().import(leaf_operand(leaf.get())));
      leaf = leaf_with(leaf.get(), operand);
      initial_.carried.push_back(true);
      operands_.push_back(std::move(operand));
    }
    read_shape_invariants();
    if (!is_none(arguments_.maximum_iterations)) read_limit();
    GraphBuilder& builder = graph_builder();
    OperandVector outputs = builder.while_loop(
        options_, operands_, [&](std::span<const Operand> values) { return condition(values); },
        [&](std::span<const Operand> values) { return body(values); });
    outputs.erase(outputs.begin());
    if (!arguments_.back_prop) {
      for (Operand& output : outputs) output = builder.op("StopGradient", {output});
    }
    return pack_carried(initial_, outputs);
  }

 private:
  void read_limit() {
    PyObject* value = arguments_.maximum_iterations;
    Operand limit;
    try {
      limit = operand_of(value, ConversionOptions{.dtype = DType::kInt32, .small_is_eager = true});
    } catch (const Error& error) {
      if (!is_tensor(value)) throw;
      throw_value_error("maximum_iterations: " + std::string(error.what()));
    }
    // Below zero no iteration is allowed; in the loop's node it means that there is no limit.
    Tensor known = constant_value(limit);
    if (known && known.dtype() == DType::kInt32 && known.element_count() == 1 &&
        *known.data<int32_t>() < 0) {
      limit = Operand(Tensor::int32_scalar(0));
    }
    options_.maximum_iterations = limit;
  }

  // The invariants have the structure of the variables; each is a shape, a TensorSpec or None.
  void read_shape_invariants() {
    for (const Operand& operand : operands_) shapes_.push_back(shape_of(operand));
    if (is_none(arguments_.shape_invariants)) return;
    std::vector<Ref> values, given;
    Structure structure = nest_flatten(variables_.get(), values);
    Structure given_structure = nest_flatten(arguments_.shape_invariants, given);
    if (given_structure.leaf_count() != structure.leaf_count() ||
        !same_shape(structure, given_structure)) {
      nest_assert_same(variables_.get(), arguments_.shape_invariants, true);
      throw_value_error("shape_invariants does not have the structure of loop_vars");
    }
    size_t next = 0;
    bool any = false;
    for (size_t i = 0; i < values.size(); ++i) {
      std::vector<Ref> parts;
      nest_flatten(values[i].get(), parts, kNest);
      if (given[i].get() != Py_None) {
        set_invariant(next, parts.size(), given[i].get());
        any = true;
      }
      next += parts.size();
    }
    if (any) options_.shape_invariants = shapes_;
  }

  // Containers may differ (a list for a tuple), nesting may not.
  static bool same_shape(const Structure& left, const Structure& right) {
    if (left.is_leaf() != right.is_leaf()) return false;
    if (left.is_leaf()) return true;
    if (left.children().size() != right.children().size()) return false;
    for (size_t i = 0; i < left.children().size(); ++i) {
      if (!same_shape(left.children()[i], right.children()[i])) return false;
    }
    return true;
  }

  void set_invariant(size_t first, size_t count, PyObject* given) {
    PartialShape shape;
    if (is_tensor_spec(given)) {
      ValueType type = tensor_spec_type(given);
      if (type.dtype != dtype_of(operands_[first]) ||
          !type.shape.is_compatible_with(shape_of(operands_[first]))) {
        throw_type_error("TypeSpec " + repr_of(given) + " is not compatible with " +
                         repr_of(initial_.leaves[first].get()));
      }
      shape = type.shape;
    } else if (is_type_spec(given)) {
      set_composite_invariant(first, count, given);
      return;
    } else if (const PartialShape* known = shape_if_object(given)) {
      shape = *known;
    } else {
      throw_type_error("'shape' must be one of TypeSpec, TensorShape or None. Received: " +
                       repr_of(reinterpret_cast<PyObject*>(Py_TYPE(given))));
    }
    shapes_[first] = shape;
    if (count == 1) return;
    // Rows at indices of a dense shape: (shape, [shape[0]], [rank]).
    shapes_[first + 1] = PartialShape({shape.has_rank() ? shape.dim(0) : kUnknownDim});
    if (count > 2)
      shapes_[first + 2] = PartialShape({shape.has_rank() ? shape.rank() : kUnknownDim});
  }

  // The spec of a composite value says the shapes of its parts.
  void set_composite_invariant(size_t first, size_t count, PyObject* given) {
    Ref specs = checked_ref(PyObject_GetAttrString(given, "_component_specs"));
    std::vector<Ref> parts;
    nest_flatten(specs.get(), parts);
    bool fits = parts.size() == count;
    for (size_t i = 0; fits && i < count; ++i) {
      if (!is_tensor_spec(parts[i].get())) return;
      ValueType type = tensor_spec_type(parts[i].get());
      const Operand& operand = operands_[first + i];
      fits = type.dtype == dtype_of(operand) && type.shape.is_compatible_with(shape_of(operand));
      shapes_[first + i] = type.shape;
    }
    if (!fits) {
      throw_type_error("TypeSpec " + repr_of(given) + " is not compatible with the loop variable " +
                       repr_of(initial_.leaves[first].get()));
    }
  }

  Ref packed(std::span<const Operand> values) const {
    return pack_carried(initial_, values.subspan(1));
  }

  OperandVector condition(std::span<const Operand> values) {
    Ref test = call_python(arguments_.condition, unpacked(packed(values).get()));
    Flat flat = traced_results(arguments_.condition, test.get());
    OperandVector operands = carried_operands(flat);
    if (operands.size() != 1) {
      throw_value_error("'cond' must return one bool scalar, but returned " + repr_of(test.get()));
    }
    return operands;
  }

  OperandVector body(std::span<const Operand> values) {
    Ref outputs = call_python(arguments_.body, unpacked(packed(values).get()));
    if (nest_kind(outputs.get()) == NestKind::kLeaf) {
      Ref list = checked_ref(PyList_New(0));
      if (PyList_Append(list.get(), outputs.get()) < 0) throw_python_error();
      outputs = list;
    }
    outputs = with_variables_read(outputs.get());
    std::vector<Ref> leaves;
    Structure structure = nest_flatten(outputs.get(), leaves, kNest);
    if (structure.leaf_count() != initial_.structure.leaf_count() ||
        !same_shape(structure, initial_.structure)) {
      nest_assert_same(outputs.get(), variables_.get(), false, kNest);
      throw_value_error("'body' returned another structure than 'loop_vars': " +
                        structure.to_string() + " instead of " + initial_.structure.to_string());
    }
    Flat flat = traced_results(arguments_.body, outputs.get());
    OperandVector operands = carried_operands(flat);
    if (operands.size() != operands_.size()) {
      throw_value_error("'body' returned None for a loop variable: " + repr_of(outputs.get()));
    }
    for (size_t i = 0; i < operands.size(); ++i) check_variable(i, operands[i]);
    return operands;
  }

  std::string name_of(size_t variable) const {
    const Value& value = *operands_[variable].value();
    if (!value.node && value.name.view().empty()) return "#" + std::to_string(variable);
    return std::string(text_of(
        checked_ref(PyObject_GetAttrString(wrapped(operands_[variable]).get(), "name")).get()));
  }

  void check_variable(size_t i, const Operand& after) const {
    DType before = dtype_of(operands_[i]);
    if (before != dtype_of(after)) {
      std::string name = name_of(i);
      throw_type_error("Loop var " + name + " enters the loop with type " + dtype_text(before) +
                       " but has type " + dtype_text(dtype_of(after)) + " after 1 iteration. " +
                       name + " type should remain constant.");
    }
    PartialShape expected = shapes_[i].without_symbols(), shape = shape_of(after).without_symbols();
    if (expected.is_supertype_of(shape)) return;
    throw_value_error("Input tensor `" + name_of(i) + "` enters the loop with shape " +
                      expected.to_string() + ", but has shape " + shape.to_string() +
                      " after one iteration. To allow the shape to vary across iterations, use the "
                      "`shape_invariants` argument of tf.while_loop to specify a less-specific "
                      "shape.");
  }

  const LoopArguments& arguments_;
  Ref variables_;
  std::string name_;
  WhileOptions options_;
  Flat initial_;
  OperandVector operands_;            // by leaf
  std::vector<PartialShape> shapes_;  // that hold in all iterations
};

}  // namespace

Ref control_while_loop(const LoopArguments& arguments) {
  if (!PyCallable_Check(arguments.condition)) throw_type_error("'cond' must be callable.");
  if (!PyCallable_Check(arguments.body)) throw_type_error("'body' must be callable.");
  parallel_iterations(arguments.parallel_iterations);
  Ref variables = with_variables_read(arguments.variables);
  if (current_builder().is_eager()) return eager_loop(arguments, std::move(variables));
  return GraphLoop(arguments, std::move(variables)).run();
}

}  // namespace graphwright
