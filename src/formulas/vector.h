// Vectors of numbers: the number types that kernels run formulas on. Vec<T, N> holds N lanes of T;
// one lane is a plain scalar. Every lane gets the same bits whatever N is. Integer arithmetic
// wraps.
//
// Everything here is always inlined and lives in the namespace of the vector width that the file is
// compiled for (see isa.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "formulas/isa.h"

#ifndef GW_ISA
#error "formulas/vector.h is for files that are compiled once per vector width"
#endif

#include "formulas/vector_instructions.h"

#define GW_VECTOR_BYTES_sse42 16
#define GW_VECTOR_BYTES_avx2 32
#define GW_VECTOR_BYTES_avx512 64
#define GW_VECTOR_BYTES_generic 16
#define GW_CONCATENATE_EXPANDED(a, b) a##b
#define GW_CONCATENATE(a, b) GW_CONCATENATE_EXPANDED(a, b)

namespace graphwright::GW_NUMBERS {

inline constexpr int kVectorBytes = GW_CONCATENATE(GW_VECTOR_BYTES_, GW_ISA);

template <int Bytes>
struct IntegerOfSize;
template <>
struct IntegerOfSize<1> {
  using Signed = int8_t;
  using Unsigned = uint8_t;
};
template <>
struct IntegerOfSize<2> {
  using Signed = int16_t;
  using Unsigned = uint16_t;
};
template <>
struct IntegerOfSize<4> {
  using Signed = int32_t;
  using Unsigned = uint32_t;
};
template <>
struct IntegerOfSize<8> {
  using Signed = int64_t;
  using Unsigned = uint64_t;
};
template <class T>
using SignedOf = typename IntegerOfSize<sizeof(T)>::Signed;
template <class T>
using UnsignedOf = typename IntegerOfSize<sizeof(T)>::Unsigned;

template <class T, int N>
struct RawVector {
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
template <class T>
struct RawVector<T, 1> {
  using type = T;
};
template <class T, int N>
using Raw = typename RawVector<T, N>::type;

template <class T, int N>
struct Vec {
  using Element = T;
  static constexpr int kLanes = N;
  Raw<T, N> raw;
};

// A truth value per lane of vectors whose elements have Size bytes: all bits set or none.
template <int Size, int N>
struct Mask {
  static constexpr int kLanes = N;
  static constexpr int kElementBytes = Size;
  using RawMask = std::conditional_t<N == 1, bool, Raw<typename IntegerOfSize<Size>::Signed, N>>;
  RawMask raw;
};

template <class V>
using ElementOf = typename V::Element;
template <class V>
using MaskOf = Mask<sizeof(ElementOf<V>), V::kLanes>;
// The vector of the same width and lanes with elements of another type.
template <class V, class T>
using WithElement = Vec<T, V::kLanes>;
template <class V>
using IntegerOf = WithElement<V, SignedOf<ElementOf<V>>>;

// One value in every lane. Subtracting zero keeps the sign of -0, where adding would not.
template <class V, class X>
GW_INLINE V constant(X value) {
  using T = ElementOf<V>;
  if constexpr (V::kLanes == 1) {
    return {static_cast<T>(value)};
  } else {
    return {static_cast<T>(value) - Raw<T, V::kLanes>{}};
  }
}

#define GW_WRAPPING_OPERATOR(op)                              \
  template <class T, int N>                                   \
  GW_INLINE Vec<T, N> operator op(Vec<T, N> a, Vec<T, N> b) { \
    if constexpr (std::is_integral_v<T>) {                    \
      using U = Raw<UnsignedOf<T>, N>;                        \
      return {(Raw<T, N>)((U)a.raw op(U) b.raw)};             \
    } else {                                                  \
      return {a.raw op b.raw};                                \
    }                                                         \
  }
GW_WRAPPING_OPERATOR(+)
GW_WRAPPING_OPERATOR(-)
GW_WRAPPING_OPERATOR(*)
#undef GW_WRAPPING_OPERATOR

template <class T, int N>
  requires std::is_floating_point_v<T>
GW_INLINE Vec<T, N> operator/(Vec<T, N> a, Vec<T, N> b) {
  return {a.raw / b.raw};
}

template <class T, int N>
GW_INLINE Vec<T, N> operator-(Vec<T, N> a) {
  if constexpr (std::is_integral_v<T>) {
    using U = Raw<UnsignedOf<T>, N>;
    return {(Raw<T, N>)(U{} - (U)a.raw)};
  } else {
    return {-a.raw};
  }
}

#define GW_COMPARISON(op)                                              \
  template <class T, int N>                                            \
  GW_INLINE Mask<sizeof(T), N> operator op(Vec<T, N> a, Vec<T, N> b) { \
    return {(typename Mask<sizeof(T), N>::RawMask)(a.raw op b.raw)};   \
  }
GW_COMPARISON(==)
GW_COMPARISON(!=)
GW_COMPARISON(<)
GW_COMPARISON(<=)
GW_COMPARISON(>)
GW_COMPARISON(>=)
#undef GW_COMPARISON

#define GW_BIT_OPERATOR(op)                                               \
  template <class T, int N>                                               \
    requires std::is_integral_v<T>                                        \
  GW_INLINE Vec<T, N> operator op(Vec<T, N> a, Vec<T, N> b) {             \
    return {(Raw<T, N>)(a.raw op b.raw)};                                 \
  }                                                                       \
  template <int Size, int N>                                              \
  GW_INLINE Mask<Size, N> operator op(Mask<Size, N> a, Mask<Size, N> b) { \
    return {(typename Mask<Size, N>::RawMask)(a.raw op b.raw)};           \
  }
GW_BIT_OPERATOR(&)
GW_BIT_OPERATOR(|)
GW_BIT_OPERATOR(^)
#undef GW_BIT_OPERATOR

template <class T, int N>
  requires std::is_integral_v<T>
GW_INLINE Vec<T, N> operator~(Vec<T, N> a) {
  return {(Raw<T, N>)~a.raw};
}

template <int Size, int N>
GW_INLINE Mask<Size, N> operator!(Mask<Size, N> a) {
  if constexpr (N == 1) {
    return {!a.raw};
  } else {
    return {~a.raw};
  }
}

// Shift counts must lie in [0, bits). >> keeps the sign of signed elements.
template <class T, int N>
  requires std::is_integral_v<T>
GW_INLINE Vec<T, N> operator<<(Vec<T, N> a, int count) {
  using U = Raw<UnsignedOf<T>, N>;
  return {(Raw<T, N>)((U)a.raw << count)};
}
template <class T, int N>
  requires std::is_integral_v<T>
GW_INLINE Vec<T, N> operator>>(Vec<T, N> a, int count) {
  return {(Raw<T, N>)(a.raw >> count)};
}
template <class T, int N>
  requires std::is_integral_v<T>
GW_INLINE Vec<T, N> operator<<(Vec<T, N> a, Vec<T, N> count) {
  using U = Raw<UnsignedOf<T>, N>;
  return {(Raw<T, N>)((U)a.raw << (U)count.raw)};
}
template <class T, int N>
  requires std::is_integral_v<T>
GW_INLINE Vec<T, N> operator>>(Vec<T, N> a, Vec<T, N> count) {
  return {(Raw<T, N>)(a.raw >> count.raw)};
}

template <int Size, class T, int N>
GW_INLINE Vec<T, N> select(Mask<Size, N> mask, Vec<T, N> a, Vec<T, N> b) {
  static_assert(Size == sizeof(T));
  return {mask.raw ? a.raw : b.raw};
}

// The same bits as another type of the same size.
template <class To, class T, int N>
GW_INLINE To bit_cast(Vec<T, N> a) {
  static_assert(sizeof(ElementOf<To>) == sizeof(T) && To::kLanes == N);
  if constexpr (N == 1) {
    return {__builtin_bit_cast(ElementOf<To>, a.raw)};
  } else {
    return {(Raw<ElementOf<To>, N>)a.raw};
  }
}

// Rounds towards zero where floating becomes integer; the value must fit.
template <class To, class T, int N>
GW_INLINE To convert(Vec<T, N> a) {
  if constexpr (N == 1) {
    return {static_cast<ElementOf<To>>(a.raw)};
  } else {
    return {__builtin_convertvector(a.raw, Raw<ElementOf<To>, N>)};
  }
}

// A function of scalars, lane by lane: for what needs a loop. Function has `static T call(T...)`.
template <class Function, class T, int N, class... Rest>
GW_INLINE Vec<T, N> call_lanes(Vec<T, N> first, Rest... rest) {
  if constexpr (N == 1) {
    return {Function::call(first.raw, rest.raw...)};
  } else {
    Vec<T, N> result = first;
    for (int i = 0; i < N; ++i) result.raw[i] = Function::call(first.raw[i], rest.raw[i]...);
    return result;
  }
}

// A bit per byte, of which lane i has bits [i * Size, (i + 1) * Size); a scalar has one bit.
template <int Size, int N>
GW_INLINE uint64_t byte_bits(Mask<Size, N> mask) {
  if constexpr (N == 1) {
    return mask.raw;
#if defined(__x86_64__)
  } else if constexpr (Size * N == 16) {
    return static_cast<uint32_t>(_mm_movemask_epi8((__m128i)mask.raw));
#if defined(__AVX2__)
  } else if constexpr (Size * N == 32) {
    return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)mask.raw));
#endif
#if defined(__AVX512BW__)
  } else if constexpr (Size * N == 64) {
    return _mm512_movepi8_mask((__m512i)mask.raw);
#endif
#endif
  } else {
    uint64_t bits = 0;
    for (int i = 0; i < N; ++i) bits |= static_cast<uint64_t>(mask.raw[i] != 0) << (i * Size);
    return bits;
  }
}
// The first lane that is set, or -1.
template <int Size, int N>
GW_INLINE int first_lane(Mask<Size, N> mask) {
  uint64_t bits = byte_bits(mask);
  if (bits == 0) return -1;
  return N == 1 ? 0 : __builtin_ctzll(bits) / Size;
}

// `otherwise`, but Function of `x` in the lanes of a mask that is seldom set anywhere.
template <class Function, int Size, class T, int N>
GW_INLINE Vec<T, N> call_rare_lanes(Mask<Size, N> mask, Vec<T, N> x, Vec<T, N> otherwise) {
  if (byte_bits(mask) == 0) [[likely]]
    return otherwise;
  return select(mask, call_lanes<Function>(x), otherwise);
}

// ---- what has an instruction of its own (vector_instructions.h)

template <class T, int N>
GW_INLINE Vec<T, N> sqrt(Vec<T, N> a) {
  return {instruction_sqrt(a.raw)};
}
// a * b + c, rounded once.
template <class T, int N>
GW_INLINE Vec<T, N> fma(Vec<T, N> a, Vec<T, N> b, Vec<T, N> c) {
  return {instruction_fma(a.raw, b.raw, c.raw)};
}
// To the nearest integer, halves to the even one.
template <class T, int N>
GW_INLINE Vec<T, N> round_to_even(Vec<T, N> a) {
  return {instruction_round<Rounding::kNearestEven>(a.raw)};
}
template <class T, int N>
GW_INLINE Vec<T, N> floor(Vec<T, N> a) {
  return {instruction_round<Rounding::kDown>(a.raw)};
}
template <class T, int N>
GW_INLINE Vec<T, N> ceil(Vec<T, N> a) {
  return {instruction_round<Rounding::kUp>(a.raw)};
}
template <class T, int N>
GW_INLINE Vec<T, N> trunc(Vec<T, N> a) {
  return {instruction_round<Rounding::kToZero>(a.raw)};
}
// Of integers: the most negative one is its own absolute value.
template <class T, int N>
GW_INLINE Vec<T, N> abs(Vec<T, N> a) {
  if constexpr (std::is_floating_point_v<T>) {
    using I = Vec<SignedOf<T>, N>;
    return bit_cast<Vec<T, N>>(bit_cast<I>(a) & ~(constant<I>(1) << (8 * sizeof(T) - 1)));
  } else if constexpr (std::is_signed_v<T>) {
    return select(a < constant<Vec<T, N>>(0), -a, a);
  } else {
    return a;
  }
}

// The lower or upper half of the lanes, in float64, and back.
template <int Half, int N>
GW_INLINE Vec<double, N / 2> widen_half(Vec<float, N> a) {
  Raw<float, N / 2> half;
  __builtin_memcpy(&half, reinterpret_cast<const char*>(&a.raw) + Half * sizeof half, sizeof half);
  return {__builtin_convertvector(half, Raw<double, N / 2>)};
}
template <int N>
GW_INLINE Vec<float, 2 * N> join_narrowed(Vec<double, N> low, Vec<double, N> high) {
  Raw<float, N> halves[2] = {__builtin_convertvector(low.raw, Raw<float, N>),
                             __builtin_convertvector(high.raw, Raw<float, N>)};
  Vec<float, 2 * N> result;
  __builtin_memcpy(&result.raw, halves, sizeof halves);
  return result;
}

// Runs `function` on float64 versions of float32 vectors and rounds its result back.
template <int N, class Function, class... Rest>
GW_INLINE Vec<float, N> in_double(Function function, Vec<float, N> first, Rest... rest) {
  if constexpr (N == 1) {
    return convert<Vec<float, 1>>(
        function(convert<Vec<double, 1>>(first), convert<Vec<double, 1>>(rest)...));
  } else {
    return join_narrowed(function(widen_half<0>(first), widen_half<0>(rest)...),
                         function(widen_half<1>(first), widen_half<1>(rest)...));
  }
}

}  // namespace graphwright::GW_NUMBERS
