// How running programs are ended from outside: by a flag that the caller of a run gives, or by an
// interrupt of the process (Ctrl-C). Loops look at one word per iteration; long kernels are ended
// between the chunks of parallel_for.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/status.h"

namespace graphwright {

// Raised (set to something else than 0) from any thread to end what looks at it.
using StopFlag = std::atomic<uint32_t>;

// Raised by one by a signal handler. What it means is asked from a hook, on the thread of the run.
extern StopFlag interrupt_count;

// Whether a run must end, and with which status, after an interrupt; OK: the run goes on. Without a
// hook, a run ends with Cancelled.
using InterruptHook = Status (*)();
void set_interrupt_hook(InterruptHook hook);
// Called every 20 ms or so on the threads of long runs, for what nobody signals.
void set_tick_hook(InterruptHook hook);

// One run, and the runs nested in it on the same thread.
class RunControl {
 public:
  // `stop` may be null. Becomes the current one of the thread unless that has one already.
  explicit RunControl(const StopFlag* stop);
  ~RunControl();
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;

  // Of this thread: of the run that it works for; null outside of runs.
  static RunControl* current();

  // The run may go on without a closer look while `*word()` is `go()`.
  const StopFlag* word() const { return stop_ ? stop_ : &interrupt_count; }
  uint32_t go() const { return stop_ ? 0 : seen_.load(std::memory_order_relaxed); }
  // The closer look: whether the run must end. Called now and then in any case; says how many
  // iterations of a loop may pass until the next time.
  bool must_stop(int32_t& iterations);
  bool must_stop();
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  // Why it was stopped.
  Status reason() const;
  const StopFlag* caller_stop() const { return stop_; }

 private:
  friend class WorkingFor;
  void stop(Status reason);

  const StopFlag* stop_;
  std::atomic<uint32_t> seen_;
  std::atomic<bool> stopped_{false};
  Status reason_;
  RunControl* outer_;
  pthread_t owner_;
  int32_t interval_ = 16;
  std::chrono::steady_clock::time_point last_look_, last_tick_;
};

// While it lives, the thread works for a run of another thread.
class WorkingFor {
 public:
  explicit WorkingFor(RunControl* control);
  ~WorkingFor();
  WorkingFor(const WorkingFor&) = delete;
  WorkingFor& operator=(const WorkingFor&) = delete;

 private:
  RunControl* before_;
};

// The flag that runs of this thread look at which are given none; null: none.
const StopFlag* ambient_stop();
void set_ambient_stop(const StopFlag* stop);

// For kernels with long loops of their own: whether to give up. The results do not matter then.
inline bool work_is_stopped() {
  RunControl* control = RunControl::current();
  return control && control->must_stop();
}

}  // namespace graphwright
