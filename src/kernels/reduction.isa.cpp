#include "formulas/complex.h"
#include "formulas/number.h"
#include "kernels/lanes.h"
#include "kernels/reduction_kernels.h"

namespace graphwright::GW_NUMBERS {

namespace {

template <class T>
inline constexpr bool kFloatingElement = std::is_floating_point_v<T>;

// `low` of signed and unsigned integers is their least number.
template <class T>
constexpr T lowest() {
  if constexpr (kFloatingElement<T>) {
    return -static_cast<T>(__builtin_inf());
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(UnsignedOf<T>{1} << (8 * sizeof(T) - 1));
  } else {
    return 0;
  }
}
template <class T>
constexpr T highest() {
  if constexpr (kFloatingElement<T>) {
    return static_cast<T>(__builtin_inf());
  } else {
    return static_cast<T>(~lowest<T>());
  }
}

struct SumOperation {
  template <class V>
  GW_INLINE static V identity() {
    return real_constant<V>(0);
  }
  template <class V>
  GW_INLINE static V combine(V a, V b) {
    return a + b;
  }
};
struct ProductOperation {
  template <class V>
  GW_INLINE static V identity() {
    return real_constant<V>(1);
  }
  template <class V>
  GW_INLINE static V combine(V a, V b) {
    return a * b;
  }
};
// NaN wins.
struct MaximumOperation {
  template <class V>
  GW_INLINE static V identity() {
    return constant<V>(lowest<ElementOf<V>>());
  }
  template <class V>
  GW_INLINE static V combine(V a, V b) {
    if constexpr (kIsFloating<V>) {
      return select((a < b) | is_nan(b), b, a);
    } else {
      return select(a < b, b, a);
    }
  }
};
struct MinimumOperation {
  template <class V>
  GW_INLINE static V identity() {
    return constant<V>(highest<ElementOf<V>>());
  }
  template <class V>
  GW_INLINE static V combine(V a, V b) {
    if constexpr (kIsFloating<V>) {
      return select((b < a) | is_nan(b), b, a);
    } else {
      return select(b < a, b, a);
    }
  }
};

template <int By, class T, int N, int... I>
GW_INLINE Vec<T, N> rotate_lanes(Vec<T, N> v, std::integer_sequence<int, I...>) {
  return {__builtin_shufflevector(v.raw, v.raw, (I + By) % N...)};
}
// Lane i becomes lane i + By, cyclically.
template <int By, class T, int N>
GW_INLINE Vec<T, N> rotated(Vec<T, N> v) {
  return rotate_lanes<By>(v, std::make_integer_sequence<int, N>());
}
template <int By, class V>
GW_INLINE Complex<V> rotated(Complex<V> v) {
  return {rotated<By>(v.real), rotated<By>(v.imaginary)};
}

// Numbers of one lane and of a whole vector.
template <class T>
struct RealElement {
  using One = Vec<T, 1>;
  using Vector = Vec<T, kVectorBytes / sizeof(T)>;
  static constexpr int kBytes = sizeof(T);
};
template <class T>
struct ComplexElement {
  using One = Complex<Vec<T, 1>>;
  using Vector = Complex<Vec<T, kVectorBytes / sizeof(T)>>;
  static constexpr int kBytes = 2 * sizeof(T);
};

template <class Operation, class Element>
struct Reducer {
  using One = typename Element::One;
  using Vector = typename Element::Vector;
  static constexpr int64_t kBytes = Element::kBytes;
  static constexpr int64_t kLanes = kReductionLaneBytes / kBytes;
  static constexpr int64_t kVectorLanes = Lanes<Vector>::kBytes / kBytes;
  static constexpr int kVectors = static_cast<int>(kLanes / kVectorLanes);

  GW_INLINE static One load(const char* at) { return Lanes<One>::load(at); }
  GW_INLINE static void store(char* at, One value) { Lanes<One>::store(at, value); }

  static void run(const void* elements, int64_t count, void* result) {
    const char* at = static_cast<const char*>(elements);
    Vector sums[kVectors];
    int64_t left = count;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sums[v] = Operation::template identity<Vector>();
    for (; left >= kLanes; left -= kLanes, at += kReductionLaneBytes) fold_block(sums, at);
    // Empty lanes count as identities, which change nothing.
    int used = count >= kLanes ? kVectors : 0;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      if (left <= 0) break;
      sums[v] = Operation::combine(sums[v], load_some(at, left));
      at += Lanes<Vector>::kBytes;
      left -= kVectorLanes;
      if (used < v + 1) used = v + 1;
    }
#pragma GCC unroll 4
    for (int half = kVectors / 2; half > 0; half /= 2) {
      if (half >= used) continue;
#pragma GCC unroll 8
      for (int v = 0; v < half; ++v) sums[v] = Operation::combine(sums[v], sums[v + half]);
    }
    alignas(64) char lanes[Lanes<Vector>::kBytes];
    Lanes<Vector>::store(lanes, combine_halves<kVectorLanes / 2>(sums[0]));
    __builtin_memcpy(result, lanes, kBytes);
  }

  // Up to a vector of `left` elements, with identities after them.
  GW_INLINE static Vector load_some(const char* at, int64_t left) {
    if (left >= kVectorLanes) return Lanes<Vector>::load(at);
    if constexpr (std::is_same_v<Operation, SumOperation>) {
      return Lanes<Vector>::load_partial(at, static_cast<int>(left));
    } else {
      alignas(64) char lanes[Lanes<Vector>::kBytes];
      Lanes<Vector>::store(lanes, Operation::template identity<Vector>());
      __builtin_memcpy(lanes, at, static_cast<size_t>(left * kBytes));
      return Lanes<Vector>::load(lanes);
    }
  }

  // Lane 0 becomes the combination of all lanes, by halves.
  template <int Half>
  GW_INLINE static Vector combine_halves(Vector v) {
    if constexpr (Half == 0) {
      return v;
    } else {
      return combine_halves<Half / 2>(Operation::combine(v, rotated<Half>(v)));
    }
  }

  GW_INLINE static void fold_block(Vector* sums, const char* at) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = Operation::combine(sums[v], Lanes<Vector>::load(at + v * Lanes<Vector>::kBytes));
    }
  }

  static constexpr int64_t kRowBytes = kReductionColumns * kBytes;

  // to[i] = left[i] op right[i]
  GW_INLINE static void combine_row(char* to, const char* left, const char* right,
                                    int64_t columns) {
    int64_t i = 0;
    for (; i + kVectorLanes <= columns; i += kVectorLanes) {
      Lanes<Vector>::store(to + i * kBytes,
                           Operation::combine(Lanes<Vector>::load(left + i * kBytes),
                                              Lanes<Vector>::load(right + i * kBytes)));
    }
    for (; i < columns; ++i) {
      store(to + i * kBytes, Operation::combine(load(left + i * kBytes), load(right + i * kBytes)));
    }
  }
  GW_INLINE static void start_row(char* to, const char* from, int64_t columns) {
    int64_t i = 0;
    for (; i + kVectorLanes <= columns; i += kVectorLanes) {
      Lanes<Vector>::store(to + i * kBytes,
                           Operation::combine(Operation::template identity<Vector>(),
                                              Lanes<Vector>::load(from + i * kBytes)));
    }
    for (; i < columns; ++i) {
      store(to + i * kBytes,
            Operation::combine(Operation::template identity<One>(), load(from + i * kBytes)));
    }
  }

  static void fold_rows(void* scratch, const void* elements, int64_t stride, int64_t first,
                        int64_t rows, int64_t columns) {
    char* lanes = static_cast<char*>(scratch);
    const char* at = static_cast<const char*>(elements);
    for (int64_t row = first; row < first + rows; ++row, at += stride * kBytes) {
      char* lane = lanes + (row % kLanes) * kRowBytes;
      if (row < kLanes) {
        start_row(lane, at, columns);
      } else {
        combine_row(lane, lane, at, columns);
      }
    }
  }

  static void finish_rows(void* scratch, int64_t rows, int64_t columns, void* result) {
    char* lanes = static_cast<char*>(scratch);
    if (rows == 0) return identity(result, columns);
    int64_t active = rows < kLanes ? rows : kLanes;
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t lane = 0; lane < half && lane + half < active; ++lane) {
        char* left = lanes + lane * kRowBytes;
        combine_row(left, left, lanes + (lane + half) * kRowBytes, columns);
      }
      if (active > half) active = half;
    }
    __builtin_memcpy(result, lanes, static_cast<size_t>(columns * kBytes));
  }

  static void combine(void* left, const void* right, int64_t count) {
    char* to = static_cast<char*>(left);
    combine_row(to, to, static_cast<const char*>(right), count);
  }

  static void identity(void* result, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      store(static_cast<char*>(result) + i * kBytes, Operation::template identity<One>());
    }
  }

  static constexpr ReductionKernels kKernels{&run, &fold_rows, &finish_rows, &combine, &identity};
};

template <class Operation>
constexpr void add_ordered(ReductionKernels* row) {
  const auto at = [row](ReductionElement element) -> ReductionKernels& {
    return row[static_cast<int>(element)];
  };
  at(ReductionElement::kFloat) = Reducer<Operation, RealElement<float>>::kKernels;
  at(ReductionElement::kDouble) = Reducer<Operation, RealElement<double>>::kKernels;
  at(ReductionElement::kInt32) = Reducer<Operation, RealElement<int32_t>>::kKernels;
  at(ReductionElement::kInt64) = Reducer<Operation, RealElement<int64_t>>::kKernels;
  at(ReductionElement::kUint32) = Reducer<Operation, RealElement<uint32_t>>::kKernels;
  at(ReductionElement::kUint64) = Reducer<Operation, RealElement<uint64_t>>::kKernels;
}
// Sums and products: signed and unsigned integers wrap alike.
template <class Operation>
constexpr void add_algebraic(ReductionKernels* row) {
  const auto at = [row](ReductionElement element) -> ReductionKernels& {
    return row[static_cast<int>(element)];
  };
  at(ReductionElement::kFloat) = Reducer<Operation, RealElement<float>>::kKernels;
  at(ReductionElement::kDouble) = Reducer<Operation, RealElement<double>>::kKernels;
  at(ReductionElement::kInt32) = Reducer<Operation, RealElement<int32_t>>::kKernels;
  at(ReductionElement::kInt64) = Reducer<Operation, RealElement<int64_t>>::kKernels;
  at(ReductionElement::kUint32) = at(ReductionElement::kInt32);
  at(ReductionElement::kUint64) = at(ReductionElement::kInt64);
  at(ReductionElement::kComplex64) = Reducer<Operation, ComplexElement<float>>::kKernels;
  at(ReductionElement::kComplex128) = Reducer<Operation, ComplexElement<double>>::kKernels;
}

consteval ReductionKernelTable make_table() {
  ReductionKernelTable table{};
  const auto row = [&table](ReductionOperation operation) {
    return table.kernels[static_cast<int>(operation)];
  };
  add_algebraic<SumOperation>(row(ReductionOperation::kSum));
  add_algebraic<ProductOperation>(row(ReductionOperation::kProduct));
  add_ordered<MaximumOperation>(row(ReductionOperation::kMaximum));
  add_ordered<MinimumOperation>(row(ReductionOperation::kMinimum));
  return table;
}

}  // namespace

constinit const ReductionKernelTable reduction_kernels = make_table();

}  // namespace graphwright::GW_NUMBERS
