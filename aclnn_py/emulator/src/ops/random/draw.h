// SPDX-License-Identifier: Apache-2.0
// Uniform and normal numbers from a place in the sequence of a seed.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/chip.h"
#include "ops/op.h"
#include "ops/random/philox.h"
#include "ops/random/words.h"

namespace emu {

struct RandomPlace {
  uint64_t seed, offset;
};

// Numbers of [from, to) of a floating dtype; integers are made as fill_whole makes them.
void fill_uniform(const View &out, double from, double to, const RandomPlace &place);
// Integers in any dtype: numbers of [from, to) are drawn and lose their fraction, so that 0 stands
// for all between -1 and 1. BOOL is whether the nearest integer is not 0. The numbers are FLOAT, as
// the kernels draw them; with `wide` they are DOUBLE.
void fill_whole(const View &out, double from, double to, bool wide, const RandomPlace &place);
void fill_normal(const View &out, double mean, double deviation, const RandomPlace &place);

// The number that a dtype holds in place of `x`.
double rounded(double x, aclDataType dtype);
// The largest number of a floating dtype below `limit`.
double below(double limit, aclDataType dtype);

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
  const uint64_t position = place.offset + index;
  return bits_pair(place.seed, position / 2)[position % 2];
}

// Elements [start, start + count) after the place, at most kBlock.
inline RandomPart part_of(const RandomPlace &place, int64_t start, int64_t count) {
  return {place.seed, place.offset + static_cast<uint64_t>(start), count};
}

// The numbers of [0, 1) of a part.
inline void draw_units(const RandomPart &part, double *units) {
  word_kernels().uniform(part, {0, 1, 1}, units);
}

// Box and Muller: two words make a pair of normal numbers of mean 0 and deviation 1.
inline std::array<double, 2> normal_pair(const std::array<uint64_t, 2> &words) {
  constexpr double kTurn = 6.283185307179586477;
  const double radius = std::sqrt(-2 * std::log(1 - unit_of(words[0])));
  const double angle = kTurn * unit_of(words[1]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// Plans a tensor that fill(view, place) writes. The place is given by numbers, or by tensors that
// are read when the stream gets there.
template <class F>
Status plan_filled(Check &check, aclTensor *target, const RandomPlace &start, const aclTensor *seed,
                   const aclTensor *offset, F fill, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  // CANN makes no executor with a random step repeatable.
  plan.not_repeatable();
  const size_t to = plan.output(target), seeds = plan.input(seed), offsets = plan.input(offset);
  return plan.finish(
      [=](PlanContext &context) {
        fill(view_of(context.tensor(to)), place_in(context, start, seeds, offsets));
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace emu
