// SPDX-License-Identifier: Apache-2.0
// Remainders and whole quotients as loops over float32 blocks. In float64 a quotient below 2^22 has
// its whole part, and the product with that leaves the remainder, both exactly; blocks with
// greater quotients, zeros as divisors or what is not finite take the formula.
#pragma once

#include <cmath>
#include <limits>

#include "ops/convert.h"
#include "ops/elementwise/block.h"
#include "ops/elementwise/formula.h"

namespace emu {

struct WholeQuotient {
  double whole, rest;  // of x / y towards zero
};

inline WholeQuotient whole_quotient(float x, float y) {
  const double wide = x, whole = static_cast<double>(static_cast<int32_t>(wide / y));
  return {whole, wide - whole * y};
}

struct TruncatedRemainder {
  static float of(float x, float y) { return mod_trunc(x, y); }
  static float fast(float x, float y) {
    return std::copysign(static_cast<float>(whole_quotient(x, y).rest), x);
  }
};

struct FlooredRemainder {
  static float of(float x, float y) { return mod_floor(x, y); }
  static float fast(float x, float y) {
    const float rest = std::copysign(static_cast<float>(whole_quotient(x, y).rest), x);
    const int turn = static_cast<int>(rest != 0) & static_cast<int>((rest < 0) != (y < 0));
    return turn != 0 ? rest + y : rest;
  }
};

struct FlooredQuotient {
  static float of(float x, float y) { return divide_floor(x, y); }
  static float fast(float x, float y) {
    const WholeQuotient q = whole_quotient(x, y);
    const int below = static_cast<int>(q.rest != 0) & static_cast<int>((q.rest < 0) != (y < 0));
    const float floored = static_cast<float>(q.whole - below);
    return floored == 0 ? std::copysign(0.0f, x / y) : floored;
  }
};

// x[i] and y[i], or one number instead of the second; the other way round where kTurned.
template <class Rule, int kTensors, bool kTurned = false>
void remainder_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  float numbers[kBlock];
  const auto *x = static_cast<const float *>(in[0]);
  const float *y = numbers;
  if constexpr (kTensors == 2) {
    y = static_cast<const float *>(in[1]);
  } else {
    const float number = *static_cast<const float *>(scalars);
    for (int64_t i = 0; i < count; ++i) numbers[i] = number;
  }
  const float *over = kTurned ? y : x, *under = kTurned ? x : y;
  int32_t odd = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float divisor = std::abs(under[i]);
    odd |= static_cast<int32_t>(!(std::abs(over[i]) < divisor * 0x1p22f)) |
           static_cast<int32_t>(divisor > std::numeric_limits<float>::max());
  }
  float result[kBlock];
  if (odd == 0) {
    for (int64_t i = 0; i < count; ++i) result[i] = Rule::fast(over[i], under[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) result[i] = Rule::of(over[i], under[i]);
  }
  auto *to = static_cast<float *>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = result[i];
}

}  // namespace emu
