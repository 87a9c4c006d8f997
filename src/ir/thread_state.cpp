#include "ir/thread_state.h"

#include <algorithm>
#include <atomic>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/observer.h"

namespace graphwright {

thread_local ThreadState thread_state GW_INITIAL_EXEC;

namespace {

std::atomic<EagerBuilderFactory> eager_builder_factory{nullptr};

void update_observing_bit() {
  if (thread_state.observers.empty()) {
    thread_state.bits &= ~ThreadState::kObserving;
  } else {
    thread_state.bits |= ThreadState::kObserving;
  }
}

}  // namespace

void set_eager_builder_factory(EagerBuilderFactory factory) {
  eager_builder_factory.store(factory, std::memory_order_release);
}

Builder& current_builder() {
  if (thread_state.builder) return *thread_state.builder;
  EagerBuilderFactory factory = eager_builder_factory.load(std::memory_order_acquire);
  if (!factory) throw_internal("no eager builder is registered");
  return factory();
}

void push_observer(OpObserver* observer) {
  thread_state.observers.push_back(observer);
  update_observing_bit();
}

void remove_observer(OpObserver* observer) {
  auto& observers = thread_state.observers;
  // Innermost first: tapes nest, but a persistent one may outlive those pushed after it.
  auto found = std::find(observers.rbegin(), observers.rend(), observer);
  if (found != observers.rend()) observers.erase(std::next(found).base());
  update_observing_bit();
}

ObserverPause::ObserverPause() : saved_(std::move(thread_state.observers)) {
  thread_state.observers.clear();
  update_observing_bit();
}

ObserverPause::~ObserverPause() {
  thread_state.observers = std::move(saved_);
  update_observing_bit();
}

ObserversAround::ObserversAround(const OpObserver* observer) {
  std::vector<OpObserver*>& all = thread_state.observers;
  auto position = std::find(all.begin(), all.end(), observer);
  hidden_.assign(position, all.end());
  all.erase(position, all.end());
  update_observing_bit();
}

ObserversAround::~ObserversAround() {
  thread_state.observers.insert(thread_state.observers.end(), hidden_.begin(), hidden_.end());
  update_observing_bit();
}

}  // namespace graphwright
