// SPDX-License-Identifier: Apache-2.0
// Floats to integers: truncation with saturation at 32 or 64 bits; NaN gives 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/isa.h"

// Each file that includes this compiles its own copy, with its own flags.
namespace emu::EMU_ISA_NS {
namespace {

// The bounds are powers of two, exact in both float types.
template <class To, class From>
To truncate(From value) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    // Negative values wrap through int64 so that -1.0 becomes the largest number, as integers do.
    if (value >= From(0x1p64)) return std::numeric_limits<uint64_t>::max();
    if (value >= From(0x1p63)) return static_cast<uint64_t>(value);
    return static_cast<uint64_t>(truncate<int64_t>(value));
  } else {
    constexpr From kLimit = std::is_same_v<To, int32_t> ? From(0x1p31) : From(0x1p63);
    // Without branches, for loops in registers: what is out of range becomes the lowest number
    // first.
    const bool inside = value < kLimit && value >= -kLimit;
    const To held = static_cast<To>(inside ? value : -kLimit);
    const To above = value >= kLimit ? std::numeric_limits<To>::max() : held;
    return value == value ? above : To{0};
  }
}

// Whether the magnitudes of all floats are below a power of two, by their first 32 bits: without
// the sign these order numbers as integers do, NaN last.
template <class From>
bool all_below(const char *from, int64_t count, int exponent) {
  constexpr int kBias = sizeof(From) == 4 ? 127 : 1023, kPlace = sizeof(From) == 4 ? 23 : 20;
  int32_t highest = 0;
  for (int64_t i = 0; i < count; ++i) {
    int32_t first;
    std::memcpy(&first, from + (i + 1) * static_cast<int64_t>(sizeof(From)) - 4, sizeof first);
    highest = std::max(highest, first & 0x7fffffff);
  }
  return highest < (kBias + exponent) << kPlace;
}

// `count` floats whose truncation to Wide is the dtype To or has its bits at the lower end. Blocks
// in which all are far from the bounds, as nearly all are, need no questions about the single ones.
template <class Wide, class From, class To>
void truncate_all(const char *from, int64_t count, char *to) {
  constexpr int64_t kTogether = 256;
  constexpr auto kFrom = static_cast<int64_t>(sizeof(From)), kTo = static_cast<int64_t>(sizeof(To));
  const auto piece = [](const char *read, int64_t run, char *write, auto convert) {
    for (int64_t i = 0; i < run; ++i) {
      From value;
      std::memcpy(&value, read + i * kFrom, sizeof value);
      const To result = static_cast<To>(convert(value));
      std::memcpy(write + i * kTo, &result, sizeof result);
    }
  };
  for (; count > 0; count -= kTogether) {
    const int64_t run = std::min(count, kTogether);
    if (all_below<From>(from, run, 8 * sizeof(Wide) - 1)) {
      piece(from, run, to, [](From value) { return static_cast<Wide>(value); });
    } else {
      piece(from, run, to, [](From value) { return truncate<Wide>(value); });
    }
    from += run * kFrom;
    to += run * kTo;
  }
}

}  // namespace
}  // namespace emu::EMU_ISA_NS
