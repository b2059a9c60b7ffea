// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
#include "ops/window/kernels.h"

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// A piece of the row stays in registers while all elements of the window pass.
template <int kWidth>
void piece(const float *const *taps, const float *weights, int64_t count, int64_t at, float start, float *out) {
  float sums[kWidth];
  for (float &sum : sums) sum = 0.0f;
  for (int64_t t = 0; t < count; ++t) {
    const float *tap = taps[t] + at, weight = weights[t];
    for (int i = 0; i < kWidth; ++i) sums[i] += weight * tap[i];
  }
  for (int i = 0; i < kWidth; ++i) out[at + i] = sums[i] + start;
}

void weigh(const float *const *taps, const float *weights, int64_t count, int64_t width, float start,
           float *out) {
  int64_t i = 0;
  for (; i + 32 <= width; i += 32) piece<32>(taps, weights, count, i, start, out);
  for (; i + 8 <= width; i += 8) piece<8>(taps, weights, count, i, start, out);
  for (; i < width; ++i) piece<1>(taps, weights, count, i, start, out);
}

}  // namespace

extern const WindowKernels window_table;
constexpr WindowKernels window_table = {weigh};

}  // namespace EMU_ISA_NS
}  // namespace emu
