// SPDX-License-Identifier: Apache-2.0
// Filters of a row of logits that keep the likeliest tokens.
#pragma once

#include <cstdint>

namespace emu {

// The order of Topk: NaN is the greatest value.
inline bool greater(float a, float b) {
  if (b != b) return false;
  return a != a || a > b;
}

// probabilities[i] = exp(values[i] - max) / sum, added in float64. Values of -inf get 0; +inf or
// NaN makes every probability NaN.
void softmax_of(const float *values, int64_t count, float *probabilities);

// Puts -inf where a value is below the k-th largest; values equal to that one stay. `scratch` has
// `width` places.
void keep_top_k(float *values, int64_t width, int64_t k, float *scratch);

// Puts -inf where the probabilities, added from the smallest one on, have not passed 1 - p; the
// largest value stays. Of equal values those in front go first. `scratch` has `width` places.
void keep_top_p(float *values, int64_t width, float p, float *scratch);

}  // namespace emu
