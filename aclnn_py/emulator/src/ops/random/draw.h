// SPDX-License-Identifier: Apache-2.0
// Uniform and normal numbers from a place in the sequence of a seed.
#pragma once

#include <cstdint>

#include "ops/random/philox.h"
#include "ops/view.h"

namespace emu {

struct RandomPlace {
  uint64_t seed, offset;
};

// Numbers of [from, to): the integers of the range equally likely, or numbers of a floating dtype.
void fill_uniform(const View &out, double from, double to, const RandomPlace &place);
void fill_normal(const View &out, double mean, double deviation, const RandomPlace &place);

// 64 bits for element `index` after the place.
inline uint64_t random_bits(const RandomPlace &place, uint64_t index) {
  const uint64_t position = place.offset + index, pair = position / 2;
  const PhiloxBlock bits =
      philox({static_cast<uint32_t>(pair), static_cast<uint32_t>(pair >> 32), 0, 0}, place.seed);
  const size_t side = 2 * (position % 2);
  return static_cast<uint64_t>(bits[side]) << 32 | bits[side + 1];
}

}  // namespace emu
