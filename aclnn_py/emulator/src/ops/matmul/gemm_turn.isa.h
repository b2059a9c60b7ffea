// SPDX-License-Identifier: Apache-2.0
// The order in which products are added, and sixteen columns whose depths are turned in registers
// of 64 bytes. Compiled for the instruction set of the file that includes it.
#pragma once

#include "ops/matmul/gemm_kinds.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Which of an even number of depths is added as number `p`: of each pair the second one first.
[[maybe_unused]] constexpr int nth_depth(int p) { return p ^ 1; }

// The same for depths up to `end`, the last of which may have no partner.
[[maybe_unused]] inline int64_t nth_of(int64_t p, int64_t end) { return (p ^ 1) < end ? p ^ 1 : p; }

#if defined(__AVX512BW__)
constexpr int wide_lines = 16;       // columns that are turned at once in whole vectors
constexpr int64_t wide_depths = 32;  // depths of two bytes in a cache line
constexpr __mmask32 every_pair = ~__mmask32(0);

// Up to 32 depths of 16 columns: vector e holds depths e and 8 + e of all columns, in this order,
// vector 8 + e depths 16 + e and 24 + e.
inline void turn_sixteen(const uint16_t *b, int64_t step, __mmask32 depths, __m512i (&rows)[16]) {
  __m512i other[16];
  // The three rounds put the vectors of even numbers before those of odd ones.
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    rows[i] = _mm512_maskz_loadu_epi16(depths, b + (i % 2 * 8 + i / 2) * step);
  const auto round = [](const __m512i(&from)[16], __m512i(&to)[16]) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      to[2 * i] = _mm512_maskz_unpacklo_epi16(every_pair, from[i], from[i + 8]);
      to[2 * i + 1] = _mm512_maskz_unpackhi_epi16(every_pair, from[i], from[i + 8]);
    }
  };
  round(rows, other);
  round(other, rows);
  round(rows, other);
  const __m512i low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0),
                high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
#pragma GCC unroll 8
  for (int e = 0; e < 8; ++e) {
    rows[e] = _mm512_permutex2var_epi64(other[e], low, other[e + 8]);
    rows[e + 8] = _mm512_permutex2var_epi64(other[e], high, other[e + 8]);
  }
}

template <class K>
inline Vec<float, 64>::type floats_of(__m256i pairs) {
  constexpr __mmask16 all = 0xffff;
  if constexpr (std::is_same_v<K, Half>)
    return (Vec<float, 64>::type)_mm512_maskz_cvtph_ps(all, pairs);
  return (Vec<float, 64>::type)_mm512_maskz_slli_epi32(all, _mm512_maskz_cvtepu16_epi32(all, pairs),
                                                       16);
}

// Adds the products of 32 depths.
template <class K, int rows>
inline void add_sixteen(const uint16_t *b, int64_t step, const float *a,
                        Vec<float, 64>::type (&sum)[rows]) {
  __m512i turned[16];
  turn_sixteen(b, step, every_pair, turned);
#pragma GCC unroll 32
  for (int n = 0; n < wide_depths; ++n) {
    const int p = nth_depth(n);
    const __m512i both = turned[p / 16 * 8 + p % 8];
    const auto values = floats_of<K>(p / 8 % 2 ? _mm512_maskz_extracti64x4_epi64(0xf, both, 1)
                                               : _mm512_maskz_extracti64x4_epi64(0xf, both, 0));
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) sum[i] += a[p * rows + i] * values;
  }
}

// Adds those of fewer depths.
template <class K>
[[gnu::noinline]] void add_last_lines(const uint16_t *b, int64_t step, const float *a,
                                      int64_t depths, int rows, Vec<float, 64>::type *sum) {
  __m512i turned[16];
  turn_sixteen(b, step, every_pair >> (wide_depths - depths), turned);
  for (int64_t n = 0; n < depths; ++n) {
    const int64_t p = nth_of(n, depths);
    const auto *halves = reinterpret_cast<const __m256i *>(&turned[p / 16 * 8 + p % 8]);
    const auto values = floats_of<K>(_mm256_loadu_si256(halves + p / 8 % 2));
    for (int i = 0; i < rows; ++i) sum[i] += a[p * rows + i] * values;
  }
}

#endif

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
