// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/optim/momentum.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

template <bool kFirst, bool kNesterov, bool kKept>
void run(const MomentumStep &by, float *__restrict parameters, const float *__restrict slopes,
         float *__restrict speeds, int64_t count) {
  const float momentum = by.momentum, rest = by.rest, rate = by.rate, decay = by.decay,
              sign = by.sign;
  for (int64_t i = 0; i < count; ++i) {
    const float slope = sign * slopes[i] + decay * parameters[i];
    float speed = slope;
    if constexpr (!kFirst) speed = momentum * speeds[i] + rest * slope;
    const float step = kNesterov ? slope + momentum * speed : speed;
    parameters[i] -= rate * step;
    if constexpr (kKept) speeds[i] = speed;
  }
}

template <bool kFirst, bool kKept>
void run(const MomentumStep &by, float *parameters, const float *slopes, float *speeds,
         int64_t count) {
  if (by.nesterov) run<kFirst, true, kKept>(by, parameters, slopes, speeds, count);
  else run<kFirst, false, kKept>(by, parameters, slopes, speeds, count);
}

}  // namespace

void momentum_step(const MomentumStep &step, float *parameters, float *slopes, float *speeds,
                   int64_t count) {
  if (step.divisor != 1.0f) {
    for (int64_t i = 0; i < count; ++i) slopes[i] /= step.divisor;
  }
  if (speeds == nullptr) run<true, false>(step, parameters, slopes, speeds, count);
  else if (step.first) run<true, true>(step, parameters, slopes, speeds, count);
  else run<false, true>(step, parameters, slopes, speeds, count);
}

}  // namespace EMU_ISA_NS
}  // namespace emu
