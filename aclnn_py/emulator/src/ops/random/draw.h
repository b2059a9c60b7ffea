// SPDX-License-Identifier: Apache-2.0
// Uniform and normal numbers from a place in the sequence of a seed.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/chip.h"
#include "ops/op.h"
#include "ops/random/philox.h"

namespace emu {

struct RandomPlace {
  uint64_t seed, offset;
};

// Numbers of [from, to): the integers of the range equally likely, or numbers of a floating dtype.
void fill_uniform(const View &out, double from, double to, const RandomPlace &place);
void fill_normal(const View &out, double mean, double deviation, const RandomPlace &place);

// Seed and offset as tensors of one number.
Check &check_place(Check &check, const aclTensor *seed, const aclTensor *offset);
// Where a launch begins: at `start`, or, where the tensors were given, at their seed and at the sum
// of both offsets.
RandomPlace place_in(PlanContext &context, RandomPlace start, size_t seed, size_t offset);

// Chips of the 950 series draw in blocks of four.
inline Check &check_offset(Check &check, int64_t offset) {
  return check.that(!chip_is_950() || offset % 4 == 0,
                    "offset is %lld; this chip needs a multiple of 4",
                    static_cast<long long>(offset));
}

// The number of [0, 1) of element `index` after the place.
inline double random_unit(const RandomPlace &place, uint64_t index) {
  const uint64_t position = place.offset + index;
  return uniform_pair(place.seed, position / 2)[position % 2];
}

// An exponential number of rate 1 of a uniform one of [0, 1): finite, and not below 0.
inline double exponential(double unit) { return -std::log1p(-unit); }

// 64 bits for element `index` after the place.
inline uint64_t random_bits(const RandomPlace &place, uint64_t index) {
  const uint64_t position = place.offset + index, pair = position / 2;
  const PhiloxBlock bits =
      philox({static_cast<uint32_t>(pair), static_cast<uint32_t>(pair >> 32), 0, 0}, place.seed);
  const size_t side = 2 * (position % 2);
  return static_cast<uint64_t>(bits[side]) << 32 | bits[side + 1];
}

}  // namespace emu
