// SPDX-License-Identifier: Apache-2.0
// Numbers of a weight whose depths are neighbours become rows of words: a word of 32 bits holds the
// next depths of one column. Compiled for the instruction set of the file that includes it.
#pragma once

#include <string.h>

#include <cstdint>

#include "ops/matmul/gemm_kinds.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

constexpr int64_t word_bytes = 4;

#if defined(__AVX512F__)
// As many words of as many columns as a vector has: word q of rows[i] goes to word i of rows[q].
inline void turn_words(__m512i (&rows)[16]) {
  constexpr __mmask16 all = 0xffff;
  constexpr __mmask8 pairs = 0xff;
  __m512i other[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    other[i] = _mm512_maskz_unpacklo_epi32(all, rows[i], rows[i + 1]);
    other[i + 1] = _mm512_maskz_unpackhi_epi32(all, rows[i], rows[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      rows[i + 2 * h] = _mm512_maskz_unpacklo_epi64(pairs, other[i + h], other[i + h + 2]);
      rows[i + 2 * h + 1] = _mm512_maskz_unpackhi_epi64(pairs, other[i + h], other[i + h + 2]);
    }
  // rows[4 * i + c] has word 4 * l + c of four columns in its part l.
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512i even = _mm512_maskz_shuffle_i32x4(all, rows[c], rows[4 + c], 0x88),
                  odd = _mm512_maskz_shuffle_i32x4(all, rows[c], rows[4 + c], 0xdd),
                  even_too = _mm512_maskz_shuffle_i32x4(all, rows[8 + c], rows[12 + c], 0x88),
                  odd_too = _mm512_maskz_shuffle_i32x4(all, rows[8 + c], rows[12 + c], 0xdd);
    other[c] = _mm512_maskz_shuffle_i32x4(all, even, even_too, 0x88);
    other[4 + c] = _mm512_maskz_shuffle_i32x4(all, odd, odd_too, 0x88);
    other[8 + c] = _mm512_maskz_shuffle_i32x4(all, even, even_too, 0xdd);
    other[12 + c] = _mm512_maskz_shuffle_i32x4(all, odd, odd_too, 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) rows[i] = other[i];
}
#endif
#if defined(__AVX2__)
inline void turn_words(__m256 (&rows)[8]) { turn_eight(rows); }
#elif defined(__x86_64__)
inline void turn_words(__m128 (&rows)[4]) { _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]); }
#endif

#if defined(__x86_64__)
// A square of words from `columns` columns.
template <class W, int columns>
inline void turn_square(const uint8_t *from, int64_t step, uint8_t *to, int64_t row_step) {
  W rows[columns];
  static_assert(sizeof(W) == columns * word_bytes);
#pragma GCC unroll 16
  for (int i = 0; i < columns; ++i) memcpy(&rows[i], from + i * step, sizeof(W));
  turn_words(rows);
#pragma GCC unroll 16
  for (int i = 0; i < columns; ++i) memcpy(to + i * row_step, &rows[i], sizeof(W));
}
#endif

// Whole words of `columns` columns from byte `p` on; returns the first byte that is left.
template <int columns>
int64_t turn_columns(const uint8_t *from, int64_t step, int64_t p, int64_t bytes, uint8_t *to,
                     int64_t row_step) {
#if defined(__x86_64__)
  for (constexpr int64_t all = columns * word_bytes; p + all <= bytes; p += all) {
    uint8_t *row = to + p / word_bytes * row_step;
#if defined(__AVX512F__)
    if constexpr (columns == 16) turn_square<__m512i, columns>(from + p, step, row, row_step);
#endif
#if defined(__AVX2__)
    if constexpr (columns == 8) turn_square<__m256, columns>(from + p, step, row, row_step);
#else
    turn_square<__m128, columns>(from + p, step, row, row_step);
#endif
  }
#endif
  return p;
}

template <int bits>
void turn(const uint8_t *from, int64_t step, int64_t columns, int64_t depth, uint8_t *to,
          int64_t row_step, int64_t ahead) {
#if defined(__AVX512F__)
  constexpr int64_t square = 16;
#elif defined(__AVX2__)
  constexpr int64_t square = 8;
#else
  constexpr int64_t square = 4;
#endif
  constexpr int64_t line = 64;
  const int64_t bytes = (depth * bits + 7) / 8;
  for (int64_t j = 0; j < columns; j += square) {
    const uint8_t *b = from + j * step;
    uint8_t *word = to + j * word_bytes;
    const int64_t count = columns - j < square ? columns - j : square;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t p = 0; p < bytes; p += line) __builtin_prefetch(b + i * step + p + ahead, 0, 2);
    int64_t p = 0;
    if (count == square) {
      p = turn_columns<square>(b, step, p, bytes, word, row_step);
#if defined(__AVX512F__)
      const int64_t half = p;
      for (int64_t i = 0; i < square; i += 8)
        p = turn_columns<8>(b + i * step, step, half, bytes, word + i * word_bytes, row_step);
#endif
    }
    for (; p < bytes; p += word_bytes)
      for (int64_t i = 0; i < count; ++i)
        memcpy(word + p / word_bytes * row_step + i * word_bytes, b + i * step + p,
               static_cast<size_t>(bytes - p < word_bytes ? bytes - p : word_bytes));
  }
}

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
