// Two levels. Each thread keeps short free lists of small blocks, reached without locks through
// initial-exec thread-local storage. Behind them one locked central store takes what overflows,
// serves what is missing, and keeps larger blocks, so that big results do not pay for fresh pages
// each time. A block freed on another thread simply joins that thread's list.
#include "tensor/allocator.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/status.h"
#include "tensor/memory_limit.h"

namespace graphwright {
namespace {

// Size classes, header included: 64, 128, ... 512 bytes, then four per doubling up to 64 MiB.
constexpr size_t kUnit = 64;
constexpr int kClassCount = 8 + 4 * 17;
constexpr int kThreadClassCount = 8 + 4 * 6;  // up to 32 KiB
constexpr size_t kLargestClassBytes = size_t{64} << 20;
constexpr size_t kThreadClassBytes = size_t{128} << 10;  // kept per class and thread
constexpr size_t kCentralBytes = size_t{256} << 20;      // kept by the central store
constexpr size_t kHugePageBytes = size_t{2} << 20;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaching = false;  // so that the sanitizer sees every use after free
#else
constexpr bool kCaching = true;
#endif

constexpr int class_of(size_t bytes) {  // 1 <= bytes <= kLargestClassBytes
  size_t units = (bytes + kUnit - 1) / kUnit;
  if (units <= 8) return static_cast<int>(units) - 1;
  // The leading three bits of units - 1 select the class within its doubling.
  int doubling = std::bit_width(units - 1) - 1;
  int quarter = static_cast<int>((units - 1) >> (doubling - 2)) & 3;
  return 8 + 4 * (doubling - 3) + quarter;
}

constexpr size_t class_bytes(int size_class) {
  if (size_class < 8) return (static_cast<size_t>(size_class) + 1) * kUnit;
  int doubling = (size_class - 8) / 4 + 3;
  size_t quarter = static_cast<size_t>((size_class - 8) % 4);
  return ((quarter + 5) << (doubling - 2)) * kUnit;
}
static_assert(class_bytes(kClassCount - 1) == kLargestClassBytes);
static_assert(class_of(kLargestClassBytes) == kClassCount - 1);
static_assert(class_of(513) == 8 && class_bytes(8) == 640 && class_of(640) == 8);
static_assert(class_bytes(kThreadClassCount - 1) == size_t{32} << 10);

constexpr int kObjectClass = class_of(128);

struct FreeBlock {
  FreeBlock* next;
};

constexpr uint32_t thread_capacity(int size_class) {
  size_t count = kThreadClassBytes / class_bytes(size_class);
  return static_cast<uint32_t>(std::clamp<size_t>(count, 2, 256));
}

// Trivially constructed and destroyed: access needs no guard, and stays valid for frees that run
// while the thread or the process winds down. `capacity` is zero before the first slow call and
// after the thread's end, which sends everything to the slow path.
struct ThreadCache {
  FreeBlock* heads[kThreadClassCount];
  uint32_t counts[kThreadClassCount];
  uint32_t capacities[kThreadClassCount];
  std::atomic<int64_t> allocation_count;  // written by this thread only
  ThreadCache* next;                      // list of live threads
  ThreadCache* previous;
  bool registered;
  bool ended;
};

constinit thread_local ThreadCache thread_cache [[gnu::tls_model("initial-exec")]]{};

struct CentralStore {
  std::mutex mutex;
  FreeBlock* heads[kClassCount]{};
  size_t cached_bytes = 0;
  ThreadCache* threads = nullptr;
  int64_t ended_allocation_count = 0;
};
constinit CentralStore central;

std::atomic<int64_t> bytes_in_use{0};
std::atomic<int64_t> peak_bytes{0};
std::atomic<int64_t> limit_bytes{-1};  // -1: the environment has not been read yet

// A number in a file of one line; -1 where there is none.
int64_t number_in(const char* path) {
  std::FILE* file = std::fopen(path, "r");
  if (!file) return -1;
  long long value = -1;
  if (std::fscanf(file, "%lld", &value) != 1) value = -1;
  std::fclose(file);
  return value;
}

// What the machine has, or the part of it that this process may use. A system that promises more
// than it has kills the process that takes it at its word.
int64_t machine_memory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const int64_t limit = number_in(path);
    if (limit > 0) bytes = std::min(bytes, limit);
  }
  return std::max<int64_t>(bytes, 0);
}

int64_t memory_limit() {
  int64_t limit = limit_bytes.load(std::memory_order_relaxed);
  if (limit >= 0) return limit;
  const char* text = std::getenv("GRAPHWRIGHT_MEMORY_LIMIT");
  int64_t wanted = text ? std::max<int64_t>(std::strtoll(text, nullptr, 10), 0) : machine_memory();
  limit_bytes.compare_exchange_strong(limit, wanted);
  return limit_bytes.load();
}

void return_to_system(void* block, size_t bytes) {
  std::free(block);
  bytes_in_use.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

FreeBlock* detach_central_blocks(int size_class) {  // with the lock held
  FreeBlock* head = std::exchange(central.heads[size_class], nullptr);
  for (FreeBlock* block = head; block; block = block->next) {
    central.cached_bytes -= class_bytes(size_class);
  }
  return head;
}

void return_list_to_system(FreeBlock* head, int size_class) {
  while (head) {
    FreeBlock* next = head->next;
    return_to_system(head, class_bytes(size_class));
    head = next;
  }
}

[[noreturn]] void throw_exhausted(size_t bytes) {
  std::string message = "Out of memory: " + std::to_string(bytes) + " bytes were asked for, " +
                        std::to_string(bytes_in_use.load()) + " are in use";
  int64_t limit = memory_limit();
  if (limit > 0) message += ", and the limit is " + std::to_string(limit);
  throw Error(Code::kResourceExhausted, message + ".");
}

bool reserve(size_t bytes) {
  int64_t now = bytes_in_use.fetch_add(static_cast<int64_t>(bytes)) + static_cast<int64_t>(bytes);
  int64_t limit = memory_limit();
  if (limit > 0 && now > limit) {
    bytes_in_use.fetch_sub(static_cast<int64_t>(bytes));
    return false;
  }
  int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return true;
}

void* take_from_system(size_t bytes) {
  if (bytes > size_t{1} << 62) throw_exhausted(bytes);
  if (!reserve(bytes)) {
    trim_memory();
    if (!reserve(bytes)) throw_exhausted(bytes);
  }
  bool huge = bytes >= 2 * kHugePageBytes;
  size_t alignment = huge ? kHugePageBytes : kUnit;
  size_t rounded = (bytes + kUnit - 1) / kUnit * kUnit;
  void* block = nullptr;
  if (posix_memalign(&block, alignment, rounded) != 0) {
    trim_memory();
    if (posix_memalign(&block, alignment, rounded) != 0) {
      bytes_in_use.fetch_sub(static_cast<int64_t>(bytes));
      throw_exhausted(bytes);
    }
  }
#ifdef MADV_HUGEPAGE
  // One fault per 2 MiB instead of per 4 KiB; only whole huge pages, the tail stays small.
  if (huge) madvise(block, rounded / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
#endif
  return block;
}

// Gives a list of blocks to the central store, or to the system where that is full.
void give_to_central(FreeBlock* head, int size_class) {
  FreeBlock* excess = nullptr;
  {
    std::lock_guard lock(central.mutex);
    while (head) {
      FreeBlock* next = head->next;
      bool room = kCaching && central.cached_bytes + class_bytes(size_class) <= kCentralBytes;
      FreeBlock*& list = room ? central.heads[size_class] : excess;
      if (room) central.cached_bytes += class_bytes(size_class);
      head->next = list;
      list = head;
      head = next;
    }
  }
  return_list_to_system(excess, size_class);
}

void flush_thread_cache(ThreadCache& cache) {
  for (int i = 0; i < kThreadClassCount; ++i) {
    cache.counts[i] = 0;
    give_to_central(std::exchange(cache.heads[i], nullptr), i);
  }
}

// Its destructor runs at the thread's end, as far as anything can tell: later frees on the same
// thread see capacities of zero and go to the central store.
struct ThreadEnd {
  ~ThreadEnd() {
    ThreadCache& cache = thread_cache;
    for (uint32_t& capacity : cache.capacities) capacity = 0;
    flush_thread_cache(cache);
    std::lock_guard lock(central.mutex);
    cache.ended = true;
    cache.registered = false;
    central.ended_allocation_count += cache.allocation_count.exchange(0);
    if (cache.previous) cache.previous->next = cache.next;
    if (cache.next) cache.next->previous = cache.previous;
    if (central.threads == &cache) central.threads = cache.next;
  }
};

void lock_central() { central.mutex.lock(); }
void unlock_central() { central.mutex.unlock(); }

void register_thread(ThreadCache& cache) {
  static const int fork_safe = pthread_atfork(lock_central, unlock_central, unlock_central);
  (void)fork_safe;
  thread_local ThreadEnd at_end;
  (void)&at_end;
  std::lock_guard lock(central.mutex);
  cache.registered = true;
  cache.previous = nullptr;
  cache.next = central.threads;
  if (cache.next) cache.next->previous = &cache;
  central.threads = &cache;
  if (!kCaching) return;
  for (int i = 0; i < kThreadClassCount; ++i) cache.capacities[i] = thread_capacity(i);
}

// Handed-out blocks are counted without a locked instruction: each thread writes its own counter.
inline void count_allocation(ThreadCache& cache) {
  cache.allocation_count.store(cache.allocation_count.load(std::memory_order_relaxed) + 1,
                               std::memory_order_relaxed);
}

[[gnu::noinline]] void* allocate_slow(int size_class) {
  ThreadCache& cache = thread_cache;
  if (!cache.registered && !cache.ended) register_thread(cache);
  {
    std::lock_guard lock(central.mutex);
    FreeBlock*& head = central.heads[size_class];
    if (cache.ended) ++central.ended_allocation_count;
    if (head) {
      FreeBlock* block = head;
      head = block->next;
      central.cached_bytes -= class_bytes(size_class);
      // Refill the thread's list by half, so that the next ones need no lock.
      if (size_class < kThreadClassCount) {
        uint32_t wanted = cache.capacities[size_class] / 2;
        while (head && cache.counts[size_class] < wanted) {
          FreeBlock* moved = head;
          head = moved->next;
          central.cached_bytes -= class_bytes(size_class);
          moved->next = cache.heads[size_class];
          cache.heads[size_class] = moved;
          ++cache.counts[size_class];
        }
      }
      if (!cache.ended) count_allocation(cache);
      return block;
    }
  }
  void* block = take_from_system(class_bytes(size_class));
  if (!cache.ended) count_allocation(cache);
  return block;
}

inline void* allocate_block(int size_class) {
  ThreadCache& cache = thread_cache;
  if (size_class < kThreadClassCount) {
    FreeBlock* block = cache.heads[size_class];
    if (block) [[likely]] {
      cache.heads[size_class] = block->next;
      --cache.counts[size_class];
      count_allocation(cache);
      return block;
    }
  }
  return allocate_slow(size_class);
}

[[gnu::noinline]] void free_slow(FreeBlock* block, int size_class) {
  ThreadCache& cache = thread_cache;
  if (!cache.registered && !cache.ended) register_thread(cache);
  block->next = nullptr;
  if (size_class < kThreadClassCount && cache.capacities[size_class] != 0) {
    uint32_t capacity = cache.capacities[size_class];
    if (cache.counts[size_class] >= capacity) {
      // Full: the older half goes to the central store in one go.
      FreeBlock* last_kept = cache.heads[size_class];
      for (uint32_t i = 1; i < capacity / 2; ++i) last_kept = last_kept->next;
      FreeBlock* moved = std::exchange(last_kept->next, nullptr);
      cache.counts[size_class] = std::max(capacity / 2, 1u);
      give_to_central(moved, size_class);
    }
    block->next = cache.heads[size_class];
    cache.heads[size_class] = block;
    ++cache.counts[size_class];
    return;
  }
  give_to_central(block, size_class);
}

inline void free_block(void* memory, int size_class) {
  ThreadCache& cache = thread_cache;
  FreeBlock* block = static_cast<FreeBlock*>(memory);
  if (size_class < kThreadClassCount && cache.counts[size_class] < cache.capacities[size_class])
      [[likely]] {
    block->next = cache.heads[size_class];
    cache.heads[size_class] = block;
    ++cache.counts[size_class];
    return;
  }
  free_slow(block, size_class);
}

constexpr int kFromSystem = -1;
constexpr int kForeign = -2;

}  // namespace

Buffer* allocate_buffer(size_t bytes) {
  Buffer* buffer;
  size_t total = bytes + sizeof(Buffer);
  if (total <= kLargestClassBytes && total >= bytes) [[likely]] {
    int size_class = class_of(total);
    buffer = static_cast<Buffer*>(allocate_block(size_class));
    buffer->size_class = size_class;
    buffer->bytes = class_bytes(size_class) - sizeof(Buffer);
  } else {
    if (total < bytes) throw_exhausted(bytes);
    ThreadCache& cache = thread_cache;
    if (!cache.registered && !cache.ended) register_thread(cache);
    buffer = static_cast<Buffer*>(take_from_system(total));
    buffer->size_class = kFromSystem;
    buffer->bytes = bytes;
    if (!cache.ended) count_allocation(cache);
  }
  new (&buffer->references) std::atomic<int32_t>(1);
  buffer->destroy = nullptr;
  buffer->element_count = 0;
  return buffer;
}

Buffer* wrap_foreign_memory(void* data, size_t bytes, void* owner, void (*destroy)(Buffer*)) {
  Buffer* buffer = static_cast<Buffer*>(allocate_block(class_of(sizeof(Buffer))));
  new (&buffer->references) std::atomic<int32_t>(1);
  buffer->size_class = kForeign;
  buffer->bytes = bytes;
  buffer->destroy = destroy;
  buffer->element_count = 0;
  buffer->foreign_data = data;
  buffer->foreign_owner = owner;
  return buffer;
}

void release_buffer(Buffer* buffer) {
  if (buffer->references.load(std::memory_order_acquire) != 1 &&
      buffer->references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  if (buffer->destroy) buffer->destroy(buffer);
  int size_class = buffer->size_class;
  if (size_class >= 0) [[likely]] {
    free_block(buffer, size_class);
  } else if (size_class == kForeign) {
    free_block(buffer, class_of(sizeof(Buffer)));
  } else {
    return_to_system(buffer, buffer->bytes + sizeof(Buffer));
  }
}

void* allocate_object() { return allocate_block(kObjectClass); }

void free_object(void* object) { free_block(object, kObjectClass); }

MemoryStatistics memory_statistics() {
  MemoryStatistics statistics{};
  std::lock_guard lock(central.mutex);
  statistics.bytes_in_use = bytes_in_use.load();
  statistics.peak_bytes = peak_bytes.load();
  statistics.allocation_count = central.ended_allocation_count;
  for (ThreadCache* cache = central.threads; cache; cache = cache->next) {
    statistics.allocation_count += cache->allocation_count.load(std::memory_order_relaxed);
  }
  return statistics;
}

void reset_peak_memory() { peak_bytes.store(bytes_in_use.load()); }

void check_memory(size_t bytes) {
  const int64_t limit = memory_limit();
  if (limit > 0 && (bytes > static_cast<size_t>(limit) ||
                    bytes_in_use.load() > limit - static_cast<int64_t>(bytes))) {
    throw_exhausted(bytes);
  }
}

void set_memory_limit(int64_t bytes) { limit_bytes.store(std::max<int64_t>(bytes, 0)); }

void trim_memory() {
  flush_thread_cache(thread_cache);
  for (int i = 0; i < kClassCount; ++i) {
    FreeBlock* head;
    {
      std::lock_guard lock(central.mutex);
      head = detach_central_blocks(i);
    }
    return_list_to_system(head, i);
  }
}

}  // namespace graphwright
