// SPDX-License-Identifier: Apache-2.0
// The operators that stand in front of the indexers and of SparseFlashMla and share out their work.
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/indexer/task_list.h"
#include "ops/attention/sparse/sparse_mla.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kIndexerWidth = 128, kMostIndexerHeads = 64, kMostHeads = 128, kMostChosen = 2048,
                  kMostChosen950 = 8192, kMostRatio = 128;
constexpr int kIndexerFields = 8, kMlaFields = 9;

bool power_of_two(int64_t n) { return n >= 1 && (n & (n - 1)) == 0; }

struct IndexerNumbers {
  int64_t query_heads, key_heads, width, count, mask, ratio;
};

void check_indexer(Check &check, const IndexerNumbers &n) {
  const int64_t most = chip_is_950() ? kMostChosen950 : kMostChosen;
  check.that(n.query_heads >= 1 && n.query_heads <= kMostIndexerHeads,
             "numHeadsQ is %" PRId64 "; allowed: 1 to 64", n.query_heads);
  check.that(n.key_heads == 1, "numHeadsK is %" PRId64 "; allowed: 1", n.key_heads);
  check.that(n.width == kIndexerWidth, "headDim is %" PRId64 "; allowed: 128", n.width);
  check.that(n.count >= 1 && n.count <= most, "topk is %" PRId64 "; allowed: 1 to %" PRId64,
             n.count, most);
  check.that(n.mask == 0 || n.mask == kMlaCausal, "maskMode is %" PRId64 "; allowed: 0, 3", n.mask);
  check.that(n.ratio >= 1 && n.ratio <= kMostRatio, "cmpRatio is %" PRId64 "; allowed: 1 to 128",
             n.ratio);
}

struct MlaNumbers {
  int64_t query_heads, key_heads, width, own_count, count, ratio, mask, compressed_mask, left,
      right;
  bool own, compressed, quantised;
};

void check_mla(Check &check, const MlaNumbers &n) {
  const bool new_chip = chip_is_950(), free = new_chip && !n.quantised;
  check.that(n.query_heads <= kMostHeads && power_of_two(n.query_heads) &&
                 (n.query_heads > 1 || !new_chip),
             "numHeadsQ is %" PRId64 "; allowed: powers of 2 from %d to 128", n.query_heads,
             new_chip ? 2 : 1);
  check.that(n.key_heads == 1, "numHeadsKv is %" PRId64 "; allowed: 1", n.key_heads);
  check.that(n.width == kMlaWidth, "headDim is %" PRId64 "; allowed: 512", n.width);
  check.that(n.own, "hasOriKv is false; it must be true");
  check.that(n.own_count == 0, "oriTopk is %" PRId64 "; allowed: 0", n.own_count);
  check.that(new_chip ? n.count >= 0 : n.count == 0 || n.count == 512 || n.count == 1024,
             "cmpTopk is %" PRId64 "; allowed: %s", n.count,
             new_chip ? "0 and above" : "0, 512, 1024");
  check.that(n.mask == kMlaBand || (free && (n.mask == kMlaNoMask || n.mask == kMlaCausal)),
             "oriMaskMode is %" PRId64 "; allowed: %s", n.mask, free ? "0, 3, 4" : "4");
  check.that(n.compressed_mask == kMlaCausal || (free && n.compressed_mask == kMlaNoMask),
             "cmpMaskMode is %" PRId64 "; allowed: %s", n.compressed_mask, free ? "0, 3" : "3");
  check.that(new_chip ? n.left >= -1 && n.right >= -1 : n.left == 127 && n.right == 0,
             "oriWinLeft is %" PRId64 " and oriWinRight %" PRId64 "; allowed: %s", n.left, n.right,
             new_chip ? "-1 and above" : "127 and 0");
  const int64_t ratio = !n.compressed ? 1 : n.count != 0 ? 4 : 128;
  check.that(new_chip ? !n.compressed || (n.ratio >= 1 && n.ratio <= kMostRatio) : n.ratio == ratio,
             "cmpRatio is %" PRId64 "; allowed: %" PRId64 "%s", n.ratio, new_chip ? 1 : ratio,
             new_chip ? " to 128" : "");
}

void check_loss(Check &check, const IndexerNumbers &n) {
  const bool new_chip = chip_is_950();
  const int64_t heads = n.query_heads, count = n.count;
  check.that(new_chip ? heads >= 1 && heads <= kMostHeads
                      : heads >= 8 && heads <= kMostIndexerHeads && power_of_two(heads),
             "numHeadsQ is %" PRId64 "; allowed: %s", heads,
             new_chip ? "1 to 128" : "8, 16, 32, 64");
  check.that(n.key_heads == 1, "numHeadsK is %" PRId64 "; allowed: 1", n.key_heads);
  check.that(n.width == kIndexerWidth, "headDim is %" PRId64 "; allowed: 128", n.width);
  check.that(new_chip ? count >= 1 && count <= kMostChosen
                      : count >= 512 && count <= kMostChosen950 && power_of_two(count),
             "topk is %" PRId64 "; allowed: %s", count,
             new_chip ? "1 to 2048" : "512, 1024, 2048, 4096, 8192");
  check.that(n.mask == 0 || n.mask == kMlaCausal, "maskMode is %" PRId64 "; allowed: 0, 3", n.mask);
  check.that(n.ratio >= (new_chip ? 1 : 0) && n.ratio <= kMostRatio,
             "cmpRatio is %" PRId64 "; allowed: %d to 128", n.ratio, new_chip ? 1 : 0);
}

void check_mla_gradient(Check &check, const MlaNumbers &n) {
  check.that(n.query_heads >= 1 && n.query_heads <= kMostHeads,
             "numHeadsQ is %" PRId64 "; allowed: 1 to 128", n.query_heads);
  check.that(n.key_heads == 1, "numHeadsKv is %" PRId64 "; allowed: 1", n.key_heads);
  check.that(n.width == kMlaWidth, "headDim is %" PRId64 "; allowed: 512", n.width);
  check.that(n.own_count >= 0, "oriTopk is %" PRId64 "; allowed: 0 and above", n.own_count);
  check.that(n.count >= 0, "cmpTopk is %" PRId64 "; allowed: 0 and above", n.count);
  check.that(n.ratio >= 1 && n.ratio <= kMostRatio, "cmpRatio is %" PRId64 "; allowed: 1 to 128",
             n.ratio);
  check.that(n.mask == kMlaNoMask || n.mask == kMlaCausal || n.mask == kMlaBand,
             "oriMaskMode is %" PRId64 "; allowed: 0, 3, 4", n.mask);
  check.that(n.compressed_mask == kMlaNoMask || n.compressed_mask == kMlaCausal,
             "cmpMaskMode is %" PRId64 "; allowed: 0, 3", n.compressed_mask);
  check.that(n.left >= -1 && n.right >= -1,
             "oriWinLeft is %" PRId64 " and oriWinRight %" PRId64 "; allowed: -1 and above", n.left,
             n.right);
}

// The lists of tasks of gradients are of sequences that pages do not hold.
void check_not_paged(Check &check, const char *name, const char *layout) {
  check.that(layout == nullptr || std::strcmp(layout, "PA_BBND") != 0,
             "%s is \"PA_BBND\"; allowed: BSND, TND", name);
}

}  // namespace
}  // namespace emu

#define INDEXER_TASK_LISTS                                                         \
  const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKOptional,        \
      const aclTensor *sequsedQOptional, const aclTensor *sequsedKOptional,        \
      const aclTensor *cmpResidualKOptional, int64_t numHeadsQ, int64_t numHeadsK, \
      int64_t headDim, int64_t topk
#define INDEXER_TASK_SIZES                                                                \
  int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenK, const char *layoutQOptional, \
      const char *layoutKOptional, int64_t maskMode, int64_t cmpRatio, aclTensor *metadata
#define INDEXER_CALL_OF_TASKS(NAME)                                                           \
  emu::TaskCall c{};                                                                          \
  c.op = NAME;                                                                                \
  c.query = {EMU_ARGUMENT(cuSeqlensQOptional), EMU_ARGUMENT(sequsedQOptional), "maxSeqlenQ",  \
             maxSeqlenQ};                                                                     \
  c.key[0] = {EMU_ARGUMENT(cuSeqlensKOptional), EMU_ARGUMENT(sequsedKOptional), "maxSeqlenK", \
              maxSeqlenK};                                                                    \
  c.key[1].needed = false;                                                                    \
  c.residuals = EMU_ARGUMENT(cmpResidualKOptional);                                           \
  c.batch = batchSize;                                                                        \
  c.query_layout = layoutQOptional;                                                           \
  c.key_layout_name = "layoutKOptional";                                                      \
  c.key_layout = layoutKOptional;                                                             \
  c.residuals_needed = cmpRatio != 1 && maskMode == emu::kMlaCausal;                          \
  c.fields = emu::kIndexerFields;                                                             \
  c.list = EMU_ARGUMENT(metadata);                                                            \
  emu::Check check(c.op)
#define INDEXER_TASKS(NAME)    \
  INDEXER_CALL_OF_TASKS(NAME); \
  emu::check_indexer(check, {numHeadsQ, numHeadsK, headDim, topk, maskMode, cmpRatio})

EMU_OPERATOR(LightningIndexerV2Metadata, (INDEXER_TASK_LISTS, INDEXER_TASK_SIZES)) {
  INDEXER_TASKS("aclnnLightningIndexerV2Metadata");
  return emu::plan_tasks(check, c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantLightningIndexerV2Metadata,
             (INDEXER_TASK_LISTS, int64_t quantMode, INDEXER_TASK_SIZES)) {
  INDEXER_TASKS("aclnnQuantLightningIndexerV2Metadata");
  const bool new_chip = emu::chip_is_950();
  check.that(new_chip ? quantMode >= 1 && quantMode <= 5 : quantMode == 2,
             "quantMode is %" PRId64 "; allowed: %s", quantMode, new_chip ? "1 to 5" : "2");
  check.that(new_chip || numHeadsQ == 64, "numHeadsQ is %" PRId64 "; allowed: 64", numHeadsQ);
  check.that(new_chip || (layoutKOptional && std::strcmp(layoutKOptional, "PA_BBND") == 0),
             "layoutKOptional is \"%.40s\"; allowed: PA_BBND",
             layoutKOptional ? layoutKOptional : "BSND");
  check.that(new_chip || emu::power_of_two(cmpRatio),
             "cmpRatio is %" PRId64 "; allowed: powers of 2 up to 128", cmpRatio);
  return emu::plan_tasks(check, c, workspaceSize, executor);
}
EMU_CATCH

#define MLA_TASK_LISTS                                                                \
  const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional,       \
      const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional,     \
      const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional,   \
      const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional, \
      const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ, int64_t numHeadsKv,  \
      int64_t headDim
#define MLA_TASK_SIZES                                                                   \
  int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv, \
      int64_t oriTopk, int64_t cmpTopk
#define MLA_TASK_MASKS                                                                \
  int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft,     \
      int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, \
      bool hasOriKv, bool hasCmpKv, aclTensor *metaData
#define MLA_CALL_OF_TASKS(NAME)                                                              \
  emu::TaskCall c{};                                                                         \
  c.op = NAME;                                                                               \
  c.query = {EMU_ARGUMENT(cuSeqlensQOptional), EMU_ARGUMENT(sequsedQOptional), "maxSeqlenQ", \
             maxSeqlenQ};                                                                    \
  c.key[0] = {EMU_ARGUMENT(cuSeqlensOriKvOptional), EMU_ARGUMENT(sequsedOriKvOptional),      \
              "maxSeqlenOriKv", maxSeqlenOriKv};                                             \
  c.key[1] = {EMU_ARGUMENT(cuSeqlensCmpKvOptional), EMU_ARGUMENT(sequsedCmpKvOptional),      \
              "maxSeqlenCmpKv", maxSeqlenCmpKv, hasCmpKv};                                   \
  c.residuals = EMU_ARGUMENT(cmpResidualKvOptional);                                         \
  c.unused[0] = EMU_ARGUMENT(oriTopkLengthOptional);                                         \
  c.unused[1] = EMU_ARGUMENT(cmpTopkLengthOptional);                                         \
  c.batch = batchSize;                                                                       \
  c.query_layout = layoutQOptional;                                                          \
  c.key_layout_name = "layoutKvOptional";                                                    \
  c.key_layout = layoutKvOptional;                                                           \
  c.residuals_needed = hasCmpKv && cmpRatio != 1 && cmpMaskMode == emu::kMlaCausal;          \
  c.fields = emu::kMlaFields;                                                                \
  c.list = EMU_ARGUMENT(metaData);                                                           \
  emu::Check check(c.op)
#define MLA_TASKS(NAME, QUANTISED)                                                                \
  MLA_CALL_OF_TASKS(NAME);                                                                        \
  emu::check_mla(check, {numHeadsQ, numHeadsKv, headDim, oriTopk, cmpTopk, cmpRatio, oriMaskMode, \
                         cmpMaskMode, oriWinLeft, oriWinRight, hasOriKv, hasCmpKv, QUANTISED})

EMU_OPERATOR(SparseFlashMlaMetadata, (MLA_TASK_LISTS, MLA_TASK_SIZES, MLA_TASK_MASKS)) {
  MLA_TASKS("aclnnSparseFlashMlaMetadata", false);
  for (const auto &t : c.unused) {
    check.optional(t.name, t.given);
    check.that(!t || !check.ok() || t->numel() == 0, "%s is given; pass null", t.name);
  }
  check.that(sequsedQOptional == nullptr ||
                 !check.optional("sequsedQOptional", sequsedQOptional).ok() ||
                 sequsedQOptional->numel() == 0,
             "sequsedQOptional is given; pass null");
  return emu::plan_tasks(check, c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MixedQuantSparseFlashMlaMetadata, (MLA_TASK_LISTS, int64_t quantMode, MLA_TASK_SIZES,
                                                int64_t ropeHeadDim, MLA_TASK_MASKS)) {
  MLA_TASKS("aclnnMixedQuantSparseFlashMlaMetadata", true);
  if (const emu::Status bad = emu::check_chip(check, emu::kNoKernel)) return bad;
  check.that(quantMode == 1 || quantMode == 2, "quantMode is %" PRId64 "; allowed: 1, 2",
             quantMode);
  check.that(ropeHeadDim == emu::kMlaRope, "ropeHeadDim is %" PRId64 "; allowed: 64", ropeHeadDim);
  return emu::plan_tasks(check, c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SparseFlashMlaGradMetadata, (MLA_TASK_LISTS, MLA_TASK_SIZES, MLA_TASK_MASKS)) {
  MLA_CALL_OF_TASKS("aclnnSparseFlashMlaGradMetadata");
  if (const emu::Status bad = emu::check_chip(check, emu::kNoKernel)) return bad;
  emu::check_mla_gradient(
      check, {numHeadsQ, numHeadsKv, headDim, oriTopk, cmpTopk, cmpRatio, oriMaskMode, cmpMaskMode,
              oriWinLeft, oriWinRight, hasOriKv, hasCmpKv, false});
  emu::check_not_paged(check, c.key_layout_name, c.key_layout);
  for (const auto &t : c.unused) check.optional(t.name, t.given);
  check.that(!hasOriKv || oriTopk == 0 || oriMaskMode != emu::kMlaNoMask || bool(c.unused[0]),
             "%s is null; with an oriTopk and oriMaskMode 0 it is needed", c.unused[0].name);
  check.that(!hasCmpKv || cmpTopk == 0 || cmpMaskMode != emu::kMlaNoMask || bool(c.unused[1]),
             "%s is null; with a cmpTopk and cmpMaskMode 0 it is needed", c.unused[1].name);
  c.key[0].needed = hasOriKv;
  c.form = emu::TaskForm::kShares;
  return emu::plan_tasks(check, c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SparseLightningIndexerKLLossGradMetadata,
             (const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKOptional,
              const aclTensor *sequsedQOptional, const aclTensor *sequsedKOptional,
              const aclTensor *cmpResidualKOptional, int64_t batchSize, int64_t maxSeqlenQ,
              int64_t maxSeqlenK, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim,
              int64_t topk, const char *layoutQOptional, const char *layoutKOptional,
              int64_t maskMode, int64_t cmpRatio, aclTensor *metadata)) {
  INDEXER_CALL_OF_TASKS("aclnnSparseLightningIndexerKLLossGradMetadata");
  emu::check_loss(check, {numHeadsQ, numHeadsK, headDim, topk, maskMode, cmpRatio});
  emu::check_not_paged(check, c.key_layout_name, c.key_layout);
  const bool new_chip = emu::chip_is_950();
  for (const auto *t : {&c.query.used, &c.key[0].used, &c.residuals}) {
    check.optional(t->name, t->given);
    check.that(new_chip || !check.ok() || !*t || (*t)->numel() == 0,
               "%s is given; only a 950 takes it: pass null", t->name);
  }
  const bool packed = layoutQOptional && std::strcmp(layoutQOptional, "TND") == 0;
  check.that(packed || (maxSeqlenQ >= 1 && maxSeqlenK >= 1),
             "maxSeqlenQ is %" PRId64 " and maxSeqlenK %" PRId64 "; with BSND both are positive",
             maxSeqlenQ, maxSeqlenK);
  check.that(packed || batchSize >= 1 || (new_chip && bool(c.query.used)),
             "batchSize is %" PRId64 "; with BSND it must be positive", batchSize);
  check.optional("cuSeqlensQOptional", cuSeqlensQOptional);
  check.that(!check.ok() || !packed || batchSize <= 0 || !cuSeqlensQOptional ||
                 cuSeqlensQOptional->numel() - 1 == batchSize,
             "batchSize is %" PRId64 "; it must be the sequences of cuSeqlensQOptional, or 0",
             batchSize);
  c.residuals_needed = false;
  c.form = new_chip ? emu::TaskForm::kShares : emu::TaskForm::kStarts;
  c.numbers = emu::kFewTaskNumbers;
  return emu::plan_tasks(check, c, workspaceSize, executor);
}
EMU_CATCH
