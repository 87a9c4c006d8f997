#include "python/polymorphic_function.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/autograph_convert.h"
#include "python/autograph_operators.h"
#include "python/errors.h"
#include "python/flat_arguments.h"
#include "python/locations.h"
#include "python/tensor_array.h"
#include "python/tensor_object.h"
#include "python/type_spec.h"
#include "python/variable_object.h"
#include "trace/build_context.h"
#include "trace/lifting.h"
#include "trace/scope_errors.h"

namespace graphwright {

std::atomic<bool> functions_run_eagerly{false};

std::string next_graph_name(const std::string& name) {
  static std::atomic<int64_t> counter{0};
  return fmt::format("__inference_{}_{}", name, counter.fetch_add(1));
}

namespace {

// Takes the GIL off while a lock is waited for: its holder may need it.
class TraceLock {
 public:
  explicit TraceLock(std::recursive_mutex& mutex) : mutex_(mutex) {
    if (!mutex_.try_lock()) {
      GilRelease release;
      mutex_.lock();
    }
  }
  ~TraceLock() { mutex_.unlock(); }
  TraceLock(const TraceLock&) = delete;
  TraceLock& operator=(const TraceLock&) = delete;

 private:
  std::recursive_mutex& mutex_;
};

Ref tuple_of(const std::vector<Ref>& items) {
  Ref tuple = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (size_t i = 0; i < items.size(); ++i) {
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), Ref(items[i]).release());
  }
  return tuple;
}

// A weak reference to an object that is neither a tensor nor a plain value.
Ref weakly_held(PyObject* leaf) {
  if (is_tensor(leaf) || is_variable(leaf) || is_tensor_array(leaf) || PyType_Check(leaf)) {
    return Ref::borrow(leaf);
  }
  Ref reference = Ref::steal(PyWeakref_NewRef(leaf, nullptr));
  if (reference) return reference;
  PyErr_Clear();  // numbers, strings and their like
  return Ref::borrow(leaf);
}

// Calls the function that AutoGraph makes of it.
Ref call_converted(PyObject* function, PyObject* arguments, PyObject* keywords) {
  FlatArguments flat = flat_arguments(arguments, keywords, function);
  return checked_ref(autograph_call_traced(flat.values.data(), flat.positional, flat.names.get()));
}

}  // namespace

// What one call needs beside its arguments.
struct PolymorphicFunction::Scratch {
  explicit Scratch(ObjectSerials& serials) : encoder(serials) {}
  BoundArguments bound;
  ArgumentEncoder encoder;
  std::vector<PyObject*> shifted;
  std::vector<Ref> keep_alive;
};

PolymorphicFunction::PolymorphicFunction(PyObject* python_function, std::string name,
                                         FunctionOptions options, bool is_method)
    : python_function_(Ref::borrow(python_function)),
      name_(std::move(name)),
      options_(std::move(options)),
      is_method_(is_method) {}

const FunctionSignature& PolymorphicFunction::signature() {
  if (!signature_) {
    signature_ = std::make_unique<FunctionSignature>(python_function_.get(), is_method_);
  }
  return *signature_;
}

std::vector<std::shared_ptr<Trace>> PolymorphicFunction::traces() const { return traces_; }

Ref PolymorphicFunction::call(PyObject* instance, PyObject* const* arguments,
                              Py_ssize_t positional_count, PyObject* keywords) {
  if (functions_run_eagerly.load(std::memory_order_relaxed)) {
    std::vector<Ref> items;
    if (instance) items.push_back(Ref::borrow(instance));
    for (Py_ssize_t i = 0; i < positional_count; ++i) items.push_back(Ref::borrow(arguments[i]));
    Ref positional = tuple_of(items);
    Ref named;
    if (keywords && PyTuple_Size(keywords) > 0) {
      named = checked_ref(PyDict_New());
      for (Py_ssize_t k = 0; k < PyTuple_Size(keywords); ++k) {
        if (PyDict_SetItem(named.get(), PyTuple_GetItem(keywords, k),
                           arguments[positional_count + k]) < 0) {
          throw_python_error();
        }
      }
    }
    return checked_ref(PyObject_Call(python_function_.get(), positional.get(), named.get()));
  }
  Scratch scratch(serials_);
  signature().bind(arguments, positional_count, keywords, scratch.bound);
  if (options_.input_signature) apply_input_signature(scratch.bound, scratch.keep_alive);
  std::shared_ptr<Trace> trace = find_or_trace(instance, scratch.bound, scratch.encoder);
  return call_trace(*trace, scratch.encoder.leaves());
}

std::shared_ptr<Trace> PolymorphicFunction::get_trace(PyObject* instance,
                                                      PyObject* const* arguments,
                                                      Py_ssize_t positional_count,
                                                      PyObject* keywords) {
  Scratch scratch(serials_);
  bool from_signature = options_.input_signature && positional_count == 0 &&
                        (!keywords || PyTuple_Size(keywords) == 0);
  if (from_signature) {
    Py_ssize_t count = PyTuple_Size(options_.input_signature.get());
    std::vector<PyObject*> specs;
    for (Py_ssize_t i = 0; i < count; ++i) {
      specs.push_back(PyTuple_GetItem(options_.input_signature.get(), i));
    }
    signature().bind(specs.data(), count, nullptr, scratch.bound);
  } else {
    signature().bind(arguments, positional_count, keywords, scratch.bound);
    if (options_.input_signature) apply_input_signature(scratch.bound, scratch.keep_alive);
  }
  return find_or_trace(instance, scratch.bound, scratch.encoder);
}

std::shared_ptr<Trace> PolymorphicFunction::find_or_trace(PyObject* instance,
                                                          const BoundArguments& bound,
                                                          ArgumentEncoder& encoder) {
  encoder.add_all(signature(), bound);
  std::shared_ptr<Trace> found = cache_.find(encoder.key());
  // A trace that uses values of an enclosing function serves only while that one is being traced.
  auto usable = [](const std::shared_ptr<Trace>& trace) {
    if (!trace->concrete->captures_outer_values()) return true;
    for (const Capture& capture : trace->concrete->graph()->captures()) {
      if (capture.outer && !is_reachable(*capture.outer)) return false;
    }
    return true;
  };
  if (found && usable(found)) return found;

  TraceLock lock(trace_mutex_);
  found = cache_.find(encoder.key());
  if (found && usable(found)) return found;
  ArgumentEncoder shapeless(serials_, /*shapeless=*/true);
  shapeless.add_all(signature(), bound);
  std::string shapeless_key(shapeless.key());
  std::shared_ptr<Trace> general = find_supertype(encoder, shapeless_key);
  if (general && usable(general)) {
    cache_.insert(encoder.key(), general);
    return general;
  }
  std::vector<ValueType> types;
  for (const TensorLeaf& leaf : encoder.leaves()) types.push_back(leaf_type(leaf));
  if (options_.input_signature) types = signature_types(types);
  if (options_.reduce_retracing) {
    for (const auto& other : traces_) {
      if (other->shapeless_key != shapeless_key) continue;
      for (size_t i = 0; i < types.size(); ++i) {
        types[i].shape = types[i].shape.common_supertype(other->input_types[i].shape);
      }
    }
  }
  std::shared_ptr<Trace> made = make_trace(instance, bound, encoder, types);
  made->shapeless_key = std::move(shapeless_key);
  traces_.push_back(made);
  cache_.insert(encoder.key(), made);
  return made;
}

std::shared_ptr<Trace> PolymorphicFunction::find_supertype(const ArgumentEncoder& encoder,
                                                           const std::string& shapeless_key) const {
  std::shared_ptr<Trace> best;
  for (const auto& trace : traces_) {
    if (trace->shapeless_key != shapeless_key) continue;
    bool fits = true;
    for (size_t i = 0; i < encoder.leaves().size() && fits; ++i) {
      fits = trace->input_types[i].shape.is_supertype_of(leaf_type(encoder.leaves()[i]).shape);
    }
    if (!fits) continue;
    // Of several that fit, the most specific: one that another fitting one covers.
    bool narrower = !best;
    if (best) {
      narrower = true;
      for (size_t i = 0; i < trace->input_types.size(); ++i) {
        narrower &= best->input_types[i].shape.is_supertype_of(trace->input_types[i].shape);
      }
    }
    if (narrower) best = trace;
  }
  return best;
}

std::shared_ptr<Trace> PolymorphicFunction::make_trace(PyObject* instance,
                                                       const BoundArguments& bound,
                                                       const ArgumentEncoder& encoder,
                                                       std::vector<ValueType> types) {
  bool made_variables = false;
  bool first = traces_.empty();
  std::shared_ptr<Trace> trace = trace_once(
      instance, bound, encoder, types,
      created_variables_ ? VariableCreation::kForbid : VariableCreation::kLift, &made_variables);
  if (!made_variables) return trace;
  if (!first) {
    throw_value_error(
        "Creating variables on a non-first call to a function decorated with tf.function.");
  }
  created_variables_ = true;
  // The variables exist and are initialised: this trace is the one that runs from now on.
  return trace_once(instance, bound, encoder, types, VariableCreation::kForbid, &made_variables);
}

std::shared_ptr<Trace> PolymorphicFunction::trace_once(
    PyObject* instance, const BoundArguments& bound, const ArgumentEncoder& encoder,
    const std::vector<ValueType>& types, VariableCreation variable_creation, bool* made_variables) {
  auto trace = std::make_shared<Trace>();
  trace->input_types = types;
  auto graph = std::make_shared<Graph>(next_graph_name(name_));
  BuildContext context(ContextKind::kFunction, graph, variable_creation);
  int argument_count = 0;
  auto known_inputs = [&] {
    std::vector<Tensor> inputs;
    for (const TensorLeaf& leaf : encoder.leaves()) {
      bool known = leaf.operand && leaf.operand.is_tensor();
      inputs.push_back(known ? leaf.operand.tensor() : Tensor());
    }
    return inputs;
  };
  try {
    ContextScope scope(context);
    LocationScope locations;
    size_t next = 0;
    auto placeholder = [&](PyObject*) -> Ref {
      const TensorLeaf& leaf = encoder.leaves()[next];
      // The same variable given twice is one variable inside, too.
      for (size_t i = 0; leaf.source && leaf.operand && is_variable(leaf.source.get()) && i < next;
           ++i) {
        if (encoder.leaves()[i].operand == leaf.operand) {
          Value* first = graph->body().arguments[i];
          graph->add_argument(graph->body(), types[next]);
          trace->input_names.emplace_back(leaf.name);
          ++next;
          return Ref::steal(variable_with_handle(leaf.source.get(), Operand(first)));
        }
      }
      Value* argument = graph->add_argument(graph->body(), types[next]);
      argument->name = InternedString(leaf.name);
      trace->input_names.emplace_back(leaf.name);
      ++next;
      return leaf_around(leaf, Operand(argument));
    };
    const auto& parameters = signature().parameters();
    std::vector<Ref> positional;
    if (instance) positional.push_back(Ref::borrow(instance));
    Ref keywords = checked_ref(PyDict_New());
    for (size_t i = 0; i < parameters.size(); ++i) {
      Ref value = replace_leaves(bound.values[i], Leaves::kTensors, placeholder);
      if (parameters[i].kind == Parameter::Kind::kKeywordOnly) {
        if (PyDict_SetItem(keywords.get(), parameters[i].name.get(), value.get()) < 0) {
          throw_python_error();
        }
      } else {
        positional.push_back(std::move(value));
      }
    }
    if (bound.extra_positional) {
      Ref extra = replace_leaves(bound.extra_positional.get(), Leaves::kTensors, placeholder);
      for (Py_ssize_t i = 0; i < PyTuple_Size(extra.get()); ++i) {
        positional.push_back(Ref::borrow(PyTuple_GetItem(extra.get(), i)));
      }
    }
    if (bound.extra_keywords) {
      Ref extra = replace_leaves(bound.extra_keywords.get(), Leaves::kTensors, placeholder);
      if (PyDict_Update(keywords.get(), extra.get()) < 0) throw_python_error();
    }
    argument_count = static_cast<int>(next);
    Ref arguments = tuple_of(positional);
    // Without the instance, and other objects weakly: a trace keeps none of its arguments alive.
    if (instance) positional.erase(positional.begin());
    Ref kept = checked_ref(PyTuple_Pack(2, tuple_of(positional).get(), keywords.get()));
    auto hold = [](PyObject* leaf) { return weakly_held(leaf); };
    trace->arguments = replace_leaves(kept.get(), Leaves::kAll, hold);

    std::vector<Ref> leaves_before;
    Structure structure_before = nest_flatten(arguments.get(), leaves_before);
    Structure keywords_before = nest_flatten(keywords.get(), leaves_before);
    AutographTrace converts(options_.autograph);
    Ref result =
        options_.autograph
            ? call_converted(python_function_.get(), arguments.get(), keywords.get())
            : checked_ref(PyObject_Call(python_function_.get(), arguments.get(), keywords.get()));
    // The function was given copies of the caller's lists: what it does to them would be lost.
    std::vector<Ref> leaves_after;
    bool modified = !(nest_flatten(arguments.get(), leaves_after) == structure_before) ||
                    !(nest_flatten(keywords.get(), leaves_after) == keywords_before);
    for (size_t i = 0; !modified && i < leaves_before.size(); ++i) {
      modified = leaves_before[i].get() != leaves_after[i].get();
    }
    if (modified) {
      throw_value_error(fmt::format(
          "{}{} should not modify its Python input arguments. Modifying a copy is allowed.", name_,
          signature().to_string()));
    }
    auto convert = [&](PyObject* leaf) -> Ref {
      Operand operand;
      try {
        operand = is_tensor_array(leaf) ? tensor_array_list(leaf) : operand_of(leaf);
      } catch (const Error&) {
        PyErr_Clear();
        throw_type_error(fmt::format(
            "To be compatible with tf.function, Python functions must return zero or more Tensors "
            "or ExtensionTypes or None values; in compilation of {}, found return value of type "
            "{}, which is not a Tensor or ExtensionType.",
            repr_of(python_function_.get()), type_name(leaf)));
      }
      Operand output = context.builder().op("Identity", {operand});
      graph->body().results.push_back(output.value());
      return result_around(leaf, output);
    };
    trace->result = replace_leaves(result.get(), Leaves::kAll, convert);
    trace->result_shape = trace->result.get() == Py_None   ? Trace::Shape::kNone
                          : is_tensor(trace->result.get()) ? Trace::Shape::kTensor
                                                           : Trace::Shape::kStructure;
  } catch (...) {
    if (!context.lifted_variables().empty()) {
      initialize_after_failure(*graph, context.lifted_variables(), known_inputs());
    }
    throw;
  }
  *made_variables = !context.lifted_variables().empty();
  if (*made_variables) {
    initialize_lifted_variables(*graph, context.lifted_variables(), known_inputs());
  }
  trace->concrete = std::make_shared<ConcreteFunction>(graph, argument_count);
  ++tracing_count_;
  return trace;
}

namespace {

// The value for one TensorSpec of an input signature.
Ref cast_to_spec(PyObject* value, PyObject* spec) {
  ValueType type = tensor_spec_type(spec);
  if (is_tensor_spec(value)) return Ref::borrow(value);
  Operand operand;
  if (is_tensor(value)) {
    operand = operand_in(value);
    if (dtype_of(operand) != type.dtype) {
      throw_type_error(fmt::format(
          "Binding inputs to tf.function failed due to `Can not cast {} to {}`. A tensor's dtype "
          "must be that of the input signature.",
          repr_of(value), repr_of(spec)));
    }
  } else {
    try {
      operand = operand_of(value, type.dtype);
    } catch (const Error& error) {
      PyErr_Clear();
      throw_type_error(
          fmt::format("Binding inputs to tf.function failed due to `{}`.", error.what()));
    }
  }
  if (!type.shape.is_supertype_of(shape_of(operand)) &&
      !type.shape.is_compatible_with(shape_of(operand))) {
    throw_type_error(fmt::format(
        "Binding inputs to tf.function failed due to `Can not cast {} to {}`. The shapes {} and {} "
        "are not compatible.",
        repr_of(value), repr_of(spec), shape_of(operand).to_string(), type.shape.to_string()));
  }
  return Ref::steal(wrap(operand));
}

[[noreturn]] void throw_binding_error(const std::string& reason) {
  throw_type_error(fmt::format("Binding inputs to tf.function failed due to `{}`.", reason));
}

// Walks by the signature's structure: where that has a TensorSpec, a list is one tensor.
Ref cast_to_signature(PyObject* value, PyObject* spec) {
  if (is_tensor_spec(spec)) return cast_to_spec(value, spec);
  NestKind kind = nest_kind(spec);
  if (kind == NestKind::kLeaf) return Ref::borrow(value);
  if (nest_kind(value) != kind) {
    throw_binding_error(
        fmt::format("Can not cast {} to the structure of {}", repr_of(value), repr_of(spec)));
  }
  std::vector<Ref> specs, values;
  Structure declared = nest_children(spec, specs);
  Structure given = nest_children(value, values);
  bool same_keys = declared.node().keys.size() == given.node().keys.size();
  for (size_t i = 0; same_keys && i < given.node().keys.size(); ++i) {
    int equal =
        PyObject_RichCompareBool(declared.node().keys[i].get(), given.node().keys[i].get(), Py_EQ);
    if (equal < 0) throw_python_error();
    same_keys = equal;
  }
  if (!same_keys || specs.size() != values.size()) {
    throw_binding_error(
        fmt::format("{} has other keys or another length than {}", repr_of(value), repr_of(spec)));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = cast_to_signature(values[i].get(), specs[i].get());
  }
  return given.pack(values);
}

}  // namespace

// The types of a call's tensors as the input signature declares them.
std::vector<ValueType> PolymorphicFunction::signature_types(std::vector<ValueType> types) const {
  size_t next = 0;
  auto declare = [&](PyObject* spec) -> Ref {
    if (is_tensor_spec(spec) && next < types.size()) {
      PartialShape declared = tensor_spec_type(spec).shape;
      if (types[next].dtype != DType::kResource) types[next].shape = std::move(declared);
      ++next;
    }
    return Ref::borrow(spec);
  };
  replace_leaves(options_.input_signature.get(), Leaves::kAll, declare);
  return types;
}

void PolymorphicFunction::apply_input_signature(BoundArguments& bound,
                                                std::vector<Ref>& keep_alive) const {
  PyObject* specs = options_.input_signature.get();
  size_t count = static_cast<size_t>(PyTuple_Size(specs));
  const std::vector<Parameter>& parameters = signature_->parameters();
  if (count > parameters.size() && !signature_->has_var_positional()) {
    throw_type_error(fmt::format("input_signature contains {} extra type constraints.",
                                 count - parameters.size()));
  }
  for (size_t i = count; i < parameters.size(); ++i) {
    // What the signature does not mention is as its default says, at every call.
    PyObject* fixed = parameters[i].default_value.get();
    if (!fixed) {
      throw_type_error(
          fmt::format("input_signature missing type constraint for {}", parameters[i].text));
    }
    if (bound.values[i] == fixed) continue;
    int equal = PyObject_RichCompareBool(bound.values[i], fixed, Py_EQ);
    if (equal < 0) throw_python_error();
    if (!equal) {
      throw_binding_error(
          fmt::format("Can not cast {} to Literal[{}]", repr_of(bound.values[i]), repr_of(fixed)));
    }
  }
  for (size_t i = 0; i < bound.values.size() && i < count; ++i) {
    keep_alive.push_back(
        cast_to_signature(bound.values[i], PyTuple_GetItem(specs, static_cast<Py_ssize_t>(i))));
    bound.values[i] = keep_alive.back().get();
  }
  if (bound.extra_positional && count > bound.values.size()) {
    size_t extra = static_cast<size_t>(PyTuple_Size(bound.extra_positional.get()));
    Ref cast = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(extra)));
    for (size_t i = 0; i < extra; ++i) {
      PyObject* value = PyTuple_GetItem(bound.extra_positional.get(), static_cast<Py_ssize_t>(i));
      size_t position = bound.values.size() + i;
      Ref item =
          position < count
              ? cast_to_signature(value, PyTuple_GetItem(specs, static_cast<Py_ssize_t>(position)))
              : Ref::borrow(value);
      PyTuple_SetItem(cast.get(), static_cast<Py_ssize_t>(i), item.release());
    }
    bound.extra_positional = std::move(cast);
  }
}

Ref call_trace(Trace& trace, const std::vector<TensorLeaf>& leaves) {
  ConcreteFunction& concrete = *trace.concrete;
  bool plain = !(thread_state.bits & (ThreadState::kBuilding | ThreadState::kObserving)) &&
               !concrete.captures_outer_values();
  size_t result_count = static_cast<size_t>(concrete.result_count());
  OperandVector outputs;
  if (plain) {
    constexpr size_t kInline = 8;
    Tensor inline_inputs[kInline], inline_outputs[kInline];
    std::vector<Tensor> heap_inputs, heap_outputs;
    std::span<Tensor> inputs(inline_inputs, std::min(leaves.size(), kInline));
    std::span<Tensor> results(inline_outputs, std::min(result_count, kInline));
    if (leaves.size() > kInline) {
      heap_inputs.resize(leaves.size());
      inputs = heap_inputs;
    }
    if (result_count > kInline) {
      heap_outputs.resize(result_count);
      results = heap_outputs;
    }
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i].operand.is_tensor()) {
        throw_out_of_scope(*leaves[i].operand.value(), /*same_graph=*/false);
      }
      inputs[i] = leaves[i].operand.tensor();
    }
    Status status;
    {
      GilRelease release;
      status = concrete.run(inputs, results);
    }
    status.throw_if_error();
    switch (trace.result_shape) {
      case Trace::Shape::kNone:
        return Ref::borrow(Py_None);
      case Trace::Shape::kTensor:
        return Ref::steal(checked(wrap_impl(results[0].detach())));
      case Trace::Shape::kStructure: {
        size_t next = 0;
        auto fill = [&](PyObject* leaf) { return result_around(leaf, results[next++]); };
        return replace_leaves(trace.result.get(), Leaves::kTensors, fill);
      }
    }
  }
  OperandVector inputs;
  for (const TensorLeaf& leaf : leaves) inputs.push_back(leaf.operand);
  concrete.call(inputs, outputs);
  size_t next = 0;
  auto fill = [&](PyObject* leaf) { return result_around(leaf, outputs[next++]); };
  return replace_leaves(trace.result.get(), Leaves::kTensors, fill);
}

namespace {

struct InstanceKey {
  std::weak_ptr<PolymorphicFunction> owner;
  PyObject* instance;  // an address, never followed
};
constexpr const char* kInstanceCapsule = "graphwright.instance";

PyObject* instance_died(PyObject* capsule, PyObject*) {
  auto* key = static_cast<InstanceKey*>(PyCapsule_GetPointer(capsule, kInstanceCapsule));
  if (auto owner = key->owner.lock()) owner->forget_instance(key->instance);
  Py_RETURN_NONE;
}

PyMethodDef instance_died_method = {"instance_died", instance_died, METH_O, nullptr};

}  // namespace

void PolymorphicFunction::forget_instance(PyObject* instance) { instances_.erase(instance); }

std::shared_ptr<PolymorphicFunction> PolymorphicFunction::for_instance(PyObject* instance) {
  auto found = instances_.find(instance);
  if (found != instances_.end()) return found->second.second;
  Ref capsule = checked_ref(PyCapsule_New(
      new InstanceKey{weak_from_this(), instance}, kInstanceCapsule, [](PyObject* object) {
        delete static_cast<InstanceKey*>(PyCapsule_GetPointer(object, kInstanceCapsule));
      }));
  Ref callback = checked_ref(PyCFunction_New(&instance_died_method, capsule.get()));
  Ref reference = checked_ref(PyWeakref_NewRef(instance, callback.get()));
  auto made = std::make_shared<PolymorphicFunction>(python_function_.get(), name_, options_,
                                                    /*is_method=*/true);
  instances_[instance] = {std::move(reference), made};
  return made;
}

int PolymorphicFunction::visit(visitproc visit, void* arg) const {
  Py_VISIT(python_function_.get());
  return 0;
}

}  // namespace graphwright
