// The text of array elements as NumPy's formatters make it: one look over all shown elements
// decides between positional and exponent notation and the width on either side of the point.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>

#include "tensor/format_array.h"
#include "tensor/number_text.h"
#include "tensor/small_float.h"

namespace graphwright {
namespace {

constexpr int kPrecision = 8;  // digits after the point, at most

// A decimal text split at its point and exponent. `whole` carries the sign.
struct Parts {
  std::string whole;
  std::string fraction;
  std::string exponent;  // "+05"
};

Parts split(const std::string& text) {
  Parts parts;
  size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (e != std::string::npos) parts.exponent = text.substr(e + 1);
  size_t point = mantissa.find('.');
  parts.whole = mantissa.substr(0, point);
  if (point != std::string::npos) parts.fraction = mantissa.substr(point + 1);
  return parts;
}

void strip_trailing_zeros(std::string& fraction) {
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
}

std::string printed(const char* format, int precision, double value) {
  char buffer[400];
  int length = std::snprintf(buffer, sizeof buffer, format, precision, value);
  return {buffer, static_cast<size_t>(length)};
}

class FloatColumn {
 public:
  FloatColumn(std::span<const double> values, FloatKind kind, bool always_sign)
      : kind_(kind), always_sign_(always_sign) {
    bool any_finite = false, any_infinite = false, any_non_finite = false;
    bool any_negative_infinity = false;
    double largest = 0, smallest = INFINITY;
    for (double value : values) {
      if (!std::isfinite(value)) {
        any_non_finite = true;
        any_infinite = any_infinite || std::isinf(value);
        any_negative_infinity = any_negative_infinity || value == -INFINITY;
        continue;
      }
      any_finite = true;
      if (value == 0) continue;
      largest = std::max(largest, std::fabs(value));
      smallest = std::min(smallest, std::fabs(value));
    }
    exponents_ = largest > 0 && wants_exponents(largest, smallest);
    if (any_finite) measure(values);
    if (any_non_finite) {
      int needed = 3 - (pad_right_ + 1);
      bool sign = always_sign || any_negative_infinity;
      pad_left_ = std::max({pad_left_, needed, needed + (sign ? 1 : 0)});
    }
  }

  std::string word(double value) const {
    if (!std::isfinite(value)) {
      std::string text = std::isnan(value) ? "nan" : "inf";
      if (value == -INFINITY) {
        text = "-inf";
      } else if (always_sign_) {
        text = "+" + text;
      }
      return right_aligned(text, pad_left_ + pad_right_ + 1);
    }
    if (exponents_) {
      Parts parts = scientific_digits(std::fabs(value), fraction_digits_);
      std::string digits = parts.exponent.substr(1);
      while (static_cast<int>(digits.size()) < exponent_digits_) digits = "0" + digits;
      return right_aligned(sign_of(value) + parts.whole, pad_left_) + "." + parts.fraction + "e" +
             parts.exponent[0] + digits;
    }
    Parts parts = positional(value);
    parts.fraction.resize(static_cast<size_t>(pad_right_), ' ');
    return right_aligned(parts.whole, pad_left_) + "." + parts.fraction;
  }

 private:
  static std::string right_aligned(std::string text, int width) {
    if (static_cast<int>(text.size()) >= width) return text;
    return std::string(static_cast<size_t>(width) - text.size(), ' ') + text;
  }

  std::string sign_of(double value) const {
    return std::signbit(value) ? "-" : always_sign_ ? "+" : "";
  }

  // Compared and divided in the array's own type.
  bool wants_exponents(double largest, double smallest) const {
    switch (kind_) {
      case FloatKind::kHalf: {
        double ratio = half_to_float(
            float_to_half(static_cast<float>(largest) / static_cast<float>(smallest)));
        return largest >= 1e3 || smallest < half_to_float(double_to_half(0.0001)) || ratio > 1000;
      }
      case FloatKind::kFloat:
        return largest >= 1e6 || static_cast<float>(smallest) < 0.0001f ||
               static_cast<float>(largest) / static_cast<float>(smallest) > 1000;
      case FloatKind::kDouble:
        break;
    }
    return largest >= 1e8 || smallest < 0.0001 || largest / smallest > 1000;
  }

  void measure(std::span<const double> values) {
    for (double value : values) {
      if (!std::isfinite(value)) continue;
      Parts parts = exponents_ ? scientific(value) : positional(value);
      pad_left_ = std::max(pad_left_, static_cast<int>(parts.whole.size()));
      fraction_digits_ = std::max(fraction_digits_, static_cast<int>(parts.fraction.size()));
      exponent_digits_ = std::max(exponent_digits_, static_cast<int>(parts.exponent.size()) - 1);
    }
    pad_right_ = exponents_ ? exponent_digits_ + 2 + fraction_digits_ : fraction_digits_;
  }

  // The shortest text, cut to kPrecision digits after the point by rounding the exact value.
  Parts positional(double value) const {
    double magnitude = std::fabs(value);
    ShortestDecimal decimal = shortest_decimal(magnitude, kind_);
    int count = static_cast<int>(decimal.digits.size());
    Parts parts;
    if (count - decimal.point > kPrecision) {
      parts = split(printed("%.*f", kPrecision, magnitude));
    } else if (decimal.point <= 0) {
      parts.whole = "0";
      parts.fraction = std::string(static_cast<size_t>(-decimal.point), '0') + decimal.digits;
    } else if (decimal.point >= count) {
      parts.whole = decimal.digits + std::string(static_cast<size_t>(decimal.point - count), '0');
    } else {
      parts.whole = decimal.digits.substr(0, static_cast<size_t>(decimal.point));
      parts.fraction = decimal.digits.substr(static_cast<size_t>(decimal.point));
    }
    strip_trailing_zeros(parts.fraction);
    parts.whole = sign_of(value) + parts.whole;
    return parts;
  }

  // The shortest digits where they are as many as asked for, otherwise the exact value's.
  Parts scientific_digits(double magnitude, int digits) const {
    ShortestDecimal decimal = shortest_decimal(magnitude, kind_);
    Parts parts = split(printed("%.*e", digits, magnitude));
    if (static_cast<int>(decimal.digits.size()) == digits + 1) {
      parts.whole = decimal.digits.substr(0, 1);
      parts.fraction = decimal.digits.substr(1);
    }
    return parts;
  }

  Parts scientific(double value) const {
    double magnitude = std::fabs(value);
    ShortestDecimal decimal = shortest_decimal(magnitude, kind_);
    int digits = std::min(static_cast<int>(decimal.digits.size()) - 1, kPrecision);
    Parts parts = scientific_digits(magnitude, digits);
    strip_trailing_zeros(parts.fraction);
    parts.whole = sign_of(value) + parts.whole;
    return parts;
  }

  FloatKind kind_;
  bool always_sign_;
  bool exponents_ = false;
  int pad_left_ = 0;
  int pad_right_ = 0;
  int fraction_digits_ = 0;
  int exponent_digits_ = -1;
};

double read_float(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return tensor.data<float>()[index];
    case DType::kDouble:
      return tensor.data<double>()[index];
    case DType::kHalf:
      return half_to_float(tensor.data<uint16_t>()[index]);
    case DType::kBfloat16:
      return bfloat16_to_float(tensor.data<uint16_t>()[index]);
    case DType::kFloat8E5m2:
      return widen<Float8E5m2>(tensor.data<uint8_t>()[index]);
    case DType::kFloat8E4m3fn:
      return widen<Float8E4m3fn>(tensor.data<uint8_t>()[index]);
    default:
      return 0;
  }
}

std::complex<double> read_complex(const Tensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::kComplex64) {
    auto value = tensor.data<std::complex<float>>()[index];
    return {value.real(), value.imag()};
  }
  return tensor.data<std::complex<double>>()[index];
}

std::string integer_text(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kInt8:
      return std::to_string(tensor.data<int8_t>()[index]);
    case DType::kInt16:
      return std::to_string(tensor.data<int16_t>()[index]);
    case DType::kInt32:
      return std::to_string(tensor.data<int32_t>()[index]);
    case DType::kInt64:
      return std::to_string(tensor.data<int64_t>()[index]);
    case DType::kUint8:
      return std::to_string(tensor.data<uint8_t>()[index]);
    case DType::kUint16:
      return std::to_string(tensor.data<uint16_t>()[index]);
    case DType::kUint32:
      return std::to_string(tensor.data<uint32_t>()[index]);
    case DType::kUint64:
      return std::to_string(tensor.data<uint64_t>()[index]);
    default:
      return {};
  }
}

std::string object_text(const Tensor& tensor, int64_t index) {
  const ObjectPointer& object = tensor.data<ObjectPointer>()[index];
  return object ? "<" + std::string(object->kind_name()) + ">" : "<empty>";
}

FloatKind kind_of(DType dtype) {
  if (dtype == DType::kHalf) return FloatKind::kHalf;
  bool narrow = dtype == DType::kFloat || dtype == DType::kComplex64;
  return narrow ? FloatKind::kFloat : FloatKind::kDouble;
}

bool has_float_column(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf;
}

}  // namespace

std::string element_str(const Tensor& tensor, int64_t index) {
  DType dtype = tensor.dtype();
  if (has_float_column(dtype)) return numpy_float_str(read_float(tensor, index), kind_of(dtype));
  if (is_floating(dtype)) return general_format(read_float(tensor, index), 6);
  if (is_complex(dtype)) {
    std::complex<double> value = read_complex(tensor, index);
    return numpy_complex_str(value.real(), value.imag(), kind_of(dtype));
  }
  return element_repr(tensor, index);
}

std::string element_repr(const Tensor& tensor, int64_t index) {
  DType dtype = tensor.dtype();
  if (is_floating(dtype)) return python_float_repr(read_float(tensor, index));
  if (is_complex(dtype)) {
    std::complex<double> value = read_complex(tensor, index);
    return python_complex_repr(value.real(), value.imag());
  }
  if (dtype == DType::kBool) return tensor.data<bool>()[index] ? "True" : "False";
  if (dtype == DType::kString) return python_bytes_repr(tensor.data<StringElement>()[index]);
  if (has_object_elements(dtype)) return object_text(tensor, index);
  return integer_text(tensor, index);
}

std::vector<std::string> array_words(const Tensor& tensor, std::span<const int64_t> shown) {
  DType dtype = tensor.dtype();
  std::vector<std::string> words;
  words.reserve(shown.size());
  if (has_float_column(dtype)) {
    std::vector<double> values;
    for (int64_t index : shown) values.push_back(read_float(tensor, index));
    FloatColumn column(values, kind_of(dtype), false);
    for (double value : values) words.push_back(column.word(value));
  } else if (is_complex(dtype)) {
    std::vector<double> reals, imaginaries;
    for (int64_t index : shown) {
      std::complex<double> value = read_complex(tensor, index);
      reals.push_back(value.real());
      imaginaries.push_back(value.imag());
    }
    FloatColumn real_column(reals, kind_of(dtype), false);
    FloatColumn imaginary_column(imaginaries, kind_of(dtype), true);
    for (size_t i = 0; i < reals.size(); ++i) {
      std::string imaginary = imaginary_column.word(imaginaries[i]);
      imaginary.insert(imaginary.find_last_not_of(' ') + 1, "j");
      words.push_back(real_column.word(reals[i]) + imaginary);
    }
  } else if (dtype == DType::kBool) {
    for (int64_t index : shown) words.push_back(tensor.data<bool>()[index] ? " True" : "False");
  } else if (is_integer(dtype)) {
    size_t width = 0;
    for (int64_t index : shown) {
      words.push_back(integer_text(tensor, index));
      width = std::max(width, words.back().size());
    }
    for (std::string& word : words) word.insert(0, width - word.size(), ' ');
  } else {
    for (int64_t index : shown) words.push_back(element_str(tensor, index));
  }
  return words;
}

}  // namespace graphwright
