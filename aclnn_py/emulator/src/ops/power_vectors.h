// SPDX-License-Identifier: Apache-2.0
// Powers of 16 numbers at a time for machines with AVX-512, as exactly as the loops in
// power_kernels.isa.cpp, which compute in float64. Here logarithms are sums of two float32, of
// which the second holds what the first could not: half the instructions. Included by files that
// are compiled per instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace vectors {

// 1 / (1 + j / 32) in 9 bits, so that products with half a significand are exact, and the opposite
// of its base-2 logarithm: 16 bits behind the point, which leave room for an exponent, and the
// rest.
alignas(64) constexpr float kInverses[32] = {
    0x1.0p+0f,  0x1.fp-1f,  0x1.e2p-1f, 0x1.d4p-1f, 0x1.c7p-1f, 0x1.bbp-1f, 0x1.afp-1f, 0x1.a4p-1f,
    0x1.9ap-1f, 0x1.9p-1f,  0x1.86p-1f, 0x1.7dp-1f, 0x1.74p-1f, 0x1.6cp-1f, 0x1.64p-1f, 0x1.5dp-1f,
    0x1.55p-1f, 0x1.4ep-1f, 0x1.48p-1f, 0x1.41p-1f, 0x1.3bp-1f, 0x1.35p-1f, 0x1.2fp-1f, 0x1.2ap-1f,
    0x1.25p-1f, 0x1.1fp-1f, 0x1.1ap-1f, 0x1.16p-1f, 0x1.11p-1f, 0x1.0dp-1f, 0x1.08p-1f, 0x1.04p-1f,
};
alignas(64) constexpr float kLogarithms[32] = {
    0.0f,         0x1.774p-5f,  0x1.64dp-4f,  0x1.098p-3f,  0x1.5cb8p-3f, 0x1.abbp-3f,
    0x1.fcd8p-3f, 0x1.249cp-2f, 0x1.4838p-2f, 0x1.6cbp-2f,  0x1.9218p-2f, 0x1.b494p-2f,
    0x1.d7e8p-2f, 0x1.f804p-2f, 0x1.0c6cp-1f, 0x1.1b18p-1f, 0x1.2c38p-1f, 0x1.3b8cp-1f,
    0x1.48eep-1f, 0x1.58dep-1f, 0x1.66cep-1f, 0x1.7502p-1f, 0x1.837ep-1f, 0x1.8fcap-1f,
    0x1.9c48p-1f, 0x1.ab92p-1f, 0x1.b88cp-1f, 0x1.c31ap-1f, 0x1.d082p-1f, 0x1.db6ap-1f,
    0x1.e946p-1f, 0x1.f48cp-1f,
};
alignas(64) constexpr float kLogarithmRests[32] = {
    0.0f,
    -0x1.acd89ap-19f,
    -0x1.d93f98p-20f,
    -0x1.c731ap-19f,
    0x1.29d03cp-18f,
    0x1.654f64p-18f,
    -0x1.881a54p-19f,
    0x1.a5627ap-19f,
    -0x1.a196a2p-18f,
    0x1.ed0cbap-19f,
    0x1.249ba8p-27f,
    0x1.d4e918p-18f,
    -0x1.3f543cp-18f,
    0x1.5d1a1ap-19f,
    0x1.55e18ap-18f,
    -0x1.7b6524p-21f,
    0x1.eb9084p-18f,
    -0x1.c72e0cp-18f,
    0x1.e3263p-18f,
    0x1.dfc5c2p-20f,
    0x1.a72536p-20f,
    0x1.98945p-18f,
    0x1.6636fcp-18f,
    -0x1.b66ecap-18f,
    0x1.a8be56p-18f,
    -0x1.5c83d2p-18f,
    0x1.734556p-18f,
    0x1.3ee806p-20f,
    0x1.169476p-20f,
    -0x1.6df84ep-18f,
    -0x1.a6eb1ep-18f,
    0x1.a5e8f4p-20f,
};
// 2^(j / 16) and what float32 could not hold of it.
alignas(64) constexpr float kRoots[16] = {
    0x1.0p+0f,      0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f,  0x1.3dea64p+0f,
    0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f,
};
alignas(64) constexpr float kRootRests[16] = {
    0.0f,
    0x1.9f3122p-25f,
    -0x1.c15742p-27f,
    0x1.ceac48p-25f,
    0x1.4636e2p-25f,
    0x1.824684p-25f,
    -0x1.593abcp-25f,
    -0x1.5bd5ecp-27f,
    0x1.9fcef4p-26f,
    -0x1.829fdp-25f,
    0x1.15506ep-27f,
    0x1.51f848p-27f,
    -0x1.a94b14p-26f,
    -0x1.3d56b2p-27f,
    -0x1.822dbcp-27f,
    0x1.52486cp-27f,
};

// The product as float32 has it. Of _mm512_mul_ps and a sum the compiler may make one instruction,
// which rounds once.
inline __m512 rounded_product(__m512 x, __m512 y) {
  return _mm512_mul_round_ps(x, y, _MM_FROUND_CUR_DIRECTION);
}
inline __m512 number(float x) { return _mm512_set1_ps(x); }
inline __m512 of_32(const float *table, __m512i at) {
  return _mm512_permutex2var_ps(_mm512_load_ps(table), at, _mm512_load_ps(table + 16));
}

// high + low, where low is at most the rounding of high.
struct Sum {
  __m512 high, low;
};

// log2 of |x|, off by 2^-34 of it, for x in the normal range; of zero it is -127.
inline Sum log2_of(__m512 x) {
  const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
  // What is nearer to 2 than to 1 + 31/32 counts with the next power of two.
  const __m512i moved = _mm512_add_epi32(bits, _mm512_set1_epi32(0x00020000 - 0x3f800000));
  const __m512i whole = _mm512_srai_epi32(moved, 23);
  const __m512i at = _mm512_srli_epi32(moved, 18);  // which 32nd: the lowest five bits count
  const __m512i significand = _mm512_sub_epi32(bits, _mm512_slli_epi32(whole, 23));
  // r = significand / (1 + at / 32) - 1, in two parts; |r| < 1/62
  const __m512i upper = _mm512_and_si512(significand, _mm512_set1_epi32(-0x1000));
  const __m512 front = _mm512_castsi512_ps(upper);
  const __m512 back = _mm512_sub_ps(_mm512_castsi512_ps(significand), front);
  const __m512 inverse = of_32(kInverses, at);
  const __m512 most = _mm512_fmsub_ps(front, inverse, number(1.0f));  // exact
  const __m512 r = _mm512_fmadd_ps(back, inverse, most);
  const __m512 rest = _mm512_fmadd_ps(back, inverse, _mm512_sub_ps(most, r));
  // ln(1 + r) = r - r^2 / 2 + cube * series; what each rounding loses goes into `low`
  const __m512 half = rounded_product(r, number(0.5f));
  const __m512 square = rounded_product(half, r);
  const __m512 high = _mm512_sub_ps(r, square);
  __m512 series = number(-0x1.555556p-2f);
  series = _mm512_fmadd_ps(series, r, number(0x1.99999ap-2f));
  series = _mm512_fmadd_ps(series, r, number(-0.5f));
  series = _mm512_fmadd_ps(series, r, number(0x1.555556p-1f));
  __m512 low = _mm512_sub_ps(_mm512_sub_ps(r, high), square);
  low = _mm512_sub_ps(low, _mm512_fmsub_ps(half, r, square));
  low = _mm512_fmadd_ps(rounded_product(square, r), series, low);
  low = _mm512_add_ps(low, _mm512_fnmadd_ps(rest, r, rest));
  // times 1 / ln(2)
  const __m512 factor = number(0x1.715476p+0f);
  const __m512 scaled = rounded_product(high, factor);
  __m512 below = _mm512_fmsub_ps(high, factor, scaled);
  below = _mm512_fmadd_ps(high, number(0x1.4ae0cp-26f), below);
  below = _mm512_fmadd_ps(low, factor, below);
  below = _mm512_add_ps(below, of_32(kLogarithmRests, at));
  // The first part of the known logarithm is exact, and greater than `scaled` or zero.
  const __m512 known = _mm512_add_ps(_mm512_cvtepi32_ps(whole), of_32(kLogarithms, at));
  Sum result;
  result.high = _mm512_add_ps(known, scaled);
  result.low = _mm512_add_ps(_mm512_sub_ps(known, result.high), scaled);
  result.low = _mm512_add_ps(result.low, below);
  return result;
}

// 2^(high + low)
inline __m512 exp2_of(__m512 high, __m512 low) {
  // Beyond these bounds the result is 0 or infinite anyway. A product that overflowed has no rest.
  high = _mm512_max_ps(number(-200.0f), _mm512_min_ps(number(200.0f), high));
  low = _mm512_max_ps(_mm512_min_ps(low, number(1.0f)), number(-1.0f));
  // Adding 1.5 * 2^19 rounds to a 16th, whose number then stands in the low bits.
  const __m512 shifted = _mm512_add_ps(high, number(786432.0f));
  const __m512 nearest = _mm512_sub_ps(shifted, number(786432.0f));
  const __m512i at = _mm512_castps_si512(shifted);
  const __m512 r = _mm512_add_ps(_mm512_sub_ps(high, nearest), low);  // within 1/32
  __m512 p = number(0x1.3b2ab6p-7f);                                  // ln(2)^k / k!
  p = _mm512_fmadd_ps(p, r, number(0x1.c6b08ep-5f));
  p = _mm512_fmadd_ps(p, r, number(0x1.ebfbep-3f));
  p = _mm512_fmadd_ps(p, r, number(0x1.62e43p-1f));
  p = rounded_product(p, r);  // 2^r - 1
  const __m512 root = _mm512_permutexvar_ps(at, _mm512_load_ps(kRoots));
  p = _mm512_fmadd_ps(root, p, _mm512_permutexvar_ps(at, _mm512_load_ps(kRootRests)));
  // Times 2 to the whole part of `nearest`; rounds once more below normal numbers.
  return _mm512_scalef_ps(_mm512_add_ps(root, p), nearest);
}

// |x| to the power of y, for finite y and for x that is finite and in the normal range.
inline __m512 magnitude(__m512 x, __m512 y) {
  const Sum log = log2_of(x);
  const __m512 high = rounded_product(log.high, y);
  return exp2_of(high, _mm512_fmadd_ps(log.low, y, _mm512_fmsub_ps(log.high, y, high)));
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
