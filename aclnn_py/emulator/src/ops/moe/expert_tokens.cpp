// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeComputeExpertTokens: for each expert the number of rows that it and the experts before it get,
// found in the sorted experts of the rows.
#include "aclnnop/moe.h"
#include "ops/moe/scores.h"

EMU_OPERATOR(MoeComputeExpertTokens,
             (const aclTensor *sortedExperts, int64_t numExperts, aclTensor *out)) {
  using namespace emu;
  constexpr int64_t kMostExperts = 2048, kMostRows = int64_t{1} << 24;
  Check check("aclnnMoeComputeExpertTokens");
  check.required("sortedExperts", sortedExperts).required("out", out);
  check.dtype("sortedExperts", sortedExperts).dtype("out", out);
  check.plain_format("sortedExperts", sortedExperts).plain_format("out", out).tiling();
  check.rank("sortedExperts", sortedExperts, 1, 1);
  check.that(numExperts > 0 && numExperts <= kMostExperts, "numExperts is %lld; allowed: 1 to %lld",
             static_cast<long long>(numExperts), static_cast<long long>(kMostExperts));
  if (!check.ok()) return check.status();
  check.that(sortedExperts->shape[0] < kMostRows,
             "sortedExperts has %lld elements; allowed: fewer than %lld",
             static_cast<long long>(sortedExperts->shape[0]), static_cast<long long>(kMostRows));
  check.shape("out", out, dense_layout(&numExperts, 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(sortedExperts), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const std::vector<int64_t> sorted = integers(c, from);
        std::vector<int32_t> ends;
        for (int64_t expert = 0; expert < numExperts; ++expert) {
          const auto end = std::upper_bound(sorted.begin(), sorted.end(), expert);
          ends.push_back(static_cast<int32_t>(end - sorted.begin()));
        }
        RowTarget<int32_t>(view_of(c.tensor(to))).write(0, numExperts, ends.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
