// SPDX-License-Identifier: Apache-2.0
// Scales and offsets of a group in the order and in the form in which products need them. Compiled
// for the instruction set of the file that includes it.
#pragma once

#include "ops/matmul/quant/weight_numbers.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Neighbouring columns go to the vectors that have their numbers: column i to vector i % vectors.
template <int vectors>
inline void deal([[maybe_unused]] F (&v)[vectors]) {
  if constexpr (vectors == 1) return;
#if defined(__AVX512F__)
  static_assert(vectors <= 2);
  if constexpr (vectors == 2) {
    const __m512i even =
                      _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                  odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    const __m512 low = (__m512)v[0], high = (__m512)v[1];
    v[0] = (F)_mm512_permutex2var_ps(low, even, high);
    v[1] = (F)_mm512_permutex2var_ps(low, odd, high);
  }
#else
#if defined(__AVX2__)
  if constexpr (vectors == 8) {
    __m256 rows[8];
    memcpy(rows, v, sizeof rows);
    turn_eight(rows);
    memcpy(v, rows, sizeof rows);
    return;
  }
  if constexpr (vectors == 4) {
    const __m256 a = (__m256)v[0], b = (__m256)v[1], c = (__m256)v[2], d = (__m256)v[3];
    const __m256 rows[] = {_mm256_permute2f128_ps(a, c, 0x20), _mm256_permute2f128_ps(a, c, 0x31),
                           _mm256_permute2f128_ps(b, d, 0x20), _mm256_permute2f128_ps(b, d, 0x31)};
    const __m256 low = _mm256_unpacklo_ps(rows[0], rows[1]),
                 low_too = _mm256_unpacklo_ps(rows[2], rows[3]),
                 high = _mm256_unpackhi_ps(rows[0], rows[1]),
                 high_too = _mm256_unpackhi_ps(rows[2], rows[3]);
    v[0] = (F)_mm256_shuffle_ps(low, low_too, 0x44);
    v[1] = (F)_mm256_shuffle_ps(low, low_too, 0xee);
    v[2] = (F)_mm256_shuffle_ps(high, high_too, 0x44);
    v[3] = (F)_mm256_shuffle_ps(high, high_too, 0xee);
    return;
  }
#endif
  float from[vectors * lanes];
  memcpy(from, v, sizeof from);
  for (int i = 0; i < vectors * lanes; ++i) v[i % vectors][i / vectors] = from[i];
#endif
}

// `from(j)` is the vector of scales from column j on. `shift` has what is to be added, if
// `shifted`. The last block is a full one: what is behind its columns may be anything.
template <class S, class R, WeightRange range, class From>
void arrange(int64_t count, From from, float *scale, float *shift, bool shifted) {
  constexpr int vectors = S::vectors;
  for (int64_t j = 0; j < count; j += vectors * lanes) {
    F scales[vectors], shifts[vectors] = {};
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      scales[v] = from(j + v * lanes);
      if (shifted) shifts[v] = load(shift + j + v * lanes);
    }
    deal(scales);
    if (shifted) deal(shifts);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const F units = range == WeightRange::any ? scales[v] : scales[v] * S::unit;
      constexpr bool exact = range == WeightRange::exact;
      store(exact ? units * R::split : units, scale + j + v * lanes);
      store(exact ? units * (R::split + 1) : shifts[v], shift + j + v * lanes);
    }
  }
}

// One pass: the tables of a group are as long as its rows.
template <class S, class R>
WeightRange prepare(float *scale, float *shift, int64_t count, bool shifted, bool same_kind) {
  // A scale takes the unit of the numbers in unless it leaves the normal range of float32.
  constexpr float least = S::unit == 1 ? 0 : 0x1p-90f;
  int32_t wild = 0, small = 0;
  for (int64_t j = 0; j < count; ++j) {
    const float size = __builtin_fabsf(scale[j]);
    if (shifted) shift[j] = shift[j] == 0 ? 0 : shift[j] * scale[j];
    const float added = shifted ? __builtin_fabsf(shift[j]) : 0.0f;
    wild |= 128 * size + added < R::limit && (size >= least || size == 0) ? 0 : 1;
    small |= size >= R::lowest ? 0 : 1;
  }
  const auto from = [scale](int64_t j) { return load(scale + j); };
  if (wild) {
    arrange<S, R, WeightRange::any>(count, from, scale, shift, shifted);
    return WeightRange::any;
  }
  if (small || shifted || !same_kind) {
    arrange<S, R, WeightRange::tame>(count, from, scale, shift, shifted);
    return WeightRange::tame;
  }
  arrange<S, R, WeightRange::exact>(count, from, scale, shift, false);
  return WeightRange::exact;
}

// The same for scales of the kind that weights are rounded to, which are not shifted; false where
// the range is not `exact`.
template <class S, class R>
bool prepare_exact(const uint16_t *bits, float *scale, float *shift, int64_t count) {
  uint16_t least = 0x7fff, most = 0;
  for (int64_t j = 0; j < count; ++j) {
    const auto size = static_cast<uint16_t>(bits[j] & 0x7fff);
    least = size < least ? size : least;
    most = size > most ? size : most;
  }
  if (least < R::bits(R::lowest) || most >= R::bits(R::limit / 128)) return false;
  const auto from = [bits, count](int64_t j) {
    if (j + lanes <= count) return lanes_of<typename R::Kind>(bits + j);
    uint16_t last[lanes] = {};
    if (j < count) memcpy(last, bits + j, static_cast<size_t>(count - j) * sizeof(uint16_t));
    return lanes_of<typename R::Kind>(last);
  };
  arrange<S, R, WeightRange::exact>(count, from, scale, shift, false);
  return true;
}

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
