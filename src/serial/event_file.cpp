#include "serial/event_file.h"

#include <array>
#include <bit>

#include "serial/wire.h"

namespace graphwright::serial {
namespace {

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
    table[byte] = crc;
  }
  return table;
}();

// Event: 1 wall_time (double), 3 file_version (string), 4 graph_def (bytes).
std::string event(double wall_time, int field, std::string_view bytes) {
  WireWriter writer;
  writer.tag(1, WireType::kFixed64);
  writer.fixed(wall_time);
  writer.write_bytes(field, bytes);
  return writer.take();
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u;
}

std::string tfrecord(std::string_view bytes) {
  WireWriter length;
  length.fixed(static_cast<uint64_t>(bytes.size()));
  WireWriter record;
  record.fixed(static_cast<uint64_t>(bytes.size()));
  record.fixed(masked_crc32c(length.bytes()));
  std::string result = record.take();
  result.append(bytes);
  WireWriter checksum;
  checksum.fixed(masked_crc32c(bytes));
  return result + checksum.bytes();
}

std::string graph_event_file(std::string_view graph_def, double wall_time) {
  return tfrecord(event(wall_time, 3, "brain.Event:2")) + tfrecord(event(wall_time, 4, graph_def));
}

}  // namespace graphwright::serial
