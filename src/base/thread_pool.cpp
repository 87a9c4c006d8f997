#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <sched.h>

#include "base/run_control.h"
#include "base/std_thread_pool.h"

#ifndef GW_STD_THREAD_POOL
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace graphwright {
namespace {

// The processors that this process may use, as the scheduler sees them (containers and taskset
// restrict them), limited by the environment.
int choose_thread_count() {
  int available = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) available = CPU_COUNT(&set);
  available = std::max(available, 1);
  if (const char* text = std::getenv("GRAPHWRIGHT_NUM_THREADS")) {
    int wanted = std::atoi(text);
    if (wanted >= 1) return std::min(wanted, 1024);
  }
  return available;
}

#ifdef GW_STD_THREAD_POOL
std::atomic<bool> use_std_pool{true};
#else
std::atomic<bool> use_std_pool{false};
#endif
std::atomic<StdThreadPool*> std_pool{nullptr};

// In a forked child no worker exists any more, whichever pool had started them: begin afresh, and
// leave the old pool, whose locks another thread of the parent may have held, untouched.
void after_fork_in_child() {
  use_std_pool.store(true);
  std_pool.store(nullptr);
}

void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  (void)registered;
}

StdThreadPool& running_std_pool() {
  StdThreadPool* pool = std_pool.load(std::memory_order_acquire);
  if (!pool) {
    // Two threads may race here in a fresh child; the loser's idle pool is kept but unused.
    StdThreadPool* fresh = new StdThreadPool(thread_count());
    pool = std_pool.compare_exchange_strong(pool, fresh) ? fresh : pool;
  }
  return *pool;
}

#ifndef GW_STD_THREAD_POOL
tbb::task_arena& arena() {
  static tbb::task_arena* const instance = new tbb::task_arena(thread_count());
  return *instance;
}
#endif

}  // namespace

int thread_count() {
  static const int count = choose_thread_count();
  return count;
}

void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain) {
    body(0, count);
    return;
  }
  int64_t chunks = (count - 1) / grain + 1;
  RunControl* const control = RunControl::current();
  auto run_chunk = [&](int64_t chunk) {
    if (control && control->must_stop()) return;
    WorkingFor work(control);
    int64_t begin = chunk * grain;
    body(begin, std::min(count - begin, grain) + begin);
  };
  if (thread_count() == 1) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run_chunk(chunk);
    return;
  }
  watch_forks();
#ifndef GW_STD_THREAD_POOL
  if (!use_std_pool.load(std::memory_order_relaxed)) {
    auto run_range = [&](const tbb::blocked_range<int64_t>& range) {
      for (int64_t chunk = range.begin(); chunk < range.end(); ++chunk) run_chunk(chunk);
    };
    // Isolation keeps a thread that waits for an inner loop from taking up an unrelated outer
    // chunk, which could need a lock or a buffer that the waiting frame holds.
    arena().execute([&] {
      tbb::this_task_arena::isolate(
          [&] { tbb::parallel_for(tbb::blocked_range<int64_t>(0, chunks), run_range); });
    });
    return;
  }
#endif
  running_std_pool().run(chunks, run_chunk);
}

}  // namespace graphwright
