// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Slices along a dimension whose norm exceeds a limit are scaled to it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "aclnnop/norm.h"
#include "ops/index/addresses.h"
#include "ops/reduce/norms.h"
#include "ops/reduce/row_reader.h"

namespace emu {
namespace {

// (self, p, dim, maxNorm, out); `self` and `out` are one tensor in place.
Status plan_renorm(const char *op, const aclTensor *self, const aclScalar *p, int64_t dim,
                   const aclScalar *limit, aclTensor *out, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  Check check(op);
  const char *self_name = check.facts().name(0);
  check.required(self_name, self).required("p", p).required("maxNorm", limit).required("out", out);
  check.dtype(self_name, self).dtype("out", out);
  if (check.ok()) check.same_dtype("out", out->dtype, self_name, self->dtype);
  check.rank(self_name, self, 2, 8);
  if (check.ok()) check.shape("out", out, layout_of(*self));
  if (!check.ok()) return check.status();
  const double order = p->to_double(), highest = limit->to_double();
  check.that(order >= 0, "p is %g; it must not be negative", order);
  const int rank = static_cast<int>(self->rank());
  const AxisSet slices = axis_of(check, "dim", dim, rank);
  check.that(highest >= 0, "maxNorm is %g; it must not be negative", highest);
  if (!check.ok()) return check.status();
  const AxisSet inside = all_axes(rank) & ~slices;
  PlanBuilder plan(op, KernelTime::linear);
  const size_t source = plan.input(self), target = self == out ? source : plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        View to = view_of(context.tensor(target));
        const SafeView from(view_of(context.tensor(source)), {to});
        const RowReader<double> rows(from.view(), inside, to.dtype);
        const int64_t count = to.count() / std::max<int64_t>(rows.length(), 1);
        to.layout = reduced_last(to.layout, inside);
        const RowWriter<double> write(to);
        for_each_row(count, rows.length(), [&](int64_t row) {
          const double size = norm(rows, row, order);
          const double factor = size > highest ? highest / size : 1;
          rows.each(row, [&](const double *x, int64_t n, int64_t start) {
            double scaled[kBlock];
            if (factor != 1) {
              for (int64_t i = 0; i < n; ++i) scaled[i] = x[i] * factor;
            }
            write.put(row * rows.length() + start, n, factor == 1 ? x : scaled);
          });
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

EMU_OPERATOR(Renorm, (const aclTensor *self, const aclScalar *p, int64_t dim,
                      const aclScalar *maxNorm, aclTensor *out)) {
  return plan_renorm("aclnnRenorm", self, p, dim, maxNorm, out, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(InplaceRenorm,
             (aclTensor *selfRef, const aclScalar *p, int64_t dim, const aclScalar *maxNorm)) {
  return plan_renorm("aclnnInplaceRenorm", selfRef, p, dim, maxNorm, selfRef, workspaceSize,
                     executor);
}
EMU_CATCH

// Rows that are named once or more are scaled once.
EMU_OPERATOR(EmbeddingRenorm,
             (aclTensor *selfRef, const aclTensor *indices, double maxNorm, double normType)) {
  constexpr const char *op = "aclnnEmbeddingRenorm";
  Check check(op);
  check.required("selfRef", selfRef).required("indices", indices);
  check.dtype("selfRef", selfRef).dtype("indices", indices);
  check.rank("selfRef", selfRef, 2, 2).rank("indices", indices, 0, 8);
  check.that(normType >= 0, "normType is %g; it must not be negative", normType);
  check.that(maxNorm >= 0, "maxNorm is %g; it must not be negative", maxNorm);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t table = plan.in_place(selfRef), named = plan.input(indices);
  return plan.finish(
      [=](PlanContext &context) {
        const View self = view_of(context.tensor(table));
        const int64_t count = self.layout.shape[0], width = self.layout.shape[1];
        std::vector<int64_t> rows(static_cast<size_t>(context.tensor(named).numel()));
        const Reader reader(view_of(context.tensor(named)), ACL_INT64);
        for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); i += kBlock) {
          const int64_t n = std::min<int64_t>(kBlock, static_cast<int64_t>(rows.size()) - i);
          const void *block = reader.read(i, n, rows.data() + i);
          if (block != rows.data() + i) {
            std::memcpy(rows.data() + i, block, static_cast<size_t>(n) * sizeof(int64_t));
          }
        }
        IndexFault fault;
        for (const int64_t row : rows) {
          if (row < 0 || row >= count) fault.report(row, count);
        }
        if (fault.found) return fault.status(op, "indices");
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        const RowReader<double> values(self, AxisSet{2}, self.dtype);
        const RowWriter<double> write(self);
        parallel_for(static_cast<int64_t>(rows.size()), 8, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = rows[static_cast<size_t>(i)];
            const double size = norm(values, row, normType);
            if (!(size > maxNorm)) continue;
            const double factor = maxNorm / (size + 1e-7);
            values.each(row, [&](const double *x, int64_t n, int64_t start) {
              double scaled[kBlock];
              for (int64_t k = 0; k < n; ++k) scaled[k] = x[k] * factor;
              write.put(row * width + start, n, scaled);
            });
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
