// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/random/words.h"

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

constexpr int kLanes = 16;
// A word of 32 bits in each lane of 64, so that one multiplication makes both halves of a product.
using Lanes = uint64_t[kLanes];

constexpr uint64_t kLow = 0xFFFFFFFFu;

// Philox 4x32 with ten rounds; see philox.h.
void rounds(uint64_t seed, Lanes c0, Lanes c1, Lanes c2, Lanes c3) {
  uint64_t low = seed & kLow, high = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t a = uint64_t{0xD2511F53u} * static_cast<uint32_t>(c0[i]);
      const uint64_t b = uint64_t{0xCD9E8D57u} * static_cast<uint32_t>(c2[i]);
      c0[i] = b >> 32 ^ c1[i] ^ low;
      c1[i] = b & kLow;
      c2[i] = a >> 32 ^ c3[i] ^ high;
      c3[i] = a & kLow;
    }
    low = (low + 0x9E3779B9u) & kLow;
    high = (high + 0xBB67AE85u) & kLow;
  }
}

void fill(uint64_t seed, uint64_t first, int64_t pairs, uint64_t *words) {
  alignas(64) Lanes c0, c1, c2, c3;
  for (int64_t start = 0; start < pairs; start += kLanes) {
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t pair = (first + static_cast<uint64_t>(start + i)) & (~uint64_t{0} >> 1);
      c0[i] = pair & kLow;
      c1[i] = pair >> 32;
      c2[i] = c3[i] = 0;
    }
    rounds(seed, c0, c1, c2, c3);
    const int64_t count = pairs - start < kLanes ? pairs - start : kLanes;
    for (int64_t i = 0; i < count; ++i) {
      words[2 * (start + i)] = c0[i] << 32 | c1[i];
      words[2 * (start + i) + 1] = c2[i] << 32 | c3[i];
    }
  }
}

}  // namespace

extern const WordKernels word_table;
constexpr WordKernels word_table = {fill};

}  // namespace EMU_ISA_NS
}  // namespace emu
