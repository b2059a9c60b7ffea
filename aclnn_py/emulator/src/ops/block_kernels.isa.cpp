// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/block_kernels.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/float_bits.h"
#include "core/isa.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

// The elements of one register: of wider vectors the compiler makes single elements where they
// are chosen by a comparison.
#if defined(__AVX512F__)
constexpr int64_t kWide = 16;
#elif defined(__AVX__)
constexpr int64_t kWide = 8;
#else
constexpr int64_t kWide = 4;
#endif
using Floats = float __attribute__((vector_size(kWide * sizeof(float))));
// One that lies anywhere.
using LooseFloats =
    float __attribute__((vector_size(kWide * sizeof(float)), aligned(alignof(float)), may_alias));
using Truths = int32_t __attribute__((vector_size(kWide * sizeof(int32_t))));

bool same_floats(const float *x, const float *y, int64_t count) {
  int32_t apart = 0;
  for (int64_t i = 0; i < count; ++i) apart |= -static_cast<int32_t>(x[i] != y[i]);
  return apart == 0;
}

bool alike_floats(const float *x, const float *y, int64_t count) {
  int32_t apart = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float a = x[i], b = y[i];
    const int both_odd = static_cast<int>(a != a) & static_cast<int>(b != b);
    apart |= (static_cast<int>(a == b) | both_odd) ^ 1;
  }
  return apart == 0;
}

void keep_marked(const float *x, int64_t count, const int32_t *bytes, float factor, float *to) {
  Truths bit{};
  for (int i = 0; i < kWide; ++i) bit[i] = 1 << i;
  int64_t i = 0;
  for (; i + kWide <= count; i += kWide) {
    const int32_t *from = bytes + i / 8;
    const Truths marks = Truths{} + (kWide > 8 ? from[0] | from[1] << 8 : from[0] >> i % 8);
    const Floats part = *reinterpret_cast<const LooseFloats *>(x + i);
    *reinterpret_cast<LooseFloats *>(to + i) = (marks & bit) == bit ? part * factor : Floats{};
  }
  for (; i < count; ++i) to[i] = (bytes[i / 8] >> i % 8 & 1) != 0 ? x[i] * factor : 0.0f;
}

void mark_positive(const float *x, int64_t bytes, int32_t *to) {
  for (int64_t k = 0; k < bytes; ++k, x += 8) {
#if defined(__AVX__)
    to[k] = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_setzero_ps(), _CMP_NLT_UQ));
#elif defined(__SSE2__)
    const __m128 low = _mm_cmpnlt_ps(_mm_loadu_ps(x), _mm_setzero_ps());
    const __m128 high = _mm_cmpnlt_ps(_mm_loadu_ps(x + 4), _mm_setzero_ps());
    to[k] = _mm_movemask_ps(low) | _mm_movemask_ps(high) << 4;
#else
    to[k] = 0;
    for (int i = 0; i < 8; ++i) to[k] |= int32_t{!(x[i] < 0)} << i;
#endif
  }
}

inline uint64_t bits_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline double float_of(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
using emu::bits_of;
using emu::float_of;

// The instruction that rounds by a mode, where there is one: GCC does not see it in the steps of
// `round_all`.
template <int kMode, class T>
T rounded_at_once(T x) {
  if constexpr (kMode == kDown) return std::floor(x);
  if constexpr (kMode == kUp) return std::ceil(x);
  if constexpr (kMode == kToZero) return std::trunc(x);
  return std::nearbyint(x);
}

// Without a branch, so that the compiler makes vectors: numbers beyond the last fraction,
// infinities and NaN stay as they are.
template <int kMode, class T>
void round_all(const T *x, int64_t count, T *to) {
  using Bits = decltype(bits_of(T{}));
  constexpr T kWhole = std::is_same_v<T, float> ? T(8388608) : T(4503599627370496);
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  for (int64_t i = 0; i < count; ++i) {
#if defined(__SSE4_1__)
    if constexpr (kMode != kHalfAway && kMode != kToOdd) {
      to[i] = rounded_at_once<kMode>(x[i]);
      continue;
    }
#endif
    const T size = float_of(bits_of(x[i]) & ~kSign), nearest = (size + kWhole) - kWhole;
    const T below = nearest > size ? nearest - T(1) : nearest;  // that is towards zero
    const T above = below < size ? below + T(1) : below;        // away from zero
    T chosen = nearest;
    if constexpr (kMode == kToZero) chosen = below;
    if constexpr (kMode == kDown) chosen = x[i] < 0 ? above : below;
    if constexpr (kMode == kUp) chosen = x[i] < 0 ? below : above;
    if constexpr (kMode == kHalfAway) chosen = size - below < T(0.5) ? below : above;
    if constexpr (kMode == kToOdd) {
      const T half = below * T(0.5), pairs = (half + kWhole) - kWhole;
      const bool odd = static_cast<int>(pairs == half) & static_cast<int>(below < size);
      chosen = odd ? above : below;
    }
    const T rounded = float_of(bits_of(chosen) | (bits_of(x[i]) & kSign));
    to[i] = size < kWhole ? rounded : x[i];
  }
}

template <class T>
void round_by(const T *x, int64_t count, float mode, T *to) {
  if (mode == kDown) round_all<kDown>(x, count, to);
  else if (mode == kUp) round_all<kUp>(x, count, to);
  else if (mode == kHalfAway) round_all<kHalfAway>(x, count, to);
  else if (mode == kToZero) round_all<kToZero>(x, count, to);
  else if (mode == kToOdd) round_all<kToOdd>(x, count, to);
  else round_all<0>(x, count, to);
}
void round_floats(const float *x, int64_t count, const float *scalars, float *to) {
  round_by(x, count, scalars[0], to);
}
void round_wide(const double *x, int64_t count, float mode, double *to) {
  round_by(x, count, mode, to);
}

bool scale_finite(float *x, int64_t count, float factor) {
  int32_t odd = 0;
  for (int64_t i = 0; i < count; ++i) {
    odd |= (bits_of(x[i]) & 0x7f800000u) == 0x7f800000u ? 1 : 0;
    x[i] *= factor;
  }
  return odd == 0;
}

void scale_shift(const float *x, const float *factors, const float *shifts, int64_t count,
                 float *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * factors[i] + shifts[i];
}

using Doubles = double __attribute__((vector_size(kWide / 2 * sizeof(double))));
using Halves = float __attribute__((vector_size(kWide / 2 * sizeof(float))));

// One element, or a register of them, in float64.
template <class V>
V wide_at(const float *x) {
  if constexpr (std::is_same_v<V, double>) {
    return *x;
  } else {
    Halves narrow;
    std::memcpy(&narrow, x, sizeof narrow);
    return __builtin_convertvector(narrow, Doubles);
  }
}

// The sum of f(i), which gives one element for V = double and those of a register for V = Doubles.
// Partial sums side by side: the compiler may not reorder a floating-point sum by itself, nor does
// it keep more than a register of each in registers.
template <class F>
double added(int64_t count, F f) {
  constexpr int64_t kEach = kWide / 2;
  Doubles sums[8] = {};
  double total = 0;
  int64_t i = 0;
  for (; i + 8 * kEach <= count; i += 8 * kEach) {
    for (int64_t k = 0; k < 8; ++k) sums[k] += f(Doubles{}, i + k * kEach);
  }
  if (i > 0) {
    for (int k = 1; k < 8; ++k) sums[0] += sums[k];
    for (int64_t lane = 0; lane < kEach; ++lane) total += sums[0][lane];
  }
  for (; i < count; ++i) total += f(0.0, i);
  return total;
}

double sum(const float *x, int64_t count) {
  return added(count, [=](auto kind, int64_t i) { return wide_at<decltype(kind)>(x + i); });
}

double squares_from(const float *x, int64_t count, double mean) {
  return added(count, [=](auto kind, int64_t i) {
    const auto distance = wide_at<decltype(kind)>(x + i) - mean;
    return distance * distance;
  });
}

double sum_of_products(const float *x, const float *y, int64_t count) {
  return added(count, [=](auto kind, int64_t i) {
    return wide_at<decltype(kind)>(x + i) * wide_at<decltype(kind)>(y + i);
  });
}

}  // namespace

extern const BlockKernels block_kernel_table;
constexpr BlockKernels block_kernel_table = {
    same_floats,  round_floats, scale_finite, scale_shift,     keep_marked, mark_positive,
    alike_floats, sum,          squares_from, sum_of_products, round_wide};

}  // namespace EMU_ISA_NS
}  // namespace emu
