// SPDX-License-Identifier: Apache-2.0
// Grouped products of integers one side of which has 4 bits: INT4 with INT4, and INT8 with INT4.
#pragma once

#include "ops/gmm/grouped.h"

namespace emu {

// Whether x and weight make such a product.
bool is_few_bits(const GroupedCall &call);
// Dtypes, and what has to be given or absent. `call` gets the group list as the chip reads it.
void check_few_bits_dtypes(Check &check, GroupedCall *call, const char *out_name, FewBits *form);
// Shapes of scales, offset and bias, once those of the operands are known to fit.
void check_few_bits_shapes(Check &check, const GroupedProblem &problem, bool weight_turned,
                           FewBits *form);

Status run_few_bits(const GroupedJob &job, PlanContext &context);

}  // namespace emu
