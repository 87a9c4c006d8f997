#include "loops/expression_interpreter.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "tensor/small_float.h"

namespace graphwright {

namespace {

template <class T>
T value_of(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

[[noreturn]] void not_defined(const ExpressionNode& node) {
  throw_internal("expression operation " + std::to_string(static_cast<int>(node.op)) +
                 " is not defined for " + std::string(dtype_name(node.type)));
}

// Calls visit with a zero of the C++ type of a node.
template <class Visit>
auto with_type(DType type, Visit visit) {
  switch (type) {
    case DType::kFloat:
      return visit(float{});
    case DType::kDouble:
      return visit(double{});
    case DType::kBool:
      return visit(bool{});
    case DType::kInt8:
      return visit(int8_t{});
    case DType::kInt16:
      return visit(int16_t{});
    case DType::kInt32:
      return visit(int32_t{});
    case DType::kInt64:
      return visit(int64_t{});
    case DType::kUint8:
      return visit(uint8_t{});
    case DType::kUint16:
      return visit(uint16_t{});
    case DType::kUint32:
      return visit(uint32_t{});
    case DType::kUint64:
      return visit(uint64_t{});
    default:
      throw_internal("expressions have no values of " + std::string(dtype_name(type)));
  }
}

template <class T>
T absolute(T a) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(a);
  } else if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    return a < 0 ? static_cast<T>(U{0} - static_cast<U>(a)) : a;
  } else {
    return a;
  }
}

template <class T>
T arithmetic(const ExpressionNode& node, T a, T b, T c) {
  if constexpr (std::is_same_v<T, bool>) {
    switch (node.op) {
      case ExpressionOp::kAnd:
        return a && b;
      case ExpressionOp::kOr:
        return a || b;
      case ExpressionOp::kXor:
        return a != b;
      case ExpressionOp::kNot:
        return !a;
      default:
        not_defined(node);
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    switch (node.op) {
      case ExpressionOp::kAdd:
        return a + b;
      case ExpressionOp::kSubtract:
        return a - b;
      case ExpressionOp::kMultiply:
        return a * b;
      case ExpressionOp::kDivide:
        return a / b;
      case ExpressionOp::kNegate:
        return -a;
      case ExpressionOp::kAbsolute:
        return absolute(a);
      case ExpressionOp::kSquareRoot:
        return std::sqrt(a);
      case ExpressionOp::kFusedMultiplyAdd:
        return std::fma(a, b, c);
      case ExpressionOp::kRoundToEven:
        return std::nearbyint(a);
      case ExpressionOp::kFloor:
        return std::floor(a);
      case ExpressionOp::kCeil:
        return std::ceil(a);
      case ExpressionOp::kTruncate:
        return std::trunc(a);
      default:
        not_defined(node);
    }
  } else {
    // Unsigned arithmetic wraps; 64 bits wide, so that narrow types are not promoted to int.
    const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    switch (node.op) {
      case ExpressionOp::kAdd:
        return static_cast<T>(x + y);
      case ExpressionOp::kSubtract:
        return static_cast<T>(x - y);
      case ExpressionOp::kMultiply:
        return static_cast<T>(x * y);
      case ExpressionOp::kNegate:
        return static_cast<T>(uint64_t{0} - x);
      case ExpressionOp::kAbsolute:
        return absolute(a);
      case ExpressionOp::kAnd:
        return static_cast<T>(x & y);
      case ExpressionOp::kOr:
        return static_cast<T>(x | y);
      case ExpressionOp::kXor:
        return static_cast<T>(x ^ y);
      case ExpressionOp::kNot:
        return static_cast<T>(~x);
      case ExpressionOp::kShiftLeft:
        return static_cast<T>(x << y);
      case ExpressionOp::kShiftRight:
        return static_cast<T>(a >> b);
      default:
        not_defined(node);
    }
  }
}

template <class T>
bool compare(const ExpressionNode& node, T a, T b) {
  switch (node.op) {
    case ExpressionOp::kEqual:
      return a == b;
    case ExpressionOp::kLess:
      return a < b;
    default:
      return a <= b;
  }
}

uint64_t evaluate(const ExpressionGraph& graph, const ExpressionNode& node,
                  const uint64_t* values) {
  uint64_t operands[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    if (node.operands[i] >= 0) operands[i] = values[node.operands[i]];
  }
  const auto operand_type = [&] { return graph.nodes[static_cast<size_t>(node.operands[0])].type; };
  switch (node.op) {
    case ExpressionOp::kConstant:
      return node.bits;
    case ExpressionOp::kSelect:
      return operands[0] & 1 ? operands[1] : operands[2];
    case ExpressionOp::kBitCast:
      return operands[0];
    case ExpressionOp::kCall:
      return node.function->evaluate(operands);
    case ExpressionOp::kEqual:
    case ExpressionOp::kLess:
    case ExpressionOp::kLessEqual:
      return with_type(operand_type(), [&](auto zero) -> uint64_t {
        using T = decltype(zero);
        return compare(node, value_of<T>(operands[0]), value_of<T>(operands[1]));
      });
    case ExpressionOp::kConvert:
      return with_type(operand_type(), [&](auto from) {
        return with_type(node.type, [&](auto to) {
          return bits_of(static_cast<decltype(to)>(value_of<decltype(from)>(operands[0])));
        });
      });
    default:
      return with_type(node.type, [&](auto zero) {
        using T = decltype(zero);
        return bits_of(arithmetic(node, value_of<T>(operands[0]), value_of<T>(operands[1]),
                                  value_of<T>(operands[2])));
      });
  }
}

// Element `index` of a tensor, as the bits of `type`, in which an expression computes.
uint64_t load_argument(DType stored, DType type, const void* data, int64_t index, int part) {
  const size_t size = dtype_size(stored);
  const char* element = static_cast<const char*>(data) + index * static_cast<int64_t>(size);
  if (is_complex(stored)) element += part * static_cast<int64_t>(size / 2);
  uint64_t bits = 0;
  if (stored == type || is_complex(stored)) {
    std::memcpy(&bits, element, dtype_size(type));
    return bits;
  }
  std::memcpy(&bits, element, size);
  switch (stored) {
    case DType::kHalf:
      return bits_of(half_to_float(static_cast<uint16_t>(bits)));
    case DType::kBfloat16:
      return bits_of(bfloat16_to_float(static_cast<uint16_t>(bits)));
    case DType::kFloat8E5m2:
      return bits_of(widen<Float8E5m2>(static_cast<uint8_t>(bits)));
    case DType::kFloat8E4m3fn:
      return bits_of(widen<Float8E4m3fn>(static_cast<uint8_t>(bits)));
    case DType::kInt8:
      return bits_of(static_cast<int32_t>(static_cast<int8_t>(bits)));
    case DType::kInt16:
      return bits_of(static_cast<int32_t>(static_cast<int16_t>(bits)));
    default:
      return bits;  // unsigned integers
  }
}

void store_result(DType stored, void* data, int64_t index, uint64_t bits) {
  const size_t size = dtype_size(stored);
  char* element = static_cast<char*>(data) + index * static_cast<int64_t>(size);
  switch (stored) {
    case DType::kHalf:
      bits = narrow<Half>(value_of<float>(bits));
      break;
    case DType::kBfloat16:
      bits = float_to_bfloat16(value_of<float>(bits));
      break;
    case DType::kFloat8E5m2:
      bits = narrow<Float8E5m2>(value_of<float>(bits));
      break;
    case DType::kFloat8E4m3fn:
      bits = narrow<Float8E4m3fn>(value_of<float>(bits));
      break;
    default:
      break;  // integers wrap
  }
  std::memcpy(element, &bits, size);
}

}  // namespace

int64_t interpret_expression(const ExpressionGraph& graph, void* result,
                             const void* const* operands, const int64_t* steps, int64_t count) {
  std::vector<uint64_t> values(graph.nodes.size());
  for (int64_t i = 0; i < count; ++i) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const ExpressionNode& node = graph.nodes[n];
      values[n] = node.op == ExpressionOp::kArgument
                      ? load_argument(graph.argument_types[node.index], node.type,
                                      operands[node.index], i * steps[node.index], node.part)
                      : evaluate(graph, node, values.data());
    }
    if (graph.error >= 0 && values[static_cast<size_t>(graph.error)]) return i;
    const uint64_t real = values[static_cast<size_t>(graph.results[0])];
    if (graph.results[1] < 0) {
      store_result(graph.result_type, result, i, real);
      continue;
    }
    const size_t part = dtype_size(graph.result_type) / 2;
    char* element = static_cast<char*>(result) + i * static_cast<int64_t>(2 * part);
    std::memcpy(element, &real, part);
    std::memcpy(element + part, &values[static_cast<size_t>(graph.results[1])], part);
  }
  return -1;
}

}  // namespace graphwright
