// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeUpdateExpert: which copy of an expert a token goes to, and which of its experts are too light
// to be asked.
#include <cinttypes>

#include "aclnnop/mc2.h"
#include "ops/moe/scores.h"
#include "ops/op.h"

namespace emu {
namespace {

struct Arguments {
  const aclTensor *ids, *table, *scales, *threshold, *mask;
  int64_t rank, world, mode;
  const aclTensor *out, *out_mask;
};

Check check_arguments(const Arguments &a) {
  Check check("aclnnMoeUpdateExpert");
  check.required("expertIds", a.ids).required("eplbTable", a.table);
  check.optional("expertScalesOptional", a.scales);
  check.optional("pruningThresholdOptional", a.threshold).optional("activeMaskOptional", a.mask);
  check.required("balancedExpertIds", a.out);
  if (a.scales) check.required("balancedActiveMask", a.out_mask);
  check.optional("balancedActiveMask", a.out_mask);
  check.dtype("expertIds", a.ids).dtype("eplbTable", a.table);
  check.dtype("expertScalesOptional", a.scales).dtype("pruningThresholdOptional", a.threshold);
  check.dtype("activeMaskOptional", a.mask).dtype("balancedExpertIds", a.out);
  check.dtype("balancedActiveMask", a.out_mask);
  if (!check.ok()) return check;
  check.same_dtype("balancedExpertIds", a.out->dtype, "expertIds", a.ids->dtype);
  check.tiling();
  check.rank("expertIds", a.ids, 2, 2).rank("eplbTable", a.table, 2, 2);
  if (!check.ok()) return check;
  const int64_t tokens = a.ids->shape[0], each = a.ids->shape[1], experts = a.table->shape[0];
  check.that(tokens > 0 && tokens <= 512,
             "expertIds has %" PRId64 " tokens (BS); allowed: 1 to 512", tokens);
  check.that(experts > 0 && experts <= 1024,
             "eplbTable has %" PRId64 " experts; allowed: 1 to 1024", experts);
  check.that(each > 0 && each <= std::min<int64_t>(16, experts),
             "expertIds has %" PRId64 " experts per token (K); allowed: 1 to %" PRId64, each,
             std::min<int64_t>(16, experts));
  check.that(a.mode == 0 || a.mode == 1,
             "balanceMode is %" PRId64 "; it can be 0 (by rank) or 1 (by token)", a.mode);
  check.that(a.mode != 0 || (a.world >= 2 && a.world <= 768),
             "worldSize is %" PRId64 "; it must be in [2, 768]", a.world);
  check.that(a.mode != 0 || (a.rank >= 0 && a.rank < a.world),
             "localRankId is %" PRId64 "; it must be in [0, %" PRId64 ")", a.rank, a.world);
  const int64_t columns = a.table->shape[1];
  check.that(columns >= 2 && (a.mode != 0 || columns - 1 <= a.world),
             "eplbTable has %" PRId64 " columns; it must have 2 to worldSize + 1", columns);
  check.that((a.scales == nullptr) == (a.threshold == nullptr),
             "expertScalesOptional and pruningThresholdOptional must be given together");
  check.that(!a.mask || a.scales,
             "activeMaskOptional is given; then expertScalesOptional and pruningThresholdOptional "
             "must be given too");
  const int64_t whole[] = {tokens, each};
  const Layout both = dense_layout(whole, 2);
  check.shape("balancedExpertIds", a.out, both);
  if (!check.ok() || !a.scales) return check;
  check.shape("expertScalesOptional", a.scales, both).shape("balancedActiveMask", a.out_mask, both);
  check.rank("pruningThresholdOptional", a.threshold, 1, 2);
  if (!check.ok()) return check;
  const Layout threshold = layout_of(*a.threshold);
  check.that(threshold.shape[threshold.rank - 1] == each && a.threshold->numel() == each,
             "pruningThresholdOptional has shape %s; expected (%" PRId64 ",) or (1, %" PRId64 ")",
             shape_text(threshold).c_str(), each, each);
  if (a.mask) check.shape("activeMaskOptional", a.mask, dense_layout(&tokens, 1));
  return check;
}

struct Problem {
  int64_t tokens, each, experts, columns, rank, world, mode;
  size_t ids = 0, table = 0, scales = 0, threshold = 0, mask = 0, out = 0, out_mask = 0;
};

Status place(const Problem &p, PlanContext &c) {
  std::vector<int64_t> ids = integers(c, p.ids);
  const std::vector<int64_t> table = integers(c, p.table);
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t expert = ids[i], token = static_cast<int64_t>(i) / p.each;
    if (expert < 0 || expert >= p.experts)
      return fail(kKernelFault,
                  "aclnnMoeUpdateExpert: expertIds names expert %" PRId64 " for token %" PRId64
                  "; eplbTable has %" PRId64,
                  expert, token, p.experts);
    const int64_t *row = table.data() + expert * p.columns, copies = row[0];
    if (copies < 1 || copies >= p.columns)
      return fail(kKernelFault,
                  "aclnnMoeUpdateExpert: eplbTable gives expert %" PRId64 " %" PRId64
                  " copies; it has room for 1 to %" PRId64,
                  expert, copies, p.columns - 1);
    // a copy for ranks that lie together, or for tokens in turn
    const int64_t which = p.mode == 0 ? p.rank / ((p.world + copies - 1) / copies) : token % copies;
    ids[i] = row[1 + std::min(which, copies - 1)];
  }
  RowTarget<int64_t>(view_of(c.tensor(p.out)))
      .write(0, static_cast<int64_t>(ids.size()), ids.data());
  return 0;
}

Status prune(const Problem &p, PlanContext &c) {
  const std::vector<int64_t> active = integers(c, p.mask);
  const auto threshold = read_all<float>(c, p.threshold, p.each, 0.0f);
  const auto scales = read_all<float>(c, p.scales, p.tokens * p.each, 0.0f);
  std::vector<int32_t> kept(scales.size());
  for (int64_t token = 0; token < p.tokens; ++token) {
    if (token > 0 && !active.empty() && active[static_cast<size_t>(token)] != 0 &&
        active[static_cast<size_t>(token - 1)] == 0)
      return fail(kKernelFault,
                  "aclnnMoeUpdateExpert: activeMask has a true value behind a false one, at token "
                  "%" PRId64 "; true values come first",
                  token);
    const float *of_token = scales.data() + token * p.each;
    float least = 0;
    for (int64_t j = 0; j < p.each; ++j) least += of_token[j] * threshold[static_cast<size_t>(j)];
    for (int64_t j = 0; j < p.each; ++j)
      kept[static_cast<size_t>(token * p.each + j)] =
          (active.empty() || active[static_cast<size_t>(token)] != 0) && !(of_token[j] < least);
  }
  RowTarget<int32_t>(view_of(c.tensor(p.out_mask)))
      .write(0, static_cast<int64_t>(kept.size()), kept.data());
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeUpdateExpert,
             (const aclTensor *expertIds, const aclTensor *eplbTable,
              const aclTensor *expertScalesOptional, const aclTensor *pruningThresholdOptional,
              const aclTensor *activeMaskOptional, int64_t localRankId, int64_t worldSize,
              int64_t balanceMode, aclTensor *balancedExpertIds, aclTensor *balancedActiveMask)) {
  using namespace emu;
  const Check check = check_arguments(
      {expertIds, eplbTable, expertScalesOptional, pruningThresholdOptional, activeMaskOptional,
       localRankId, worldSize, balanceMode, balancedExpertIds, balancedActiveMask});
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  Problem p{expertIds->shape[0], expertIds->shape[1], eplbTable->shape[0], eplbTable->shape[1],
            localRankId,         worldSize,           balanceMode};
  p.ids = plan.input(expertIds);
  p.table = plan.input(eplbTable);
  p.scales = plan.input(expertScalesOptional);
  p.threshold = plan.input(pruningThresholdOptional);
  p.mask = plan.input(activeMaskOptional);
  p.out = plan.output(balancedExpertIds);
  const bool prunes = expertScalesOptional != nullptr;
  p.out_mask = prunes ? plan.output(balancedActiveMask) : plan.unused(balancedActiveMask);
  return plan.finish(
      [p, prunes](PlanContext &c) {
        if (const Status s = place(p, c)) return s;
        return prunes ? prune(p, c) : Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
