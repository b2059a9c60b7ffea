// SPDX-License-Identifier: Apache-2.0
// Many words of a random sequence at a time, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace emu {

struct WordKernels {
  // words[2 * i] and words[2 * i + 1] are those of pair `first + i` of the sequence of the seed,
  // for i in [0, pairs). Pairs are counted with 63 bits: there are 2^64 places.
  void (*fill)(uint64_t seed, uint64_t first, int64_t pairs, uint64_t *words);
  // Bit i of `bits`, from the lowest bit of its first word on, is 1 where the upper 53 bits of word
  // i are `least` or more. Whole words are written: 32 pairs each.
  void (*compare)(uint64_t seed, uint64_t first, int64_t pairs, uint64_t least, uint64_t *bits);
};

const WordKernels &word_kernels();

}  // namespace emu
