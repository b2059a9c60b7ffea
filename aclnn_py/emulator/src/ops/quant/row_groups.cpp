// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/quant/row_groups.h"

#include <algorithm>

#include "core/statuses.h"
#include "ops/shared/rows.h"

namespace emu {

Status read_row_groups(const char *op, const char *parameter, const aclTensor &list, bool ends,
                       int64_t rows, std::vector<int64_t> *group_of_row) {
  std::vector<int64_t> values(static_cast<size_t>(list.numel()));
  RowSource<int64_t>(view_of(list)).read(0, list.numel(), values.data());
  group_of_row->assign(static_cast<size_t>(rows), -1);
  int64_t first = 0;
  for (size_t g = 0; g < values.size(); ++g) {
    int64_t end = values[g];
    if (!ends && !checked_add(first, values[g], &end)) end = kUncountable;
    if (end < first || end > rows) {
      return fail(kKernelFault,
                  "%s: %s[%zu] is %lld, so that its group goes from row %lld to row %lld; groups "
                  "must follow each other within the %lld rows",
                  op, parameter, g, static_cast<long long>(values[g]),
                  static_cast<long long>(first), static_cast<long long>(end),
                  static_cast<long long>(rows));
    }
    std::fill(group_of_row->begin() + first, group_of_row->begin() + end, static_cast<int64_t>(g));
    first = end;
  }
  return 0;
}

}  // namespace emu
