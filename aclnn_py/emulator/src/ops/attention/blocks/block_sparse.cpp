// SPDX-License-Identifier: Apache-2.0
// Attention over chosen blocks of keys: BlockSparseAttention has a mask of the pairs of blocks that
// meet, RainFusionAttention a list of blocks for each block of queries.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/blocks/block_sparse.h"

namespace emu {
namespace {

constexpr DtypeSet kWithFloat8 = dtype_set(ACL_FLOAT16, ACL_BF16, ACL_FLOAT8_E4M3FN);
constexpr int64_t kKeyUnit = 128, kKeyUnit950 = 16, kAll = 2147483647;

struct BlockCall {
  const char *op;
  const aclTensor *query, *key, *value;
  Named<aclTensor> pairs, list, counts;  // the mask of pairs, or the list and its lengths
  Named<aclIntArray> block_shape;
  const aclTensor *mask, *table;
  const aclIntArray *query_lengths, *key_lengths;
  const char *query_layout, *key_layout;
  int64_t kv_heads, mask_type, precise, block_size;
  double scale;
  bool with_lse;
  const aclTensor *out;
  Named<aclTensor> lse;
  int64_t before, after, lse_flag;
  Named<aclTensor> scales[3];  // of query, key and value

  bool narrow() const { return scales[0].name && query->dtype == ACL_FLOAT8_E4M3FN; }
};

// A chip of the 950 series takes floats of 8 bits too, where the operator has scales for them.
void check_operand_dtypes(const BlockCall &c, Check &check) {
  const std::pair<const char *, const aclTensor *> operands[] = {
      {"query", c.query}, {"key", c.key}, {"value", c.value}};
  for (const auto &[name, tensor] : operands) {
    if (check.ok() && c.scales[0].name && chip_is_950()) {
      check.dtype_in(name, tensor->dtype, kWithFloat8);
    } else {
      check.dtype(name, tensor);
    }
  }
  for (const auto &scale : c.scales) {
    if (check.ok() && c.narrow()) check.required(scale.name, scale.given);
    if (scale && check.ok()) check.dtype_in(scale.name, scale->dtype, dtype_set(ACL_FLOAT));
  }
}

void check_arguments(const BlockCall &c, Check &check) {
  check.required("query", c.query).required("key", c.key).required("value", c.value);
  for (const auto *t : {&c.pairs, &c.list, &c.counts})
    if (t->name) check.required(t->name, t->given);
  check.optional("attenMaskOptional", c.mask).optional("blockTableOptional", c.table);
  check.optional(c.block_shape.name, c.block_shape.given);
  check.optional("actualSeqLengthsOptional", c.query_lengths)
      .optional("actualSeqLengthsKvOptional", c.key_lengths)
      .required_text("qInputLayout", c.query_layout)
      .required_text("kvInputLayout", c.key_layout)
      .required("attentionOut", c.out);
  if (c.with_lse) check.required(c.lse.name, c.lse.given);
  check.optional(c.lse.name, c.lse.given);
  for (const auto &scale : c.scales)
    if (scale.name) check.optional(scale.name, scale.given);
  check_operand_dtypes(c, check);
  for (const auto *t : {&c.pairs, &c.list, &c.counts}) check.dtype(t->name, t->given);
  check.dtype("attentionOut", c.out);
  if (c.with_lse) check.dtype(c.lse.name, c.lse.given);
  if (!check.ok()) return;
  check.same_dtype("key", c.key->dtype, "query", c.query->dtype)
      .same_dtype("value", c.value->dtype, "query", c.query->dtype);
  if (!c.narrow()) check.same_dtype("attentionOut", c.out->dtype, "query", c.query->dtype);
  for (const auto &scale : c.scales) {
    check.that(scale.given == nullptr || c.narrow(),
               "%s is given; it belongs to a query of FLOAT8_E4M3FN", scale.name);
  }
  check.that(!c.narrow() || c.block_shape.given,
             "blockShapeOptional is null; a query of FLOAT8_E4M3FN needs it");
  check.that(!c.mask, "attenMaskOptional is given; it must be null")
      .that(!c.table, "blockTableOptional is given; it must be null");
}

void check_forms(const BlockCall &c, bool tokens_first, Check &check, BlockSparse *x) {
  const std::pair<const char *, Arrangement> forms[] = {{"TND", Arrangement::kPacked},
                                                        {"BNSD", Arrangement::kHeadsFirst},
                                                        {"BSND", Arrangement::kTokensFirst}};
  const auto *end = std::end(forms) - (tokens_first ? 0 : 1);
  const auto *form = std::find_if(std::begin(forms), end, [&](const auto &f) {
    return std::strcmp(f.first, c.query_layout) == 0;
  });
  check.that(form != end, "qInputLayout is \"%.40s\"; allowed: TND, BNSD%s", c.query_layout,
             tokens_first ? ", BSND" : "");
  check.that(std::strcmp(c.query_layout, c.key_layout) == 0,
             "kvInputLayout is \"%.40s\"; it must be qInputLayout, \"%.40s\"", c.key_layout,
             c.query_layout);
  if (c.block_shape) {
    const auto &shape = c.block_shape->values;
    check.that(shape.size() >= 2, "%s has %zu elements; it must have 2", c.block_shape.name,
               shape.size());
    check.that(check.ok() && shape[0] > 0 && shape[1] > 0, "%s has a size below 1",
               c.block_shape.name);
    if (check.ok()) {
      x->query_block = shape[0];
      x->key_block = shape[1];
    }
  }
  const bool newer = chip_is_950();
  check.that(
      newer ? c.precise == 4 : c.precise == 0 || (c.precise == 1 && c.query->dtype == ACL_FLOAT16),
      "innerPrecise is %" PRId64 "; allowed: %s", c.precise, newer ? "4" : "0, and 1 for FLOAT16");
  if (check.ok()) x->form = form->second;
}

void check_sizes(const BlockCall &c, Check &check, BlockSparse *x) {
  const bool packed = x->packed();
  const int rank = packed ? 3 : 4;
  check.rank("query", c.query, rank, rank).rank("key", c.key, rank, rank);
  if (!check.ok()) return;
  check.that(c.query->numel() != 0 && c.key->numel() != 0,
             "query has shape %s and key %s; they must not be empty",
             shape_text(layout_of(*c.query)).c_str(), shape_text(layout_of(*c.key)).c_str());
  check.shape("value", c.value, layout_of(*c.key));
  if (!check.ok()) return;
  const size_t n = x->form == Arrangement::kTokensFirst ? 2 : 1;
  const auto &q = c.query->shape, &k = c.key->shape;
  x->heads = q[n];
  x->kv_heads = k[n];
  x->width = q[static_cast<size_t>(rank - 1)];
  x->query_tokens = packed ? q[0] : q[3 - n];
  x->key_tokens = packed ? k[0] : k[3 - n];
  check.that(x->kv_heads == c.kv_heads && x->heads % x->kv_heads == 0,
             "query has %" PRId64 " heads, key %" PRId64 " and numKeyValueHeads is %" PRId64
             "; key has that many, and query a multiple",
             x->heads, x->kv_heads, c.kv_heads);
  check.that(x->width == k[static_cast<size_t>(rank - 1)],
             "query has heads of %" PRId64 " elements and key of %" PRId64, x->width,
             k[static_cast<size_t>(rank - 1)]);
  check.that(packed || q[0] == k[0], "query has %" PRId64 " sequences and key %" PRId64, q[0],
             k[0]);
  check.that(c.mask_type == 0, "maskType is %" PRId64 "; allowed: 0", c.mask_type);
  check.that(c.block_size == 0, "blockSize is %" PRId64 "; allowed: 0", c.block_size);
  check.that((c.query_lengths == nullptr) == (c.key_lengths == nullptr),
             "actualSeqLengthsOptional and actualSeqLengthsKvOptional have to be given both or "
             "not");
  check.that(!packed || c.query_lengths,
             "actualSeqLengthsOptional is null; with qInputLayout TND it is needed");
  if (!check.ok()) return;
  x->batch = packed ? static_cast<int64_t>(c.query_lengths->values.size()) : q[0];
  check.that(x->batch >= 1, "actualSeqLengthsOptional is empty");
  read_lengths(check, "actualSeqLengthsOptional", c.query_lengths, packed, x->batch,
               x->query_tokens, &x->query_starts, &x->query_lengths);
  read_lengths(check, "actualSeqLengthsKvOptional", c.key_lengths, packed, x->batch, x->key_tokens,
               &x->key_starts, &x->key_lengths);
  check.shape("attentionOut", c.out, layout_of(*c.query));
  if (!c.with_lse) return;
  Layout sums = layout_of(*c.query);
  sums.shape[sums.rank - 1] = 1;
  check.shape(c.lse.name, c.lse.given, sums);
}

int64_t longest(const std::vector<int64_t> &lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

// (sequences, heads, blocks of queries, blocks of keys), by the longest sequences or the tensors.
void check_pairs(const BlockCall &c, Check &check, BlockSparse *x) {
  check.rank(c.pairs.name, c.pairs.given, 4, 4);
  if (!check.ok()) return;
  const auto &shape = c.pairs->shape;
  const int64_t rows = blocks_of(longest(x->query_lengths), x->query_block),
                columns = blocks_of(longest(x->key_lengths), x->key_block);
  const bool by_lengths = shape[2] == rows && shape[3] == columns;
  const bool by_tensors = !x->packed() && shape[2] == blocks_of(x->query_tokens, x->query_block) &&
                          shape[3] == blocks_of(x->key_tokens, x->key_block);
  check.that(shape[0] == x->batch && shape[1] == x->heads && (by_lengths || by_tensors),
             "%s has shape %s; expected (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")",
             c.pairs.name, shape_text(layout_of(*c.pairs.given)).c_str(), x->batch, x->heads, rows,
             columns);
  x->pair_rows = shape[2];
  x->pair_columns = shape[3];
}

void check_list(const BlockCall &c, Check &check, BlockSparse *x) {
  int64_t rows = 0;
  for (const int64_t length : x->query_lengths) rows += blocks_of(length, x->query_block);
  check.rank(c.list.name, c.list.given, 3, 3);
  if (!check.ok()) return;
  x->list_width = c.list->shape[2];
  const int64_t list[] = {rows, x->heads, x->list_width};
  check.shape(c.list.name, c.list.given, dense_layout(list, 3))
      .shape(c.counts.name, c.counts.given, dense_layout(list, 2));
}

// (sequences, heads, blocks, 1), with the blocks of the longest sequence.
void check_scales(const BlockCall &c, Check &check, const BlockSparse &x) {
  if (!check.ok() || !c.narrow()) return;
  const int64_t rows = blocks_of(longest(x.query_lengths), x.query_block),
                columns = blocks_of(longest(x.key_lengths), x.key_block);
  for (const auto &scale : c.scales) {
    const bool of_query = &scale == c.scales;
    const int64_t heads = of_query ? x.heads : x.kv_heads, blocks = of_query ? rows : columns;
    check.rank(scale.name, scale.given, 4, 4);
    if (!check.ok()) return;
    const auto &shape = scale->shape;
    check.that(shape[0] == x.batch && shape[1] == heads && shape[2] == blocks && shape[3] == 1,
               "%s has shape %s; expected (%" PRId64 ", %" PRId64 ", %" PRId64 ", 1)", scale.name,
               shape_text(layout_of(*scale.given)).c_str(), x.batch, heads, blocks);
  }
}

Status finish_blocks(const std::shared_ptr<const BlockSparse> &kept, PlanBuilder &plan,
                     uint64_t *workspace_size, aclOpExecutor **executor) {
  return plan.finish([kept](PlanContext &c) { return run_blocks(*kept, c); }, workspace_size,
                     executor);
}

// Both versions of BlockSparseAttention.
Status plan_pairs(const BlockCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  auto x = std::make_shared<BlockSparse>();
  Check check(c.op);
  check_arguments(c, check);
  if (check.ok()) check_forms(c, true, check, x.get());
  check.tiling();
  const int64_t unit = chip_is_950() ? kKeyUnit950 : kKeyUnit;
  check.that(x->key_block % unit == 0,
             "blockShapeOptional[1] is %" PRId64 "; it must be a multiple of %" PRId64,
             x->key_block, unit);
  check.that(c.before == kAll && c.after == kAll,
             "preTokens is %" PRId64 " and nextTokens %" PRId64 "; allowed: 2147483647", c.before,
             c.after);
  check.that(c.lse_flag == 0 || c.lse_flag == 1, "softmaxLseFlag is %" PRId64 "; allowed: 0, 1",
             c.lse_flag);
  if (check.ok()) check_sizes(c, check, x.get());
  check.that(x->width == 64 || x->width == 128,
             "query has heads of %" PRId64 " elements; allowed: 64, 128", x->width);
  if (check.ok()) check_pairs(c, check, x.get());
  check_scales(c, check, *x);
  if (!check.ok()) return check.status();
  x->op = c.op;
  x->scale = static_cast<float>(c.scale);
  x->with_lse = c.with_lse;
  PlanBuilder plan(c.op);
  x->query_at = plan.input(c.query);
  x->key_at = plan.input(c.key);
  x->value_at = plan.input(c.value);
  x->pairs_at = plan.input(c.pairs.given);
  plan.unused(c.mask);
  plan.unused(c.table);
  for (size_t i = 0; i < 3; ++i) {
    if (c.scales[i].name) x->scales_at[i] = plan.input(c.scales[i].given);
  }
  x->out_at = plan.output(c.out);
  x->lse_at = c.with_lse ? plan.output(c.lse.given) : plan.unused(c.lse.given);
  return finish_blocks(x, plan, workspace_size, executor);
}

}  // namespace
}  // namespace emu

// The arguments that both versions have under the same names.
#define EMU_BLOCK_SPARSE_CALL(c)                    \
  c.query = query;                                  \
  c.key = key;                                      \
  c.value = value;                                  \
  c.pairs = EMU_ARGUMENT(blockSparseMaskOptional);  \
  c.block_shape = EMU_ARGUMENT(blockShapeOptional); \
  c.mask = attenMaskOptional;                       \
  c.table = blockTableOptional;                     \
  c.query_lengths = actualSeqLengthsOptional;       \
  c.key_lengths = actualSeqLengthsKvOptional;       \
  c.query_layout = qInputLayout;                    \
  c.key_layout = kvInputLayout;                     \
  c.kv_heads = numKeyValueHeads;                    \
  c.mask_type = maskType;                           \
  c.precise = innerPrecise;                         \
  c.block_size = blockSize;                         \
  c.before = preTokens;                             \
  c.after = nextTokens;                             \
  c.lse_flag = softmaxLseFlag;                      \
  c.scale = scaleValue;                             \
  c.with_lse = softmaxLseFlag == 1;                 \
  c.out = attentionOut;                             \
  c.lse = EMU_ARGUMENT(softmaxLseOptional)

EMU_OPERATOR(BlockSparseAttention,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *blockSparseMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *blockShapeOptional, const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *blockTableOptional,
              const char *qInputLayout, const char *kvInputLayout, int64_t numKeyValueHeads,
              int64_t maskType, double scaleValue, int64_t innerPrecise, int64_t blockSize,
              int64_t preTokens, int64_t nextTokens, int64_t softmaxLseFlag,
              aclTensor *attentionOut, aclTensor *softmaxLseOptional)) {
  emu::BlockCall c{};
  c.op = "aclnnBlockSparseAttention";
  EMU_BLOCK_SPARSE_CALL(c);
  return emu::plan_pairs(c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BlockSparseAttentionV2,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *blockSparseMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *blockShapeOptional, const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *blockTableOptional,
              const aclTensor *qDequantScaleOptional, const aclTensor *kDequantScaleOptional,
              const aclTensor *vDequantScaleOptional, const char *qInputLayout,
              const char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType,
              double scaleValue, int64_t innerPrecise, int64_t blockSize, int64_t preTokens,
              int64_t nextTokens, int64_t softmaxLseFlag, aclTensor *attentionOut,
              aclTensor *softmaxLseOptional)) {
  emu::BlockCall c{};
  c.op = "aclnnBlockSparseAttentionV2";
  EMU_BLOCK_SPARSE_CALL(c);
  c.scales[0] = EMU_ARGUMENT(qDequantScaleOptional);
  c.scales[1] = EMU_ARGUMENT(kDequantScaleOptional);
  c.scales[2] = EMU_ARGUMENT(vDequantScaleOptional);
  return emu::plan_pairs(c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RainFusionAttention,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *selectIdx, const aclTensor *selectNumIdx,
              const aclIntArray *blockShape, const aclTensor *attenMaskOptional,
              const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *blockTableOptional,
              const char *qInputLayout, const char *kvInputLayout, int64_t numKeyValueHeads,
              int64_t maskType, double scaleValue, int64_t innerPrecise, int64_t blockSize,
              aclTensor *attentionOut, aclTensor *softmaxLseOptional)) {
  emu::BlockCall c{};
  c.op = "aclnnRainFusionAttention";
  c.query = query;
  c.key = key;
  c.value = value;
  c.list = EMU_ARGUMENT(selectIdx);
  c.counts = EMU_ARGUMENT(selectNumIdx);
  c.block_shape = EMU_ARGUMENT(blockShape);
  c.mask = attenMaskOptional;
  c.table = blockTableOptional;
  c.query_lengths = actualSeqLengthsOptional;
  c.key_lengths = actualSeqLengthsKvOptional;
  c.query_layout = qInputLayout;
  c.key_layout = kvInputLayout;
  c.kv_heads = numKeyValueHeads;
  c.mask_type = maskType;
  c.precise = innerPrecise;
  c.block_size = blockSize;
  c.scale = scaleValue;
  c.out = attentionOut;
  auto x = std::make_shared<emu::BlockSparse>();
  emu::Check check(c.op);
  check.required("blockShape", blockShape);
  emu::check_arguments(c, check);
  check.that(!softmaxLseOptional, "softmaxLseOptional is given; it must be null");
  if (check.ok()) emu::check_forms(c, false, check, x.get());
  check.tiling();
  check.that(actualSeqLengthsOptional != nullptr,
             "actualSeqLengthsOptional is null; it says how long the sequences are");
  if (check.ok()) emu::check_sizes(c, check, x.get());
  const int64_t group = x->kv_heads > 0 ? x->heads / x->kv_heads : 1;
  check.that(group > 0 && group < 128 && 128 % group == 0,
             "query has %" PRId64 " heads for each of key; allowed: powers of 2 below 128", group);
  if (check.ok()) emu::check_list(c, check, x.get());
  if (!check.ok()) return check.status();
  x->op = c.op;
  x->scale = static_cast<float>(scaleValue);
  emu::PlanBuilder plan(c.op);
  x->query_at = plan.input(query);
  x->key_at = plan.input(key);
  x->value_at = plan.input(value);
  x->list_at = plan.input(selectIdx);
  x->counts_at = plan.input(selectNumIdx);
  plan.unused(attenMaskOptional);
  plan.unused(blockTableOptional);
  x->out_at = plan.output(attentionOut);
  plan.unused(softmaxLseOptional);
  return emu::finish_blocks(x, plan, workspaceSize, executor);
}
EMU_CATCH
