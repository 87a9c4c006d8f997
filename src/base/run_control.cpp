#include "base/run_control.h"

#include <algorithm>

namespace graphwright {

StopFlag interrupt_count{0};

namespace {

std::atomic<InterruptHook> interrupt_hook{nullptr};
std::atomic<InterruptHook> tick_hook{nullptr};
// The interrupts that have been dealt with, so that one which came in just before a run does not
// pass it by.
std::atomic<uint32_t> handled_count{0};

thread_local RunControl* current_control [[gnu::tls_model("initial-exec")]] = nullptr;

thread_local const StopFlag* ambient_flag [[gnu::tls_model("initial-exec")]] = nullptr;

using Clock = std::chrono::steady_clock;
constexpr auto kTick = std::chrono::milliseconds(20);
constexpr auto kLookOften = std::chrono::milliseconds(5);
constexpr auto kLookRarely = std::chrono::milliseconds(1);
constexpr int32_t kMostIterations = 1 << 14;

}  // namespace

void set_interrupt_hook(InterruptHook hook) { interrupt_hook.store(hook); }
void set_tick_hook(InterruptHook hook) { tick_hook.store(hook); }

RunControl::RunControl(const StopFlag* stop)
    : stop_(stop),
      // Without a hook nobody else deals with interrupts: those of the past are none of ours.
      seen_(interrupt_hook.load(std::memory_order_relaxed)
                ? handled_count.load(std::memory_order_relaxed)
                : interrupt_count.load(std::memory_order_relaxed)),
      outer_(current_control),
      owner_(pthread_self()) {
  current_control = this;
}

RunControl::~RunControl() { current_control = outer_; }

RunControl* RunControl::current() { return current_control; }

void RunControl::stop(Status reason) {
  reason_ = std::move(reason);
  stopped_.store(true, std::memory_order_release);
}

bool RunControl::must_stop(int32_t& iterations) {
  if (pthread_equal(owner_, pthread_self())) {
    const Clock::time_point now = Clock::now();
    const auto since = now - last_look_;
    if (since < kLookRarely) interval_ = std::min(interval_ * 2, kMostIterations);
    if (since > kLookOften) interval_ = std::max(interval_ / 2, 1);
    last_look_ = now;
    iterations = interval_;
  } else {
    iterations = 16;
  }
  return must_stop();
}

bool RunControl::must_stop() {
  if (stopped()) return true;
  // Only the run's own thread may ask hooks; the others go on until it has.
  if (!pthread_equal(owner_, pthread_self())) return false;
  if (stop_ && stop_->load(std::memory_order_relaxed) != 0) {
    stop(Status(Code::kCancelled, "The run was cancelled."));
    return true;
  }
  const uint32_t count = interrupt_count.load(std::memory_order_relaxed);
  if (count != seen_.load(std::memory_order_relaxed)) {
    seen_.store(count, std::memory_order_relaxed);
    InterruptHook hook = interrupt_hook.load();
    Status status = hook ? hook() : Status(Code::kCancelled, "The run was cancelled.");
    handled_count.store(count, std::memory_order_relaxed);
    if (!status.ok()) {
      stop(std::move(status));
      return true;
    }
  }
  const Clock::time_point now = Clock::now();
  if (last_tick_ == Clock::time_point()) last_tick_ = now;
  if (now - last_tick_ >= kTick) {
    last_tick_ = now;
    if (InterruptHook hook = tick_hook.load()) {
      Status status = hook();
      if (!status.ok()) {
        stop(std::move(status));
        return true;
      }
    }
  }
  if (outer_ && outer_->must_stop()) {
    stop(outer_->reason());
    return true;
  }
  return false;
}

const StopFlag* ambient_stop() { return ambient_flag; }
void set_ambient_stop(const StopFlag* stop) { ambient_flag = stop; }

Status RunControl::reason() const { return reason_; }

WorkingFor::WorkingFor(RunControl* control) : before_(current_control) {
  current_control = control;
}
WorkingFor::~WorkingFor() { current_control = before_; }

}  // namespace graphwright
