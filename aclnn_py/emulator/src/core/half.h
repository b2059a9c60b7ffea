// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace emu {

inline float bits_to_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t float_to_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float bfloat16_to_float(uint16_t bits) { return bits_to_float(static_cast<uint32_t>(bits) << 16); }

inline float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu, fraction = bits & 0x3FFu;
  if (exponent == 0x1F) return bits_to_float(sign | 0x7F800000u | (fraction << 13));
  if (exponent != 0) return bits_to_float(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero and subnormals: fraction * 2^-24 is exact in float.
  const float magnitude = static_cast<float>(fraction) * 5.9604644775390625e-8f;
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace emu
