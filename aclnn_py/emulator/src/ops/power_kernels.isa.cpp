// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast -fno-trapping-math -Wno-maybe-uninitialized
#include "ops/power_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/float_bits.h"
#include "core/isa.h"
#ifdef __AVX512F__
#include "ops/power_vectors.h"
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Elements whose steps lie in the nearest cache. Loops of one width of numbers each become vectors.
constexpr int64_t kPart = 256;

#ifdef __AVX512F__

// Of which elements `power` is not right: x is below the normal range, or either is not finite.
inline __mmask16 rare_ones(__m512 x, __m512 y) {
  const __m512i all = _mm512_set1_epi32(0x7fffffff);
  const __m512i size = _mm512_and_si512(_mm512_castps_si512(x), all);
  const __m512i beyond = _mm512_sub_epi32(size, _mm512_set1_epi32(0x00800000));
  const __mmask16 base = _mm512_mask_cmpge_epu32_mask(_mm512_test_epi32_mask(size, size), beyond,
                                                      _mm512_set1_epi32(0x7f000000));
  const __m512i exponent = _mm512_and_si512(_mm512_castps_si512(y), all);
  return _mm512_kor(base, _mm512_cmpge_epi32_mask(exponent, _mm512_set1_epi32(0x7f800000)));
}

__attribute__((noinline)) __m512 with_rare_ones(__m512 result, __m512 x, __m512 y,
                                                __mmask16 which) {
  alignas(64) float of[16], by[16], to[16];
  _mm512_store_ps(of, x);
  _mm512_store_ps(by, y);
  _mm512_store_ps(to, result);
  for (int i = 0; i < 16; ++i) {
    if ((which >> i & 1) != 0) to[i] = std::pow(of[i], by[i]);
  }
  return _mm512_load_ps(to);
}

void part_of_powers(const float *x, const float *y, int64_t count, float *to) {
  for (int64_t i = 0; i < count; i += 16) {
    const int64_t left = count - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1);
    const __m512 of = _mm512_maskz_loadu_ps(mask, x + i), by = _mm512_maskz_loadu_ps(mask, y + i);
    __m512 result = vectors::power(of, by);
    if (const __mmask16 rare = rare_ones(of, by)) result = with_rare_ones(result, of, by, rare);
    _mm512_mask_storeu_ps(to + i, mask, result);
  }
}

#else

// x = 2^whole * (1 + fraction), with 1 + fraction in [sqrt(1/2), sqrt(2)); of |x|, in fact.
void split(const float *x, int64_t count, float *whole, float *fraction) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = (bits_of(x[i]) & 0x7fffffffu) - 0x3f3504f3u;
    whole[i] = static_cast<float>(static_cast<int32_t>(bits) >> 23);
    fraction[i] = float_of((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  }
}

// log2(1 + f), by the series of the inverse hyperbolic tangent of f / (2 + f); off by 2^-34 of it.
inline double log2_of(double f) {
  const double s = f / (2.0 + f), q = s * s;
  double p = 2.0 / 11;
  p = p * q + 2.0 / 9;
  p = p * q + 2.0 / 7;
  p = p * q + 2.0 / 5;
  p = p * q + 2.0 / 3;
  p = p * q + 2.0;
  return s * p * 1.4426950408889634;
}

// 2^r for r in [-1/2, 1/2], by the series of exp(r * ln(2)); off by 2^-32 of it.
inline double exp2_of(double r) {
  const double x = r * 0.6931471805599453;
  double p = 1.0 / 40320;
  p = p * x + 1.0 / 5040;
  p = p * x + 1.0 / 720;
  p = p * x + 1.0 / 120;
  p = p * x + 1.0 / 24;
  p = p * x + 1.0 / 6;
  p = p * x + 0.5;
  p = p * x + 1.0;
  return p * x + 1.0;
}

// (2^whole * (1 + fraction))^y = 2^exponent * significand
void raise(const float *whole, const float *fraction, const float *y, int64_t count,
           float *significand, int32_t *exponent) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  for (int64_t i = 0; i < count; ++i) {
    double power = static_cast<double>(y[i]) *
                   (static_cast<double>(whole[i]) + log2_of(static_cast<double>(fraction[i])));
    power = power > 130.0 ? 130.0 : power;  // infinite anyway
    power = power < -152.0 ? -152.0 : power;
    const double nearest = (power + kRound) - kRound;
    significand[i] = static_cast<float>(exp2_of(power - nearest));
    exponent[i] = static_cast<int32_t>(nearest);
  }
}

// All bits where a condition holds: the compiler makes vectors of these, and of no nested choices.
inline uint32_t where(bool condition) { return 0u - static_cast<uint32_t>(condition); }

// The number with the sign it has by those of x and y, and the results of zeros.
void finish(const float *x, const float *y, const float *significand, const int32_t *exponent,
            int64_t count, float *to) {
  constexpr uint32_t kOne = 0x3f800000u, kInfinity = 0x7f800000u;
  constexpr float kWhole = 16777216.0f;  // 2^24: from here on all numbers are even
  for (int64_t i = 0; i < count; ++i) {
    // Two factors: neither leaves the range of float32 where the result is within it.
    const int32_t half = exponent[i] >> 1;
    const float first = float_of(static_cast<uint32_t>(half + 127) << 23);
    const float second = float_of(static_cast<uint32_t>(exponent[i] - half + 127) << 23);
    uint32_t result = bits_of(significand[i] * first * second);
    const uint32_t at_zero = (where(y[i] < 0.0f) & kInfinity) | (where(y[i] == 0.0f) & kOne);
    const uint32_t zero = where(x[i] == 0.0f), below = where(x[i] < 0.0f);
    result = (zero & at_zero) | (~zero & result);
    const uint32_t small = where(float_of(bits_of(y[i]) & 0x7fffffffu) < kWhole);
    const float whole = float_of(bits_of(y[i]) & small);
    const auto cut = static_cast<int32_t>(whole);
    const uint32_t fractional = where(static_cast<float>(cut) != whole);
    const uint32_t odd = ~fractional & static_cast<uint32_t>(cut) << 31;
    result = (result ^ (bits_of(x[i]) & odd)) | (below & fractional);  // all bits are a NaN
    to[i] = float_of(result);
  }
}

// Powers of the elements that are not rare; `to` is neither x nor y.
void usual_powers(const float *x, const float *y, int64_t count, float *to) {
  float whole[kPart], fraction[kPart], significand[kPart];
  int32_t exponent[kPart];
  split(x, count, whole, fraction);
  raise(whole, fraction, y, count, significand, exponent);
  finish(x, y, significand, exponent, count, to);
}

// Whether an element is none that the steps above take: x below the normal range, or either not
// finite.
inline bool is_rare(float x, float y) {
  const uint32_t size = bits_of(x) & 0x7fffffffu;
  const bool base = static_cast<bool>(static_cast<int>(size - 0x00800000u >= 0x7f000000u) &
                                      static_cast<int>(size != 0));
  return static_cast<bool>(static_cast<int>(base) |
                           static_cast<int>((bits_of(y) & 0x7f800000u) == 0x7f800000u));
}

void part_of_powers(const float *x, const float *y, int64_t count, float *to) {
  float results[kPart];
  int32_t rare = 0;
  usual_powers(x, y, count, results);
  for (int64_t i = 0; i < count; ++i) rare |= is_rare(x[i], y[i]) ? 1 : 0;
  for (int64_t i = 0; rare != 0 && i < count; ++i) {
    if (is_rare(x[i], y[i])) results[i] = std::pow(x[i], y[i]);
  }
  std::copy_n(results, count, to);
}

#endif

void powers(const float *x, const float *y, int64_t count, float *to) {
  for (int64_t i = 0; i < count; i += kPart)
    part_of_powers(x + i, y + i, std::min(kPart, count - i), to + i);
}

void powers_to(const float *x, float y, int64_t count, float *to) {
  if (y == 2.0f) {
    for (int64_t i = 0; i < count; ++i) to[i] = x[i] * x[i];
    return;
  }
  float same[kPart];
  std::fill_n(same, kPart, y);
  for (int64_t i = 0; i < count; i += kPart)
    part_of_powers(x + i, same, std::min(kPart, count - i), to + i);
}

void powers_of(float x, const float *y, int64_t count, float *to) {
  float same[kPart];
  std::fill_n(same, kPart, x);
  for (int64_t i = 0; i < count; i += kPart)
    part_of_powers(same, y + i, std::min(kPart, count - i), to + i);
}

}  // namespace

extern const PowerKernels power_table;
constexpr PowerKernels power_table = {powers, powers_to, powers_of};

}  // namespace EMU_ISA_NS
}  // namespace emu
