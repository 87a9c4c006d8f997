// A growing array whose elements never move: readers need no lock for indices they were given.
// Writers must exclude each other. Meant for process-wide tables, so it never frees its chunks.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace graphwright {

template <class T>
class AppendOnlyTable {
 public:
  constexpr AppendOnlyTable() = default;
  AppendOnlyTable(const AppendOnlyTable&) = delete;
  AppendOnlyTable& operator=(const AppendOnlyTable&) = delete;

  const T& operator[](uint32_t index) const {
    Place place = place_of(index);
    return chunks_[place.chunk].load(std::memory_order_acquire)[place.offset];
  }
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

  // Returns the new element's index.
  uint32_t append(T value) {
    uint32_t index = size_.load(std::memory_order_relaxed);
    Place place = place_of(index);
    T* chunk = chunks_[place.chunk].load(std::memory_order_relaxed);
    if (!chunk) {
      chunk = new T[size_t{kFirstChunk} << place.chunk]();
      chunks_[place.chunk].store(chunk, std::memory_order_release);
    }
    chunk[place.offset] = value;
    size_.store(index + 1, std::memory_order_release);
    return index;
  }

 private:
  static constexpr uint32_t kFirstChunk = 256;
  struct Place {
    uint32_t chunk;
    uint32_t offset;
  };
  // Chunk k holds 256 * 2^k elements, so that 24 chunks cover every 32-bit index.
  static Place place_of(uint32_t index) {
    uint64_t shifted = uint64_t{index} + kFirstChunk;
    uint32_t chunk = static_cast<uint32_t>(std::bit_width(shifted)) - 9;
    return {chunk, static_cast<uint32_t>(shifted - (uint64_t{kFirstChunk} << chunk))};
  }

  std::array<std::atomic<T*>, 25> chunks_{};
  std::atomic<uint32_t> size_{0};
};

}  // namespace graphwright
