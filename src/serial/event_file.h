// TensorBoard event files: records of Event messages in TFRecord framing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace graphwright::serial {

// CRC-32C (Castagnoli: reflected polynomial 0x82F63B78), as RFC 3720 defines it.
uint32_t crc32c(std::string_view bytes);
// As TFRecord stores it: rotated right by 15 bits plus a constant, so that a checksum over bytes
// that hold checksums is no special case.
uint32_t masked_crc32c(std::string_view bytes);

// One record: length (8 bytes), its checksum, the bytes, their checksum.
std::string tfrecord(std::string_view bytes);

// A whole event file: the record that says the format's version, then one event with the graph.
// `wall_time`: seconds since 1970.
std::string graph_event_file(std::string_view graph_def, double wall_time);

}  // namespace graphwright::serial
