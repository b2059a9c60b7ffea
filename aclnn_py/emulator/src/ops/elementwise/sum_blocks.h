// SPDX-License-Identifier: Apache-2.0
// Sums and differences of complex numbers: with the factor 1, which nearly all calls have, they are
// those of their parts.
#pragma once

#include "ops/elementwise/block.h"
#include "ops/elementwise/formula.h"

namespace emu {

// x + number * factor, x - number * factor, number - x * factor.
enum class SumOfOne { kPlus, kMinus, kFromNumber };

namespace sum_detail {

// x + y * factor, or x - y * factor.
template <class T, bool kMinus>
EMU_DIRECT_TARGET void of_two(void *out, const void *const *in, int64_t count,
                              const void *scalars) {
  using Part = typename T::value_type;
  const T factor = *static_cast<const T *>(scalars);
  if (factor == T{1}) {
    const auto *x = static_cast<const Part *>(in[0]), *y = static_cast<const Part *>(in[1]);
    auto *to = static_cast<Part *>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < 2 * count; ++i) to[i] = kMinus ? x[i] - y[i] : x[i] + y[i];
    return;
  }
  const auto *x = static_cast<const T *>(in[0]), *y = static_cast<const T *>(in[1]);
  auto *to = static_cast<T *>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const T product = times(y[i], factor);
    to[i] = kMinus ? x[i] - product : x[i] + product;
  }
}

template <class T, SumOfOne kSum>
EMU_DIRECT_TARGET void of_one(void *out, const void *const *in, int64_t count,
                              const void *scalars) {
  using Part = typename T::value_type;
  constexpr bool kFromNumber = kSum == SumOfOne::kFromNumber;
  const T number = static_cast<const T *>(scalars)[0], factor = static_cast<const T *>(scalars)[1];
  if (kFromNumber && factor != T{1}) {
    const auto *x = static_cast<const T *>(in[0]);
    auto *to = static_cast<T *>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) to[i] = number - times(x[i], factor);
    return;
  }
  const T product = kFromNumber ? number : times(number, factor);
  const T term = kSum == SumOfOne::kMinus ? -product : product;
  const Part re = term.real(), im = term.imag();
  const auto *x = static_cast<const Part *>(in[0]);
  auto *to = static_cast<Part *>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < 2 * count; i += 2) {
    to[i] = kFromNumber ? re - x[i] : x[i] + re;
    to[i + 1] = kFromNumber ? im - x[i + 1] : x[i + 1] + im;
  }
}

}  // namespace sum_detail

template <bool kMinus>
constexpr BlockTable with_complex_sums(BlockTable table) {
  table.direct.fn[direct_index(ACL_COMPLEX64)] = sum_detail::of_two<Complex64, kMinus>;
  table.direct.fn[direct_index(ACL_COMPLEX128)] = sum_detail::of_two<Complex128, kMinus>;
  return table;
}

// For a table of one tensor and two scalars.
template <SumOfOne kSum>
constexpr BlockTable with_complex_sums_of_one(BlockTable table) {
  table.direct.fn[direct_index(ACL_COMPLEX64)] = sum_detail::of_one<Complex64, kSum>;
  table.direct.fn[direct_index(ACL_COMPLEX128)] = sum_detail::of_one<Complex128, kSum>;
  return table;
}

}  // namespace emu
