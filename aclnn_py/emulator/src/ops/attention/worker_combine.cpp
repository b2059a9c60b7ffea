// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Attention apart from the experts: the results of a token's experts, times their weights, become
// one row.
#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/memory.h"
#include "ops/attention/worker_scheduler.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnAttentionWorkerCombine";
constexpr int64_t kMostExperts = 64;

struct CombineCall {
  const aclTensor *context, *scales, *layer;
  int64_t width, dtype, schedules;
  const aclTensor *y, *next_layer;
};

Check check_call(const CombineCall &a) {
  Check check(kOp);
  check.required("scheduleContext", a.context).required("expertScales", a.scales);
  check.required("layerId", a.layer).required("y", a.y).required("nextLayerId", a.next_layer);
  check.that(!chip_is_950(), "the chip is %s, which does not have this operator", soc_name());
  check.dtype("expertScales", a.scales).dtype("layerId", a.layer).dtype("y", a.y);
  check.dtype("nextLayerId", a.next_layer);
  check_attention_context(check, "scheduleContext", a.context);
  check.rank("expertScales", a.scales, 2, 2);
  if (!check.ok()) return check;
  const int64_t tokens = a.scales->shape[0], experts = a.scales->shape[1], one = 1;
  const int64_t made[] = {tokens, a.width};
  check.that(tokens >= 1 && experts >= 1 && experts <= kMostExperts,
             "expertScales has shape %s; allowed: a token or more, with 1 to %lld experts",
             shape_text(layout_of(*a.scales)).c_str(), wide(kMostExperts));
  check.that(a.width >= 1, "hiddenSize is %lld; allowed: from 1 on", wide(a.width));
  check.that(a.dtype == 0 || a.dtype == 1, "tokenDtype is %lld; allowed: 0, 1", wide(a.dtype));
  check.that(a.schedules == 0 || a.schedules == 1, "needSchedule is %lld; allowed: 0, 1",
             wide(a.schedules));
  if (!check.ok()) return check;
  check.dtype_in("y", a.y->dtype, dtype_set(a.dtype == 0 ? ACL_FLOAT16 : ACL_BF16));
  check.shape("y", a.y, dense_layout(made, 2));
  check.shape("layerId", a.layer, dense_layout(&one, 1));
  check.shape("nextLayerId", a.next_layer, dense_layout(&one, 1));
  return check;
}

struct CombinePlaces {
  size_t context, scales, layer, y, next_layer;
  int64_t tokens, experts, width;
  bool schedules;
};

// The rows that came back for the micro batch the context names.
Status find_rows(const char *context, const CombinePlaces &p, aclDataType dtype, View *rows) {
  using namespace attention_context;
  const auto batches = field<uint32_t>(context, kMicroBatches),
             batch = field<uint32_t>(context, kReadyBatch),
             size = field<uint32_t>(context, kMicroBatchSize),
             each = field<uint32_t>(context, kExperts);
  if (size != p.tokens || each != p.experts)
    return fail(kKernelFault,
                "%s: micro_batch_size and selected_expert_num of the context are %u and %u; "
                "expertScales has shape (%lld, %lld), which must be the same. What a row of a "
                "shared expert would count is not documented.",
                kOp, size, each, wide(p.tokens), wide(p.experts));
  if (batch >= batches)
    return fail(kKernelFault, "%s: micro_batch_id of the context is %u; micro_batch_num is %u.",
                kOp, batch, batches);
  const Checked each_batch = Checked(p.tokens) * p.experts * p.width * item_size(dtype),
                needed = each_batch * int64_t{batches};
  const auto room = field<uint64_t>(context, kTokenBytes);
  if (!needed.fits() || static_cast<uint64_t>(needed.value()) > room)
    return fail(kKernelFault,
                "%s: token_data_buf_size of the context is %llu; %u micro batches of %lld rows of "
                "%lld elements do not fit there.",
                kOp, static_cast<unsigned long long>(room), batches, wide(p.tokens * p.experts),
                wide(p.width));
  auto *data = reinterpret_cast<char *>(field<uint64_t>(context, kTokens)) +
               each_batch.value() * int64_t{batch};
  if (reinterpret_cast<uintptr_t>(data) % 2 != 0 ||
      !on_device(data, static_cast<size_t>(each_batch.value()), nullptr))
    return fail(kKernelFault,
                "%s: token_data_buf of the context gives micro batch %u rows at %p, which is %s.",
                kOp, batch, static_cast<void *>(data), describe_address(data).c_str());
  rows->data = data;
  rows->dtype = dtype;
  rows->layout.push(p.tokens * p.experts * p.width, 1);
  return 0;
}

Status run_combine(PlanContext &c, const CombinePlaces &p) {
  auto *context = static_cast<char *>(c.tensor(p.context).view_data());
  if (p.schedules) {
    bool ready = false;
    const Status status = wait_for_batch(kOp, context, &ready);
    if (status != 0 || !ready) return status;
  }
  const View y = view_of(c.tensor(p.y));
  View tokens;
  if (const Status status = find_rows(context, p, y.dtype, &tokens)) return status;
  const std::vector<float> scales = read_all<float>(c, p.scales, p.tokens * p.experts, 0.0f);
  const std::vector<int32_t> layer = read_all<int32_t>(c, p.layer, 1, 0);
  Operands operands;
  const RowSource<float> from(operands.safe(tokens, {y}));
  const RowTarget<float> to(y);
  for_each_row<float>(p.tokens, p.width, 2, [&](int64_t token, float *sums) {
    float *row = sums + p.width;
    std::fill_n(sums, p.width, 0.0f);
    for (int64_t k = 0; k < p.experts; ++k) {
      const int64_t at = token * p.experts + k;
      from.read(at * p.width, p.width, row);
      for (int64_t i = 0; i < p.width; ++i) sums[i] += scales[static_cast<size_t>(at)] * row[i];
    }
    to.write(token * p.width, p.width, sums);
  });
  const auto next = static_cast<int32_t>(static_cast<uint32_t>(layer[0]) + 1);
  RowTarget<int32_t>(view_of(c.tensor(p.next_layer))).write(0, 1, &next);
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AttentionWorkerCombine,
             (const aclTensor *scheduleContext, const aclTensor *expertScales,
              const aclTensor *layerId, int64_t hiddenSize, int64_t tokenDtype,
              int64_t needSchedule, aclTensor *y, aclTensor *nextLayerId)) {
  using namespace emu;
  const Check check = check_call({scheduleContext, expertScales, layerId, hiddenSize, tokenDtype,
                                  needSchedule, y, nextLayerId});
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  CombinePlaces p{};
  p.schedules = needSchedule == 1;
  p.context = p.schedules ? plan.in_place(scheduleContext) : plan.input(scheduleContext);
  p.scales = plan.input(expertScales), p.layer = plan.input(layerId);
  p.y = plan.output(y), p.next_layer = plan.output(nextLayerId);
  p.tokens = expertScales->shape[0], p.experts = expertScales->shape[1], p.width = hiddenSize;
  if (p.schedules) plan.waits();
  return plan.finish([p](PlanContext &c) { return run_combine(c, p); }, workspaceSize, executor);
}
EMU_CATCH
