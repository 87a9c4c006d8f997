#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/status.h"
#include "tensor/allocator.h"

using namespace graphwright;

TEST_CASE("blocks are aligned, large enough, and not handed out twice") {
  std::mt19937 random(1);
  std::vector<Buffer*> live;
  for (int round = 0; round < 3000; ++round) {
    size_t bytes = random() % 3 == 0 ? random() % 200000 : random() % 600;
    Buffer* buffer = allocate_buffer(bytes);
    REQUIRE(buffer->bytes >= bytes);
    REQUIRE(reinterpret_cast<uintptr_t>(buffer->data()) % 64 == 0);
    std::memset(buffer->data(), round & 0xff, buffer->bytes);
    buffer->element_count = round & 0xff;
    live.push_back(buffer);
    if (live.size() > 100) {
      size_t victim = random() % live.size();
      Buffer* old = live[victim];
      auto* data = static_cast<unsigned char*>(old->data());
      REQUIRE(std::all_of(data, data + old->bytes,
                          [&](unsigned char byte) { return byte == old->element_count; }));
      release_buffer(old);
      live[victim] = live.back();
      live.pop_back();
    }
  }
  for (Buffer* buffer : live) release_buffer(buffer);
}

TEST_CASE("every size gets a class that holds it") {
  for (size_t power = 0; power <= 27; ++power) {
    for (int delta : {-1, 0, 1}) {
      size_t bytes = (size_t{1} << power) + static_cast<size_t>(delta);
      Buffer* buffer = allocate_buffer(bytes);
      CHECK(buffer->bytes >= bytes);
      if (buffer->size_class >= 0 && bytes >= 512) CHECK(buffer->bytes <= bytes + bytes / 3);
      static_cast<char*>(buffer->data())[buffer->bytes - 1] = 1;
      release_buffer(buffer);
    }
  }
}

TEST_CASE("blocks move between threads") {
  // A producer and a consumer: without a way back every block would come from the system.
  std::vector<Buffer*> batch;
  trim_memory();
  int64_t in_use = memory_statistics().bytes_in_use;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 500; ++i) batch.push_back(allocate_buffer(1000));
    std::thread([&] {
      for (Buffer* buffer : batch) release_buffer(buffer);
    }).join();
    batch.clear();
  }
  CHECK(memory_statistics().bytes_in_use - in_use < 2'000'000);
  trim_memory();
  CHECK(memory_statistics().bytes_in_use <= in_use);
}

TEST_CASE("threads allocate and free at the same time") {
  std::vector<std::thread> threads;
  int64_t before = memory_statistics().allocation_count;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      std::vector<Buffer*> mine;
      for (int i = 0; i < 5000; ++i) {
        mine.push_back(allocate_buffer(static_cast<size_t>(i % 900 + thread)));
        if (mine.size() == 400) {
          for (Buffer* buffer : mine) release_buffer(buffer);
          mine.clear();
        }
      }
      for (Buffer* buffer : mine) release_buffer(buffer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(memory_statistics().allocation_count - before == 4 * 5000);
}

TEST_CASE("the limit is kept, and cached memory is given up before refusing") {
  trim_memory();
  int64_t base = memory_statistics().bytes_in_use;
  set_memory_limit(base + 3'000'000);
  Buffer* first = allocate_buffer(2'000'000);
  CHECK_THROWS_AS(allocate_buffer(2'000'000), Error);
  release_buffer(first);
  Buffer* other_class = allocate_buffer(1'200'000);  // fits only if the first one was given back
  Buffer* more = allocate_buffer(1'200'000);
  release_buffer(other_class);
  release_buffer(more);
  set_memory_limit(0);
  Buffer* large = allocate_buffer(5'000'000);
  CHECK(memory_statistics().peak_bytes >= base + 5'000'000);
  release_buffer(large);
  trim_memory();
  reset_peak_memory();
  CHECK(memory_statistics().peak_bytes == memory_statistics().bytes_in_use);
}

TEST_CASE("refused memory is an error, not a crash") {
  CHECK_THROWS_AS(allocate_buffer(SIZE_MAX), Error);
  CHECK_THROWS_AS(allocate_buffer(SIZE_MAX / 2), Error);
}

TEST_CASE("foreign memory is handed back to its owner") {
  static int released = 0;
  int value = 5;
  Buffer* buffer = wrap_foreign_memory(&value, sizeof value, &released, [](Buffer* self) {
    ++*static_cast<int*>(self->foreign_owner);
  });
  CHECK(buffer->data() == &value);
  retain_buffer(buffer);
  release_buffer(buffer);
  CHECK(released == 0);
  release_buffer(buffer);
  CHECK(released == 1);
}

TEST_CASE("objects are fixed in size and reused") {
  void* first = allocate_object();
  std::memset(first, 0xab, 128);
  free_object(first);
  std::set<void*> seen;
  for (int i = 0; i < 1000; ++i) CHECK(seen.insert(allocate_object()).second);
  for (void* object : seen) free_object(object);
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a forked child can allocate while another thread of the parent did") {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) release_buffer(allocate_buffer(100'000));
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      release_buffer(allocate_buffer(100'000));
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
  }
  stop = true;
  busy.join();
}
#endif
