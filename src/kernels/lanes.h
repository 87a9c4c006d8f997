// Number types to and from memory, whole vectors or a part of one.
#pragma once

#include <cstdint>
#include <utility>

#include "formulas/complex.h"
#include "formulas/vector.h"

#define GW_INLINE_LAMBDA __attribute__((always_inline))

namespace graphwright::GW_NUMBERS {

// kBytes: of one vector in memory. spread fills one vector's bytes with copies of an element.
// Partial loads and stores touch `count` lanes only, 0 < count < lanes; lanes that are not loaded
// are zero.
template <class Number>
struct Lanes;

template <class T, int N>
struct Lanes<Vec<T, N>> {
  using V = Vec<T, N>;
  static constexpr int kBytes = N * sizeof(T);

  GW_INLINE static V load(const char* from) {
    V value;
    __builtin_memcpy(&value.raw, from, kBytes);
    return value;
  }
  GW_INLINE static void store(char* to, V value) { __builtin_memcpy(to, &value.raw, kBytes); }
  GW_INLINE static void spread(const void* element, char* to) {
    T value;
    __builtin_memcpy(&value, element, sizeof value);
    store(to, constant<V>(value));
  }

  GW_INLINE static V load_partial(const char* from, int count) {
#if defined(__AVX512BW__)
    if constexpr (kBytes == 64 && sizeof(T) == 4) {
      return {(Raw<T, N>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), from)};
    } else if constexpr (kBytes == 64 && sizeof(T) == 8) {
      return {(Raw<T, N>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1), from)};
    } else if constexpr (kBytes == 64 && sizeof(T) == 1) {
      return {(Raw<T, N>)_mm512_maskz_loadu_epi8((1ull << count) - 1, from)};
    }
#elif defined(__AVX2__)
    if constexpr (kBytes == 32 && sizeof(T) == 4) {
      return {(Raw<T, N>)_mm256_maskload_epi32(reinterpret_cast<const int*>(from),
                                               first_lanes_32(count))};
    } else if constexpr (kBytes == 32 && sizeof(T) == 8) {
      return {(Raw<T, N>)_mm256_maskload_epi64(reinterpret_cast<const long long*>(from),
                                               first_lanes_64(count))};
    }
#endif
    V value{};
    copy_elements(reinterpret_cast<char*>(&value.raw), from, count);
    return value;
  }

  GW_INLINE static void store_partial(char* to, V value, int count) {
#if defined(__AVX512BW__)
    if constexpr (kBytes == 64 && sizeof(T) == 4) {
      return _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << count) - 1),
                                      (__m512i)value.raw);
    } else if constexpr (kBytes == 64 && sizeof(T) == 8) {
      return _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1u << count) - 1),
                                      (__m512i)value.raw);
    } else if constexpr (kBytes == 64 && sizeof(T) == 1) {
      return _mm512_mask_storeu_epi8(to, (1ull << count) - 1, (__m512i)value.raw);
    }
#elif defined(__AVX2__)
    if constexpr (kBytes == 32 && sizeof(T) == 4) {
      return _mm256_maskstore_epi32(reinterpret_cast<int*>(to), first_lanes_32(count),
                                    (__m256i)value.raw);
    } else if constexpr (kBytes == 32 && sizeof(T) == 8) {
      return _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), first_lanes_64(count),
                                    (__m256i)value.raw);
    }
#endif
    copy_elements(to, reinterpret_cast<const char*>(&value.raw), count);
  }

 private:
  GW_INLINE static void copy_elements(char* to, const char* from, int count) {
    __builtin_memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  }
#if defined(__AVX2__)
  GW_INLINE static __m256i first_lanes_32(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  GW_INLINE static __m256i first_lanes_64(int count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
#endif
};

// Bool tensors: a byte per lane, 0 or 1.
template <int Size, int N>
struct Lanes<Mask<Size, N>> {
  using M = Mask<Size, N>;
  using Bytes = Vec<int8_t, N>;
  static constexpr int kBytes = N;

  GW_INLINE static M widen(Bytes bytes) {
    if constexpr (N == 1) {
      return {bytes.raw != 0};
    } else if constexpr (Size == 1) {
      return {(typename M::RawMask)(bytes.raw != 0)};
    } else {
      return {__builtin_convertvector((Raw<int8_t, N>)(bytes.raw != 0), typename M::RawMask)};
    }
  }
  GW_INLINE static Bytes narrow(M mask) {
    if constexpr (N == 1) {
      return {static_cast<int8_t>(mask.raw)};
    } else if constexpr (Size == 1) {
      return {(Raw<int8_t, N>)(mask.raw & 1)};
#if defined(__x86_64__)
    } else if constexpr (Size * N == 16) {
      __m128i words = (__m128i)mask.raw;
      if constexpr (Size == 8) words = _mm_shuffle_epi32(words, 0x88);
      return pack_words(words, words);
#if defined(__AVX2__)
    } else if constexpr (Size * N == 32) {
      __m256i words = (__m256i)mask.raw;
      if constexpr (Size == 8) {
        words = _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
      }
      return pack_words(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
#endif
#endif
    } else {
      return {__builtin_convertvector(mask.raw, Raw<int8_t, N>) & static_cast<int8_t>(1)};
    }
  }
#if defined(__x86_64__)
  // 32-bit masks to bytes that are 0 or 1.
  GW_INLINE static Bytes pack_words(__m128i low, __m128i high) {
    __m128i halves = _mm_packs_epi32(low, high);
    __m128i bytes = _mm_and_si128(_mm_packs_epi16(halves, halves), _mm_set1_epi8(1));
    Bytes result;
    __builtin_memcpy(&result.raw, &bytes, N);
    return result;
  }
#endif
  GW_INLINE static M load(const char* from) { return widen(Lanes<Bytes>::load(from)); }
  GW_INLINE static void store(char* to, M mask) { Lanes<Bytes>::store(to, narrow(mask)); }
  GW_INLINE static void spread(const void* element, char* to) { Lanes<Bytes>::spread(element, to); }
  GW_INLINE static M load_partial(const char* from, int count) {
    return widen(Lanes<Bytes>::load_partial(from, count));
  }
  GW_INLINE static void store_partial(char* to, M mask, int count) {
    Lanes<Bytes>::store_partial(to, narrow(mask), count);
  }
};

// Real and imaginary parts alternate in memory.
template <class T, int N>
struct Lanes<Complex<Vec<T, N>>> {
  using Part = Vec<T, N>;
  using C = Complex<Part>;
  static constexpr int kPartBytes = N * sizeof(T);
  static constexpr int kBytes = 2 * kPartBytes;

  GW_INLINE static C load(const char* from) {
    return separate(Lanes<Part>::load(from), Lanes<Part>::load(from + kPartBytes));
  }
  GW_INLINE static void store(char* to, C value) {
    Part low, high;
    interleave(value, low, high);
    Lanes<Part>::store(to, low);
    Lanes<Part>::store(to + kPartBytes, high);
  }
  GW_INLINE static void spread(const void* element, char* to) {
    T parts[2];
    __builtin_memcpy(parts, element, sizeof parts);
    store(to, {constant<Part>(parts[0]), constant<Part>(parts[1])});
  }
  GW_INLINE static C load_partial(const char* from, int count) {
    char lanes[kBytes] = {};
    __builtin_memcpy(lanes, from, 2 * sizeof(T) * static_cast<size_t>(count));
    return load(lanes);
  }
  GW_INLINE static void store_partial(char* to, C value, int count) {
    char lanes[kBytes];
    store(lanes, value);
    __builtin_memcpy(to, lanes, 2 * sizeof(T) * static_cast<size_t>(count));
  }

 private:
  template <int... I>
  GW_INLINE static C separate_lanes(Part a, Part b, std::integer_sequence<int, I...>) {
    return {{__builtin_shufflevector(a.raw, b.raw, 2 * I...)},
            {__builtin_shufflevector(a.raw, b.raw, (2 * I + 1)...)}};
  }
  template <int... I>
  GW_INLINE static void interleave_lanes(C c, Part& low, Part& high,
                                         std::integer_sequence<int, I...>) {
    low.raw = __builtin_shufflevector(c.real.raw, c.imaginary.raw, (I / 2 + N * (I % 2))...);
    high.raw =
        __builtin_shufflevector(c.real.raw, c.imaginary.raw, (N / 2 + I / 2 + N * (I % 2))...);
  }
  GW_INLINE static C separate(Part a, Part b) {
    if constexpr (N == 1) {
      return {a, b};
    } else {
      return separate_lanes(a, b, std::make_integer_sequence<int, N>());
    }
  }
  GW_INLINE static void interleave(C c, Part& low, Part& high) {
    if constexpr (N == 1) {
      low = c.real;
      high = c.imaginary;
    } else {
      interleave_lanes(c, low, high, std::make_integer_sequence<int, N>());
    }
  }
};

}  // namespace graphwright::GW_NUMBERS
