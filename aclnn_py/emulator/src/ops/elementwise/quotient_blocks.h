// SPDX-License-Identifier: Apache-2.0
// Loops of quotients that the compiler makes no vectors of by itself: complex ones, and integers
// divided by one number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/elementwise/block.h"
#include "ops/elementwise/formula.h"

namespace emu {
namespace quotient_detail {

__extension__ using Wide = unsigned __int128;

// Without the cases of infinities and zeros, for which C++'s own division is asked: the result is
// then not a number in both parts. Parts of float32 are divided in float64, which holds all squares
// and products; the others by Smith's method, which keeps away from squares.
[[gnu::always_inline]] inline Complex64 plain_quotient(Complex64 x, Complex64 y) {
  const double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const double whole = c * c + d * d;
  return {static_cast<float>((a * c + b * d) / whole), static_cast<float>((b * c - a * d) / whole)};
}
[[gnu::always_inline]] inline Complex128 plain_quotient(Complex128 x, Complex128 y) {
  const double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const bool turned = std::abs(c) < std::abs(d);
  const double large = turned ? d : c, small = turned ? c : d;
  const double first = turned ? b : a, second = turned ? a : b;
  const double share = small / large, whole = large + small * share;
  const double imaginary = (second - first * share) / whole;
  return {(first + second * share) / whole, turned ? -imaginary : imaginary};
}

// `y_step` is 0 for one divisor.
template <class T>
[[gnu::always_inline]] inline void loop(const T *x, const T *y, int64_t y_step, int64_t count,
                                        T *out) {
  constexpr int64_t kPart = 256;
  T found[kPart];
  for (int64_t start = 0; start < count; start += kPart) {
    const int64_t part = std::min(kPart, count - start);
    const T *over = x + start, *under = y + start * y_step;
    int lost = 0;
    for (int64_t i = 0; i < part; ++i) {
      found[i] = plain_quotient(over[i], under[i * y_step]);
      lost |= static_cast<int>(found[i].real() != found[i].real()) &
              static_cast<int>(found[i].imag() != found[i].imag());
    }
    if (lost != 0) {
      for (int64_t i = 0; i < part; ++i) found[i] = over[i] / under[i * y_step];
    }
    std::memcpy(static_cast<void *>(out + start), found, static_cast<size_t>(part) * sizeof(T));
  }
}

template <class T, int kTensors>
[[gnu::always_inline]] inline void quotients(void *out, const void *const *in, int64_t count,
                                             const void *scalars) {
  const auto *x = static_cast<const T *>(in[0]);
  auto *to = static_cast<T *>(out);
  if constexpr (kTensors == 2) {
    loop(x, static_cast<const T *>(in[1]), 1, count, to);
  } else {
    const T divisor = *static_cast<const T *>(scalars);
    loop(x, &divisor, 0, count, to);
  }
}

template <class T, int kTensors>
void in_blocks(void *out, const void *const *in, int64_t count, const void *scalars) {
  quotients<T, kTensors>(out, in, count, scalars);
}
template <class T, int kTensors>
EMU_DIRECT_TARGET void in_memory(void *out, const void *const *in, int64_t count,
                                 const void *scalars) {
  quotients<T, kTensors>(out, in, count, scalars);
}

// Quotients downwards by one divisor: the product with its reciprocal. Half of a unit is added, so
// that no product is nearer to the whole number beside it than the rounding errors are large. A
// narrow integer is multiplied in float32, one of 32 bits in float64.
template <class T>
EMU_DIRECT_TARGET void floored(void *out, const void *const *in, int64_t count,
                               const void *scalars) {
  using Float = std::conditional_t<sizeof(T) < sizeof(int32_t), float, double>;
  const auto *x = static_cast<const T *>(in[0]);
  auto *to = static_cast<T *>(out);
  const int32_t divisor = *static_cast<const int32_t *>(scalars);
  if (divisor == 0) {
    std::fill(to, to + count, T{});
    return;
  }
  const Float sign = divisor < 0 ? Float(-1) : Float(1);
  const Float share = Float(1) / std::abs(static_cast<Float>(divisor));
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const Float quotient = std::floor((static_cast<Float>(x[i]) * sign + Float(0.5)) * share);
    // The least number over -1 is one more than the largest: it wraps.
    if constexpr (sizeof(T) < sizeof(int32_t)) {
      to[i] = static_cast<T>(static_cast<int32_t>(quotient));
    } else {
      to[i] = quotient > Float(INT32_MAX) ? INT32_MIN : static_cast<int32_t>(quotient);
    }
  }
}

// The same for 64 bits, where the reciprocal is an integer. Quotients downwards of negative numbers
// are those of their complement, which is not negative: floor(x / d) = ~floor(~x / d).
EMU_DIRECT_TARGET inline void floored_long(void *out, const void *const *in, int64_t count,
                                           const void *scalars) {
  const auto *x = static_cast<const int64_t *>(in[0]);
  auto *to = static_cast<int64_t *>(out);
  const int64_t divisor = *static_cast<const int64_t *>(scalars);
  if (divisor == 0) {
    std::fill(to, to + count, int64_t{0});
    return;
  }
  const bool negative = divisor < 0;
  const uint64_t size =
      negative ? 0 - static_cast<uint64_t>(divisor) : static_cast<uint64_t>(divisor);
  const int bits = size == 1 ? 0 : 64 - __builtin_clzll(size - 1);
  // 2^(63 + bits) over the divisor, rounded up: with 63 bits of a dividend nothing is lost.
  const Wide share = (Wide{1} << (63 + bits)) / size + 1;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<uint64_t>(x[i]);
    const uint64_t given = negative ? 0 - value : value;
    // The least number over a negative one is positive and has 64 bits.
    const bool whole = negative && x[i] == INT64_MIN;
    const uint64_t mask = whole ? 0 : 0 - (given >> 63);
    const auto quotient = static_cast<uint64_t>((given ^ mask) * share >> (63 + bits));
    to[i] = static_cast<int64_t>(whole ? given / size : quotient ^ mask);
  }
}

}  // namespace quotient_detail

template <int kTensors>
constexpr BlockTable with_complex_quotients(BlockTable table) {
  using namespace quotient_detail;
  table.fn[static_cast<int>(Compute::C64)] = in_blocks<Complex64, kTensors>;
  table.fn[static_cast<int>(Compute::C128)] = in_blocks<Complex128, kTensors>;
  table.direct.fn[direct_index(ACL_COMPLEX64)] = in_memory<Complex64, kTensors>;
  table.direct.fn[direct_index(ACL_COMPLEX128)] = in_memory<Complex128, kTensors>;
  return table;
}

// For a table of quotients downwards of one tensor by one scalar.
constexpr BlockTable with_integers_by_one(BlockTable table) {
  using namespace quotient_detail;
  table.direct.fn[direct_index(ACL_INT8)] = floored<int8_t>;
  table.direct.fn[direct_index(ACL_UINT8)] = floored<uint8_t>;
  table.direct.fn[direct_index(ACL_INT16)] = floored<int16_t>;
  table.direct.fn[direct_index(ACL_INT32)] = floored<int32_t>;
  table.direct.fn[direct_index(ACL_INT64)] = floored_long;
  return table;
}

}  // namespace emu
