#include "api/numbers.h"

#include <fmt/format.h>
#include <graphwright/input.h>

#include "api/variables.h"
#include "ir/builder.h"
#include "kernels/cast.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {
namespace {

using Kind = Argument::Kind;

[[noreturn]] void refuse(std::string_view parameter, std::string message) {
  core::Error error(core::Code::kInvalidArgument, std::move(message));
  if (!parameter.empty()) error.with_argument(parameter);
  throw error;
}

// Smallest and largest number of an integer dtype, as far as int64 goes.
std::pair<int64_t, int64_t> range_of(core::DType dtype) {
  switch (dtype) {
    case core::DType::kInt8:
      return {INT8_MIN, INT8_MAX};
    case core::DType::kUint8:
      return {0, UINT8_MAX};
    case core::DType::kInt16:
      return {INT16_MIN, INT16_MAX};
    case core::DType::kUint16:
      return {0, UINT16_MAX};
    case core::DType::kInt32:
      return {INT32_MIN, INT32_MAX};
    case core::DType::kUint32:
      return {0, UINT32_MAX};
    case core::DType::kUint64:
      return {0, INT64_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

core::Tensor cast(const core::Tensor& tensor, core::DType dtype) {
  core::Tensor result = core::Tensor::empty(dtype, tensor.dims());
  core::cast_elements(tensor.dtype(), tensor.raw_data(), dtype, result.mutable_raw_data(),
                      tensor.element_count());
  return result;
}

core::Tensor integers_as(const core::Tensor& numbers, core::DType dtype,
                         std::string_view parameter) {
  if (!core::kNumeric.contains(dtype)) {
    refuse(parameter, fmt::format("an integer is no {}", core::dtype_name(dtype)));
  }
  if (core::is_integer(dtype)) {
    auto [low, high] = range_of(dtype);
    for (int64_t number : numbers.elements<int64_t>()) {
      if (number < low || number > high) {
        refuse(parameter, fmt::format("{} does not fit in {}", number, core::dtype_name(dtype)));
      }
    }
  }
  return dtype == core::DType::kInt64 ? numbers : cast(numbers, dtype);
}

core::Tensor real_as(double number, core::DType dtype, std::string_view parameter) {
  if (!(core::kFloating | core::kFloat8 | core::kComplex).contains(dtype)) {
    refuse(parameter, fmt::format("{} is no {}: cast the other operand, or give an integer", number,
                                  core::dtype_name(dtype)));
  }
  return cast(core::Tensor::scalar(core::DType::kDouble, number), dtype);
}

}  // namespace

bool has_dtype(const Argument& argument) {
  return argument.kind == Kind::kTensor || argument.kind == Kind::kVariable;
}

core::DType dtype_of_argument(const Argument& argument) {
  if (argument.kind == Kind::kVariable) return variable_of(argument.handle).dtype();
  return core::dtype_of(operand_of(argument.handle));
}

core::Operand tensor_argument(const Argument& argument, core::DType wanted,
                              std::string_view parameter) {
  auto or_default = [&](core::DType dtype) {
    return wanted == core::DType::kInvalid ? dtype : wanted;
  };
  switch (argument.kind) {
    case Kind::kTensor:
      return operand_of(argument.handle);
    case Kind::kVariable:
      return read(argument.handle);
    case Kind::kInteger:
      return integers_as(core::Tensor::int64_scalar(argument.integer),
                         or_default(core::DType::kInt32), parameter);
    case Kind::kIntegers:
      return integers_as(operand_of(argument.handle).tensor(), or_default(core::DType::kInt32),
                         parameter);
    case Kind::kReal:
      return real_as(argument.real, or_default(core::DType::kFloat), parameter);
    case Kind::kBoolean:
      if (or_default(core::DType::kBool) != core::DType::kBool) {
        refuse(parameter, fmt::format("a bool is no {}", core::dtype_name(wanted)));
      }
      return core::Tensor::bool_scalar(argument.integer != 0);
    case Kind::kNone:
      refuse(parameter, "an operand is missing where one is needed");
    default:
      refuse(parameter, "this is no tensor or number");
  }
}

std::vector<int64_t> integer_list(const Argument& argument, std::string_view parameter) {
  switch (argument.kind) {
    case Kind::kInteger:
      return {argument.integer};
    case Kind::kIntegers: {
      core::Tensor numbers = operand_of(argument.handle).tensor();
      std::span<const int64_t> elements = numbers.elements<int64_t>();
      return {elements.begin(), elements.end()};
    }
    case Kind::kNumbers: {
      const auto* numbers = static_cast<const int64_t*>(argument.data);
      return {numbers, numbers + argument.size};
    }
    default:
      refuse(parameter, "integers are needed here");
  }
}

Handle* to_tensor(const Argument& input, DType preferred) {
  return guarded(input.site, [&] {
    core::DType wanted =
        preferred == DType::kInvalid ? core::DType::kInvalid : core_dtype(preferred);
    return handle_of(tensor_argument(input, wanted, {}));
  });
}

Handle* make_integers(const int64_t* numbers, size_t count) {
  return guarded([&] {
    return handle_of(core::Tensor::vector(core::DType::kInt64, std::span(numbers, count)));
  });
}

Handle* make_shape(const int64_t* dims, int rank) {
  return guarded([&] {
    core::PartialShape shape = core_shape({dims, rank});
    if (!shape.is_fully_defined()) {
      core::throw_invalid_argument("the shape " + shape.to_string() +
                                   " is not wholly known, so it is no tensor");
    }
    return handle_of(core::Tensor::vector(core::DType::kInt64, shape.dims()));
  });
}

void fail_integer_range(uint64_t number) {
  guarded([&] { core::throw_invalid_argument(fmt::format("{} does not fit in int64", number)); });
  __builtin_unreachable();
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
