#include "kernels/combine.h"

#include <limits>

#include "kernels/number.h"
#include "kernels/strided_copy.h"

namespace graphwright::kernels {
namespace {

template <class T>
constexpr bool kIsComplexNumber =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
T multiplied(T a, T b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return T(static_cast<float>(a) * static_cast<float>(b));
  } else {
    return wrapping_multiply(a, b);
  }
}

template <class T>
T divided(T a, T b) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return T(static_cast<float>(a) / static_cast<float>(b));
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    // The only quotient that overflows.
    return b == T(-1) ? wrapping_subtract(T(0), a) : static_cast<T>(a / b);
  } else {
    return static_cast<T>(a / b);
  }
}

template <class T>
bool is_less(T a, T b) {
  return static_cast<Accumulator<T>>(a) < static_cast<Accumulator<T>>(b);
}

template <class T, class Operation>
void for_each(const T* source, T* target, int64_t count, Operation operation) {
  for (int64_t i = 0; i < count; ++i) target[i] = operation(target[i], source[i]);
}

template <class T>
CombineResult combine(Combination combination, const T* source, T* target, int64_t count) {
  switch (combination) {
    case Combination::kAdd:
      for_each(source, target, count, wrapping_add<T>);
      return CombineResult::kDone;
    case Combination::kSubtract:
      for_each(source, target, count, wrapping_subtract<T>);
      return CombineResult::kDone;
    case Combination::kMultiply:
      for_each(source, target, count, multiplied<T>);
      return CombineResult::kDone;
    case Combination::kDivide:
      for (int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<T>) {
          if (source[i] == T(0)) return CombineResult::kFailed;
        }
        target[i] = divided(target[i], source[i]);
      }
      return CombineResult::kDone;
    default:
      break;
  }
  if constexpr (kIsComplexNumber<T>) {
    return CombineResult::kUnsupported;
  } else {
    if (combination == Combination::kMinimum) {
      for_each(source, target, count, [](T a, T b) { return is_less(b, a) ? b : a; });
    } else {
      for_each(source, target, count, [](T a, T b) { return is_less(a, b) ? b : a; });
    }
    return CombineResult::kDone;
  }
}

}  // namespace

CombineResult combine_elements(DType dtype, Combination combination, const void* source,
                               int64_t source_offset, void* target, int64_t target_offset,
                               int64_t count) {
  if (combination == Combination::kReplace) {
    copy_elements(dtype, source, source_offset, target, target_offset, count);
    return CombineResult::kDone;
  }
  CombineResult result = CombineResult::kUnsupported;
  visit_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    result = combine(combination, static_cast<const T*>(source) + source_offset,
                     static_cast<T*>(target) + target_offset, count);
  });
  return result;
}

}  // namespace graphwright::kernels
