// SPDX-License-Identifier: Apache-2.0
// Vectors, and how each storage kind becomes what the products are computed in. For the *.isa.cpp
// files of the matrix product only: everything here is compiled for the instruction set of the file
// that includes it.
#pragma once

#include <string.h>

#include <cstdint>
#include <type_traits>

#include "core/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T, int bytes = vector_bytes>
struct Vec {
  typedef T type __attribute__((vector_size(bytes)));
  typedef T loose __attribute__((vector_size(bytes), aligned(4), may_alias));
  static constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  static constexpr int columns = 2 * lanes;
};

inline float bits_to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
inline uint32_t float_to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

// Branch-free so that the baseline build vectorises it: rebias the exponent by a multiplication,
// then put back infinity and NaN.
inline float float16_to_float(uint16_t half) {
  uint32_t magnitude = half & 0x7FFFu, sign = (half & 0x8000u) << 16;
  float scaled = bits_to_float(magnitude << 13) * bits_to_float(0x77800000u);
  uint32_t special = magnitude >= 0x7C00u ? 0x7F800000u | (magnitude << 13) : float_to_bits(scaled);
  return bits_to_float(special | sign);
}

inline void from_f16(const uint16_t *source, float *target, int64_t count) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(
        target + i,
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(source + i))));
#endif
  for (; i < count; ++i) target[i] = float16_to_float(source[i]);
}

inline void from_bfloat16(const uint16_t *source, float *target, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    target[i] = bits_to_float(static_cast<uint32_t>(source[i]) << 16);
}

// How one storage kind becomes the packed kind, singly and in runs. A unit is what the tiles read
// at once for one index: one element, or the int16 of two depths.
struct Float32 {
  using Stored = float;
  using Packed = float;
  using Unit = float;
  static float one(float v) { return v; }
  static void run(const float *s, float *t, int64_t n) { memcpy(t, s, static_cast<size_t>(n) * 4); }
};
struct Float64 {
  using Stored = double;
  using Packed = double;
  using Unit = double;
  static double one(double v) { return v; }
  static void run(const double *s, double *t, int64_t n) {
    memcpy(t, s, static_cast<size_t>(n) * 8);
  }
};
struct Half {
  using Stored = uint16_t;
  using Packed = float;
  using Unit = float;
  static float one(uint16_t v) { return float16_to_float(v); }
  static void run(const uint16_t *s, float *t, int64_t n) { from_f16(s, t, n); }
};
struct Brain {
  using Stored = uint16_t;
  using Packed = float;
  using Unit = float;
  static float one(uint16_t v) { return bits_to_float(static_cast<uint32_t>(v) << 16); }
  static void run(const uint16_t *s, float *t, int64_t n) { from_bfloat16(s, t, n); }
};
template <class T>
struct Byte {
  using Stored = T;
  using Packed = int16_t;
  using Unit = uint32_t;
  static int16_t one(T v) { return v; }
  static void run(const T *s, int16_t *t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) t[i] = s[i];
  }
};

// Bytes in float32: sums of up to 256 of their products are whole numbers below 2^24 and exact.
template <class T>
struct WideByte {
  using Stored = T;
  using Packed = float;
  using Unit = float;
  static float one(T v) { return v; }
  static void run(const T *s, float *t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) t[i] = s[i];
  }
};

// As many neighbours as fit a vector of `bytes`.
template <class K, int bytes = vector_bytes>
inline typename Vec<typename K::Packed, bytes>::type lanes_of(const typename K::Stored *s) {
  using V = Vec<typename K::Packed, bytes>;
  if constexpr (std::is_same_v<typename K::Stored, typename K::Packed>) {
    return *reinterpret_cast<const typename V::loose *>(s);
  } else {
#if defined(__AVX512F__)
    if constexpr (bytes == 64) {
      // Masked, with no lane masked out: the plain forms read an unset register in GCC 12.
      constexpr __mmask16 all = 0xffff;
      const auto *from = reinterpret_cast<const __m128i *>(s);
      const auto *from_two = reinterpret_cast<const __m256i *>(s);
      if constexpr (std::is_same_v<K, Half>)
        return (typename V::type)_mm512_maskz_cvtph_ps(all, _mm256_loadu_si256(from_two));
      if constexpr (std::is_same_v<K, Brain>)
        return (typename V::type)_mm512_maskz_slli_epi32(
            all, _mm512_maskz_cvtepu16_epi32(all, _mm256_loadu_si256(from_two)), 16);
      if constexpr (std::is_same_v<K, WideByte<int8_t>>)
        return (typename V::type)_mm512_maskz_cvtepi32_ps(
            all, _mm512_maskz_cvtepi8_epi32(all, _mm_loadu_si128(from)));
      if constexpr (std::is_same_v<K, WideByte<uint8_t>>)
        return (typename V::type)_mm512_maskz_cvtepi32_ps(
            all, _mm512_maskz_cvtepu8_epi32(all, _mm_loadu_si128(from)));
    }
#endif
#if defined(__AVX2__)
    if constexpr (bytes == 32) {
      const auto *from = reinterpret_cast<const __m128i *>(s);
      if constexpr (std::is_same_v<K, Half>)
        return (typename V::type)_mm256_cvtph_ps(_mm_loadu_si128(from));
      if constexpr (std::is_same_v<K, Brain>)
        return (typename V::type)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(from)),
                                                   16);
      if constexpr (std::is_same_v<K, WideByte<int8_t>>)
        return (typename V::type)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(from)));
      if constexpr (std::is_same_v<K, WideByte<uint8_t>>)
        return (typename V::type)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(from)));
    }
#endif
    alignas(bytes) typename K::Packed wide[V::lanes];
    K::run(s, wide, V::lanes);
    return *reinterpret_cast<const typename V::loose *>(wide);
  }
}

#if defined(__AVX2__)
// Rows become columns: element j of rows[i] goes to element i of rows[j].
inline void turn_eight(__m256 (&rows)[8]) {
  __m256 pairs[8], fours[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    fours[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    fours[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    fours[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    fours[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}
#endif

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
