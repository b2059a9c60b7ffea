// SPDX-License-Identifier: Apache-2.0
// Activations as loops over blocks that take their powers and logarithms from kernels; of float32
// where nothing else is said.
// Operands may lie where the result goes.
#pragma once

#include <cmath>

#include "ops/convert.h"
#include "ops/elementwise/block.h"
#include "ops/elementwise/formula.h"
#include "ops/vector_math.h"

namespace emu {

// x becomes kernel(x).
inline void apply(FloatKernel kernel, float *x, int64_t count) {
  float_kernel_fn(kernel)(x, count, nullptr, x);
}

// to[i] = log(1 + exp(x[i]))
inline void log_of_one_and_power(const float *x, int64_t count, float *to) {
  float_kernel_fn(FloatKernel::exp)(x, count, nullptr, to);
  apply(FloatKernel::log1p, to, count);
}

inline void softplus_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  const auto *x = static_cast<const float *>(in[0]), *s = static_cast<const float *>(scalars);
  const float beta = s[0], threshold = s[1];
  auto *to = static_cast<float *>(out);
  float scaled[kBlock], value[kBlock];
  for (int64_t i = 0; i < count; ++i) scaled[i] = x[i] * beta;
  log_of_one_and_power(scaled, count, value);
  if (beta != 1) {
    for (int64_t i = 0; i < count; ++i) value[i] /= beta;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = scaled[i] > threshold ? x[i] : value[i];
}

// to[i] = log(1 + exp(x[i])) without an overflow, which NaN passes; `to` is not `x`.
inline void safe_log_of_one_and_power(const float *x, int64_t count, float *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = -std::abs(x[i]);
  log_of_one_and_power(to, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] += x[i] < 0 ? 0.0f : x[i];
}

inline void log_sigmoid_block(void *out, const void *const *in, int64_t count, const void *) {
  const auto *x = static_cast<const float *>(in[0]);
  auto *to = static_cast<float *>(out);
  float value[kBlock];
  for (int64_t i = 0; i < count; ++i) value[i] = -std::abs(x[i]);
  log_of_one_and_power(value, count, value);
  for (int64_t i = 0; i < count; ++i) to[i] = (x[i] > 0 ? 0.0f : x[i]) - value[i];
}

// The hyperbolic tangent of softplus(x), which mish multiplies.
inline void mish_factor(const float *x, int64_t count, float *to) {
  log_of_one_and_power(x, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] > 20.0f ? x[i] : to[i];
  apply(FloatKernel::tanh, to, count);
}

inline void mish_block(void *out, const void *const *in, int64_t count, const void *) {
  const auto *x = static_cast<const float *>(in[0]);
  auto *to = static_cast<float *>(out);
  float factor[kBlock];
  mish_factor(x, count, factor);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * factor[i];
}

inline void wide_sigmoid_block(void *out, const void *const *in, int64_t count, const void *) {
  const auto *x = static_cast<const double *>(in[0]);
  auto *to = static_cast<double *>(out);
  double power[kBlock] = {};
  // Without a sign it cannot overflow.
  for (int64_t i = 0; i < count; ++i) power[i] = -std::abs(x[i]);
  wide_function(WideFunction::exp, power, count, power);
  for (int64_t i = 0; i < count; ++i) to[i] = (x[i] >= 0 ? 1.0 : power[i]) / (1.0 + power[i]);
}

// to[i] is above * x[i] where x[i] is above 0, and below * (exp(input * x[i]) - 1) elsewhere.
inline void elu_numbers(const float *x, int64_t count, float above, float below, float input,
                        float *to) {
  float power[kBlock];
  for (int64_t i = 0; i < count; ++i) power[i] = x[i] * input;
  apply(FloatKernel::expm1, power, count);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] > 0 ? above * x[i] : below * power[i];
}

// With a factor in the power that is not finite, CANN composes the operator of a threshold: the
// limit of the formula, but at 0 too.
template <class T>
T bounded_elu(T x, T alpha, T scale, T input_scale) {
  if (is_finite(alpha) && is_finite(input_scale)) return elu(x, alpha, scale, input_scale);
  return (x <= T{} ? -alpha : x) * scale;
}

inline void elu_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  const auto *s = static_cast<const float *>(scalars);
  const auto *x = static_cast<const float *>(in[0]);
  auto *to = static_cast<float *>(out);
  if (std::isfinite(s[0]) && std::isfinite(s[2])) {
    elu_numbers(x, count, s[1], s[1] * s[0], s[2], to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = bounded_elu(x[i], s[0], s[1], s[2]);
  }
}

inline void celu_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  const float alpha = *static_cast<const float *>(scalars);
  elu_numbers(static_cast<const float *>(in[0]), count, 1.0f, alpha, 1.0f / alpha,
              static_cast<float *>(out));
}

inline void selu_block(void *out, const void *const *in, int64_t count, const void *) {
  constexpr float kScale = 1.0507009873554804934f;
  elu_numbers(static_cast<const float *>(in[0]), count, kScale, kScale * 1.6732632423543772848f,
              1.0f, static_cast<float *>(out));
}

// The logarithm of the sum of two powers: the greater exponent, and the logarithm of 1 + the
// quotient of the powers in `unit`, which is 1 over the logarithm of the base.
template <FloatKernel kPower>
void log_sum_block(void *out, const void *const *in, int64_t count, float unit) {
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  auto *to = static_cast<float *>(out);
  float high[kBlock], value[kBlock];
  for (int64_t i = 0; i < count; ++i) {
    high[i] = maximum(x[i], y[i]);
    value[i] = minimum(x[i], y[i]) - high[i];
  }
  apply(kPower, value, count);
  apply(FloatKernel::log1p, value, count);
  for (int64_t i = 0; i < count; ++i) {
    to[i] = std::isinf(high[i]) ? high[i] : high[i] + value[i] * unit;
  }
}

inline void log_add_exp_block(void *out, const void *const *in, int64_t count, const void *) {
  log_sum_block<FloatKernel::exp>(out, in, count, 1.0f);
}

inline void log_add_exp2_block(void *out, const void *const *in, int64_t count, const void *) {
  log_sum_block<FloatKernel::exp2>(out, in, count, 1.44269504f);
}

}  // namespace emu
