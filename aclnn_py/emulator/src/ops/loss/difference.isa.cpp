// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=off
// Differences of dense float32 blocks, weighted: gradients of squared distances, and divergences.
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

}  // namespace EMU_ISA_NS
}  // namespace emu
