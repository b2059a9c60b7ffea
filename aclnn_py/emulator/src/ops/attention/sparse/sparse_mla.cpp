// SPDX-License-Identifier: Apache-2.0
// SparseFlashMla: latent attention whose keys are also its values, over a window of the tokens, or
// chosen ones of them, and over compressed tokens, all of them or chosen ones. Sinks take their
// part of each softmax.
#include <cinttypes>

#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/sparse/sparse_mla.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kMostHeads = 128, kPageUnit = 16, kLongestPage = 1024, kMetadata = 1024,
                  kMostRatio = 128;
constexpr int64_t kWindow = 127, kChosenRatio = 4, kDenseRatio = 128;

// Programs pass empty tensors for what they do not use.
bool used(const Named<aclTensor> &t) { return t && t->numel() != 0; }

template <class F>
void each_input(const MlaCall &c, F &&f) {
  for (const auto *t : {&c.own.kv, &c.compressed.kv, &c.own.chosen, &c.compressed.chosen,
                        &c.own.table, &c.compressed.table, &c.query_ends, &c.own.ends,
                        &c.compressed.ends, &c.used_queries, &c.own.used, &c.compressed.used,
                        &c.residuals, &c.counts, &c.compressed_counts, &c.sinks, &c.metadata})
    f(*t);
}

class MlaRules {
 public:
  MlaRules(const MlaCall &call, Mla *mla) : c_(call), x_(*mla), check_(call.op) {}

  Status run() {
    check_.required("q", c_.q).required("attnOutOut", c_.out);
    if (quantised()) {
      if (const Status s = check_chip(check_, kNoKernel)) return s;
    }
    arguments();
    if (check_.ok()) forms();
    if (check_.ok()) part(c_.own, &x_.own);
    if (check_.ok() && used(c_.compressed.kv)) part(c_.compressed, &x_.compressed);
    if (check_.ok()) modes();
    if (check_.ok()) rest();
    return check_.status();
  }

 private:
  bool quantised() const { return c_.quantised; }
  int64_t key_width() const { return !quantised() ? kMlaWidth : c_.quant_mode == 1 ? 608 : 584; }

  void arguments() {
    each_input(c_, [&](const Named<aclTensor> &t) { check_.optional(t.name, t.given); });
    if (c_.with_lse) check_.required(c_.lse.name, c_.lse.given);
    check_.optional(c_.lse.name, c_.lse.given);
    check_.dtype("q", c_.q).dtype("attnOutOut", c_.out);
    each_input(c_, [&](const Named<aclTensor> &t) { check_.dtype(t.name, t.given); });
    check_.dtype(c_.lse.name, c_.lse.given);
    if (!check_.ok()) return;
    check_.same_dtype("attnOutOut", c_.out->dtype, "q", c_.q->dtype);
    for (const auto *t : {&c_.own.kv, &c_.compressed.kv})
      if (*t && !quantised()) check_.same_dtype(t->name, t->given->dtype, "q", c_.q->dtype);
    for (const auto *t : {&c_.own.kv, &c_.sinks, &c_.metadata})
      check_.that(used(*t), "%s is null or empty; it is needed", t->name);
    check_.that(!used(c_.used_queries), "%s is given; pass null", c_.used_queries.name);
    check_.that(quantised() || !used(c_.compressed_counts), "%s is given; pass null",
                c_.compressed_counts.name);
    if (!quantised()) return;
    check_.that(c_.quant_mode == 1 || c_.quant_mode == 2, "quantMode is %" PRId64 "; allowed: 1, 2",
                c_.quant_mode);
    check_.that(c_.rope == kMlaRope, "ropeHeadDim is %" PRId64 "; allowed: 64", c_.rope);
  }

  void forms() {
    x_.query = sequence_form(check_, "q", c_.q, "layoutQOptional", c_.query_layout, nullptr);
    const bool new_chip = chip_is_950();
    const int64_t n = x_.query.heads;
    check_.that(n >= 1 && n <= kMostHeads && (new_chip || (n & (n - 1)) == 0),
                "q has %" PRId64 " heads; allowed: %s", n,
                new_chip ? "1 to 128" : "powers of 2 up to 128");
    check_.that(x_.query.width == kMlaWidth, "q has heads of %" PRId64 " elements; allowed: 512",
                x_.query.width);
    check_.that(!x_.query.packed || used(c_.query_ends),
                "%s is null; with layoutQOptional TND it is needed", c_.query_ends.name);
    if (!check_.ok()) return;
    if (x_.query.packed) x_.query.batch = c_.query_ends->numel() - 1;
    check_.that(x_.query.batch >= 1, "%s has no sequence", c_.query_ends.name);
    if (x_.query.packed)
      check_lengths(check_, c_.query_ends.name, c_.query_ends.given, LengthList::kOffsets,
                    x_.query.batch);
  }

  void part(const MlaSide &side, MlaPart *p) {
    p->given = true;
    p->form = sequence_form(check_, side.kv.name, side.kv.given, "layoutKvOptional", c_.key_layout,
                            "PA_BBND");
    check_.that(p->form.heads == 1 && p->form.width == key_width(),
                "%s has %" PRId64 " heads of %" PRId64 " elements; it must have 1 of %" PRId64,
                side.kv.name, p->form.heads, p->form.width, key_width());
    if (!check_.ok()) return;
    check_.that(!quantised() || side.kv->strides.back() == 1,
                "%s has gaps between the elements of a token", side.kv.name);
    check_.that(c_.quant_mode != 2 || p->form.paged,
                "layoutKvOptional is \"%.40s\"; with quantMode 2 it must be PA_BBND",
                c_.key_layout);
    check_.that(p->form.paged || p->form.packed == x_.query.packed,
                "layoutKvOptional is \"%.40s\"; it must be layoutQOptional, or PA_BBND",
                c_.key_layout);
    check_.that(!p->form.paged || (p->form.tokens <= kLongestPage &&
                                   (chip_is_950() || p->form.tokens % kPageUnit == 0)),
                "%s has pages of %" PRId64 " tokens; allowed: multiples of 16 up to 1024",
                side.kv.name, p->form.tokens);
    check_.that(!p->form.packed || used(side.ends),
                "%s is null; with layoutKvOptional TND it is "
                "needed",
                side.ends.name);
    check_.that(p->form.packed || p->form.paged || p->form.batch == x_.query.batch,
                "%s has %" PRId64 " sequences and q %" PRId64, side.kv.name, p->form.batch,
                x_.query.batch);
    if (!check_.ok()) return;
    p->form.batch = x_.query.batch;
    check_pages(check_, side.table.name, side.table.given, x_.query.batch, &p->form);
    if (p->form.packed)
      check_lengths(check_, side.ends.name, side.ends.given, LengthList::kOffsets, p->form.batch);
    if (used(side.used))
      check_lengths(check_, side.used.name, side.used.given, LengthList::kCounts, p->form.batch);
    if (!used(side.chosen)) return;
    const int rank = static_cast<int>(c_.q->rank());
    check_.rank(side.chosen.name, side.chosen.given, rank, rank);
    if (!check_.ok()) return;
    p->chosen = side.chosen->shape[static_cast<size_t>(rank - 1)];
    check_.shape(side.chosen.name, side.chosen.given, rows(p->chosen));
  }

  // The shape of q with one head of `last` elements.
  Layout rows(int64_t last) const {
    Layout layout = layout_of(*c_.q);
    layout.shape[layout.rank - 2] = 1;
    layout.shape[layout.rank - 1] = last;
    return layout;
  }

  // What both sides have with quantised keys.
  void quantised_modes() {
    const bool sparse = x_.own.chosen != 0, both = x_.compressed.given;
    check_.that(!x_.own.form.paged || used(c_.own.used) || sparse,
                "%s is null; with layoutKvOptional PA_BBND it is needed", c_.own.used.name);
    check_.that(sparse == used(c_.counts), "%s and %s go together", c_.own.chosen.name,
                c_.counts.name);
    check_.that(both || !used(c_.compressed.chosen), "%s is given without %s",
                c_.compressed.chosen.name, c_.compressed.kv.name);
    check_.that(sparse ? c_.mask == kMlaNoMask : c_.mask == kMlaCausal || c_.mask == kMlaBand,
                "oriMaskMode is %" PRId64 "; allowed: %s", c_.mask,
                sparse ? "0 with chosen tokens" : "3, 4");
    check_.that(!both || c_.compressed_mask == (sparse ? kMlaNoMask : kMlaCausal),
                "cmpMaskMode is %" PRId64 "; allowed: %s", c_.compressed_mask,
                sparse ? "0 with chosen tokens" : "3");
    const bool counted = both && sparse;
    check_.that(counted == used(c_.compressed_counts) && (!counted || x_.compressed.chosen != 0),
                "%s and %s go together where both sides are chosen", c_.compressed.chosen.name,
                c_.compressed_counts.name);
    check_.that(both ? c_.ratio >= 1 && c_.ratio <= kMostRatio : c_.ratio == 1,
                "cmpRatio is %" PRId64 "; allowed: 1%s", c_.ratio, both ? " to 128" : "");
    check_.that(c_.left >= -1 && c_.right >= -1 &&
                    (c_.mask == kMlaBand || (c_.left == -1 && c_.right == -1)),
                "oriWinLeft is %" PRId64 " and oriWinRight %" PRId64 "; allowed: -1%s", c_.left,
                c_.right, c_.mask == kMlaBand ? " and above" : "");
    check_.that(!both || c_.ratio == 1 || c_.compressed_mask != kMlaCausal || used(c_.residuals),
                "%s is null; with a cmpRatio above 1 and cmpMaskMode 3 it is needed",
                c_.residuals.name);
    check_.that(c_.value_mode == 1, "topkValueMode is %" PRId64 "; allowed: 1", c_.value_mode);
  }

  void modes() {
    if (quantised()) return quantised_modes();
    const bool sparse = x_.own.chosen != 0, both = x_.compressed.given, new_chip = chip_is_950();
    check_.that(!x_.own.form.paged || used(c_.own.used),
                "%s is null; with layoutKvOptional PA_BBND it is needed", c_.own.used.name);
    check_.that(sparse == used(c_.counts) && !(sparse && both),
                "%s, %s and %s do not fit; the first two go together, without the third",
                c_.own.chosen.name, c_.counts.name, c_.compressed.kv.name);
    check_.that(both || !used(c_.compressed.chosen), "%s is given without %s",
                c_.compressed.chosen.name, c_.compressed.kv.name);
    const bool mask_fits =
        sparse     ? c_.mask == kMlaNoMask
        : new_chip ? c_.mask == kMlaNoMask || c_.mask == kMlaCausal || c_.mask == kMlaBand
                   : c_.mask == kMlaBand;
    check_.that(mask_fits, "oriMaskMode is %" PRId64 "; allowed: %s", c_.mask,
                sparse     ? "0 with chosen tokens"
                : new_chip ? "0, 3, 4"
                           : "4");
    check_.that(
        !both || c_.compressed_mask == kMlaCausal || (new_chip && c_.compressed_mask == kMlaNoMask),
        "cmpMaskMode is %" PRId64 "; allowed: %s", c_.compressed_mask, new_chip ? "0, 3" : "3");
    const int64_t ratio = !both ? 1 : x_.compressed.chosen != 0 ? kChosenRatio : kDenseRatio;
    check_.that(new_chip ? !both || (c_.ratio >= 1 && c_.ratio <= kMostRatio) : c_.ratio == ratio,
                "cmpRatio is %" PRId64 "; allowed: %" PRId64 "%s", c_.ratio, new_chip ? 1 : ratio,
                new_chip ? " to 128" : "");
    const bool window = sparse     ? c_.left >= 0 && c_.right >= 0
                        : new_chip ? c_.left >= -1 && c_.right >= -1
                                   : c_.left == kWindow && c_.right == 0;
    check_.that(window, "oriWinLeft is %" PRId64 " and oriWinRight %" PRId64 "; allowed: %s",
                c_.left, c_.right,
                sparse     ? "0 and above"
                : new_chip ? "-1 and above"
                           : "127 and 0");
    check_.that(x_.compressed.chosen == 0 || new_chip || x_.compressed.chosen == 512 ||
                    x_.compressed.chosen == 1024,
                "%s has %" PRId64 " places for each token; allowed: 512, 1024",
                c_.compressed.chosen.name, x_.compressed.chosen);
    check_.that(!both || c_.ratio == 1 || c_.compressed_mask != kMlaCausal || used(c_.residuals),
                "%s is null; with a cmpRatio above 1 and cmpMaskMode 3 it is needed",
                c_.residuals.name);
    check_.that(c_.value_mode == 1, "topkValueMode is %" PRId64 "; allowed: 1", c_.value_mode);
  }

  void rest() {
    if (used(c_.residuals))
      check_lengths(check_, c_.residuals.name, c_.residuals.given, LengthList::kCounts,
                    x_.query.batch);
    for (const auto *t : {&c_.counts, &c_.compressed_counts}) {
      if (!used(*t)) continue;
      Layout counts = rows(1);
      --counts.rank;
      check_.shape(t->name, t->given, counts);
    }
    const int64_t heads = x_.query.heads, metadata = kMetadata;
    check_.shape(c_.sinks.name, c_.sinks.given, dense_layout(&heads, 1))
        .shape(c_.metadata.name, c_.metadata.given, dense_layout(&metadata, 1))
        .shape("attnOutOut", c_.out, layout_of(*c_.q));
    if (c_.with_lse) {
      Layout sums;
      if (!x_.query.packed) sums.push(x_.query.batch, 0);
      for (const int64_t size : {int64_t{1}, x_.query.tokens, heads}) sums.push(size, 0);
      check_.shape(c_.lse.name, c_.lse.given, sums);
    }
    x_.ratio = c_.ratio;
    x_.mask = c_.mask;
    x_.compressed_mask = c_.compressed_mask;
    x_.left = c_.left;
    x_.right = c_.right;
    x_.scale = static_cast<float>(c_.scale);
    x_.with_lse = c_.with_lse;
    x_.counted = used(c_.counts);
    x_.compressed_counted = used(c_.compressed_counts);
    x_.op = c_.op;
    x_.quant_mode = c_.quantised ? c_.quant_mode : 0;
    x_.with_residuals = used(c_.residuals);
  }

  const MlaCall &c_;
  Mla &x_;
  Check check_;
};

}  // namespace

Status plan_mla(const MlaCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  auto x = std::make_shared<Mla>();
  if (const Status s = MlaRules(c, x.get()).run()) return s;
  PlanBuilder plan(c.op);
  x->query_at = plan.input(c.q);
  // Empty tensors count as absent.
  const auto add = [&](const Named<aclTensor> &t) {
    const size_t at = plan.input(t.given);
    return used(t) ? at : kAbsent;
  };
  size_t unread;
  size_t *const positions[] = {&x->own.kv_at,
                               &x->compressed.kv_at,
                               &x->own.chosen_at,
                               &x->compressed.chosen_at,
                               &x->own.table_at,
                               &x->compressed.table_at,
                               &x->query_ends_at,
                               &x->own.ends_at,
                               &x->compressed.ends_at,
                               &unread,
                               &x->own.used_at,
                               &x->compressed.used_at,
                               &x->residuals_at,
                               &x->counts_at,
                               &x->compressed_counts_at,
                               &x->sinks_at,
                               &unread};
  size_t next = 0;
  each_input(c, [&](const Named<aclTensor> &t) { *positions[next++] = add(t); });
  x->out_at = plan.output(c.out);
  x->lse_at = c.with_lse ? plan.output(c.lse.given) : plan.unused(c.lse.given);
  const std::shared_ptr<const Mla> kept = x;
  return plan.finish([kept](PlanContext &ctx) { return run_mla(*kept, ctx); }, workspace_size,
                     executor);
}

}  // namespace emu
