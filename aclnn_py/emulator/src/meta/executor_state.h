// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/slots.h"
#include "core/stream.h"
#include "meta/executor.h"
#include "meta/parameters.h"
#include "meta/repeated_runs.h"

namespace emu {

// The state behind an executor handle. Queued runs share it with the handle.
struct PlanState {
  const char *op = "";
  Kernel kernel;
  std::vector<PlanTensor> tensors;
  uint64_t workspace = 0;
  uint64_t moves = 0;     // of all tensors, at phase one
  int32_t arguments = 0;  // tensors and lists in the call, null ones too
  WorkspaceRule rule = WorkspaceRule::kComposite;
  bool repeatable_allowed = true, waits = false;
  Status phase_two_code = 0;
  RunBy run_by = RunBy::anyone;
  std::optional<ExecutorKind> kind;  // once an address was exchanged
  SpareRuns spare;
};

}  // namespace emu

struct aclOpExecutor {
  std::shared_ptr<emu::PlanState> plan;
  std::atomic<bool> repeatable{false};
  std::atomic<uint64_t> prepared_ns{0};  // what phase one took, until a run takes it over
};

namespace emu {
Slots<aclOpExecutor> &executors();

// 561103 for null, 161002 for a handle that is not a live executor.
Status check_executor(const char *routine, aclOpExecutor *executor);

// Takes the addresses that aclSetRawTensorAddr gave to tensors of the plan, as executors do that
// are composed of several kernels. The others have read their addresses in phase one: 161002.
Status follow_moves(const PlanState &plan, std::vector<PlanTensor> &tensors);
}  // namespace emu
