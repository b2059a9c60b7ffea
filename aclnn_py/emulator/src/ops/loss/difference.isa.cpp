// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=off
// Gradients of squared distances over dense float32 blocks.
#include <cstdint>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {

// to[i] = slopes[i] * (x[i] - y[i]) * factor, where `to` may be any of the others.
void scaled_difference(const float *slopes, const float *x, const float *y, int64_t count,
                       float factor, float *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = slopes[i] * (x[i] - y[i]) * factor;
}

}  // namespace EMU_ISA_NS
}  // namespace emu
