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

constexpr int64_t kPart = 256;

// Up to a part. The step of a single dividend or divisor is 0.
template <class T>
[[gnu::always_inline]] inline void of_part(const T *x, int64_t x_step, const T *y, int64_t y_step,
                                           int64_t count, T *out) {
  T found[kPart];
  int lost = 0;
  for (int64_t i = 0; i < count; ++i) {
    found[i] = plain_quotient(x[i * x_step], y[i * y_step]);
    lost |= static_cast<int>(found[i].real() != found[i].real()) &
            static_cast<int>(found[i].imag() != found[i].imag());
  }
  if (lost != 0) {
    for (int64_t i = 0; i < count; ++i) found[i] = x[i * x_step] / y[i * y_step];
  }
  std::memcpy(static_cast<void *>(out), found, static_cast<size_t>(count) * sizeof(T));
}

template <class T>
[[gnu::always_inline]] inline void loop(const T *x, const T *y, int64_t y_step, int64_t count,
                                        T *out) {
  for (int64_t start = 0; start < count; start += kPart) {
    of_part(x + start, 1, y + start * y_step, y_step, std::min(kPart, count - start), out + start);
  }
}

// One over each element, or over its root.
template <class T, bool kOfRoot>
[[gnu::always_inline]] inline void inverses(void *out, const void *const *in, int64_t count) {
  const T one(1);
  T roots[kPart];
  const auto *x = static_cast<const T *>(in[0]);
  auto *to = static_cast<T *>(out);
  for (int64_t start = 0; start < count; start += kPart) {
    const int64_t part = std::min(kPart, count - start);
    const T *under = x + start;
    if constexpr (kOfRoot) {
      for (int64_t i = 0; i < part; ++i) roots[i] = std::sqrt(under[i]);
      under = roots;
    }
    of_part(&one, 0, under, 1, part, to + start);
  }
}

template <class T, bool kOfRoot>
void inverses_in_blocks(void *out, const void *const *in, int64_t count, const void *) {
  inverses<T, kOfRoot>(out, in, count);
}
template <class T, bool kOfRoot>
EMU_DIRECT_TARGET void inverses_in_memory(void *out, const void *const *in, int64_t count,
                                          const void *) {
  inverses<T, kOfRoot>(out, in, count);
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

// Quotients downwards by one divisor: the upper half of the product with its reciprocal, an
// integer. Those of negative numbers are complements: floor(x / d) = ~floor(~x / d). Bytes are
// computed with in lanes of 16 bits.
template <class T, class Lane, class Twice>
EMU_DIRECT_TARGET void floored(void *out, const void *const *in, int64_t count,
                               const void *scalars) {
  using Size = std::make_unsigned_t<Lane>;
  using Scalar = std::conditional_t<sizeof(T) < sizeof(int32_t), int32_t, T>;
  constexpr int kBits = 8 * sizeof(Lane);
  const auto *x = static_cast<const T *>(in[0]);
  auto *to = static_cast<T *>(out);
  const auto divisor = static_cast<Lane>(*static_cast<const Scalar *>(scalars));
  const bool negative = divisor < 0;
  const auto size = static_cast<Size>(negative ? 0 - static_cast<Size>(divisor) : divisor);
  if (size < 2) {
    const auto factor = static_cast<T>(divisor);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) to[i] = times(x[i], factor);
    return;
  }
  int shift = 0;
  while (shift < kBits - 1 && size > static_cast<Size>(Size{2} << shift)) ++shift;
  // Rounded up, which the last bit of a dividend never notices: it has one bit less than a lane.
  const auto share = static_cast<Size>((Twice{1} << (kBits + shift)) / size + 1);
  // But for the least number over a negative one.
  constexpr auto kLeast = static_cast<Size>(Size{1} << (kBits - 1));
  const auto of_least = static_cast<Size>(negative ? kLeast / size : 0);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<Size>(static_cast<Lane>(x[i]));
    const auto given = static_cast<Size>(negative ? 0 - value : value);
    const auto mask = static_cast<Size>(static_cast<Lane>(given) >> (kBits - 1));
    const Twice product = static_cast<Twice>(static_cast<Size>(given ^ mask)) * share;
    const auto quotient =
        static_cast<Size>(static_cast<Size>(static_cast<Size>(product >> kBits) >> shift) ^ mask);
    const bool least = sizeof(T) == sizeof(Lane) && negative && value == kLeast;
    to[i] = static_cast<T>(least ? of_least : quotient);
  }
}

// Bytes without a sign: the product is exact in 16 bits above and 16 below, without a shift.
EMU_DIRECT_TARGET inline void floored_bytes(void *out, const void *const *in, int64_t count,
                                            const void *scalars) {
  const auto *x = static_cast<const uint8_t *>(in[0]);
  auto *to = static_cast<uint8_t *>(out);
  const int32_t divisor = *static_cast<const int32_t *>(scalars);
  if (divisor < 2) return floored<uint8_t, int16_t, uint32_t>(out, in, count, scalars);
  const auto share = static_cast<uint16_t>(65536 / divisor + 1);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<uint8_t>(static_cast<uint32_t>(x[i]) * share >> 16);
  }
}

}  // namespace quotient_detail

template <int kTensors>
constexpr BlockTable with_complex_quotients(BlockTable table) {
  table.fn[static_cast<int>(Compute::C64)] = quotient_detail::in_blocks<Complex64, kTensors>;
  table.fn[static_cast<int>(Compute::C128)] = quotient_detail::in_blocks<Complex128, kTensors>;
  table.direct.fn[direct_index(ACL_COMPLEX64)] = quotient_detail::in_memory<Complex64, kTensors>;
  table.direct.fn[direct_index(ACL_COMPLEX128)] = quotient_detail::in_memory<Complex128, kTensors>;
  return table;
}

// For a table of `1 / x` or, where kOfRoot, of `1 / sqrt(x)`.
template <bool kOfRoot>
constexpr BlockTable with_complex_inverses(BlockTable table) {
  using quotient_detail::inverses_in_blocks, quotient_detail::inverses_in_memory;
  table.fn[static_cast<int>(Compute::C64)] = inverses_in_blocks<Complex64, kOfRoot>;
  table.fn[static_cast<int>(Compute::C128)] = inverses_in_blocks<Complex128, kOfRoot>;
  table.direct.fn[direct_index(ACL_COMPLEX64)] = inverses_in_memory<Complex64, kOfRoot>;
  table.direct.fn[direct_index(ACL_COMPLEX128)] = inverses_in_memory<Complex128, kOfRoot>;
  return table;
}

// For a table of quotients downwards of one tensor by one scalar.
constexpr BlockTable with_integers_by_one(BlockTable table) {
  table.direct.fn[direct_index(ACL_INT8)] = quotient_detail::floored<int8_t, int16_t, uint32_t>;
  table.direct.fn[direct_index(ACL_UINT8)] = quotient_detail::floored_bytes;
  table.direct.fn[direct_index(ACL_INT16)] = quotient_detail::floored<int16_t, int16_t, uint32_t>;
  table.direct.fn[direct_index(ACL_INT32)] = quotient_detail::floored<int32_t, int32_t, uint64_t>;
  table.direct.fn[direct_index(ACL_INT64)] =
      quotient_detail::floored<int64_t, int64_t, quotient_detail::Wide>;
  return table;
}

}  // namespace emu
