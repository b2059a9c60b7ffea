// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The C calls on executors: repeatable mode, destruction. New addresses are in
// executor_addresses.cpp.
#include "aclnn/aclnn_base.h"
#include "core/export.h"
#include "core/process.h"
#include "core/statuses.h"
#include "faults/objects.h"
#include "meta/executor_state.h"

namespace emu {

Status check_executor(const char *routine, aclOpExecutor *executor) {
  if (executor == nullptr) return fail(kInnerNull, "%s: the executor is null.", routine);
  if (!executors().live(executor)) {
    return fail(kInvalid,
                "%s: %p is not a live executor (phase two consumed it, it was destroyed, or it "
                "never was one).",
                routine, static_cast<void *>(executor));
  }
  return 0;
}

}  // namespace emu

using emu::fail;

EMU_EXPORT aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) try {
  EMU_ENTER();
  if (const emu::Status s = emu::check_executor(__func__, executor)) return s;
  if (!executor->plan->repeatable_allowed) {
    return fail(emu::kInner, "aclSetAclOpExecutorRepeatable: %s cannot be repeated.",
                executor->plan->op);
  }
  executor->repeatable.store(true);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) try {
  EMU_ENTER();
  if (const emu::Status s = emu::check_executor(__func__, executor)) return s;
  // Queued runs share the plan: it goes with the last of them.
  if (!emu::executors().retire(executor)) return emu::check_executor(__func__, executor);
  emu::faults::ended(executor);
  emu::executors().destroy(executor);
  return 0;
}
EMU_CATCH
