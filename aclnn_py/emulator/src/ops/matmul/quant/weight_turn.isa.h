// SPDX-License-Identifier: Apache-2.0
// Numbers of a weight whose depths are neighbours become rows of bytes. Compiled for the
// instruction set of the file that includes it.
#pragma once

#include <string.h>

#include <cstdint>

#include "core/isa.h"
#include "ops/matmul/gemm_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

#if defined(__x86_64__)
inline __m128i lower(__m128i a, __m128i b) { return _mm_unpacklo_epi8(a, b); }
inline __m128i upper(__m128i a, __m128i b) { return _mm_unpackhi_epi8(a, b); }
#if defined(__AVX2__)
inline __m256i lower(__m256i a, __m256i b) { return _mm256_unpacklo_epi8(a, b); }
inline __m256i upper(__m256i a, __m256i b) { return _mm256_unpackhi_epi8(a, b); }
#endif
#if defined(__AVX512BW__)
constexpr __mmask64 every_byte = ~__mmask64(0);
inline __m512i lower(__m512i a, __m512i b) { return _mm512_maskz_unpacklo_epi8(every_byte, a, b); }
inline __m512i upper(__m512i a, __m512i b) { return _mm512_maskz_unpackhi_epi8(every_byte, a, b); }
using Widest = __m512i;
#elif defined(__AVX2__)
using Widest = __m256i;
#else
using Widest = __m128i;
#endif

// The bytes of 16 columns, as many of each as W has: byte q of `column` becomes row q.
template <class W>
inline void turn_bytes(const uint8_t *from, int64_t step, W (&rows)[16]) {
  W other[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) memcpy(&rows[i], from + i * step, sizeof(W));
#pragma GCC unroll 2
  for (int round = 0; round < 2; ++round) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      other[2 * i] = lower(rows[i], rows[i + 8]);
      other[2 * i + 1] = upper(rows[i], rows[i + 8]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      rows[2 * i] = lower(other[i], other[i + 8]);
      rows[2 * i + 1] = upper(other[i], other[i + 8]);
    }
  }
}

// As many depths of 16 columns as W has bytes, or twice as many; of each group of 16 bytes in a
// vector the rows are 16 apart.
template <class S, class W>
inline void turn_columns(const uint8_t *from, int64_t step, uint8_t *to, int64_t row_step) {
  typedef uint8_t V __attribute__((vector_size(sizeof(W))));
  W rows[16];
  turn_bytes(from, step, rows);
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r) {
    const V bytes = (V)rows[r];
    if constexpr (S::vectors == 1) {
      for (unsigned l = 0; l < sizeof(W) / 16; ++l)
        memcpy(to + (16 * l + r) * row_step, reinterpret_cast<const char *>(&bytes) + 16 * l, 16);
    } else {
      const V first = ((bytes & 15) ^ 8) - 8, second = ((bytes >> 4) ^ 8) - 8;
      for (unsigned l = 0; l < sizeof(W) / 16; ++l) {
        uint8_t *row = to + 2 * (16 * l + r) * row_step;
        memcpy(row, reinterpret_cast<const char *>(&first) + 16 * l, 16);
        memcpy(row + row_step, reinterpret_cast<const char *>(&second) + 16 * l, 16);
      }
    }
  }
}
#endif

template <class S>
void turn(const uint8_t *from, int64_t step, int64_t columns, int64_t depth, uint8_t *to,
          int64_t row_step) {
  constexpr int64_t per_byte = S::vectors;
  // What is asked for early: the same depths of the columns that come next, or the next depth step
  // where these lie too far away to stay in the second cache.
  constexpr int64_t near = int64_t(1) << 18;
  [[maybe_unused]] const int64_t ahead =
      columns * step <= near ? columns * step : gemm_depth_step / per_byte;
  int64_t j = 0;
#if defined(__x86_64__)
  for (; j + 16 <= columns; j += 16) {
    const uint8_t *b = from + j * step;
    int64_t p = 0;
    for (constexpr int64_t all = per_byte * sizeof(Widest); p + all <= depth; p += all) {
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) __builtin_prefetch(b + i * step + p / per_byte + ahead, 0, 2);
      turn_columns<S, Widest>(b + p / per_byte, step, to + p * row_step + j, row_step);
    }
    for (constexpr int64_t all = per_byte * sizeof(__m128i); p + all <= depth; p += all)
      turn_columns<S, __m128i>(b + p / per_byte, step, to + p * row_step + j, row_step);
    for (; p < depth; ++p)
      for (int i = 0; i < 16; ++i)
        to[p * row_step + j + i] = static_cast<uint8_t>(static_cast<int>(S::one(b + i * step, p)));
  }
#endif
  for (; j < columns; ++j)
    for (int64_t p = 0; p < depth; ++p)
      to[p * row_step + j] = static_cast<uint8_t>(static_cast<int>(S::one(from + j * step, p)));
}

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
