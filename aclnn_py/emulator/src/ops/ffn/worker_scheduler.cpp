// SPDX-License-Identifier: Apache-2.0
// Attention apart from the experts: takes what attention workers have sent to this one.
#include <cstring>

#include "aclnnop/ffn.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/ffn/worker_context.h"

EMU_OPERATOR(InplaceFfnWorkerScheduler,
             (aclTensor *scheduleContextRef, int32_t syncGroupSize, int32_t executeMode)) {
  using namespace emu;
  constexpr const char *op = "aclnnInplaceFfnWorkerScheduler";
  Check check(op);
  check.required("scheduleContextRef", scheduleContextRef);
  if (check.ok() && !chip_is_950() && std::strncmp(soc_name(), "Ascend910_93", 12) != 0) {
    return fail(kNoKernel,
                "%s: the chip is %s; chips of the 950 and the 910_93 series have this operator, "
                "which ACLNN_PY_EMULATOR_SOC=Ascend950PR_9599 emulates",
                op, soc_name());
  }
  check.dtype("scheduleContextRef", scheduleContextRef);
  check.rank("scheduleContextRef", scheduleContextRef, 1, 1);
  check.shape("scheduleContextRef", scheduleContextRef, dense_layout(&kWorkerContextBytes, 1));
  if (!check.ok()) return check.status();
  check.that(layout_of(*scheduleContextRef).is_dense() && scheduleContextRef->offset % 8 == 0,
             "scheduleContextRef has gaps or begins %lld bytes into its memory; it must be "
             "contiguous and begin at a multiple of 8",
             static_cast<long long>(scheduleContextRef->offset));
  check.that(syncGroupSize > 0, "syncGroupSize is %d; allowed: 1 to session_num of the context",
             syncGroupSize);
  check.that(executeMode == 0, "executeMode is %d; only 0 (once) is supported", executeMode);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t position = plan.in_place(scheduleContextRef);
  plan.waits();
  return plan.finish(
      [=](PlanContext &c) {
        WorkerContext context(op, static_cast<char *>(c.tensor(position).view_data()));
        std::vector<WorkerBatch> taken;
        if (context.ended()) return Status{0};
        if (const Status s = context.read()) return s;
        if (const Status s = context.receive(syncGroupSize, &taken)) return s;
        return context.publish(taken);
      },
      workspaceSize, executor);
}
EMU_CATCH
