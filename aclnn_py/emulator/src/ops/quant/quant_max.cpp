// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Values times a scale as floats of 8 bits, with the largest absolute value of what was scaled, of
// a whole tensor or of groups of rows. For chips of the 950 series.
#include <cmath>
#include <cstring>

#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

constexpr int64_t kMostGroups = 384;

struct QuantMaxArguments {
  const char *op;
  const aclTensor *x, *scale, *groups;  // groups null: one group of all
  const char *mode;
  int64_t dst_type;
  const aclTensor *y, *most;
};

Status check_quant_max(const QuantMaxArguments &a, bool grouped) {
  Check check(a.op);
  check.required("x", a.x).required("scale", a.scale);
  if (grouped) check.required("groupList", a.groups);
  check.required_text("roundMode", a.mode).required("y", a.y).required("amax", a.most);
  if (const Status s = check_chip(check, kInvalid)) return s;
  check.dtype("x", a.x).dtype("scale", a.scale).dtype("groupList", a.groups);
  check.dtype("y", a.y).dtype("amax", a.most);
  check.plain_format("x", a.x).plain_format("y", a.y).rank("x", a.x, grouped ? 2 : 1, 8);
  if (!check.ok()) return check.status();
  check_dst_type(check, "dstType", a.dst_type, "y", a.y);
  // "hybrid" for HIFLOAT8 has no definition in the documents.
  const char *allowed = a.y->dtype == ACL_HIFLOAT8 ? "round" : "rint";
  check.that(std::strcmp(a.mode, allowed) == 0,
             "roundMode is \"%.40s\"; allowed for y of %s: \"%s\"", a.mode, dtype_name(a.y->dtype),
             allowed);
  check.same_dtype("amax", a.most->dtype, "x", a.x->dtype);
  int64_t groups = 1;
  if (grouped) {
    check.rank("groupList", a.groups, 1, 1);
    if (!check.ok()) return check.status();
    groups = a.groups->shape[0];
    check.that(groups >= 1 && groups <= kMostGroups,
               "groupList has %lld groups; allowed: 1 to %lld", static_cast<long long>(groups),
               static_cast<long long>(kMostGroups));
  }
  check.shape("scale", a.scale, dense_layout(&groups, 1));
  check.shape("amax", a.most, dense_layout(&groups, 1));
  return check.shape("y", a.y, layout_of(*a.x)).status();
}

Status plan_quant_max(const QuantMaxArguments &a, bool grouped, uint64_t *workspace_size,
                      aclOpExecutor **executor) {
  if (const Status s = check_quant_max(a, grouped)) return s;
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), scale = plan.input(a.scale), list = plan.input_if(a.groups);
  const size_t output = plan.output(a.y), largest = plan.output(a.most);
  const int64_t rows = grouped ? a.x->shape[0] : 1, total = a.x->numel();
  const int64_t width = total == 0 ? 0 : total / rows, groups = a.scale->shape[0];
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<int64_t> group_of(static_cast<size_t>(rows), 0);
        if (grouped) {
          const Status s = read_row_groups(op, "groupList", c.tensor(list), true, rows, &group_of);
          if (s != 0) return s;
        }
        Operands operands;
        const aclTensor &result = c.tensor(output);
        const View most_view = view_of(c.tensor(largest));
        const RowSource<float> from(
            operands.safe(view_of(c.tensor(input)), {shared_view(result), most_view}));
        const QuantTarget to(result);
        const auto scales = read_all<float>(c, scale, groups, 1.0f);
        const int64_t pieces = (width + kBlock - 1) / kBlock;
        std::vector<float> found(static_cast<size_t>(rows * pieces), 0.0f);
        parallel_for(rows * pieces, 16, [&](int64_t begin, int64_t end) {
          float x[kBlock];
          for (int64_t piece = begin; piece < end; ++piece) {
            const int64_t row = piece / pieces, at = piece % pieces * kBlock;
            const int64_t n = std::min(kBlock, width - at), start = row * width + at;
            const int64_t group = group_of[static_cast<size_t>(row)];
            if (group < 0) continue;
            from.read(start, n, x);
            float most = 0.0f;
            const float factor = scales[static_cast<size_t>(group)];
            for (int64_t i = 0; i < n; ++i) {
              most = std::fabs(x[i]) > most ? std::fabs(x[i]) : most;
              x[i] *= factor;
            }
            found[static_cast<size_t>(piece)] = most;
            to.write(start, n, x);
          }
        });
        std::vector<float> most(static_cast<size_t>(groups), 0.0f);
        for (int64_t piece = 0; piece < rows * pieces; ++piece) {
          const int64_t group = group_of[static_cast<size_t>(piece / pieces)];
          if (group < 0) continue;
          float &so_far = most[static_cast<size_t>(group)];
          so_far = std::max(so_far, found[static_cast<size_t>(piece)]);
        }
        RowTarget<float>(most_view).write(0, groups, most.data());
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantMax, (const aclTensor *x, const aclTensor *scale, const char *roundMode,
                        int64_t dstType, aclTensor *y, aclTensor *amax)) {
  return emu::plan_quant_max({"aclnnQuantMax", x, scale, nullptr, roundMode, dstType, y, amax},
                             false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedQuantMax,
             (const aclTensor *x, const aclTensor *scale, const aclTensor *groupList,
              const char *roundMode, int64_t dstType, aclTensor *y, aclTensor *amax)) {
  return emu::plan_quant_max(
      {"aclnnGroupedQuantMax", x, scale, groupList, roundMode, dstType, y, amax}, true,
      workspaceSize, executor);
}
EMU_CATCH
