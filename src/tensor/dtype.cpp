#include "tensor/dtype.h"

#include <array>
#include <memory>
#include <string>

#include "tensor/tensor.h"

namespace graphwright {
namespace {

struct Entry {
  std::string_view name;
  size_t size = 0;
};

constexpr std::array<Entry, kDTypeCount> make_entries() {
  std::array<Entry, kDTypeCount> entries{};
  for (Entry& entry : entries) entry = {"invalid", 0};
  auto set = [&](DType type, std::string_view name, size_t size) {
    entries[static_cast<size_t>(type)] = {name, size};
  };
  set(DType::kFloat, "float32", 4);
  set(DType::kDouble, "float64", 8);
  set(DType::kInt32, "int32", 4);
  set(DType::kUint8, "uint8", 1);
  set(DType::kInt16, "int16", 2);
  set(DType::kInt8, "int8", 1);
  set(DType::kString, "string", sizeof(StringElement));
  set(DType::kComplex64, "complex64", 8);
  set(DType::kInt64, "int64", 8);
  set(DType::kBool, "bool", 1);
  set(DType::kBfloat16, "bfloat16", 2);
  set(DType::kUint16, "uint16", 2);
  set(DType::kComplex128, "complex128", 16);
  set(DType::kHalf, "float16", 2);
  set(DType::kResource, "resource", sizeof(ObjectPointer));
  set(DType::kVariant, "variant", sizeof(ObjectPointer));
  set(DType::kUint32, "uint32", 4);
  set(DType::kUint64, "uint64", 8);
  set(DType::kFloat8E5m2, "float8_e5m2", 1);
  set(DType::kFloat8E4m3fn, "float8_e4m3fn", 1);
  return entries;
}

constexpr std::array<Entry, kDTypeCount> kEntries = make_entries();

const Entry& entry_of(DType type) {
  size_t index = static_cast<size_t>(type);
  return kEntries[index < kEntries.size() ? index : 0];
}

}  // namespace

size_t dtype_size(DType type) { return entry_of(type).size; }

std::string_view dtype_name(DType type) { return entry_of(type).name; }

DType dtype_from_name(std::string_view name) {
  for (int i = 1; i < kDTypeCount; ++i) {
    if (kEntries[i].size != 0 && kEntries[i].name == name) return static_cast<DType>(i);
  }
  if (name == "half") return DType::kHalf;
  if (name == "float") return DType::kFloat;
  if (name == "double") return DType::kDouble;
  return DType::kInvalid;
}

}  // namespace graphwright
