// SPDX-License-Identifier: Apache-2.0
// Conversions of the small float formats on their bit patterns: round to nearest even, branch-free
// so that loops over them vectorise.
#pragma once

#include <cstdint>

#include "core/half.h"

namespace emu {

// A float to a format with kMantissa mantissa bits and exponent bias kBias, sign left out.
// `magnitude` are the float's bits without sign, below the format's overflow limit.
template <int kBias, int kMantissa>
inline uint32_t round_magnitude(uint32_t magnitude) {
  constexpr int kDropped = 23 - kMantissa;
  constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(128 - kBias) << 23;
  // Adding this constant aligns the last mantissa bit with the format's subnormal step.
  constexpr uint32_t kAlign = static_cast<uint32_t>(127 - kBias + 1 + kDropped) << 23;
  const uint32_t subnormal = bits_of(float_of(magnitude) + float_of(kAlign)) - kAlign;
  const uint32_t odd = (magnitude >> kDropped) & 1;
  const uint32_t rebias = static_cast<uint32_t>(127 - kBias) << 23;
  const uint32_t normal = (magnitude - rebias + ((1u << (kDropped - 1)) - 1) + odd) >> kDropped;
  return magnitude < kSmallestNormal ? subnormal : normal;
}

inline uint16_t float_to_float16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const uint32_t rounded = round_magnitude<15, 10>(magnitude);
  const uint32_t result = magnitude >= (143u << 23) ? special : rounded;
  return static_cast<uint16_t>(result | ((bits >> 16) & 0x8000u));
}

inline uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u : rounded);
}

inline uint8_t float_to_e5m2(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7eu : 0x7cu;
  const uint32_t rounded = round_magnitude<15, 2>(magnitude);
  return static_cast<uint8_t>((magnitude >= (143u << 23) ? special : rounded) |
                              ((bits >> 24) & 0x80u));
}

inline uint8_t float_to_e4m3(float value) {
  // The format has no infinity: what rounds above 448 becomes NaN, and 464 is the halfway point.
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t rounded = round_magnitude<7, 3>(magnitude);
  const bool over = magnitude > 0x43e80000u;
  return static_cast<uint8_t>((over ? 0x7fu : rounded) | ((bits >> 24) & 0x80u));
}

// A float64 to a float whose last bit records inexactness, so that a second rounding to a narrower
// format gives what one rounding would have given.
inline float narrow_to_odd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  uint32_t bits = bits_of(nearest);
  const double magnitude = value < 0 ? -value : value;
  if (static_cast<double>(float_of(bits & 0x7fffffffu)) > magnitude) bits -= 1;
  return float_of(bits | 1u);
}

}  // namespace emu
