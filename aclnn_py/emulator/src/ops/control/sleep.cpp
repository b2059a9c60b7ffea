// SPDX-License-Identifier: Apache-2.0
// A kernel that does nothing for a number of cycles of the chip's clock.
#include <algorithm>
#include <chrono>
#include <thread>

#include "aclnnop/control.h"
#include "core/cancel.h"
#include "core/event.h"
#include "ops/op.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnSleep";
constexpr double kCyclesPerSecond = 1.65e9;  // of the 950 series
// How long a stream that is aborted waits at most.
constexpr std::chrono::duration<double> kPause(0.001);

Status sleep_for_cycles(int64_t cycles) {
  const std::chrono::duration<double> wanted(static_cast<double>(cycles) / kCyclesPerSecond),
      limit(static_cast<double>(execute_limit()) * 1e-6);
  const auto end = std::min(wanted, limit);
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const std::chrono::duration<double> left = end - (std::chrono::steady_clock::now() - start);
    if (left.count() <= 0.0) break;
    if (wait_cancelled()) return 0;
    std::this_thread::sleep_for(std::min(left, kPause));
  }
  if (wanted <= limit) return 0;
  return fail(ACL_ERROR_RT_AICORE_TIMEOUT,
              "%s: cycles is %lld, %.6g seconds at 1.65 GHz; kernels may take %.6g seconds, which "
              "aclrtSetOpExecuteTimeOut changes.",
              kOp, static_cast<long long>(cycles), wanted.count(), limit.count());
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Sleep, (const aclIntArray *cycles)) {
  using namespace emu;
  Check check(kOp);
  check.required("cycles", cycles);
  if (const Status status = check_chip(check, kNoKernel)) return status;
  check.tiling();
  check.that(cycles->values.size() == 1, "cycles has %zu numbers; allowed: 1",
             cycles->values.size());
  if (!check.ok()) return check.status();
  const int64_t count = cycles->values[0];
  check.that(count > 0, "cycles is [%lld]; allowed: from 1 on", static_cast<long long>(count));
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  plan.waits();
  return plan.finish([count](PlanContext &) { return sleep_for_cycles(count); }, workspaceSize,
                     executor);
}
EMU_CATCH
