// Gradient tapes.
#include <atomic>
#include <thread>

#include <graphwright/gradient.h>

#include "api/handles.h"
#include "api/numbers.h"
#include "api/variables.h"
#include "autodiff/tape.h"
#include "ir/rule_context.h"
#include "ir/thread_state.h"
#include "trace/build_context.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {

struct TapeState {
  TapeState(bool persistent, bool watch_variables)
      : tape(persistent, watch_variables),
        thread(std::this_thread::get_id()),
        context(&core::current_context()) {}
  std::atomic<int> references{1};
  core::GradientTape tape;
  const std::thread::id thread;
  const core::BuildContext* const context;
};

namespace {

void require_home(const TapeState& state) {
  if (state.thread != std::this_thread::get_id()) {
    throw core::Error(core::Code::kFailedPrecondition,
                      "a GradientTape belongs to the thread that made it");
  }
  if (state.context != &core::current_context()) {
    throw core::Error(
        core::Code::kFailedPrecondition,
        "a GradientTape is used in another function than the one it was made in: make "
        "it inside, or call the traced function while the tape records");
  }
}

// A variable stands for its handle.
core::Operand source_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::kVariable) return operand_of(argument.handle);
  if (argument.kind == Argument::Kind::kTensor) return operand_of(argument.handle);
  core::throw_invalid_argument("only tensors and variables have derivatives");
}

}  // namespace

TapeState* make_tape(bool persistent, bool watch_variables) {
  return guarded([&] {
    auto state = std::make_unique<TapeState>(persistent, watch_variables);
    state->tape.start();
    return state.release();
  });
}

void retain(TapeState* state) noexcept { state->references.fetch_add(1); }
void release(TapeState* state) noexcept {
  if (state->references.fetch_sub(1) != 1) return;
  // Another thread's list of observers cannot be touched: rather lose the tape than leave that
  // thread with a pointer to nothing.
  if (state->tape.recording() && state->thread != std::this_thread::get_id()) return;
  delete state;
}

void tape_watch(TapeState* state, const Argument& value) {
  guarded(value.site, [&] {
    require_home(*state);
    state->tape.watch(source_of(value));
  });
}

void tape_stop(TapeState* state) {
  guarded([&] {
    require_home(*state);
    if (state->tape.recording()) state->tape.stop();
  });
}

void tape_gradient(TapeState* state, const Argument* targets, size_t target_count,
                   const Argument* sources, size_t source_count, bool zeros, Handle** results) {
  guarded(target_count > 0 ? targets[0].site : Site(), [&] {
    require_home(*state);
    core::OperandVector target_operands, source_operands;
    for (size_t i = 0; i < target_count; ++i) target_operands.push_back(source_of(targets[i]));
    for (size_t i = 0; i < source_count; ++i) source_operands.push_back(source_of(sources[i]));
    if (state->tape.recording() && !state->tape.persistent()) state->tape.stop();
    core::OperandVector weights(target_count);
    std::vector<core::Gradient> gradients =
        state->tape.gradient(target_operands, weights, source_operands);
    core::Builder& builder = core::current_builder();
    HandleArray made(source_count);
    for (size_t i = 0; i < source_count; ++i) {
      if (gradients[i]) {
        made[i] = handle_of(core::dense_gradient(builder, gradients[i]));
      } else if (zeros) {
        core::Operand like = sources[i].kind == Argument::Kind::kVariable ? read(sources[i].handle)
                                                                          : source_operands[i];
        made[i] = handle_of(builder.op("ZerosLike", {like}));
      }
    }
    for (size_t i = 0; i < source_count; ++i) results[i] = std::exchange(made[i], nullptr);
  });
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
