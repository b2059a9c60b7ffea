// SPDX-License-Identifier: Apache-2.0
#include "ops/copy/byte_code.h"

#include <algorithm>

namespace emu {
namespace {

constexpr int kBytes = 256, kSlotBits = 14;
constexpr uint32_t kSlots = 1u << kSlotBits;
// The state stays in [kLowest, 256 * kLowest); what exceeds that leaves it by bytes.
constexpr uint32_t kLowest = 1u << 23;

}  // namespace

ByteCode::ByteCode(const int32_t *counts) : shares_(kBytes, 1), starts_(kBytes), byte_in_(kSlots) {
  uint64_t total = 0;
  for (int b = 0; b < kBytes; ++b) total += static_cast<uint64_t>(std::max(counts[b], 0));
  uint32_t given = kBytes;  // every byte has a slot
  for (int b = 0; total > 0 && b < kBytes; ++b) {
    const auto count = static_cast<uint64_t>(std::max(counts[b], 0));
    const auto more = static_cast<uint32_t>(count * (kSlots - kBytes) / total);
    shares_[static_cast<size_t>(b)] += more;
    given += more;
  }
  *std::max_element(shares_.begin(), shares_.end()) += kSlots - given;
  uint32_t start = 0;
  for (size_t b = 0; b < kBytes; ++b) {
    starts_[b] = start;
    std::fill_n(byte_in_.begin() + start, shares_[b], static_cast<uint8_t>(b));
    start += shares_[b];
  }
}

std::vector<uint8_t> ByteCode::encode(const uint8_t *bytes, int64_t count) const {
  std::vector<uint8_t> code;
  code.reserve(static_cast<size_t>(count));
  uint32_t state = kLowest;
  for (int64_t i = count - 1; i >= 0; --i) {
    const uint32_t share = shares_[bytes[i]], limit = ((kLowest >> kSlotBits) << 8) * share;
    for (; state >= limit; state >>= 8) code.push_back(static_cast<uint8_t>(state));
    state = ((state / share) << kSlotBits) + state % share + starts_[bytes[i]];
  }
  for (int shift = 24; shift >= 0; shift -= 8) code.push_back(static_cast<uint8_t>(state >> shift));
  std::reverse(code.begin(), code.end());
  return code;
}

bool ByteCode::decode(const uint8_t *code, size_t size, uint8_t *bytes, int64_t count) const {
  if (size < sizeof(uint32_t)) return false;
  uint32_t state = 0;
  for (size_t i = 0; i < sizeof(uint32_t); ++i) state |= uint32_t{code[i]} << (8 * i);
  size_t next = sizeof(uint32_t);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t slot = state % kSlots;
    bytes[i] = byte_in_[slot];
    state = shares_[bytes[i]] * (state >> kSlotBits) + slot - starts_[bytes[i]];
    while (state < kLowest && next < size) state = state << 8 | code[next++];
  }
  return state == kLowest && next == size;
}

}  // namespace emu
