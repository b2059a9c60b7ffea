// SPDX-License-Identifier: Apache-2.0
// Powers of 16 numbers at a time for machines with AVX-512, as exactly as the loops in
// power_kernels.isa.cpp. Included by files that are compiled per instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace vectors {

// 1 / (1 + j / 16), rounded to 24 bits, and the opposite of its base-2 logarithm. The first pair is
// exact: near 1 the logarithm keeps all its digits.
alignas(64) constexpr double kInverses[16] = {
    0x1.0000000000000p+0, 0x1.e1e1e20000000p-1, 0x1.c71c720000000p-1, 0x1.af286c0000000p-1,
    0x1.99999a0000000p-1, 0x1.8618620000000p-1, 0x1.745d180000000p-1, 0x1.642c860000000p-1,
    0x1.5555560000000p-1, 0x1.47ae140000000p-1, 0x1.3b13b20000000p-1, 0x1.2f684c0000000p-1,
    0x1.24924a0000000p-1, 0x1.1a7b960000000p-1, 0x1.1111120000000p-1, 0x1.0842100000000p-1,
};
alignas(64) constexpr double kLogarithms[16] = {
    0x0.0p+0,
    0x1.663f6e3b3cbb2p-4,
    0x1.5c01a22e68f24p-3,
    0x1.fbc16a1ed20a6p-3,
    0x1.49a7834b7d429p-2,
    0x1.91bba6c447dcfp-2,
    0x1.d6753b2085b50p-2,
    0x1.0c104f268ee09p-1,
    0x1.2b803302a3372p-1,
    0x1.49a785d1d111ap-1,
    0x1.66a00716cef96p-1,
    0x1.82809cff91e9ap-1,
    0x1.9d5d9dab025a9p-1,
    0x1.b74949237dbc7p-1,
    0x1.d053f44c0cbb7p-1,
    0x1.e88c6ca77b1dep-1,
};
// log2(1 + r) / r for |r| < 1/30, off by 2^-37 of it: 1 / (k * ln(2)) with changing signs.
constexpr double kLog2Series[] = {
    0x1.71547652b82fep+0, -0x1.71547652b82fep-1, 0x1.ec709dc3a03fdp-2, -0x1.71547652b82fep-2,
    0x1.2776c50ef9bfep-2, -0x1.ec709dc3a03fdp-3, 0x1.a61762a7aded9p-3,
};
// 2^r for r in [-1/2, 1/2], off by 2^-32 of it: ln(2)^k / k!
constexpr double kExp2Series[] = {
    0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,
    0x1.c6b08d704a0c0p-5,  0x1.3b2ab6fba4e77p-7,  0x1.5d87fe78a6731p-10,
    0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17, 0x1.62c0223a5c824p-20,
};

// Two and four terms of a series. Terms are added in pairs: one after the other each would wait.
inline __m512d pair(const double *c, __m512d r) {
  return _mm512_fmadd_pd(_mm512_set1_pd(c[1]), r, _mm512_set1_pd(c[0]));
}
inline __m512d four(const double *c, __m512d r, __m512d square) {
  return _mm512_fmadd_pd(pair(c + 2, r), square, pair(c, r));
}

// log2(2^whole * significand): `places` say which 16th the significand is nearest to.
inline __m512d log2_of(__m256 significand, __m256i places, __m256i whole) {
  const __m512i at = _mm512_cvtepu32_epi64(places);
  const __m512d inverse =
      _mm512_permutex2var_pd(_mm512_load_pd(kInverses), at, _mm512_load_pd(kInverses + 8));
  const __m512d known =
      _mm512_permutex2var_pd(_mm512_load_pd(kLogarithms), at, _mm512_load_pd(kLogarithms + 8));
  const __m512d r =
      _mm512_fmsub_pd(_mm512_cvtps_pd(significand), inverse, _mm512_set1_pd(1.0));  // exact
  const __m512d square = _mm512_mul_pd(r, r);
  const __m512d high =
      _mm512_fmadd_pd(_mm512_set1_pd(kLog2Series[6]), square, pair(kLog2Series + 4, r));
  const __m512d p =
      _mm512_fmadd_pd(high, _mm512_mul_pd(square, square), four(kLog2Series, r, square));
  return _mm512_fmadd_pd(p, r, _mm512_add_pd(known, _mm512_cvtepi32_pd(whole)));
}

inline __m256 exp2_of(__m512d power) {
  power = _mm512_min_pd(power, _mm512_set1_pd(130.0));  // infinite anyway
  power = _mm512_max_pd(power, _mm512_set1_pd(-152.0));
  const __m512d nearest =
      _mm512_roundscale_pd(power, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512d r = _mm512_sub_pd(power, nearest);
  const __m512d square = _mm512_mul_pd(r, r), fourth = _mm512_mul_pd(square, square);
  const __m512d high =
      _mm512_fmadd_pd(_mm512_set1_pd(kExp2Series[8]), fourth, four(kExp2Series + 4, r, square));
  const __m512d p = _mm512_fmadd_pd(high, fourth, four(kExp2Series, r, square));
  return _mm512_cvtpd_ps(_mm512_scalef_pd(p, nearest));  // rounds once, also below normal numbers
}

// |x| to the power of y, for finite y and for x that is finite and in the normal range.
inline __m512 magnitude(__m512 x, __m512 y) {
  const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
  // What is nearer to 2 than to 1 + 15/16 counts with the next power of two.
  const __m512i moved = _mm512_add_epi32(bits, _mm512_set1_epi32(0x00040000 - 0x3f800000));
  const __m512i whole = _mm512_srai_epi32(moved, 23);
  const __m512i places = _mm512_and_si512(_mm512_srli_epi32(moved, 19), _mm512_set1_epi32(15));
  const __m512 significand =
      _mm512_castsi512_ps(_mm512_sub_epi32(bits, _mm512_slli_epi32(whole, 23)));
  const __m512d low =
      _mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(y)),
                    log2_of(_mm512_castps512_ps256(significand), _mm512_castsi512_si256(places),
                            _mm512_castsi512_si256(whole)));
  const __m512d high = _mm512_mul_pd(
      _mm512_cvtps_pd(_mm512_extractf32x8_ps(y, 1)),
      log2_of(_mm512_extractf32x8_ps(significand, 1), _mm512_extracti32x8_epi32(places, 1),
              _mm512_extracti32x8_epi32(whole, 1)));
  return _mm512_insertf32x8(_mm512_castps256_ps512(exp2_of(low)), exp2_of(high), 1);
}

// The same with the sign that x and y give it, and for x that is zero.
inline __m512 power(__m512 x, __m512 y) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  const __m512 none = _mm512_setzero_ps();
  __m512 result = magnitude(x, y);
  if (_mm512_cmp_ps_mask(x, none, _CMP_NGT_UQ) == 0) return result;
  const __m512 half = _mm512_mul_ps(y, _mm512_set1_ps(0.5f));
  const __mmask16 whole = _mm512_cmp_ps_mask(y, _mm512_roundscale_ps(y, kNearest), _CMP_EQ_OQ);
  const __mmask16 uneven =
      _mm512_cmp_ps_mask(half, _mm512_roundscale_ps(half, kNearest), _CMP_NEQ_UQ);
  const __mmask16 zero = _mm512_cmp_ps_mask(x, none, _CMP_EQ_OQ);
  const __mmask16 below = _mm512_cmp_ps_mask(x, none, _CMP_LT_OQ);
  const __mmask16 falls = _mm512_cmp_ps_mask(y, none, _CMP_LT_OQ);
  result = _mm512_mask_mov_ps(result, zero, none);
  result = _mm512_mask_mov_ps(result, _mm512_kand(zero, falls), _mm512_set1_ps(__builtin_inff()));
  // An odd power has the sign of x.
  const __m512 sign = _mm512_and_ps(x, _mm512_set1_ps(-0.0f));
  result = _mm512_mask_or_ps(result, _mm512_kand(whole, uneven), result, sign);
  result =
      _mm512_mask_mov_ps(result, _mm512_kandn(whole, below), _mm512_set1_ps(__builtin_nanf("")));
  return _mm512_mask_mov_ps(result, _mm512_cmp_ps_mask(y, none, _CMP_EQ_OQ), _mm512_set1_ps(1.0f));
}

}  // namespace vectors
}  // namespace EMU_ISA_NS
}  // namespace emu
