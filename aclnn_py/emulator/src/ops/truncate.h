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

template <class Wide, class From, class To>
void truncate_each(const char *from, int64_t count, char *to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
    const auto result = static_cast<To>(truncate<Wide>(value));
    std::memcpy(to + i * static_cast<int64_t>(sizeof result), &result, sizeof result);
  }
}

// Converts, and tells whether the magnitudes of all floats were below a power of two, by their
// first 32 bits: without the sign these order numbers as integers do, NaN last. If one was not, the
// results mean nothing.
template <class Wide, class From, class To>
[[gnu::always_inline]] inline bool convert_below(const char *from, int64_t count, char *to,
                                                 int exponent) {
  constexpr int kBias = sizeof(From) == 4 ? 127 : 1023, kPlace = sizeof(From) == 4 ? 23 : 20;
  int32_t highest = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const char *at = from + i * static_cast<int64_t>(sizeof(From));
    From value;
    int32_t first;
    std::memcpy(&value, at, sizeof value);
    std::memcpy(&first, at + sizeof(From) - 4, sizeof first);
    highest = std::max(highest, first & 0x7fffffff);
    const auto result = static_cast<To>(static_cast<Wide>(value));
    std::memcpy(to + i * static_cast<int64_t>(sizeof result), &result, sizeof result);
  }
  return highest < (kBias + exponent) << kPlace;
}

// `count` floats whose truncation to Wide is the dtype To or has its bits at the lower end; both
// may be the same memory. Blocks in which all are far from the bounds, as nearly all are, need no
// questions about the single ones.
template <class Wide, class From, class To>
void truncate_all(const char *from, int64_t count, char *to) {
  constexpr int64_t kTogether = 256;
  char kept[kTogether * sizeof(From)];
  for (; count > 0; count -= kTogether) {
    const int64_t run = std::min(count, kTogether);
    const char *read = from;
    if (from == to) {
      std::memcpy(kept, from, static_cast<size_t>(run) * sizeof(From));
      read = kept;
    }
    if (!convert_below<Wide, From, To>(read, run, to, 8 * sizeof(Wide) - 1)) {
      truncate_each<Wide, From, To>(read, run, to);
    }
    from += run * static_cast<int64_t>(sizeof(From));
    to += run * static_cast<int64_t>(sizeof(To));
  }
}

}  // namespace
}  // namespace emu::EMU_ISA_NS
