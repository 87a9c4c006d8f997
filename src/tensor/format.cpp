#include "tensor/format.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "tensor/format_array.h"
#include "tensor/number_text.h"
#include "tensor/small_float.h"

namespace graphwright {
namespace {

void collect_shown(std::span<const int64_t> dims, bool summarised, int64_t offset, size_t axis,
                   std::vector<int64_t>& shown) {
  if (axis == dims.size()) {
    shown.push_back(offset);
    return;
  }
  int64_t size = dims[axis];
  bool skips = summarised && size > 2 * kPrintEdgeItems;
  for (int64_t i = 0; i < size; ++i) {
    if (skips && i == kPrintEdgeItems) i = size - kPrintEdgeItems;
    collect_shown(dims, summarised, offset * size + i, axis + 1, shown);
  }
}

// Lays words out in brackets and lines.
class ArrayLayout {
 public:
  ArrayLayout(std::span<const int64_t> dims, bool summarised, std::span<const std::string> words,
              std::string separator)
      : dims_(dims), summarised_(summarised), words_(words), separator_(std::move(separator)) {}

  std::string text(int64_t prefix_width, int64_t line_width) {
    next_ = 0;
    return nested(0, std::string(static_cast<size_t>(prefix_width) + 1, ' '), line_width);
  }

 private:
  std::string separator_without_space() const {
    size_t end = separator_.find_last_not_of(' ');
    return end == std::string::npos ? "" : separator_.substr(0, end + 1);
  }

  // The text of one sub-array, whose later lines start with `indent`.
  std::string nested(size_t axis, const std::string& indent, int64_t width) {
    int64_t size = dims_[axis];
    bool skips = summarised_ && size > 2 * kPrintEdgeItems;
    if (axis + 1 == dims_.size()) return row(size, skips, indent, width);
    std::string line_end = separator_without_space() + std::string(dims_.size() - axis - 1, '\n');
    std::string text = "[";
    for (int64_t i = 0; i < size; ++i) {
      if (skips && i == kPrintEdgeItems) {
        text += indent + "..." + line_end;
        i = size - kPrintEdgeItems;
      }
      if (i > 0) text += indent;
      text += nested(axis + 1, indent + " ", width - 1);
      if (i + 1 < size) text += line_end;
    }
    return text + "]";
  }

  std::string row(int64_t size, bool skips, const std::string& indent, int64_t width) {
    size_t limit = static_cast<size_t>(
        std::max<int64_t>(width - std::max<int64_t>(separator_without_space().size(), 1), 0));
    std::string text, line = indent;
    auto extend = [&](const std::string& word) {
      // A line that holds nothing yet is not broken: it would not help.
      if (line.size() + word.size() > limit && line.size() > indent.size()) {
        line.resize(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        line = indent;
      }
      line += word;
    };
    for (int64_t i = 0; i < size; ++i) {
      if (skips && i == kPrintEdgeItems) {
        extend("...");
        line += separator_;
        i = size - kPrintEdgeItems;
      }
      extend(words_[next_++]);
      if (i + 1 < size) line += separator_;
    }
    text += line;
    return "[" + text.substr(indent.size()) + "]";
  }

  std::span<const int64_t> dims_;
  bool summarised_;
  std::span<const std::string> words_;
  std::string separator_;
  size_t next_ = 0;
};

std::string array_text(const Tensor& tensor, const std::string& separator, int64_t prefix_width,
                       int64_t line_width) {
  if (tensor.element_count() == 0) return "[]";
  bool summarised = tensor.element_count() > kPrintThreshold;
  std::vector<int64_t> shown = shown_elements(tensor.dims(), summarised);
  std::vector<std::string> words = array_words(tensor, shown);
  return ArrayLayout(tensor.dims(), summarised, words, separator).text(prefix_width, line_width);
}

// The dtype as NumPy's repr names it; empty where the values imply it.
std::string repr_dtype(DType dtype) {
  switch (dtype) {
    case DType::kInt64:
    case DType::kDouble:
    case DType::kComplex128:
    case DType::kBool:
      return {};
    case DType::kString:
      return "object";
    case DType::kBfloat16:
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
      return "dtype(" + std::string(dtype_name(dtype)) + ")";
    default:
      return std::string(dtype_name(dtype));
  }
}

bool holds_handles(DType dtype) { return dtype == DType::kResource || dtype == DType::kVariant; }

// Starts on a new line where the text takes several.
std::string on_own_lines(std::string text) {
  return text.find('\n') == std::string::npos ? text : "\n" + text;
}

std::string shape_and_dtype(const Tensor& tensor) {
  return "shape=" + tensor.shape().to_string() +
         ", dtype=" + std::string(dtype_name(tensor.dtype()));
}

std::string print_element(const Tensor& tensor, int64_t index, bool quote_strings) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return print_float(tensor.data<float>()[index]);
    case DType::kDouble:
      return print_double(tensor.data<double>()[index]);
    case DType::kHalf:
      return print_float(half_to_float(tensor.data<uint16_t>()[index]));
    case DType::kBfloat16:
      return print_float(bfloat16_to_float(tensor.data<uint16_t>()[index]));
    case DType::kFloat8E5m2:
      return print_float(widen<Float8E5m2>(tensor.data<uint8_t>()[index]));
    case DType::kFloat8E4m3fn:
      return print_float(widen<Float8E4m3fn>(tensor.data<uint8_t>()[index]));
    case DType::kBool:
      return tensor.data<bool>()[index] ? "1" : "0";
    case DType::kString: {
      const StringElement& text = tensor.data<StringElement>()[index];
      return quote_strings ? "\"" + c_escape(text) + "\"" : text;
    }
    default:
      return element_str(tensor, index);
  }
}

void print_nested(const Tensor& tensor, int64_t summarize, bool quote_strings, int axis,
                  int64_t offset, std::string& text) {
  if (axis == tensor.rank()) {
    text += print_element(tensor, offset, quote_strings);
    return;
  }
  std::string gap = " ";
  if (int below = tensor.rank() - axis - 1; below > 0) {
    gap = std::string(static_cast<size_t>(below), '\n') +
          std::string(static_cast<size_t>(axis) + 1, ' ');
  }
  int64_t size = tensor.dim(axis);
  bool skips = summarize >= 0 && summarize < (size + 1) / 2 && size > 2 * summarize;
  text += '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) text += gap;
    if (skips && i == summarize) {
      text += "..." + gap;
      i = size - summarize;
    }
    print_nested(tensor, summarize, quote_strings, axis + 1, offset * size + i, text);
  }
  text += ']';
}

}  // namespace

std::vector<int64_t> shown_elements(std::span<const int64_t> dims, bool summarised) {
  std::vector<int64_t> shown;
  collect_shown(dims, summarised, 0, 0, shown);
  return shown;
}

std::string format_array_str(const Tensor& tensor) {
  if (tensor.rank() == 0) return element_str(tensor, 0);
  return array_text(tensor, " ", 0, kPrintLineWidth);
}

std::string format_array_repr(const Tensor& tensor) {
  if (tensor.rank() == 0) return element_repr(tensor, 0);
  const std::string prefix = "array(";
  int64_t prefix_width = static_cast<int64_t>(prefix.size());
  std::string text = prefix + array_text(tensor, ", ", prefix_width, kPrintLineWidth - 1);
  std::string extras;
  int64_t count = tensor.element_count();
  bool empty_vector = tensor.rank() == 1 && count == 0;
  if ((count == 0 && !empty_vector) || count > kPrintThreshold) {
    extras = "shape=" + tensor.shape().to_string();
  }
  std::string dtype = repr_dtype(tensor.dtype());
  if (dtype.empty() && count == 0) dtype = dtype_name(tensor.dtype());
  if (!dtype.empty()) extras += (extras.empty() ? "dtype=" : ", dtype=") + dtype;
  if (extras.empty()) return text + ")";
  text += ",";
  extras += ")";
  int64_t last_line = static_cast<int64_t>(text.size() - (text.rfind('\n') + 1));
  bool fits = last_line + static_cast<int64_t>(extras.size()) + 1 <= kPrintLineWidth;
  return text + (fits ? " " : "\n" + std::string(prefix.size(), ' ')) + extras;
}

std::string tensor_str_around(const Tensor& tensor, std::string value) {
  return "tf.Tensor(" + on_own_lines(std::move(value)) + ", " + shape_and_dtype(tensor) + ")";
}

std::string tensor_repr_around(const Tensor& tensor, std::string value) {
  const char* label = holds_handles(tensor.dtype()) ? ", value=" : ", numpy=";
  return "<tf.Tensor: " + shape_and_dtype(tensor) + label + on_own_lines(std::move(value)) + ">";
}

std::string tensor_str(const Tensor& tensor) {
  return tensor_str_around(tensor, format_array_str(tensor));
}

std::string tensor_repr(const Tensor& tensor) {
  return tensor_repr_around(
      tensor, holds_handles(tensor.dtype()) ? format_array_str(tensor) : format_array_repr(tensor));
}

std::string format_print(const Tensor& tensor, int64_t summarize, bool quote_strings) {
  if (summarize < -1) throw_invalid_argument("summarize must be at least -1.");
  if (tensor.rank() == 0 && summarize == 0) return "...";
  if (tensor.rank() > 0) {
    if (tensor.dim(0) == 0) return "[]";
    // Nothing to show, but not because the first dimension is empty.
    if (tensor.element_count() == 0 || summarize == 0) {
      return "[" + std::string(static_cast<size_t>(tensor.rank()) - 1, '\n') + " ...]";
    }
  }
  std::string text;
  print_nested(tensor, summarize, quote_strings, 0, 0, text);
  return text;
}

}  // namespace graphwright
