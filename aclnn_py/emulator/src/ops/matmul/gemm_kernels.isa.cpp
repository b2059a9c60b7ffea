// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Compiled once per instruction set: vector extensions of the compiler give the width, the register
// tile is chosen for the number of registers.
#include "ops/matmul/gemm_kernels.h"

#include <utility>

#include "ops/matmul/gemm_kinds.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

#if defined(__AVX512F__)
constexpr int tile_rows = 12;
#elif defined(__AVX2__)
constexpr int tile_rows = 6;
#elif defined(__aarch64__)
constexpr int tile_rows = 8;
#else
constexpr int tile_rows = 4;
#endif

// The rows of the result are on their way to the cache while the products are summed.
template <int rows, class C>
inline void await_rows(const C *c, int64_t ldc, int columns) {
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    __builtin_prefetch(c + i * ldc, 1);
    __builtin_prefetch(c + i * ldc + columns - 1, 1);
  }
}

template <int rows, class T>
void tile(const T *a, const T *b, int64_t ldb, int64_t depth, T *c, int64_t ldc, bool add) {
  using V = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int lanes = Vec<T>::lanes;
  V sum[rows][2] = {};
  await_rows<rows>(c, ldc, 2 * lanes);
  for (int64_t p = 0; p < depth; ++p) {
    V left = *reinterpret_cast<const L *>(b), right = *reinterpret_cast<const L *>(b + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += a[i] * left;
      sum[i][1] += a[i] * right;
    }
    a += rows;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto *first = reinterpret_cast<L *>(c + i * ldc),
         *second = reinterpret_cast<L *>(c + i * ldc + lanes);
    *first = add ? V(*first) + sum[i][0] : sum[i][0];
    *second = add ? V(*second) + sum[i][1] : sum[i][1];
  }
}

using Whole = Vec<uint32_t>::type;  // int32 sums wrap as the device's do

// Per lane: the product of the low int16 plus that of the high int16.
inline Whole pair_products(Whole a, Whole b) {
#if defined(__AVX512BW__)
  return (Whole)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Whole)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (Whole)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  using Signed = Vec<int32_t>::type;
  const Signed x = (Signed)a, y = (Signed)b;
  return (Whole)((((Signed)(a << 16)) >> 16) * (((Signed)(b << 16)) >> 16) + (x >> 16) * (y >> 16));
#endif
}

template <int rows>
void tile_pairs(const int16_t *a, const int16_t *b, int64_t ldb, int64_t depth, int32_t *c,
                int64_t ldc, bool add) {
  using L = Vec<uint32_t>::loose;
  constexpr int lanes = Vec<uint32_t>::lanes;
  Whole sum[rows][2] = {};
  await_rows<rows>(c, ldc, 2 * lanes);
  for (int64_t p = 0; p < depth; p += 2) {
    const Whole left = *reinterpret_cast<const L *>(b),
                right = *reinterpret_cast<const L *>(b + 2 * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      uint32_t pair;
      memcpy(&pair, a + 2 * i, sizeof pair);
      const Whole both = pair - Whole{};
      sum[i][0] += pair_products(both, left);
      sum[i][1] += pair_products(both, right);
    }
    a += 2 * rows;
    b += 2 * ldb;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto *first = reinterpret_cast<L *>(c + i * ldc),
         *second = reinterpret_cast<L *>(c + i * ldc + lanes);
    *first = add ? Whole(*first) + sum[i][0] : sum[i][0];
    *second = add ? Whole(*second) + sum[i][1] : sum[i][1];
  }
}

uint16_t float_to_float16(float value) {
  uint32_t bits = float_to_bits(value), sign = (bits >> 16) & 0x8000u,
           magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u)
    return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x1FFu));
  // rounds to 65536 or above
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x38800000u) {  // subnormal result: the addition rounds at the right bit
    float shifted = bits_to_float(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (float_to_bits(shifted) - 0x3F000000u));
  }
  uint32_t rounded = magnitude + 0xC8000FFFu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

uint16_t float_to_brain(float value) {
  uint32_t bits = float_to_bits(value);
  uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
}

void to_f16(const float *source, uint16_t *target, int64_t count) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(target + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < count; ++i) target[i] = float_to_float16(source[i]);
}

void to_bfloat16(const float *source, uint16_t *target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = float_to_brain(source[i]);
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
      int16_t first[columns], second[columns] = {};
      K::run(row, first, columns);
      if (both) K::run(row + step, second, columns);
      for (int i = 0; i < columns; ++i) {
        packed[2 * i] = first[i];
        packed[2 * i + 1] = second[i];
      }
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
      for (int i = 0; i < columns; ++i) {
        packed[2 * i] = first[i];
        packed[2 * i + 1] = second[i];
      }
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
  if (count < width || panel.depth < units * per_unit)
    memset(packed, 0, static_cast<size_t>(width * units) * sizeof(U));
  if (panel.deep.stride == 1) {
    alignas(64) U staged[4][staging];
    U *target = static_cast<U *>(packed_raw);
    int64_t first = 0;
#if defined(__AVX2__)
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

template <class T, int... less_one>
constexpr void fill_tiles(GemmTile<T, T> *tiles, std::integer_sequence<int, less_one...>) {
  ((tiles[less_one] = tile<less_one + 1, T>), ...);
}

template <int... less_one>
constexpr GemmKernels make_table(std::integer_sequence<int, less_one...> heights) {
  GemmKernels k{};
  k.rows = tile_rows;
  k.columns = Vec<float>::columns;
  k.columns64 = Vec<double>::columns;
  fill_tiles<float>(k.tile_f32, heights);
  fill_tiles<double>(k.tile_f64, heights);
  ((k.tile_i32[less_one] = tile_pairs<less_one + 1>), ...);
  k.pack[static_cast<int>(GemmStorage::float32)] = pack<Float32>;
  k.pack[static_cast<int>(GemmStorage::float16)] = pack<Half>;
  k.pack[static_cast<int>(GemmStorage::bfloat16)] = pack<Brain>;
  k.pack[static_cast<int>(GemmStorage::int8)] = pack<Byte<int8_t>>;
  k.pack[static_cast<int>(GemmStorage::uint8)] = pack<Byte<uint8_t>>;
  k.pack[static_cast<int>(GemmStorage::float64)] = pack<Float64>;
  for (int i = 0; i < static_cast<int>(GemmStorage::count); ++i) k.pack_wide[i] = k.pack[i];
  k.pack_wide[static_cast<int>(GemmStorage::int8)] = pack<WideByte<int8_t>>;
  k.pack_wide[static_cast<int>(GemmStorage::uint8)] = pack<WideByte<uint8_t>>;
  k.to_f16 = to_f16;
  k.to_bfloat16 = to_bfloat16;
  k.from_f16 = from_f16;
  k.from_bfloat16 = from_bfloat16;
  return k;
}

}  // namespace

extern const GemmKernels gemm_table;
constexpr GemmKernels gemm_table = make_table(std::make_integer_sequence<int, tile_rows>());

}  // namespace EMU_ISA_NS
}  // namespace emu
