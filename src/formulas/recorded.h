// The recording number type: running a formula on it yields the formula as an ExpressionGraph. It
// has the vocabulary of formulas/vector.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "formulas/expression.h"
#include "formulas/isa.h"

#define GW_INLINE inline

namespace graphwright::recording {

// The graph that this thread records into, while there is one.
class Recorder {
 public:
  explicit Recorder(ExpressionGraph& graph);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  ExpressionGraph* outer_;
};

// Adds a node, or finds the same one. Needs a Recorder.
int32_t record_node(const ExpressionNode& node);
int32_t record(ExpressionOp op, DType type, int32_t a, int32_t b = -1, int32_t c = -1);
int32_t record_constant(DType type, uint64_t bits);
int32_t record_argument(DType type, int index, int part);

template <class T>
constexpr DType dtype_of_scalar() {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat;
  if constexpr (std::is_same_v<T, double>) return DType::kDouble;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kInt8;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kUint8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kInt16;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kUint16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kUint32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kUint64;
}

template <class T>
struct Recorded {
  using Element = T;
  int32_t id;
};
struct RecordedMask {
  int32_t id;
};

template <class V>
using ElementOf = typename V::Element;
template <class V>
using MaskOf = RecordedMask;
template <class V, class T>
using WithElement = Recorded<T>;
template <class T>
using SignedOf =
    std::conditional_t<sizeof(T) == 8, int64_t,
                       std::conditional_t<sizeof(T) == 4, int32_t,
                                          std::conditional_t<sizeof(T) == 2, int16_t, int8_t>>>;
template <class T>
using UnsignedOf = std::make_unsigned_t<SignedOf<T>>;
template <class V>
using IntegerOf = Recorded<SignedOf<ElementOf<V>>>;

template <class T>
uint64_t scalar_bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T scalar_from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class V, class X>
V constant(X value) {
  using T = ElementOf<V>;
  return {record_constant(dtype_of_scalar<T>(), scalar_bits(static_cast<T>(value)))};
}

#define GW_RECORDED_BINARY(op, node)                                       \
  template <class T>                                                       \
  Recorded<T> operator op(Recorded<T> a, Recorded<T> b) {                  \
    return {record(ExpressionOp::node, dtype_of_scalar<T>(), a.id, b.id)}; \
  }
GW_RECORDED_BINARY(+, kAdd)
GW_RECORDED_BINARY(-, kSubtract)
GW_RECORDED_BINARY(*, kMultiply)
GW_RECORDED_BINARY(/, kDivide)
GW_RECORDED_BINARY(&, kAnd)
GW_RECORDED_BINARY(|, kOr)
GW_RECORDED_BINARY(^, kXor)
GW_RECORDED_BINARY(<<, kShiftLeft)
GW_RECORDED_BINARY(>>, kShiftRight)
#undef GW_RECORDED_BINARY

#define GW_RECORDED_UNARY(name, node)                                \
  template <class T>                                                 \
  Recorded<T> name(Recorded<T> a) {                                  \
    return {record(ExpressionOp::node, dtype_of_scalar<T>(), a.id)}; \
  }
GW_RECORDED_UNARY(operator-, kNegate)
GW_RECORDED_UNARY(operator~, kNot)
GW_RECORDED_UNARY(sqrt, kSquareRoot)
GW_RECORDED_UNARY(round_to_even, kRoundToEven)
GW_RECORDED_UNARY(floor, kFloor)
GW_RECORDED_UNARY(ceil, kCeil)
GW_RECORDED_UNARY(trunc, kTruncate)
GW_RECORDED_UNARY(abs, kAbsolute)
#undef GW_RECORDED_UNARY

template <class T>
Recorded<T> operator<<(Recorded<T> a, int count) {
  return a << constant<Recorded<T>>(count);
}
template <class T>
Recorded<T> operator>>(Recorded<T> a, int count) {
  return a >> constant<Recorded<T>>(count);
}

inline RecordedMask record_mask(ExpressionOp op, int32_t a, int32_t b = -1) {
  return {record(op, DType::kBool, a, b)};
}
template <class T>
RecordedMask operator==(Recorded<T> a, Recorded<T> b) {
  return record_mask(ExpressionOp::kEqual, a.id, b.id);
}
template <class T>
RecordedMask operator<(Recorded<T> a, Recorded<T> b) {
  return record_mask(ExpressionOp::kLess, a.id, b.id);
}
template <class T>
RecordedMask operator<=(Recorded<T> a, Recorded<T> b) {
  return record_mask(ExpressionOp::kLessEqual, a.id, b.id);
}
template <class T>
RecordedMask operator>(Recorded<T> a, Recorded<T> b) {
  return b < a;
}
template <class T>
RecordedMask operator>=(Recorded<T> a, Recorded<T> b) {
  return b <= a;
}
inline RecordedMask operator!(RecordedMask a) { return record_mask(ExpressionOp::kNot, a.id); }
inline RecordedMask operator&(RecordedMask a, RecordedMask b) {
  return record_mask(ExpressionOp::kAnd, a.id, b.id);
}
inline RecordedMask operator|(RecordedMask a, RecordedMask b) {
  return record_mask(ExpressionOp::kOr, a.id, b.id);
}
inline RecordedMask operator^(RecordedMask a, RecordedMask b) {
  return record_mask(ExpressionOp::kXor, a.id, b.id);
}
template <class T>
RecordedMask operator!=(Recorded<T> a, Recorded<T> b) {
  return !(a == b);
}

template <class T>
Recorded<T> select(RecordedMask mask, Recorded<T> a, Recorded<T> b) {
  return {record(ExpressionOp::kSelect, dtype_of_scalar<T>(), mask.id, a.id, b.id)};
}
template <class T>
Recorded<T> fma(Recorded<T> a, Recorded<T> b, Recorded<T> c) {
  return {record(ExpressionOp::kFusedMultiplyAdd, dtype_of_scalar<T>(), a.id, b.id, c.id)};
}
template <class To, class T>
To bit_cast(Recorded<T> a) {
  static_assert(sizeof(ElementOf<To>) == sizeof(T));
  if constexpr (std::is_same_v<ElementOf<To>, T>) return a;
  return {record(ExpressionOp::kBitCast, dtype_of_scalar<ElementOf<To>>(), a.id)};
}
template <class To, class T>
To convert(Recorded<T> a) {
  if constexpr (std::is_same_v<ElementOf<To>, T>) return a;
  return {record(ExpressionOp::kConvert, dtype_of_scalar<ElementOf<To>>(), a.id)};
}

// A ScalarFunction for arguments of type T.
template <class Function, class T, int Arity>
const ScalarFunction* scalar_function() {
  static constexpr ScalarFunction kFunction{
      Function::kName, Arity, +[](const uint64_t* arguments) {
        if constexpr (Arity == 1) {
          return scalar_bits<T>(Function::call(scalar_from_bits<T>(arguments[0])));
        } else {
          return scalar_bits<T>(
              Function::call(scalar_from_bits<T>(arguments[0]), scalar_from_bits<T>(arguments[1])));
        }
      }};
  return &kFunction;
}

template <class Function, class T, class... Rest>
Recorded<T> call_lanes(Recorded<T> first, Rest... rest) {
  ExpressionNode node{.op = ExpressionOp::kCall,
                      .type = dtype_of_scalar<T>(),
                      .operands = {first.id, rest.id...},
                      .function = scalar_function<Function, T, 1 + sizeof...(Rest)>()};
  for (size_t i = 1 + sizeof...(Rest); i < node.operands.size(); ++i) node.operands[i] = -1;
  return {record_node(node)};
}
template <class Function, class T>
Recorded<T> call_rare_lanes(RecordedMask mask, Recorded<T> x, Recorded<T> otherwise) {
  return select(mask, call_lanes<Function>(x), otherwise);
}

template <class Function, class... Rest>
Recorded<float> in_double(Function function, Recorded<float> first, Rest... rest) {
  return convert<Recorded<float>>(
      function(convert<Recorded<double>>(first), convert<Recorded<double>>(rest)...));
}

}  // namespace graphwright::recording
