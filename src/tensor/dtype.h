// Element types of tensors. The numbers are those of TensorFlow's DataType message, so that
// GraphDef attributes, `DType.as_datatype_enum` and saved files need no translation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphwright {

enum class DType : uint8_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
};

inline constexpr int kDTypeCount = 26;

// A set of dtypes as a bit mask; every operation is constexpr so that op rows can be checked at
// compile time.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr explicit DTypeSet(uint32_t bits) : bits_(bits) {}
  template <class... Types>
  static constexpr DTypeSet of(Types... types) {
    return DTypeSet((0u | ... | (1u << static_cast<int>(types))));
  }
  constexpr bool contains(DType type) const { return bits_ >> static_cast<int>(type) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint32_t bits() const { return bits_; }
  constexpr DTypeSet operator|(DTypeSet other) const { return DTypeSet(bits_ | other.bits_); }
  constexpr DTypeSet operator&(DTypeSet other) const { return DTypeSet(bits_ & other.bits_); }
  constexpr DTypeSet operator-(DTypeSet other) const { return DTypeSet(bits_ & ~other.bits_); }
  constexpr bool operator==(const DTypeSet&) const = default;

 private:
  uint32_t bits_ = 0;
};

inline constexpr DTypeSet kReal32And64 = DTypeSet::of(DType::kFloat, DType::kDouble);
inline constexpr DTypeSet kFloating = kReal32And64 | DTypeSet::of(DType::kHalf, DType::kBfloat16);
inline constexpr DTypeSet kFloat8 = DTypeSet::of(DType::kFloat8E5m2, DType::kFloat8E4m3fn);
inline constexpr DTypeSet kComplex = DTypeSet::of(DType::kComplex64, DType::kComplex128);
inline constexpr DTypeSet kSignedInteger =
    DTypeSet::of(DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64);
inline constexpr DTypeSet kUnsignedInteger =
    DTypeSet::of(DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64);
inline constexpr DTypeSet kInteger = kSignedInteger | kUnsignedInteger;
inline constexpr DTypeSet kRealNumeric = kFloating | kInteger;
inline constexpr DTypeSet kNumeric = kRealNumeric | kComplex;
inline constexpr DTypeSet kIndex = DTypeSet::of(DType::kInt32, DType::kInt64);
inline constexpr DTypeSet kDense = kNumeric | kFloat8 | DTypeSet::of(DType::kBool);
inline constexpr DTypeSet kAnyTensor = kDense | DTypeSet::of(DType::kString);
inline constexpr DTypeSet kAnyType = kAnyTensor | DTypeSet::of(DType::kResource, DType::kVariant);

// Bytes of one element. Strings, resources and variants are held as objects of the size given by
// tensor.h's element types.
size_t dtype_size(DType type);

// TensorFlow's name, e.g. "float32"; "invalid" for a value outside the enumeration.
std::string_view dtype_name(DType type);

// The inverse of dtype_name, also accepting "half", "float", "double"; kInvalid if unknown.
DType dtype_from_name(std::string_view name);

inline constexpr bool is_floating(DType type) { return (kFloating | kFloat8).contains(type); }
inline constexpr bool is_complex(DType type) { return kComplex.contains(type); }
inline constexpr bool is_integer(DType type) { return kInteger.contains(type); }
// Elements are objects that must be constructed, copied and destroyed one by one.
inline constexpr bool has_object_elements(DType type) {
  return type == DType::kString || type == DType::kResource || type == DType::kVariant;
}

}  // namespace graphwright
