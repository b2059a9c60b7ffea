// SPDX-License-Identifier: Apache-2.0
// Rows normalised by their mean and variance, and the shapes of their statistics.
#pragma once

#include <cmath>

#include "ops/shared/rows.h"

namespace emu {

struct RowStatistics {
  float mean, rstd;
};

// Mean and 1 / sqrt(variance + eps), taken in float64 and rounded once.
inline RowStatistics statistics_of(const float *x, int64_t width, double eps) {
  const double mean = sum_of(x, width) / static_cast<double>(width);
  const double variance = square_sum(x, width, mean) / static_cast<double>(width);
  return {static_cast<float>(mean), static_cast<float>(1.0 / std::sqrt(variance + eps))};
}

// x becomes (x - mean) * rstd * scale + shift.
inline RowStatistics layer_normalise(float *x, int64_t width, double eps, const float *scale,
                                     const float *shift) {
  const RowStatistics found = statistics_of(x, width, eps);
  for (int64_t i = 0; i < width; ++i) x[i] = (x[i] - found.mean) * found.rstd * scale[i] + shift[i];
  return found;
}

// The shape of `x` with 1 in its last `inner_rank` dimensions.
inline Layout statistics_shape(const aclTensor &x, size_t inner_rank) {
  Layout outer;
  for (size_t d = 0; d < x.rank(); ++d) outer.push(d < x.rank() - inner_rank ? x.shape[d] : 1, 0);
  return outer;
}

}  // namespace emu
