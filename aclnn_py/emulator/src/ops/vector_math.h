// SPDX-License-Identifier: Apache-2.0
// Functions of float64 over dense blocks. The C library has vectors of them beside its scalar ones:
// libmvec, which glibc brings on x86-64 since 2.22 for sin, cos, exp, log and pow and since 2.35
// for the others. It is opened when the first function is asked for. Where it or one of its
// functions is missing, the scalar function is called for one element after the other.
//
// Vectors are off by less than 4 units in the last place, pow by less than one; infinities, NaN,
// signed zeros and results below the normal range are those of the scalar functions. An element's
// result does not depend on its place or on the elements beside it, but it may differ between
// instruction levels and between versions of the C library.
#pragma once

#include <cstdint>

namespace emu {

enum class WideFunction : int {
  exp,
  exp2,
  log,
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
  erf,
  erfc,
  count
};

// to[i] = which(from[i]); `to` may be `from`.
void wide_function(WideFunction which, const double *from, int64_t count, double *to);
// to[i] = the angle of the point (x[i], y[i]); `to` may be `x` or `y`.
void wide_atan2(const double *y, const double *x, int64_t count, double *to);
// to[i] = x[i] to the power of y[i]; `to` may be `x` or `y`.
void wide_pow(const double *x, const double *y, int64_t count, double *to);

// The loop of a row of one tensor.
template <WideFunction kWhich>
void wide_block(void *out, const void *const *in, int64_t count, const void *) {
  wide_function(kWhich, static_cast<const double *>(in[0]), count, static_cast<double *>(out));
}

}  // namespace emu
