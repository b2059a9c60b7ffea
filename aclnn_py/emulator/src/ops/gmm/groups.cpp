// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>

#include "core/statuses.h"
#include "ops/gmm/grouped.h"

namespace emu {
namespace {

// Cumulative ends, or sizes: one value per group, in order.
Status dense_groups(const char *op, const std::vector<int64_t> &values, bool ends, int64_t span,
                    std::vector<GroupSpan> *spans) {
  int64_t first = 0;
  for (size_t g = 0; g < values.size(); ++g) {
    int64_t end = values[g];
    if (!ends && !checked_add(first, values[g], &end)) end = kUncountable;
    if (end < first) {
      return ends ? fail(kKernelFault,
                         "%s: groupList[%zu] is %" PRId64 ", less than the end %" PRId64
                         " before it.",
                         op, g, values[g], first)
                  : fail(kKernelFault,
                         "%s: groupList[%zu] is %" PRId64 "; a group size cannot be negative.", op,
                         g, values[g]);
    }
    if (end > span) {
      return fail(kKernelFault,
                  "%s: groupList[%zu] ends at %" PRId64 ", beyond the grouped length %" PRId64 ".",
                  op, g, end, span);
    }
    spans->push_back({g, first, end - first});
    first = end;
  }
  return 0;
}

// Pairs (group, rows) in the order of computation; the first size that is not positive ends the
// list.
Status sparse_groups(const char *op, const std::vector<int64_t> &values, size_t groups,
                     int64_t span, std::vector<GroupSpan> *spans) {
  int64_t first = 0;
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    const int64_t group = values[i], count = values[i + 1];
    if (count <= 0) break;
    if (group < 0 || group >= static_cast<int64_t>(groups)) {
      return fail(kKernelFault, "%s: groupList[%zu] names group %" PRId64 " of %zu.", op, i / 2,
                  group, groups);
    }
    if (count > span - first) {
      return fail(kKernelFault,
                  "%s: groupList[%zu] ends at %" PRId64 ", beyond the grouped length %" PRId64 ".",
                  op, i / 2, first + count, span);
    }
    spans->push_back({static_cast<size_t>(group), first, count});
    first += count;
  }
  return 0;
}

}  // namespace

Status read_groups(const char *op, const aclTensor &list, int64_t kind, size_t groups, int64_t span,
                   std::vector<GroupSpan> *spans) {
  std::vector<int64_t> values(static_cast<size_t>(list.numel()));
  View dense;
  dense.data = reinterpret_cast<char *>(values.data());
  dense.dtype = ACL_INT64;
  dense.layout = dense_like(layout_of(list));
  if (!values.empty()) copy_view(view_of(list), dense);
  if (kind == static_cast<int64_t>(GroupListKind::kSparse))
    return sparse_groups(op, values, groups, span, spans);
  return dense_groups(op, values, kind == static_cast<int64_t>(GroupListKind::kEnds), span, spans);
}

}  // namespace emu
