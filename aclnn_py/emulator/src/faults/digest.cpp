// SPDX-License-Identifier: Apache-2.0
#include "faults/digest.h"

#include <array>
#include <cstring>

namespace emu::faults {
namespace {

// The first 32 bits behind the point of the cube roots of the first 64 primes, and of the square
// roots of the first 8.
constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constexpr uint32_t kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr size_t kBlock = 64;

uint32_t turned(uint32_t value, int bits) { return value >> bits | value << (32 - bits); }

void take_block(uint32_t state[8], const unsigned char *block) {
  uint32_t words[64];
  for (int i = 0; i < 16; ++i) {
    words[i] = static_cast<uint32_t>(block[4 * i]) << 24 |
               static_cast<uint32_t>(block[4 * i + 1]) << 16 |
               static_cast<uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + words[i - 7] +
               (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  std::memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; ++i) {
    const uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                         ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRounds[i] + words[i];
    const uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                         ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int k = 7; k > 0; --k) s[k] = s[k - 1];
    s[4] += one;
    s[0] = one + two;
  }
  for (int i = 0; i < 8; ++i) state[i] += s[i];
}

std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
    table[i] = value;
  }
  return table;
}

}  // namespace

uint32_t crc32(const void *data, size_t bytes) {
  static const std::array<uint32_t, 256> table = crc_table();
  const auto *from = static_cast<const unsigned char *>(data);
  uint32_t sum = 0xFFFFFFFFu;
  for (size_t i = 0; i < bytes; ++i) sum = sum >> 8 ^ table[(sum ^ from[i]) & 0xFF];
  return ~sum;
}

std::string sha256(const void *data, size_t bytes) {
  const auto *from = static_cast<const unsigned char *>(data);
  uint32_t state[8];
  std::memcpy(state, kStart, sizeof state);
  const size_t whole = bytes / kBlock, left = bytes % kBlock;
  for (size_t i = 0; i < whole; ++i) take_block(state, from + i * kBlock);
  unsigned char last[2 * kBlock] = {};
  if (left > 0) std::memcpy(last, from + whole * kBlock, left);
  last[left] = 0x80;
  const size_t blocks = left + 9 > kBlock ? 2 : 1;
  for (int i = 0; i < 8; ++i)
    last[blocks * kBlock - 1 - static_cast<size_t>(i)] =
        static_cast<unsigned char>(static_cast<uint64_t>(bytes) * 8 >> 8 * i);
  for (size_t i = 0; i < blocks; ++i) take_block(state, last + i * kBlock);
  std::string text;
  for (const uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  }
  return text;
}

}  // namespace emu::faults
