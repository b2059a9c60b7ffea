// SPDX-License-Identifier: Apache-2.0
// Rows of a matrix in groups, one after the other, as a tensor of their ends or sizes says.
#pragma once

#include <vector>

#include "ops/op.h"

namespace emu {

// The group of each row, or -1 for rows behind the last group. `ends` tells whether the list holds
// the rows where groups end, or how many each has. A list that decreases, or that reaches beyond
// the rows, is a fault of the kernel.
Status read_row_groups(const char *op, const char *parameter, const aclTensor &list, bool ends,
                       int64_t rows, std::vector<int64_t> *group_of_row);

}  // namespace emu
