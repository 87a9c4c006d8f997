// The protocol buffer wire format: tags, varints, fixed numbers and length-delimited fields.
// Written by hand, so that the core reads and writes GraphDefs without a run-time library.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace graphwright {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Appends fields to a message. A nested message is written by a writer of its own, then added as
// bytes. Scalar writers skip the default (0, "") as proto3 does, unless told to write it.
class WireWriter {
 public:
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

  void varint(uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  template <class Bits>
  void fixed(Bits value) {
    static_assert(std::endian::native == std::endian::little);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof raw);
  }
  void tag(int field, WireType type) {
    varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
  }

  void write_bytes(int field, std::string_view value) {
    tag(field, WireType::kBytes);
    varint(value.size());
    bytes_.append(value);
  }
  void write_string(int field, std::string_view value) {
    if (!value.empty()) write_bytes(field, value);
  }
  void write_int(int field, int64_t value) {
    tag(field, WireType::kVarint);
    varint(static_cast<uint64_t>(value));
  }
  void write_nonzero(int field, int64_t value) {
    if (value) write_int(field, value);
  }
  void write_float(int field, float value) {
    tag(field, WireType::kFixed32);
    fixed(value);
  }

 private:
  std::string bytes_;
};

// Reads fields of untrusted bytes: every length is checked against what is left, and nothing is
// allocated for a claim that the bytes do not back up. DataLoss for malformed input.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return at_ == bytes_.size(); }
  // The next tag; the field's value must then be read or skipped.
  void next(int* field, WireType* type);
  uint64_t varint();
  int64_t integer() { return static_cast<int64_t>(varint()); }
  std::string_view bytes();
  std::string string() { return std::string(bytes()); }
  template <class T>
  T fixed() {
    require(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  void skip(WireType type);
  [[noreturn]] static void malformed(const char* what);
  // A field that must have this type.
  static void expect(WireType given, WireType wanted) {
    if (given != wanted) malformed("a field has another wire type than its message says");
  }

 private:
  void require(size_t count) {
    if (count > bytes_.size() - at_) malformed("it ends in the middle of a field");
  }
  std::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace graphwright
