// SPDX-License-Identifier: Apache-2.0
// Grouped products of floats of 8 and 4 bits with a gated unit and quantisation, on chips of the
// 950 series.
#pragma once

#include "ops/gmm/swiglu_quant.h"

namespace emu {

bool is_swiglu_floats(const SwigluQuantCall &call);

// The lists as the plan takes them.
struct SwigluFloatLists {
  const aclTensorList *weight, *scale;
};
Status plan_swiglu_floats(const SwigluQuantCall &call, const SwigluFloatLists &lists,
                          uint64_t *workspace_size, aclOpExecutor **executor);

}  // namespace emu
