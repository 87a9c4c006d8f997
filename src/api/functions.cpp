// Traced functions and their calls.
#include <atomic>
#include <mutex>

#include <fmt/format.h>
#include <graphwright/function.h>

#include "api/handles.h"
#include "api/numbers.h"
#include "ir/graph.h"
#include "ir/text.h"
#include "ir/thread_state.h"
#include "serial/export_graph.h"
#include "trace/build_context.h"
#include "trace/concrete_function.h"
#include "trace/function_cache.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {

struct FunctionState {
  std::atomic<int> references{1};
  std::shared_ptr<core::ConcreteFunction> concrete;
};

struct StopState {
  std::atomic<int> references{1};
  core::StopFlag flag{0};
};
static_assert(core::StopFlag::is_always_lock_free, "signal handlers set it");

struct CacheState {
  std::atomic<int> references{1};
  std::string name;
  void* function = nullptr;
  void (*destroy)(void*) = nullptr;
  core::FunctionCache<core::ConcreteFunction> traces;
  std::recursive_mutex tracing;  // a function may call itself while it is traced
  ~CacheState() {
    if (destroy) destroy(function);
  }
};

namespace {

template <class State>
void release_state(State* state) {
  if (state->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete state;
}

FunctionState* wrap(std::shared_ptr<core::ConcreteFunction> concrete) {
  auto* state = new FunctionState;
  state->concrete = std::move(concrete);
  return state;
}

core::ConcreteFunction& concrete_of(FunctionState* state) {
  if (!state) core::throw_invalid_argument("a null Function was used");
  return *state->concrete;
}

struct Declared {
  core::ValueType type;
  std::string name;
};

std::string next_graph_name(const std::string& name) {
  static std::atomic<int64_t> counter{0};
  return fmt::format("__inference_{}_{}", name, counter.fetch_add(1));
}

std::shared_ptr<core::ConcreteFunction> trace_body(Body body, void* function,
                                                   std::span<const Declared> declared,
                                                   size_t result_count, const std::string& name) {
  auto graph = std::make_shared<core::Graph>(next_graph_name(name));
  core::BuildContext context(core::ContextKind::kFunction, graph, core::VariableCreation::kForbid);
  {
    core::ContextScope scope(context);
    HandleArray arguments(declared.size()), results(result_count + 1);
    for (size_t i = 0; i < declared.size(); ++i) {
      core::Value* argument = graph->add_argument(graph->body(), declared[i].type);
      argument->name = core::InternedString(declared[i].name);
      arguments[i] = handle_of(core::Operand(argument));
    }
    body(function, arguments.data(), results.data(), nullptr);
    for (size_t i = 0; i < result_count; ++i) {
      core::Operand output = context.builder().op("Identity", {operand_of(results[i])});
      graph->body().results.push_back(output.value());
    }
  }
  return std::make_shared<core::ConcreteFunction>(graph, static_cast<int>(declared.size()));
}

// A trace that uses values of an enclosing function serves only while that one is being traced.
bool is_usable(core::ConcreteFunction& concrete) {
  if (!concrete.captures_outer_values()) return true;
  for (const core::Capture& capture : concrete.graph()->captures()) {
    if (capture.outer && !core::is_reachable(*capture.outer)) return false;
  }
  return true;
}

}  // namespace

void retain(FunctionState* state) noexcept { state->references.fetch_add(1); }
void release(FunctionState* state) noexcept { release_state(state); }
void retain(StopState* state) noexcept { state->references.fetch_add(1); }
void release(StopState* state) noexcept { release_state(state); }
void retain(CacheState* state) noexcept { state->references.fetch_add(1); }
void release(CacheState* state) noexcept { release_state(state); }

StopState* make_stop() { return new StopState; }
void set_stop(StopState* state, bool stopped) noexcept { state->flag.store(stopped ? 1 : 0); }
bool is_stopped(StopState* state) noexcept { return state->flag.load() != 0; }

FunctionState* trace(Body body, void* function, const RawSpec* specs, size_t count,
                     size_t result_count, const char* name) {
  return guarded([&] {
    std::vector<Declared> declared;
    for (size_t i = 0; i < count; ++i) {
      core::DType dtype = core_dtype(specs[i].dtype);
      if (!core::kAnyTensor.contains(dtype)) {
        core::throw_invalid_argument(fmt::format(
            "argument {} of a traced function cannot be a {}: lists and variables are captured", i,
            core::dtype_name(dtype)));
      }
      core::PartialShape shape = core_shape(specs[i].shape);
      // Unknown dimensions get symbols: each is the same size wherever it appears.
      for (int d = 0; d < shape.rank(); ++d) {
        if (shape.dim(d) == core::kUnknownDim) shape.set_dim(d, core::new_symbol());
      }
      declared.push_back({core::tensor_type(dtype, shape), specs[i].name});
    }
    return wrap(trace_body(body, function, declared, result_count, name));
  });
}

FunctionState* parse_function(const char* text, size_t size) {
  return guarded([&] {
    std::shared_ptr<core::Graph> graph = core::parse_graph(std::string_view(text, size));
    if (!graph->captures().empty()) {
      core::throw_invalid_argument(fmt::format(
          "{} captures variables or tensors, which its text does not hold", graph->name()));
    }
    for (const core::Value* argument : graph->body().arguments) {
      if (!core::kAnyTensor.contains(argument->dtype())) {
        core::throw_invalid_argument(
            fmt::format("{} takes a {}", graph->name(), argument->type.to_string()));
      }
    }
    for (const core::Value* result : graph->body().results) {
      if (!core::kAnyTensor.contains(result->dtype())) {
        core::throw_invalid_argument(
            fmt::format("{} returns a {}", graph->name(), result->type.to_string()));
      }
    }
    int count = static_cast<int>(graph->body().arguments.size());
    return wrap(std::make_shared<core::ConcreteFunction>(graph, count));
  });
}

void call_function(FunctionState* state, const Argument* arguments, size_t count, Handle** results,
                   StopState* stop) {
  guarded(count > 0 ? arguments[0].site : Site(), [&] {
    core::ConcreteFunction& concrete = concrete_of(state);
    if (count != static_cast<size_t>(concrete.argument_count())) {
      core::throw_invalid_argument(fmt::format("the function takes {} arguments, but {} were given",
                                               concrete.argument_count(), count));
    }
    core::OperandVector operands;
    for (size_t i = 0; i < count; ++i) {
      const core::Value& declared = *concrete.graph()->body().arguments[i];
      operands.push_back(tensor_argument(arguments[i], declared.dtype(), declared.name.view()));
    }
    core::OperandVector outputs;
    if (!stop) {
      concrete.call(operands, outputs);
    } else {
      if (core::thread_state.bits &
          (core::ThreadState::kBuilding | core::ThreadState::kObserving)) {
        throw core::Error(core::Code::kFailedPrecondition,
                          "a call with a cancellation token can neither be traced nor recorded by "
                          "a tape");
      }
      concrete.check_arguments(operands, /*tracing=*/false);
      std::vector<core::Tensor> inputs, tensors(static_cast<size_t>(concrete.result_count()));
      for (const core::Operand& operand : operands) inputs.push_back(operand.tensor());
      core::RunOptions options;
      options.stop = &stop->flag;
      if (stop->flag.load() != 0) {
        throw core::Error(core::Code::kCancelled, "the token was cancelled before the call");
      }
      concrete.run(inputs, tensors, options).throw_if_error();
      for (core::Tensor& tensor : tensors) outputs.emplace_back(std::move(tensor));
    }
    HandleArray made(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) made[i] = handle_of(outputs[i]);
    for (size_t i = 0; i < outputs.size(); ++i) results[i] = std::exchange(made[i], nullptr);
  });
}

size_t argument_count(FunctionState* state) {
  return guarded([&] { return static_cast<size_t>(concrete_of(state).argument_count()); });
}
size_t result_count(FunctionState* state) {
  return guarded([&] { return static_cast<size_t>(concrete_of(state).result_count()); });
}
void function_text(FunctionState* state, TextSink sink, void* target) {
  std::string text = guarded([&] { return core::graph_to_text(*concrete_of(state).graph()); });
  sink(target, text.data(), text.size());
}
void function_graph_def(FunctionState* state, TextSink sink, void* target) {
  std::string bytes = guarded([&] { return core::graph_to_graphdef(*concrete_of(state).graph()); });
  sink(target, bytes.data(), bytes.size());
}
void function_name(FunctionState* state, TextSink sink, void* target) {
  std::string name = guarded([&] { return std::string(concrete_of(state).callee_name()); });
  sink(target, name.data(), name.size());
}

CacheState* make_cache(const char* name, void* function, void (*destroy)(void*)) {
  auto* state = new CacheState;
  state->name = name;
  state->function = function;
  state->destroy = destroy;
  return state;
}

FunctionState* cached_trace(CacheState* state, Body body, Handle* const* arguments, size_t count,
                            size_t result_count) {
  return guarded([&] {
    core::TraceKeyWriter key;
    std::vector<Declared> declared;
    for (size_t i = 0; i < count; ++i) {
      core::Operand operand = operand_of(arguments[i]);
      core::ValueType type = core::type_of(operand);
      key.tensor(type.dtype, type.shape);
      for (int d = 0; d < type.shape.rank(); ++d) {
        if (!core::is_known(type.shape.dim(d))) type.shape.set_dim(d, core::new_symbol());
      }
      declared.push_back({core::tensor_type(type.dtype, type.shape), {}});
    }
    std::shared_ptr<core::ConcreteFunction> found = state->traces.find(key.view());
    if (found && is_usable(*found)) return wrap(std::move(found));
    std::lock_guard<std::recursive_mutex> lock(state->tracing);
    found = state->traces.find(key.view());
    if (found && is_usable(*found)) return wrap(std::move(found));
    std::shared_ptr<core::ConcreteFunction> made =
        trace_body(body, state->function, declared, result_count, state->name);
    state->traces.insert(key.view(), made);
    return wrap(std::move(made));
  });
}

size_t cache_size(CacheState* state) { return state->traces.size(); }

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
