// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Attention over all keys made of attentions over parts of them: AttentionUpdate from their
// log-sum-exps, RingAttentionUpdate from the highest scores and the sums of two parts.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <limits>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/attention.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostParts = 128, kMostParts950 = 16, kWidthUnit = 8, kWidest = 512;

// lse_m = log(sum(exp(lse_i))), out = sum(out_i * exp(lse_i - lse_m)).
struct Update {
  size_t lse_at, local_at, out_at, total_at, parts;
  int64_t rows, width;
  bool with_total;
};

Status run_update(const Update &u, PlanContext &c) {
  Operands operands;
  const View out = view_of(c.tensor(u.out_at));
  const View total = u.with_total ? view_of(c.tensor(u.total_at)) : View();
  std::vector<RowSource<float>> sums, locals;
  for (size_t i = 0; i < u.parts; ++i) {
    sums.emplace_back(operands.safe(view_of(c.tensor(u.lse_at + i)), {out, total}));
    locals.emplace_back(operands.safe(view_of(c.tensor(u.local_at + i)), {out, total}));
  }
  const RowTarget<float> target(out);
  for_each_row<float>(u.rows, u.width, 2, [&](int64_t row, float *memory) {
    float *result = memory, *part = memory + u.width;
    std::vector<float> lse(u.parts);
    float highest = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < u.parts; ++i) {
      sums[i].read(row, 1, &lse[i]);
      highest = std::max(highest, lse[i]);
    }
    double sum = 0.0;
    for (const float value : lse) sum += std::exp(static_cast<double>(value) - highest);
    const double joined = highest + std::log(sum);
    std::fill(result, result + u.width, 0.0f);
    for (size_t i = 0; i < u.parts; ++i) {
      locals[i].read(row * u.width, u.width, part);
      const auto weight = static_cast<float>(std::exp(static_cast<double>(lse[i]) - joined));
      for (int64_t j = 0; j < u.width; ++j) result[j] += weight * part[j];
    }
    target.write(row * u.width, u.width, result);
    if (!u.with_total) return;
    const auto stored = static_cast<float>(joined);
    RowTarget<float>(total).write(row, 1, &stored);
  });
  return 0;
}

// How the rows of the scores' statistics lie beside those of the results.
enum class RingForm {
  kHidden,  // (S, B, H) and (B, N, S, 8)
  kPacked,  // (T, N, D) and (T, N, 8)
  kHeads,   // (T, N, D) and for each sequence (N, S, 8)
};

struct RingCall {
  const char *op;
  const aclTensor *attention[2], *highest[2], *sum[2];
  const aclTensor *ends;
  const char *layout, *statistics_layout;
  const aclTensor *out, *highest_out, *sum_out;
};

struct Ring {
  const char *op;
  RingForm form;
  int64_t batch = 0, tokens = 0, heads = 0, width = 0;
  size_t attention_at[2], highest_at[2], sum_at[2], ends_at, out_at, highest_out_at, sum_out_at;
};

constexpr int64_t kLanes = 8;  // each statistic stands there eight times

Status check_ring(const RingCall &call, Ring *ring) {
  Check check(call.op);
  check.required("prevAttnOut", call.attention[0])
      .required("prevSoftmaxMax", call.highest[0])
      .required("prevSoftmaxSum", call.sum[0])
      .required("curAttnOut", call.attention[1])
      .required("curSoftmaxMax", call.highest[1])
      .required("curSoftmaxSum", call.sum[1])
      .optional("actualSeqQlenOptional", call.ends)
      .required("attnOutOut", call.out)
      .required("softmaxMaxOut", call.highest_out)
      .required("softmaxSumOut", call.sum_out);
  const aclTensor *first = call.attention[0];
  check.dtype("prevAttnOut", first);
  if (check.ok()) {
    for (const auto &[name, tensor] :
         {std::pair{"curAttnOut", call.attention[1]}, std::pair{"attnOutOut", call.out}}) {
      check.dtype(name, tensor).same_dtype(name, tensor->dtype, "prevAttnOut", first->dtype);
    }
  }
  check.dtype("prevSoftmaxMax", call.highest[0]).dtype("prevSoftmaxSum", call.sum[0]);
  check.dtype("curSoftmaxMax", call.highest[1]).dtype("curSoftmaxSum", call.sum[1]);
  check.dtype("actualSeqQlenOptional", call.ends);
  check.dtype("softmaxMaxOut", call.highest_out).dtype("softmaxSumOut", call.sum_out);
  if (!check.ok()) return check.status();
  check.rank("prevAttnOut", first, 3, 3);
  if (check.ok()) check.shape("curAttnOut", call.attention[1], layout_of(*first));
  if (check.ok()) check.shape("attnOutOut", call.out, layout_of(*first));
  check.rank("prevSoftmaxMax", call.highest[0], 3, 4);
  if (!check.ok()) return check.status();
  const Layout statistics = layout_of(*call.highest[0]);
  check.shape("prevSoftmaxSum", call.sum[0], statistics)
      .shape("curSoftmaxMax", call.highest[1], statistics)
      .shape("curSoftmaxSum", call.sum[1], statistics)
      .shape("softmaxMaxOut", call.highest_out, statistics)
      .shape("softmaxSumOut", call.sum_out, statistics);
  check.tiling();
  const char *layout = call.layout ? call.layout : "SBH";
  const char *second = call.statistics_layout ? call.statistics_layout : "";
  const bool packed = std::strcmp(layout, "TND") == 0;
  check.that(packed || std::strcmp(layout, "SBH") == 0,
             "inputLayoutOptional is \"%.40s\"; allowed: SBH, TND", layout);
  const bool same = std::strcmp(second, "TND") == 0;
  check.that(same || *second == 0 || std::strcmp(second, "SBH") == 0,
             "inputSoftmaxLayoutOptional is \"%.40s\"; allowed: SBH, TND and the empty text",
             second);
  check.that(!packed || call.ends != nullptr,
             "actualSeqQlenOptional is null; inputLayoutOptional TND needs it");
  if (!check.ok()) return check.status();
  ring->form = !packed ? RingForm::kHidden : same ? RingForm::kPacked : RingForm::kHeads;
  const int last = statistics.rank - 1;
  const int64_t *s = statistics.shape;
  if (!packed) {
    ring->tokens = first->shape[0];
    ring->batch = first->shape[1];
    ring->heads = last == 3 ? s[1] : 0;
    check.that(last == 3 && s[0] == ring->batch && s[2] == ring->tokens && s[3] == kLanes &&
                   ring->heads > 0 && first->shape[2] % ring->heads == 0,
               "prevSoftmaxMax has shape %s; beside %s it is (%" PRId64 ", heads, %" PRId64 ", 8)",
               shape_text(statistics).c_str(), shape_text(layout_of(*first)).c_str(), ring->batch,
               ring->tokens);
    if (check.ok()) ring->width = first->shape[2] / ring->heads;
    return check.status();
  }
  ring->tokens = first->shape[0];
  ring->heads = first->shape[1];
  ring->width = first->shape[2];
  check.that(last == 2 && s[0] == ring->tokens && s[1] == ring->heads && s[2] == kLanes,
             "prevSoftmaxMax has shape %s; beside %s it is (%" PRId64 ", %" PRId64 ", 8)",
             shape_text(statistics).c_str(), shape_text(layout_of(*first)).c_str(), ring->tokens,
             ring->heads);
  check.that(ring->heads <= 256, "prevAttnOut has %" PRId64 " heads; at most 256 are allowed",
             ring->heads);
  check.that(ring->width <= 768 && ring->width % 64 == 0,
             "prevAttnOut has heads of %" PRId64
             " elements; with inputLayoutOptional TND it is a multiple of 64 up to 768",
             ring->width);
  check.rank("actualSeqQlenOptional", call.ends, 1, 1);
  if (check.ok()) ring->batch = call.ends->shape[0] - 1;
  check.that(ring->batch >= 1,
             "actualSeqQlenOptional has %" PRId64
             " elements; it has a 0 and the end of each "
             "sequence",
             ring->batch + 1);
  return check.status();
}

Status run_ring(const Ring &r, PlanContext &c) {
  // First token, tokens: where the statistics of a sequence lie, where these are by heads.
  std::vector<int64_t> ends;
  if (r.form != RingForm::kHidden) {
    ends = read_all<int64_t>(c, r.ends_at, r.batch + 1, 0);
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i] < (i ? ends[i - 1] : 0) || ends[i] > r.tokens || (i == 0 && ends[0] != 0)) {
        return fail(kKernelFault,
                    "%s: actualSeqQlenOptional has %lld at %zu; it rises from 0 to at most %lld",
                    r.op, static_cast<long long>(ends[i]), i, static_cast<long long>(r.tokens));
      }
    }
  }
  const View out = view_of(c.tensor(r.out_at)), highest_out = view_of(c.tensor(r.highest_out_at)),
             sum_out = view_of(c.tensor(r.sum_out_at));
  Operands operands;
  const auto source = [&](size_t at) {
    return RowSource<float>(operands.safe(view_of(c.tensor(at)), {out, highest_out, sum_out}));
  };
  const RowSource<float> parts[2] = {source(r.attention_at[0]), source(r.attention_at[1])};
  const RowSource<float> highest[2] = {source(r.highest_at[0]), source(r.highest_at[1])};
  const RowSource<float> sums[2] = {source(r.sum_at[0]), source(r.sum_at[1])};
  const RowTarget<float> target(out), highest_target(highest_out), sum_target(sum_out);
  const bool hidden = r.form == RingForm::kHidden;
  const int64_t rows = r.tokens * r.heads * (hidden ? r.batch : 1);
  for_each_row<float>(rows, r.width, 2, [&](int64_t row, float *memory) {
    int64_t at = row * kLanes;  // of the statistics; `row` is that of the results
    const int64_t head = row % r.heads, token = row / r.heads;
    if (hidden) {
      const int64_t b = token % r.batch, s = token / r.batch;
      at = ((b * r.heads + head) * r.tokens + s) * kLanes;
    } else if (r.form == RingForm::kHeads) {
      const auto next = std::upper_bound(ends.begin(), ends.end(), token);
      if (next == ends.end()) return;  // tokens of nobody
      const int64_t first = *(next - 1), length = *next - first;
      at = (first * r.heads + head * length + token - first) * kLanes;
    } else if (token >= ends.back()) {
      return;
    }
    float high[2], sum[2];
    for (int i = 0; i < 2; ++i) {
      highest[i].read(at, 1, &high[i]);
      sums[i].read(at, 1, &sum[i]);
    }
    const float most = std::max(high[0], high[1]);
    double weight[2], total = 0.0;
    for (int i = 0; i < 2; ++i) {
      weight[i] = sum[i] * std::exp(static_cast<double>(high[i]) - most);
      total += weight[i];
    }
    float *result = memory, *part = memory + r.width;
    std::fill(result, result + r.width, 0.0f);
    for (int i = 0; i < 2; ++i) {
      parts[i].read(row * r.width, r.width, part);
      const auto factor = static_cast<float>(weight[i] / total);
      for (int64_t j = 0; j < r.width; ++j) result[j] += factor * part[j];
    }
    target.write(row * r.width, r.width, result);
    float lanes[kLanes];
    std::fill(lanes, lanes + kLanes, most);
    highest_target.write(at, kLanes, lanes);
    std::fill(lanes, lanes + kLanes, static_cast<float>(total));
    sum_target.write(at, kLanes, lanes);
  });
  return 0;
}

Status plan_ring(const RingCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  Ring ring;
  ring.op = call.op;
  if (const Status s = check_ring(call, &ring)) return s;
  PlanBuilder plan(call.op);
  for (int i = 0; i < 2; ++i) {
    ring.attention_at[i] = plan.input(call.attention[i]);
    ring.highest_at[i] = plan.input(call.highest[i]);
    ring.sum_at[i] = plan.input(call.sum[i]);
  }
  ring.ends_at = plan.input(call.ends);
  ring.out_at = plan.output(call.out);
  ring.highest_out_at = plan.output(call.highest_out);
  ring.sum_out_at = plan.output(call.sum_out);
  if (call.out->numel() == 0)
    return plan.finish([](PlanContext &) { return Status{0}; }, workspace_size, executor);
  return plan.finish([ring](PlanContext &c) { return run_ring(ring, c); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AttentionUpdate, (const aclTensorList *lse, const aclTensorList *localOut,
                               int64_t updateType, aclTensor *out, aclTensor *lseOutOptional)) {
  emu::Check check("aclnnAttentionUpdate");
  check.required("lse", lse)
      .required("localOut", localOut)
      .required("out", out)
      .optional("lseOutOptional", lseOutOptional);
  if (!check.ok()) return check.status();
  const size_t parts = lse->members.size();
  const int64_t most = emu::chip_is_950() ? emu::kMostParts950 : emu::kMostParts;
  check.that(parts >= 1 && parts <= static_cast<size_t>(most),
             "lse has %zu tensors; allowed: 1 to %" PRId64, parts, most);
  check.that(localOut->members.size() == parts, "localOut has %zu tensors and lse %zu",
             localOut->members.size(), parts);
  check.that(updateType == 0 || updateType == 1, "updateType is %" PRId64 "; allowed: 0, 1",
             updateType);
  for (size_t i = 0; check.ok() && i < parts; ++i) {
    check.required("lse", lse->members[i]).required("localOut", localOut->members[i]);
    check.dtype("lse", lse->members[i]).dtype("localOut", localOut->members[i]);
  }
  check.dtype("out", out).dtype("lseOutOptional", lseOutOptional);
  check.that((updateType == 1) == (lseOutOptional != nullptr),
             "lseOutOptional is %s; with updateType %" PRId64 " it must%s be",
             lseOutOptional ? "given" : "null", updateType, updateType == 1 ? "" : " not");
  if (!check.ok()) return check.status();
  const aclTensor &first = *localOut->members[0];
  check.same_dtype("out", out->dtype, "localOut", first.dtype);
  check.rank("lse", lse->members[0], 1, 1).rank("localOut", &first, 2, 2);
  for (size_t i = 0; check.ok() && i < parts; ++i) {
    check.same_dtype("localOut", localOut->members[i]->dtype, "localOut[0]", first.dtype)
        .shape("lse", lse->members[i], emu::layout_of(*lse->members[0]))
        .shape("localOut", localOut->members[i], emu::layout_of(first));
  }
  check.that(check.ok() && first.shape[0] == lse->members[0]->shape[0],
             "localOut has shape %s; its rows must be the elements of lse, %" PRId64,
             emu::shape_text(emu::layout_of(first)).c_str(),
             check.ok() ? lse->members[0]->shape[0] : 0);
  check.that(check.ok() && first.shape[1] >= emu::kWidthUnit && first.shape[1] <= emu::kWidest &&
                 first.shape[1] % emu::kWidthUnit == 0,
             "localOut has heads of %" PRId64 " elements; allowed: multiples of 8 from 8 to 512",
             check.ok() ? first.shape[1] : 0);
  if (check.ok()) check.shape("out", out, emu::layout_of(first));
  if (check.ok() && lseOutOptional)
    check.shape("lseOutOptional", lseOutOptional, emu::layout_of(*lse->members[0]));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan("aclnnAttentionUpdate");
  emu::Update update{};
  update.lse_at = plan.input_list(lse);
  update.local_at = plan.input_list(localOut);
  update.out_at = plan.output(out);
  update.with_total = updateType == 1;
  update.total_at = plan.output(lseOutOptional);
  update.parts = parts;
  update.rows = first.shape[0];
  update.width = first.shape[1];
  return plan.finish([update](emu::PlanContext &c) { return emu::run_update(update, c); },
                     workspaceSize, executor);
}
EMU_CATCH

#define RING_TENSORS                                                                               \
  const aclTensor *prevAttnOut, const aclTensor *prevSoftmaxMax, const aclTensor *prevSoftmaxSum,  \
      const aclTensor *curAttnOut, const aclTensor *curSoftmaxMax, const aclTensor *curSoftmaxSum, \
      const aclTensor *actualSeqQlenOptional, const char *inputLayoutOptional
#define RING_RESULTS aclTensor *attnOutOut, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut
#define RING_CALL(OP, LAYOUT)                                                                \
  const emu::RingCall call {                                                                 \
    OP, {prevAttnOut, curAttnOut}, {prevSoftmaxMax, curSoftmaxMax},                          \
        {prevSoftmaxSum, curSoftmaxSum}, actualSeqQlenOptional, inputLayoutOptional, LAYOUT, \
        attnOutOut, softmaxMaxOut, softmaxSumOut                                             \
  }

EMU_OPERATOR(RingAttentionUpdate, (RING_TENSORS, RING_RESULTS)) {
  RING_CALL("aclnnRingAttentionUpdate", nullptr);
  return emu::plan_ring(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RingAttentionUpdateV2,
             (RING_TENSORS, const char *inputSoftmaxLayoutOptional, RING_RESULTS)) {
  RING_CALL("aclnnRingAttentionUpdateV2", inputSoftmaxLayoutOptional);
  return emu::plan_ring(call, workspaceSize, executor);
}
EMU_CATCH
