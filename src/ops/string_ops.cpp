// Strings, printing, assertions.
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <complex>
#include <cstdio>
#include <fstream>

#include "kernels/number.h"
#include "ops/op_support.h"
#include "ops/string_support.h"
#include "tensor/format.h"

namespace graphwright {
namespace {

// --- StringFormat, StringJoin, StringLength ---

size_t count_placeholders(const std::string& text, const std::string& placeholder) {
  size_t count = 0;
  if (placeholder.empty()) return 0;
  for (size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + placeholder.size())) {
    ++count;
  }
  return count;
}
void shape_string_format(ShapeContext& context) {
  size_t wanted = count_placeholders(context.attributes().string("template"),
                                     context.attributes().string("placeholder"));
  if (wanted != static_cast<size_t>(context.input_count())) {
    context.fail("num placeholders in template and num inputs must match: " +
                 std::to_string(wanted) + " vs. " + std::to_string(context.input_count()));
  }
  context.set_output(0, PartialShape::scalar());
}
void string_format_kernel(KernelContext& context) {
  const std::string& text = context.attributes().string("template");
  const std::string& placeholder = context.attributes().string("placeholder");
  int64_t summarize = context.attributes().integer("summarize");
  std::string result;
  size_t from = 0;
  for (int i = 0; i < context.input_count(); ++i) {
    size_t at = placeholder.empty() ? std::string::npos : text.find(placeholder, from);
    if (at == std::string::npos) {
      fail(context, "template", "num placeholders in template and num inputs must match");
    }
    result.append(text, from, at - from);
    result += format_print(context.input(i), summarize);
    from = at + placeholder.size();
  }
  result.append(text, from, std::string::npos);
  context.set_output(0, Tensor::string_scalar(std::move(result)));
}

void shape_string_join(ShapeContext& context) {
  // Scalars go with any shape.
  PartialShape shape = PartialShape::scalar();
  bool unknown = false;
  for (int i = 0; i < context.input_count(); ++i) {
    PartialShape input = context.input_shape(i);
    if (!input.has_rank()) {
      unknown = true;
    } else if (input.rank() != 0) {
      if (shape.rank() == 0) {
        shape = input;
      } else if (!shape.is_compatible_with(input)) {
        context.fail("Input shapes do not match: " + shape_text(shape) + " vs. " +
                     shape_text(input));
      } else {
        shape = shape.merged_with(input);
      }
    }
  }
  context.set_output(0, unknown && shape.rank() == 0 ? PartialShape::unknown() : shape);
}
void string_join_kernel(KernelContext& context) {
  const std::string& separator = context.attributes().string("separator");
  Tensor& output = infer_output(context, DType::kString);
  for (int64_t i = 0; i < output.element_count(); ++i) {
    std::string text;
    for (int k = 0; k < context.input_count(); ++k) {
      const Tensor& input = context.input(k);
      if (k) text += separator;
      text += input.data<StringElement>()[input.rank() == 0 ? 0 : i];
    }
    output.mutable_data<StringElement>()[i] = std::move(text);
  }
}

void string_length_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  bool characters = context.attributes().string("unit") == "UTF8_CHAR";
  Tensor& output = context.require_output(0, DType::kInt32, input.dims());
  for (int64_t i = 0; i < input.element_count(); ++i) {
    const std::string& text = input.data<StringElement>()[i];
    // Continuation bytes of UTF-8 are 10xxxxxx.
    int64_t count =
        characters ? std::ranges::count_if(text, [](unsigned char c) { return (c & 0xc0) != 0x80; })
                   : static_cast<int64_t>(text.size());
    output.mutable_data<int32_t>()[i] = static_cast<int32_t>(count);
  }
}

// The element of `input` that goes, broadcast, into element `flat` of `output`.
template <typename Element>
const Element& broadcast_element(const Tensor& input, const Tensor& output, int64_t flat) {
  std::span<const int64_t> dims = output.dims();
  int64_t offset = 0, stride = 1;
  for (int i = output.rank() - 1, k = input.rank() - 1; i >= 0; --i, --k) {
    if (k >= 0 && input.dim(k) != 1) {
      offset += flat % dims[static_cast<size_t>(i)] * stride;
      stride *= input.dim(k);
    }
    flat /= dims[static_cast<size_t>(i)];
  }
  return input.data<Element>()[offset];
}

// Calls `combine` with each pair of strings, broadcast, and the flat index of their result.
template <typename Combine>
void for_each_pair(KernelContext& context, const Tensor& output, Combine combine) {
  for (int64_t i = 0; i < output.element_count(); ++i) {
    combine(i, broadcast_element<StringElement>(context.input(0), output, i),
            broadcast_element<StringElement>(context.input(1), output, i));
  }
}

// The string form of Add: concatenation of each pair of elements.
void string_add_kernel(KernelContext& context) {
  Tensor& output = infer_output(context, DType::kString);
  StringElement* results = output.mutable_data<StringElement>();
  for_each_pair(context, output,
                [&](int64_t i, const std::string& x, const std::string& y) { results[i] = x + y; });
}

template <bool Wanted>
void string_equality_kernel(KernelContext& context) {
  Tensor& output = infer_output(context, DType::kBool);
  bool* results = output.mutable_data<bool>();
  for_each_pair(context, output, [&](int64_t i, const std::string& x, const std::string& y) {
    results[i] = (x == y) == Wanted;
  });
}

void string_select_kernel(KernelContext& context) {
  Tensor& output = infer_output(context, DType::kString);
  StringElement* results = output.mutable_data<StringElement>();
  for (int64_t i = 0; i < output.element_count(); ++i) {
    int chosen = broadcast_element<bool>(context.input(0), output, i) ? 1 : 2;
    results[i] = broadcast_element<StringElement>(context.input(chosen), output, i);
  }
}

// --- AsString ---

// printf's conversion as the attributes ask for it.
struct TextFormat {
  int precision = -1, width = -1;
  bool scientific = false, shortest = false;
  std::string fill;
};
std::string format_real(double value, const TextFormat& format) {
  std::string pattern = "%";
  if (format.width > 0) pattern += format.fill + std::to_string(format.width);
  if (format.precision >= 0) pattern += "." + std::to_string(format.precision);
  pattern += format.scientific ? 'e' : format.shortest ? 'g' : 'f';
  int size = std::snprintf(nullptr, 0, pattern.c_str(), value);
  std::string text(static_cast<size_t>(size), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern.c_str(), value);
  return text;
}
// Text in a field of the width, to the right unless the fill asks for the left.
std::string padded(std::string text, const TextFormat& format) {
  size_t width = format.width > 0 ? static_cast<size_t>(format.width) : 0;
  if (text.size() >= width) return text;
  if (format.fill == "-") return text + std::string(width - text.size(), ' ');
  if (format.fill == "0") {
    size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    return text.insert(sign, width - text.size(), '0');
  }
  return std::string(width - text.size(), ' ') + text;
}
std::string format_integer(int64_t value, uint64_t unsigned_value, bool is_unsigned,
                           const TextFormat& format) {
  std::string digits = is_unsigned ? std::to_string(unsigned_value) : std::to_string(value);
  if (format.fill == "+" && (is_unsigned || value >= 0)) digits = "+" + digits;
  if (format.fill == " " && (is_unsigned || value >= 0)) digits = " " + digits;
  return padded(std::move(digits), format);
}
void as_string_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const AttributeReader& attributes = context.attributes();
  TextFormat format;
  format.precision = static_cast<int>(attributes.integer("precision"));
  format.width = static_cast<int>(attributes.integer("width"));
  format.scientific = attributes.boolean("scientific");
  format.shortest = attributes.boolean("shortest");
  format.fill = attributes.string("fill");
  if (format.fill.size() > 1 ||
      (!format.fill.empty() && std::string_view("0+- ").find(format.fill) == std::string::npos)) {
    fail(context, "fill", "Fill argument not supported: \"" + format.fill + "\"");
  }
  if (format.scientific && format.shortest) {
    fail(context, "Cannot select both scientific and shortest notation");
  }
  DType dtype = input.dtype();
  bool real = is_floating(dtype) || is_complex(dtype);
  if (!real && (format.scientific || format.shortest || format.precision >= 0)) {
    fail(context, "scientific, shortest and precision are for floating point numbers, not for " +
                      std::string(dtype_name(dtype)));
  }
  Tensor& output = context.require_output(0, DType::kString, input.dims());
  std::string* result = output.mutable_data<StringElement>();
  int64_t count = input.element_count();
  if (dtype == DType::kBool) {
    for (int64_t i = 0; i < count; ++i) {
      result[i] = padded(input.data<bool>()[i] ? "true" : "false", format);
    }
  } else if (dtype == DType::kString) {
    for (int64_t i = 0; i < count; ++i) {
      result[i] = padded(input.data<StringElement>()[i], format);
    }
  } else {
    kernels::visit_number(dtype, [&](auto zero) {
      using T = decltype(zero);
      const T* data = input.data<T>();
      for (int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<T>) {
          result[i] = format_integer(static_cast<int64_t>(data[i]), static_cast<uint64_t>(data[i]),
                                     std::is_unsigned_v<T>, format);
        } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                             std::is_same_v<T, std::complex<double>>) {
          result[i] = "(" + format_real(data[i].real(), format) + "," +
                      format_real(data[i].imag(), format) + ")";
        } else {
          result[i] = format_real(
              static_cast<double>(static_cast<kernels::Accumulator<T>>(data[i])), format);
        }
      }
    });
  }
}

// --- PrintV2, Assert ---

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return;  // nobody reads: printing is no reason to fail
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}
void print_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  if (input.rank() != 0) {
    fail(context, "input",
         "Input is expected to be scalar, but got " + dims_to_string(input.dims()));
  }
  const std::string& stream = context.attributes().string("output_stream");
  std::string line = input.data<StringElement>()[0] + context.attributes().string("end");
  constexpr std::string_view kFile = "file://";
  if (stream == "stdout" || stream == "stderr") {
    // What C code has buffered comes first; Python's own buffers are its own.
    std::fflush(stream == "stdout" ? stdout : stderr);
    write_all(stream == "stdout" ? STDOUT_FILENO : STDERR_FILENO, line);
  } else if (stream.starts_with(kFile)) {
    std::ofstream file(stream.substr(kFile.size()), std::ios::app | std::ios::binary);
    file << line;
    if (!file) {
      throw Error(Code::kNotFound, "Cannot write to " + stream.substr(kFile.size()))
          .with_op("PrintV2")
          .with_argument("output_stream");
    }
  } else if (stream.starts_with("log(")) {
    char level = stream == "log(warning)" ? 'W' : stream == "log(error)" ? 'E' : 'I';
    std::fflush(stderr);
    write_all(STDERR_FILENO, std::string(1, level) + " " + line);
  } else {
    fail(context, "output_stream",
         "Unknown output stream: " + stream +
             ". Use stdout, stderr, log(info), log(warning), log(error) or file://path.");
  }
}
void shape_print(ShapeContext& context) { context.require_rank(0, 0); }

void shape_assert(ShapeContext& context) {
  PartialShape condition = context.input_shape(0);
  std::optional<int64_t> count = condition.element_count();
  if (count && *count != 1)
    context.fail("condition must be a scalar, got " + shape_text(condition));
}
void assert_kernel(KernelContext& context) {
  const Tensor& condition = context.input(0);
  if (condition.element_count() != 1) {
    fail(context, "condition",
         "assertion condition must be a scalar, got " + dims_to_string(condition.dims()));
  }
  if (condition.data<bool>()[0]) return;
  std::string message = "assertion failed:";
  int64_t summarize = context.attributes().integer("summarize");
  for (int i = 1; i < context.input_count(); ++i) {
    const Tensor& data = context.input(i);
    std::string text = format_print(data, summarize, false);
    message += data.rank() == 0 ? " [" + text + "]" : " " + text;
  }
  fail(context, std::move(message));
}

constexpr Absent kStrings{"strings have no derivative"};
constexpr Absent kNoOutput{"has no output"};

constexpr std::array kTable{
    OpDef{
        .name = "StringFormat",
        .signature = "inputs: [T]; template: string='%s', placeholder: string='%s', "
                     "summarize: int=3 -> output: string",
        .doc = "The template with each placeholder replaced by the text of an input, as tf.print "
               "shows it: at most `summarize` elements at either end of each dimension, all for "
               "-1. InvalidArgument unless there are as many inputs as placeholders.",
        .traits = kPure | kZeroDerivative,
        .shape = shape_string_format,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<string_format_kernel>},
        .gradient = kStrings,
        .forward = kStrings,
        .reference = {.reason = "text with numbers in it: tests/python/test_strings.py"},
    },
    OpDef{
        .name = "StringJoin",
        .signature = "inputs: N * string; separator: string='' -> output: string",
        .doc = "The inputs joined element by element, with the separator in between. All have one "
               "shape (InvalidArgument otherwise) or are scalars.",
        .traits = kPure | kZeroDerivative,
        .shape = shape_string_join,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<string_join_kernel>},
        .gradient = kStrings,
        .forward = kStrings,
        .reference = {.reason = "any number of inputs: tests/python/test_strings.py"},
    },
    OpDef{
        .name = "Add",
        .signature = "x: T, y: T -> z: T",
        .doc = "Concatenation of each pair of strings, broadcast as NumPy does. (Numbers are "
               "added by AddV2.)",
        .traits = kPure | kElementwise | kZeroDerivative,
        .types = {{{"T", DTypeSet::of(DType::kString)}}},
        .shape = shape_broadcast,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<string_add_kernel>},
        .gradient = kStrings,
        .forward = kStrings,
        .reference = {.numpy = "np.char.add(x, y)"},
        .default_node_name = "add",
    },
    OpDef{
        .name = "StringLength",
        .signature = "input: string; unit: {'BYTE','UTF8_CHAR'}='BYTE' -> output: int32",
        .doc = "The length of each string in bytes, or in characters of UTF-8.",
        .traits = kPure | kZeroDerivative,
        .shape = shape_unchanged,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<string_length_kernel>},
        .gradient = kStrings,
        .forward = kStrings,
        .reference = {.numpy = "np.vectorize(len, otypes=[np.int32])(input)"},
        .python_names = "strings.length",
    },
    OpDef{
        .name = "AsString",
        .signature = "input: T; precision: int=-1, scientific: bool=false, shortest: bool=false, "
                     "width: int=-1, fill: string='' -> output: string",
        .doc = "Each element as text: floating point numbers as C's %f, %e (scientific) or %g "
               "(shortest) with `precision` digits, padded to `width` with the fill (\"\", \" \", "
               "\"0\", \"+\" or \"-\" as in C).",
        .traits = kPure | kZeroDerivative,
        .types = {{{"T", kNumeric | DTypeSet::of(DType::kBool, DType::kString)}}},
        .shape = shape_unchanged,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<as_string_kernel>},
        .gradient = kStrings,
        .forward = kStrings,
        .reference = {.reason = "text of numbers: tests/python/test_strings.py"},
        .python_names = "strings.as_string as_string",
    },
    OpDef{
        .name = "PrintV2",
        .signature = "input: string; output_stream: string='stderr', end: string='\n' ->",
        .doc = "Writes a scalar string and `end` to stdout, stderr, log(info), log(warning), "
               "log(error), or file://path (appended).",
        .traits = kStateful,
        .shape = shape_print,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<print_kernel>},
        .effects = {.io = true},
        .gradient = kNoOutput,
        .forward = kNoOutput,
        .reference = {.reason = "writes to a stream: tests/python/test_strings.py"},
    },
    OpDef{
        .name = "Assert",
        .signature = "condition: bool, data: [T]; summarize: int=3 ->",
        .doc = "InvalidArgument with the text of data unless condition, a bool with one element, "
               "is true.",
        .traits = kStateful,
        .shape = shape_assert,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<assert_kernel>},
        .effects = {.io = true},
        .gradient = kNoOutput,
        .forward = kNoOutput,
        .reference = {.reason = "raises: tests/python/test_strings.py"},
    },
};

}  // namespace

Status string_equal(KernelContext& context) {
  return run_guarded(string_equality_kernel<true>, context);
}
Status string_not_equal(KernelContext& context) {
  return run_guarded(string_equality_kernel<false>, context);
}
Status string_select(KernelContext& context) { return run_guarded(string_select_kernel, context); }

GW_REGISTER_OPS(kTable)
}  // namespace graphwright
