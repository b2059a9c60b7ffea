// SPDX-License-Identifier: Apache-2.0
// Rows divided by the root of their mean square.
#pragma once

#include <cmath>

#include "ops/shared/rows.h"

namespace emu {

// Elements in front of the last `inner_rank` dimensions.
inline int64_t outer_count(const aclTensor &x, size_t inner_rank) {
  return count_of(x.shape.data(), x.rank() - inner_rank);
}

// x becomes x / rms(x) * scale; returns 1 / rms(x). The mean is taken in float64 and rounded once.
inline float rms_normalise(float *x, int64_t width, double epsilon, const float *scale) {
  const double mean = square_sum(x, width, 0.0) / static_cast<double>(width);
  const auto factor = static_cast<float>(1.0 / std::sqrt(mean + epsilon));
  for (int64_t i = 0; i < width; ++i) x[i] = x[i] * factor * scale[i];
  return factor;
}

}  // namespace emu
