// Kernels from formulas, for the vector width that the file is compiled for.
#pragma once

#include <cstdint>

#include "formulas/formula.h"
#include "formulas/vector.h"
#include "kernels/formula_kernels.h"
#include "kernels/lanes.h"
#include "kernels/narrow.h"

namespace graphwright::GW_NUMBERS {

// The number type that a formula of dtype Type runs on, and that of each operand.
template <DType Type, int N>
struct NumberOf {
  using Real = Vec<typename NativeElement<Type>::Scalar, N>;
  using Value = std::conditional_t<NativeElement<Type>::kIsComplexNumber, Complex<Real>, Real>;
};
template <DType Type, int N, OperandRole Role>
using OperandNumber = std::conditional_t<
    Role == OperandRole::kValue, typename NumberOf<Type, N>::Value,
    std::conditional_t<Role == OperandRole::kMask, MaskOf<typename NumberOf<Type, N>::Real>,
                       typename NumberOf<Type, N>::Real>>;

template <DType Type>
inline constexpr int kLanesOf = kVectorBytes / sizeof(typename NativeElement<Type>::Scalar);

// Where a formula's operands come from while a kernel runs.
template <class F, DType Type, int Index>
struct OperandStream {
  using Number = OperandNumber<Type, kLanesOf<Type>, F::kOperands[Index]>;
  static constexpr int64_t kStride = Lanes<Number>::kBytes;
  const char* at;
  int64_t stride;

  // A repeated element is spread over one vector in `repeated` and read again and again, so that
  // one loop serves every combination of steps.
  GW_INLINE static OperandStream start(const void* operand, int64_t step, char* repeated) {
    if (step != 0) return {static_cast<const char*>(operand), kStride};
    Lanes<Number>::spread(operand, repeated);
    return {repeated, 0};
  }
  GW_INLINE Number next() {
    Number value = Lanes<Number>::load(at);
    at += stride;
    return value;
  }
  GW_INLINE Number rest(int count) {
    return stride == 0 ? Lanes<Number>::load(at) : Lanes<Number>::load_partial(at, count);
  }
};

template <class F, DType Type>
inline constexpr bool kMayFail = std::is_integral_v<typename NativeElement<Type>::Scalar> &&
                                 requires(typename NumberOf<Type, 1>::Value v) {
                                   requires F::kArity == 2;
                                   F::error(v, v);
                                 };

template <class F, DType Type>
struct ElementwiseLoop {
  static constexpr int N = kLanesOf<Type>;
  using Result = OperandNumber<Type, N, F::kResult>;

  // Lanes in error before `count`, as byte_bits gives them.
  template <class... Numbers>
  GW_INLINE static int first_error(int count, Numbers... numbers) {
    int lane = first_lane(F::error(numbers...));
    return lane < count ? lane : -1;
  }

  template <class... Streams>
  GW_INLINE static int64_t run(char* out, int64_t n, Streams&... streams) {
    int64_t i = 0;
    for (; i + N <= n; i += N) {
      if constexpr (kMayFail<F, Type>) {
        int lane = run_checked(out, N, streams.next()...);
        if (lane >= 0) [[unlikely]]
          return i + lane;
      } else {
        Lanes<Result>::store(out, F::apply(streams.next()...));
      }
      out += Lanes<Result>::kBytes;
    }
    int rest = static_cast<int>(n - i);
    if (rest == 0) return -1;
    if constexpr (kMayFail<F, Type>) {
      int lane = run_checked(out, rest, streams.rest(rest)...);
      return lane >= 0 ? i + lane : -1;
    } else {
      Lanes<Result>::store_partial(out, F::apply(streams.rest(rest)...), rest);
      return -1;
    }
  }

  template <class... Numbers>
  GW_INLINE static int run_checked(char* out, int count, Numbers... numbers) {
    int lane = first_error(count, numbers...);
    Result result = F::apply(numbers...);
    if (count == N) {
      Lanes<Result>::store(out, result);
    } else {
      Lanes<Result>::store_partial(out, result, count);
    }
    return lane;
  }
};

template <class F, DType Type>
int64_t elementwise_kernel(void* out, const void* const* operands, const int64_t* steps,
                           int64_t n) {
  using Loop = ElementwiseLoop<F, Type>;
  char* result = static_cast<char*>(out);
  if (n <= 0) return -1;
  using First = OperandStream<F, Type, 0>;
  alignas(64) char repeated[F::kArity][2 * kVectorBytes];
  First first = First::start(operands[0], steps[0], repeated[0]);
  if constexpr (F::kArity == 1) {
    return Loop::run(result, n, first);
  } else {
    using Second = OperandStream<F, Type, 1>;
    Second second = Second::start(operands[1], steps[1], repeated[1]);
    if constexpr (F::kArity == 2) {
      return Loop::run(result, n, first, second);
    } else {
      using Third = OperandStream<F, Type, 2>;
      Third third = Third::start(operands[2], steps[2], repeated[2]);
      return Loop::run(result, n, first, second, third);
    }
  }
}

// A narrow dtype: `Type` elements through blocks of the type that they compute in.
template <class F, DType Type>
int64_t narrow_elementwise_kernel(void* out, const void* const* operands, const int64_t* steps,
                                  int64_t n) {
  static constexpr FormulaSignature kSignature = signature_of<F>();
  return run_narrow(&elementwise_kernel<F, computing_type(Type)>, kSignature, Type, out, operands,
                    steps, n);
}

template <class F, DType Type>
bool scalar_kernel(void* out, const void* a, const void* b, const void* c) {
  constexpr DType kComputing = computing_type(Type);
  auto operand = [&]<int Index>(const void* from) GW_INLINE_LAMBDA {
    constexpr OperandRole kRole = F::kOperands[Index];
    return load_scalar<OperandNumber<kComputing, 1, kRole>, operand_dtype(kRole, Type)>(from);
  };
  auto finish = [&](auto... numbers) GW_INLINE_LAMBDA {
    bool failed = false;
    if constexpr (kMayFail<F, kComputing>) failed = F::error(numbers...).raw;
    store_scalar<operand_dtype(F::kResult, Type)>(out, F::apply(numbers...));
    return failed;
  };
  if constexpr (F::kArity == 1) {
    return finish(operand.template operator()<0>(a));
  } else if constexpr (F::kArity == 2) {
    return finish(operand.template operator()<0>(a), operand.template operator()<1>(b));
  } else {
    return finish(operand.template operator()<0>(a), operand.template operator()<1>(b),
                  operand.template operator()<2>(c));
  }
}

template <class F, DType Type>
consteval void add_kernels(FormulaKernels& kernels) {
  if constexpr (F::kTypes.contains(Type)) {
    constexpr size_t kIndex = static_cast<size_t>(Type);
    constexpr DType kComputing = computing_type(Type);
    if constexpr (F::kSignAgnostic && Type == DType::kUint32) {
      kernels.elementwise[kIndex] = &elementwise_kernel<F, DType::kInt32>;
      kernels.scalar[kIndex] = &scalar_kernel<F, DType::kInt32>;
    } else if constexpr (F::kSignAgnostic && Type == DType::kUint64) {
      kernels.elementwise[kIndex] = &elementwise_kernel<F, DType::kInt64>;
      kernels.scalar[kIndex] = &scalar_kernel<F, DType::kInt64>;
    } else {
      if constexpr (kComputing == Type) {
        kernels.elementwise[kIndex] = &elementwise_kernel<F, Type>;
      } else {
        kernels.elementwise[kIndex] = &narrow_elementwise_kernel<F, Type>;
      }
      kernels.scalar[kIndex] = &scalar_kernel<F, Type>;
    }
  }
}

template <class F>
consteval FormulaKernels make_kernels() {
  FormulaKernels kernels{};
  add_kernels<F, DType::kFloat>(kernels);
  add_kernels<F, DType::kDouble>(kernels);
  add_kernels<F, DType::kHalf>(kernels);
  add_kernels<F, DType::kBfloat16>(kernels);
  add_kernels<F, DType::kFloat8E5m2>(kernels);
  add_kernels<F, DType::kFloat8E4m3fn>(kernels);
  add_kernels<F, DType::kComplex64>(kernels);
  add_kernels<F, DType::kComplex128>(kernels);
  add_kernels<F, DType::kBool>(kernels);
  add_kernels<F, DType::kInt8>(kernels);
  add_kernels<F, DType::kInt16>(kernels);
  add_kernels<F, DType::kInt32>(kernels);
  add_kernels<F, DType::kInt64>(kernels);
  add_kernels<F, DType::kUint8>(kernels);
  add_kernels<F, DType::kUint16>(kernels);
  add_kernels<F, DType::kUint32>(kernels);
  add_kernels<F, DType::kUint64>(kernels);
  return kernels;
}

}  // namespace graphwright::GW_NUMBERS
