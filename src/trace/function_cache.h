// The traces of one function, found by a byte string that encodes the trace types of a call's
// arguments. A look-up hashes the key once; entries never move and are never evicted while their
// function lives, since tracing again would repeat the program's side effects.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/value_type.h"

namespace graphwright {

// Writes keys. Every item starts with a tag, so that no two different sequences give one key.
class TraceKeyWriter {
 public:
  enum Tag : char {
    kTensor = 't',    // dtype, rank, dims; kUnknownDim for unknown ones; rank 255: unknown
    kVariable = 'v',  // dtype, position of the first argument that is the same variable
    kInt = 'i',       // 8 bytes
    kBigInt = 'I',    // text
    kFloat = 'f',     // 8 bytes: sign of zero and NaN payload count
    kComplex = 'c',
    kBool = 'b',
    kNone = 'n',
    kString = 's',
    kBytes = 'y',
    kObject = 'o',  // serial number of a weakly held object
    kBegin = '(',   // type of container, count
    kEnd = ')',
    kName = 'k',  // key of a mapping, field, or keyword
    kTypeSpec = 'T',
    kHashed = 'h',  // object compared by value: serial number of its first equal
    kEllipsis = 'e',
    kTensorArray = 'a',  // static size or -1, flags, then the elements as a tensor
  };
  void clear() { bytes_.clear(); }
  std::string_view view() const { return bytes_; }
  void tag(Tag tag) { bytes_.push_back(tag); }
  void byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void word(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void real(double value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    word(static_cast<int64_t>(value.size()));
    bytes_.append(value);
  }
  void tensor(DType dtype, std::span<const int64_t> dims) {
    tag(kTensor);
    byte(static_cast<uint8_t>(dtype));
    byte(static_cast<uint8_t>(dims.size()));
    bytes_.append(reinterpret_cast<const char*>(dims.data()), dims.size_bytes());
  }
  void tensor(DType dtype, const PartialShape& shape) {
    if (!shape.has_rank()) {
      tag(kTensor);
      byte(static_cast<uint8_t>(dtype));
      byte(255);
      return;
    }
    PartialShape anonymous = shape.without_symbols();
    tensor(dtype, anonymous.dims());
  }

 private:
  std::string bytes_;
};

template <class Entry>
class FunctionCache {
 public:
  // Null if there is none. Safe against concurrent insertion.
  std::shared_ptr<Entry> find(std::string_view key) const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second;
  }
  void insert(std::string_view key, std::shared_ptr<Entry> entry) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    entries_.insert_or_assign(std::string(key), std::move(entry));
  }
  size_t size() const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    return entries_.size();
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>, Hash, std::equal_to<>> entries_;
};

}  // namespace graphwright
