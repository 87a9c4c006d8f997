#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/interned_string.h"
#include "base/location.h"
#include "base/status.h"
#include "base/std_thread_pool.h"
#include "base/thread_pool.h"

using namespace graphwright;

TEST_CASE("status carries its detail to the error it throws") {
  Status fine;
  CHECK(fine.ok());
  CHECK(fine.code() == Code::kOk);
  CHECK(fine.message().empty());
  fine.throw_if_error();
  CHECK(Status(Code::kOk, "ignored").ok());

  Status bad(Code::kOutOfRange, "index 3");
  CHECK_FALSE(bad.ok());
  try {
    bad.throw_if_error();
    FAIL("no error was thrown");
  } catch (Error& error) {
    error.with_op("Gather").with_op("Outer").with_argument("indices");
    CHECK(std::string(error.what()) == "index 3");
    CHECK(error.detail().op == "Gather");
    CHECK(error.detail().argument == "indices");
    CHECK(error.detail().code == Code::kOutOfRange);
  }
  CHECK(bad.detail()->op == "Gather");  // the same detail, not a copy
}

TEST_CASE("a foreign payload of an error is released once") {
  static int released = 0;
  {
    Error error(ErrorKind::kTypeError, "wrapped");
    error.detail().foreign = &released;
    error.detail().release_foreign = [](void* count) { ++*static_cast<int*>(count); };
    Error second = error;
    CHECK(released == 0);
  }
  CHECK(released == 1);
}

TEST_CASE("interned strings are equal exactly when their texts are") {
  InternedString empty, also_empty{""};
  CHECK(empty == also_empty);
  CHECK(empty.view().empty());
  std::vector<InternedString> strings;
  for (int i = 0; i < 2000; ++i) strings.emplace_back("interned_" + std::to_string(i));
  for (int i = 0; i < 2000; ++i) {
    CHECK(strings[i].view() == "interned_" + std::to_string(i));
    CHECK(strings[i] == InternedString("interned_" + std::to_string(i)));
  }
  CHECK(InternedString(std::string_view("a\0b", 3)) != InternedString("a"));
}

TEST_CASE("interning from many threads gives one number per text") {
  std::vector<std::vector<InternedString>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 1000; ++i) mine.emplace_back("shared_" + std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& mine : seen) CHECK(mine == seen[0]);
}

TEST_CASE("locations are interned by key and resolved through their parents") {
  static int retained = 0;
  int code_a = 0, code_b = 0;
  set_location_resolver({[](const LocationKey& key) {
                           return SourceFrame{"/somewhere/user.py", key.instruction, "f", false};
                         },
                         [](const void*) { ++retained; }});
  Location outer = intern_location({&code_a, 10, kNoLocation});
  Location inner = intern_location({&code_b, 20, outer});
  CHECK(outer != kNoLocation);
  CHECK(intern_location({&code_a, 10, kNoLocation}) == outer);
  CHECK(intern_location({&code_b, 20, kNoLocation}) != inner);
  CHECK(retained == 2);
  CHECK(location_key(inner).parent == outer);
  auto frames = resolve_location(inner);
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].line == 10);
  CHECK(frames[1].line == 20);
  CHECK(location_summary(inner) == "user.py:20");
  CHECK(resolve_location(kNoLocation).empty());
  CHECK(location_summary(kNoLocation).empty());
  set_location_resolver({});
  CHECK(resolve_location(inner).empty());
}

namespace {

// How often each index of [0, count) was visited.
std::vector<int> visits(int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> counters(static_cast<size_t>(count));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++counters[static_cast<size_t>(i)];
  });
  return {counters.begin(), counters.end()};
}

}  // namespace

TEST_CASE("parallel_for covers the range once, in ranges that only the grain decides") {
  CHECK(thread_count() >= 1);
  for (int64_t count : {0, 1, 2, 99, 100, 101, 1000}) {
    CHECK(visits(count, 100) == std::vector<int>(static_cast<size_t>(count), 1));
  }
  parallel_for(1050, 100, [&](int64_t begin, int64_t end) {
    // doctest's CHECK is not meant for worker threads; a wrong range shows in the total below.
    if (begin % 100 != 0 || end != std::min<int64_t>(begin + 100, 1050)) std::abort();
  });
  int calls = 0;
  parallel_for(100, 100, [&](int64_t, int64_t) { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("parallel_for nests") {
  std::atomic<int64_t> total{0};
  parallel_for(64, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      parallel_for(50, 1, [&](int64_t first, int64_t last) { total += last - first; });
    }
  });
  CHECK(total == 64 * 50);
}

TEST_CASE("the std::thread pool runs nested work from several callers") {
  static StdThreadPool* const pool = new StdThreadPool(4);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        pool->run(16, [&](int64_t) { pool->run(8, [&](int64_t) { ++total; }); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(total == 3 * 20 * 16 * 8);
}

#if !defined(__SANITIZE_THREAD__)  // threads after fork are outside what that tool supports
TEST_CASE("parallel_for works in a forked child") {
  visits(1000, 10);
  pid_t child = fork();
  if (child == 0) _exit(visits(1000, 10) == std::vector<int>(1000, 1) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
