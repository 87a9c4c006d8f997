// Bases that state what a formula takes and gives. A formula is a struct like
//
//   struct Hypotenuse : Binary {
//     static constexpr DTypeSet kTypes = kReal32And64;
//     template <class V> static V apply(V x, V y) { return sqrt(x * x + y * y); }
//   };
//
// over any number type V, real or complex (formulas/number.h has the vocabulary). It must not loop
// (call_lanes is for what has to), so that it can be recorded. Where elements may be in error it
// also has `template <class V> static MaskOf<V> error(V x, V y)`, used for integer types; apply
// must give some value there. kErrorMessage says what was wrong, if not a division by zero.
//
// Narrow types (half, bfloat16, float8, integers of 8 and 16 bits) compute in float32, int32 or
// uint32 and are rounded, or wrapped, at the end.
#pragma once

#include "formulas/complex.h"
#include "formulas/number.h"
#include "formulas/signature.h"

namespace graphwright::GW_NUMBERS {

template <OperandRole Result, OperandRole... Operands>
struct Formula {
  static constexpr int kArity = sizeof...(Operands);
  static constexpr OperandRole kResult = Result;
  static constexpr OperandRole kOperands[sizeof...(Operands)] = {Operands...};
  // Signed and unsigned integers of a size give the same bits, so that one kernel serves both.
  static constexpr bool kSignAgnostic = false;
};

using Unary = Formula<OperandRole::kValue, OperandRole::kValue>;
using Binary = Formula<OperandRole::kValue, OperandRole::kValue, OperandRole::kValue>;
using Ternary =
    Formula<OperandRole::kValue, OperandRole::kValue, OperandRole::kValue, OperandRole::kValue>;
using Predicate = Formula<OperandRole::kMask, OperandRole::kValue>;
using Comparison = Formula<OperandRole::kMask, OperandRole::kValue, OperandRole::kValue>;
using LogicalUnary = Formula<OperandRole::kMask, OperandRole::kMask>;
using LogicalBinary = Formula<OperandRole::kMask, OperandRole::kMask, OperandRole::kMask>;

template <class F>
constexpr FormulaSignature signature_of() {
  FormulaSignature signature{
      .arity = F::kArity, .operands = {}, .result = F::kResult, .types = F::kTypes};
  for (int i = 0; i < F::kArity; ++i) signature.operands[i] = F::kOperands[i];
  return signature;
}

// How elements of a dtype are computed.
template <DType Type>
struct NativeElement {
  using Scalar = void;
  static constexpr bool kIsNative = false;
  static constexpr bool kIsComplexNumber = false;
};
template <class T, bool IsComplex = false>
struct NativeElementBase {
  using Scalar = T;  // of a complex number: of its parts
  static constexpr bool kIsNative = true;
  static constexpr bool kIsComplexNumber = IsComplex;
};
template <>
struct NativeElement<DType::kFloat> : NativeElementBase<float> {};
template <>
struct NativeElement<DType::kDouble> : NativeElementBase<double> {};
template <>
struct NativeElement<DType::kInt32> : NativeElementBase<int32_t> {};
template <>
struct NativeElement<DType::kInt64> : NativeElementBase<int64_t> {};
template <>
struct NativeElement<DType::kUint32> : NativeElementBase<uint32_t> {};
template <>
struct NativeElement<DType::kUint64> : NativeElementBase<uint64_t> {};
template <>
struct NativeElement<DType::kBool> : NativeElementBase<uint8_t> {};
template <>
struct NativeElement<DType::kComplex64> : NativeElementBase<float, true> {};
template <>
struct NativeElement<DType::kComplex128> : NativeElementBase<double, true> {};

// The native dtype that a narrow one computes in; native ones compute in themselves.
constexpr DType computing_type(DType type) {
  switch (type) {
    case DType::kHalf:
    case DType::kBfloat16:
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
      return DType::kFloat;
    case DType::kInt8:
    case DType::kInt16:
      return DType::kInt32;
    case DType::kUint8:
    case DType::kUint16:
      return DType::kUint32;
    default:
      return type;
  }
}

}  // namespace graphwright::GW_NUMBERS
