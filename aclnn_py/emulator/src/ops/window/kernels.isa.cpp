// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
#include "ops/window/kernels.h"

#include "core/isa.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

constexpr int64_t kLanes = 8;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef float Loose __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

// A piece of the row stays in registers while all elements of the window pass. The last piece
// overlaps the one before it: each element is the same sum wherever it is made.
template <int kVectors>
void pieces(const float *const *taps, const float *weights, int64_t count, int64_t width,
            float start, float *out) {
  constexpr int64_t kWidth = kVectors * kLanes;
  for (int64_t begin = 0; begin < width; begin += kWidth) {
    const int64_t at = begin + kWidth <= width ? begin : width - kWidth;
    Lanes sums[kVectors] = {};
    for (int64_t t = 0; t < count; ++t) {
      const float *tap = taps[t] + at;
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i)
        sums[i] += weights[t] * *reinterpret_cast<const Loose *>(tap + i * kLanes);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i)
      *reinterpret_cast<Loose *>(out + at + i * kLanes) = sums[i] + start;
  }
}

void weigh(const float *const *taps, const float *weights, int64_t count, int64_t width,
           float start, float *out) {
  if (width >= 4 * kLanes) return pieces<4>(taps, weights, count, width, start, out);
  if (width >= kLanes) return pieces<1>(taps, weights, count, width, start, out);
  for (int64_t i = 0; i < width; ++i) {
    float sum = 0.0f;
    for (int64_t t = 0; t < count; ++t) sum += weights[t] * taps[t][i];
    out[i] = sum + start;
  }
}

void correlate(const float *const *taps, const float *row, int64_t count, int64_t width,
               double *sums) {
  for (int64_t t = 0; t < count; ++t) {
    const float *tap = taps[t];
    Lanes lanes = {};
    int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      lanes +=
          *reinterpret_cast<const Loose *>(tap + i) * *reinterpret_cast<const Loose *>(row + i);
    }
    float sum = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
                ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
    for (; i < width; ++i) sum += tap[i] * row[i];
    sums[t] += static_cast<double>(sum);
  }
}

typedef double Doubles __attribute__((vector_size(4 * sizeof(double))));
typedef double LooseDoubles __attribute__((vector_size(4 * sizeof(double)), aligned(8), may_alias));
typedef float Four __attribute__((vector_size(4 * sizeof(float)), aligned(4), may_alias));

// The compiler converts halves and joins them where the processor has one instruction.
inline void add_widened(const float *at, Doubles *sum) {
#if defined(__AVX__)
  *sum += _mm256_cvtps_pd(_mm_loadu_ps(at));
#else
  *sum += __builtin_convertvector(*reinterpret_cast<const Four *>(at), Doubles);
#endif
}

inline void put(const Doubles &values, double *to) {
  *reinterpret_cast<LooseDoubles *>(to) = values;
}
inline void put(const Doubles &values, float *to) {
  *reinterpret_cast<Four *>(to) = __builtin_convertvector(values, Four);
}

// As `pieces`.
template <int kVectors, class R>
void average_pieces(const float *const *taps, int64_t count, int64_t width, double lines,
                    const double *across, R *averages) {
  constexpr int64_t kWidth = kVectors * 4;
  for (int64_t begin = 0; begin < width; begin += kWidth) {
    const int64_t at = begin + kWidth <= width ? begin : width - kWidth;
    Doubles found[kVectors] = {};
    for (int64_t t = 0; t < count; ++t) {
      const float *tap = taps[t] + at;
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) add_widened(tap + i * 4, &found[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      const Doubles counts = *reinterpret_cast<const LooseDoubles *>(across + at + i * 4);
      put(found[i] / (lines * counts), averages + at + i * 4);
    }
  }
}

template <class R>
void average(const float *const *taps, int64_t count, int64_t width, double lines,
             const double *across, R *averages) {
  if (width >= 16) return average_pieces<4>(taps, count, width, lines, across, averages);
  if (width >= 4) return average_pieces<1>(taps, count, width, lines, across, averages);
  for (int64_t i = 0; i < width; ++i) {
    double sum = 0.0;
    for (int64_t t = 0; t < count; ++t) sum += static_cast<double>(taps[t][i]);
    averages[i] = static_cast<R>(sum / (lines * across[i]));
  }
}

typedef int32_t Order __attribute__((vector_size(kLanes * sizeof(int32_t))));

// Element c of row r becomes element r of row c.
inline __attribute__((always_inline)) void turn(Lanes (&r)[kLanes]) {
  constexpr Order kLow = {0, 8, 1, 9, 4, 12, 5, 13}, kHigh = {2, 10, 3, 11, 6, 14, 7, 15},
                  kFront = {0, 1, 8, 9, 4, 5, 12, 13}, kBack = {2, 3, 10, 11, 6, 7, 14, 15},
                  kFirst = {0, 1, 2, 3, 8, 9, 10, 11}, kSecond = {4, 5, 6, 7, 12, 13, 14, 15};
  Lanes a[kLanes], b[kLanes];
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; i += 2) {
    a[i] = __builtin_shuffle(r[i], r[i + 1], kLow);
    a[i + 1] = __builtin_shuffle(r[i], r[i + 1], kHigh);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; i += 4) {
    b[i] = __builtin_shuffle(a[i], a[i + 2], kFront);
    b[i + 1] = __builtin_shuffle(a[i], a[i + 2], kBack);
    b[i + 2] = __builtin_shuffle(a[i + 1], a[i + 3], kFront);
    b[i + 3] = __builtin_shuffle(a[i + 1], a[i + 3], kBack);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shuffle(b[i], b[i + 4], kFirst);
    r[i + 4] = __builtin_shuffle(b[i], b[i + 4], kSecond);
  }
}

// The rows lie side by side for the sums: one load takes an element of each.
void blend(const float *const *rows, int64_t width, const BlendMap &map, float *scratch, float *to,
           int64_t stride) {
  static_assert(kBlendRows == kLanes);
  Loose *const columns = reinterpret_cast<Loose *>(scratch), *const sums = columns + width;
  int64_t x = 0;
  for (; x + kLanes <= width; x += kLanes) {
    Lanes square[kLanes];
#pragma GCC unroll 8
    for (int r = 0; r < kLanes; ++r) square[r] = *reinterpret_cast<const Loose *>(rows[r] + x);
    turn(square);
#pragma GCC unroll 8
    for (int c = 0; c < kLanes; ++c) columns[x + c] = square[c];
  }
  for (; x < width; ++x) {
    for (int r = 0; r < kLanes; ++r) columns[x][r] = rows[r][x];
  }
  for (int64_t i = 0; i < map.count; ++i) {
    Lanes sum = {};
    for (int64_t k = map.starts[i]; k < map.starts[i + 1]; ++k)
      sum += map.shares[k] * columns[map.places[k]];
    sums[i] = sum;
  }
  int64_t i = 0;
  for (; i + kLanes <= map.count; i += kLanes) {
    Lanes square[kLanes];
#pragma GCC unroll 8
    for (int c = 0; c < kLanes; ++c) square[c] = sums[i + c];
    turn(square);
#pragma GCC unroll 8
    for (int r = 0; r < kLanes; ++r) *reinterpret_cast<Loose *>(to + r * stride + i) = square[r];
  }
  for (; i < map.count; ++i) {
    for (int r = 0; r < kLanes; ++r) to[r * stride + i] = sums[i][r];
  }
}

}  // namespace

extern const WindowKernels window_table;
constexpr WindowKernels window_table = {weigh, correlate, average<float>, average<double>, blend};

}  // namespace EMU_ISA_NS
}  // namespace emu
