#include "tensor/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tensor/small_float.h"

namespace graphwright {
namespace {

// Splits "d.ddde+xx" into digits and point.
ShortestDecimal parse_scientific(std::string_view text) {
  ShortestDecimal result;
  size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  result.point = std::atoi(std::string(text.substr(e + 1)).c_str()) + 1;
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  return result;
}

template <class Float>
ShortestDecimal shortest_of(Float value) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  return parse_scientific({buffer, static_cast<size_t>(end.ptr - buffer)});
}

// With at most five digits the nearest decimal of each length is found by trying. At powers of two
// the next number below is nearer than the one above, so that the nearest decimal may read back as
// that one, while its neighbour above reads back as the value itself.
ShortestDecimal shortest_half(double value) {
  uint16_t bits = double_to_half(value);
  for (int precision = 0;; ++precision) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*e", precision, value);
    if (precision >= 5 || double_to_half(std::strtod(buffer, nullptr)) == bits) {
      return parse_scientific(buffer);
    }
    int exponent = std::atoi(std::strchr(buffer, 'e') + 1);
    double unit = std::pow(10.0, exponent - precision);
    int64_t above = std::llround(std::strtod(buffer, nullptr) / unit) + 1;
    std::string text = std::to_string(above) + "e" + std::to_string(exponent - precision);
    if (double_to_half(std::strtod(text.c_str(), nullptr)) == bits) {
      std::snprintf(buffer, sizeof buffer, "%.*e", precision, std::strtod(text.c_str(), nullptr));
      return parse_scientific(buffer);
    }
  }
}

std::string exponent_text(int exponent) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
  return buffer;
}

// "ddd.ddd" (always with a digit after the point) or "d.ddde+xx" (a point only where needed).
std::string layout(const ShortestDecimal& decimal, bool scientific) {
  const std::string& digits = decimal.digits;
  int count = static_cast<int>(digits.size());
  if (scientific) {
    std::string text = digits.substr(0, 1);
    if (count > 1) text += "." + digits.substr(1);
    return text + exponent_text(decimal.point - 1);
  }
  if (decimal.point <= 0) {
    return "0." + std::string(static_cast<size_t>(-decimal.point), '0') + digits;
  }
  if (decimal.point >= count) {
    return digits + std::string(static_cast<size_t>(decimal.point - count), '0') + ".0";
  }
  size_t point = static_cast<size_t>(decimal.point);
  return digits.substr(0, point) + "." + digits.substr(point);
}

std::string non_finite_text(double value) {
  return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
}

// Complex parts print without a final ".0".
std::string without_point_zero(std::string text) {
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string complex_text(double real, std::string real_text, std::string imaginary_text) {
  imaginary_text = without_point_zero(std::move(imaginary_text));
  if (real == 0 && !std::signbit(real)) return imaginary_text + "j";
  bool has_sign = imaginary_text[0] == '-';
  return "(" + without_point_zero(std::move(real_text)) + (has_sign ? "" : "+") + imaginary_text +
         "j)";
}

}  // namespace

ShortestDecimal shortest_decimal(double magnitude, FloatKind kind) {
  if (magnitude == 0) return {"0", 1};
  switch (kind) {
    case FloatKind::kHalf:
      return shortest_half(magnitude);
    case FloatKind::kFloat:
      return shortest_of(static_cast<float>(magnitude));
    case FloatKind::kDouble:
      break;
  }
  return shortest_of(magnitude);
}

std::string python_float_repr(double value) {
  if (!std::isfinite(value)) return non_finite_text(value);
  ShortestDecimal decimal = shortest_decimal(std::fabs(value), FloatKind::kDouble);
  bool scientific = decimal.point <= -4 || decimal.point > 16;
  return (std::signbit(value) ? "-" : "") + layout(decimal, scientific);
}

std::string numpy_float_str(double value, FloatKind kind) {
  if (!std::isfinite(value)) return non_finite_text(value);
  double magnitude = std::fabs(value);
  double largest = kind == FloatKind::kHalf ? 1e3 : kind == FloatKind::kFloat ? 1e6 : 1e16;
  bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= largest);
  return (std::signbit(value) ? "-" : "") + layout(shortest_decimal(magnitude, kind), scientific);
}

std::string python_complex_repr(double real, double imaginary) {
  return complex_text(real, python_float_repr(real), python_float_repr(imaginary));
}

std::string numpy_complex_str(double real, double imaginary, FloatKind kind) {
  return complex_text(real, numpy_float_str(real, kind), numpy_float_str(imaginary, kind));
}

std::string general_format(double value, int digits) {
  if (std::isnan(value)) return "nan";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  return buffer;
}

std::string print_float(float value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  std::string text = general_format(value, 6);
  return std::strtof(text.c_str(), nullptr) == value ? text : general_format(value, 9);
}

std::string print_double(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  std::string text = general_format(value, 15);
  return std::strtod(text.c_str(), nullptr) == value ? text : general_format(value, 17);
}

std::string python_bytes_repr(std::string_view bytes) {
  bool double_quotes = bytes.find('\'') != bytes.npos && bytes.find('"') == bytes.npos;
  char quote = double_quotes ? '"' : '\'';
  std::string text = "b";
  text += quote;
  for (char c : bytes) {
    if (c == quote || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else if (c < ' ' || c == 0x7f) {  // char is signed: bytes from 0x80 on are below ' '
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", static_cast<unsigned char>(c));
      text += buffer;
    } else {
      text += c;
    }
  }
  return text + quote;
}

std::string c_escape(std::string_view bytes) {
  std::string text;
  for (char c : bytes) {
    unsigned char code = static_cast<unsigned char>(c);
    switch (c) {
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      case '\t':
        text += "\\t";
        break;
      case '"':
      case '\'':
      case '\\':
        text += '\\';
        text += c;
        break;
      default:
        if (code < 0x20 || code == 0x7f) {
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "\\%03o", code);
          text += buffer;
        } else {
          text += c;
        }
    }
  }
  return text;
}

}  // namespace graphwright
