// The floating types narrower than float32, held as their bit patterns. Widening is exact;
// narrowing rounds to nearest, ties to even. Formats: IEEE 754 binary16; bfloat16, the upper half
// of binary32; float8_e5m2 and float8_e4m3fn of Micikevicius et al., "FP8 Formats for Deep
// Learning" (2022).
#pragma once

#include <bit>
#include <cstdint>

namespace graphwright {

struct Half {
  static constexpr int kExponentBits = 5, kMantissaBits = 10;
  static constexpr bool kHasInfinity = true;
  using Bits = uint16_t;
};
struct Float8E5m2 {
  static constexpr int kExponentBits = 5, kMantissaBits = 2;
  static constexpr bool kHasInfinity = true;
  using Bits = uint8_t;
};
// No infinity; exponent and mantissa of all ones is NaN, and what is too large becomes NaN.
struct Float8E4m3fn {
  static constexpr int kExponentBits = 4, kMantissaBits = 3;
  static constexpr bool kHasInfinity = false;
  using Bits = uint8_t;
};

// Widens one of the formats above.
template <class Format>
constexpr float widen(typename Format::Bits bits) {
  constexpr int kMantissa = Format::kMantissaBits;
  constexpr uint32_t kExponentMask = (1u << Format::kExponentBits) - 1;
  constexpr uint32_t kMantissaMask = (1u << kMantissa) - 1;
  constexpr int kBias = (1 << (Format::kExponentBits - 1)) - 1;
  uint32_t sign = uint32_t{bits} >> (Format::kExponentBits + kMantissa) << 31;
  uint32_t exponent = bits >> kMantissa & kExponentMask;
  uint32_t mantissa = bits & kMantissaMask;
  if (exponent == kExponentMask && (Format::kHasInfinity || mantissa == kMantissaMask)) {
    uint32_t payload = Format::kHasInfinity ? mantissa << (23 - kMantissa) : 1u << 22;
    return std::bit_cast<float>(sign | 0x7f800000u | payload);
  }
  if (exponent == 0) {  // zero and subnormals: mantissa units of 2^(1 - bias - mantissa bits)
    float unit = std::bit_cast<float>(static_cast<uint32_t>(127 + 1 - kBias - kMantissa) << 23);
    float value = static_cast<float>(mantissa) * unit;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | (exponent - kBias + 127) << 23 | mantissa << (23 - kMantissa));
}

// Narrows a double in one rounding (a float converts to double exactly).
template <class Format>
constexpr typename Format::Bits narrow(double value) {
  using Bits = typename Format::Bits;
  constexpr int kMantissa = Format::kMantissaBits;
  constexpr int kExponent = Format::kExponentBits;
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr uint64_t kExponentMask = (uint64_t{1} << kExponent) - 1;
  constexpr uint64_t kQuietNan = Format::kHasInfinity
                                     ? kExponentMask << kMantissa | uint64_t{1} << (kMantissa - 1)
                                     : kExponentMask << kMantissa | ((1u << kMantissa) - 1);
  constexpr uint64_t kOverflow = Format::kHasInfinity ? kExponentMask << kMantissa : kQuietNan;
  // The largest finite pattern; anything above it after rounding has overflowed.
  constexpr uint64_t kLargest =
      Format::kHasInfinity ? (kExponentMask << kMantissa) - 1 : kQuietNan - 1;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t sign = bits >> 63 << (kExponent + kMantissa);
  uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  if (magnitude > uint64_t{0x7ff} << 52) return static_cast<Bits>(sign | kQuietNan);
  if (magnitude == uint64_t{0x7ff} << 52) return static_cast<Bits>(sign | kOverflow);
  int exponent = static_cast<int>(magnitude >> 52) - 1023 + kBias;  // biased as the target's
  uint64_t mantissa = (magnitude & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  if (magnitude >> 52 == 0) return static_cast<Bits>(sign);  // far below the smallest subnormal
  int shift = 52 - kMantissa;
  if (exponent <= 0) {  // subnormal target: fewer mantissa bits, no implicit one
    shift += 1 - exponent;
    exponent = 0;
    if (shift > 54) return static_cast<Bits>(sign);
  } else {
    mantissa &= ~(uint64_t{1} << 52);
  }
  uint64_t kept = mantissa >> shift;
  uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  uint64_t result = (static_cast<uint64_t>(exponent) << kMantissa) + kept;
  if (rest > half || (rest == half && (kept & 1))) ++result;  // may carry into the exponent
  if (result > kLargest) result = kOverflow;
  return static_cast<Bits>(sign | result);
}

constexpr float half_to_float(uint16_t bits) { return widen<Half>(bits); }
constexpr uint16_t float_to_half(float value) { return narrow<Half>(value); }
constexpr uint16_t double_to_half(double value) { return narrow<Half>(value); }

constexpr float bfloat16_to_float(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}
constexpr uint16_t float_to_bfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<uint16_t>((bits >> 16 & 0x8000u) | 0x7fc0u);
  }
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

}  // namespace graphwright
