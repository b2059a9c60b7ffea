// SPDX-License-Identifier: Apache-2.0
// Numbers of 8 and 4 bits on their bit patterns, as quantisation stores them: limited to the range
// of the format, so that no finite value becomes an infinity.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/float_bits.h"

namespace emu {

// How a value between two numbers of a format is rounded: to the nearest with ties to even, towards
// minus infinity, or to the nearest with ties away from zero.
enum class LowRounding : uint8_t { kRint, kFloor, kRound };

constexpr float kLargestE5m2 = 57344.0f, kLargestE4m3 = 448.0f, kLargestHifloat8 = 32768.0f;
constexpr float kLargestE2m1 = 6.0f, kLargestE1m2 = 1.75f;

// NaN stays NaN.
inline float limited(float value, float largest) {
  value = value > largest ? largest : value;
  return value < -largest ? -largest : value;
}

inline uint8_t saturated_e5m2(float value) { return float_to_e5m2(limited(value, kLargestE5m2)); }
inline uint8_t saturated_e4m3(float value) { return float_to_e4m3(limited(value, kLargestE4m3)); }

// HiFloat8: a sign, a prefix that says how many bits the exponent has, the exponent as sign and
// magnitude without its leading one, and three, two or one bit of mantissa. Powers of two from
// 2^-22 to 2^-16 have codes of their own. Rounds to nearest, ties away from zero.
inline uint8_t saturated_hifloat8(float value) {
  const uint32_t bits = bits_of(limited(value, kLargestHifloat8));
  const uint32_t magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
  if (magnitude > 0x7f800000u) return 0x80;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < -23) return 0;
  if (exponent < -22) return static_cast<uint8_t>(sign | 1u);
  const auto width_of = [](int power) {
    const int size = power < 0 ? -power : power;
    return size <= 3 ? 3 : size <= 7 ? 2 : size <= 15 ? 1 : 0;
  };
  const uint32_t rounded = magnitude + (1u << (22 - width_of(exponent)));
  const int power = static_cast<int>(rounded >> 23) - 127;
  const int size = power < 0 ? -power : power;
  if (power < -15) return static_cast<uint8_t>(sign | static_cast<uint32_t>(power + 23));
  const int width = width_of(power);
  const uint32_t mantissa = (rounded & 0x7fffffu) >> (23 - width);
  if (size == 0) return static_cast<uint8_t>(sign | 0x08u | mantissa);
  // The leading one of the exponent's magnitude is left out; its sign stands before the rest.
  const int stored = size >= 8 ? 3 : size >= 4 ? 2 : size >= 2 ? 1 : 0;
  const uint32_t prefix = stored == 0 ? 0x10u : 0x20u * static_cast<uint32_t>(stored);
  const uint32_t down = power < 0 ? 1u << (stored + width) : 0u;
  const uint32_t rest = static_cast<uint32_t>(size - (1 << stored)) << width;
  return static_cast<uint8_t>(sign | prefix | down | rest | mantissa);
}

// The nearest whole number, half to even; NaN becomes 0.
inline uint8_t saturated_int8(float value) {
  const float whole = limited(std::nearbyint(value == value ? value : 0.0f), 128.0f);
  return static_cast<uint8_t>(static_cast<int>(whole > 127.0f ? 127.0f : whole));
}

// Which of the eight magnitudes of a format of 4 bits; `place` says where the value lies on the
// scale of their codes. NaN becomes 0.
template <LowRounding kRounding>
uint8_t nibble_at(float place, bool negative) {
  float code = place;
  // Adding and subtracting it rounds a small float to the nearest integer, half to even.
  constexpr float kRounder = 12582912.0f;
  if constexpr (kRounding == LowRounding::kRint) code = (place + kRounder) - kRounder;
  if constexpr (kRounding == LowRounding::kRound) code = std::round(place);
  if constexpr (kRounding == LowRounding::kFloor)
    code = negative ? std::ceil(place) : std::floor(place);
  code = code > 7.0f ? 7.0f : code;
  return static_cast<uint8_t>((code > 0.0f ? static_cast<unsigned>(code) : 0u) |
                              (negative ? 8u : 0u));
}

// 0, 0.5, 1, 1.5, 2, 3, 4, 6.
template <LowRounding kRounding>
uint8_t saturated_e2m1(float value) {
  const float magnitude = limited(std::fabs(value), 8.0f);
  const float place = magnitude < 2.0f   ? magnitude * 2.0f
                      : magnitude < 4.0f ? magnitude + 2.0f
                                         : magnitude * 0.5f + 4.0f;
  return nibble_at<kRounding>(place, std::signbit(value));
}

// Multiples of 0.25 up to 1.75.
template <LowRounding kRounding>
uint8_t saturated_e1m2(float value) {
  return nibble_at<kRounding>(limited(std::fabs(value), 2.0f) * 4.0f, std::signbit(value));
}

inline float e2m1_to_float(uint8_t bits) {
  constexpr float kMagnitudes[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  const float magnitude = kMagnitudes[bits & 7];
  return (bits & 8) != 0 ? -magnitude : magnitude;
}

inline float e1m2_to_float(uint8_t bits) {
  const float magnitude = static_cast<float>(bits & 7) * 0.25f;
  return (bits & 8) != 0 ? -magnitude : magnitude;
}

// 2^(bits - 127); 255 is NaN.
inline float e8m0_to_float(uint8_t bits) {
  if (bits == 255) return float_of(0x7fc00000u);
  return bits == 0 ? 0x1p-127f : float_of(static_cast<uint32_t>(bits) << 23);
}

}  // namespace emu
