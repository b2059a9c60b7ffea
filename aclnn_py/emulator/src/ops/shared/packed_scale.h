// SPDX-License-Identifier: Apache-2.0
// The 64-bit parameter of quantised products: bits 13 to 31 are the upper 19 bits of a float32
// scale, bits 37 to 45 an offset of nine bits, and bit 46 says that there is one.
#pragma once

#include <cstdint>

#include "core/float_bits.h"

namespace emu {

constexpr uint32_t kScaleBits = 0xffffe000u;
constexpr int kLowestOffset = -256, kHighestOffset = 255;

// `offset` is an integer within [-256, 255].
inline uint64_t pack_scale(float scale, int offset) {
  return (bits_of(scale) & kScaleBits) | uint64_t{1} << 46 |
         (static_cast<uint64_t>(offset) & 0x1ff) << 37;
}

inline float unpack_scale(uint64_t packed) {
  return float_of(static_cast<uint32_t>(packed) & kScaleBits);
}

// 0 where the parameter holds none.
inline float unpack_offset(uint64_t packed) {
  if ((packed >> 46 & 1) == 0) return 0.0f;
  const int bits = static_cast<int>(packed >> 37 & 0x1ff);
  return static_cast<float>(bits > kHighestOffset ? bits - 512 : bits);
}

// The nearest value of 19 bits, ties to even, instead of the one towards zero.
inline float nearest_scale(float scale) {
  const uint32_t bits = bits_of(scale);
  if ((bits & 0x7f800000u) == 0x7f800000u) return scale;
  return float_of(bits + 0xfffu + (bits >> 13 & 1));
}

}  // namespace emu
