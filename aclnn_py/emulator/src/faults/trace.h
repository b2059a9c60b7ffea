// SPDX-License-Identifier: Apache-2.0
// ACLNN_PY_TRACE=FILE in a process without Python: both phases of every operator that is run, in
// the form that `aclnn-py trace` reads.
#pragma once

#include <cstdint>

#include "acl/acl_base_rt.h"
#include "core/status.h"
#include "faults/modes.h"
#include "meta/executor_state.h"

namespace emu::faults {

inline bool tracing() { return mode(kTrace); }

int64_t trace_clock();  // nanoseconds since it was first asked

// Phase one made an executor. It is written when phase two runs it.
void trace_planned(const void *executor, const PlanState &plan, int64_t begun);

// A call of phase two that has returned.
struct TracedRun {
  const char *op;
  const void *executor;
  const void *workspace;
  uint64_t workspace_size;
  aclrtStream stream;
  int64_t begun;
};
void trace_run(const TracedRun &run, Status status);

}  // namespace emu::faults
