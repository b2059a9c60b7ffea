// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Pools of everything a channel has: GlobalAveragePool and GlobalMaxPool, for two to six dimensions
// behind the channels. Sums are float64 and rounded once; of the largest, NaN wins.
#include <limits>
#include <vector>

#include "aclnnop/math.h"
#include "ops/norm/rows.h"
#include "ops/window/geometry.h"

namespace emu {
namespace {

enum class Global { kAverage, kHighest };

// Maxima of neighbours are taken apart, so that many are taken at a time.
constexpr int64_t kLanes = 16;

template <class T>
double pooled(const T *row, int64_t width, Global kind) {
  if (kind == Global::kAverage) return sum_of(row, width) / static_cast<double>(width);
  // The largest that is a number, and a NaN where there is one.
  T lanes[kLanes], unordered[kLanes] = {};
  std::fill(lanes, lanes + kLanes, row[0]);
  const auto take = [&](int64_t lane, T value) {
    lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    unordered[lane] = value != value ? value : unordered[lane];
  };
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) take(lane, row[i + lane]);
  }
  for (; i < width; ++i) take(0, row[i]);
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    if (unordered[lane] != unordered[lane]) return static_cast<double>(unordered[lane]);
    lanes[0] = std::max(lanes[0], lanes[lane]);
  }
  return static_cast<double>(lanes[0]);
}

template <class T>
void pool_rows(const View &from, const View &to, Global kind) {
  const int64_t rows = to.count(), width = rows == 0 ? 0 : from.count() / rows;
  std::vector<double> results(static_cast<size_t>(rows));
  const RowSource<T> source(from);
  for_each_row<T>(rows, width, 1, [&](int64_t row, T *memory) {
    source.read(row * width, width, memory);
    results[static_cast<size_t>(row)] =
        width == 0 ? std::numeric_limits<double>::quiet_NaN() : pooled(memory, width, kind);
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
