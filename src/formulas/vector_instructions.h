// Instructions that the compiler's vector types have no operator for, by vector width.
#pragma once

#include <type_traits>

#include "formulas/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define GW_INLINE [[gnu::always_inline]] inline

namespace graphwright::GW_NUMBERS {

enum class Rounding : int { kNearestEven = 0, kDown = 1, kUp = 2, kToZero = 3 };

#if defined(__x86_64__)

inline constexpr int kNoException = _MM_FROUND_NO_EXC;

GW_INLINE float instruction_sqrt(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }
GW_INLINE double instruction_sqrt(double a) {
  return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(a), _mm_set_sd(a)));
}
GW_INLINE __m128 instruction_sqrt(__m128 a) { return _mm_sqrt_ps(a); }
GW_INLINE __m128d instruction_sqrt(__m128d a) { return _mm_sqrt_pd(a); }

template <Rounding mode>
GW_INLINE float instruction_round(float a) {
  return _mm_cvtss_f32(
      _mm_round_ss(_mm_setzero_ps(), _mm_set_ss(a), static_cast<int>(mode) | kNoException));
}
template <Rounding mode>
GW_INLINE double instruction_round(double a) {
  return _mm_cvtsd_f64(
      _mm_round_sd(_mm_setzero_pd(), _mm_set_sd(a), static_cast<int>(mode) | kNoException));
}
template <Rounding mode>
GW_INLINE __m128 instruction_round(__m128 a) {
  return _mm_round_ps(a, static_cast<int>(mode) | kNoException);
}
template <Rounding mode>
GW_INLINE __m128d instruction_round(__m128d a) {
  return _mm_round_pd(a, static_cast<int>(mode) | kNoException);
}

// Where there is no instruction the library's exact function costs a call per lane, but gives the
// same bits.
GW_INLINE float instruction_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GW_INLINE double instruction_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#if defined(__FMA__)
GW_INLINE __m128 instruction_fma(__m128 a, __m128 b, __m128 c) { return _mm_fmadd_ps(a, b, c); }
GW_INLINE __m128d instruction_fma(__m128d a, __m128d b, __m128d c) { return _mm_fmadd_pd(a, b, c); }
#else
GW_INLINE __m128 instruction_fma(__m128 a, __m128 b, __m128 c) {
  return __m128{__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]),
                __builtin_fmaf(a[2], b[2], c[2]), __builtin_fmaf(a[3], b[3], c[3])};
}
GW_INLINE __m128d instruction_fma(__m128d a, __m128d b, __m128d c) {
  return __m128d{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}
#endif

#if defined(__AVX2__)
GW_INLINE __m256 instruction_sqrt(__m256 a) { return _mm256_sqrt_ps(a); }
GW_INLINE __m256d instruction_sqrt(__m256d a) { return _mm256_sqrt_pd(a); }
template <Rounding mode>
GW_INLINE __m256 instruction_round(__m256 a) {
  return _mm256_round_ps(a, static_cast<int>(mode) | kNoException);
}
template <Rounding mode>
GW_INLINE __m256d instruction_round(__m256d a) {
  return _mm256_round_pd(a, static_cast<int>(mode) | kNoException);
}
GW_INLINE __m256 instruction_fma(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
GW_INLINE __m256d instruction_fma(__m256d a, __m256d b, __m256d c) {
  return _mm256_fmadd_pd(a, b, c);
}
#endif

#if defined(__AVX512F__)
// The forms with a mask: those without draw warnings of uninitialised values from GCC 12.
inline constexpr __mmask16 kAllLanes16 = 0xffff;
inline constexpr __mmask8 kAllLanes8 = 0xff;
GW_INLINE __m512 instruction_sqrt(__m512 a) { return _mm512_maskz_sqrt_ps(kAllLanes16, a); }
GW_INLINE __m512d instruction_sqrt(__m512d a) { return _mm512_maskz_sqrt_pd(kAllLanes8, a); }
template <Rounding mode>
GW_INLINE __m512 instruction_round(__m512 a) {
  return _mm512_maskz_roundscale_ps(kAllLanes16, a, static_cast<int>(mode) | kNoException);
}
template <Rounding mode>
GW_INLINE __m512d instruction_round(__m512d a) {
  return _mm512_maskz_roundscale_pd(kAllLanes8, a, static_cast<int>(mode) | kNoException);
}
GW_INLINE __m512 instruction_fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
GW_INLINE __m512d instruction_fma(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_pd(a, b, c);
}
#endif

#else  // other machines: lane by lane

template <class V>
inline constexpr bool kIsVector = !std::is_floating_point_v<V>;

template <class V>
GW_INLINE V instruction_sqrt(V a) {
  if constexpr (kIsVector<V>) {
    for (unsigned i = 0; i < sizeof(V) / sizeof(a[0]); ++i) a[i] = instruction_sqrt(a[i]);
    return a;
  } else {
    return sizeof(V) == 4 ? __builtin_sqrtf(a) : __builtin_sqrt(a);
  }
}
template <Rounding mode, class V>
GW_INLINE V instruction_round(V a) {
  if constexpr (kIsVector<V>) {
    for (unsigned i = 0; i < sizeof(V) / sizeof(a[0]); ++i) a[i] = instruction_round<mode>(a[i]);
    return a;
  } else if constexpr (mode == Rounding::kNearestEven) {
    return __builtin_rint(a);
  } else if constexpr (mode == Rounding::kDown) {
    return __builtin_floor(a);
  } else if constexpr (mode == Rounding::kUp) {
    return __builtin_ceil(a);
  } else {
    return __builtin_trunc(a);
  }
}
template <class V>
GW_INLINE V instruction_fma(V a, V b, V c) {
  if constexpr (kIsVector<V>) {
    for (unsigned i = 0; i < sizeof(V) / sizeof(a[0]); ++i) {
      a[i] = instruction_fma(a[i], b[i], c[i]);
    }
    return a;
  } else if constexpr (sizeof(V) == 4) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
}

#endif

}  // namespace graphwright::GW_NUMBERS
