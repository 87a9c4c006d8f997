// What tf.function makes: a Python function with its traces. One PolymorphicFunction serves one
// Python function; methods have one per instance, held weakly.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "python/function_signature.h"
#include "python/python_api.h"
#include "python/trace_arguments.h"
#include "trace/concrete_function.h"
#include "trace/function_cache.h"

namespace graphwright {

enum class VariableCreation : uint8_t;

struct FunctionOptions {
  Ref input_signature;  // a tuple of nested TensorSpecs, or null
  bool autograph = true;
  Ref autograph_options;  // null or a feature or a tuple of them
  bool reduce_retracing = false;
  bool jit_compile = false;
};

// One trace, and how its results are put together again.
struct Trace {
  std::shared_ptr<ConcreteFunction> concrete;
  std::vector<ValueType> input_types;  // of the tensor leaves, in order
  std::vector<std::string> input_names;
  std::string shapeless_key;
  Ref arguments;  // (args tuple, kwargs dict) with the placeholders in it
  // The results with symbolic tensors at the leaves; a single tensor and None are told apart at
  // once.
  enum class Shape : uint8_t { kNone, kTensor, kStructure } result_shape = Shape::kNone;
  Ref result;
};

class PolymorphicFunction : public std::enable_shared_from_this<PolymorphicFunction> {
 public:
  // `skip_first`: calls put an instance in front of the arguments.
  PolymorphicFunction(PyObject* python_function, std::string name, FunctionOptions options,
                      bool is_method);

  // Calls with vectorcall's arguments; `instance` is put in front if not null. Throws Error.
  Ref call(PyObject* instance, PyObject* const* arguments, Py_ssize_t positional_count,
           PyObject* keywords);
  // The trace for arguments that may be TensorSpecs; traced if there is none.
  std::shared_ptr<Trace> get_trace(PyObject* instance, PyObject* const* arguments,
                                   Py_ssize_t positional_count, PyObject* keywords);
  // The function of an instance: made once for each, dies with it.
  std::shared_ptr<PolymorphicFunction> for_instance(PyObject* instance);

  PyObject* python_function() const { return python_function_.get(); }
  const std::string& name() const { return name_; }
  const FunctionOptions& options() const { return options_; }
  const FunctionSignature& signature();
  int tracing_count() const { return tracing_count_; }
  std::vector<std::shared_ptr<Trace>> traces() const;
  int visit(visitproc visit, void* arg) const;
  void forget_instance(PyObject* instance);

 private:
  struct Scratch;
  std::shared_ptr<Trace> find_or_trace(PyObject* instance, const BoundArguments& bound,
                                       ArgumentEncoder& encoder);
  std::shared_ptr<Trace> find_supertype(const ArgumentEncoder& encoder,
                                        const std::string& shapeless_key) const;
  std::shared_ptr<Trace> make_trace(PyObject* instance, const BoundArguments& bound,
                                    const ArgumentEncoder& encoder, std::vector<ValueType> types);
  std::shared_ptr<Trace> trace_once(PyObject* instance, const BoundArguments& bound,
                                    const ArgumentEncoder& encoder,
                                    const std::vector<ValueType>& types,
                                    VariableCreation variable_creation, bool* made_variables);
  void apply_input_signature(BoundArguments& bound, std::vector<Ref>& keep_alive) const;
  std::vector<ValueType> signature_types(std::vector<ValueType> types) const;

  Ref python_function_;
  std::string name_;
  FunctionOptions options_;
  bool is_method_;
  std::unique_ptr<FunctionSignature> signature_;
  FunctionCache<Trace> cache_;
  std::recursive_mutex trace_mutex_;  // one trace at a time; the traced function may call itself
  ObjectSerials serials_;
  std::vector<std::shared_ptr<Trace>> traces_;
  int tracing_count_ = 0;
  bool created_variables_ = false;
  std::unordered_map<PyObject*, std::pair<Ref, std::shared_ptr<PolymorphicFunction>>> instances_;
};

// Traces of different functions have different names, as the functions of a library must:
// "__inference_f_3".
std::string next_graph_name(const std::string& name);

// Runs a trace with these tensor leaves on whatever tier is current, and builds its result.
Ref call_trace(Trace& trace, const std::vector<TensorLeaf>& leaves);

// When set, every tf.function calls its Python function (tf.config.run_functions_eagerly).
extern std::atomic<bool> functions_run_eagerly;

}  // namespace graphwright
