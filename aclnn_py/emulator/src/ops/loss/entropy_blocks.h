// SPDX-License-Identifier: Apache-2.0
// Cross entropies of two classes as loops over float32 blocks, which take powers and logarithms
// from their kernels. Operands may lie where the result goes.
#pragma once

#include <cmath>

#include "ops/convert.h"
#include "ops/elementwise/block.h"

namespace emu {

// Logarithms stop here, so that the losses of certain predictions stay finite.
constexpr float kLowestLogarithm = -100.0f;

// -(y log(x) + (1 - y) log(1 - x)) for the probability x of class y; times z where it is weighted.
template <bool kWeighted>
void entropy_block(void *out, const void *const *in, int64_t count, const void *) {
  float of_x[kBlock], of_rest[kBlock];
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]),
             *z = static_cast<const float *>(in[kWeighted ? 2 : 0]);
  auto *to = static_cast<float *>(out);
  const FloatKernelFn logarithms = float_kernel_fn(FloatKernel::log);
  for (int64_t i = 0; i < count; ++i) of_rest[i] = 1.0f - x[i];
  logarithms(x, count, nullptr, of_x);
  logarithms(of_rest, count, nullptr, of_rest);
  for (int64_t i = 0; i < count; ++i) {
    // NaN is below nothing.
    const float a = of_x[i] < kLowestLogarithm ? kLowestLogarithm : of_x[i];
    const float b = of_rest[i] < kLowestLogarithm ? kLowestLogarithm : of_rest[i];
    const float loss = -(y[i] * a + (1.0f - y[i]) * b);
    to[i] = kWeighted ? z[i] * loss : loss;
  }
}

// p y log(1 + exp(-x)) + (1 - y) log(1 + exp(x)) for the logit x; the weights of elements come
// before p, that of the positive class.
template <bool kWeighted, bool kPositive>
void logits_entropy_block(void *out, const void *const *in, int64_t count, const void *) {
  float powers[kBlock], logarithms[kBlock];
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]),
             *w = static_cast<const float *>(in[kWeighted ? 2 : 0]),
             *p = static_cast<const float *>(in[kPositive ? (kWeighted ? 3 : 2) : 0]);
  auto *to = static_cast<float *>(out);
  for (int64_t i = 0; i < count; ++i) powers[i] = -std::abs(x[i]);
  float_kernel_fn(FloatKernel::exp)(powers, count, nullptr, powers);
  for (int64_t i = 0; i < count; ++i) logarithms[i] = 1.0f + powers[i];
  float_kernel_fn(FloatKernel::log)(logarithms, count, nullptr, logarithms);
  for (int64_t i = 0; i < count; ++i) {
    // What 1 + power lost by its rounding is given back: exact where the power is tiny.
    const float whole = 1.0f + powers[i];
    const float both = logarithms[i] + (powers[i] - (whole - 1.0f)) / whole;
    const float above = x[i] > 0.0f ? x[i] : 0.0f, below = x[i] < 0.0f ? -x[i] : 0.0f;
    const float positive = kPositive ? p[i] * y[i] : y[i];
    // Of -inf, infinities are subtracted from each other, whatever the class.
    const float lost = x[i] < 0.0f ? x[i] - x[i] : 0.0f;
    const float loss = positive * (below + both) + (1.0f - y[i]) * (above + both) + lost;
    to[i] = kWeighted ? w[i] * loss : loss;
  }
}

// The slope of the same for an incoming gradient x, argument y and target z.
template <bool kWeighted, bool kPositive>
void logits_slope_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  float s[kBlock];
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]),
             *z = static_cast<const float *>(in[2]),
             *w = static_cast<const float *>(in[kWeighted ? 3 : 0]),
             *p = static_cast<const float *>(in[kPositive ? (kWeighted ? 4 : 3) : 0]);
  auto *to = static_cast<float *>(out);
  const float divisor = *static_cast<const float *>(scalars);
  float_kernel_fn(FloatKernel::sigmoid)(y, count, nullptr, s);
  for (int64_t i = 0; i < count; ++i) {
    const float positive = kPositive ? p[i] * z[i] : z[i];
    const float given = kWeighted ? x[i] * w[i] : x[i];
    to[i] = given * ((positive + 1.0f - z[i]) * s[i] - positive) / divisor;
  }
}

}  // namespace emu
