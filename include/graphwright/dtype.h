// Element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <graphwright/export.h>

namespace graphwright::api {
inline namespace v1 {

// The numbers are those of TensorFlow's DataType message and never change.
enum class DType : uint8_t {
  kInvalid = 0,  // also "none given" where a dtype may be left out
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,     // byte strings of any length
  kComplex64 = 8,  // two float32: real and imaginary part
  kInt64 = 9,
  kBool = 10,      // one byte, 0 or 1
  kBfloat16 = 14,  // the upper half of a float32
  kUint16 = 17,
  kComplex128 = 18,
  kFloat16 = 19,   // IEEE 754 binary16
  kResource = 20,  // a variable
  kVariant = 21,   // a list
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
};

inline constexpr DType float16 = DType::kFloat16;
inline constexpr DType bfloat16 = DType::kBfloat16;
inline constexpr DType float32 = DType::kFloat32;
inline constexpr DType float64 = DType::kFloat64;
inline constexpr DType int8 = DType::kInt8;
inline constexpr DType int16 = DType::kInt16;
inline constexpr DType int32 = DType::kInt32;
inline constexpr DType int64 = DType::kInt64;
inline constexpr DType uint8 = DType::kUint8;
inline constexpr DType uint16 = DType::kUint16;
inline constexpr DType uint32 = DType::kUint32;
inline constexpr DType uint64 = DType::kUint64;
inline constexpr DType boolean = DType::kBool;
inline constexpr DType string = DType::kString;
inline constexpr DType complex64 = DType::kComplex64;
inline constexpr DType complex128 = DType::kComplex128;

namespace detail {
GW_API const char* dtype_name(DType dtype);
GW_API size_t dtype_size(DType dtype);
}  // namespace detail

// "float32", "string"...; "invalid" for a number that is none of the above.
inline std::string to_string(DType dtype) { return detail::dtype_name(dtype); }

// Bytes of one element; 0 for kString, kResource, kVariant and kInvalid, whose elements have no
// fixed size.
inline size_t size_of(DType dtype) { return detail::dtype_size(dtype); }

}  // namespace v1
}  // namespace graphwright::api
