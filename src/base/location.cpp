#include "base/location.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/append_only_table.h"

namespace graphwright {
namespace {

struct KeyHash {
  size_t operator()(const LocationKey& key) const {
    uint64_t hash = reinterpret_cast<uintptr_t>(key.code) >> 4;
    hash = (hash ^ static_cast<uint32_t>(key.instruction)) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ (hash >> 29) ^ key.parent) * 0xBF58476D1CE4E5B9u;
    return hash ^ (hash >> 32);
  }
};

struct Table {
  std::mutex mutex;
  std::unordered_map<LocationKey, Location, KeyHash> ids;
  std::unordered_set<const void*> retained;
  AppendOnlyTable<LocationKey> keys;

  Table() { keys.append(LocationKey{}); }  // kNoLocation
};

Table& table() {
  static Table* const instance = new Table();
  return *instance;
}

std::atomic<SourceFrame (*)(const LocationKey&)> resolve_function{nullptr};
std::atomic<void (*)(const void*)> retain_function{nullptr};

}  // namespace

void set_location_resolver(LocationResolver resolver) {
  resolve_function.store(resolver.resolve, std::memory_order_release);
  retain_function.store(resolver.retain, std::memory_order_release);
}

Location intern_location(const LocationKey& key) {
  if (!key.code) return key.parent;
  Table& locations = table();
  std::lock_guard lock(locations.mutex);
  auto [entry, added] = locations.ids.try_emplace(key, kNoLocation);
  if (added) {
    entry->second = locations.keys.append(key);
    auto retain = retain_function.load(std::memory_order_acquire);
    if (retain && locations.retained.insert(key.code).second) retain(key.code);
  }
  return entry->second;
}

LocationKey location_key(Location location) {
  Table& locations = table();
  return location < locations.keys.size() ? locations.keys[location] : LocationKey{};
}

std::vector<SourceFrame> resolve_location(Location location) {
  std::vector<SourceFrame> frames;
  auto resolve = resolve_function.load(std::memory_order_acquire);
  if (!resolve) return frames;
  // A parent is always interned before its children, so parents strictly decrease.
  while (location != kNoLocation) {
    LocationKey key = location_key(location);
    if (!key.code) break;
    frames.push_back(resolve(key));
    location = key.parent;
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

std::string location_summary(Location location) {
  auto resolve = resolve_function.load(std::memory_order_acquire);
  if (!resolve || location == kNoLocation) return {};
  LocationKey key = location_key(location);
  if (!key.code) return {};
  SourceFrame frame = resolve(key);
  size_t slash = frame.file.find_last_of('/');
  std::string file = slash == std::string::npos ? frame.file : frame.file.substr(slash + 1);
  return file + ":" + std::to_string(frame.line);
}

}  // namespace graphwright
