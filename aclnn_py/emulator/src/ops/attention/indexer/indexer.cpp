// SPDX-License-Identifier: Apache-2.0
// The lightning indexers: for each token of a query the keys of the highest scores, the highest
// first and of equal ones the key in front. Places without a key hold -1.
#include "ops/attention/indexer/indexer_call.h"

#include <cinttypes>

#include "aclnnop/attention.h"
#include "core/statuses.h"

namespace emu {
namespace {

constexpr int64_t kWidth = 128, kMostHeads = 64, kUsualCount = 2048, kCountUnit = 1024,
                  kMostCount = 8192, kPageUnit = 16, kLongestPage = 1024, kMostRatio = 128;
constexpr int64_t kCausal = 3;

struct IndexerCall {
  const char *op;
  Named<aclTensor> query, key, weights;
  Named<aclTensor> query_scale, key_scale;  // of the quantised form
  Named<aclTensor> query_lengths, key_lengths;
  LengthList query_kind = LengthList::kEnds, key_kind = LengthList::kEnds;
  Named<aclTensor> used_keys;  // instead of the lengths of the keys, of sequences that lie apart
  Named<aclTensor> residuals;  // tokens behind the last whole group of compressed keys
  Named<aclTensor> block_table;
  Named<aclTensor> unsupported[2];  // what a 910B does not take
  Named<aclTensor> ignored;
  const char *query_layout_name, *query_layout, *key_layout_name, *key_layout, *pages_layout;
  const char *count_name, *mask_name;
  int64_t count = 0, mask_mode = 0, ratio = 1;
  bool with_values = false;
  Named<aclTensor> indices, values;
};

Layout without_last(const aclTensor &tensor) {
  Layout layout = layout_of(tensor);
  --layout.rank;
  return layout;
}

// The list that says how many keys there are.
const Named<aclTensor> &key_list(const IndexerCall &c) {
  return c.used_keys ? c.used_keys : c.key_lengths;
}

// Numbers of 8 bits have scales, and weights that go with them: FLOAT16 for all three, or for
// floats of 8 bits BFLOAT16 beside scales of FLOAT.
void check_scale_dtypes(const IndexerCall &c, Check &check) {
  if (!check.ok() || !c.query_scale) return;
  const aclDataType kind = c.query->dtype;
  const bool wide =
      kind == ACL_HIFLOAT8 || (kind == ACL_FLOAT8_E4M3FN && c.weights->dtype == ACL_BF16);
  check.dtype_in(c.weights.name, c.weights->dtype, dtype_set(wide ? ACL_BF16 : ACL_FLOAT16));
  for (const auto *scale : {&c.query_scale, &c.key_scale})
    check.dtype_in(scale->name, (*scale)->dtype, dtype_set(wide ? ACL_FLOAT : ACL_FLOAT16));
}

void check_tensors(const IndexerCall &c, Check &check) {
  for (const auto *t : {&c.query, &c.key, &c.weights}) check.required(t->name, t->given);
  for (const auto *t : {&c.query_scale, &c.key_scale})
    if (t->name != nullptr) check.required(t->name, t->given);
  for (const auto *t : {&c.query_lengths, &c.key_lengths, &c.used_keys, &c.residuals,
                        &c.block_table, &c.unsupported[0], &c.unsupported[1], &c.ignored})
    check.optional(t->name, t->given);
  check.required(c.indices.name, c.indices.given);
  if (c.with_values) check.required(c.values.name, c.values.given);
  else check.optional(c.values.name, c.values.given);
  for (const auto *t : {&c.query, &c.key, &c.weights, &c.query_scale, &c.key_scale,
                        &c.query_lengths, &c.key_lengths, &c.used_keys, &c.residuals,
                        &c.block_table, &c.ignored, &c.indices, &c.values})
    check.dtype(t->name, t->given);
  if (!check.ok()) return;
  check.same_dtype(c.key.name, c.key->dtype, c.query.name, c.query->dtype);
  check_scale_dtypes(c, check);
  for (const auto &t : c.unsupported)
    check.that(!t, "%s is given; no chip takes it yet: pass null", t.name);
  if (c.query_scale || !check.ok()) return;
  check.that(c.weights->dtype == ACL_FLOAT || c.weights->dtype == c.query->dtype,
             "%s has dtype %s; it must be FLOAT or that of %s, %s", c.weights.name,
             dtype_name(c.weights->dtype), c.query.name, dtype_name(c.query->dtype));
  if (c.values && c.values->dtype != ACL_FLOAT)
    check.same_dtype(c.values.name, c.values->dtype, c.query.name, c.query->dtype);
}

void check_attributes(const IndexerCall &c, Check &check, Indexer *x) {
  const int64_t n = c.count;
  check.that((n >= 1 && n <= kUsualCount) || (n > 0 && n <= kMostCount && n % kCountUnit == 0),
             "%s is %" PRId64 "; allowed: 1 to 2048, and 3072 to 8192 in steps of 1024",
             c.count_name, n);
  check.that(c.mask_mode == 0 || c.mask_mode == kCausal, "%s is %" PRId64 "; allowed: 0, 3",
             c.mask_name, c.mask_mode);
  check.that(c.ratio >= 1 && c.ratio <= kMostRatio, "cmpRatio is %" PRId64 "; allowed: 1 to 128",
             c.ratio);
  x->count = n;
  x->ratio = c.ratio;
  x->causal = c.mask_mode == kCausal;
  x->with_values = c.with_values;
}

void check_shapes(const IndexerCall &c, Check &check, Indexer *x) {
  x->query = sequence_form(check, c.query.name, c.query.given, c.query_layout_name, c.query_layout,
                           nullptr);
  x->key = sequence_form(check, c.key.name, c.key.given, c.key_layout_name, c.key_layout,
                         c.pages_layout);
  if (!check.ok()) return;
  check.that(x->query.heads <= kMostHeads,
             "%s has %" PRId64 " heads; at most %" PRId64 " are allowed", c.query.name,
             x->query.heads, kMostHeads);
  check.that(x->key.heads == 1, "%s has %" PRId64 " heads; it must have 1", c.key.name,
             x->key.heads);
  check.that(x->query.width == kWidth && x->key.width == kWidth,
             "%s has heads of %" PRId64 " elements and %s of %" PRId64 "; both must have 128",
             c.query.name, x->query.width, c.key.name, x->key.width);
  check.that(!x->key.paged || (x->key.tokens % kPageUnit == 0 && x->key.tokens <= kLongestPage),
             "%s has pages of %" PRId64 " tokens; allowed: multiples of 16 up to 1024", c.key.name,
             x->key.tokens);
  check.that(!x->query.packed || bool(c.query_lengths), "%s is null; with %s TND it is needed",
             c.query_lengths.name, c.query_layout_name);
  const auto &keys = key_list(c);
  check.that(!(x->key.packed || x->key.paged) || bool(keys),
             "%s is null; with %s \"%s\" it is needed", keys.name, c.key_layout_name, c.key_layout);
  if (!check.ok()) return;
  const auto entries = [](const Named<aclTensor> &list, LengthList kind) {
    return list->numel() - (kind == LengthList::kOffsets ? 1 : 0);
  };
  if (x->query.packed) x->query.batch = entries(c.query_lengths, c.query_kind);
  check.that(x->query.batch >= 1, "%s has %" PRId64 " sequences", c.query_lengths.name,
             x->query.batch);
  check.that(x->key.packed || x->key.paged || x->key.batch == x->query.batch,
             "%s has %" PRId64 " sequences and %s %" PRId64 "; the numbers must be equal",
             c.key.name, x->key.batch, c.query.name, x->query.batch);
  x->key.batch = x->query.batch;
  check_pages(check, c.block_table.name, c.block_table.given, x->key.batch, &x->key);
}

void check_lists(const IndexerCall &c, Check &check, Indexer *x) {
  // Lists of packed tokens have ends or offsets, those of others counts.
  x->query_kind = x->query.packed ? c.query_kind : LengthList::kCounts;
  x->key_kind = c.used_keys || !x->key.packed ? LengthList::kCounts : c.key_kind;
  x->query_lengths_name = c.query_lengths.name;
  x->key_lengths_name = key_list(c).name;
  check.that(c.query_kind != LengthList::kOffsets || x->query.packed || !c.query_lengths,
             "%s is given; without packed sequences it must be null", c.query_lengths.name);
  check.that(c.key_kind != LengthList::kOffsets || x->key.packed || !c.key_lengths,
             "%s is given; without packed sequences it must be null", c.key_lengths.name);
  check.that(!c.used_keys || !x->key.packed, "%s is given; packed keys have %s", c.used_keys.name,
             c.key_lengths.name);
  if (check.ok())
    check_lengths(check, c.query_lengths.name, c.query_lengths.given, x->query_kind,
                  x->query.batch);
  if (check.ok())
    check_lengths(check, x->key_lengths_name, key_list(c).given, x->key_kind, x->key.batch);
  check.that(!c.residuals || (x->causal && x->ratio > 1),
             "%s is given; it belongs to maskMode 3 with a cmpRatio above 1", c.residuals.name);
  check.that(c.residuals || !x->causal || x->ratio == 1,
             "%s is null; maskMode 3 with a cmpRatio above 1 needs it", c.residuals.name);
  check_lengths(check, c.residuals.name, c.residuals.given, LengthList::kCounts, x->key.batch);
}

void check_results(const IndexerCall &c, Check &check, const Indexer &x) {
  const Layout rows = without_last(*c.query.given);
  check.shape(c.weights.name, c.weights.given, rows);
  if (c.query_scale) check.shape(c.query_scale.name, c.query_scale.given, rows);
  if (c.key_scale) check.shape(c.key_scale.name, c.key_scale.given, without_last(*c.key.given));
  Layout expected = layout_of(*c.query.given);
  expected.shape[expected.rank - 2] = 1;
  expected.shape[expected.rank - 1] = x.count;
  check.shape(c.indices.name, c.indices.given, expected);
  if (c.with_values) check.shape(c.values.name, c.values.given, expected);
}

Status check_indexer(const IndexerCall &c, Indexer *x) {
  Check check(c.op);
  x->op = c.op;
  check_tensors(c, check);
  check.tiling();
  if (check.ok()) check_attributes(c, check, x);
  if (check.ok()) check_shapes(c, check, x);
  if (check.ok()) check_lists(c, check, x);
  if (check.ok()) check_results(c, check, *x);
  return check.status();
}

// `order` adds the tensors to the plan in the order of the operator.
template <class F>
Status plan_indexer(const IndexerCall &call, F &&order, uint64_t *workspace_size,
                    aclOpExecutor **executor) {
  Indexer indexer;
  if (const Status s = check_indexer(call, &indexer)) return s;
  PlanBuilder plan(call.op);
  order(plan, &indexer);
  return plan.finish([indexer](PlanContext &c) { return run_indexer(indexer, c); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(LightningIndexer,
             (const aclTensor *query, const aclTensor *key, const aclTensor *weights,
              const aclTensor *actualSeqLengthsQueryOptional,
              const aclTensor *actualSeqLengthsKeyOptional, const aclTensor *blockTableOptional,
              const char *layoutQueryOptional, const char *layoutKeyOptional, int64_t sparseCount,
              int64_t sparseMode, int64_t preTokens, int64_t nextTokens, bool returnValues,
              aclTensor *sparseIndicesOut, aclTensor *sparseValuesOut)) {
  // Bands are not among the modes.
  static_cast<void>(preTokens);
  static_cast<void>(nextTokens);
  emu::IndexerCall call{};
  call.op = "aclnnLightningIndexer";
  call.query = EMU_ARGUMENT(query);
  call.key = EMU_ARGUMENT(key);
  call.weights = EMU_ARGUMENT(weights);
  call.query_lengths = EMU_ARGUMENT(actualSeqLengthsQueryOptional);
  call.key_lengths = EMU_ARGUMENT(actualSeqLengthsKeyOptional);
  call.block_table = EMU_ARGUMENT(blockTableOptional);
  call.query_layout_name = "layoutQueryOptional";
  call.query_layout = layoutQueryOptional ? layoutQueryOptional : "BSND";
  call.key_layout_name = "layoutKeyOptional";
  call.key_layout = layoutKeyOptional ? layoutKeyOptional : "BSND";
  call.pages_layout = "PA_BSND";
  call.count_name = "sparseCount";
  call.mask_name = "sparseMode";
  call.count = sparseCount;
  call.mask_mode = sparseMode;
  call.with_values = returnValues;
  call.indices = EMU_ARGUMENT(sparseIndicesOut);
  call.values = EMU_ARGUMENT(sparseValuesOut);
  return emu::plan_indexer(
      call,
      [&](emu::PlanBuilder &plan, emu::Indexer *x) {
        x->query_at = plan.input(query);
        x->key_at = plan.input(key);
        x->weights_at = plan.input(weights);
        x->query_lengths_at = plan.input(actualSeqLengthsQueryOptional);
        x->key_lengths_at = plan.input(actualSeqLengthsKeyOptional);
        x->table_at = plan.input(blockTableOptional);
        x->indices_at = plan.output(sparseIndicesOut);
        x->values_at = returnValues ? plan.output(sparseValuesOut) : plan.unused(sparseValuesOut);
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantLightningIndexer,
             (const aclTensor *query, const aclTensor *key, const aclTensor *weights,
              const aclTensor *queryDequantScale, const aclTensor *keyDequantScale,
              const aclTensor *actualSeqLengthsQueryOptional,
              const aclTensor *actualSeqLengthsKeyOptional, const aclTensor *blockTableOptional,
              int64_t queryQuantMode, int64_t keyQuantMode, const char *layoutQueryOptional,
              const char *layoutKeyOptional, int64_t sparseCount, int64_t sparseMode,
              int64_t preTokens, int64_t nextTokens, aclTensor *out)) {
  static_cast<void>(preTokens);
  static_cast<void>(nextTokens);
  emu::IndexerCall call{};
  call.op = "aclnnQuantLightningIndexer";
  call.query = EMU_ARGUMENT(query);
  call.key = EMU_ARGUMENT(key);
  call.weights = EMU_ARGUMENT(weights);
  call.query_scale = EMU_ARGUMENT(queryDequantScale);
  call.key_scale = EMU_ARGUMENT(keyDequantScale);
  call.query_lengths = EMU_ARGUMENT(actualSeqLengthsQueryOptional);
  call.key_lengths = EMU_ARGUMENT(actualSeqLengthsKeyOptional);
  call.block_table = EMU_ARGUMENT(blockTableOptional);
  call.query_layout_name = "layoutQueryOptional";
  call.query_layout = layoutQueryOptional ? layoutQueryOptional : "BSND";
  call.key_layout_name = "layoutKeyOptional";
  call.key_layout = layoutKeyOptional ? layoutKeyOptional : "BSND";
  call.pages_layout = "PA_BSND";
  call.count_name = "sparseCount";
  call.mask_name = "sparseMode";
  call.count = sparseCount;
  call.mask_mode = sparseMode;
  call.indices = EMU_ARGUMENT(out);
  emu::Check check(call.op);
  check.tiling().that(queryQuantMode == 0 && keyQuantMode == 0,
                      "queryQuantMode is %" PRId64 " and keyQuantMode %" PRId64 "; allowed: 0",
                      queryQuantMode, keyQuantMode);
  if (!check.ok()) return check.status();
  return emu::plan_indexer(
      call,
      [&](emu::PlanBuilder &plan, emu::Indexer *x) {
        x->query_at = plan.input(query);
        x->key_at = plan.input(key);
        x->weights_at = plan.input(weights);
        x->query_scale_at = plan.input(queryDequantScale);
        x->key_scale_at = plan.input(keyDequantScale);
        x->query_lengths_at = plan.input(actualSeqLengthsQueryOptional);
        x->key_lengths_at = plan.input(actualSeqLengthsKeyOptional);
        x->table_at = plan.input(blockTableOptional);
        x->indices_at = plan.output(out);
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(LightningIndexerV2,
             (const aclTensor *q, const aclTensor *k, const aclTensor *w,
              const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKOptional,
              const aclTensor *sequsedQOptional, const aclTensor *sequsedKOptional,
              const aclTensor *cmpResidualKOptional, const aclTensor *blockTableOptional,
              const aclTensor *outputIdxOffsetOptional, const aclTensor *metadataOptional,
              int64_t topk, int64_t maxSeqlenQ, const char *layoutQ, const char *layoutK,
              int64_t maskMode, int64_t cmpRatio, int64_t returnValue, aclTensor *sparseIndices,
              aclTensor *sparseValues)) {
  emu::IndexerCall call{};
  call.op = "aclnnLightningIndexerV2";
  call.query = EMU_ARGUMENT(q);
  call.key = EMU_ARGUMENT(k);
  call.weights = EMU_ARGUMENT(w);
  call.query_lengths = EMU_ARGUMENT(cuSeqlensQOptional);
  call.key_lengths = EMU_ARGUMENT(cuSeqlensKOptional);
  call.query_kind = call.key_kind = emu::LengthList::kOffsets;
  call.used_keys = EMU_ARGUMENT(sequsedKOptional);
  call.unsupported[0] = EMU_ARGUMENT(sequsedQOptional);
  call.unsupported[1] = EMU_ARGUMENT(outputIdxOffsetOptional);
  call.residuals = EMU_ARGUMENT(cmpResidualKOptional);
  call.block_table = EMU_ARGUMENT(blockTableOptional);
  call.ignored = EMU_ARGUMENT(metadataOptional);
  call.query_layout_name = "layoutQ";
  call.query_layout = layoutQ ? layoutQ : "BSND";
  call.key_layout_name = "layoutK";
  call.key_layout = layoutK ? layoutK : "BSND";
  call.pages_layout = "PA_BBND";
  call.count_name = "topk";
  call.mask_name = "maskMode";
  call.count = topk;
  call.mask_mode = maskMode;
  call.ratio = cmpRatio;
  call.with_values = returnValue == 1;
  call.indices = EMU_ARGUMENT(sparseIndices);
  call.values = EMU_ARGUMENT(sparseValues);
  emu::Check check(call.op);
  check.tiling()
      .that(returnValue == 0 || returnValue == 1, "returnValue is %" PRId64 "; allowed: 0, 1",
            returnValue)
      .that(maxSeqlenQ >= -1, "maxSeqlenQ is %" PRId64 "; allowed: -1 and above", maxSeqlenQ);
  if (!check.ok()) return check.status();
  return emu::plan_indexer(
      call,
      [&](emu::PlanBuilder &plan, emu::Indexer *x) {
        x->query_at = plan.input(q);
        x->key_at = plan.input(k);
        x->weights_at = plan.input(w);
        x->query_lengths_at = plan.input(cuSeqlensQOptional);
        const size_t packed_at = plan.input(cuSeqlensKOptional);
        plan.input(sequsedQOptional);
        const size_t used_at = plan.input(sequsedKOptional);
        x->key_lengths_at = sequsedKOptional ? used_at : packed_at;
        x->residuals_at = plan.input(cmpResidualKOptional);
        x->table_at = plan.input(blockTableOptional);
        plan.input(outputIdxOffsetOptional);
        plan.unused(metadataOptional);
        x->indices_at = plan.output(sparseIndices);
        x->values_at = returnValue == 1 ? plan.output(sparseValues) : plan.unused(sparseValues);
      },
      workspaceSize, executor);
}
EMU_CATCH
