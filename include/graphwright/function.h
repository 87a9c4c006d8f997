// Traced functions: C++ functions turned into graphs, optimised and run without C++ in between.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <graphwright/values.h>

namespace graphwright::api {
inline namespace v1 {

namespace detail {

struct RawSpec {
  RawShape shape;
  DType dtype;
  const char* name;
};

struct FunctionState;
GW_API void retain(FunctionState* state) noexcept;
GW_API void release(FunctionState* state) noexcept;
GW_API FunctionState* trace(Body body, void* function, const RawSpec* specs, size_t count,
                            size_t result_count, const char* name);
GW_API FunctionState* parse_function(const char* text, size_t size);
struct StopState;
GW_API StopState* make_stop();
GW_API void retain(StopState* state) noexcept;
GW_API void release(StopState* state) noexcept;
GW_API void set_stop(StopState* state, bool stopped) noexcept;
GW_API bool is_stopped(StopState* state) noexcept;
// `results` has result_count slots. `stop` may be null.
GW_API void call_function(FunctionState* state, const Argument* arguments, size_t count,
                          Handle** results, StopState* stop);
GW_API size_t argument_count(FunctionState* state);
GW_API size_t result_count(FunctionState* state);
GW_API void function_text(FunctionState* state, TextSink sink, void* target);
GW_API void function_graph_def(FunctionState* state, TextSink sink, void* target);
GW_API void function_name(FunctionState* state, TextSink sink, void* target);
// Traces by dtypes and shapes of the arguments.
struct CacheState;
// Owns the C++ function that it traces.
GW_API CacheState* make_cache(const char* name, void* function, void (*destroy)(void* function));
GW_API void retain(CacheState* state) noexcept;
GW_API void release(CacheState* state) noexcept;
// A reference to the trace for these arguments, made on first use.
GW_API FunctionState* cached_trace(CacheState* state, Body body, Handle* const* arguments,
                                   size_t count, size_t result_count);
GW_API size_t cache_size(CacheState* state);

// A counted reference to one of the states above.
template <class State>
class Shared {
 public:
  Shared() = default;
  explicit Shared(State* state) noexcept : state_(state) {}
  Shared(const Shared& other) noexcept : state_(other.state_) {
    if (state_) retain(state_);
  }
  Shared(Shared&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Shared() {
    if (state_) release(state_);
  }
  State* get() const { return state_; }

 private:
  State* state_ = nullptr;
};

}  // namespace detail

// Ends runs from outside. Copies are the same token; all methods may be called from any thread (and
// cancel() from a signal handler).
class CancellationToken {
 public:
  CancellationToken() : state_(detail::make_stop()) {}
  // Runs that were given the token end with Error of code kCancelled, at the latest at the next
  // iteration of a loop; effects that happened before stay. Later runs end at once, until reset().
  void cancel() const noexcept { detail::set_stop(state_.get(), true); }
  void reset() const noexcept { detail::set_stop(state_.get(), false); }
  bool is_cancelled() const noexcept { return detail::is_stopped(state_.get()); }
  detail::StopState* get() const { return state_.get(); }

 private:
  detail::Shared<detail::StopState> state_;
};

// A traced function: a graph with its captures, compiled when first called. Copies are the same
// function. Any number of threads may call it at once.
//
// Called while another function is traced, it becomes a call node there; under a GradientTape its
// derivatives are recorded. Variables that it uses live as long as it does.
class Function {
 public:
  // Null; calling it is InvalidArgument.
  Function() = default;

  bool defined() const { return state_.get() != nullptr; }
  size_t argument_count() const { return detail::argument_count(state_.get()); }
  size_t result_count() const { return detail::result_count(state_.get()); }
  std::string name() const {
    std::string text;
    detail::function_name(state_.get(), detail::append_text, &text);
    return text;
  }

  // One result for each the traced function returned. InvalidArgument for another number of
  // arguments, or one whose dtype or shape is not of its spec.
  std::vector<Tensor> call(const Inputs& arguments) const { return run(nullptr, arguments); }
  // The same, ending with kCancelled when the token is cancelled. Only outside of traces
  // (FailedPrecondition).
  std::vector<Tensor> call(const CancellationToken& token, const Inputs& arguments) const {
    return run(token.get(), arguments);
  }

  // The graph as text, for people and tests; versioned (its first line says the version), and read
  // back by from_text.
  std::string to_text() const {
    std::string text;
    detail::function_text(state_.get(), detail::append_text, &text);
    return text;
  }
  // A serialized GraphDef message of TensorFlow with the graph's nodes, constants and functions.
  // Captured tensors and variables are placeholders in it.
  std::string graph_def() const {
    std::string bytes;
    detail::function_graph_def(state_.get(), detail::append_text, &bytes);
    return bytes;
  }
  // The function of a text that to_text made. InvalidArgument for a text that is malformed, of
  // another version, or of a function that captures variables or tensors, which a text does not
  // hold. The text may be hostile: memory stays bounded by its length.
  static Function from_text(std::string_view text) {
    return Function(detail::parse_function(text.data(), text.size()));
  }

  // --- For the headers ---
  explicit Function(detail::FunctionState* state) : state_(state) {}
  detail::FunctionState* get() const { return state_.get(); }

 private:
  std::vector<Tensor> run(detail::StopState* stop, const Inputs& arguments) const {
    std::vector<detail::Argument> raw;
    for (const Input& item : arguments.items()) raw.push_back(item.argument());
    std::vector<detail::Handle*> handles(result_count());
    detail::call_function(state_.get(), raw.data(), raw.size(), handles.data(), stop);
    std::vector<Tensor> results;
    results.reserve(handles.size());
    for (detail::Handle* handle : handles) results.emplace_back(detail::Reference(handle));
    return results;
  }
  detail::Shared<detail::FunctionState> state_;
};

namespace detail {
template <size_t>
using InputAt = const Input&;
}

// A Function that knows how many arguments it takes and what it returns: `f(x, y)`.
template <class Result, class Positions>
class TypedFunction;

template <class Result, size_t... Position>
class TypedFunction<Result, std::index_sequence<Position...>> : public Function {
 public:
  using Function::Function;
  // Numbers take the dtype of the argument's spec.
  auto operator()(detail::InputAt<Position>... arguments) const {
    return run_typed(nullptr, arguments...);
  }
  // The same, ending with kCancelled when the token is cancelled.
  auto operator()(const CancellationToken& token, detail::InputAt<Position>... arguments) const {
    return run_typed(token.get(), arguments...);
  }

 private:
  using Shape = detail::Results<Result>;
  auto run_typed(detail::StopState* stop, detail::InputAt<Position>... arguments) const {
    const detail::Argument raw[sizeof...(Position) + 1] = {arguments.argument()...};
    detail::Handle* results[Shape::kCount + 1] = {};
    detail::call_function(get(), raw, sizeof...(Position), results, stop);
    if constexpr (Shape::kCount > 0) return Shape::read(results);
  }
};

namespace detail {
template <class T>
inline constexpr bool kOnlyTensors = std::is_void_v<T> || std::is_same_v<T, Tensor>;
template <class... T>
inline constexpr bool kOnlyTensors<std::tuple<T...>> = (std::is_same_v<T, Tensor> && ...);

template <class>
using AlwaysTensor = Tensor;
template <class Function, class... Specs>
using TraceCall = Call<Function, AlwaysTensor<Specs>...>;
}  // namespace detail

// Traces a function over symbolic tensors, one for each spec:
//
//   auto f = gw::trace([&](gw::Tensor x) { return gw::tanh(x) * w; },
//                      gw::TensorSpec({gw::kUnknownDim, 3}, gw::float32, "x"));
//   gw::Tensor y = f(gw::constant({{1.0f, 2.0f, 3.0f}}));
//
// It is called once, at once, in this thread, and not kept. It returns a tensor, a number, a
// std::tuple of them, or nothing. A name before it is used in graphs and messages. What it does
// beside making nodes (printing with C++ streams, say) happens then and not when the result is
// called. Tensors from outside are captured with their value, variables are read when the traced
// function runs.
template <class Body, class... Specs>
  requires(std::is_same_v<Specs, TensorSpec> && ...)
auto trace(const std::string& name, Body&& body, const Specs&... specs) {
  using Call = detail::TraceCall<Body, Specs...>;
  using Result = typename Call::Shape::Type;
  static_assert(detail::kOnlyTensors<Result>,
                "a traced function returns tensors; List::stack makes one of a list");
  const detail::RawSpec raw[sizeof...(Specs) + 1] = {
      detail::RawSpec{specs.shape.raw(), specs.dtype, specs.name.c_str()}...};
  return TypedFunction<Result, std::index_sequence_for<Specs...>>(
      detail::trace(Call::body, detail::address_of(body), raw, sizeof...(Specs),
                    Call::Shape::kCount, name.c_str()));
}
template <class Body, class... Specs>
  requires(!std::is_convertible_v<Body, std::string> && (std::is_same_v<Specs, TensorSpec> && ...))
auto trace(Body&& body, const Specs&... specs) {
  return trace(std::string("function"), std::forward<Body>(body), specs...);
}

// A function that is traced when it is called, once for each combination of the arguments' dtypes
// and shapes, and kept for further traces: what tf.function makes.
//
//   auto norm = gw::function([](gw::Tensor x) { return gw::sqrt(gw::reduce_sum(x * x)); });
//   norm(gw::constant({3.0f, 4.0f}));  // traces and runs
//   norm(gw::constant({6.0f, 8.0f}));  // runs
//
// Numbers are int32 or float32 scalars. Copies share the traces. Several threads may call it at
// once: one traces, the others wait.
template <class Body>
class StagedFunction {
 public:
  explicit StagedFunction(Body body, const std::string& name)
      : cache_(detail::make_cache(name.c_str(), new Body(std::move(body)), destroy)) {}
  template <class... T>
    requires(std::is_convertible_v<const T&, Input> && ...)
  auto operator()(const T&... arguments) const {
    return concrete(arguments...)(detail::without_site(arguments)...);
  }
  // The trace that serves these arguments, made if there is none yet.
  template <class... T>
    requires(std::is_convertible_v<const T&, Input> && ...)
  auto concrete(const T&... arguments) const {
    using Call = detail::TraceCall<Body, T...>;
    using Result = typename Call::Shape::Type;
    static_assert(detail::kOnlyTensors<Result>,
                  "a staged function returns tensors; List::stack makes one of a list");
    const detail::Reference tensors[sizeof...(T) + 1] = {
        detail::Reference(detail::take(arguments, DType::kInvalid))...};
    detail::Handle* handles[sizeof...(T) + 1];
    for (size_t i = 0; i < sizeof...(T); ++i) handles[i] = tensors[i].get();
    return TypedFunction<Result, std::index_sequence_for<T...>>(
        detail::cached_trace(cache_.get(), Call::body, handles, sizeof...(T), Call::Shape::kCount));
  }
  // How many traces there are.
  size_t trace_count() const { return detail::cache_size(cache_.get()); }

 private:
  static void destroy(void* function) { delete static_cast<Body*>(function); }
  detail::Shared<detail::CacheState> cache_;
};
template <class Body>
StagedFunction<std::decay_t<Body>> function(Body&& body, const std::string& name = "function") {
  return StagedFunction<std::decay_t<Body>>(std::forward<Body>(body), name);
}

}  // namespace v1
}  // namespace graphwright::api
