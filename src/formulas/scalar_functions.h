// Functions of scalars that need loops or tables, so that formulas call them lane by lane. They are
// compiled once, for the baseline, and so give the same bits at every vector width.
#pragma once

#include <cstdint>

namespace graphwright {

// The remainder of x / y with the sign of x; exact.
struct FmodFunction {
  static constexpr const char* kName = "fmod";
  static float call(float x, float y);
  static double call(double x, double y);
};

// Rounds towards zero. Of y = 0 the result is 0; the most negative x by -1 gives x.
struct DivideIntegersFunction {
  static constexpr const char* kName = "divide_integers";
  static int32_t call(int32_t x, int32_t y);
  static int64_t call(int64_t x, int64_t y);
  static uint32_t call(uint32_t x, uint32_t y);
  static uint64_t call(uint64_t x, uint64_t y);
};

// x^y, wrapping. Of negative y the result is 0.
struct IntegerPowerFunction {
  static constexpr const char* kName = "integer_power";
  static int32_t call(int32_t x, int32_t y);
  static int64_t call(int64_t x, int64_t y);
  static uint32_t call(uint32_t x, uint32_t y);
  static uint64_t call(uint64_t x, uint64_t y);
};

// For arguments so large that their reduction needs many digits of pi.
struct SinFunction {
  static constexpr const char* kName = "sin";
  static float call(float x);
  static double call(double x);
};
struct CosFunction {
  static constexpr const char* kName = "cos";
  static float call(float x);
  static double call(double x);
};

}  // namespace graphwright
