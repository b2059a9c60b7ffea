// SPDX-License-Identifier: Apache-2.0
// Sums of dense elements in float64 and int64, compiled once per instruction set. Whole numbers
// wrap.
#pragma once

#include "ops/block_kernels.h"
#include "ops/dtype.h"

namespace emu {

struct SumKernels {
  // The sum of a block, in an order that does not depend on the instruction set.
  double (*doubles)(const double *x, int64_t count);
  int64_t (*ints)(const int32_t *x, int64_t count);
  int64_t (*longs)(const int64_t *x, int64_t count);
  // Of those at even and at odd places, which are the parts of complex numbers.
  void (*float_pairs)(const float *x, int64_t count, double *to);
  void (*double_pairs)(const double *x, int64_t count, double *to);
  // sums[c] += x[r * step + c], row after row.
  void (*add_floats)(double *sums, const float *x, int64_t rows, int64_t step, int64_t count);
  void (*add_doubles)(double *sums, const double *x, int64_t rows, int64_t step, int64_t count);
  void (*add_ints)(int64_t *sums, const int32_t *x, int64_t rows, int64_t step, int64_t count);
  void (*add_longs)(int64_t *sums, const int64_t *x, int64_t rows, int64_t step, int64_t count);
  // sums[c] += (x[r * step + c] - means[c])^2
  void (*add_squares)(double *sums, const double *means, const float *x, int64_t rows, int64_t step,
                      int64_t count);
};

const SumKernels &sum_kernels();

// The sum of a block in the type its dtype is summed up in.
inline double sum_of(const float *x, int64_t count) { return block_kernels().sum(x, count); }
inline double sum_of(const double *x, int64_t count) { return sum_kernels().doubles(x, count); }
inline int64_t sum_of(const int32_t *x, int64_t count) { return sum_kernels().ints(x, count); }
inline int64_t sum_of(const int64_t *x, int64_t count) { return sum_kernels().longs(x, count); }
inline Complex128 sum_of(const Complex64 *x, int64_t count) {
  double parts[2];
  sum_kernels().float_pairs(reinterpret_cast<const float *>(x), 2 * count, parts);
  return {parts[0], parts[1]};
}
inline Complex128 sum_of(const Complex128 *x, int64_t count) {
  double parts[2];
  sum_kernels().double_pairs(reinterpret_cast<const double *>(x), 2 * count, parts);
  return {parts[0], parts[1]};
}

// sums[c] += x[r * step + c]
inline void add_rows(double *sums, const float *x, int64_t rows, int64_t step, int64_t count) {
  sum_kernels().add_floats(sums, x, rows, step, count);
}
inline void add_rows(double *sums, const double *x, int64_t rows, int64_t step, int64_t count) {
  sum_kernels().add_doubles(sums, x, rows, step, count);
}
inline void add_rows(int64_t *sums, const int32_t *x, int64_t rows, int64_t step, int64_t count) {
  sum_kernels().add_ints(sums, x, rows, step, count);
}
inline void add_rows(int64_t *sums, const int64_t *x, int64_t rows, int64_t step, int64_t count) {
  sum_kernels().add_longs(sums, x, rows, step, count);
}
template <class T>
void add_rows(Complex128 *sums, const std::complex<T> *x, int64_t rows, int64_t step,
              int64_t count) {
  add_rows(reinterpret_cast<double *>(sums), reinterpret_cast<const T *>(x), rows, 2 * step,
           2 * count);
}

}  // namespace emu
