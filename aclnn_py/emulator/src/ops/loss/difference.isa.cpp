// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Differences of dense float32 blocks, weighted: gradients of distances, and divergences.
#include <cstdint>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {

// to[i] = slopes[i] * (x[i] - y[i]) * factor, where `to` may be any of the others.
void scaled_difference(const float *slopes, const float *x, const float *y, int64_t count,
                       float factor, float *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = slopes[i] * (x[i] - y[i]) * factor;
}

// to[i] = weights[i] * (x[i] - y[i]) / divisor, where `to` may be any of the others. Most calls
// divide by 1, which takes longest of all.
void weighted_difference(const float *weights, const float *x, const float *y, int64_t count,
                         float divisor, float *to) {
  if (divisor == 1.0f) {
    for (int64_t i = 0; i < count; ++i) to[i] = weights[i] * (x[i] - y[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = weights[i] * (x[i] - y[i]) / divisor;
  }
}

// to[i] = slopes[i] * d / divisor with d = (x[i] - y[i]) / beta, but at least -1 and at most 1;
// `to` may be any of the others.
void limited_difference(const float *slopes, const float *x, const float *y, int64_t count,
                        float beta, float divisor, float *to) {
  const auto limited = [&](int64_t i, float d) {
    const float low = d > 1.0f ? 1.0f : d;
    to[i] = slopes[i] * (low < -1.0f ? -1.0f : low) / divisor;
  };
  if (beta == 1.0f) {
    for (int64_t i = 0; i < count; ++i) limited(i, x[i] - y[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) limited(i, (x[i] - y[i]) / beta);
  }
}

}  // namespace EMU_ISA_NS
}  // namespace emu
