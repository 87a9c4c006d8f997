#include "base/std_thread_pool.h"

#include <atomic>
#include <thread>

namespace graphwright {

// Lives on the stack of the thread that called `run`, which leaves only when no worker is attached.
struct StdThreadPool::Job {
  Job(FunctionRef<void(int64_t)> body, int64_t count) : body(body), count(count) {}

  FunctionRef<void(int64_t)> body;
  int64_t count;
  std::atomic<int64_t> next{0};
  int attached = 0;  // workers inside; guarded by the pool's mutex
  bool linked = false;
  std::condition_variable detached;
  Job* following = nullptr;

  void drain() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(i);
  }
  bool exhausted() const { return next.load(std::memory_order_relaxed) >= count; }
};

StdThreadPool::StdThreadPool(int thread_count) {
  for (int i = 1; i < thread_count; ++i) std::thread([this] { work(); }).detach();
}

StdThreadPool::Job* StdThreadPool::find_job() {
  while (first_ && first_->exhausted()) unlink(first_);
  return first_;
}

void StdThreadPool::unlink(Job* job) {
  if (!job->linked) return;
  for (Job** link = &first_; *link; link = &(*link)->following) {
    if (*link == job) {
      *link = job->following;
      break;
    }
  }
  job->linked = false;
}

void StdThreadPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    Job* job = find_job();
    if (!job) {
      job_added_.wait(lock);
      continue;
    }
    ++job->attached;
    lock.unlock();
    job->drain();
    lock.lock();
    if (--job->attached == 0) job->detached.notify_one();
  }
}

void StdThreadPool::run(int64_t count, FunctionRef<void(int64_t)> body) {
  Job job(body, count);
  {
    std::lock_guard lock(mutex_);
    // In front: inner jobs come first, since outer ones wait for them.
    job.following = first_;
    job.linked = true;
    first_ = &job;
  }
  job_added_.notify_all();
  job.drain();
  std::unique_lock lock(mutex_);
  unlink(&job);
  job.detached.wait(lock, [&] { return job.attached == 0; });
}

}  // namespace graphwright
