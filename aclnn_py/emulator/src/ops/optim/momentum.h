// SPDX-License-Identifier: Apache-2.0
// A step of gradient descent with momentum.
#pragma once

#include <cstdint>

#include "core/isa.h"

namespace emu {

struct MomentumStep {
  float momentum, rest, rate, decay, sign;
  // the gradients are divided by it, and change unless it is 1
  float divisor;
  // nothing is left of earlier gradients; so it is without speeds
  bool first;
  bool nesterov;
};

// Dense elements, which are apart from each other. Speeds may be null.
EMU_DECLARE_ISA(void momentum_step(const MomentumStep &step, float *parameters, float *slopes,
                                   float *speeds, int64_t count);)

}  // namespace emu
