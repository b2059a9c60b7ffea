// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Attention apart from the experts: waits until the results of a micro batch have come back.
#include <chrono>
#include <thread>

#include "aclnnop/attention.h"
#include "core/cancel.h"
#include "core/chip.h"
#include "core/memory.h"
#include "core/statuses.h"
#include "ops/attention/worker_scheduler.h"

namespace emu {
namespace {

constexpr auto kPause = std::chrono::microseconds(50);

// Other threads write what is read here while it is read.
int32_t watched(const int32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

bool all_set(const int32_t *flags, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (watched(flags + i) != 1) return false;
  return true;
}

bool has_scheduler() { return chip_is_950() || std::strncmp(soc_name(), "Ascend910_93", 12) == 0; }

}  // namespace

Status wait_for_batch(const char *op, char *context, bool *ready) {
  using namespace attention_context;
  *ready = false;
  const auto batches = field<uint32_t>(context, kMicroBatches);
  const auto *run_flag = reinterpret_cast<const int32_t *>(context + kRunFlag);
  if (watched(run_flag) == 0) return 0;
  if (batches == 0) return fail(kKernelFault, "%s: micro_batch_num of the context is 0", op);
  const uint32_t next = (field<uint32_t>(context, kReadyBatch) % batches + 1) % batches;
  const Checked wanted = Checked(field<uint32_t>(context, kMicroBatchSize)) *
                         int64_t{field<uint32_t>(context, kExperts)};
  const int64_t count = wanted.fits() ? wanted.value() : kUncountable;
  const auto room = field<uint64_t>(context, kFlagBytes);
  const Checked needed = wanted * int64_t{4} * int64_t{batches};
  if (!needed.fits() || static_cast<uint64_t>(needed.value()) > room) {
    return fail(kKernelFault,
                "%s: token_info_buf_size of the context is %llu; %u micro batches of %lld flags "
                "do not fit there",
                op, static_cast<unsigned long long>(room), batches, static_cast<long long>(count));
  }
  const uint64_t address = field<uint64_t>(context, kFlags) +
                           static_cast<uint64_t>(next) * 4 * static_cast<uint64_t>(count);
  auto *flags = reinterpret_cast<int32_t *>(address);
  if (address % sizeof(int32_t) != 0 ||
      !on_device(flags, static_cast<size_t>(count) * 4, nullptr)) {
    return fail(kKernelFault,
                "%s: token_info_buf of the context gives micro batch %u flags at %p, which is %s",
                op, next, static_cast<void *>(flags), describe_address(flags).c_str());
  }
  while (!all_set(flags, count)) {
    if (watched(run_flag) == 0 || wait_cancelled()) return 0;
    std::this_thread::sleep_for(kPause);
  }
  std::memset(flags, 0, static_cast<size_t>(count) * 4);
  std::memcpy(context + kReadyBatch, &next, sizeof next);
  *ready = true;
  return 0;
}

Check &check_attention_context(Check &check, const char *name, const aclTensor *context) {
  constexpr int64_t bytes = attention_context::kBytes;
  check.dtype(name, context).rank(name, context, 1, 1);
  check.shape(name, context, dense_layout(&bytes, 1));
  if (!check.ok()) return check;
  return check.that(layout_of(*context).is_dense() && context->offset % 8 == 0,
                    "%s has gaps or begins %lld bytes into its memory; it must be contiguous and "
                    "begin at a multiple of 8",
                    name, static_cast<long long>(context->offset));
}

}  // namespace emu

EMU_OPERATOR(InplaceAttentionWorkerScheduler, (aclTensor *scheduleContextRef)) {
  using namespace emu;
  constexpr const char *op = "aclnnInplaceAttentionWorkerScheduler";
  Check check(op);
  check.required("scheduleContextRef", scheduleContextRef);
  if (check.ok() && !has_scheduler()) {
    return fail(kNoKernel,
                "%s: the chip is %s; chips of the 950 and the 910_93 series have this operator, "
                "which ACLNN_PY_EMULATOR_SOC=Ascend950PR_9599 emulates",
                op, soc_name());
  }
  check_attention_context(check, "scheduleContextRef", scheduleContextRef);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t context = plan.in_place(scheduleContextRef);
  plan.waits();
  return plan.finish(
      [=](PlanContext &c) {
        bool ready = false;
        return wait_for_batch(op, static_cast<char *>(c.tensor(context).view_data()), &ready);
      },
      workspaceSize, executor);
}
EMU_CATCH
