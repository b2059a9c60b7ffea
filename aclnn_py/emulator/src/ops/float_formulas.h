// SPDX-License-Identifier: Apache-2.0
// Parts of transcendental functions in float32, free of branches and tables, so that loops over
// them become vectors. The coefficients are minimax fits of the relative error over the interval
// named beside them. Included by files that are compiled per instruction set.
#pragma once

#include <cstdint>
#include <limits>

#include "core/float_bits.h"
#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace formulas {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline float magnitude_of(float x) { return float_of(bits_of(x) & 0x7fffffffu); }
inline float with_sign_of(float magnitude, float x) {
  return float_of(bits_of(magnitude) | (bits_of(x) & 0x80000000u));
}

// exp(x + rest) = (1 + less) * first * second, for a `rest` that x alone could not hold. Two
// factors: neither leaves the range of float32 where the result is within it.
struct Power {
  float less, first, second;
};

inline Power power_of(float x, float rest = 0.0f) {
  // NaN passes the bounds; beyond them the result is 0 or infinite anyway.
  x = x > 90.0f ? 90.0f : x;
  x = x < -104.0f ? -104.0f : x;
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float whole = shifted - 12582912.0f;
  const float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f + rest;  // within ln(2) / 2
  float p = 1.98580237e-4f;
  p = p * r + 1.39344693e-3f;
  p = p * r + 8.33336171e-3f;
  p = p * r + 4.16664593e-2f;
  p = p * r + 1.66666672e-1f;
  p = p * r + 0.5f;
  const int32_t power = static_cast<int32_t>(bits_of(shifted)) - 0x4b400000;
  const int32_t half = power >> 1;
  return {p * (r * r) + r, float_of(static_cast<uint32_t>(half + 127) << 23),
          float_of(static_cast<uint32_t>(power - half + 127) << 23)};
}

inline float exponential(float x, float rest = 0.0f) {
  const Power p = power_of(x, rest);
  return (p.less + 1.0f) * p.first * p.second;
}

// exp(x) - 1, which has all its digits near 0 too.
inline float exponential_less_one(float x) {
  const Power p = power_of(x);
  const float two = p.first * p.second;
  const float near = p.less * two + (two - 1.0f);
  // There the 1 does not count, and the power of two may be out of range.
  const float far = (p.less + 1.0f) * p.first * p.second;
  return with_sign_of(magnitude_of(x > 20.0f ? far : near), x);
}

// log(x) = power * ln(2) + f - f^2 / 2 + cubic, where 1 + f is the significand of x in
// [sqrt(1/2), sqrt(2)), for a positive x.
struct Logarithm {
  float power, f, cubic;
};

inline Logarithm logarithm_of(float x) {
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const uint32_t bits = bits_of(scaled) - 0x3f3504f3u;
  const float power = static_cast<float>(static_cast<int32_t>(bits) >> 23) - (tiny ? 23.0f : 0.0f);
  const float f = float_of((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 7.03800172e-2f;
  p = p * f - 1.15140647e-1f;
  p = p * f + 1.16765872e-1f;
  p = p * f - 1.24202080e-1f;
  p = p * f + 1.42493829e-1f;
  p = p * f - 1.66680560e-1f;
  p = p * f + 2.00007126e-1f;
  p = p * f - 2.49999940e-1f;
  p = p * f + 3.33333313e-1f;
  return {power, f, p * (f * f * f)};
}

// The result, but for zero, infinity and what has no logarithm.
inline float ends_of_logarithm(float x, float result) {
  result = x == 0.0f ? -kInfinity : result;
  result = x == kInfinity ? x : result;
  return x >= 0.0f ? result : x - x + std::numeric_limits<float>::quiet_NaN();
}

// log(x + rest) for a small part `share` = rest / x.
inline float logarithm(float x, float share = 0.0f) {
  const Logarithm l = logarithm_of(x);
  const float small = l.cubic - l.power * 2.12194440e-4f - 0.5f * (l.f * l.f) + share;
  return ends_of_logarithm(x, l.f + small + l.power * 0.693359375f);
}

// log(1 + x)
inline float logarithm_of_one_and(float x) {
  const float u = 1.0f + x;
  const float lost = x - (u - 1.0f);  // exact where it counts
  const float result = logarithm(u, u > 0.0f && u < kInfinity ? lost / u : 0.0f);
  return x == 0.0f ? x : result;
}

}  // namespace formulas
}  // namespace EMU_ISA_NS
}  // namespace emu
