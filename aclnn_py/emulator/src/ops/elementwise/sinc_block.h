// SPDX-License-Identifier: Apache-2.0
// sin(pi * x) / (pi * x) as a loop over blocks. The whole part of x is taken off first, which is
// exact, so that the sine is right for a large x too.
#pragma once

#include "ops/block_kernels.h"
#include "ops/convert.h"
#include "ops/float_kernels.h"
#include "ops/vector_math.h"

namespace emu {

inline void to_nearest(const float *x, int64_t count, float *to) {
  constexpr float kHalfEven = 0;
  block_kernels().round_by(x, count, &kHalfEven, to);
}
inline void to_nearest(const double *x, int64_t count, double *to) {
  block_kernels().round_wide(x, count, 0, to);
}
inline void to_sines(float *x, int64_t count) {
  float_kernel_fn(FloatKernel::sin)(x, count, nullptr, x);
}
inline void to_sines(double *x, int64_t count) { wide_function(WideFunction::sin, x, count, x); }

template <class T>
void sinc_block(void *out, const void *const *in, int64_t count, const void *) {
  constexpr T kPi = T(3.14159265358979323846);
  const auto *x = static_cast<const T *>(in[0]);
  auto *to = static_cast<T *>(out);
  T half[kBlock], pair[kBlock], sine[kBlock];
  to_nearest(x, count, half);
  for (int64_t i = 0; i < count; ++i) {
    sine[i] = kPi * (x[i] - half[i]);
    half[i] *= T(0.5);
  }
  to_sines(sine, count);
  to_nearest(half, count, pair);  // not the same where the whole part is odd
  for (int64_t i = 0; i < count; ++i) {
    const T quotient = (half[i] == pair[i] ? sine[i] : -sine[i]) / (kPi * x[i]);
    to[i] = x[i] == 0 ? T(1) : quotient;
  }
}

}  // namespace emu
