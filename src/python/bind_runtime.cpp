// Ctrl-C in running plans: no Python runs in them that would notice the signal.
#include <csignal>

#include <nanobind/nanobind.h>

#include "runtime/plan.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

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
// there already, nothing changes.
bool watch_interrupts() {
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0) return false;
  bool is_ours = (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == on_interrupt;
  bool is_handler = (current.sa_flags & SA_SIGINFO) ||
                    (current.sa_handler != SIG_DFL && current.sa_handler != SIG_IGN);
  if (is_ours || !is_handler) return is_ours;
  python_action = current;
  struct sigaction ours = {};
  ours.sa_sigaction = on_interrupt;
  ours.sa_mask = current.sa_mask;
  ours.sa_flags = current.sa_flags | SA_SIGINFO;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

#else

bool watch_interrupts() { return false; }

#endif

}  // namespace

void bind_runtime(nb::module_& module) {
  module.def("_watch_interrupts", watch_interrupts,
             "Lets Ctrl-C end running graphs: they raise KeyboardInterrupt. Called on import; call "
             "it again after signal.signal(signal.SIGINT, ...). False where Python does not handle "
             "the signal.");
  watch_interrupts();
}

}  // namespace graphwright
