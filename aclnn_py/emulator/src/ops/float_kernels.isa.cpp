// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast -fno-trapping-math -Wno-maybe-uninitialized
#include "ops/float_kernels.h"

#include "core/isa.h"
#include "ops/float_formulas.h"
#include "ops/function_kernels.h"
#ifdef __AVX512F__
#include "ops/float_vectors.h"
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

using namespace formulas;

inline float hyperbolic_tangent(float x) {
  const float t = magnitude_of(x), s = x * x;
  // Below 0.65.
  float p = 2.21499684e-3f;
  p = p * s - 8.27255659e-3f;
  p = p * s + 2.17462238e-2f;
  p = p * s - 5.39563559e-2f;
  p = p * s + 1.33332908e-1f;
  p = p * s - 3.33333343e-1f;
  const float near = x + x * s * p;
  const float far = 1.0f - 2.0f / (exponential(2.0f * t) + 1.0f);
  // A huge number, whose square overflows, takes the first branch; NaN the second.
  return with_sign_of(t > 0.65f ? far : near, x);
}

// erfc(t) * exp(t^2): a polynomial in (t - 3) / (t + 3), for t in [0, 10.2], where erfc is 0 in
// float32.
inline float scaled_complement(float t) {
  const float q = (t - 3.0f) / (t + 3.0f);
  float p = 4.90324692e-6f;
  p = p * q + 6.62994935e-5f;
  p = p * q + 3.08905801e-5f;
  p = p * q - 6.02356391e-4f;
  p = p * q + 7.12433073e-4f;
  p = p * q + 4.27103741e-3f;
  p = p * q - 2.43932549e-2f;
  p = p * q + 7.16655925e-2f;
  p = p * q - 1.50115877e-1f;
  p = p * q + 2.45603815e-1f;
  p = p * q - 3.26233566e-1f;
  p = p * q + 1.79001153e-1f;
  return p;
}

// exp(-factor * t^2) for a power of two. t^2 = high^2, which is exact, + the rest: an error of the
// exponent would grow with t.
inline float bell(float t, float factor) {
  const float high = float_of(bits_of(t) & 0xfffff000u);
  return exponential(-factor * (high * high), factor * ((high - t) * (high + t)));
}

// (erf(x) - x) / x for |x| <= 1 as a polynomial in x^2.
inline float near_error_share(float s) {
  float p = 7.96441673e-5f;
  p = p * s - 8.03758332e-4f;
  p = p * s + 5.19059831e-3f;
  p = p * s - 2.68544499e-2f;
  p = p * s + 1.12835832e-1f;
  p = p * s - 3.76126230e-1f;
  p = p * s + 1.28379166e-1f;
  return p;
}

// erf(x) for |x| <= 1.
inline float near_error(float x) { return x + x * near_error_share(x * x); }

inline float error_function(float x) {
  const float t = magnitude_of(x), bound = t > 10.2f ? 10.2f : t;
  const float far = 1.0f - bell(bound, 1.0f) * scaled_complement(bound), near = near_error(x);
  return with_sign_of(t > 1.0f ? far : near, x);
}

inline float error_complement(float x) {
  const float t = magnitude_of(x), bound = t > 10.2f ? 10.2f : t;
  const float e = bell(bound, 1.0f) * scaled_complement(bound);
  const float far = x < 0.0f ? 2.0f - e : e, near = 1.0f - near_error(x);
  return t > 0.5f ? far : near;
}

inline float logistic(float x) {
  // Either branch keeps exp from overflowing.
  const float e = exponential(-magnitude_of(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

inline float silu(float x, float scale) { return x * logistic(x * scale); }

inline float gelu(float x) {
  const float t = magnitude_of(x), bound = t > 14.4f ? 14.4f : t;
  const float e = 0.5f * bell(bound, 0.5f) * scaled_complement(bound * 0.707106781f);
  return x * (x >= 0.0f ? 1.0f - e : e);
}

// 0.5 * x * (1 + tanh(u)) is x * logistic(2 * u), without the cancellation.
inline float gelu_by_tanh(float x) {
  return x * logistic(1.59576912f * (x + 0.044715f * x * x * x));
}

inline uint64_t wide_bits_of(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

// 2 to the power of an integer, which adding 1.5 * 2^52 puts into the low bits.
inline double power_of_two(double whole) {
  const uint64_t bits = (wide_bits_of(whole + 0x1.8p52) + 1023) << 52;
  double power;
  __builtin_memcpy(&power, &bits, sizeof power);
  return power;
}

inline double wide_exponential(double x) {
  // As for float32: beyond the bounds the result is 0 or infinite anyway, and NaN passes them.
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  const double whole = (x * 0x1.71547652b82fep0 + 0x1.8p52) - 0x1.8p52;
  const double r = (x - whole * 0x1.62e42fefa38p-1) - whole * 0x1.ef35793c7673p-45;
  double p = 1.0 / 6227020800.0;  // 1 / 13!
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * (r * r) + r + 1.0;
  const double half = (whole * 0.5 + 0x1.8p52) - 0x1.8p52;
  return p * power_of_two(half) * power_of_two(whole - half);
}

// The slopes of gelu and of its tanh form. In float64: the terms cancel near the argument at which
// these functions are smallest.
inline float gelu_slope(float x) {
  const double wide = x, at = wide * 0.70710678118654752440;
  const float t = magnitude_of(static_cast<float>(at)), bound = t > 10.2f ? 10.2f : t;
  const double near = 0.5 + 0.5 * (at + at * near_error_share(bound * bound));
  const double e = 0.5f * bell(bound, 1.0f) * scaled_complement(bound);
  const double share = t <= 1.0f ? near : x > 0 ? 1 - e : e;
  return static_cast<float>(share +
                            wide * wide_exponential(-0.5 * wide * wide) * 0.39894228040143267794);
}

// (1 + tanh(u)) / 2 is logistic(2 u), which keeps its digits where tanh nears -1.
inline float gelu_tanh_slope(float x) {
  constexpr double kTwice = 2 * 0.79788456080286535588, kCubic = 0.044715;
  // Beyond these bounds the slope is 0 or 1, and the power is 0 or all that counts.
  constexpr float kFar = 1e10f;
  const double wide = x > kFar ? kFar : x < -kFar ? -kFar : x, square = kCubic * wide * wide;
  double u = -kTwice * wide * (1 + square);
  u = u > 700.0 ? 700.0 : u;
  const double power = wide_exponential(u), s = 1 / (1 + power);
  return static_cast<float>(s * (1 + kTwice * wide * (power * s) * (1 + 3 * square)));
}

template <class F>
void each(const float *from, int64_t count, float *to, F f) {
  for (int64_t i = 0; i < count; ++i) to[i] = f(from[i]);
}

#ifdef __AVX512F__
void block_exp(const float *from, int64_t count, const float *, float *to) {
  vectors::each(from, count, to, [](__m512 x) { return vectors::exponential(x); });
}
void block_log(const float *from, int64_t count, const float *, float *to) {
  vectors::each(from, count, to, [](__m512 x) { return vectors::logarithm(x); });
}
void block_tanh(const float *from, int64_t count, const float *, float *to) {
  vectors::each(from, count, to, [](__m512 x) { return vectors::hyperbolic_tangent(x); });
}
#else
void block_exp(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return exponential(x); });
}
void block_log(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return logarithm(x); });
}
void block_tanh(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return hyperbolic_tangent(x); });
}
#endif
void block_erf(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return error_function(x); });
}
void block_erfc(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return error_complement(x); });
}
void block_sigmoid(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return logistic(x); });
}
void block_silu(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return silu(x, 1.0f); });
}
void block_scaled_silu(const float *from, int64_t count, const float *scalars, float *to) {
  const float scale = scalars[0];
  each(from, count, to, [scale](float x) { return silu(x, scale); });
}
void block_fast_gelu(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return silu(x, 1.702f); });
}
void block_gelu(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return gelu(x); });
}
void block_gelu_tanh(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return gelu_by_tanh(x); });
}
void block_gelu_slope(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return gelu_slope(x); });
}
void block_gelu_tanh_slope(const float *from, int64_t count, const float *, float *to) {
  each(from, count, to, [](float x) { return gelu_tanh_slope(x); });
}
void block_gelu_form(const float *from, int64_t count, const float *scalars, float *to) {
  (scalars[0] == 0.0f ? block_gelu : block_gelu_tanh)(from, count, scalars, to);
}

// Partial results side by side: the compiler may not reorder a floating-point sum by itself, nor
// does it find the vectors in a loop over an array of them.
constexpr int kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

// A reference: a vector as a result goes by an ABI that depends on the instructions.
inline const Lanes &lanes_at(const float *x) { return *reinterpret_cast<const Lanes *>(x); }

constexpr int64_t kPiece = 256;

void wide_powers(double *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = wide_exponential(x[i]);
}

// At most kPiece values, whose partial sums are short enough for float32.
inline float short_sum(const float *x, int64_t count) {
  Lanes sums = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) sums += lanes_at(x + i);
  float total = 0;
  for (; i < count; ++i) total += x[i];
  for (int lane = 0; lane < kLanes; ++lane) total += sums[lane];
  return total;
}

double shifted_powers(float *x, int64_t count, float shift, bool keep) {
  double total = 0;
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t n = count - done < kPiece ? count - done : kPiece;
    float powers[kPiece], *at = x + done;
    for (int64_t i = 0; i < n; ++i) at[i] -= shift;
    for (int64_t i = 0; i < n; ++i) powers[i] = exponential(at[i]);
    total += static_cast<double>(short_sum(powers, n));
    if (keep) continue;
    for (int64_t i = 0; i < n; ++i) at[i] = powers[i];
  }
  return total;
}

float highest(const float *x, int64_t count) {
  // An array: vectors longer than those of the machine are compared number by number.
  float lanes[kLanes];
  for (float &lane : lanes) lane = -kInfinity;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
  float most = -kInfinity;
  for (; i < count; ++i) most = x[i] > most ? x[i] : most;
  for (const float lane : lanes) most = lane > most ? lane : most;
  return most;
}

void multiply(float *x, const float *factors, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] *= factors[i];
}

}  // namespace

extern const FloatKernels float_table;
constexpr FloatKernels float_table = {
    {nullptr,    block_exp,       block_log,       block_tanh,        block_erf,
     block_erfc, block_sigmoid,   block_silu,      block_scaled_silu, block_fast_gelu,
     block_gelu, block_gelu_tanh, block_gelu_form, block_gelu_slope,  block_gelu_tanh_slope,
     block_exp2, block_expm1,     block_log2,      block_log10,       block_log1p,
     block_sin,  block_cos,       block_tan,       block_asin,        block_acos,
     block_atan, block_sinh,      block_cosh,      block_asinh,       block_acosh,
     block_atanh},
    block_atan2,
    shifted_powers,
    highest,
    multiply,
    wide_powers,
};

}  // namespace EMU_ISA_NS
}  // namespace emu
