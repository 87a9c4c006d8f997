// Derivatives.
#pragma once

#include <vector>

#include <graphwright/function.h>
#include <graphwright/input.h>
#include <graphwright/variable.h>

namespace graphwright::api {
inline namespace v1 {

namespace detail {
struct TapeState;
GW_API TapeState* make_tape(bool persistent, bool watch_variables);
GW_API void retain(TapeState* state) noexcept;
GW_API void release(TapeState* state) noexcept;
GW_API void tape_watch(TapeState* state, const Argument& value);
GW_API void tape_stop(TapeState* state);
// As many results as sources; null where none depends on the source.
GW_API void tape_gradient(TapeState* state, const Argument* targets, size_t target_count,
                          const Argument* sources, size_t source_count, bool zeros,
                          Handle** results);
}  // namespace detail

struct TapeOptions {
  // gradient() may be asked more than once.
  bool persistent = false;
  // Trainable variables are watched as soon as they are read.
  bool watch_accessed_variables = true;
};

// What a gradient is for a source that the target does not depend on.
enum class Unconnected : uint8_t {
  kNull,  // a null tensor, as TensorFlow's None
  kZero,  // zeros of the source's shape
};

// Records what this thread computes from watched values while it lives, and differentiates it:
//
//   gw::GradientTape tape;
//   tape.watch(x);
//   gw::Tensor y = x * x;
//   gw::Tensor dy_dx = tape.gradient(y, x);  // 2 x
//
// Works eagerly and while a function is traced, where the derivative becomes part of the graph;
// through loops, branches, lists, variables and calls of traced functions. Tapes nest, and one
// records the gradients of those inside it, which gives higher derivatives. A tape belongs to the
// thread that made it and ends there, in the trace (or none) it began in; it cannot be copied.
class GradientTape {
 public:
  explicit GradientTape(const TapeOptions& options = {})
      : state_(detail::make_tape(options.persistent, options.watch_accessed_variables)) {}
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  // Tensors (of floating point or complex numbers) and variables whose derivatives will be asked
  // for.
  void watch(const Input& value) { detail::tape_watch(state_.get(), value.argument()); }
  // Ends recording; gradient() does so too unless the tape is persistent.
  void stop_recording() { detail::tape_stop(state_.get()); }

  // The derivative of the sum of the target's elements with respect to each source, of the source's
  // dtype and shape. FailedPrecondition the second time, unless the tape is persistent. Rows of a
  // variable that was gathered from come as a dense tensor.
  std::vector<Tensor> gradient(const Input& target, const Inputs& sources,
                               Unconnected unconnected = Unconnected::kNull) {
    const detail::Argument wanted = target.argument();
    std::vector<detail::Argument> raw;
    for (const Input& source : sources.items()) raw.push_back(source.argument());
    std::vector<detail::Handle*> handles(raw.size());
    detail::tape_gradient(state_.get(), &wanted, 1, raw.data(), raw.size(),
                          unconnected == Unconnected::kZero, handles.data());
    std::vector<Tensor> results;
    results.reserve(handles.size());
    for (detail::Handle* handle : handles) results.emplace_back(detail::Reference(handle));
    return results;
  }
  Tensor gradient(const Input& target, const Tensor& source,
                  Unconnected unconnected = Unconnected::kNull) {
    return gradient(target, Inputs{source}, unconnected).front();
  }
  Tensor gradient(const Input& target, const Variable& source,
                  Unconnected unconnected = Unconnected::kNull) {
    return gradient(target, Inputs{source}, unconnected).front();
  }

 private:
  detail::Shared<detail::TapeState> state_;
};

}  // namespace v1
}  // namespace graphwright::api
