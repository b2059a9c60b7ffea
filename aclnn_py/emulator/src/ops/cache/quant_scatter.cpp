// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Rows quantised with given scales and written behind a start along one dimension of a cache.
#include <cstring>

#include "aclnnop/index.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/moe/routing.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

struct Arguments {
  const char *op;
  const aclTensor *self, *indices, *updates, *scales, *zeros;
  int64_t axis, quant_axis, reduction;
  bool second;  // the version for chips of the 950 series
};

void check_dtypes(Check &check, const Arguments &a) {
  check.dtype("selfRef", a.self).dtype("indices", a.indices);
  check.dtype("updates", a.updates).dtype("quantScales", a.scales);
  check.dtype("quantZeroPoints", a.zeros);
  check.plain_format("selfRef", a.self).plain_format("updates", a.updates);
  if (!check.ok()) return;
  const bool brain = a.updates->dtype == ACL_BF16;
  check.dtype_in("quantScales", a.scales->dtype, dtype_set(brain ? ACL_BF16 : ACL_FLOAT));
  if (a.zeros)
    check.dtype_in("quantZeroPoints", a.zeros->dtype, dtype_set(brain ? ACL_BF16 : ACL_INT32));
}

void check_shapes(Check &check, const Arguments &a, int axis) {
  const Layout self = layout_of(*a.self), updates = layout_of(*a.updates);
  check.rank("indices", a.indices, 1, a.second ? 2 : 1);
  if (!check.ok()) return;
  const bool pairs = a.indices->rank() == 2;
  const int64_t listed[] = {updates.shape[0], 2};
  check.shape("indices", a.indices, dense_layout(listed, pairs ? 2 : 1));
  for (int d = 0; d < self.rank; ++d) {
    const bool part = d == 0 || d == axis;
    check.that(part ? updates.shape[d] <= self.shape[d] || (pairs && d == 0)
                    : updates.shape[d] == self.shape[d],
               "updates has %lld in dimension %d; selfRef has %lld, and updates must have %s",
               wide(updates.shape[d]), d, wide(self.shape[d]), part ? "no more" : "as many");
  }
  const int64_t width = self.shape[self.rank - 1];
  check.that(a.second || width % 32 == 0,
             "selfRef has %lld as its last dimension; it must be a multiple of 32 bytes",
             wide(width));
  for (const auto &[name, factors] :
       {std::pair{"quantScales", a.scales}, std::pair{"quantZeroPoints", a.zeros}}) {
    if (factors == nullptr) continue;
    check.that(factors->numel() == width,
               "%s has %lld elements; expected %lld, the last dimension of updates", name,
               wide(factors->numel()), wide(width));
    check.rank(name, factors, a.second ? 1 : 3, a.second ? 8 : 3);
  }
}

// Where the row of `updates` with this number goes in `self`; false when the indices lead outside.
struct Rows {
  Layout self, updates;
  int axis;
  bool pairs;
  std::vector<int64_t> indices;

  bool place(int64_t row, int64_t *to, int64_t *bad, int64_t *extent) const {
    int64_t index[kMaxRank], rest = row;
    for (int d = updates.rank - 2; d >= 0; --d) {
      index[d] = rest % updates.shape[d];
      rest /= updates.shape[d];
    }
    const auto entry = static_cast<size_t>(index[0]);
    const int64_t start = indices[pairs ? 2 * entry + 1 : entry];
    if (pairs) {
      index[0] = indices[2 * entry];
      if (index[0] < 0 || index[0] >= self.shape[0]) {
        *bad = index[0];
        *extent = self.shape[0];
        return false;
      }
    }
    if (start < 0 || start > self.shape[axis] - updates.shape[axis]) {
      *bad = start;
      *extent = self.shape[axis];
      return false;
    }
    index[axis] += start;
    *to = 0;
    for (int d = 0; d < self.rank - 1; ++d) *to = *to * self.shape[d] + index[d];
    return true;
  }
};

Status plan_quant_scatter(const Arguments &a, const char *mode, uint64_t *workspace_size,
                          aclOpExecutor **executor) {
  Check check(a.op);
  check.required("selfRef", a.self).required("indices", a.indices);
  check.required("updates", a.updates).required("quantScales", a.scales);
  check.optional("quantZeroPoints", a.zeros);
  if (a.second) check.required_text("roundMode", mode);
  check.that(!a.second || chip_is_950(),
             "this chip does not have the operator; allowed: the 950 series");
  check_dtypes(check, a);
  check.rank("selfRef", a.self, 3, a.second ? 8 : 3);
  if (!check.ok()) return check.status();
  const int rank = static_cast<int>(a.self->rank());
  check.rank("updates", a.updates, rank, rank);
  int axis = 0, quant_axis = 0;
  if (a.second) {
    check.that(wrap_dim(a.axis, rank, &axis) && axis > 0 && axis < rank - 1,
               "axis is %lld; allowed: a dimension of selfRef between its first and its last one",
               wide(a.axis));
  } else {
    check.that(a.axis == -2, "axis is %lld; allowed: -2", wide(a.axis));
    axis = rank - 2;
  }
  check.that(wrap_dim(a.quant_axis, rank, &quant_axis) && quant_axis == rank - 1,
             "quantAxis is %lld; allowed: -1, %d", wide(a.quant_axis), rank - 1);
  check.that(a.reduction == 1, "reduction is %lld; allowed: 1", wide(a.reduction));
  const char *only = a.self->dtype == ACL_HIFLOAT8 ? "round" : "rint";
  check.that(mode == nullptr || std::strcmp(mode, only) == 0,
             "roundMode is \"%.40s\"; selfRef of dtype %s allows \"%s\"", mode ? mode : "",
             dtype_name(a.self->dtype), only);
  check.tiling();
  if (check.ok()) check_shapes(check, a, axis);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t to = plan.in_place(a.self), where = plan.input(a.indices);
  const size_t from = plan.input(a.updates), factors = plan.input(a.scales),
               shifts = plan.input(a.zeros);
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        const aclTensor &self = c.tensor(to);
        Apart apart;
        const View updates = apart.from(view_of(c.tensor(from)), {view_of(self)});
        const int64_t width = self.shape.back(), total = updates.count();
        if (total == 0) return Status{0};
        const Rows rows{layout_of(self), updates.layout, axis, c.tensor(where).rank() == 2,
                        integers(c, where)};
        std::vector<int64_t> places(static_cast<size_t>(total / width));
        for (size_t row = 0; row < places.size(); ++row) {
          int64_t bad = 0, extent = 0;
          if (!rows.place(static_cast<int64_t>(row), &places[row], &bad, &extent)) {
            return fail(kKernelFault,
                        "%s: indices holds %lld; the dimension of selfRef that it addresses has "
                        "%lld, and all rows of updates must fit behind it",
                        op, wide(bad), wide(extent));
          }
        }
        const auto scale = read_all<float>(c, factors, width, 1.0f);
        const auto zero = read_all<float>(c, shifts, width, 0.0f);
        const RowSource<float> source(updates);
        const QuantTarget target(self);
        for_each_row<float>(total / width, width, 1, [&](int64_t row, float *values) {
          source.read(row * width, width, values);
          for (size_t i = 0; i < scale.size(); ++i) values[i] = values[i] / scale[i] + zero[i];
          target.write(places[static_cast<size_t>(row)] * width, width, values);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(InplaceQuantScatter,
             (aclTensor *selfRef, const aclTensor *indices, const aclTensor *updates,
              const aclTensor *quantScales, const aclTensor *quantZeroPoints, int64_t axis,
              int64_t quantAxis, int64_t reduction)) {
  return emu::plan_quant_scatter({"aclnnInplaceQuantScatter", selfRef, indices, updates,
                                  quantScales, quantZeroPoints, axis, quantAxis, reduction, false},
                                 nullptr, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceQuantScatterV2,
             (aclTensor *selfRef, const aclTensor *indices, const aclTensor *updates,
              const aclTensor *quantScales, const aclTensor *quantZeroPoints, int64_t axis,
              int64_t quantAxis, int64_t reduction, const char *roundMode)) {
  return emu::plan_quant_scatter({"aclnnInplaceQuantScatterV2", selfRef, indices, updates,
                                  quantScales, quantZeroPoints, axis, quantAxis, reduction, true},
                                 roundMode, workspaceSize, executor);
}
EMU_CATCH
