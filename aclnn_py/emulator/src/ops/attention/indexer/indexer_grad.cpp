// SPDX-License-Identifier: Apache-2.0
// LightningIndexerGrad, from the gradient of the scores, and SparseLightningIndexerKLLossGrad, from
// the distribution that the scores should have.
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/statuses.h"
#include "ops/attention/indexer/indexer_back.h"

namespace emu {
namespace {

constexpr int64_t kMostIndexerHeads = 64, kMostIndexerBatches = 1024, kMostLossBatches = 256,
                  kChosenByIndexer = 2048, kMostRatioOfKeys = 128;
constexpr int64_t kCausalMode = 3;

struct IndexerGradCall {
  const char *op;
  Named<aclTensor> query, key, weights, indices, given, query_list, key_list;
  const char *query_layout_name, *query_layout, *key_layout_name, *key_layout;
  LengthList packed_kind;
  int64_t most_batches;
  Named<aclTensor> dq, dk, dweights, softmax;
};

void check_tensors(const IndexerGradCall &c, Check &check) {
  for (const auto *t :
       {&c.query, &c.key, &c.weights, &c.indices, &c.given, &c.dq, &c.dk, &c.dweights})
    check.required(t->name, t->given);
  if (c.softmax.name != nullptr) check.required(c.softmax.name, c.softmax.given);
  for (const auto *t : {&c.query_list, &c.key_list}) check.optional(t->name, t->given);
  for (const auto *t : {&c.query, &c.key, &c.weights, &c.indices, &c.given, &c.query_list,
                        &c.key_list, &c.dq, &c.dk, &c.dweights, &c.softmax})
    if (t->name != nullptr) check.dtype(t->name, t->given);
  if (!check.ok()) return;
  for (const auto *t : {&c.key, &c.dq, &c.dk})
    check.same_dtype(t->name, t->given->dtype, c.query.name, c.query->dtype);
  check.same_dtype(c.dweights.name, c.dweights->dtype, c.weights.name, c.weights->dtype);
}

void check_forms(const IndexerGradCall &c, Check &check, IndexerBack *x) {
  x->query = sequence_form(check, c.query.name, c.query.given, c.query_layout_name, c.query_layout,
                           nullptr);
  x->key = sequence_form(check, c.key.name, c.key.given, c.key_layout_name, c.key_layout, nullptr);
  if (!check.ok()) return;
  check.that(x->query.packed == x->key.packed, "%s is \"%.40s\"; it must be %s, \"%.40s\"",
             c.key_layout_name, c.key_layout, c.query_layout_name, c.query_layout);
  check.that(x->key.heads == 1, "%s has %" PRId64 " heads; it must have 1", c.key.name,
             x->key.heads);
  check.that(x->query.width == kIndexerWidth && x->key.width == kIndexerWidth,
             "%s has heads of %" PRId64 " elements and %s of %" PRId64 "; both must have 128",
             c.query.name, x->query.width, c.key.name, x->key.width);
  check.that(!x->query.packed || (c.query_list && c.key_list),
             "%s or %s is null; with %s TND both are needed", c.query_list.name, c.key_list.name,
             c.query_layout_name);
  if (!check.ok()) return;
  x->kind = x->query.packed ? c.packed_kind : LengthList::kCounts;
  const int64_t front = x->kind == LengthList::kOffsets ? 1 : 0;
  if (x->query.packed) x->key.batch = x->query.batch = c.query_list->numel() - front;
  check.that(x->query.batch >= 1 && x->query.batch <= c.most_batches,
             "%s has %" PRId64 " sequences; allowed: 1 to %" PRId64, c.query.name, x->query.batch,
             c.most_batches);
  check.that(x->key.batch == x->query.batch,
             "%s has %" PRId64 " sequences and %s %" PRId64 "; the numbers must be equal",
             c.key.name, x->key.batch, c.query.name, x->query.batch);
  // Offsets are of packed sequences; others are whole.
  const bool listed = x->query.packed || c.packed_kind != LengthList::kOffsets;
  x->query_list = c.query_list.name;
  x->key_list = c.key_list.name;
  if (!listed) return;
  check_lengths(check, c.query_list.name, c.query_list.given, x->kind, x->query.batch);
  check_lengths(check, c.key_list.name, c.key_list.given, x->kind, x->key.batch);
}

// (.., heads, last) of the query becomes (.., 1, last) or (.., last).
Layout per_token(const Layout &query, int64_t last, bool with_head) {
  Layout layout = query;
  layout.rank -= with_head ? 1 : 2;
  if (with_head) layout.shape[layout.rank - 1] = 1;
  layout.push(last, 1);
  return layout;
}

void check_shapes(const IndexerGradCall &c, Check &check, IndexerBack *x) {
  const Layout query = layout_of(*c.query.given);
  const int rank = static_cast<int>(c.query->rank());
  check.rank(c.indices.name, c.indices.given, c.softmax.name ? rank : rank - 1, rank);
  if (!check.ok()) return;
  x->chosen = c.indices->shape.back();
  const bool with_head = c.indices->rank() == c.query->rank();
  check.shape(c.indices.name, c.indices.given, per_token(query, x->chosen, with_head));
  if (check.ok()) check.shape(c.given.name, c.given.given, layout_of(*c.indices.given));
  Layout weights = query;
  --weights.rank;
  check.shape(c.weights.name, c.weights.given, weights)
      .shape(c.dq.name, c.dq.given, query)
      .shape(c.dk.name, c.dk.given, layout_of(*c.key.given))
      .shape(c.dweights.name, c.dweights.given, weights);
  if (check.ok() && c.softmax.name)
    check.shape(c.softmax.name, c.softmax.given, layout_of(*c.indices.given));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(LightningIndexerGrad,
             (const aclTensor *query, const aclTensor *key, const aclTensor *dy,
              const aclTensor *sparseIndices, const aclTensor *weights,
              const aclTensor *actualSeqQLenOptional, const aclTensor *actualSeqKvLenOptional,
              int64_t headNum, const char *inputLayout, int64_t sparseMode, int64_t preTokens,
              int64_t nextTokens, bool deterministic, aclTensor *dqOut, aclTensor *dkOut,
              aclTensor *dweightsOut)) {
  // Bands are not among the modes, and results never depend on the order of threads.
  static_cast<void>(preTokens);
  static_cast<void>(nextTokens);
  static_cast<void>(deterministic);
  const emu::IndexerGradCall c{"aclnnLightningIndexerGrad",
                               EMU_ARGUMENT(query),
                               EMU_ARGUMENT(key),
                               EMU_ARGUMENT(weights),
                               EMU_ARGUMENT(sparseIndices),
                               EMU_ARGUMENT(dy),
                               EMU_ARGUMENT(actualSeqQLenOptional),
                               EMU_ARGUMENT(actualSeqKvLenOptional),
                               "inputLayout",
                               inputLayout,
                               "inputLayout",
                               inputLayout,
                               emu::LengthList::kEnds,
                               emu::kMostIndexerBatches,
                               EMU_ARGUMENT(dqOut),
                               EMU_ARGUMENT(dkOut),
                               EMU_ARGUMENT(dweightsOut),
                               {}};
  emu::Check check(c.op);
  emu::IndexerBack x;
  x.op = c.op;
  x.target = emu::IndexerTarget::kValues;
  x.causal = sparseMode == emu::kCausalMode;
  emu::check_tensors(c, check);
  check.required_text("inputLayout", inputLayout);
  if (!check.ok()) return check.status();
  check.same_dtype("dy", dy->dtype, "query", query->dtype)
      .same_dtype("weights", weights->dtype, "query", query->dtype);
  check.that(std::strcmp(inputLayout, "BSND") == 0 || std::strcmp(inputLayout, "TND") == 0,
             "inputLayout is \"%.40s\"; allowed: BSND, TND", inputLayout);
  check.tiling();
  if (check.ok()) emu::check_forms(c, check, &x);
  check.that(sparseMode == 0 || x.causal, "sparseMode is %" PRId64 "; allowed: 0, 3", sparseMode);
  check.that(headNum == x.query.heads && headNum <= emu::kMostIndexerHeads,
             "headNum is %" PRId64 "; it must be the heads of query, %" PRId64 ", at most 64",
             headNum, x.query.heads);
  if (check.ok()) emu::check_shapes(c, check, &x);
  check.that(x.chosen == emu::kChosenByIndexer,
             "sparseIndices has %" PRId64 " places for each token; allowed: 2048", x.chosen);
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(c.op);
  x.query_at = plan.input(query);
  x.key_at = plan.input(key);
  x.given_at = plan.input(dy);
  x.indices_at = plan.input(sparseIndices);
  x.weights_at = plan.input(weights);
  x.query_list_at = plan.input(actualSeqQLenOptional);
  x.key_list_at = plan.input(actualSeqKvLenOptional);
  x.dq_at = plan.output(dqOut);
  x.dk_at = plan.output(dkOut);
  x.dweights_at = plan.output(dweightsOut);
  const auto kept = std::make_shared<const emu::IndexerBack>(std::move(x));
  return plan.finish([kept](emu::PlanContext &ctx) { return emu::run_indexer_back(*kept, ctx); },
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SparseLightningIndexerKLLossGrad,
             (const aclTensor *q, const aclTensor *k, const aclTensor *w,
              const aclTensor *sparseIndices, const aclTensor *attnSoftmaxL1Norm,
              const aclTensor *cuSeqLensQOptional, const aclTensor *cuSeqLensKOptional,
              const aclTensor *seqUsedQOptional, const aclTensor *seqUsedKOptional,
              const aclTensor *cmpResidualKOptional, const aclTensor *metadataOptional,
              const char *layoutQ, const char *layoutK, int64_t maskMode, int64_t cmpRatio,
              aclTensor *dq, aclTensor *dk, aclTensor *dw, aclTensor *softmaxOut)) {
  const emu::IndexerGradCall c{"aclnnSparseLightningIndexerKLLossGrad",
                               EMU_ARGUMENT(q),
                               EMU_ARGUMENT(k),
                               EMU_ARGUMENT(w),
                               EMU_ARGUMENT(sparseIndices),
                               EMU_ARGUMENT(attnSoftmaxL1Norm),
                               EMU_ARGUMENT(cuSeqLensQOptional),
                               EMU_ARGUMENT(cuSeqLensKOptional),
                               "layoutQ",
                               layoutQ,
                               "layoutK",
                               layoutK,
                               emu::LengthList::kOffsets,
                               emu::kMostLossBatches,
                               EMU_ARGUMENT(dq),
                               EMU_ARGUMENT(dk),
                               EMU_ARGUMENT(dw),
                               EMU_ARGUMENT(softmaxOut)};
  emu::Check check(c.op);
  emu::IndexerBack x;
  x.op = c.op;
  x.target = emu::IndexerTarget::kShares;
  emu::check_tensors(c, check);
  // Reserved ones, and the metadata, which only shares out work.
  const std::pair<const char *, const aclTensor *> unread[] = {
      {"seqUsedQOptional", seqUsedQOptional},
      {"seqUsedKOptional", seqUsedKOptional},
      {"cmpResidualKOptional", cmpResidualKOptional},
      {"metadataOptional", metadataOptional}};
  for (const auto &[name, tensor] : unread) check.optional(name, tensor).dtype(name, tensor);
  check.required_text("layoutQ", layoutQ).required_text("layoutK", layoutK);
  if (!check.ok()) return check.status();
  check.tiling();
  emu::check_forms(c, check, &x);
  const int64_t heads = x.query.heads;
  check.that(heads == 8 || heads == 16 || heads == 32 || heads == 64,
             "q has %" PRId64 " heads; allowed: 8, 16, 32, 64", heads);
  check.that(maskMode == 0 || maskMode == emu::kCausalMode,
             "maskMode is %" PRId64 "; allowed: 0, 3", maskMode);
  check.that(cmpRatio >= 0 && cmpRatio <= emu::kMostRatioOfKeys,
             "cmpRatio is %" PRId64 "; allowed: 0 to 128", cmpRatio);
  if (check.ok()) emu::check_shapes(c, check, &x);
  const int64_t n = x.chosen;
  check.that(n == 512 || n == 1024 || n == 2048 || n == 4096 || n == 8192,
             "sparseIndices has %" PRId64
             " places for each token; allowed: 512, 1024, 2048, 4096, 8192",
             n);
  if (!check.ok()) return check.status();
  // Where compressed keys end is known to the operator that chose them only.
  x.causal = maskMode == emu::kCausalMode && cmpRatio <= 1;
  emu::PlanBuilder plan(c.op);
  x.query_at = plan.input(q);
  x.key_at = plan.input(k);
  x.weights_at = plan.input(w);
  x.indices_at = plan.input(sparseIndices);
  x.given_at = plan.input(attnSoftmaxL1Norm);
  const size_t query_list = plan.input(cuSeqLensQOptional),
               key_list = plan.input(cuSeqLensKOptional);
  if (x.query.packed) {
    x.query_list_at = query_list;
    x.key_list_at = key_list;
  }
  for (const auto &[name, tensor] : unread) plan.unused(tensor);
  x.dq_at = plan.output(dq);
  x.dk_at = plan.output(dk);
  x.dweights_at = plan.output(dw);
  x.softmax_at = plan.output(softmaxOut);
  const auto kept = std::make_shared<const emu::IndexerBack>(std::move(x));
  return plan.finish([kept](emu::PlanContext &ctx) { return emu::run_indexer_back(*kept, ctx); },
                     workspaceSize, executor);
}
EMU_CATCH
