// A small fork-join pool on std::thread. It serves builds that instrument threads, and processes
// that were forked after the main pool had started (its threads do not exist in the child).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/function_ref.h"

namespace graphwright {

class StdThreadPool {
 public:
  // Starts thread_count - 1 workers; the caller of `run` is one more. The pool is meant to live as
  // long as the process: there is no way to stop it.
  explicit StdThreadPool(int thread_count);
  StdThreadPool(const StdThreadPool&) = delete;
  StdThreadPool& operator=(const StdThreadPool&) = delete;

  // Calls body(index) for every index in [0, count), on any thread, in any order. Safe to nest: a
  // caller only ever waits for indices that some thread is running.
  void run(int64_t count, FunctionRef<void(int64_t)> body);

 private:
  struct Job;
  void work();
  Job* find_job();        // with mutex_ held
  void unlink(Job* job);  // with mutex_ held

  std::mutex mutex_;
  std::condition_variable job_added_;
  Job* first_ = nullptr;
};

}  // namespace graphwright
