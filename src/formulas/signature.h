// What a formula takes and gives.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace graphwright {

enum class OperandRole : uint8_t {
  kValue,  // the formula's dtype T
  kMask,   // bool
  kReal,   // the type of T's real part, for complex T
};

inline constexpr int kMaxFormulaOperands = 3;

struct FormulaSignature {
  int arity = 0;
  OperandRole operands[kMaxFormulaOperands] = {};
  OperandRole result = OperandRole::kValue;
  DTypeSet types;  // the dtypes T that the formula is defined for
};

// The dtype that an operand of a formula of dtype T has.
constexpr DType operand_dtype(OperandRole role, DType type) {
  if (role == OperandRole::kMask) return DType::kBool;
  if (role == OperandRole::kReal && type == DType::kComplex64) return DType::kFloat;
  if (role == OperandRole::kReal && type == DType::kComplex128) return DType::kDouble;
  return type;
}

}  // namespace graphwright
