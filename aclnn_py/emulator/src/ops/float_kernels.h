// SPDX-License-Identifier: Apache-2.0
// Transcendental functions over dense float32 blocks, compiled once per instruction set: the
// compiler turns one branch-free formula into vectors. Against the exact result they are off by at
// most 4 units in the last place, results below the normal range by one subnormal step. Activations
// of the form x * f(x) are less exact far on the negative side, where f nears the end of the range
// of float32: gelu by up to 9 units below -13, its tanh form by up to 250 below -9, silu and
// fast_gelu by up to 100 where the power they hold is below the normal range. Infinities, NaN and
// signed zeros are exact.
#pragma once

#include <cstdint>

namespace emu {

enum class FloatKernel : int {
  none,
  exp,
  log,
  tanh,
  erf,
  erfc,
  sigmoid,
  silu,
  scaled_silu,  // x * sigmoid(x * first scalar)
  fast_gelu,
  gelu,
  gelu_tanh,
  gelu_form,  // the first scalar chooses: 0 gelu, else its tanh form
  gelu_slope,
  gelu_tanh_slope,
  exp2,
  expm1,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  count
};

// to[i] = kernel(from[i]); `to` may be `from`.
using FloatKernelFn = void (*)(const float *from, int64_t count, const float *scalars, float *to);

struct FloatKernels {
  FloatKernelFn fn[static_cast<int>(FloatKernel::count)];
  // to[i] = the angle of the point (x[i], y[i]); `to` may be `x` or `y`.
  void (*atan2)(const float *y, const float *x, int64_t count, float *to);
  // x becomes exp(x - shift), or stays x - shift when `keep`; the sum of the powers is returned.
  double (*shifted_powers)(float *x, int64_t count, float shift, bool keep);
  // NaN is passed over.
  float (*highest)(const float *x, int64_t count);
  void (*multiply)(float *x, const float *factors, int64_t count);
  // x becomes exp(x), off by at most 2 units in the last place of float64.
  void (*wide_powers)(double *x, int64_t count);
};

const FloatKernels &float_kernels();

inline FloatKernelFn float_kernel_fn(FloatKernel which) {
  return float_kernels().fn[static_cast<int>(which)];
}

}  // namespace emu
