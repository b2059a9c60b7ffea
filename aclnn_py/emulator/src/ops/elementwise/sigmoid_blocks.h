// SPDX-License-Identifier: Apache-2.0
// Gradients that hold a sigmoid, as loops over float32 blocks that take it from its kernel.
// Operands may lie where the result goes.
#pragma once

#include <cmath>

#include "ops/convert.h"
#include "ops/elementwise/block.h"

namespace emu {

// out = x * f(y, sigmoid(factor(y))) for the incoming gradient x and the argument y.
template <class Factor, class Slope>
void sigmoid_slope_block(void *out, const void *const *in, int64_t count, Factor factor,
                         Slope slope) {
  float s[kBlock];
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  auto *to = static_cast<float *>(out);
  for (int64_t i = 0; i < count; ++i) s[i] = factor(y[i]);
  float_kernel_fn(FloatKernel::sigmoid)(s, count, nullptr, s);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * slope(y[i], s[i]);
}

inline void log_sigmoid_gradient_block(void *out, const void *const *in, int64_t count,
                                       const void *) {
  sigmoid_slope_block(out, in, count, [](float y) { return -y; }, [](float, float s) { return s; });
}

inline void silu_gradient_block(void *out, const void *const *in, int64_t count, const void *) {
  sigmoid_slope_block(
      out, in, count, [](float y) { return y; },
      [](float y, float s) { return s * (1 + y * (1 - s)); });
}

inline void swish_gradient_block(void *out, const void *const *in, int64_t count,
                                 const void *scalars) {
  const float beta = *static_cast<const float *>(scalars);
  sigmoid_slope_block(
      out, in, count, [beta](float y) { return beta * y; },
      [beta](float y, float s) { return s * (1.0f + beta * y * (1.0f - s)); });
}

}  // namespace emu
