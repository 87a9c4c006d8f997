// Strings, printing, assertions.
#include "ops/function_support.h"

namespace graphwright {
namespace {

// join(inputs, separator)
CallResult join(CallContext& context) {
  const OperandVector& inputs = context.operands(0);
  std::vector<Part> parts(inputs.begin(), inputs.end());
  if (parts.empty()) {
    throw Error(ErrorKind::kValueError, "strings.join needs at least one input")
        .with_argument("inputs");
  }
  return apply_op(context, "StringJoin", std::move(parts), {{"separator", context.string(1)}});
}

// format(template, inputs, placeholder, summarize)
CallResult format(CallContext& context) {
  const std::string& text = context.string(0);
  const OperandVector& inputs = context.operands(1);
  const std::string& placeholder = context.string(2);
  size_t wanted = 0;
  if (!placeholder.empty()) {
    for (size_t at = text.find(placeholder); at != std::string::npos;
         at = text.find(placeholder, at + placeholder.size())) {
      ++wanted;
    }
  }
  if (wanted != inputs.size()) {
    throw Error(ErrorKind::kValueError,
                "The template expects " + std::to_string(wanted) +
                    " tensors, but the inputs only has " + std::to_string(inputs.size()) +
                    ". Please ensure the number of placeholders in template matches inputs "
                    "length.")
        .with_argument("inputs");
  }
  std::vector<Part> parts(inputs.begin(), inputs.end());
  return apply_op(
      context, "StringFormat", std::move(parts),
      {{"template", text}, {"placeholder", placeholder}, {"summarize", context.integer(3)}});
}

// The op behind tf.print, whose front end turns nested values into a template and tensors:
// print_formatted(template, inputs, output_stream, end, summarize, placeholder).
CallResult print_formatted(CallContext& context) {
  Builder& builder = context.builder();
  const OperandVector& inputs = context.operands(1);
  // A lone scalar string is printed as it is, without quotes.
  bool plain = inputs.size() == 1 && context.string(0) == context.string(5) &&
               dtype_of(inputs[0]) == DType::kString && shape_of(inputs[0]).has_rank() &&
               shape_of(inputs[0]).rank() == 0;
  OperandVector text;
  if (plain) {
    text = inputs;
  } else {
    builder.apply(get_op("StringFormat"), inputs,
                  attributes_of("StringFormat", {{"template", context.string(0)},
                                                 {"placeholder", context.string(5)},
                                                 {"summarize", context.integer(4)}}),
                  text, "StringFormat");
  }
  OperandVector none;
  builder.apply(
      get_op("PrintV2"), text,
      attributes_of("PrintV2", {{"output_stream", context.string(2)}, {"end", context.string(3)}}),
      none, context.name());
  return std::monostate();
}

// Assert(condition, data, summarize)
CallResult assert_true(CallContext& context) {
  std::vector<Part> parts{context.operand(0)};
  for (const Operand& data : context.operands(1)) parts.emplace_back(data);
  int64_t summarize = context.is_none(2) ? 3 : context.integer(2);
  apply_op(context, "Assert", std::move(parts), {{"summarize", summarize}});
  return std::monostate();
}

// assert_equal and the like: every pair of elements compares true.
struct ComparisonCheck {
  const char* op;
  const char* text;  // "x == y"
};
constexpr ComparisonCheck kEqual{"Equal", "x == y"};
constexpr ComparisonCheck kNone{"NotEqual", "x != y"};
constexpr ComparisonCheck kLess{"Less", "x < y"};
constexpr ComparisonCheck kLessEqual{"LessEqual", "x <= y"};
constexpr ComparisonCheck kGreater{"Greater", "x > y"};
constexpr ComparisonCheck kGreaterEqual{"GreaterEqual", "x >= y"};

template <const ComparisonCheck& Check>
CallResult assert_comparison(CallContext& context) {
  Builder& builder = context.builder();
  Expression x = context.tensor(0), y = context.tensor(1);
  Expression holds = x.apply(Check.op, y);
  Expression all = inner_op(builder, "All", {holds, reduction_axes(builder, NoneValue{}, holds)});
  std::string message = context.is_none(2) ? std::string() : context.string(2);
  Operand data[] = {all,
                    builder.constant(Tensor::string_scalar(message)),
                    builder.constant(Tensor::string_scalar(std::string("Condition ") + Check.text +
                                                           " did not hold element-wise:")),
                    builder.constant(Tensor::string_scalar("x = ")),
                    x,
                    builder.constant(Tensor::string_scalar("y = ")),
                    y};
  OperandVector none;
  int64_t summarize = context.is_none(3) ? 3 : context.integer(3);
  builder.apply(get_op("Assert"), data, attributes_of("Assert", {{"summarize", summarize}}), none,
                context.name());
  return std::monostate();
}

#define GW_ASSERTION(python_name, check, sign)                                         \
  FunctionDef {                                                                        \
    .names = "debugging." python_name,                                                 \
    .signature = "x: T, y: T, message: str? = None, summarize: int? = None",           \
    .doc = "Raises InvalidArgumentError unless x " sign                                \
           " y for every pair of elements, broadcast as NumPy does; `message` begins " \
           "its text. In a graph it is an op that runs before what comes after it.",   \
    .body = assert_comparison<check>, .node_name = python_name                         \
  }

constexpr std::array kTable{
    FunctionDef{.names = "strings.join",
                .signature = "inputs: strings, separator: str = ''",
                .doc = "The strings of the list joined element by element with the separator in "
                       "between; all of one shape (InvalidArgumentError) or scalars.",
                .body = join,
                .node_name = "StringJoin"},
    FunctionDef{.names = "strings.format",
                .signature = "template: str, inputs: mixed, placeholder: str = '{}', "
                             "summarize: int = 3",
                .doc = "The template with each placeholder replaced by the text of a tensor, at "
                       "most `summarize` elements at either end of each dimension (-1: all). "
                       "ValueError unless there are as many inputs as placeholders.",
                .body = format,
                .node_name = "StringFormat"},
    FunctionDef{.names = "_print_formatted",
                .signature = "template: str, inputs: mixed, output_stream: str = 'stderr', "
                             "end: str = '\n', summarize: int = 3, placeholder: str = '{}'",
                .doc =
                    "Prints the template with each placeholder replaced by the text of a tensor to "
                    "stdout, stderr, a log or a file: what print is made of.",
                .body = print_formatted},
    FunctionDef{.names = "debugging.Assert Assert",
                .signature = "condition: bool, data: mixed, summarize: int? = None",
                .doc = "Raises InvalidArgumentError with the text of the tensors in `data`, at "
                       "most `summarize` (3) elements at either end of each dimension, unless the "
                       "condition is true.",
                .body = assert_true,
                .node_name = "Assert"},
    GW_ASSERTION("assert_equal", kEqual, "="),
    GW_ASSERTION("assert_none_equal", kNone, "!="),
    GW_ASSERTION("assert_less", kLess, "<"),
    GW_ASSERTION("assert_less_equal", kLessEqual, "<="),
    GW_ASSERTION("assert_greater", kGreater, ">"),
    GW_ASSERTION("assert_greater_equal", kGreaterEqual, ">="),
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
