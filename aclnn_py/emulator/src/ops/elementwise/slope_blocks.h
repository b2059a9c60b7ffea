// SPDX-License-Identifier: Apache-2.0
// Gradients of activations as loops over float32 blocks that take what they hold, a sigmoid or a
// power, from kernels. Operands may lie where the result goes.
#pragma once

#include <cmath>

#include "ops/convert.h"
#include "ops/elementwise/activation_blocks.h"

namespace emu {

// out = x * f(y, sigmoid(factor(y))) for the incoming gradient x and the argument y.
template <class Factor, class Slope>
void sigmoid_slope_block(void *out, const void *const *in, int64_t count, Factor factor,
                         Slope slope) {
  float s[kBlock];
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  auto *to = static_cast<float *>(out);
  for (int64_t i = 0; i < count; ++i) s[i] = factor(y[i]);
  apply(FloatKernel::sigmoid, s, count);
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

inline void fast_gelu_gradient_block(void *out, const void *const *in, int64_t count,
                                     const void *) {
  sigmoid_slope_block(
      out, in, count, [](float y) { return 1.702f * y; },
      [](float y, float s) { return s * (1 + 1.702f * y * (1 - s)); });
}

template <FloatKernel kSlope>
void kernel_slope_block(void *out, const void *const *in, int64_t count, const void *) {
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  auto *to = static_cast<float *>(out);
  float slope[kBlock];
  float_kernel_fn(kSlope)(y, count, nullptr, slope);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * slope[i];
}

constexpr BlockFn gelu_gradient_block = kernel_slope_block<FloatKernel::gelu_slope>;
constexpr BlockFn gelu_tanh_gradient_block = kernel_slope_block<FloatKernel::gelu_tanh_slope>;

inline void gelu_form_gradient_block(void *out, const void *const *in, int64_t count,
                                     const void *scalars) {
  const bool tanh = *static_cast<const float *>(scalars) != 0;
  (tanh ? gelu_tanh_gradient_block : gelu_gradient_block)(out, in, count, scalars);
}

inline void mish_gradient_block(void *out, const void *const *in, int64_t count, const void *) {
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  auto *to = static_cast<float *>(out);
  float t[kBlock], s[kBlock];
  mish_factor(y, count, t);
  float_kernel_fn(FloatKernel::sigmoid)(y, count, nullptr, s);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * (t[i] + y[i] * s[i] * (1 - t[i] * t[i]));
}

inline void softplus_gradient_block(void *out, const void *const *in, int64_t count,
                                    const void *scalars) {
  const auto *s = static_cast<const float *>(scalars);
  const float beta = s[0], threshold = s[1];
  sigmoid_slope_block(
      out, in, count, [beta](float y) { return y * beta; },
      [beta, threshold](float y, float share) { return y * beta > threshold ? 1.0f : share; });
}

inline void elu_gradient_block(void *out, const void *const *in, int64_t count,
                               const void *scalars) {
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  const auto *s = static_cast<const float *>(scalars);
  const float alpha = s[0], scale = s[1], input = s[2];
  const bool of_result = s[3] != 0;
  auto *to = static_cast<float *>(out);
  float slope[kBlock];
  if (of_result) {
    for (int64_t i = 0; i < count; ++i) slope[i] = input * (y[i] + alpha * scale);
  } else {
    for (int64_t i = 0; i < count; ++i) slope[i] = y[i] * input;
    apply(FloatKernel::exp, slope, count);
    for (int64_t i = 0; i < count; ++i) slope[i] *= input * alpha * scale;
  }
  for (int64_t i = 0; i < count; ++i) slope[i] = y[i] <= 0 ? slope[i] : scale;
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * slope[i];
}

}  // namespace emu
