// SPDX-License-Identifier: Apache-2.0
// How operands of the matrix product become panels, whose elements lie in the order in which the
// tiles read them. For *.isa.cpp files only.
#pragma once

#include "ops/matmul/gemm_kernels.h"
#include "ops/matmul/gemm_kinds.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Rows of a tile, and of a full panel of `a`.
#if defined(__AVX512F__)
constexpr int tile_rows = 12;
#elif defined(__AVX2__)
constexpr int tile_rows = 6;
#elif defined(__aarch64__)
constexpr int tile_rows = 8;
#else
constexpr int tile_rows = 4;
#endif

// bfloat16 as it is, two depths beside each other.
struct BrainPair {
  using Stored = uint16_t;
  using Packed = uint16_t;
  using Unit = uint32_t;
  static uint16_t one(uint16_t v) { return v; }
  static void run(const uint16_t *s, uint16_t *t, int64_t n) {
    memcpy(t, s, static_cast<size_t>(n) * 2);
  }
};

// The rows of the result are on their way to the cache while the products are summed.
template <int rows, class C>
inline void await_rows(const C *c, int64_t ldc, int columns) {
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    __builtin_prefetch(c + i * ldc, 1);
    __builtin_prefetch(c + i * ldc + columns - 1, 1);
  }
}

// Two depths of a panel are read; those half a depth step further are on their way to the cache.
// They may belong to the next panel.
template <int rows, class P>
inline void await_panel(const P *a) {
  constexpr int step = 2 * rows, line = 64 / static_cast<int>(sizeof(P));
#pragma GCC unroll 4
  for (int i = 0; i < step; i += line) __builtin_prefetch(a + rows * (gemm_depth_step / 2) + i);
}

// `count` consecutive indices of an axis of unit stride, which blocks may cut into pieces.
template <class K>
void read_run(const typename K::Stored *source, const GemmAxis &axis, int64_t begin, int64_t count,
              typename K::Packed *target) {
  while (count > 0) {
    int64_t piece = axis.block ? axis.block - begin % axis.block : count;
    if (piece > count) piece = count;
    K::run(source + axis.at(begin), target, piece);
    begin += piece;
    target += piece;
    count -= piece;
  }
}

// depths transposed at a time; such rows stay in the first-level cache
constexpr int64_t staging = 256;
// Rows ahead of the one being packed that are asked for: long strides defeat the processor's own
// guesses.
constexpr int64_t ahead = 16;

// The elements of two depths beside each other.
template <int columns, class P>
inline void pair_up(const P (&first)[columns], const P (&second)[columns], P *packed) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  static_assert(sizeof(P) == 2 && columns == 16);
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(first)),
                b = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(second));
  const __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
  auto *to = reinterpret_cast<__m256i *>(packed);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
#else
  for (int i = 0; i < columns; ++i) {
    packed[2 * i] = first[i];
    packed[2 * i + 1] = second[i];
  }
#endif
}

// `depth` rows of exactly `columns` neighbours: the loops have a length the compiler knows.
template <class K, int columns>
void pack_full_rows(const typename K::Stored *row, int64_t step, int64_t depth,
                    typename K::Packed *packed) {
  constexpr int per_unit = sizeof(typename K::Unit) / sizeof(typename K::Packed);
  for (int64_t p = 0; p < depth; p += per_unit) {
    if constexpr (per_unit == 1) {
      __builtin_prefetch(row + ahead * step);
      K::run(row, packed, columns);
    } else {
      const bool both = p + 1 < depth;
      typename K::Packed first[columns], second[columns] = {};
      K::run(row, first, columns);
      if (both) K::run(row + step, second, columns);
      pair_up(first, second, packed);
    }
    row += per_unit * step;
    packed += per_unit * columns;
  }
}

// The same where the neighbours lie in blocks: the pieces are found once, not in every row.
template <class K, int columns>
void pack_blocked_rows(const typename K::Stored *row, const GemmAxis &wide, int64_t begin,
                       int64_t step, int64_t depth, typename K::Packed *packed) {
  using P = typename K::Packed;
  constexpr int per_unit = sizeof(typename K::Unit) / sizeof(P);
  int64_t places[columns], lengths[columns];
  int pieces = 0;
  for (int64_t i = 0; i < columns; i += lengths[pieces++]) {
    const int64_t rest = wide.block - (begin + i) % wide.block;
    places[pieces] = wide.at(begin + i);
    lengths[pieces] = rest < columns - i ? rest : columns - i;
  }
  if (pieces == 1) return pack_full_rows<K, columns>(row + places[0], step, depth, packed);
  const auto read = [&](const typename K::Stored *from, P *to) {
    for (int i = 0; i < pieces; to += lengths[i++]) K::run(from + places[i], to, lengths[i]);
  };
  for (int64_t p = 0; p < depth; p += per_unit) {
    if constexpr (per_unit == 1) {
      read(row, packed);
    } else {
      P first[columns], second[columns] = {};
      read(row, first);
      if (p + 1 < depth) read(row + step, second);
      pair_up(first, second, packed);
    }
    row += per_unit * step;
    packed += per_unit * columns;
  }
}

// `lines` rows of `run` staged units become columns of the panel.
template <int lines, class U>
void turn(const U (&staged)[4][staging], int64_t run, int64_t width, U *target) {
  for (int64_t q = 0; q < run; ++q) {
    U column[lines];
    for (int line = 0; line < lines; ++line) column[line] = staged[line][q];
    memcpy(target + q * width, column, sizeof column);
  }
}

#if defined(__AVX2__)
template <class K>
constexpr bool turns_in_registers = std::is_same_v<typename K::Unit, float>;

// `lines` neighbours of the wide axis, `step` apart in memory, each dense along the depth.
template <class K, int lines>
void turn_lines(const typename K::Stored *source, int64_t step, int64_t depth, int64_t width,
                float *target) {
  int64_t p = 0;
  for (; p + 8 <= depth; p += 8) {
    __m256 rows[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      rows[i] = lanes_of<K, 32>(source + (i < lines ? i : 0) * step + p);
      // The lines that are packed next.
      if (i < lines) __builtin_prefetch(source + (i + lines) * step + p);
    }
    turn_eight(rows);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      float *to = target + (p + i) * width;
      if constexpr (lines == 8) {
        _mm256_storeu_ps(to, rows[i]);
      } else {
        _mm_storeu_ps(to, _mm256_castps256_ps128(rows[i]));
        if constexpr (lines == 6)
          _mm_storel_pi(reinterpret_cast<__m64 *>(to + 4), _mm256_extractf128_ps(rows[i], 1));
      }
    }
  }
  for (; p < depth; ++p) {
    for (int i = 0; i < lines; ++i) target[p * width + i] = K::one(source[i * step + p]);
  }
}

// The same of two or four lines of float64.
template <int lines>
void turn_doubles(const double *source, int64_t step, int64_t depth, int64_t width,
                  double *target) {
  int64_t p = 0;
  if constexpr (lines == 4) {
    for (; p + 4 <= depth; p += 4) {
      __m256d rows[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) rows[i] = _mm256_loadu_pd(source + i * step + p);
      const __m256d even = _mm256_unpacklo_pd(rows[0], rows[1]),
                    odd = _mm256_unpackhi_pd(rows[0], rows[1]),
                    other_even = _mm256_unpacklo_pd(rows[2], rows[3]),
                    other_odd = _mm256_unpackhi_pd(rows[2], rows[3]);
      double *to = target + p * width;
      _mm256_storeu_pd(to, _mm256_permute2f128_pd(even, other_even, 0x20));
      _mm256_storeu_pd(to + width, _mm256_permute2f128_pd(odd, other_odd, 0x20));
      _mm256_storeu_pd(to + 2 * width, _mm256_permute2f128_pd(even, other_even, 0x31));
      _mm256_storeu_pd(to + 3 * width, _mm256_permute2f128_pd(odd, other_odd, 0x31));
    }
  }
  if constexpr (lines == 2) {
    for (; p + 2 <= depth; p += 2) {
      const __m128d first = _mm_loadu_pd(source + p), second = _mm_loadu_pd(source + step + p);
      _mm_storeu_pd(target + p * width, _mm_unpacklo_pd(first, second));
      _mm_storeu_pd(target + (p + 1) * width, _mm_unpackhi_pd(first, second));
    }
  }
  for (; p < depth; ++p) {
    for (int i = 0; i < lines; ++i) target[p * width + i] = source[i * step + p];
  }
}
#endif

#if defined(__AVX2__)
inline bool pack_as_floats(const GemmPanel &panel, void *packed);
#endif

template <class K>
void pack(const GemmPanel &panel, void *packed_raw) {
  using S = typename K::Stored;
  using P = typename K::Packed;
  using U = typename K::Unit;
  constexpr int64_t per_unit = sizeof(U) / sizeof(P);
  constexpr int columns = Vec<U>::columns;
  const S *source = static_cast<const S *>(panel.source);
  P *packed = static_cast<P *>(packed_raw);
  const int64_t width = panel.width, count = panel.wide_count;
  const int64_t units = (panel.depth + per_unit - 1) / per_unit;
  if (panel.wide.stride == 1 && !panel.wide.block && !panel.deep.block && count == columns &&
      width == columns)
    return pack_full_rows<K, columns>(source + panel.deep.at(panel.deep_begin) + panel.wide_begin,
                                      panel.deep.stride, panel.depth, packed);
  if (panel.wide.stride == 1 && panel.wide.block && !panel.deep.block && count == columns &&
      width == columns)
    return pack_blocked_rows<K, columns>(source + panel.deep.at(panel.deep_begin), panel.wide,
                                         panel.wide_begin, panel.deep.stride, panel.depth, packed);
  if constexpr (std::is_same_v<S, P> && per_unit == 1) {
    if (panel.wide.stride == 1 && !panel.wide.block && !panel.deep.block && count == width) {
      const S *first = source + panel.deep.at(panel.deep_begin) + panel.wide_begin;
      if (width == tile_rows)
        return pack_full_rows<K, tile_rows>(first, panel.deep.stride, panel.depth, packed);
      if (width == tile_rows - 1)
        return pack_full_rows<K, tile_rows - 1>(first, panel.deep.stride, panel.depth, packed);
    }
  }
  if (count < width || panel.depth < units * per_unit)
    memset(packed, 0, static_cast<size_t>(width * units) * sizeof(U));
  if (panel.deep.stride == 1) {
    alignas(64) U staged[4][staging];
    U *target = static_cast<U *>(packed_raw);
    int64_t first = 0;
#if defined(__AVX2__)
    if constexpr (std::is_same_v<K, BrainPair>) {
      if (pack_as_floats(panel, packed_raw)) return;
    }
    if constexpr (std::is_same_v<K, Float64>) {
      const int64_t step = panel.wide.stride;
      const bool even = !panel.wide.block && !panel.deep.block;
      for (int64_t lines = 0; even && count - first >= 2; first += lines) {
        const double *from = source + (panel.wide_begin + first) * step + panel.deep_begin;
        lines = count - first >= 4 ? 4 : 2;
        if (lines == 4) turn_doubles<4>(from, step, panel.depth, width, packed + first);
        else turn_doubles<2>(from, step, panel.depth, width, packed + first);
      }
    }
    if constexpr (turns_in_registers<K>) {
      const int64_t step = panel.wide.stride;
      const bool even = !panel.wide.block && !panel.deep.block;
      while (even && count - first >= 4) {
        const S *from = source + (panel.wide_begin + first) * step + panel.deep_begin;
        if (count - first >= 8) {
          turn_lines<K, 8>(from, step, panel.depth, width, packed + first);
          first += 8;
        } else if (count - first == 6) {
          turn_lines<K, 6>(from, step, panel.depth, width, packed + first);
          first += 6;
        } else {
          turn_lines<K, 4>(from, step, panel.depth, width, packed + first);
          first += 4;
        }
      }
    }
#endif
    for (; first < count; first += 4) {
      const int64_t lines = count - first < 4 ? count - first : 4;
      for (int64_t u = 0; u < units; u += staging) {
        const int64_t run = units - u < staging ? units - u : staging, p = u * per_unit;
        const int64_t deep = panel.depth - p < run * per_unit ? panel.depth - p : run * per_unit;
        for (int64_t line = 0; line < lines; ++line) {
          staged[line][run - 1] = U();  // whose second half may have no depth to fill it
          read_run<K>(source + panel.wide.at(panel.wide_begin + first + line), panel.deep,
                      panel.deep_begin + p, deep, reinterpret_cast<P *>(staged[line]));
        }
        U *to = target + u * width + first;
        if (lines == 4) turn<4>(staged, run, width, to);
        else if (lines == 3) turn<3>(staged, run, width, to);
        else if (lines == 2) turn<2>(staged, run, width, to);
        else turn<1>(staged, run, width, to);
      }
    }
    return;
  }
  for (int64_t p = 0; p < panel.depth; ++p) {
    const S *line = source + panel.deep.at(panel.deep_begin + p);
    P *target = packed + p / per_unit * width * per_unit + p % per_unit;
    if (per_unit == 1 && panel.wide.stride == 1) {
      read_run<K>(line, panel.wide, panel.wide_begin, count, target);
      continue;
    }
    for (int64_t i = 0; i < count; ++i)
      target[i * per_unit] = K::one(line[panel.wide.at(panel.wide_begin + i)]);
  }
}

#if defined(__AVX2__)
// Pairs of neighbouring depths are moved as if each was one float32, where all of them lie at
// multiples of their size. False, and nothing is done, where they do not.
inline bool pack_as_floats(const GemmPanel &panel, void *packed) {
  if (panel.wide.block || panel.deep.block || panel.wide.stride % 2 != 0 ||
      panel.deep_begin % 2 != 0 || reinterpret_cast<uintptr_t>(panel.source) % 4 != 0)
    return false;
  GemmPanel pairs = panel;
  pairs.wide.stride /= 2;
  pairs.deep_begin /= 2;
  pairs.depth /= 2;
  pack<Float32>(pairs, packed);
  if (panel.depth % 2 == 0) return true;
  auto *last = static_cast<uint16_t *>(packed) + (panel.depth - 1) * panel.width;
  memset(last, 0, static_cast<size_t>(panel.width) * sizeof(uint32_t));
  const auto *from =
      static_cast<const uint16_t *>(panel.source) + panel.deep_begin + panel.depth - 1;
  for (int64_t i = 0; i < panel.wide_count; ++i)
    last[2 * i] = from[(panel.wide_begin + i) * panel.wide.stride];
  return true;
}
#endif

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
