// SPDX-License-Identifier: Apache-2.0
// Powers of float32, compiled once per instruction set. They are computed in float64, so a result
// in the normal range is off by hardly more than half a unit in the last place; below that range it
// may be off by one step.
#pragma once

#include <cstdint>

namespace emu {

struct PowerKernels {
  // to[i] = x[i] to the power of y[i]; `to` may be `x` or `y`.
  void (*powers)(const float *x, const float *y, int64_t count, float *to);
  // to[i] = x[i] to the power of y
  void (*powers_to)(const float *x, float y, int64_t count, float *to);
  // to[i] = x to the power of y[i]
  void (*powers_of)(float x, const float *y, int64_t count, float *to);
};

const PowerKernels &power_kernels();

}  // namespace emu
