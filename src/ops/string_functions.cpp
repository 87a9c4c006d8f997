// Strings and printing.
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
};

}  // namespace
GW_REGISTER_FUNCTIONS(kTable)
}  // namespace graphwright
