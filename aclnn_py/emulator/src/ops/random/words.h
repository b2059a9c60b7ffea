// SPDX-License-Identifier: Apache-2.0
// Many words of a random sequence at a time, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace emu {

struct WordKernels {
  // words[2 * i] and words[2 * i + 1] are those of pair `first + i` of the sequence of the seed,
  // for i in [0, pairs). Pairs are counted with 63 bits: there are 2^64 places.
  void (*fill)(uint64_t seed, uint64_t first, int64_t pairs, uint64_t *words);
};

const WordKernels &word_kernels();

}  // namespace emu
