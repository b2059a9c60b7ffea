// SPDX-License-Identifier: Apache-2.0
// Which dtypes the operands of grouped products have together, and what has to be given beside
// them.
#pragma once

#include "ops/gmm/grouped.h"

namespace emu {

// Finds out how the values are computed, and judges that combination.
void check_grouped_dtypes(Check &check, GroupedProblem *problem, const char *out_name);

// Whether `tensor` has one value for each group, (groups) or (groups, 1).
bool one_each(const aclTensor &tensor, int64_t groups);

}  // namespace emu
