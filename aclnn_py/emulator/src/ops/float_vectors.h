// SPDX-License-Identifier: Apache-2.0
// exp, log and tanh of 16 numbers at a time, with what AVX-512 has for exponents and significands:
// half the instructions of the formulas in float_kernels.isa.cpp, within the same bounds. Included
// by files that are compiled per instruction set, inside their namespace.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace vectors {

inline __m512 constant(float x) { return _mm512_set1_ps(x); }

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

// The steps of exp(x): x = whole * ln(2) + rest, and (exp(rest) - 1 - rest) / rest^2.
struct Power {
  __m512 whole, rest, series;
};

inline Power power_of(__m512 x) {
  Power p;
  p.whole = _mm512_roundscale_ps(_mm512_mul_ps(x, constant(1.44269504f)), kNearest);
  p.rest = _mm512_fnmadd_ps(p.whole, constant(0.693359375f), x);
  p.rest = _mm512_fmadd_ps(p.whole, constant(2.12194440e-4f), p.rest);  // within ln(2) / 2
  __m512 s = constant(1.98580237e-4f);
  s = _mm512_fmadd_ps(s, p.rest, constant(1.39344693e-3f));
  s = _mm512_fmadd_ps(s, p.rest, constant(8.33336171e-3f));
  s = _mm512_fmadd_ps(s, p.rest, constant(4.16664593e-2f));
  s = _mm512_fmadd_ps(s, p.rest, constant(1.66666672e-1f));
  p.series = _mm512_fmadd_ps(s, p.rest, constant(0.5f));
  return p;
}

inline __m512 exponential(__m512 x) {
  // NaN passes the bounds, as it is the second operand; beyond them the result is 0 or infinite.
  x = _mm512_max_ps(constant(-104.0f), _mm512_min_ps(constant(89.0f), x));
  const Power p = power_of(x);
  const __m512 square = _mm512_mul_ps(p.rest, p.rest);
  const __m512 power = _mm512_add_ps(_mm512_fmadd_ps(p.series, square, p.rest), constant(1.0f));
  return _mm512_scalef_ps(power, p.whole);  // rounds once below the normal range
}

inline __m512 logarithm(__m512 x) {
  // Zero and infinity have themselves as exponents, and 1 as significand; below zero there is none.
  const __m512 given = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan);
  const __mmask16 upper = _mm512_cmp_ps_mask(given, constant(1.41421354f), _CMP_GE_OQ);
  __m512 power = _mm512_getexp_ps(x);
  power = _mm512_mask_add_ps(power, upper, power, constant(1.0f));
  const __m512 significand = _mm512_mask_mul_ps(given, upper, given, constant(0.5f));
  const __m512 f = _mm512_sub_ps(significand, constant(1.0f));
  __m512 p = constant(7.03800172e-2f);
  p = _mm512_fmadd_ps(p, f, constant(-1.15140647e-1f));
  p = _mm512_fmadd_ps(p, f, constant(1.16765872e-1f));
  p = _mm512_fmadd_ps(p, f, constant(-1.24202080e-1f));
  p = _mm512_fmadd_ps(p, f, constant(1.42493829e-1f));
  p = _mm512_fmadd_ps(p, f, constant(-1.66680560e-1f));
  p = _mm512_fmadd_ps(p, f, constant(2.00007126e-1f));
  p = _mm512_fmadd_ps(p, f, constant(-2.49999940e-1f));
  p = _mm512_fmadd_ps(p, f, constant(3.33333313e-1f));
  p = _mm512_fmadd_ps(p, f, constant(-0.5f));
  const __m512 square = _mm512_mul_ps(f, f);
  // Of an infinite exponent the great part decides: both parts together would be no number.
  const __mmask16 endless = _mm512_cmp_ps_mask(_mm512_abs_ps(power), constant(1024.0f), _CMP_GT_OQ);
  const __m512 small =
      _mm512_mask_mul_ps(power, _mm512_knot(endless), power, constant(-2.12194440e-4f));
  const __m512 result = _mm512_add_ps(f, _mm512_fmadd_ps(p, square, small));
  return _mm512_fmadd_ps(power, constant(0.693359375f), result);
}

// tanh(t) = m / (m + 2) with m = exp(2 t) - 1, which has all its digits near 0 too.
inline __m512 hyperbolic_tangent(__m512 x) {
  const __m512 t = _mm512_min_ps(constant(20.0f), _mm512_mul_ps(_mm512_abs_ps(x), constant(2.0f)));
  const Power p = power_of(t);
  const __m512 less =
      _mm512_fmadd_ps(p.series, _mm512_mul_ps(p.rest, p.rest), p.rest);  // exp(rest) - 1
  const __m512 two = _mm512_scalef_ps(constant(1.0f), p.whole);
  const __m512 m = _mm512_fmadd_ps(less, two, _mm512_sub_ps(two, constant(1.0f)));
  const __m512 below = _mm512_add_ps(m, constant(2.0f));
  // The quotient from an estimate of 14 bits, corrected twice: sooner there than a division.
  __m512 inverse = _mm512_rcp14_ps(below);
  inverse = _mm512_fmadd_ps(inverse, _mm512_fnmadd_ps(below, inverse, constant(1.0f)), inverse);
  const __m512 first = _mm512_mul_ps(m, inverse);
  const __m512 quotient = _mm512_fmadd_ps(inverse, _mm512_fnmadd_ps(below, first, m), first);
  // The sign of x over the rest of the quotient.
  const __m512i sign = _mm512_set1_epi32(static_cast<int32_t>(0x80000000u));
  return _mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(sign, _mm512_castps_si512(x), _mm512_castps_si512(quotient), 0xca));
}

template <class F>
void each(const float *from, int64_t count, float *to, F f) {
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {  // two at a time: neither waits for the other
    const __m512 a = f(_mm512_loadu_ps(from + i)), b = f(_mm512_loadu_ps(from + i + 16));
    _mm512_storeu_ps(to + i, a);
    _mm512_storeu_ps(to + i + 16, b);
  }
  for (; i < count; i += 16) {
    const int64_t left = count - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1);
    _mm512_mask_storeu_ps(to + i, mask, f(_mm512_maskz_loadu_ps(mask, from + i)));
  }
}

}  // namespace vectors
}  // namespace EMU_ISA_NS
}  // namespace emu
