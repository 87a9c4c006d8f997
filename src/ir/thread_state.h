// The one word that an eager op looks at before it takes the short way, and what it summarises.
#pragma once

#include <cstdint>
#include <vector>

namespace graphwright {

class Builder;
class OpObserver;

struct ThreadState {
  enum Bit : uint32_t {
    kBuilding = 1,   // the current build context is a graph
    kObserving = 2,  // observers is not empty
    kDeviceScope = 4,
    kProfiling = 8,
    kCheckNumerics = 16,
    kNameScope = 32,
  };
  uint32_t bits = 0;                   // 0: nothing is in the way of the fast path
  Builder* builder = nullptr;          // of the current build context; null: the eager builder
  std::vector<OpObserver*> observers;  // innermost last; guarded by kObserving
};

#if defined(__GNUC__) && !defined(__APPLE__)
#define GW_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define GW_INITIAL_EXEC
#endif
extern thread_local ThreadState thread_state GW_INITIAL_EXEC;

// The builder of the current context, whatever the tier. Internal when it would be the eager one
// and no factory is set.
Builder& current_builder();
// How the runtime, a higher layer, makes its eager builder known: set while it is loaded.
using EagerBuilderFactory = Builder& (*)();
void set_eager_builder_factory(EagerBuilderFactory factory);

void push_observer(OpObserver* observer);
void remove_observer(OpObserver* observer);

// Hides all observers while it lives: what a tape itself computes is not recorded by it.
class ObserverPause {
 public:
  ObserverPause();
  ~ObserverPause();
  ObserverPause(const ObserverPause&) = delete;
  ObserverPause& operator=(const ObserverPause&) = delete;

 private:
  std::vector<OpObserver*> saved_;
};

// Hides one observer, and those inside it, while it lives. Nothing happens if it does not observe.
class ObserversAround {
 public:
  explicit ObserversAround(const OpObserver* observer);
  ~ObserversAround();
  ObserversAround(const ObserversAround&) = delete;
  ObserversAround& operator=(const ObserversAround&) = delete;

 private:
  std::vector<OpObserver*> hidden_;
};

}  // namespace graphwright
