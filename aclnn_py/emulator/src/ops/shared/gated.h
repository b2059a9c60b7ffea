// SPDX-License-Identifier: Apache-2.0
// The gated units of language models, on a block of each half in float32. The result takes the
// place of the gate.
#pragma once

#include <algorithm>

#include "ops/float_kernels.h"

namespace emu {

// gate = silu(gate) * linear.
inline void silu_gate(float *gate, const float *linear, int64_t count) {
  float_kernel_fn(FloatKernel::silu)(gate, count, nullptr, gate);
  for (int64_t i = 0; i < count; ++i) gate[i] *= linear[i];
}

// Where a unit limits its operands. NaN stays.
struct GateLimits {
  float alpha, limit, bias;
};

// Both are limited first: gate = gate * sigmoid(alpha * gate) * (linear + bias).
inline void clipped_gate(float *gate, const float *linear, int64_t count, const GateLimits &l) {
  for (int64_t i = 0; i < count; ++i) gate[i] = std::min(gate[i], l.limit);
  float_kernel_fn(FloatKernel::scaled_silu)(gate, count, &l.alpha, gate);
  for (int64_t i = 0; i < count; ++i)
    gate[i] *= std::max(std::min(linear[i], l.limit), -l.limit) + l.bias;
}

// The gate is limited after its activation: gate = min(silu(gate), limit) * linear.
inline void late_clipped_gate(float *gate, const float *linear, int64_t count, float limit) {
  float_kernel_fn(FloatKernel::silu)(gate, count, nullptr, gate);
  for (int64_t i = 0; i < count; ++i)
    gate[i] = std::min(gate[i], limit) * std::max(std::min(linear[i], limit), -limit);
}

// gate = beta * tanh(gate / beta) * sigmoid(gate) * up, where up is bent by tanh too if its own
// factor is positive. `up` is overwritten.
struct SituFactors {
  float beta, linear_beta;
};
inline void situ_gate(float *gate, float *up, int64_t count, const SituFactors &f) {
  constexpr int64_t kPiece = 256;
  float bent[kPiece];
  const auto tanh = float_kernel_fn(FloatKernel::tanh);
  const auto sigmoid = float_kernel_fn(FloatKernel::sigmoid);
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t n = std::min(kPiece, count - done);
    float *g = gate + done, *u = up + done;
    for (int64_t i = 0; i < n; ++i) bent[i] = g[i] / f.beta;
    tanh(bent, n, nullptr, bent);
    sigmoid(g, n, nullptr, g);
    for (int64_t i = 0; i < n; ++i) g[i] *= f.beta * bent[i];
    if (f.linear_beta > 0) {
      for (int64_t i = 0; i < n; ++i) bent[i] = u[i] / f.linear_beta;
      tanh(bent, n, nullptr, bent);
      for (int64_t i = 0; i < n; ++i) u[i] = f.linear_beta * bent[i];
    }
    for (int64_t i = 0; i < n; ++i) g[i] *= u[i];
  }
}

}  // namespace emu
