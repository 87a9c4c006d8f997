// Calls of functions and ops by name, with arguments converted as their rows say.
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <graphwright/input.h>

#include "api/handles.h"
#include "api/numbers.h"
#include "api/variables.h"
#include "ir/builder.h"
#include "ir/row_parameters.h"
#include "ir/thread_state.h"
#include "runtime/eager.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {
namespace {

using core::ParameterKind;
using core::ParameterSpec;
using Kind = Argument::Kind;

struct Row {
  const core::FunctionDef* function = nullptr;
  const core::OpDef* op = nullptr;  // of public ops without a function row
  core::ParameterList list;
};

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    size_t end = words.find(' ');
    if (words.substr(0, end) == word) return true;
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
  return false;
}

const Row& row_of(std::string_view name) {
  static std::mutex mutex;
  static auto& rows = *new std::map<std::string, Row, std::less<>>();
  std::lock_guard<std::mutex> lock(mutex);
  auto found = rows.find(name);
  if (found != rows.end()) return found->second;
  Row row;
  row.function = core::find_function(name);
  if (row.function) {
    row.list = core::parse_parameters(*row.function);
  } else {
    for (const core::OpDef* op : core::all_ops()) {
      if (has_word(op->python_names, name)) row.op = op;
    }
    if (!row.op) {
      core::throw_unimplemented(fmt::format("this library has no function {}", name));
    }
    row.list = core::parse_parameters(*row.op);
  }
  return rows.emplace(name, std::move(row)).first->second;
}

// The number of a default's text, as the argument it stands for.
Argument default_argument(const ParameterSpec& spec) {
  Argument argument;
  std::string_view text = spec.default_text;
  if (text == "None") return argument;
  if (text == "True" || text == "true" || text == "False" || text == "false") {
    argument.kind = Kind::kBoolean;
    argument.integer = text[0] == 'T' || text[0] == 't';
    return argument;
  }
  if (text.size() >= 2 && text.front() == '\'') {
    argument.kind = Kind::kText;
    argument.data = text.data() + 1;
    argument.size = static_cast<int64_t>(text.size()) - 2;
    return argument;
  }
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  if (auto [stop, error] = std::from_chars(end - text.size(), end, integer);
      error == std::errc() && stop == end) {
    argument.kind = Kind::kInteger;
    argument.integer = integer;
    return argument;
  }
  double real = 0;
  if (auto [stop, error] = std::from_chars(end - text.size(), end, real);
      error == std::errc() && stop == end) {
    argument.kind = Kind::kReal;
    argument.real = real;
    return argument;
  }
  core::DType dtype = core::dtype_from_name(text);
  if (dtype == core::DType::kInvalid) {
    core::throw_unimplemented(
        fmt::format("the default {} of '{}' is not known here", text, spec.name));
  }
  argument.kind = Kind::kDType;
  argument.integer = static_cast<int64_t>(dtype);
  return argument;
}

std::span<const Argument> items_of(const Argument& list) {
  return {static_cast<const Argument*>(list.data), static_cast<size_t>(list.size)};
}

class Converter {
 public:
  Converter(std::string_view function, const core::ParameterList& list,
            std::span<const Argument> arguments)
      : function_(function), list_(list), dtypes_(list.variables.size(), core::DType::kInvalid) {
    for (size_t i = 0; i < list.parameters.size(); ++i) {
      int variable = list.parameters[i].variable;
      if (variable < 0 || i >= arguments.size()) continue;
      if (arguments[i].kind == Kind::kArguments) {
        for (const Argument& item : items_of(arguments[i])) look_at(variable, item);
      } else {
        look_at(variable, arguments[i]);
      }
    }
    // Numbers alone: a real one among them makes all real.
    for (size_t i = 0; i < list.parameters.size() && i < arguments.size(); ++i) {
      int variable = list.parameters[i].variable;
      if (variable < 0) continue;
      core::DType& dtype = dtypes_[static_cast<size_t>(variable)];
      if (dtype != core::DType::kInvalid) continue;
      dtype = only_dtype(variable);
      auto is_real = [&](const Argument& item) {
        if (item.kind == Kind::kReal) reals_ |= 1u << variable;
      };
      if (arguments[i].kind == Kind::kArguments) {
        for (const Argument& item : items_of(arguments[i])) is_real(item);
      } else {
        is_real(arguments[i]);
      }
    }
  }

  core::Argument convert(const ParameterSpec& spec, const Argument& argument) {
    if (argument.kind == Kind::kNone && spec.optional) return core::NoneValue{};
    if (argument.kind == Kind::kNone) refuse(spec, "is missing");
    switch (spec.kind) {
      case ParameterKind::kVariable:
        return variable_operand(spec, argument);
      case ParameterKind::kTensor:
        return tensor_argument(argument, core::DType::kInvalid, spec.name);
      case ParameterKind::kReadable:
        if (argument.kind == Kind::kVariable) return operand_of(argument.handle);
        return tensor_argument(argument, core::DType::kInvalid, spec.name);
      case ParameterKind::kTyped:
        return tensor_argument(argument, spec.dtype, spec.name);
      case ParameterKind::kIndex:
      case ParameterKind::kCount:
        return index(spec, argument);
      case ParameterKind::kTensors:
      case ParameterKind::kMixed:
        return operands(spec, argument);
      case ParameterKind::kInt:
        return integer(spec, argument);
      case ParameterKind::kFloat:
        return real(spec, argument);
      case ParameterKind::kBool:
      case ParameterKind::kFlag:
        if (argument.kind != Kind::kBoolean) refuse(spec, "must be a bool");
        return argument.integer != 0;
      case ParameterKind::kString:
      case ParameterKind::kName:
        return text(spec, argument);
      case ParameterKind::kType:
        return dtype(spec, argument);
      case ParameterKind::kInts:
        return integer_list(argument, spec.name);
      case ParameterKind::kAxis:
      case ParameterKind::kDimension:
        if (argument.kind == Kind::kInteger) return argument.integer;
        if (argument.kind == Kind::kIntegers || argument.kind == Kind::kNumbers) {
          return integer_list(argument, spec.name);
        }
        return index(spec, argument);
      case ParameterKind::kShape:
      case ParameterKind::kDims:
      case ParameterKind::kDimVector:
        return shape(spec, argument);
      case ParameterKind::kOption:
        if (argument.kind == Kind::kInteger) return argument.integer;
        if (argument.kind == Kind::kReal) return argument.real;
        return text(spec, argument);
      case ParameterKind::kPadding:
        if (argument.kind == Kind::kText) return text(spec, argument);
        return index(spec, argument);
      default:
        refuse(spec, "cannot be given here");
    }
  }

  core::AttributeValue attribute(const ParameterSpec& spec, const Argument& argument) {
    switch (spec.kind) {
      case ParameterKind::kBool:
        if (argument.kind != Kind::kBoolean) refuse(spec, "must be a bool");
        return argument.integer != 0;
      case ParameterKind::kInt:
        return integer(spec, argument);
      case ParameterKind::kFloat:
        return real(spec, argument);
      case ParameterKind::kString:
        return text(spec, argument);
      case ParameterKind::kType:
        return dtype(spec, argument);
      case ParameterKind::kInts:
        return integer_list(argument, spec.name);
      case ParameterKind::kStaticShape:
        return core::PartialShape(std::span<const core::Dim>(integer_list(argument, spec.name)));
      case ParameterKind::kConstant: {
        core::Operand operand = tensor_argument(argument, core::DType::kInvalid, spec.name);
        if (!operand.is_tensor()) refuse(spec, "must be an eager tensor");
        return operand.tensor();
      }
      default:
        refuse(spec, "cannot be given here");
    }
  }

 private:
  [[noreturn]] void refuse(const ParameterSpec& spec, std::string_view what) const {
    throw core::Error(core::Code::kInvalidArgument,
                      fmt::format("argument '{}' of {} {}", spec.name, function_, what))
        .with_argument(spec.name);
  }

  void look_at(int variable, const Argument& argument) {
    core::DType& dtype = dtypes_[static_cast<size_t>(variable)];
    if (dtype == core::DType::kInvalid && has_dtype(argument)) dtype = dtype_of_argument(argument);
  }

  // Where the row leaves one dtype only.
  core::DType only_dtype(int variable) const {
    uint32_t bits = list_.allowed[static_cast<size_t>(variable)].bits();
    return bits && !(bits & (bits - 1)) ? static_cast<core::DType>(__builtin_ctz(bits))
                                        : core::DType::kInvalid;
  }

  core::Operand variable_operand(const ParameterSpec& spec, const Argument& argument) {
    core::DType wanted = dtypes_[static_cast<size_t>(spec.variable)];
    if (wanted == core::DType::kInvalid && reals_ >> spec.variable & 1u) {
      wanted = core::DType::kFloat;
    }
    return tensor_argument(argument, wanted, spec.name);
  }

  // Integers are int32 where they fit.
  core::Operand index(const ParameterSpec& spec, const Argument& argument) const {
    if (has_dtype(argument)) {
      core::Operand operand = tensor_argument(argument, core::DType::kInvalid, spec.name);
      if (!core::kIndex.contains(core::dtype_of(operand))) {
        refuse(spec, fmt::format("must be int32 or int64, not {}",
                                 core::dtype_name(core::dtype_of(operand))));
      }
      return operand;
    }
    bool small = true;
    for (int64_t number : integer_list(argument, spec.name)) {
      small = small && number >= INT32_MIN && number <= INT32_MAX;
    }
    return tensor_argument(argument, small ? core::DType::kInt32 : core::DType::kInt64, spec.name);
  }

  core::Operand shape(const ParameterSpec& spec, const Argument& argument) const {
    core::Operand operand = index(spec, argument);
    // One number is the shape of a vector.
    if (argument.kind == Kind::kInteger) {
      int64_t one = 1;
      return operand.tensor().reshaped(std::span(&one, 1));
    }
    return operand;
  }

  core::OperandVector operands(const ParameterSpec& spec, const Argument& argument) {
    core::OperandVector result;
    if (argument.kind != Kind::kArguments) {
      core::Operand operand = tensor_argument(argument, core::DType::kInvalid, spec.name);
      if (spec.kind == ParameterKind::kMixed || function_ == "concat") return {operand};
      // One tensor instead of a list stands for its slices along the first dimension.
      core::PartialShape dims = core::shape_of(operand);
      if (!dims.has_rank() || dims.rank() == 0 || !core::is_known(dims.dim(0))) {
        refuse(spec, "must be a list of tensors, or a tensor whose first dimension is known");
      }
      const core::OpDef& unpack = core::get_op("Unpack");
      return core::current_builder().op_outputs(
          "Unpack", std::vector<core::Operand>{operand},
          core::named_attributes(unpack, {{"num", static_cast<int64_t>(dims.dim(0))}}));
    }
    for (const Argument& item : items_of(argument)) {
      result.push_back(spec.variable >= 0 ? variable_operand(spec, item)
                                          : tensor_argument(item, spec.dtype, spec.name));
    }
    return result;
  }

  int64_t integer(const ParameterSpec& spec, const Argument& argument) const {
    if (argument.kind != Kind::kInteger) refuse(spec, "must be an integer");
    return argument.integer;
  }
  double real(const ParameterSpec& spec, const Argument& argument) const {
    if (argument.kind == Kind::kInteger) return static_cast<double>(argument.integer);
    if (argument.kind != Kind::kReal) refuse(spec, "must be a number");
    return argument.real;
  }
  std::string text(const ParameterSpec& spec, const Argument& argument) const {
    if (argument.kind != Kind::kText) refuse(spec, "must be a text");
    return {static_cast<const char*>(argument.data), static_cast<size_t>(argument.size)};
  }
  core::DType dtype(const ParameterSpec& spec, const Argument& argument) const {
    if (argument.kind != Kind::kDType) refuse(spec, "must be a dtype");
    return core_dtype(static_cast<DType>(argument.integer));
  }

  std::string_view function_;
  const core::ParameterList& list_;
  std::vector<core::DType> dtypes_;  // of each type variable
  uint32_t reals_ = 0;               // type variables given a real number
};

// Defaults where the caller, made for an older library, gave fewer arguments.
std::vector<Argument> with_defaults(std::string_view function, const core::ParameterList& list,
                                    std::span<const Argument> given) {
  std::vector<Argument> all(given.begin(), given.end());
  size_t position = 0;
  for (const ParameterSpec& spec : list.parameters) {
    if (spec.kind == ParameterKind::kName) continue;
    if (position++ < given.size()) continue;
    if (!spec.has_default) {
      core::throw_invalid_argument(
          fmt::format("{} needs an argument '{}', which was not given", function, spec.name));
    }
    all.push_back(default_argument(spec));
  }
  if (position < given.size()) {
    throw core::Error(core::Code::kUnimplemented,
                      fmt::format("{} takes {} arguments in this library, but {} were given",
                                  function, position, given.size()));
  }
  return all;
}

core::OperandVector call_op(const Row& row, std::string_view function,
                            std::span<const Argument> given, std::string_view name) {
  std::vector<Argument> all = with_defaults(function, row.list, given);
  Converter converter(function, row.list, all);
  core::Attributes attributes;
  core::OperandVector inputs, outputs;
  auto convert = [&] {
    size_t position = 0;
    for (const ParameterSpec& spec : row.list.parameters) {
      if (spec.kind == ParameterKind::kName) continue;
      const Argument& argument = all[position++];
      if (spec.attribute >= 0) {
        if (position > given.size()) continue;  // the row has the default
        core::AttributeValue value = converter.attribute(spec, argument);
        core::check_attribute(*row.op, spec.attribute, value);
        attributes.set(spec.attribute, std::move(value));
        continue;
      }
      core::Argument converted = converter.convert(spec, argument);
      if (auto* operand = std::get_if<core::Operand>(&converted)) {
        inputs.push_back(*operand);
      } else if (auto* list = std::get_if<core::OperandVector>(&converted)) {
        inputs.insert(inputs.end(), list->begin(), list->end());
      }
    }
  };
  convert();
  core::current_builder().apply(*row.op, inputs, attributes, outputs, name);
  return outputs;
}

core::CallResult call_function_row(const Row& row, std::string_view function,
                                   std::span<const Argument> given, std::string_view name) {
  std::vector<Argument> all = with_defaults(function, row.list, given);
  Converter converter(function, row.list, all);
  core::Builder& builder = core::current_builder();
  auto call = [&](std::string_view node_name) {
    std::vector<core::Argument> arguments;
    size_t position = 0;
    for (const ParameterSpec& spec : row.list.parameters) {
      if (spec.kind == ParameterKind::kName) {
        arguments.emplace_back(core::NoneValue{});
      } else {
        arguments.push_back(converter.convert(spec, all[position++]));
      }
    }
    core::CallContext context(builder, *row.function, arguments, node_name);
    return row.function->body(context);
  };
  if (builder.is_eager() || row.function->node_name.empty()) return call(name);
  core::NameScopeGuard scope(builder, name.empty() ? row.function->node_name : name);
  return call(core::kScopeName);
}

core::CallResult call_row(std::string_view function, std::span<const Argument> given,
                          std::string_view name) {
  const Row& row = row_of(function);
  if (row.function) return call_function_row(row, function, given, name);
  core::OperandVector outputs = call_op(row, function, given, name);
  if (row.op->signature.output_count == 1 && outputs.size() == 1) return outputs.front();
  return outputs;
}

Site first_site(const Argument* arguments, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].site.file) return arguments[i].site;
    if (arguments[i].kind != Kind::kArguments) continue;
    for (const Argument& item : items_of(arguments[i])) {
      if (item.site.file) return item.site;
    }
  }
  return {};
}

struct OperatorRow {
  const char* function;
  const char* op;  // of the short way
};
constexpr OperatorRow kOperators[] = {
    {"add", "AddV2"},
    {"subtract", "Sub"},
    {"multiply", "Mul"},
    {"divide", "RealDiv"},
    {"math.mod", "FloorMod"},
    {"equal", "Equal"},
    {"not_equal", "NotEqual"},
    {"less", "Less"},
    {"less_equal", "LessEqual"},
    {"greater", "Greater"},
    {"greater_equal", "GreaterEqual"},
    {"logical_and", "LogicalAnd"},
    {"logical_or", "LogicalOr"},
    {"negative", "Neg"},
    {"logical_not", "LogicalNot"},
};

// Of two tensors, or a tensor and a number, eagerly: null where the row has more to do.
Handle* apply_short_way(Operator op, const Argument& left, const Argument& right) {
  static auto* const ops = [] {
    auto* found = new std::array<const core::OpDef*, std::size(kOperators)>();
    for (size_t i = 0; i < std::size(kOperators); ++i) {
      (*found)[i] = core::find_op(kOperators[i].op);
    }
    return found;
  }();
  const Argument& typed = left.kind == Kind::kTensor ? left : right;
  if (typed.kind != Kind::kTensor) return nullptr;
  core::Operand first = operand_of(typed.handle);
  if (!first.is_tensor()) return nullptr;
  core::DType dtype = first.tensor().dtype();
  auto operand = [&](const Argument& argument) -> core::Operand {
    bool is_number = argument.kind == Kind::kInteger || argument.kind == Kind::kReal;
    if (argument.kind != Kind::kTensor && !is_number) return {};
    return tensor_argument(argument, dtype, {});
  };
  // Division of integers is the row's to convert.
  if (op == Operator::kDivide && !core::is_floating(dtype)) return nullptr;
  core::Operand a = operand(left), b = operand(right);
  const core::OpDef* fast = (*ops)[static_cast<size_t>(op)];
  if (!fast || !a.is_tensor() || !b.is_tensor()) return nullptr;
  core::TensorImpl* result = core::try_fast_binary(*fast, a.impl(), b.impl());
  return result ? handle_of(core::Tensor::adopt(result)) : nullptr;
}

}  // namespace

Handle* call_one(const char* function, const Argument* arguments, size_t count, const char* name) {
  return guarded(first_site(arguments, count), [&]() -> Handle* {
    if (core::thread_state.bits == 0 && count == 1 && arguments[0].kind == Kind::kTensor) {
      const core::OpDef* op = row_of(function).op;
      core::Operand operand = operand_of(arguments[0].handle);
      if (op && operand.is_tensor() && op->compute.kind == core::ComputeKind::kFormula) {
        if (core::TensorImpl* result = core::try_fast_unary(*op, operand.impl())) {
          return handle_of(core::Tensor::adopt(result));
        }
      }
    }
    core::CallResult result = call_row(function, std::span(arguments, count), name);
    if (auto* operand = std::get_if<core::Operand>(&result)) return handle_of(*operand);
    if (auto* operands = std::get_if<core::OperandVector>(&result)) {
      core::throw_internal(
          fmt::format("{} gave {} tensors instead of one", function, operands->size()));
    }
    return nullptr;
  });
}

void call_many(const char* function, const Argument* arguments, size_t count, const char* name,
               HandleSink sink, void* target) {
  guarded(first_site(arguments, count), [&] {
    core::CallResult result = call_row(function, std::span(arguments, count), name);
    if (auto* operand = std::get_if<core::Operand>(&result)) sink(target, handle_of(*operand));
    if (auto* operands = std::get_if<core::OperandVector>(&result)) {
      for (const core::Operand& item : *operands) sink(target, handle_of(item));
    }
  });
}

Handle* apply(Operator op, const Argument* operands, size_t count) {
  return guarded(first_site(operands, count), [&]() -> Handle* {
    if (core::thread_state.bits == 0 && count == 2) {
      if (Handle* result = apply_short_way(op, operands[0], operands[1])) return result;
    }
    core::CallResult result =
        call_row(kOperators[static_cast<size_t>(op)].function, std::span(operands, count), {});
    return handle_of(std::get<core::Operand>(result));
  });
}

Handle* element(Handle* tensor, const Argument& index) {
  return guarded(index.site, [&] {
    core::Builder& builder = core::current_builder();
    core::Operand position = tensor_argument(index, core::DType::kInt32, "index");
    if (!core::kIndex.contains(core::dtype_of(position))) {
      core::throw_invalid_argument(fmt::format("a tensor is indexed by an int32 or int64, not {}",
                                               core::dtype_name(core::dtype_of(position))));
    }
    if (core::shape_of(position).has_rank() && core::shape_of(position).rank() != 0) {
      core::throw_invalid_argument("a tensor is indexed by one integer; gather takes several");
    }
    core::DType dtype = core::dtype_of(position);
    core::Operand one = builder.scalar(1, dtype);
    auto vector = [&](const core::Operand& scalar) {
      return builder.op("ExpandDims", {scalar, core::Tensor::int32_scalar(0)});
    };
    // A shrunk axis takes one row whatever the end says.
    core::Operand begin = vector(position), end = vector(builder.op("AddV2", {position, one}));
    const core::OpDef& slice = core::get_op("StridedSlice");
    return handle_of(builder.op("StridedSlice", {operand_of(tensor), begin, end, vector(one)},
                                core::named_attributes(slice, {{"shrink_axis_mask", int64_t{1}}})));
  });
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
