// SPDX-License-Identifier: Apache-2.0
// Many numbers of a random sequence at a time, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace emu {

// The part of a sequence that begins at `position` and has one place for each of `count` elements,
// at most kBlock.
struct RandomPart {
  uint64_t seed, position;
  int64_t count;
};

// from + unit * width for units of [0, 1): at least `from`, at most `last`.
struct UniformRange {
  double from, width, last;
};

struct WordKernels {
  void (*words)(const RandomPart &part, uint64_t *to);
  void (*uniform)(const RandomPart &part, const UniformRange &range, double *to);
  // from + word * width / 2^64 without its fraction; width is below 2^32.
  void (*integers)(const RandomPart &part, int64_t from, uint64_t width, int64_t *to);
  // means[i] + deviations[i] * a normal number, for results of at most 24 digits: each number of
  // `to` rounds to them, and is cut off to them, as the formula of normal_pair does. Returns how
  // many elements this could not be told of; they are named in `unsure`.
  int64_t (*normal)(const RandomPart &part, const double *means, const double *deviations,
                    double *to, int64_t *unsure);
  // Bit i of `bits`, from the lowest bit of its first word on, is 1 where the upper 53 bits of word
  // i are `least` or more, from pair `first` of the sequence on: words 2 * first and 2 * first + 1.
  // Whole words are written: 32 pairs each.
  void (*compare)(uint64_t seed, uint64_t first, int64_t pairs, uint64_t least, uint64_t *bits);
};

const WordKernels &word_kernels();

}  // namespace emu
