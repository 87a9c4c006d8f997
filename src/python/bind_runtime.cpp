// Ctrl-C and other signals in running programs, where no Python runs that would notice them;
// cancellation; limits of memory.
#include <csignal>
#include <memory>

#ifndef _WIN32
#include <sys/types.h>
#include <unistd.h>
#endif

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include "base/run_control.h"
#include "python/errors.h"
#include "tensor/allocator.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// Runs Python's handlers of the signals that have come in, which it does on its main thread only;
// what they raise ends the run.
Status run_signal_handlers() {
  if (!Py_IsInitialized()) return Status();
  GilHold gil;
  if (PyErr_CheckSignals() == 0) return Status();
  Status status = python_error_status();
  status.detail()->code = Code::kCancelled;
  return status;
}

#ifndef _WIN32

struct sigaction python_action;

// Async-signal-safe: one lock-free addition, then what would have run without us.
void on_interrupt(int signal, siginfo_t* info, void* context) {
  interrupt_count.fetch_add(1, std::memory_order_relaxed);
  if (python_action.sa_flags & SA_SIGINFO) {
    python_action.sa_sigaction(signal, info, context);
  } else {
    python_action.sa_handler(signal);
  }
}

// Stands before Python's handler of SIGINT. Where Python does not handle the signal, or we stand
// there already, nothing changes. True if we have just stepped there.
bool step_before_python() {
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0) return false;
  bool is_ours = (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == on_interrupt;
  bool is_handler = (current.sa_flags & SA_SIGINFO) ||
                    (current.sa_handler != SIG_DFL && current.sa_handler != SIG_IGN);
  if (is_ours || !is_handler) return false;
  python_action = current;
  struct sigaction ours = {};
  ours.sa_sigaction = on_interrupt;
  ours.sa_mask = current.sa_mask;
  ours.sa_flags = current.sa_flags | SA_SIGINFO;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

bool is_main_thread() {
#ifdef __linux__
  return gettid() == getpid();
#else
  return pthread_main_np() != 0;
#endif
}

// signal.signal(SIGINT, ...) puts Python's handler back in front of us: a run that goes on for a
// while steps before it again, and asks for what has come in between. The handlers of other signals
// get their turn less often, since that takes the interpreter's lock.
Status on_tick() {
  thread_local int ticks = 0;
  if (!is_main_thread()) return Status();
  const bool signals_are_due = ++ticks % 16 == 0;
  return step_before_python() || signals_are_due ? run_signal_handlers() : Status();
}

#else

bool step_before_python() { return false; }
bool is_main_thread() { return true; }
Status on_tick() { return Status(); }

#endif

Status on_interrupted() { return is_main_thread() ? run_signal_handlers() : Status(); }

// Cancels what runs in its scope.
struct CancellationManager {
  StopFlag flag{0};
  const StopFlag* before = nullptr;
};

}  // namespace

void bind_runtime(nb::module_& module) {
  set_interrupt_hook(on_interrupted);
  set_tick_hook(on_tick);
  step_before_python();

  nb::class_<CancellationManager>(
      module, "CancellationManager",
      "Ends functions and ops that run in its scope: `with manager:` on the thread that runs them, "
      "manager.start_cancel() on any thread. They raise tf.errors.CancelledError, which names the "
      "line that was running. A manager stays cancelled.")
      .def(nb::init<>())
      .def("start_cancel", [](CancellationManager& manager) { manager.flag.store(1); })
      .def_prop_ro("is_cancelled",
                   [](const CancellationManager& manager) { return manager.flag.load() != 0; })
      .def("__enter__",
           [](std::shared_ptr<CancellationManager> manager) {
             manager->before = ambient_stop();
             set_ambient_stop(&manager->flag);
             return manager;
           })
      .def(
          "__exit__",
          [](CancellationManager& manager, const nb::object&, const nb::object&,
             const nb::object&) { set_ambient_stop(manager.before); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());

  module.def(
      "set_memory_limit", [](int64_t bytes) { set_memory_limit(bytes); }, nb::arg("bytes"),
      "The bytes that tensors may take from the system, 0 for no limit. What would take more "
      "raises "
      "tf.errors.ResourceExhaustedError.");
  module.def("memory_info", [] {
    MemoryStatistics statistics = memory_statistics();
    nb::dict result;
    result["current"] = statistics.bytes_in_use;
    result["peak"] = statistics.peak_bytes;
    return result;
  });
  module.def("reset_peak_memory", reset_peak_memory);
}

}  // namespace graphwright
