// SPDX-License-Identifier: Apache-2.0
// Random bits from a counter: Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", 2011). The key is the seed and the counter the place in the
// sequence, so any thread can make any part of it. The hardware makes other numbers from the same
// seed.
#pragma once

#include <array>
#include <cstdint>

namespace emu {

using PhiloxBlock = std::array<uint32_t, 4>;

inline PhiloxBlock philox(PhiloxBlock counter, uint64_t seed) {
  constexpr uint64_t kMultiply[] = {0xD2511F53u, 0xCD9E8D57u};
  constexpr uint32_t kWeyl[] = {0x9E3779B9u, 0xBB67AE85u};
  auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = kMultiply[0] * counter[0], b = kMultiply[1] * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ low, static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ high, static_cast<uint32_t>(a)};
    low += kWeyl[0];
    high += kWeyl[1];
  }
  return counter;
}

// Two words of 64 bits: places 2 * pair and 2 * pair + 1 of the sequence of a seed.
inline std::array<uint64_t, 2> bits_pair(uint64_t seed, uint64_t pair) {
  const PhiloxBlock bits =
      philox({static_cast<uint32_t>(pair), static_cast<uint32_t>(pair >> 32), 0, 0}, seed);
  const auto word = [](uint32_t high, uint32_t low) {
    return (static_cast<uint64_t>(high) << 32) | low;
  };
  return {word(bits[0], bits[1]), word(bits[2], bits[3])};
}

// The number of [0, 1), a multiple of 2^-53, that a word stands for.
inline double unit_of(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// Two numbers of [0, 1): places 2 * pair and 2 * pair + 1 of the sequence of a seed.
inline std::array<double, 2> uniform_pair(uint64_t seed, uint64_t pair) {
  const std::array<uint64_t, 2> words = bits_pair(seed, pair);
  return {unit_of(words[0]), unit_of(words[1])};
}

}  // namespace emu
