// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/truth_kernels.h"

#include <limits>

#include "ops/registers.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Not zero where the elements, or a single one, are what is looked for.
template <bool kZero, class V, class U>
V hits(V x, U mask) {
  const V kept = x & mask;
  if constexpr (!kZero) return kept;
  else if constexpr (std::is_same_v<V, U>) return kept == 0 ? U{1} : U{};
  else return (V)(kept == 0);
}

// Stops at the first registers in which there is one.
template <bool kZero, class U>
bool any_hit(const U *x, int64_t count, U mask) {
  constexpr int64_t kTogether = 8, kWide = kLanes<U>;
  int64_t i = 0;
  for (; i + kTogether * kWide <= count; i += kTogether * kWide) {
    Wide<U> found{};
#pragma GCC unroll 8
    for (int64_t k = 0; k < kTogether; ++k) found |= hits<kZero>(at(x + i + k * kWide), mask);
    if (any_of(found)) return true;
  }
  Wide<U> found{};
  for (; i + kWide <= count; i += kWide) found |= hits<kZero>(at(x + i), mask);
  U rest = 0;
  for (; i < count; ++i) rest |= hits<kZero>(x[i], mask);
  return rest != 0 || any_of(found);
}

// Some rows at a time, so that what was found is loaded and stored less often; and no further than
// to where every column has one.
template <bool kZero, class U>
void columns_hit(const U *x, int64_t rows, int64_t step, int64_t count, U mask, bool *to) {
  constexpr int64_t kTogether = 8;
  U found[kMostColumns];
  for (int64_t c = 0; c < count; ++c) found[c] = 0;
  int64_t row = 0;
  for (; row + kTogether <= rows; row += kTogether) {
    const U *from = x + row * step;
    U open = 0;
    for (int64_t c = 0; c < count; ++c) {
      U all = found[c];
#pragma GCC unroll 8
      for (int64_t k = 0; k < kTogether; ++k) all |= hits<kZero>(from[k * step + c], mask);
      found[c] = all;
      open |= all == 0 ? U{1} : U{};
    }
    if (open == 0) break;
  }
  if (row + kTogether > rows) {
    for (; row < rows; ++row)
      for (int64_t c = 0; c < count; ++c) found[c] |= hits<kZero>(x[row * step + c], mask);
  }
  for (int64_t c = 0; c < count; ++c) to[c] = found[c] != 0;
}

// f(x as words of that size, what counts of them).
template <class F>
auto with_words(const void *x, int64_t size, bool has_sign, F f) {
  const auto call = [&](auto kind) {
    using U = decltype(kind);
    using S = std::make_signed_t<U>;
    const U mask = has_sign ? static_cast<U>(std::numeric_limits<S>::max()) : static_cast<U>(-1);
    return f(static_cast<const U *>(x), mask);
  };
  switch (size) {
    case 1: return call(uint8_t{});
    case 2: return call(uint16_t{});
    case 4: return call(uint32_t{});
    default: return call(uint64_t{});
  }
}

template <bool kZero>
bool any(const void *x, int64_t count, int64_t size, bool has_sign) {
  return with_words(x, size, has_sign, [=](const auto *words, auto mask) {
    return any_hit<kZero>(words, count, mask);
  });
}

template <bool kZero>
void columns(const void *x, int64_t rows, int64_t step, int64_t count, int64_t size, bool has_sign,
             bool *to) {
  with_words(x, size, has_sign, [=](const auto *words, auto mask) {
    columns_hit<kZero>(words, rows, step, count, mask, to);
  });
}

}  // namespace

extern const TruthKernels truth_table;
constexpr TruthKernels truth_table = {any<false>, any<true>, columns<false>, columns<true>};

}  // namespace EMU_ISA_NS
}  // namespace emu
