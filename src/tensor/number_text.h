// Decimal text of single numbers, as Python, NumPy and C print them.
#pragma once

#include <string>
#include <string_view>

namespace graphwright {

enum class FloatKind { kHalf, kFloat, kDouble };

// The shortest decimal digits that read back as the same value of a kind, nearest to it among
// those: value = 0.d1d2d3... * 10^point. Zero has the digit "0" and point 1. Finite values only.
struct ShortestDecimal {
  std::string digits;
  int point = 0;
};
ShortestDecimal shortest_decimal(double magnitude, FloatKind kind);

// Python's repr(float): "0.1", "1e+16", "nan", "-inf".
std::string python_float_repr(double value);
// str() of a NumPy scalar: "0.1", "1e+06" (float32 changes to exponents at 1e6, float16 at 1e3).
std::string numpy_float_str(double value, FloatKind kind);
// Python's repr(complex) and str() of a NumPy complex scalar: "(1+2j)", "2j".
std::string python_complex_repr(double real, double imaginary);
std::string numpy_complex_str(double real, double imaginary, FloatKind kind);
// C's "%.{digits}g", e.g. what ml_dtypes prints with 6.
std::string general_format(double value, int digits);
// tf.print's text of a float32 (6 digits where they read back as the same value, otherwise 9) and
// of a float64 (15, otherwise 17).
std::string print_float(float value);
std::string print_double(double value);
// Python's repr(bytes): "b'a\\n'".
std::string python_bytes_repr(std::string_view bytes);
// A C string literal's inside, UTF-8 kept: what tf.print puts between quotes.
std::string c_escape(std::string_view bytes);

}  // namespace graphwright
