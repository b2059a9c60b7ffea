// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gmm/grouped.h"

namespace emu {

// Shapes of bias, scales and offsets, once those of the operands are known to fit: one row of N
// values per group, as (E, N) beside a weight (E, K, N), else a list.
void check_companions(Check &check, const GroupedProblem &problem, bool weight_turned);

}  // namespace emu
