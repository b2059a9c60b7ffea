// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation of one row: scale and offset come from its largest and smallest value.
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/shared/quantised.h"

namespace emu {

struct RowScale {
  float scale, offset;
};

// The smallest and the largest of(value), beginning with `start`; NaN is left out.
template <class Of>
void extremes(const float *x, int64_t count, float start, float *least, float *most, Of of) {
  constexpr int64_t kLanes = 8;
  float low[kLanes], high[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) low[lane] = high[lane] = start;
  const auto take = [&](int64_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
  };
  const int64_t whole = count > 0 ? count - count % kLanes : 0;
  for (int64_t i = 0; i < whole; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) take(lane, of(x[i + lane]));
  for (int64_t i = whole; i < count; ++i) take(0, of(x[i]));
  *least = *std::min_element(low, low + kLanes);
  *most = *std::max_element(high, high + kLanes);
}

// Symmetric: scale = max(abs(x)) / highest, x becomes x / scale. A row of zeros has scale 0 and
// stays zeros. A NaN counts for nothing in the scale.
inline RowScale scale_symmetric(float *x, int64_t count, const QuantRange &range) {
  float least, most;
  extremes(x, count, 0.0f, &least, &most, [](float value) { return std::fabs(value); });
  const float scale = most / range.highest;
  const float divisor = scale == 0.0f ? 1.0f : scale;
  for (int64_t i = 0; i < count; ++i) x[i] = x[i] / divisor;
  return {scale, 0.0f};
}

// Asymmetric: scale = (max - min) / (highest - lowest), offset = highest - max / scale, x becomes
// x / scale + offset. A row of one value has scale 0 and becomes zeros.
inline RowScale scale_asymmetric(float *x, int64_t count, const QuantRange &range) {
  float least, most;
  extremes(x, count, count > 0 ? x[0] : 0.0f, &least, &most, [](float value) { return value; });
  const float scale = (most - least) / (range.highest - range.lowest);
  const float offset = range.highest - most / scale;
  for (int64_t i = 0; i < count; ++i) x[i] = scale == 0.0f ? 0.0f : x[i] / scale + offset;
  return {scale, offset};
}

}  // namespace emu
