// SPDX-License-Identifier: Apache-2.0
// The gated unit of language models, on one row in float32.
#pragma once

#include "ops/float_kernels.h"

namespace emu {

// gate = silu(gate) * linear.
inline void silu_gate(float *gate, const float *linear, int64_t count) {
  float_kernel_fn(FloatKernel::silu)(gate, count, nullptr, gate);
  for (int64_t i = 0; i < count; ++i) gate[i] *= linear[i];
}

}  // namespace emu
