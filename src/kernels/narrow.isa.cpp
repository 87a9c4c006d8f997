#include "kernels/narrow.h"

namespace graphwright::GW_NUMBERS {

namespace {

template <DType Type>
void widen_run(const char* from, char* to, int64_t count) {
  constexpr int N = kVectorBytes / 4;
  using Stored = NarrowStorage<Type>;
  int64_t i = 0;
  for (; i + N <= count; i += N) {
    auto wide = widen<Type>(Lanes<Vec<Stored, N>>::load(from + i * sizeof(Stored)));
    Lanes<decltype(wide)>::store(to + i * 4, wide);
  }
  for (; i < count; ++i) {
    auto wide = widen<Type>(Lanes<Vec<Stored, 1>>::load(from + i * sizeof(Stored)));
    Lanes<decltype(wide)>::store(to + i * 4, wide);
  }
}

template <DType Type>
void narrow_run(const char* from, char* to, int64_t count) {
  constexpr int N = kVectorBytes / 4;
  using Stored = NarrowStorage<Type>;
  using Wide = typename NativeElement<computing_type(Type)>::Scalar;
  int64_t i = 0;
  for (; i + N <= count; i += N) {
    auto stored = narrow<Type>(Lanes<Vec<Wide, N>>::load(from + i * 4));
    Lanes<decltype(stored)>::store(to + i * sizeof(Stored), stored);
  }
  for (; i < count; ++i) {
    auto stored = narrow<Type>(Lanes<Vec<Wide, 1>>::load(from + i * 4));
    Lanes<decltype(stored)>::store(to + i * sizeof(Stored), stored);
  }
}

constexpr int64_t kBlock = 256;

constexpr int64_t element_bytes(DType type) {
  switch (type) {
    case DType::kHalf:
    case DType::kBfloat16:
    case DType::kInt16:
    case DType::kUint16:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

#define GW_NARROW_CASES(run)                                   \
  switch (type) {                                              \
    case DType::kHalf:                                         \
      return run<DType::kHalf>(source, target, count);         \
    case DType::kBfloat16:                                     \
      return run<DType::kBfloat16>(source, target, count);     \
    case DType::kFloat8E5m2:                                   \
      return run<DType::kFloat8E5m2>(source, target, count);   \
    case DType::kFloat8E4m3fn:                                 \
      return run<DType::kFloat8E4m3fn>(source, target, count); \
    case DType::kInt8:                                         \
      return run<DType::kInt8>(source, target, count);         \
    case DType::kInt16:                                        \
      return run<DType::kInt16>(source, target, count);        \
    case DType::kUint8:                                        \
      return run<DType::kUint8>(source, target, count);        \
    default:                                                   \
      return run<DType::kUint16>(source, target, count);       \
  }

void widen_elements(DType type, const void* from, void* to, int64_t count) {
  const char* source = static_cast<const char*>(from);
  char* target = static_cast<char*>(to);
  GW_NARROW_CASES(widen_run)
}

void narrow_elements(DType type, const void* from, void* to, int64_t count) {
  const char* source = static_cast<const char*>(from);
  char* target = static_cast<char*>(to);
  GW_NARROW_CASES(narrow_run)
}

int64_t run_narrow(ElementwiseKernel kernel, const FormulaSignature& signature, DType type,
                   void* out, const void* const* operands, const int64_t* steps, int64_t n) {
  alignas(64) char wide[kMaxFormulaOperands][kBlock * 4];
  alignas(64) char wide_result[kBlock * 4];
  const void* block_operands[kMaxFormulaOperands] = {};
  const int64_t bytes = element_bytes(type);
  const bool mask_result = signature.result == OperandRole::kMask;
  for (int k = 0; k < signature.arity; ++k) {
    if (steps[k] != 0) continue;
    if (signature.operands[k] == OperandRole::kMask) {
      block_operands[k] = operands[k];
    } else {
      widen_elements(type, operands[k], wide[k], 1);
      block_operands[k] = wide[k];
    }
  }
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = n - start < kBlock ? n - start : kBlock;
    for (int k = 0; k < signature.arity; ++k) {
      if (steps[k] == 0) continue;
      const char* operand = static_cast<const char*>(operands[k]);
      if (signature.operands[k] == OperandRole::kMask) {
        block_operands[k] = operand + start;
      } else {
        widen_elements(type, operand + start * bytes, wide[k], count);
        block_operands[k] = wide[k];
      }
    }
    char* result = static_cast<char*>(out) + start * (mask_result ? 1 : bytes);
    int64_t error = kernel(mask_result ? result : wide_result, block_operands, steps, count);
    if (!mask_result) narrow_elements(type, wide_result, result, error >= 0 ? error : count);
    if (error >= 0) return start + error;
  }
  return -1;
}

}  // namespace graphwright::GW_NUMBERS
