// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
#include "ops/window/kernels.h"

#include "core/isa.h"

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

}  // namespace

extern const WindowKernels window_table;
constexpr WindowKernels window_table = {weigh, correlate};

}  // namespace EMU_ISA_NS
}  // namespace emu
