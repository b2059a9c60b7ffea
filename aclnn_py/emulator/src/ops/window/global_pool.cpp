// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Pools of everything a channel has: GlobalAveragePool and GlobalMaxPool, for two to six dimensions
// behind the channels. Sums are float64 and rounded once; of the largest, NaN wins.
#include <algorithm>
#include <limits>
#include <vector>

#include "aclnnop/math.h"
#include "ops/extreme_kernels.h"
#include "ops/shared/rows.h"
#include "ops/window/geometry.h"

namespace emu {
namespace {

enum class Global { kAverage, kHighest };

template <class T>
double highest(const T *row, int64_t width) {
  T highest = row[0];
  extremes_of<T>().greatest(row, 1, width, &highest);
  return static_cast<double>(highest);
}

template <class T>
void pool_rows(const View &from, const View &to, Global kind) {
  const int64_t rows = to.count(), width = rows == 0 ? 0 : from.count() / rows;
  std::vector<double> results(static_cast<size_t>(rows));
  const RowSource<T> source(from);
  for_each_row<T>(rows, width, 1, [&](int64_t row, T *memory) {
    double &result = results[static_cast<size_t>(row)];
    const T *values = source.row(row * width, width, memory);
    if (width == 0) result = std::numeric_limits<double>::quiet_NaN();
    else if (kind == Global::kHighest) result = highest(values, width);
    else result = sum_of(values, width) / static_cast<double>(width);
  });
  RowTarget<double>(to).write(0, rows, results.data());
}

Status plan_global(const char *op, const aclTensor *self, const aclTensor *out, Global kind,
                   uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype).rank("self", self, 4, 8);
  if (!check.ok()) return check.status();
  format_in(check, "self", self,
            {ACL_FORMAT_ND, self->rank() == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW});
  same_format(check, "out", out, self);
  Layout one = layout_of(*self);
  for (int d = 2; d < one.rank; ++d) one.shape[d] = 1;
  check.shape("out", out, one);
  check.that(kind == Global::kAverage || self->numel() != 0 || out->numel() == 0,
             "self has shape %s; a channel without elements has no largest one",
             shape_text(layout_of(*self)).c_str());
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      op, self, out,
      [=](const View &from, const View &to) {
        if (from.dtype == ACL_DOUBLE) {
          pool_rows<double>(from, to, kind);
        } else {
          pool_rows<float>(from, to, kind);
        }
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GlobalAveragePool, (const aclTensor *self, aclTensor *out)) {
  return emu::plan_global("aclnnGlobalAveragePool", self, out, emu::Global::kAverage, workspaceSize,
                          executor);
}
EMU_CATCH

EMU_OPERATOR(GlobalMaxPool, (const aclTensor *self, aclTensor *out)) {
  return emu::plan_global("aclnnGlobalMaxPool", self, out, emu::Global::kHighest, workspaceSize,
                          executor);
}
EMU_CATCH
