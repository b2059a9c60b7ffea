// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Products of a few rows with a quantised weight, which wait for memory: the numbers are read once,
// become weights in registers, and are multiplied there.
#include "ops/matmul/quant/weight_stream_kernels.h"

#include <utility>

#include "ops/matmul/gemm_kinds.isa.h"
#include "ops/matmul/quant/weight_turn.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

using F = Vec<float>::type;
using Loose = Vec<float>::loose;
constexpr int lanes = Vec<float>::lanes;

inline int nibble(const uint8_t *b, int64_t i) {
  const int bits = b[i / 2] >> (i % 2 * 4) & 15;
  return bits < 8 ? bits : bits - 16;
}

// The numbers of a row as float32: number j, and a block of vectors from column j on.
struct Bytes {
  static constexpr int vectors = 1;
  static float one(const uint8_t *b, int64_t j) { return static_cast<int8_t>(b[j]); }
  static void run(const uint8_t *b, int64_t j, F (&to)[vectors]) {
    to[0] = lanes_of<WideByte<int8_t>>(reinterpret_cast<const int8_t *>(b) + j);
  }
};
// A vector of the lower halves, then one of the upper halves.
struct Halves {
  static constexpr int vectors = 2;
  static float one(const uint8_t *b, int64_t j) { return static_cast<float>(nibble(b, j)); }
  static void run(const uint8_t *b, int64_t j, F (&to)[vectors]) {
    const uint8_t *from = b + j / 2;
#if defined(__AVX512F__)
    // The lowest four bits of a lane choose what they stand for.
    constexpr __mmask16 all = 0xffff;
    const __m512 meaning = _mm512_set_ps(-1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i bytes =
        _mm512_maskz_cvtepu8_epi32(all, _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
    to[0] = (F)_mm512_maskz_permutexvar_ps(all, bytes, meaning);
    to[1] = (F)_mm512_maskz_permutexvar_ps(all, _mm512_maskz_srli_epi32(all, bytes, 4), meaning);
#elif defined(__AVX2__)
    const __m256i bytes =
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)));
    to[0] = (F)_mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(bytes, 28), 28));
    to[1] = (F)_mm256_cvtepi32_ps(_mm256_srai_epi32(bytes, 4));
#else
    F low{}, high{};
    for (int i = 0; i < lanes; ++i) {
      low[i] = one(from, 2 * i);
      high[i] = one(from, 2 * i + 1);
    }
    to[0] = low;
    to[1] = high;
#endif
  }
};

// The 16-bit kinds. A tame value, one that stays finite, is rounded to the nearest, half to even,
// by adding and subtracting 1.5 * 2^n times the power of two it begins with: the sum has no room
// for what is behind the last bit of the kind. `least` is where the kind's own steps end.
struct Float16 {
  static constexpr float factor = 1.5f * 8192, split = 8193, least = 0x1p-14f, limit = 65504;
  static uint16_t bits(float v) {
    uint32_t x = float_to_bits(v);
    const uint32_t sign = x >> 16 & 0x8000;
    x &= 0x7fffffff;
    if (x >= 0x7f800000) return static_cast<uint16_t>(sign | (x > 0x7f800000 ? 0x7e00 : 0x7c00));
    if (x >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
    if (x < 0x38800000) {  // below the normal range: the sum shifts the bits and rounds them
      const uint32_t sum = float_to_bits(bits_to_float(x) + 0.5f);
      return static_cast<uint16_t>(sign | (sum - 0x3f000000));
    }
    x += 0xfff + (x >> 13 & 1);
    return static_cast<uint16_t>(sign | (x - 0x38000000) >> 13);
  }
  static float rounded(float v) { return float16_to_float(bits(v)); }
};
struct Bfloat16 {
  static constexpr float factor = 1.5f * 65536, split = 65537, least = 0x1p-126f, limit = 0x1p100f;
  static uint16_t bits(float v) {
    const uint32_t x = float_to_bits(v);
    if (v != v) return static_cast<uint16_t>(x >> 16 | 0x40);
    return static_cast<uint16_t>((x + 0x7fff + (x >> 16 & 1)) >> 16);
  }
  static float rounded(float v) { return bits_to_float(static_cast<uint32_t>(bits(v)) << 16); }
};

template <class R>
inline F rounded_tame(F v) {
  using I = Vec<int32_t>::type;
  F power = (F)((I)v & 0x7f800000);
#if defined(__AVX512F__)
  power = (F)_mm512_maskz_max_ps(0xffff, (__m512)power, _mm512_set1_ps(R::least));
#elif defined(__AVX2__)
  power = (F)_mm256_max_ps((__m256)power, _mm256_set1_ps(R::least));
#else
  for (int i = 0; i < lanes; ++i) power[i] = power[i] > R::least ? power[i] : R::least;
#endif
  const F sum = power * R::factor + v;
  return sum - power * R::factor;
}

template <class R>
F rounded_any(F v) {
  for (int i = 0; i < lanes; ++i) v[i] = R::rounded(v[i]);
  return v;
}

// A value that the compiler must not contract with what it enters.
inline F kept(F v) {
#if defined(__x86_64__)
  __asm__("" : "+v"(v));
#elif defined(__aarch64__)
  __asm__("" : "+w"(v));
#else
  const volatile F stored = v;
  v = stored;
#endif
  return v;
}

// The exact products numbers * scale, rounded: `split` is 1 and two to the number of bits that are
// dropped, so that `high` has no room for them (Veltkamp's splitting; a tie goes to even). `wide`,
// which is scale * split, is exact too.
inline F rounded_exact(F numbers, F scale, F wide) {
  const F high = kept(numbers * wide);
  return high + kept(numbers * scale - high);
}

// One rounding of the exact number * scale + shift to float32, with or without the instruction.
inline float weight_of(float number, float scale, float shift) {
  return static_cast<float>(static_cast<double>(number) * scale + shift);
}

inline F weights_of(F numbers, F scale, F shift) {
#if defined(__AVX2__)
  return numbers * scale + shift;  // contracted
#else
  F weights;
  for (int i = 0; i < lanes; ++i) weights[i] = weight_of(numbers[i], scale[i], shift[i]);
  return weights;
#endif
}

// Adds the products of `deep` depths, one or an even number of them, to the sums of all columns.
template <class S, class R, WeightRange range, int rows, int deep>
void add_depths(const float *a, const uint8_t *b, const WeightStream &s, bool add) {
  constexpr int vectors = S::vectors;
  constexpr int line = 64;
  float factors[deep * rows];
  memcpy(factors, a, sizeof factors);
  const uint8_t *row[deep];
  for (int p = 0; p < deep; ++p) row[p] = b + p * s.step;
  // The rows that come next are asked for one after the other, as memory has them: the processor
  // foresees long pieces only.
  const uint8_t *next = b + deep * s.step;
  const int64_t row_bytes = s.columns / vectors;
  int64_t j = 0, at = 0;
  for (; j + vectors * lanes <= s.columns; j += vectors * lanes) {
    if constexpr (deep > 1) {
#pragma GCC unroll 4
      for (int i = 0; i < deep * lanes / line; ++i) __builtin_prefetch(next + at + i * line);
      at += deep * lanes;
      if (at >= row_bytes) {
        at -= row_bytes;
        next += s.step;
      }
    }
    // Of the scale times `split` where the range is exact, of the shift otherwise.
    F scale[vectors], other[vectors], sum[rows][vectors] = {};
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      scale[v] = *reinterpret_cast<const Loose *>(s.scale + j + v * lanes);
      if constexpr (range == WeightRange::exact) {
        other[v] = scale[v] * R::split;
      } else {
        other[v] = *reinterpret_cast<const Loose *>(s.shift + j + v * lanes);
      }
#pragma GCC unroll 16
      for (int i = 0; i < rows && add; ++i)
        sum[i][v] = *reinterpret_cast<const Loose *>(s.sums + i * s.sums_stride + j + v * lanes);
    }
#pragma GCC unroll 16
    for (int n = 0; n < deep; ++n) {
      const int p = deep > 1 ? n ^ 1 : n;  // the order of the general product
      F numbers[vectors];
      S::run(row[p], j, numbers);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        F weights;
        if constexpr (range == WeightRange::exact) {
          weights = rounded_exact(numbers[v], scale[v], other[v]);
        } else if constexpr (range == WeightRange::tame) {
          weights = rounded_tame<R>(weights_of(numbers[v], scale[v], other[v]));
        } else {
          weights = rounded_any<R>(weights_of(numbers[v], scale[v], other[v]));
        }
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) sum[i][v] += factors[p * rows + i] * weights;
      }
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i)
        *reinterpret_cast<Loose *>(s.sums + i * s.sums_stride + j + v * lanes) = sum[i][v];
  }
  for (; j < s.columns; ++j) {
    const float shift = range == WeightRange::exact ? 0 : s.shift[j];
    for (int i = 0; i < rows; ++i) {
      float sum = add ? s.sums[i * s.sums_stride + j] : 0.0f;
      for (int n = 0; n < deep; ++n) {
        const int p = deep > 1 ? n ^ 1 : n;
        sum += factors[p * rows + i] * R::rounded(weight_of(S::one(row[p], j), s.scale[j], shift));
      }
      s.sums[i * s.sums_stride + j] = sum;
    }
  }
}

template <class S, class R, WeightRange range, int rows>
void across_range(const WeightStream &s) {
  constexpr int deep = range == WeightRange::any ? 2 : rows <= 2 ? 8 : 4;
  int64_t p = 0;
  for (; p + deep <= s.depth; p += deep)
    add_depths<S, R, range, rows, deep>(s.a + p * rows, s.b + p * s.step, s, s.add || p > 0);
  for (; p + 2 <= s.depth && deep > 2; p += 2)
    add_depths<S, R, range, rows, 2>(s.a + p * rows, s.b + p * s.step, s, s.add || p > 0);
  if (p < s.depth)
    add_depths<S, R, range, rows, 1>(s.a + p * rows, s.b + p * s.step, s, s.add || p > 0);
}

template <class S, class R, int rows>
void across(const WeightStream &s) {
  switch (s.range) {
    case WeightRange::exact: return across_range<S, R, WeightRange::exact, rows>(s);
    case WeightRange::tame: return across_range<S, R, WeightRange::tame, rows>(s);
    case WeightRange::any: return across_range<S, R, WeightRange::any, rows>(s);
  }
}

// Column j of those of the lower halves comes from column 2 * j, and so on, block by block.
inline void in_halves(float *values, int64_t count) {
  constexpr int block = Halves::vectors * lanes;
  for (int64_t j = 0; j + block <= count; j += block) {
#if defined(__AVX512F__)
    const __m512 low = _mm512_loadu_ps(values + j), high = _mm512_loadu_ps(values + j + lanes);
    const __m512i even =
                      _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                  odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    _mm512_storeu_ps(values + j, _mm512_permutex2var_ps(low, even, high));
    _mm512_storeu_ps(values + j + lanes, _mm512_permutex2var_ps(low, odd, high));
#else
    float from[block];
    memcpy(from, values + j, sizeof from);
    for (int i = 0; i < lanes; ++i) values[j + i] = from[2 * i];
    for (int i = 0; i < lanes; ++i) values[j + lanes + i] = from[2 * i + 1];
#endif
  }
}

// One pass: the tables of a group are as long as its rows.
template <class S, class R>
WeightRange prepare(float *scale, float *shift, int64_t count, bool shifted, bool same_kind) {
  int32_t wild = 0, small = 0;
  if (!shifted) {
    for (int64_t j = 0; j < count; ++j) {
      const float size = __builtin_fabsf(scale[j]);
      wild |= 128 * size < R::limit ? 0 : 1;
      small |= size >= R::least ? 0 : 1;
    }
  } else {
    for (int64_t j = 0; j < count; ++j) {
      shift[j] = shift[j] == 0 ? 0 : shift[j] * scale[j];
      wild |= 128 * __builtin_fabsf(scale[j]) + __builtin_fabsf(shift[j]) < R::limit ? 0 : 1;
    }
  }
  const bool exact = !shifted && same_kind && !wild && !small;
  if (!shifted && !exact) memset(shift, 0, static_cast<size_t>(count) * sizeof(float));
  if constexpr (S::vectors > 1) {
    in_halves(scale, count);
    if (shifted) in_halves(shift, count);
  }
  return exact ? WeightRange::exact : wild ? WeightRange::any : WeightRange::tame;
}

template <class R>
void dequantise(const int8_t *numbers, int64_t count, const float *scale, const float *shift,
                uint16_t *out) {
  for (int64_t j = 0; j < count; ++j) out[j] = R::bits(weight_of(numbers[j], scale[j], shift[j]));
}

template <class S, class R, int... less_one>
constexpr void fill(WeightStreams *streams, WeightStorage storage, WeightRounding rounding,
                    std::integer_sequence<int, less_one...>) {
  const int s = static_cast<int>(storage), r = static_cast<int>(rounding);
  ((streams->across[s][r][less_one] = across<S, R, less_one + 1>), ...);
  streams->prepare[s][r] = prepare<S, R>;
  streams->turn[s] = turn<S>;
  streams->dequantise[r] = dequantise<R>;
}

constexpr WeightStreams make_streams() {
  WeightStreams streams{};
  streams.block = Halves::vectors * lanes;
  constexpr int rows = vector_bytes == 64 ? most_streamed_rows : most_streamed_rows / 2;
  streams.rows = rows;
  const std::make_integer_sequence<int, rows> heights;
  fill<Bytes, Float16>(&streams, WeightStorage::bytes, WeightRounding::float16, heights);
  fill<Bytes, Bfloat16>(&streams, WeightStorage::bytes, WeightRounding::bfloat16, heights);
  fill<Halves, Float16>(&streams, WeightStorage::halves, WeightRounding::float16, heights);
  fill<Halves, Bfloat16>(&streams, WeightStorage::halves, WeightRounding::bfloat16, heights);
  return streams;
}

}  // namespace

extern const WeightStreams weight_stream_table;
constexpr WeightStreams weight_stream_table = make_streams();

}  // namespace EMU_ISA_NS
}  // namespace emu
