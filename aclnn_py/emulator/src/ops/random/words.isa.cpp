// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/random/words.h"

#include <cstring>

#include "core/isa.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

// A word of 32 bits in the low half of each lane of 64, so that one multiplication makes both
// halves of a product. What is in the high half has no meaning.
// Registers that are worked on in turns, because a product waits for the one before it: as many as
// the instruction set has room for.
#if defined(__AVX512F__)
constexpr int kRegister = 8, kTogether = 4;
#elif defined(__AVX2__)
constexpr int kRegister = 4, kTogether = 2;
#else
constexpr int kRegister = 2, kTogether = 2;
#endif
constexpr int kLanes = kTogether * kRegister;
using Register = uint64_t __attribute__((vector_size(kRegister * sizeof(uint64_t))));
using Lanes = Register[kTogether];

constexpr uint64_t kLow = 0xFFFFFFFFu;

// The products of the low halves. The compiler does not know that the high ones have no part in it.
Register product(Register a, Register b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Register>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Register>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Register>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & kLow) * (b & kLow);
#endif
}

struct Pairs {
  Lanes first, second;  // the two words of each pair
};

// The keys of the rounds in every lane.
struct Keys {
  Register low[10], high[10];

  explicit Keys(uint64_t seed) {
    uint64_t a = seed & kLow, b = seed >> 32;
    for (int round = 0; round < 10; ++round) {
      low[round] = Register{} + a;
      high[round] = Register{} + b;
      a = (a + 0x9E3779B9u) & kLow;
      b = (b + 0xBB67AE85u) & kLow;
    }
  }
};

// Pairs `start` to `start + kLanes`, counted with 63 bits. Philox 4x32 with ten rounds; see
// philox.h.
inline __attribute__((always_inline)) Pairs draw(const Keys &keys, uint64_t start) {
  Register lane{};
  for (int i = 0; i < kRegister; ++i) lane[i] = static_cast<uint64_t>(i);
  Lanes c0, c1, c2, c3;
  for (int k = 0; k < kTogether; ++k) {
    const Register pair = (lane + start + static_cast<uint64_t>(k * kRegister)) & ~uint64_t{0} >> 1;
    // The first round of a counter whose upper half is 0.
    const Register a = product(pair, Register{} + uint64_t{0xD2511F53u});
    c0[k] = pair >> 32 ^ keys.low[0];
    c1[k] = Register{};
    c2[k] = a >> 32 ^ keys.high[0];
    c3[k] = a;
  }
  for (int round = 1; round < 10; ++round) {
    for (int k = 0; k < kTogether; ++k) {
      const Register a = product(c0[k], Register{} + uint64_t{0xD2511F53u});
      const Register b = product(c2[k], Register{} + uint64_t{0xCD9E8D57u});
      c0[k] = b >> 32 ^ c1[k] ^ keys.low[round];
      c1[k] = b;
      c2[k] = a >> 32 ^ c3[k] ^ keys.high[round];
      c3[k] = a;
    }
  }
  Pairs found;
  for (int k = 0; k < kTogether; ++k) {
    found.first[k] = c0[k] << 32 | (c1[k] & kLow);
    found.second[k] = c2[k] << 32 | (c3[k] & kLow);
  }
  return found;
}

void fill(uint64_t seed, uint64_t first, int64_t pairs, uint64_t *words) {
  const Keys keys(seed);
  for (int64_t start = 0; start < pairs; start += kLanes) {
    const Pairs drawn = draw(keys, first + static_cast<uint64_t>(start));
    const int64_t count = pairs - start < kLanes ? pairs - start : kLanes;
    uint64_t even[kLanes], odd[kLanes];
    std::memcpy(even, drawn.first, sizeof even);
    std::memcpy(odd, drawn.second, sizeof odd);
    for (int64_t i = 0; i < count; ++i) {
      words[2 * (start + i)] = even[i];
      words[2 * (start + i) + 1] = odd[i];
    }
  }
}

void compare(uint64_t seed, uint64_t first, int64_t pairs, uint64_t least, uint64_t *bits) {
  const Keys keys(seed);
  constexpr int kPairsOfWord = 32;
  for (int64_t start = 0; start < pairs; start += kPairsOfWord) {
    Register marks{};
    for (int part = 0; part < kPairsOfWord; part += kLanes) {
      const Pairs drawn = draw(keys, first + static_cast<uint64_t>(start + part));
      for (int k = 0; k < kTogether; ++k) {
        // Numbers of 53 bits: the difference is negative where they are not below `least`.
        const Register even = (least - 1 - (drawn.first[k] >> 11)) >> 63;
        const Register odd = (least - 1 - (drawn.second[k] >> 11)) >> 63;
        marks |= (even | odd << 1) << static_cast<uint64_t>(2 * (part + k * kRegister));
      }
    }
    uint64_t word = 0;
    for (int i = 0; i < kRegister; ++i) word |= marks[i] << 2 * i;
    bits[start / kPairsOfWord] = word;
  }
}

}  // namespace

extern const WordKernels word_table;
constexpr WordKernels word_table = {fill, compare};

}  // namespace EMU_ISA_NS
}  // namespace emu
