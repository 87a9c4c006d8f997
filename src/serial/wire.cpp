#include "serial/wire.h"

#include "base/status.h"

namespace graphwright {

void WireReader::malformed(const char* what) {
  throw Error(Code::kDataLoss, std::string("malformed protocol buffer: ") + what);
}

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    require(1);
    auto byte = static_cast<unsigned char>(bytes_[at_++]);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  malformed("a number is longer than ten bytes");
}

void WireReader::next(int* field, WireType* type) {
  uint64_t tag = varint();
  uint64_t number = tag >> 3;
  if (number == 0 || number >= (1u << 29)) malformed("a field number is out of range");
  *field = static_cast<int>(number);
  switch (tag & 7) {
    case 0:
    case 1:
    case 2:
    case 5:
      *type = static_cast<WireType>(tag & 7);
      return;
    default:
      malformed("a wire type is not known");
  }
}

std::string_view WireReader::bytes() {
  uint64_t length = varint();
  if (length > bytes_.size() - at_) malformed("it ends in the middle of a field");
  std::string_view result = bytes_.substr(at_, length);
  at_ += length;
  return result;
}

void WireReader::skip(WireType type) {
  switch (type) {
    case WireType::kVarint:
      varint();
      break;
    case WireType::kFixed64:
      fixed<uint64_t>();
      break;
    case WireType::kBytes:
      bytes();
      break;
    case WireType::kFixed32:
      fixed<uint32_t>();
      break;
  }
}

}  // namespace graphwright
