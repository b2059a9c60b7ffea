// SPDX-License-Identifier: Apache-2.0
// Loops over dense blocks that NumPy has for each instruction set too: compiled once per
// instruction set, because the base of the architecture has vectors of 16 bytes only.
#pragma once

#include <cstdint>

namespace emu {

// The modes of rounding that a number chooses; any other number is that to the nearest, half to
// even.
enum RoundMode { kDown = 2, kUp = 3, kHalfAway = 4, kToZero = 5, kToOdd = 6 };

struct BlockKernels {
  bool (*same_floats)(const float *x, const float *y, int64_t count);
  // to[i] = x[i] rounded by the mode that the first scalar is; `to` may be `x`.
  void (*round_by)(const float *x, int64_t count, const float *scalars, float *to);
  // x[i] *= factor; false when one was not finite before.
  bool (*scale_finite)(float *x, int64_t count, float factor);
  // to[i] = x[i] * factors[i] + shifts[i]
  void (*scale_shift)(const float *x, const float *factors, const float *shifts, int64_t count,
                      float *to);
  // to[i] = x[i] * factor where bit i % 8 of bytes[i / 8] is 1, and 0 elsewhere; `to` may be `x`.
  void (*keep_marked)(const float *x, int64_t count, const int32_t *bytes, float factor, float *to);
  // Bit i of to[k] is 1 where x[8 * k + i] is not negative, NaN among them.
  void (*mark_positive)(const float *x, int64_t bytes, int32_t *to);
  // As same_floats, where NaN is the same as NaN.
  bool (*alike_floats)(const float *x, const float *y, int64_t count);
  // Sums in float64.
  double (*sum)(const float *x, int64_t count);
  double (*squares_from)(const float *x, int64_t count, double mean);  // (x[i] - mean)^2
  double (*sum_of_products)(const float *x, const float *y, int64_t count);
  void (*round_wide)(const double *x, int64_t count, float mode, double *to);  // as round_by
};

const BlockKernels &block_kernels();

}  // namespace emu
