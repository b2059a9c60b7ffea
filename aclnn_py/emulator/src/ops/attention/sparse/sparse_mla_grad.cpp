// SPDX-License-Identifier: Apache-2.0
// SparseFlashMlaGrad: the arguments, and what phase one makes of them.
#include <cinttypes>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/sparse/sparse_mla.h"

namespace emu {
namespace {

constexpr int64_t kMostGradHeads = 128, kMostGradRatio = 128, kGradWindow = 127;

struct MlaGradSide {
  Named<aclTensor> kv, chosen, ends, used, gradient;
};

struct MlaGradCall {
  const aclTensor *q, *dy, *out, *lse;
  MlaGradSide own, compressed;
  Named<aclTensor> query_ends, used_queries, residuals, counts, compressed_counts, sinks, metadata;
  double scale;
  int64_t ratio, mask, compressed_mask, left, right;
  const char *query_layout, *key_layout;
  const aclTensor *dq;
  Named<aclTensor> sinks_gradient, own_shares, shares;
};

// Programs pass empty tensors for what they do not use.
bool in_use(const Named<aclTensor> &t) { return t && t->numel() != 0; }

class MlaGradRules {
 public:
  MlaGradRules(const MlaGradCall &call, Mla *mla)
      : c_(call), x_(*mla), check_("aclnnSparseFlashMlaGrad") {}

  Status run() {
    arguments();
    if (!check_.ok() || c_.q->numel() == 0) return check_.status();
    check_.tiling();
    queries();
    if (check_.ok()) side(c_.own, &x_.own);
    if (check_.ok() && in_use(c_.compressed.kv)) side(c_.compressed, &x_.compressed);
    if (check_.ok()) modes();
    if (check_.ok()) results();
    return check_.status();
  }

 private:
  void arguments() {
    const std::pair<const char *, const aclTensor *> floats[] = {
        {"query", c_.q}, {"dOut", c_.dy}, {"out", c_.out}, {"dQueryOut", c_.dq}};
    for (const auto &[name, tensor] : floats) check_.required(name, tensor);
    check_.required("lse", c_.lse);
    const Named<aclTensor> options[] = {c_.own.kv,
                                        c_.compressed.kv,
                                        c_.own.chosen,
                                        c_.compressed.chosen,
                                        c_.query_ends,
                                        c_.own.ends,
                                        c_.compressed.ends,
                                        c_.used_queries,
                                        c_.own.used,
                                        c_.compressed.used,
                                        c_.residuals,
                                        c_.counts,
                                        c_.compressed_counts,
                                        c_.sinks,
                                        c_.metadata,
                                        c_.own.gradient,
                                        c_.compressed.gradient,
                                        c_.sinks_gradient,
                                        c_.own_shares,
                                        c_.shares};
    for (const auto &t : options) check_.optional(t.name, t.given);
    check_.required(c_.own.kv.name, c_.own.kv.given);
    check_.required(c_.own.gradient.name, c_.own.gradient.given);
    if (!check_.ok()) return;
    if (in_use(c_.compressed.kv))
      check_.required(c_.compressed.gradient.name, c_.compressed.gradient.given);
    if (in_use(c_.sinks)) check_.required(c_.sinks_gradient.name, c_.sinks_gradient.given);
    for (const auto &[name, tensor] : floats) check_.dtype(name, tensor);
    check_.dtype("lse", c_.lse);
    for (const auto &t : options) check_.dtype(t.name, t.given);
    if (!check_.ok()) return;
    for (const auto &[name, tensor] : floats)
      check_.same_dtype(name, tensor->dtype, "query", c_.q->dtype);
    for (const auto *t : {&c_.own.kv, &c_.compressed.kv, &c_.own.gradient, &c_.compressed.gradient})
      if (*t) check_.same_dtype(t->name, t->given->dtype, "query", c_.q->dtype);
    if (chip_is_950()) return;
    for (const auto *t : {&c_.used_queries, &c_.own.used, &c_.compressed.used, &c_.counts,
                          &c_.compressed_counts, &c_.metadata})
      check_.that(!in_use(*t), "%s is given; only a 950 takes it: pass null", t->name);
  }

  void queries() {
    x_.query = sequence_form(check_, "query", c_.q, "layoutQOptional", c_.query_layout, nullptr);
    if (!check_.ok()) return;
    check_.that(x_.query.heads <= kMostGradHeads, "query has %" PRId64 " heads; allowed: 1 to 128",
                x_.query.heads);
    check_.that(x_.query.width == kMlaWidth,
                "query has heads of %" PRId64 " elements; allowed: 512", x_.query.width);
    check_.that(!x_.query.packed || in_use(c_.query_ends),
                "%s is null; with layoutQOptional TND it is needed", c_.query_ends.name);
    if (!check_.ok()) return;
    if (x_.query.packed) x_.query.batch = c_.query_ends->numel() - 1;
    check_.that(x_.query.batch >= 1, "%s has no sequence", c_.query_ends.name);
    if (x_.query.packed)
      check_lengths(check_, c_.query_ends.name, c_.query_ends.given, LengthList::kOffsets,
                    x_.query.batch);
    if (in_use(c_.used_queries))
      check_lengths(check_, c_.used_queries.name, c_.used_queries.given, LengthList::kCounts,
                    x_.query.batch);
  }

  void side(const MlaGradSide &s, MlaPart *p) {
    p->given = true;
    p->form =
        sequence_form(check_, s.kv.name, s.kv.given, "layoutKvOptional", c_.key_layout, nullptr);
    if (!check_.ok()) return;
    check_.that(p->form.heads == 1 && p->form.width == kMlaWidth,
                "%s has %" PRId64 " heads of %" PRId64 " elements; it must have 1 of 512",
                s.kv.name, p->form.heads, p->form.width);
    check_.that(p->form.packed == x_.query.packed,
                "layoutKvOptional is \"%.40s\"; it must be layoutQOptional", c_.key_layout);
    check_.that(!p->form.packed || in_use(s.ends),
                "%s is null; with layoutKvOptional TND it is needed", s.ends.name);
    check_.that(p->form.packed || p->form.batch == x_.query.batch,
                "%s has %" PRId64 " sequences and query %" PRId64, s.kv.name, p->form.batch,
                x_.query.batch);
    if (!check_.ok()) return;
    p->form.batch = x_.query.batch;
    if (p->form.packed)
      check_lengths(check_, s.ends.name, s.ends.given, LengthList::kOffsets, p->form.batch);
    if (in_use(s.used))
      check_lengths(check_, s.used.name, s.used.given, LengthList::kCounts, p->form.batch);
    if (check_.ok()) check_.shape(s.gradient.name, s.gradient.given, layout_of(*s.kv.given));
  }

  // The shape of query with one head of `last` elements.
  Layout rows(int64_t last) const {
    Layout layout = layout_of(*c_.q);
    layout.shape[layout.rank - 2] = 1;
    layout.shape[layout.rank - 1] = last;
    return layout;
  }

  void modes() {
    const bool both = x_.compressed.given, new_chip = chip_is_950();
    check_.that(
        c_.mask == kMlaBand || (new_chip && (c_.mask == kMlaNoMask || c_.mask == kMlaCausal)),
        "oriMaskMode is %" PRId64 "; allowed: %s", c_.mask, new_chip ? "0, 3, 4" : "4");
    check_.that(
        !both || c_.compressed_mask == kMlaCausal || (new_chip && c_.compressed_mask == kMlaNoMask),
        "cmpMaskMode is %" PRId64 "; allowed: %s", c_.compressed_mask, new_chip ? "0, 3" : "3");
    check_.that(c_.ratio >= 1 && c_.ratio <= kMostGradRatio,
                "cmpRatio is %" PRId64 "; allowed: 1 to 128", c_.ratio);
    check_.that(c_.mask != kMlaBand || (c_.left == kGradWindow && c_.right == 0),
                "oriWinLeft is %" PRId64 " and oriWinRight %" PRId64 "; allowed: 127 and 0",
                c_.left, c_.right);
    check_.that(!both || c_.compressed_mask != kMlaCausal || in_use(c_.residuals),
                "%s is null; with %s and cmpMaskMode 3 it is needed", c_.residuals.name,
                c_.compressed.kv.name);
    check_.that(!in_use(c_.own_shares), "%s is given; no tokens of %s are chosen: pass null",
                c_.own_shares.name, c_.own.kv.name);
    if (!check_.ok()) return;
    if (in_use(c_.residuals))
      check_lengths(check_, c_.residuals.name, c_.residuals.given, LengthList::kCounts,
                    x_.query.batch);
    chosen();
  }

  void chosen() {
    const Named<aclTensor> &list = c_.compressed.chosen;
    if (!x_.compressed.given || !in_use(list)) {
      check_.that(!in_use(c_.shares), "%s is given without a choice of tokens of %s: pass null",
                  c_.shares.name, c_.compressed.kv.name);
      return;
    }
    const int rank = static_cast<int>(c_.q->rank());
    check_.rank(list.name, list.given, rank, rank);
    if (!check_.ok()) return;
    x_.compressed.chosen = list->shape[static_cast<size_t>(rank - 1)];
    check_.shape(list.name, list.given, rows(x_.compressed.chosen));
    if (c_.shares) check_.shape(c_.shares.name, c_.shares.given, rows(x_.compressed.chosen));
    check_.that(c_.compressed_mask == kMlaCausal || in_use(c_.compressed_counts),
                "%s is null; with cmpMaskMode 0 and chosen tokens it is needed",
                c_.compressed_counts.name);
    if (!in_use(c_.compressed_counts)) return;
    Layout counts = rows(1);
    --counts.rank;
    check_.shape(c_.compressed_counts.name, c_.compressed_counts.given, counts);
    x_.compressed_counted = true;
  }

  void results() {
    const Layout query = layout_of(*c_.q);
    const int64_t heads = x_.query.heads;
    Layout sums;
    if (!x_.query.packed) sums.push(x_.query.batch, 0);
    for (const int64_t size : {int64_t{1}, x_.query.tokens, heads}) sums.push(size, 0);
    check_.shape("dOut", c_.dy, query)
        .shape("out", c_.out, query)
        .shape("lse", c_.lse, sums)
        .shape("dQueryOut", c_.dq, query);
    if (in_use(c_.sinks))
      check_.shape(c_.sinks.name, c_.sinks.given, dense_layout(&heads, 1))
          .shape(c_.sinks_gradient.name, c_.sinks_gradient.given, dense_layout(&heads, 1));
    x_.ratio = c_.ratio;
    x_.mask = c_.mask;
    x_.compressed_mask = c_.compressed_mask;
    x_.left = c_.left;
    x_.right = c_.right;
    x_.scale = static_cast<float>(c_.scale);
    x_.with_residuals = in_use(c_.residuals);
  }

  const MlaGradCall &c_;
  Mla &x_;
  Check check_;
};

Status plan_mla_back(const MlaGradCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  auto x = std::make_shared<Mla>();
  x->op = "aclnnSparseFlashMlaGrad";
  if (const Status s = MlaGradRules(c, x.get()).run()) return s;
  PlanBuilder plan(x->op);
  const bool nothing = c.q->numel() == 0, both = x->compressed.given;
  // Empty tensors count as absent.
  const auto input = [&](const Named<aclTensor> &t) {
    const size_t at = plan.input(t.given);
    return in_use(t) ? at : kAbsent;
  };
  const auto result = [&](const Named<aclTensor> &t, bool wanted) {
    const size_t at = wanted ? plan.output(t.given) : plan.unused(t.given);
    return wanted ? at : kAbsent;
  };
  x->query_at = plan.input(c.q);
  x->dy_at = plan.input(c.dy);
  x->out_at = plan.input(c.out);
  x->lse_at = plan.input(c.lse);
  x->own.kv_at = input(c.own.kv);
  x->compressed.kv_at = input(c.compressed.kv);
  plan.unused(c.own.chosen.given);
  x->compressed.chosen_at = input(c.compressed.chosen);
  x->query_ends_at = input(c.query_ends);
  x->own.ends_at = input(c.own.ends);
  x->compressed.ends_at = input(c.compressed.ends);
  x->used_queries_at = input(c.used_queries);
  x->own.used_at = input(c.own.used);
  x->compressed.used_at = input(c.compressed.used);
  x->residuals_at = input(c.residuals);
  plan.unused(c.counts.given);
  x->counts_at = kAbsent;
  x->compressed_counts_at = input(c.compressed_counts);
  x->sinks_at = input(c.sinks);
  plan.unused(c.metadata.given);
  x->dq_at = plan.output(c.dq);
  x->own_gradient_at = result(c.own.gradient, true);
  x->compressed_gradient_at = result(c.compressed.gradient, both);
  x->sinks_gradient_at = result(c.sinks_gradient, in_use(c.sinks));
  plan.unused(c.own_shares.given);
  x->shares_at = result(c.shares, in_use(c.shares));
  const std::shared_ptr<const Mla> kept = x;
  return plan.finish(
      [kept, nothing](PlanContext &ctx) { return nothing ? Status{0} : run_mla_back(*kept, ctx); },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SparseFlashMlaGrad,
             (const aclTensor *query, const aclTensor *dOut, const aclTensor *out,
              const aclTensor *lse, const aclTensor *oriKvOptional, const aclTensor *cmpKvOptional,
              const aclTensor *oriSparseIndicesOptional, const aclTensor *cmpSparseIndicesOptional,
              const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional,
              const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional,
              const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional,
              const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional,
              const aclTensor *cmpTopkLengthOptional, const aclTensor *sinksOptional,
              const aclTensor *metadataOptional, double scaleValue, int64_t cmpRatio,
              int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight,
              const char *layoutQOptional, const char *layoutKvOptional, aclTensor *dQueryOut,
              aclTensor *dOriKvOutOptional, aclTensor *dCmpKvOutOptional,
              aclTensor *dSinksOutOptional, aclTensor *oriSoftmaxL1NormOptional,
              aclTensor *cmpSoftmaxL1NormOptional)) {
  emu::MlaGradCall c{};
  c.q = query;
  c.dy = dOut;
  c.out = out;
  c.lse = lse;
  c.own = {EMU_ARGUMENT(oriKvOptional), EMU_ARGUMENT(oriSparseIndicesOptional),
           EMU_ARGUMENT(cuSeqlensOriKvOptional), EMU_ARGUMENT(sequsedOriKvOptional),
           EMU_ARGUMENT(dOriKvOutOptional)};
  c.compressed = {EMU_ARGUMENT(cmpKvOptional), EMU_ARGUMENT(cmpSparseIndicesOptional),
                  EMU_ARGUMENT(cuSeqlensCmpKvOptional), EMU_ARGUMENT(sequsedCmpKvOptional),
                  EMU_ARGUMENT(dCmpKvOutOptional)};
  c.query_ends = EMU_ARGUMENT(cuSeqlensQOptional);
  c.used_queries = EMU_ARGUMENT(sequsedQOptional);
  c.residuals = EMU_ARGUMENT(cmpResidualKvOptional);
  c.counts = EMU_ARGUMENT(oriTopkLengthOptional);
  c.compressed_counts = EMU_ARGUMENT(cmpTopkLengthOptional);
  c.sinks = EMU_ARGUMENT(sinksOptional);
  c.metadata = EMU_ARGUMENT(metadataOptional);
  c.scale = scaleValue;
  c.ratio = cmpRatio;
  c.mask = oriMaskMode;
  c.compressed_mask = cmpMaskMode;
  c.left = oriWinLeft;
  c.right = oriWinRight;
  c.query_layout = layoutQOptional ? layoutQOptional : "BSND";
  c.key_layout = layoutKvOptional ? layoutKvOptional : "BSND";
  c.dq = dQueryOut;
  c.sinks_gradient = EMU_ARGUMENT(dSinksOutOptional);
  c.own_shares = EMU_ARGUMENT(oriSoftmaxL1NormOptional);
  c.shares = EMU_ARGUMENT(cmpSoftmaxL1NormOptional);
  return emu::plan_mla_back(c, workspaceSize, executor);
}
EMU_CATCH
