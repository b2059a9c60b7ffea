// SPDX-License-Identifier: Apache-2.0
// Numbers of a quantised weight in vectors, and how they become weights. Compiled for the
// instruction set of the file that includes it.
#pragma once

#include "ops/matmul/gemm_kinds.isa.h"
#include "ops/matmul/quant/weight_stream_kernels.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

using F = Vec<float>::type;
using Loose = Vec<float>::loose;
constexpr int lanes = Vec<float>::lanes;

inline F load(const float *from) { return *reinterpret_cast<const Loose *>(from); }
inline void store(F values, float *to) { *reinterpret_cast<Loose *>(to) = values; }

inline int nibble(const uint8_t *b, int64_t i) {
  const int bits = b[i / 2] >> (i % 2 * 4) & 15;
  return bits < 8 ? bits : bits - 16;
}

#if defined(__AVX512F__)
// The lowest four bits of a lane choose what they stand for.
inline F meaning_of(__m512i bits) {
  const __m512 meaning = _mm512_set_ps(-1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0);
  return (F)_mm512_maskz_permutexvar_ps(0xffff, bits, meaning);
}
#endif

// Each storage gives the number of column j, or `vectors` vectors of numbers from column j on. A
// row holds `depths` depths, the n-th of which is asked for. Numbers come as multiples: times
// `unit` they are what is stored, and a scale takes the unit in for nothing.
struct Bytes {
  static constexpr int vectors = 1, depths = 1;
  static constexpr float unit[vectors] = {1};
  static float one(const uint8_t *row, int64_t j, int64_t) { return static_cast<int8_t>(row[j]); }
  static void run(const uint8_t *row, int64_t j, int64_t, F (&to)[vectors]) {
    to[0] = lanes_of<WideByte<int8_t>>(reinterpret_cast<const int8_t *>(row) + j);
  }
};

// A vector of the lower halves, then one of the upper halves.
struct Halves {
  static constexpr int vectors = 2, depths = 1;
  static float one(const uint8_t *row, int64_t j, int64_t) {
    return static_cast<float>(nibble(row, j));
  }
#if defined(__AVX512F__)
  static constexpr float unit[vectors] = {1, 1};
  static void run(const uint8_t *row, int64_t j, int64_t, F (&to)[vectors]) {
    constexpr __mmask16 all = 0xffff;
    const __m512i bytes = _mm512_maskz_cvtepu8_epi32(
        all, _mm_loadu_si128(reinterpret_cast<const __m128i *>(row + j / 2)));
    to[0] = meaning_of(bytes);
    to[1] = meaning_of(_mm512_maskz_srli_epi32(all, bytes, 4));
  }
#elif defined(__AVX2__)
  static constexpr float unit[vectors] = {0x1p-28f, 0x1p-4f};
  static void run(const uint8_t *row, int64_t j, int64_t, F (&to)[vectors]) {
    const __m256i bytes =
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(row + j / 2)));
    to[0] = (F)_mm256_cvtepi32_ps(_mm256_slli_epi32(bytes, 28));
    to[1] = (F)_mm256_cvtepi32_ps(_mm256_and_si256(bytes, _mm256_set1_epi32(~15)));
  }
#else
  static constexpr float unit[vectors] = {1, 1};
  static void run(const uint8_t *row, int64_t j, int64_t, F (&to)[vectors]) {
    F low{}, high{};
    for (int i = 0; i < lanes; ++i) {
      low[i] = one(row, j + 2 * i, 0);
      high[i] = one(row, j + 2 * i + 1, 0);
    }
    to[0] = low;
    to[1] = high;
  }
#endif
};

// A word of 32 bits for each column, with the numbers of its next depths.
template <int bits>
struct Words {
  static constexpr int vectors = 1, depths = 32 / bits;
  static int32_t word(const uint8_t *row, int64_t j) {
    int32_t value;
    memcpy(&value, row + j * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  }
  static float one(const uint8_t *row, int64_t j, int64_t n) {
    const auto top = static_cast<uint32_t>(word(row, j)) << (32 - bits * (n + 1));
    return static_cast<float>(static_cast<int32_t>(top) >> (32 - bits));
  }
#if defined(__AVX512F__)
  static constexpr bool chosen = bits == 4;  // by a permutation
#else
  static constexpr bool chosen = false;
#endif
  static constexpr float unit[vectors] = {chosen ? 1 : bits == 4 ? 0x1p-28f : 0x1p-24f};
  static void run(const uint8_t *row, int64_t j, int64_t n, F (&to)[vectors]) {
    typedef Vec<int32_t>::type I;
    const int shift = static_cast<int>(bits * n);
    const I words = *reinterpret_cast<const Vec<int32_t>::loose *>(row + 4 * j);
#if defined(__AVX512F__)
    if constexpr (chosen) {
      to[0] = meaning_of((__m512i)(words >> shift));
      return;
    }
#endif
    const I top = words << (32 - bits - shift);
    to[0] = __builtin_convertvector(n == 0 ? top : top & -(1 << (32 - bits)), F);
  }
};

// The 16-bit kinds. A tame value, one that stays finite, is rounded to the nearest, half to even,
// by adding and subtracting 1.5 * 2^n times the power of two it begins with: the sum has no room
// for what is behind the last bit of the kind. `least` is where the kind's own steps end; no
// multiple of a number times a scale from `lowest` on is below the normal range of float32.
struct Float16 {
  static constexpr float factor = 1.5f * 8192, split = 8192, least = 0x1p-14f, limit = 65504;
  static constexpr float lowest = least;
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
  static constexpr float factor = 1.5f * 65536, split = 65536, least = 0x1p-126f, limit = 0x1p100f;
  static constexpr float lowest = 0x1p-90f;
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

// The exact products numbers * scale, rounded. `split` is two to the number of bits that are
// dropped. The sum of the product and `split` times the product, which is rounded once, has no room
// for them; a tie goes to even, because the larger part is an even number of the last steps of the
// sum. Taking that part away is exact.
inline F rounded_exact(F numbers, F times_split, F times_one_more) {
  return kept(numbers * times_one_more) - numbers * times_split;
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

// The weights of numbers of storage S, vector `v` of a block. What scale and shift are, `prepare`
// says.
template <class S, class R, WeightRange range>
inline F rounded_weights(F numbers, int v, F scale, F shift) {
  if constexpr (range == WeightRange::exact) return rounded_exact(numbers, scale, shift);
  const F weights = weights_of(S::unit[v] == 1 ? numbers : numbers * S::unit[v], scale, shift);
  if constexpr (range == WeightRange::tame) return rounded_tame<R>(weights);
  return rounded_any<R>(weights);
}

// The same of one number, for a column outside full blocks.
template <class R, WeightRange range>
inline float rounded_weight(float number, float scale, float shift) {
  if constexpr (range == WeightRange::exact)
    return R::rounded(weight_of(number, scale * (1 / R::split), 0));
  return R::rounded(weight_of(number, scale, shift));
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
#elif defined(__AVX2__)
    const __m256 low = _mm256_loadu_ps(values + j), high = _mm256_loadu_ps(values + j + lanes);
    const auto in_order = [](__m256 pairs) {  // two of the first, two of the second, and again
      return (__m256)_mm256_permute4x64_epi64((__m256i)pairs, 0xd8);
    };
    _mm256_storeu_ps(values + j, in_order(_mm256_shuffle_ps(low, high, 0x88)));
    _mm256_storeu_ps(values + j + lanes, in_order(_mm256_shuffle_ps(low, high, 0xdd)));
#else
    float from[block];
    memcpy(from, values + j, sizeof from);
    for (int i = 0; i < lanes; ++i) values[j + i] = from[2 * i];
    for (int i = 0; i < lanes; ++i) values[j + lanes + i] = from[2 * i + 1];
#endif
  }
}

// What `rounded_exact` multiplies by takes the place of scales and shifts.
template <class S, class R>
void prepare_exact(float *scale, float *shift, int64_t count) {
  constexpr int block = S::vectors * lanes;
  int64_t j = 0;
  for (; j + block <= count; j += block)
    for (int v = 0; v < S::vectors; ++v) {
      const F split = load(scale + j + v * lanes) * (S::unit[v] * R::split);
      store(load(scale + j + v * lanes) * (S::unit[v] * (R::split + 1)), shift + j + v * lanes);
      store(split, scale + j + v * lanes);
    }
  for (; j < count; ++j) scale[j] *= R::split;
}

// One pass: the tables of a group are as long as its rows.
template <class S, class R>
WeightRange prepare(float *scale, float *shift, int64_t count, bool shifted, bool same_kind) {
  int32_t wild = 0, small = 0;
  if (!shifted) {
    for (int64_t j = 0; j < count; ++j) {
      const float size = __builtin_fabsf(scale[j]);
      wild |= 128 * size < R::limit ? 0 : 1;
      small |= size >= R::lowest ? 0 : 1;
    }
  } else {
    for (int64_t j = 0; j < count; ++j) {
      shift[j] = shift[j] == 0 ? 0 : shift[j] * scale[j];
      wild |= 128 * __builtin_fabsf(scale[j]) + __builtin_fabsf(shift[j]) < R::limit ? 0 : 1;
    }
  }
  if constexpr (S::vectors > 1) {
    in_halves(scale, count);
    if (shifted) in_halves(shift, count);
  }
  if (!shifted && same_kind && !wild && !small) {
    prepare_exact<S, R>(scale, shift, count);
    return WeightRange::exact;
  }
  if (!shifted) memset(shift, 0, static_cast<size_t>(count) * sizeof(float));
  return wild ? WeightRange::any : WeightRange::tame;
}

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
