// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast -fno-trapping-math -Wno-maybe-uninitialized
// Trigonometric and hyperbolic functions, their inverses, and exponentials and logarithms of other
// bases.
#include "ops/function_kernels.h"

#include "core/isa.h"
#include "ops/float_formulas.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

using namespace formulas;

template <class F>
void each(const float *from, int64_t count, float *to, F f) {
  for (int64_t i = 0; i < count; ++i) to[i] = f(from[i]);
}

inline float exponential_of_two(float x) {
  x = x > 129.0f ? 129.0f : x;
  x = x < -151.0f ? -151.0f : x;
  const float shifted = x + 12582912.0f;
  const float r = x - (shifted - 12582912.0f);  // exact, within 1/2
  float p = 1.52527338e-5f;                     // ln(2)^k / k!
  p = p * r + 1.54035304e-4f;
  p = p * r + 1.33335581e-3f;
  p = p * r + 9.61812911e-3f;
  p = p * r + 5.55041087e-2f;
  p = p * r + 2.40226507e-1f;
  p = p * r + 6.93147181e-1f;
  const int32_t power = static_cast<int32_t>(bits_of(shifted)) - 0x4b400000;
  const int32_t half = power >> 1;
  const float first = float_of(static_cast<uint32_t>(half + 127) << 23);
  const float second = float_of(static_cast<uint32_t>(power - half + 127) << 23);
  return (p * r + 1.0f) * first * second;
}

// Of a base of which ln(2) is `high` + `low` and 1 is `unit`. The product with `high` is exact:
// powers of the base have exact results.
inline float logarithm_of_base(float x, float high, float low, float unit) {
  const Logarithm l = logarithm_of(x);
  const float fraction = l.f + (l.cubic - 0.5f * (l.f * l.f));
  return ends_of_logarithm(x, l.power * high + (l.power * low + fraction * unit));
}

// Sine and cosine of x = quadrant * pi / 2 + r.
struct Angle {
  float sine, cosine;  // of r
  uint32_t quadrant;   // in its two lowest bits
};

constexpr float kLargestAngle = 30000.0f;

inline Angle angle_of(float x) {
  const float shifted = x * 0.636619772f + 12582912.0f;
  const double whole = shifted - 12582912.0f;
  // The first part of pi / 2 has 33 bits: its product is exact.
  const double wide = (x - whole * 0x1.921fb544p+0) - whole * 0x1.0b4611a626331p-34;
  const float r = static_cast<float>(wide), s = r * r;  // within pi / 4 + 0.002
  float p = -1.95172674e-4f;
  p = p * s + 8.33217800e-3f;
  p = p * s - 1.66666552e-1f;
  float q = 2.44331204e-5f;
  q = q * s - 1.38873165e-3f;
  q = q * s + 4.16666456e-2f;
  const float sine = magnitude_of(r + r * (s * p));
  return {with_sign_of(sine, r), (q * (s * s) - 0.5f * s) + 1.0f, bits_of(shifted)};
}

// The sine of an angle, or its cosine, which is the sine a quadrant ahead.
inline float sine(float x, uint32_t ahead) {
  const Angle a = angle_of(x);
  const uint32_t quadrant = a.quadrant + ahead;
  const float chosen = (quadrant & 1) != 0 ? a.cosine : a.sine;
  return float_of(bits_of(chosen) ^ (quadrant & 2) << 30);
}

inline float tangent(float x) {
  const Angle a = angle_of(x);
  const bool odd = (a.quadrant & 1) != 0;
  const float over = odd ? -a.cosine : a.sine, under = odd ? a.sine : a.cosine;
  return over / under;
}

// Angles beyond what angle_of divides exactly are rare: the standard library takes blocks of them.
template <class F>
void each_angle(const float *from, int64_t count, float *to, F f, float (*exact)(float)) {
  constexpr int64_t kPiece = 256;
  for (int64_t start = 0; start < count; start += kPiece) {
    const int64_t n = count - start < kPiece ? count - start : kPiece;
    const float *x = from + start;
    int32_t far = 0;
    for (int64_t i = 0; i < n; ++i) far |= magnitude_of(x[i]) <= kLargestAngle ? 0 : 1;
    if (far == 0) {
      each(x, n, to + start, f);
    } else {
      for (int64_t i = 0; i < n; ++i) to[start + i] = exact(x[i]);
    }
  }
}

// (asin(x) - x) / x^3 as a polynomial in x^2, for |x| <= 1/2.
inline float arcsine_rest(float square) {
  float p = 3.75164747e-2f;
  p = p * square + 1.44385872e-2f;
  p = p * square + 3.18077244e-2f;
  p = p * square + 4.45169546e-2f;
  p = p * square + 7.50050396e-2f;
  return p * square + 1.66666597e-1f;
}

// asin of the smaller of t and sqrt((1 - t) / 2), for t = |x|.
inline float half_arcsine(float t) {
  const bool far = t > 0.5f;
  const float square = far ? 0.5f - 0.5f * t : t * t;
  const float at = far ? __builtin_sqrtf(square) : t;
  return at + at * (square * arcsine_rest(square));
}

inline float arcsine(float x) {
  const float t = magnitude_of(x), a = half_arcsine(t);
  const float far = 1.57079637f - (2.0f * a + 4.37113883e-8f);
  return with_sign_of(t > 0.5f ? far : a, x);
}

inline float arccosine(float x) {
  const float t = magnitude_of(x), a = half_arcsine(t);
  const float near = 1.57079637f - (with_sign_of(a, x) + 4.37113883e-8f);
  const float below = 3.14159274f - (2.0f * a + 8.74227766e-8f);
  const float far = x < 0.0f ? below : 2.0f * a;
  return t > 0.5f ? far : near;
}

// atan(x) for |x| <= 1.
inline float near_arctangent(float x) {
  const float s = x * x;
  float p = -1.79362029e-3f;
  p = p * s + 1.09145995e-2f;
  p = p * s - 3.11778337e-2f;
  p = p * s + 5.79575822e-2f;
  p = p * s - 8.40344951e-2f;
  p = p * s + 1.09521858e-1f;
  p = p * s - 1.42642424e-1f;
  p = p * s + 1.99985489e-1f;
  p = p * s - 3.33332986e-1f;
  return x + x * (s * p);
}

inline float arctangent(float x) {
  const float t = magnitude_of(x);
  const bool far = t > 1.0f;
  const float a = near_arctangent(far ? 1.0f / t : t);
  return with_sign_of(far ? 1.57079637f - (a + 4.37113883e-8f) : a, x);
}

inline float angle_of_point(float y, float x) {
  const float up = magnitude_of(y), across = magnitude_of(x);
  const bool steep = up > across;
  const float least = steep ? across : up, most = steep ? up : across;
  // Two zeros have the angle of an axis, and two infinities that of a diagonal.
  float share = least / most;
  share = most == 0.0f ? 0.0f : share;
  share = least == kInfinity ? 1.0f : share;
  float a = near_arctangent(share);
  a = steep ? 1.57079637f - (a + 4.37113883e-8f) : a;
  a = static_cast<int32_t>(bits_of(x)) < 0 ? 3.14159274f - (a + 8.74227766e-8f) : a;
  const float sum = x + y;  // a comparison with NaN is false, so it may have been passed over
  return up == up && across == across ? with_sign_of(a, y) : sum;
}

// exp(t) / 2, which is finite where sinh and cosh are.
inline float half_exponential(float t) {
  const Power p = power_of(t);
  return (p.less + 1.0f) * (0.5f * p.first) * p.second;
}

inline float hyperbolic_sine(float x) {
  const float t = magnitude_of(x);
  const Power p = power_of(t);
  const float half = (p.less + 1.0f) * (0.5f * p.first) * p.second;
  // exp(t) - 1, which has all its digits near 0 too
  const float two = p.first * p.second, m = p.less * two + (two - 1.0f);
  const bool near = t <= 1.0f;
  const float quotient = (near ? m : 0.25f) / (near ? m + 1.0f : half);
  return with_sign_of(near ? 0.5f * (m + quotient) : half - quotient, x);
}

inline float hyperbolic_cosine(float x) {
  const float half = half_exponential(magnitude_of(x));
  return half + 0.25f / half;
}

constexpr float kLn2 = 0.693147181f;
constexpr float kFar = 1e9f;  // from there on sqrt(x^2 + 1) is x

inline float inverse_hyperbolic_sine(float x) {
  const float t = magnitude_of(x), square = t * t;
  const float near = t + square / (1.0f + __builtin_sqrtf(square + 1.0f));
  const bool far = t > kFar;
  const float result = logarithm_of_one_and(far ? t : near) + (far ? kLn2 : 0.0f);
  return with_sign_of(result, x);
}

inline float inverse_hyperbolic_cosine(float x) {
  const float d = x - 1.0f, near = d + __builtin_sqrtf(d * d + 2.0f * d);
  const bool far = x > kFar;
  const float result = logarithm_of_one_and(far ? x : near) + (far ? kLn2 : 0.0f);
  return x >= 1.0f ? result : x - x + std::numeric_limits<float>::quiet_NaN();
}

inline float inverse_hyperbolic_tangent(float x) {
  const float t = magnitude_of(x);
  const float result = 0.5f * logarithm_of_one_and(2.0f * t / (1.0f - t));
  return with_sign_of(result, x);
}

}  // namespace

#define EMU_FUNCTION_KERNEL(NAME, ...)                                            \
  void block_##NAME(const float *from, int64_t count, const float *, float *to) { \
    each(from, count, to, [](float x) { return __VA_ARGS__; });                   \
  }
EMU_FUNCTION_KERNEL(exp2, exponential_of_two(x))
EMU_FUNCTION_KERNEL(expm1, exponential_less_one(x))
EMU_FUNCTION_KERNEL(log2, logarithm_of_base(x, 1.0f, 0.0f, 1.44269504f))
EMU_FUNCTION_KERNEL(log10, logarithm_of_base(x, 0.301025390625f, 4.60503898e-06f, 0.434294482f))
EMU_FUNCTION_KERNEL(log1p, logarithm_of_one_and(x))
EMU_FUNCTION_KERNEL(asin, arcsine(x))
EMU_FUNCTION_KERNEL(acos, arccosine(x))
EMU_FUNCTION_KERNEL(atan, arctangent(x))
EMU_FUNCTION_KERNEL(sinh, hyperbolic_sine(x))
EMU_FUNCTION_KERNEL(cosh, hyperbolic_cosine(x))
EMU_FUNCTION_KERNEL(asinh, inverse_hyperbolic_sine(x))
EMU_FUNCTION_KERNEL(acosh, inverse_hyperbolic_cosine(x))
EMU_FUNCTION_KERNEL(atanh, inverse_hyperbolic_tangent(x))

void block_sin(const float *from, int64_t count, const float *, float *to) {
  each_angle(from, count, to, [](float x) { return sine(x, 0); }, __builtin_sinf);
}
void block_cos(const float *from, int64_t count, const float *, float *to) {
  each_angle(from, count, to, [](float x) { return sine(x, 1); }, __builtin_cosf);
}
void block_tan(const float *from, int64_t count, const float *, float *to) {
  each_angle(from, count, to, [](float x) { return tangent(x); }, __builtin_tanf);
}

void block_atan2(const float *y, const float *x, int64_t count, float *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = angle_of_point(y[i], x[i]);
}

}  // namespace EMU_ISA_NS
}  // namespace emu
