// SPDX-License-Identifier: Apache-2.0
// The bits of floats and the values of the 16-bit and 8-bit formats. The conversions are
// branch-free so that loops over them vectorise. Each is defined only here: units for several
// instruction set levels include this header.
#pragma once

#include <cstdint>
#include <cstring>

namespace emu {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float float16_to_float(uint16_t half) {
  // Scaling by 2^112 moves the exponent bias and normalises subnormal halves in one step.
  const float magnitude = float_of(static_cast<uint32_t>(half & 0x7fff) << 13) * 0x1p112f;
  const uint32_t special = magnitude >= 65536.0f ? 0x7f800000u : 0u;
  return float_of(bits_of(magnitude) | special | (static_cast<uint32_t>(half & 0x8000) << 16));
}

inline float bfloat16_to_float(uint16_t bits) {
  return float_of(static_cast<uint32_t>(bits) << 16);
}

inline float e5m2_to_float(uint8_t bits) {
  return float16_to_float(static_cast<uint16_t>(bits << 8));
}

inline float e4m3_to_float(uint8_t bits) {
  const float magnitude = float_of(static_cast<uint32_t>(bits & 0x7f) << 20) * 0x1p120f;
  const uint32_t nan = (bits & 0x7f) == 0x7f ? 0x7fc00000u : 0u;
  return float_of(bits_of(magnitude) | nan | (static_cast<uint32_t>(bits & 0x80) << 24));
}

}  // namespace emu
