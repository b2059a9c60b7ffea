// SPDX-License-Identifier: Apache-2.0
// DistributeBarrier: the stream goes on when all ranks of the group have come.
#include <cinttypes>

#include "aclnnop/mc2.h"
#include "ops/mc2/fused.h"
#include "ops/moe/scores.h"

namespace emu {
namespace {

struct BarrierCall {
  const char *op;
  const aclTensor *x, *timeout, *elastic;
  const char *group;
  int64_t ranks;
};

Status plan_barrier(const BarrierCall &a, bool second, uint64_t *workspace_size,
                    aclOpExecutor **executor) {
  Check check(a.op);
  check.required("xRef", a.x).optional("timeOut", a.timeout).optional("elasticInfo", a.elastic);
  check.required_text("group", a.group);
  check.dtype("xRef", a.x);
  if (!check.ok()) return check.status();
  if (a.timeout) check.dtype_in("timeOut", a.timeout->dtype, dtype_set(ACL_INT32));
  if (a.elastic) check.dtype_in("elasticInfo", a.elastic->dtype, dtype_set(ACL_INT32));
  if (!second) check.tiling();
  check.rank("timeOut", a.timeout, 0, 1).rank("elasticInfo", a.elastic, 0, 1);
  if (!check.ok()) return check.status();
  check.that(a.ranks >= 2 && a.ranks <= 384, "worldSize is %" PRId64 "; it must be in [2, 384]",
             a.ranks);
  if (!check.ok()) return check.status();
  check.that(!a.timeout || a.timeout->numel() == 1,
             "timeOut has shape %s; it must have one element",
             a.timeout ? shape_text(layout_of(*a.timeout)).c_str() : "");
  check.that(!a.elastic || a.elastic->numel() == 4 + 2 * a.ranks,
             "elasticInfo has shape %s; it must have %" PRId64 " elements",
             a.elastic ? shape_text(layout_of(*a.elastic)).c_str() : "", 4 + 2 * a.ranks);
  if (!check.ok()) return check.status();
  std::shared_ptr<hccl::Communicator> communicator;
  if (const Status s = find_group(a.op, a.group, &communicator)) return s;
  check.that(communicator->size() == a.ranks,
             "worldSize is %" PRId64 ", but the communicator %s has %u ranks", a.ranks,
             communicator->name().c_str(), communicator->size());
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  plan.unused(a.x);
  const size_t timeout = second ? plan.input(a.timeout) : plan.input_if(nullptr),
               elastic = second ? plan.input(a.elastic) : plan.input_if(nullptr);
  const char *op = a.op;
  const int64_t ranks = a.ranks;
  return plan.finish(
      [=](PlanContext &c) {
        return hccl::together(*communicator, op, [&]() -> Status {
          hccl::Session session(*communicator, hccl::describe("%s(ranks=%" PRId64 ")", op, ranks));
          if (const Status s = session.begin()) return s;
          const std::vector<int64_t> reduced = integers(c, elastic), limit = integers(c, timeout);
          if (!reduced.empty() && reduced[0] != 0)
            return communicator->abandon(
                "EZ9999", kKernelFault,
                "%s: elasticInfo leaves ranks out, which the emulator does not do; its first "
                "element must be 0",
                op);
          if (!limit.empty() && limit[0] <= 0)
            return communicator->abandon(
                "EZ9999", kKernelFault,
                "%s: timeOut is %" PRId64 " microseconds; it must be positive", op, limit[0]);
          return session.barrier(limit.empty() ? 0.0 : static_cast<double>(limit[0]) * 1e-6);
        });
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DistributeBarrier, (aclTensor *xRef, const char *group, int64_t worldSize)) {
  return emu::plan_barrier({"aclnnDistributeBarrier", xRef, nullptr, nullptr, group, worldSize},
                           false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DistributeBarrierV2,
             (aclTensor *xRef, aclTensor *timeOut, const aclTensor *elasticInfo, const char *group,
              int64_t worldSize)) {
  return emu::plan_barrier(
      {"aclnnDistributeBarrierV2", xRef, timeOut, elasticInfo, group, worldSize}, true,
      workspaceSize, executor);
}
EMU_CATCH
