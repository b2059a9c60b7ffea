// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradient of a bias that was added to groups of rows: the sums of the rows of each group.
#include "aclnnop/math.h"
#include "core/statuses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostGroups = 2048;
enum GroupKind : int64_t { kGroupEnds = 0, kGroupSizes = 1 };

// Where the groups begin, and the end of the last one.
Status read_starts(const char *op, const aclTensor &list, int64_t kind, int64_t rows,
                   std::vector<int64_t> *starts) {
  const int64_t groups = list.numel();
  std::vector<int64_t> values(static_cast<size_t>(groups));
  RowSource<int64_t>(view_of(list)).read(0, groups, values.data());
  starts->assign(1, 0);
  for (size_t g = 0; g < values.size(); ++g) {
    const int64_t start = starts->back();
    int64_t end = values[g];
    if (kind == kGroupSizes && !checked_add(start, values[g], &end)) end = kUncountable;
    if (end < start || end > rows) {
      return fail(kKernelFault,
                  "%s: groupIdxOptional[%zu] is %lld; the group begins at row %lld of %lld", op, g,
                  static_cast<long long>(values[g]), static_cast<long long>(start),
                  static_cast<long long>(rows));
    }
    starts->push_back(end);
  }
  if (starts->back() != rows) {
    return fail(kKernelFault, "%s: groupIdxOptional ends at row %lld; gradY has %lld rows", op,
                static_cast<long long>(starts->back()), static_cast<long long>(rows));
  }
  return 0;
}

void sum_groups(const View &rows, int64_t width, const std::vector<int64_t> &starts,
                const View &out) {
  constexpr int64_t kAtOnce = 512;
  const RowSource<float> source(rows);
  const RowTarget<double> target(out);
  const int64_t groups = static_cast<int64_t>(starts.size()) - 1,
                pieces = (width + kAtOnce - 1) / kAtOnce;
  parallel_for(groups * pieces, 1, [&](int64_t begin, int64_t end) {
    float values[kAtOnce];
    double sums[kAtOnce];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task / pieces, first = task % pieces * kAtOnce;
      const int64_t count = std::min(kAtOnce, width - first);
      std::fill(sums, sums + count, 0.0);
      for (int64_t r = starts[static_cast<size_t>(group)];
           r < starts[static_cast<size_t>(group) + 1]; ++r) {
        source.read(r * width + first, count, values);
        for (int64_t i = 0; i < count; ++i) sums[i] += double{values[i]};
      }
      target.write(group * width + first, count, sums);
    }
  });
}

Status plan_sums(Check &check, const aclTensor *given, const aclTensor *list, int64_t kind,
                 const aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  check.required("gradY", given).optional("groupIdxOptional", list).required("out", out);
  check.dtype("gradY", given).dtype("groupIdxOptional", list).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "gradY", given->dtype);
  check.that(kind == kGroupEnds || kind == kGroupSizes, "groupIdxType is %lld; allowed: 0, 1",
             static_cast<long long>(kind));
  const int rank = list ? 2 : 3;
  check.rank("gradY", given, rank, rank);
  if (list) check.rank("groupIdxOptional", list, 1, 1);
  if (!check.ok()) return check.status();
  const int64_t groups = list ? list->shape[0] : given->shape[0], width = given->shape.back();
  check.that(list == nullptr || groups <= kMostGroups,
             "groupIdxOptional has %lld groups; there may be up to 2048",
             static_cast<long long>(groups));
  const int64_t shape[] = {groups, width};
  check.shape("out", out, dense_layout(shape, 2));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const char *op = check.op();
  const size_t rows = plan.input(given), ends = plan.input(list), target = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View to = view_of(c.tensor(target));
        Operands operands;
        const View from = operands.safe(view_of(c.tensor(rows)), {to});
        std::vector<int64_t> starts;
        if (c.has(ends)) {
          const Status s = read_starts(op, c.tensor(ends), kind, from.layout.shape[0], &starts);
          if (s != 0) return s;
        } else if (to.count() > 0) {
          for (int64_t g = 0; g <= to.layout.shape[0]; ++g)
            starts.push_back(g * from.layout.shape[1]);
        }
        if (to.count() > 0) sum_groups(from, to.layout.shape[1], starts, to);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupedBiasAddGrad,
             (const aclTensor *gradY, const aclTensor *groupIdxOptional, aclTensor *out)) {
  emu::Check check("aclnnGroupedBiasAddGrad");
  return emu::plan_sums(check, gradY, groupIdxOptional, emu::kGroupEnds, out, workspaceSize,
                        executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedBiasAddGradV2, (const aclTensor *gradY, const aclTensor *groupIdxOptional,
                                    int64_t groupIdxType, aclTensor *out)) {
  emu::Check check("aclnnGroupedBiasAddGradV2");
  return emu::plan_sums(check, gradY, groupIdxOptional, groupIdxType, out, workspaceSize, executor);
}
EMU_CATCH
