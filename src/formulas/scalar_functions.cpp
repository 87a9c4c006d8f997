#include "formulas/scalar_functions.h"

#include <cmath>
#include <type_traits>

namespace graphwright {

namespace {

template <class T>
T divide(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (y == -1) return static_cast<T>(U{0} - static_cast<U>(x));
  }
  return x / y;
}

template <class T>
T power(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return 0;
  }
  U result = 1, factor = static_cast<U>(x);
  for (U exponent = static_cast<U>(y); exponent; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

}  // namespace

float FmodFunction::call(float x, float y) { return std::fmod(x, y); }
double FmodFunction::call(double x, double y) { return std::fmod(x, y); }

int32_t DivideIntegersFunction::call(int32_t x, int32_t y) { return divide(x, y); }
int64_t DivideIntegersFunction::call(int64_t x, int64_t y) { return divide(x, y); }
uint32_t DivideIntegersFunction::call(uint32_t x, uint32_t y) { return divide(x, y); }
uint64_t DivideIntegersFunction::call(uint64_t x, uint64_t y) { return divide(x, y); }

int32_t IntegerPowerFunction::call(int32_t x, int32_t y) { return power(x, y); }
int64_t IntegerPowerFunction::call(int64_t x, int64_t y) { return power(x, y); }
uint32_t IntegerPowerFunction::call(uint32_t x, uint32_t y) { return power(x, y); }
uint64_t IntegerPowerFunction::call(uint64_t x, uint64_t y) { return power(x, y); }

float SinFunction::call(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
double SinFunction::call(double x) { return std::sin(x); }
float CosFunction::call(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
double CosFunction::call(double x) { return std::cos(x); }

}  // namespace graphwright
