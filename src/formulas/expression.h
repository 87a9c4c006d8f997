// Scalar expressions: what a formula is when it runs on the recording number type. A graph without
// loops whose operations each have one exact result; the reference interpreter and compilers walk
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace graphwright {

enum class ExpressionOp : uint8_t {
  kArgument,  // operand `index`; of complex operands part `part` (0 real, 1 imaginary)
  kConstant,  // `bits`
  kAdd,       // integers wrap
  kSubtract,
  kMultiply,
  kDivide,  // floating types only
  kNegate,
  kAbsolute,
  kSquareRoot,
  kFusedMultiplyAdd,  // a * b + c, rounded once
  kRoundToEven,
  kFloor,
  kCeil,
  kTruncate,
  kAnd,  // bitwise; logical on bool
  kOr,
  kXor,
  kNot,
  kShiftLeft,   // counts lie in [0, bits)
  kShiftRight,  // keeps the sign of signed types
  kEqual,       // result is bool; NaN equals nothing
  kLess,
  kLessEqual,
  kSelect,   // a ? b : c, a is bool
  kBitCast,  // the same bits as `type`
  kConvert,  // to `type`; floating to integer towards zero, the value fits
  kCall,     // `function` of scalars of `type`
};

// A scalar function that needs a loop, and so cannot be part of a formula, for arguments and result
// of one type. `evaluate` takes and returns bits, zero-extended.
struct ScalarFunction {
  const char* name;
  int arity;
  uint64_t (*evaluate)(const uint64_t* arguments);
};

struct ExpressionNode {
  ExpressionOp op = ExpressionOp::kConstant;
  DType type = DType::kInvalid;  // of the result: kFloat, kDouble, kBool or an integer type
  uint8_t index = 0;             // kArgument
  uint8_t part = 0;              // kArgument
  std::array<int32_t, 3> operands{-1, -1, -1};  // nodes that come before this one
  uint64_t bits = 0;                            // kConstant: the value's bits, zero-extended
  const ScalarFunction* function = nullptr;     // kCall
  bool operator==(const ExpressionNode&) const = default;
};

struct ExpressionGraph {
  std::vector<DType> argument_types;  // of the operands
  DType result_type = DType::kInvalid;
  std::vector<ExpressionNode> nodes;       // operands first
  std::array<int32_t, 2> results{-1, -1};  // the value; complex results: real and imaginary part
  int32_t error = -1;  // a bool node: the element is in error and its value means nothing
  // One node a line, for tests and debugging.
  std::string to_string() const;
};

}  // namespace graphwright
