// SPDX-License-Identifier: Apache-2.0
// Attention of native sparse attention over compressed keys, with the blocks of keys that each
// token selects by it.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/statuses.h"
#include "ops/attention/blocks/nsa_compressed.h"

namespace emu {
namespace {

constexpr int64_t kUnit = 16, kLongestWindow = 128, kLongestStride = 64, kMostCount = 32;
constexpr int64_t kMostKeys = 14000, kMostGroup = 128;
constexpr int64_t kMostCachedKeys = 8192, kMostBatches = 10000, kMostBlocks = 4096, kMostSteps = 4;
constexpr int64_t kWidest = 192, kWidestValue = 128, kLargestPage = 128;

struct WindowCall {
  int64_t window, stride, block, count;
  const char *stride_name;
};

bool unit_size(int64_t size, int64_t most) {
  return size >= kUnit && size % kUnit == 0 && size <= most;
}

void check_windows(Check &check, const WindowCall &c) {
  check.that(unit_size(c.window, kLongestWindow),
             "compressBlockSize is %" PRId64 "; allowed: multiples of 16 up to 128", c.window);
  check.that(unit_size(c.stride, kLongestStride) && c.stride <= c.window,
             "%s is %" PRId64 "; allowed: 16, 32, 48 and 64, up to compressBlockSize, %" PRId64,
             c.stride_name, c.stride, c.window);
  check.that(unit_size(c.block, kLongestWindow) && c.block >= c.window &&
                 c.block % std::max<int64_t>(c.stride, 1) == 0,
             "selectBlockSize is %" PRId64 "; allowed: multiples of %s, %" PRId64
             ", from compressBlockSize, %" PRId64 ", to 128",
             c.block, c.stride_name, c.stride, c.window);
  check.that(c.count >= 1, "selectBlockCount is %" PRId64 "; it must be positive", c.count);
}

void check_heads(Check &check, const Compressed &x) {
  const int64_t group = x.key.heads > 0 ? x.query.heads / x.key.heads : 0;
  check.that(x.value.heads == x.key.heads && x.query.heads % x.key.heads == 0 && group >= 1 &&
                 group <= kMostGroup && kMostGroup % group == 0,
             "query, key and value have %" PRId64 ", %" PRId64 " and %" PRId64
             " heads; those of key and value must be equal, and those of query 1, 2, 4 up to 128 "
             "times as many",
             x.query.heads, x.key.heads, x.value.heads);
  check.that(x.query.width == x.key.width && x.value.width <= x.key.width,
             "query, key and value have heads of %" PRId64 ", %" PRId64 " and %" PRId64
             " elements; the first two must be equal, and the third no larger",
             x.query.width, x.key.width, x.value.width);
}

int64_t longest(const Sequences &s) {
  return *std::max_element(s.lengths.begin(), s.lengths.end());
}

// The blocks of each sequence follow from its compressed keys.
void check_blocks(Check &check, const aclIntArray *list, const Compressed &x) {
  const Sequences blocks = ends_of(check, "actualSelSeqKvLenOptional", list, x.key.tokens);
  if (!check.ok()) return;
  check.that(blocks.lengths.size() == x.keys.lengths.size() &&
                 x.queries.lengths.size() == x.keys.lengths.size(),
             "actualSeqQLenOptional, actualCmpSeqKvLenOptional and actualSelSeqKvLenOptional have "
             "%zu, %zu and %zu sequences; the numbers must be equal",
             x.queries.lengths.size(), x.keys.lengths.size(), blocks.lengths.size());
  for (size_t b = 0; check.ok() && b < blocks.lengths.size(); ++b) {
    const int64_t keys = x.keys.lengths[b], expected = x.blocks(keys);
    check.that(keys <= kMostKeys,
               "sequence %zu has %" PRId64 " compressed keys; at most 14000 are allowed", b, keys);
    check.that(blocks.lengths[b] == expected,
               "sequence %zu has %" PRId64 " blocks by actualSelSeqKvLenOptional; its %" PRId64
               " compressed keys make %" PRId64,
               b, blocks.lengths[b], keys, expected);
    check.that(x.count <= expected,
               "selectBlockCount is %" PRId64 "; sequence %zu has %" PRId64 " blocks", x.count, b,
               expected);
  }
}

void check_mask(Check &check, const aclTensor *mask, const Compressed &x) {
  if (mask == nullptr || !check.ok()) return;
  check.rank("attenMaskOptional", mask, 2, 2);
  if (!check.ok()) return;
  const int64_t rows = longest(x.queries), columns = longest(x.keys);
  check.that(mask->shape[0] >= rows && mask->shape[1] >= columns,
             "attenMaskOptional has shape %s; it must have at least (%" PRId64 ", %" PRId64 ")",
             shape_text(layout_of(*mask)).c_str(), rows, columns);
}

Status finish_compressed(const std::shared_ptr<const Compressed> &kept, PlanBuilder &plan,
                         uint64_t *workspace_size, aclOpExecutor **executor) {
  return plan.finish([kept](PlanContext &c) { return run_compressed(*kept, c); }, workspace_size,
                     executor);
}

// A cache of pages whose heads lie side by side.
SequenceForm cache_form(Check &check, const char *name, const aclTensor *t, int64_t heads) {
  SequenceForm form;
  check.rank(name, t, 3, 3);
  if (!check.ok()) return form;
  check.that(t->numel() != 0 && t->shape[2] % heads == 0,
             "%s has shape %s; its last dimension must be a multiple of %" PRId64 " heads", name,
             shape_text(layout_of(*t)).c_str(), heads);
  form.paged = true;
  form.pages = t->shape[0];
  form.tokens = t->shape[1];
  form.heads = heads;
  form.width = t->shape[2] / heads;
  return form;
}

// Whether several tokens of each sequence are there, by the three lists of lengths. Otherwise each
// sequence has one token.
bool several_tokens(const Compressed &x, const aclIntArray *queries, const aclIntArray *keys,
                    const aclIntArray *whole) {
  if (queries == nullptr || whole == nullptr) return false;
  const auto &q = queries->values, &k = keys->values, &w = whole->values;
  if (q.size() != k.size() || w.size() != k.size()) return false;
  for (size_t b = 0; b < k.size(); ++b) {
    if (q[b] < 1 || q[b] > kMostSteps || q[b] > w[b]) return false;
    if (w[b] < x.window || (w[b] - x.window) / x.stride + 1 != k[b]) return false;
  }
  return true;
}

// The sequences of a call with pages: its compressed keys, and the tokens of the query.
void read_steps(Check &check, const aclIntArray *queries, const aclIntArray *keys,
                const aclIntArray *whole, Compressed *x) {
  const bool several = several_tokens(*x, queries, keys, whole);
  const int64_t room = std::min(x->key.table_width * x->key.tokens, kMostCachedKeys);
  int64_t first = 0;
  for (size_t b = 0; check.ok() && b < keys->values.size(); ++b) {
    const int64_t length = keys->values[b], tokens = several ? queries->values[b] : 1,
                  most = x->query.packed ? x->query.tokens - first : x->query.tokens;
    check.that(length >= 1 && length <= room,
               "actualCmpKvSeqLenOptional[%zu] is %" PRId64 "; allowed: 1 to %" PRId64, b, length,
               room);
    if (!check.ok()) return;
    const int64_t blocks = ((length - 1) * x->stride + x->window) / x->block;
    check.that(blocks <= kMostBlocks && x->count <= blocks,
               "selectBlockCount is %" PRId64 "; sequence %zu has %" PRId64
               " blocks, of which there may be 4096",
               x->count, b, blocks);
    check.that(tokens <= most,
               "actualQSeqLenOptional[%zu] is %" PRId64 "; query has %" PRId64 " tokens for it", b,
               tokens, most);
    x->queries.starts.push_back(x->query.packed ? first : 0);
    x->queries.lengths.push_back(tokens);
    x->keys.starts.push_back(0);
    x->keys.lengths.push_back(length);
    first += tokens;
  }
  check.that(several || x->query.tokens == (x->query.packed ? x->query.batch : 1),
             "query has %" PRId64
             " tokens; several of a sequence need actualQSeqLenOptional with 1 to 4 for each, and "
             "actualSelKvSeqLenOptional with the tokens that actualCmpKvSeqLenOptional was made of",
             x->query.tokens);
  if (check.ok() && several) x->whole = whole->values;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(NsaCompressAttention,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *attenMaskOptional, const aclTensor *topkMaskOptional,
              const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualCmpSeqKvLenOptional,
              const aclIntArray *actualSelSeqKvLenOptional, double scaleValue, int64_t headNum,
              const char *inputLayout, int64_t sparseMode, int64_t compressBlockSize,
              int64_t compressStride, int64_t selectBlockSize, int64_t selectBlockCount,
              aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *attentionOutOut,
              aclTensor *topkIndicesOut)) {
  emu::Check check("aclnnNsaCompressAttention");
  check.required("query", query)
      .required("key", key)
      .required("value", value)
      .optional("attenMaskOptional", attenMaskOptional)
      .optional("topkMaskOptional", topkMaskOptional)
      .optional("actualSeqQLenOptional", actualSeqQLenOptional)
      .optional("actualCmpSeqKvLenOptional", actualCmpSeqKvLenOptional)
      .optional("actualSelSeqKvLenOptional", actualSelSeqKvLenOptional)
      .required_text("inputLayout", inputLayout)
      .required("softmaxMaxOut", softmaxMaxOut)
      .required("softmaxSumOut", softmaxSumOut)
      .required("attentionOutOut", attentionOutOut)
      .required("topkIndicesOut", topkIndicesOut)
      .dtype("query", query)
      .dtype("key", key)
      .dtype("value", value)
      .dtype("attenMaskOptional", attenMaskOptional)
      .dtype("softmaxMaxOut", softmaxMaxOut)
      .dtype("softmaxSumOut", softmaxSumOut)
      .dtype("attentionOutOut", attentionOutOut)
      .dtype("topkIndicesOut", topkIndicesOut);
  if (!check.ok()) return check.status();
  check.same_dtype("key", key->dtype, "query", query->dtype)
      .same_dtype("value", value->dtype, "query", query->dtype)
      .same_dtype("attentionOutOut", attentionOutOut->dtype, "query", query->dtype);
  check.that(topkMaskOptional == nullptr,
             "topkMaskOptional is given; it must be null here: its document does not say what its "
             "values mean");
  check.that(std::strcmp(inputLayout, "TND") == 0, "inputLayout is \"%.40s\"; allowed: TND",
             inputLayout);
  check.that(sparseMode == 0 || sparseMode == 1, "sparseMode is %" PRId64 "; allowed: 0, 1",
             sparseMode);
  check.tiling();
  auto x = std::make_shared<emu::Compressed>();
  x->op = "aclnnNsaCompressAttention";
  x->query = emu::sequence_form(check, "query", query, "inputLayout", "TND", nullptr);
  x->key = emu::sequence_form(check, "key", key, "inputLayout", "TND", nullptr);
  x->value = emu::sequence_form(check, "value", value, "inputLayout", "TND", nullptr);
  emu::check_windows(check, {compressBlockSize, compressStride, selectBlockSize, selectBlockCount,
                             "compressStride"});
  check.that(selectBlockCount <= emu::kMostCount,
             "selectBlockCount is %" PRId64 "; allowed: 1 to 32", selectBlockCount);
  if (!check.ok()) return check.status();
  check.that(x->query.heads == headNum,
             "headNum is %" PRId64 "; it must be the heads of query, %" PRId64, headNum,
             x->query.heads);
  emu::check_heads(check, *x);
  check.that(x->query.heads / x->key.heads < emu::kMostGroup,
             "query has 128 times the heads of key; less is allowed");
  check.that(x->value.tokens == x->key.tokens,
             "value has %" PRId64 " tokens and key %" PRId64 "; they must be equal",
             x->value.tokens, x->key.tokens);
  x->queries = emu::ends_of(check, "actualSeqQLenOptional", actualSeqQLenOptional, x->query.tokens);
  x->keys =
      emu::ends_of(check, "actualCmpSeqKvLenOptional", actualCmpSeqKvLenOptional, x->key.tokens);
  x->window = compressBlockSize;
  x->stride = compressStride;
  x->block = selectBlockSize;
  x->count = selectBlockCount;
  if (!check.ok()) return check.status();
  emu::check_blocks(check, actualSelSeqKvLenOptional, *x);
  emu::check_mask(check, attenMaskOptional, *x);
  const int64_t sums[] = {x->query.tokens, headNum, emu::kCompressedLanes},
                out[] = {x->query.tokens, headNum, x->value.width},
                chosen[] = {x->query.tokens, x->key.heads, selectBlockCount};
  check.shape("softmaxMaxOut", softmaxMaxOut, emu::dense_layout(sums, 3))
      .shape("softmaxSumOut", softmaxSumOut, emu::dense_layout(sums, 3))
      .shape("attentionOutOut", attentionOutOut, emu::dense_layout(out, 3))
      .shape("topkIndicesOut", topkIndicesOut, emu::dense_layout(chosen, 3));
  if (!check.ok()) return check.status();
  x->query.batch = x->key.batch = x->value.batch = static_cast<int64_t>(x->queries.lengths.size());
  x->scale = static_cast<float>(scaleValue);
  x->with_mask = attenMaskOptional != nullptr;
  x->with_sums = true;
  emu::PlanBuilder plan(x->op);
  x->query_at = plan.input(query);
  x->key_at = plan.input(key);
  x->value_at = plan.input(value);
  x->mask_at = plan.input(attenMaskOptional);
  plan.unused(topkMaskOptional);
  x->highest_at = plan.output(softmaxMaxOut);
  x->sum_at = plan.output(softmaxSumOut);
  x->out_at = plan.output(attentionOutOut);
  x->chosen_at = plan.output(topkIndicesOut);
  return emu::finish_compressed(x, plan, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NsaCompressAttentionInfer,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *attentionMaskOptional, const aclTensor *blockTableOptional,
              const aclIntArray *actualQSeqLenOptional,
              const aclIntArray *actualCmpKvSeqLenOptional,
              const aclIntArray *actualSelKvSeqLenOptional, const aclTensor *topKMaskOptional,
              int64_t numHeads, int64_t numKeyValueHeads, int64_t selectBlockSize,
              int64_t selectBlockCount, int64_t compressBlockSize, int64_t compressBlockStride,
              double scaleValue, const char *layoutOptional, int64_t pageBlockSize,
              int64_t sparseMode, aclTensor *output, aclTensor *topKOutput)) {
  static_cast<void>(sparseMode);  // belongs to the mask
  emu::Check check("aclnnNsaCompressAttentionInfer");
  check.required("query", query)
      .required("key", key)
      .required("value", value)
      .optional("attentionMaskOptional", attentionMaskOptional)
      .required("blockTableOptional", blockTableOptional)
      .optional("actualQSeqLenOptional", actualQSeqLenOptional)
      .required("actualCmpKvSeqLenOptional", actualCmpKvSeqLenOptional)
      .optional("actualSelKvSeqLenOptional", actualSelKvSeqLenOptional)
      .optional("topKMaskOptional", topKMaskOptional)
      .required("output", output)
      .required("topKOutput", topKOutput)
      .dtype("query", query)
      .dtype("key", key)
      .dtype("value", value)
      .dtype("attentionMaskOptional", attentionMaskOptional)
      .dtype("blockTableOptional", blockTableOptional)
      .dtype("topKMaskOptional", topKMaskOptional)
      .dtype("output", output)
      .dtype("topKOutput", topKOutput);
  if (!check.ok()) return check.status();
  check.same_dtype("key", key->dtype, "query", query->dtype)
      .same_dtype("value", value->dtype, "query", query->dtype)
      .same_dtype("output", output->dtype, "query", query->dtype);
  check.tiling();
  emu::check_windows(check, {compressBlockSize, compressBlockStride, selectBlockSize,
                             selectBlockCount, "compressBlockStride"});
  check.that(numHeads >= 1 && numKeyValueHeads >= 1,
             "numHeads is %" PRId64 " and numKeyValueHeads %" PRId64 "; they must be positive",
             numHeads, numKeyValueHeads);
  if (!check.ok()) return check.status();
  auto x = std::make_shared<emu::Compressed>();
  x->op = "aclnnNsaCompressAttentionInfer";
  x->window = compressBlockSize;
  x->stride = compressBlockStride;
  x->block = selectBlockSize;
  x->count = selectBlockCount;
  x->query = emu::sequence_form(check, "query", query, "layoutOptional",
                                layoutOptional ? layoutOptional : "BSND", nullptr);
  x->key = emu::cache_form(check, "key", key, numKeyValueHeads);
  x->value = emu::cache_form(check, "value", value, numKeyValueHeads);
  if (!check.ok()) return check.status();
  check.that(x->query.heads == numHeads,
             "numHeads is %" PRId64 "; it must be the heads of query, %" PRId64, numHeads,
             x->query.heads);
  emu::check_heads(check, *x);
  check.that(x->key.width <= emu::kWidest && x->value.width <= emu::kWidestValue,
             "key and value have heads of %" PRId64 " and %" PRId64
             " elements; at most 192 and 128 are allowed",
             x->key.width, x->value.width);
  check.that(emu::unit_size(pageBlockSize, emu::kLargestPage) && x->key.tokens == pageBlockSize &&
                 x->value.tokens == pageBlockSize && x->value.pages == x->key.pages,
             "pageBlockSize is %" PRId64
             "; it must be a multiple of 16 up to 128, and key and value must have as many pages "
             "of that size",
             pageBlockSize);
  const int64_t batch = static_cast<int64_t>(actualCmpKvSeqLenOptional->values.size());
  check.that(batch >= 1 && batch <= emu::kMostBatches,
             "actualCmpKvSeqLenOptional has %" PRId64 " lengths; allowed: 1 to 10000", batch);
  check.that(x->query.packed || x->query.batch == batch,
             "query has %" PRId64 " sequences and actualCmpKvSeqLenOptional %" PRId64,
             x->query.batch, batch);
  x->query.batch = x->key.batch = x->value.batch = batch;
  emu::check_pages(check, "blockTableOptional", blockTableOptional, batch, &x->key);
  if (!check.ok()) return check.status();
  x->value.table_width = x->key.table_width;
  emu::read_steps(check, actualQSeqLenOptional, actualCmpKvSeqLenOptional,
                  actualSelKvSeqLenOptional, x.get());
  check.that(attentionMaskOptional == nullptr || x->whole.empty(),
             "attentionMaskOptional is given; with several tokens of a sequence it must be null "
             "here: its document does not give its shape");
  emu::Layout out = emu::layout_of(*query), chosen = out;
  out.shape[out.rank - 1] = x->value.width;
  chosen.shape[chosen.rank - 2] = numKeyValueHeads;
  chosen.shape[chosen.rank - 1] = selectBlockCount;
  check.shape("output", output, out).shape("topKOutput", topKOutput, chosen);
  if (!check.ok()) return check.status();
  x->scale = static_cast<float>(scaleValue);
  emu::PlanBuilder plan(x->op);
  x->query_at = plan.input(query);
  x->key_at = plan.input(key);
  x->value_at = plan.input(value);
  plan.unused(attentionMaskOptional);
  x->table_at = plan.input(blockTableOptional);
  plan.unused(topKMaskOptional);
  x->out_at = plan.output(output);
  x->chosen_at = plan.output(topKOutput);
  return emu::finish_compressed(x, plan, workspaceSize, executor);
}
EMU_CATCH
