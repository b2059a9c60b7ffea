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

#if defined(__AVX512F__)
// The lowest four bits of a lane choose what they stand for.
inline F meaning_of(__m512i bits) {
  const __m512 meaning = _mm512_set_ps(-1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0);
  return (F)_mm512_maskz_permutexvar_ps(0xffff, bits, meaning);
}
#endif

// Numbers of `bits` bits that lie in words of 32 bits, and their n-th one, times 2^(32 - bits): it
// stays at the top of the word. No operation here keeps one of the units for products busy, which
// AVX2 has too few of.
template <int bits>
inline F of_words(Vec<int32_t>::type words, int n) {
  const Vec<int32_t>::type top = words << (32 - bits - bits * n);
  return __builtin_convertvector(n == 0 ? top : top & -(1 << (32 - bits)), F);
}

inline Vec<int32_t>::type load_words(const uint8_t *from) {
  return *reinterpret_cast<const Vec<int32_t>::loose *>(from);
}

// Each storage gives the number of column j, or `taken` vectors of a block of `vectors` of them,
// which begins with column j. A row holds `depths` depths, the n-th of which is asked for. Numbers
// come as multiples: times `unit` they are what is stored, and a scale takes the unit in for
// nothing. `together` vectors have registers for the sums of that many rows.
struct Bytes {
  static constexpr int vectors = 1, depths = 1, bits = 8;
  static constexpr float unit = 1;
  static constexpr int together(int) { return vectors; }
  template <int taken>
  static void run(const uint8_t *row, int64_t j, int, int, F (&to)[taken]) {
    to[0] = lanes_of<WideByte<int8_t>>(reinterpret_cast<const int8_t *>(row) + j);
  }
};

// A vector of the lower halves, then one of the upper halves.
struct Halves {
  static constexpr int vectors = 2, depths = 1, bits = 4;
  static constexpr float unit = 1;
  static constexpr int together(int) { return vectors; }
  template <int taken>
  static void run(const uint8_t *row, int64_t j, int, int, F (&to)[taken]) {
#if defined(__AVX512F__)
    constexpr __mmask16 all = 0xffff;
    const __m512i bytes = _mm512_maskz_cvtepu8_epi32(
        all, _mm_loadu_si128(reinterpret_cast<const __m128i *>(row + j / 2)));
    to[0] = meaning_of(bytes);
    to[1] = meaning_of(_mm512_maskz_srli_epi32(all, bytes, 4));
#else
    F low{}, high{};
    for (int i = 0; i < lanes; ++i) {
      const uint8_t both = row[j / 2 + i];
      low[i] = static_cast<float>(static_cast<int8_t>(both << 4) >> 4);
      high[i] = static_cast<float>(static_cast<int8_t>(both) >> 4);
    }
    to[0] = low;
    to[1] = high;
#endif
  }
};

// A row is read as words: vector v has the v-th number of each word.
template <int width>
struct Columns {
  static constexpr int bits = width, vectors = 32 / bits, depths = 1;
  static constexpr float unit = 1.0f / (1u << (32 - bits));
  static constexpr int together(int rows) { return rows == 1 && bits == 8 ? 4 : rows <= 2 ? 2 : 1; }
  template <int taken>
  static void run(const uint8_t *row, int64_t j, int v, int, F (&to)[taken]) {
    const auto words = load_words(row + j * bits / 8);
#pragma GCC unroll 4
    for (int i = 0; i < taken; ++i) to[i] = of_words<bits>(words, v + i);
  }
};

#if defined(__AVX2__) && !defined(__AVX512F__)
using StoredBytes = Columns<8>;
using StoredHalves = Columns<4>;
#else
using StoredBytes = Bytes;
using StoredHalves = Halves;
#endif

// A word of 32 bits for each column, with the numbers of its next depths.
template <int width>
struct Words {
  static constexpr int bits = width, vectors = 1, depths = 32 / bits;
#if defined(__AVX512F__)
  static constexpr bool chosen = bits == 4;  // by a permutation
#else
  static constexpr bool chosen = false;
#endif
  static constexpr float unit = chosen ? 1 : 1.0f / (1u << (32 - bits));
  static constexpr int together(int) { return vectors; }
  template <int taken>
  static void run(const uint8_t *row, int64_t j, int, int n, F (&to)[taken]) {
    const auto words = load_words(row + 4 * j);
#if defined(__AVX512F__)
    if constexpr (chosen) {
      to[0] = meaning_of((__m512i)(words >> bits * n));
      return;
    }
#endif
    to[0] = of_words<bits>(words, n);
  }
};

// The 16-bit kinds. A tame value, one that stays finite, is rounded to the nearest, half to even,
// by adding and subtracting 1.5 * 2^n times the power of two it begins with: the sum has no room
// for what is behind the last bit of the kind. `least` is where the kind's own steps end; no
// multiple of a number times a scale from `lowest` on is below the normal range of float32.
struct Float16 {
  using Kind = Half;
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
  using Kind = Brain;
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
[[gnu::noinline]] F rounded_any(F v) {
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

// The weights of numbers of storage S. What scale and shift are, `prepare` says. R may be void for
// exact ones.
template <class S, class R, WeightRange range>
inline F rounded_weights(F numbers, F scale, F shift) {
  if constexpr (range == WeightRange::exact) {
    return rounded_exact(numbers, scale, shift);
  } else if constexpr (range == WeightRange::tame) {
    return rounded_tame<R>(weights_of(numbers, scale, shift));
  } else {
    return rounded_any<R>(weights_of(S::unit == 1 ? numbers : numbers * S::unit, scale, shift));
  }
}

}  // namespace
}  // namespace EMU_ISA_NS
}  // namespace emu
