// SPDX-License-Identifier: Apache-2.0
// Attention of native sparse attention over the blocks of keys that were selected for each token
// and each head of the keys.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/statuses.h"
#include "ops/attention/blocks/nsa_selected.h"

namespace emu {
namespace {

constexpr int64_t kWidth = 192, kValueWidth = 128, kLargestBlock = 128, kBlockUnit = 16;
constexpr int64_t kMostSelected = 128 * 64, kMostCount = 128, kMostHeads = 128, kMostBatches = 1024;
constexpr int64_t kLargestGroup = 32, kInferGroup = 16, kInferBatches = 3072, kInferHeads = 256,
                  kMostSteps = 4;
constexpr int64_t kLeftUp = 2, kTriangle = 2048;

void check_blocks(Check &check, const char *size_name, int64_t size, const char *count_name,
                  int64_t count) {
  check.that(size >= kBlockUnit && size % kBlockUnit == 0 && size <= kLargestBlock,
             "%s is %" PRId64 "; allowed: multiples of 16 up to 128", size_name, size);
  check.that(count >= 1, "%s is %" PRId64 "; it must be positive", count_name, count);
}

Status finish_selected(const std::shared_ptr<const Selected> &kept, PlanBuilder &plan,
                       uint64_t *workspace_size, aclOpExecutor **executor) {
  return plan.finish([kept](PlanContext &c) { return run_selected(*kept, c); }, workspace_size,
                     executor);
}

void check_mask(Check &check, const aclTensor *mask, int64_t mode, const Selected &x) {
  if (mask == nullptr || !check.ok()) return;
  check.that(mode == 0 || mode == kLeftUp, "sparseMode is %" PRId64 "; allowed: 0, 2", mode);
  check.rank("attenMaskOptional", mask, 2, 2);
  if (!check.ok()) return;
  const int64_t rows = *std::max_element(x.queries.lengths.begin(), x.queries.lengths.end()),
                columns = *std::max_element(x.keys.lengths.begin(), x.keys.lengths.end());
  const bool fits = mode == kLeftUp ? mask->shape[0] == kTriangle && mask->shape[1] == kTriangle
                                    : mask->shape[0] >= rows && mask->shape[1] >= columns;
  check.that(fits,
             "attenMaskOptional has shape %s; with sparseMode 2 it is (2048, 2048), else at least "
             "(%" PRId64 ", %" PRId64 ")",
             shape_text(layout_of(*mask)).c_str(), rows, columns);
}

}  // namespace

void check_selected(const SelectedArguments &c, Check &check, Selected *x) {
  check.that(std::strcmp(c.layout, "TND") == 0, "inputLayout is \"%.40s\"; allowed: TND", c.layout);
  check.tiling();
  x->query = sequence_form(check, "query", c.query, "inputLayout", "TND", nullptr);
  x->key = sequence_form(check, "key", c.key, "inputLayout", "TND", nullptr);
  x->value = sequence_form(check, "value", c.value, "inputLayout", "TND", nullptr);
  check_blocks(check, "selectedBlockSize", c.block, "selectedBlockCount", c.count);
  if (!check.ok()) return;
  check.that(c.count <= kMostCount && c.count * c.block < kMostSelected,
             "selectedBlockCount is %" PRId64
             "; at most 128 blocks with less than 8192 tokens are "
             "allowed",
             c.count);
  if (!check.ok()) return;
  check.that(x->query.heads == c.heads && c.heads <= kMostHeads,
             "headNum is %" PRId64 "; it must be the heads of query, %" PRId64 ", at most 128",
             c.heads, x->query.heads);
  check.that(x->query.heads % x->key.heads == 0 && x->group() <= kLargestGroup,
             "query has %" PRId64 " heads and key %" PRId64
             "; the first must be 1 to 32 times the second",
             x->query.heads, x->key.heads);
  check.that(x->value.heads == x->key.heads && x->value.tokens == x->key.tokens,
             "value has shape %s; its tokens and heads must be those of key, %s",
             shape_text(layout_of(*c.value)).c_str(), shape_text(layout_of(*c.key)).c_str());
  check.that(x->query.width == kWidth && x->key.width == kWidth && x->value.width == kValueWidth,
             "query, key and value have heads of %" PRId64 ", %" PRId64 " and %" PRId64
             " elements; allowed: 192, 192 and 128",
             x->query.width, x->key.width, x->value.width);
  if (!check.ok()) return;
  x->queries = ends_of(check, "actualSeqQLenOptional", c.query_ends, x->query.tokens);
  x->keys = ends_of(check, "actualSeqKvLenOptional", c.key_ends, x->key.tokens);
  if (!check.ok()) return;
  x->query.batch = x->key.batch = x->value.batch = static_cast<int64_t>(x->queries.lengths.size());
  check.that(x->keys.lengths.size() == x->queries.lengths.size() && x->query.batch <= kMostBatches,
             "actualSeqQLenOptional has %zu sequences and actualSeqKvLenOptional %zu; the numbers "
             "must be equal and at most 1024",
             x->queries.lengths.size(), x->keys.lengths.size());
  for (size_t b = 0; check.ok() && b < x->keys.lengths.size(); ++b) {
    check.that(x->keys.lengths[b] >= c.count * c.block && x->keys.lengths[b] % c.block == 0,
               "sequence %zu has %" PRId64 " keys; it must have whole blocks, at least the %" PRId64
               " that are selected",
               b, x->keys.lengths[b], c.count);
  }
  check_mask(check, c.mask, c.mode, *x);
  if (!check.ok()) return;
  const int64_t chosen[] = {x->query.tokens, x->key.heads, c.count};
  check.shape("topkIndices", c.chosen, dense_layout(chosen, 3));
  x->block = c.block;
  x->count = c.count;
  x->scale = static_cast<float>(c.scale);
  x->causal = c.mask && c.mode == kLeftUp;
  x->with_mask = c.mask && !x->causal;
}

Layout selected_statistics(const Selected &x) {
  const int64_t shape[] = {x.query.tokens, x.query.heads, kSelectedLanes};
  return dense_layout(shape, 3);
}

Layout selected_result(const Selected &x) {
  const int64_t shape[] = {x.query.tokens, x.query.heads, x.value.width};
  return dense_layout(shape, 3);
}

}  // namespace emu

EMU_OPERATOR(NsaSelectedAttention,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *topkIndices, const aclTensor *attenMaskOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              double scaleValue, int64_t headNum, const char *inputLayout, int64_t sparseMode,
              int64_t selectedBlockSize, int64_t selectedBlockCount, aclTensor *softmaxMaxOut,
              aclTensor *softmaxSumOut, aclTensor *attentionOut)) {
  emu::Check check("aclnnNsaSelectedAttention");
  check.required("query", query)
      .required("key", key)
      .required("value", value)
      .required("topkIndices", topkIndices)
      .optional("attenMaskOptional", attenMaskOptional)
      .optional("actualSeqQLenOptional", actualSeqQLenOptional)
      .optional("actualSeqKvLenOptional", actualSeqKvLenOptional)
      .required_text("inputLayout", inputLayout)
      .required("softmaxMaxOut", softmaxMaxOut)
      .required("softmaxSumOut", softmaxSumOut)
      .required("attentionOut", attentionOut)
      .dtype("query", query)
      .dtype("key", key)
      .dtype("value", value)
      .dtype("topkIndices", topkIndices)
      .dtype("attenMaskOptional", attenMaskOptional)
      .dtype("softmaxMaxOut", softmaxMaxOut)
      .dtype("softmaxSumOut", softmaxSumOut)
      .dtype("attentionOut", attentionOut);
  if (!check.ok()) return check.status();
  check.same_dtype("key", key->dtype, "query", query->dtype)
      .same_dtype("value", value->dtype, "query", query->dtype)
      .same_dtype("attentionOut", attentionOut->dtype, "query", query->dtype);
  auto x = std::make_shared<emu::Selected>();
  x->op = "aclnnNsaSelectedAttention";
  emu::check_selected({query, key, value, topkIndices, attenMaskOptional, actualSeqQLenOptional,
                       actualSeqKvLenOptional, scaleValue, headNum, inputLayout, sparseMode,
                       selectedBlockSize, selectedBlockCount},
                      check, x.get());
  if (!check.ok()) return check.status();
  check.shape("softmaxMaxOut", softmaxMaxOut, emu::selected_statistics(*x))
      .shape("softmaxSumOut", softmaxSumOut, emu::selected_statistics(*x))
      .shape("attentionOut", attentionOut, emu::selected_result(*x));
  if (!check.ok()) return check.status();
  x->with_sums = true;
  emu::PlanBuilder plan(x->op);
  x->query_at = plan.input(query);
  x->key_at = plan.input(key);
  x->value_at = plan.input(value);
  x->chosen_at = plan.input(topkIndices);
  x->mask_at = plan.input(attenMaskOptional);
  x->highest_at = plan.output(softmaxMaxOut);
  x->sum_at = plan.output(softmaxSumOut);
  x->out_at = plan.output(attentionOut);
  return emu::finish_selected(x, plan, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NsaSelectedAttentionInfer,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *topkIndices, const aclTensor *attenMaskOptional,
              const aclTensor *blockTableOptional, const aclIntArray *actualQSeqLenOptional,
              const aclIntArray *actualKvSeqLenOptional, const char *layoutOptional,
              int64_t numHeads, int64_t numKeyValueHeads, int64_t selectBlockSize,
              int64_t selectBlockCount, int64_t pageBlockSize, double scaleValue,
              int64_t sparseMode, aclTensor *output)) {
  static_cast<void>(sparseMode);  // reserved, as the mask is
  emu::Check check("aclnnNsaSelectedAttentionInfer");
  check.required("query", query)
      .required("key", key)
      .required("value", value)
      .required("topkIndices", topkIndices)
      .optional("attenMaskOptional", attenMaskOptional)
      .required("blockTableOptional", blockTableOptional)
      .optional("actualQSeqLenOptional", actualQSeqLenOptional)
      .required("actualKvSeqLenOptional", actualKvSeqLenOptional)
      .required("output", output)
      .dtype("query", query)
      .dtype("key", key)
      .dtype("value", value)
      .dtype("topkIndices", topkIndices)
      .dtype("attenMaskOptional", attenMaskOptional)
      .dtype("blockTableOptional", blockTableOptional)
      .dtype("output", output);
  if (!check.ok()) return check.status();
  check.same_dtype("key", key->dtype, "query", query->dtype)
      .same_dtype("value", value->dtype, "query", query->dtype)
      .same_dtype("output", output->dtype, "query", query->dtype);
  check.tiling();
  const char *layout = layoutOptional ? layoutOptional : "BSND";
  const bool hidden = std::strcmp(layout, "BSH") == 0;
  check.that(numHeads >= 1 && numKeyValueHeads >= 1 && numKeyValueHeads <= emu::kInferHeads &&
                 numHeads % (numKeyValueHeads > 0 ? numKeyValueHeads : 1) == 0,
             "numHeads is %" PRId64 " and numKeyValueHeads %" PRId64
             "; the first must be a multiple of the second, which is at most 256",
             numHeads, numKeyValueHeads);
  emu::check_blocks(check, "selectBlockSize", selectBlockSize, "selectBlockCount",
                    selectBlockCount);
  if (!check.ok()) return check.status();
  auto x = std::make_shared<emu::Selected>();
  x->op = "aclnnNsaSelectedAttentionInfer";
  // Heads may lie side by side: (B, S, H), and (pages, tokens, H).
  const auto joined = [&](const char *name, const aclTensor *t, int64_t heads) {
    emu::SequenceForm form;
    check.rank(name, t, 3, 3);
    if (!check.ok()) return form;
    check.that(t->numel() != 0 && t->shape[2] % heads == 0,
               "%s has shape %s; its last dimension must be a multiple of %" PRId64 " heads", name,
               emu::shape_text(emu::layout_of(*t)).c_str(), heads);
    form.batch = t->shape[0];
    form.tokens = t->shape[1];
    form.heads = heads;
    form.width = t->shape[2] / heads;
    return form;
  };
  const auto cache = [&](const char *name, const aclTensor *t) {
    emu::SequenceForm form =
        t->rank() == 3 ? joined(name, t, numKeyValueHeads)
                       : emu::sequence_form(check, name, t, "layoutOptional", "BSND", nullptr);
    form.paged = true;
    form.pages = form.batch;
    return form;
  };
  x->query = hidden ? joined("query", query, numHeads)
                    : emu::sequence_form(check, "query", query, "layoutOptional", layout, nullptr);
  x->key = cache("key", key);
  x->value = cache("value", value);
  if (!check.ok()) return check.status();
  check.that(x->query.heads == numHeads && x->key.heads == numKeyValueHeads &&
                 x->value.heads == numKeyValueHeads,
             "query, key and value have %" PRId64 ", %" PRId64 " and %" PRId64
             " heads; they must be numHeads and numKeyValueHeads",
             x->query.heads, x->key.heads, x->value.heads);
  check.that(numHeads / numKeyValueHeads <= emu::kInferGroup,
             "numHeads is %" PRId64 "; it is at most 16 times numKeyValueHeads", numHeads);
  check.that(x->query.width == emu::kWidth && x->key.width == emu::kWidth &&
                 x->value.width == emu::kValueWidth,
             "query, key and value have heads of %" PRId64 ", %" PRId64 " and %" PRId64
             " elements; allowed: 192, 192 and 128",
             x->query.width, x->key.width, x->value.width);
  check.that((pageBlockSize == 64 || pageBlockSize == 128) && x->key.tokens == pageBlockSize &&
                 x->value.tokens == pageBlockSize && x->value.pages == x->key.pages,
             "pageBlockSize is %" PRId64
             "; key and value must have as many pages of that size, 64 "
             "or 128",
             pageBlockSize);
  const auto &lengths = actualKvSeqLenOptional->values;
  const int64_t batch = static_cast<int64_t>(lengths.size());
  check.that(batch >= 1 && batch <= emu::kInferBatches,
             "actualKvSeqLenOptional has %zu lengths; allowed: 1 to 3072", lengths.size());
  if (!check.ok()) return check.status();
  x->key.batch = x->value.batch = batch;
  emu::check_pages(check, "blockTableOptional", blockTableOptional, batch, &x->key);
  if (!check.ok()) return check.status();
  x->value.table_width = x->key.table_width;
  const int64_t room = x->key.table_width * x->key.tokens;
  const auto *steps = actualQSeqLenOptional;
  check.that(!steps || static_cast<int64_t>(steps->values.size()) == batch,
             "actualQSeqLenOptional has %zu lengths for %" PRId64 " sequences",
             steps ? steps->values.size() : 0, batch);
  check.that(x->query.packed || x->query.batch == batch,
             "query has %" PRId64 " sequences and actualKvSeqLenOptional %" PRId64, x->query.batch,
             batch);
  int64_t first = 0;
  for (size_t b = 0; check.ok() && b < lengths.size(); ++b) {
    const int64_t most = x->query.packed ? x->query.tokens - first : x->query.tokens;
    const int64_t count = steps ? steps->values[b] : x->query.packed ? 1 : x->query.tokens;
    check.that(lengths[b] >= 0 && lengths[b] <= room,
               "actualKvSeqLenOptional[%zu] is %" PRId64 "; allowed: 0 to %" PRId64, b, lengths[b],
               room);
    check.that(count >= 1 && count <= std::min(most, emu::kMostSteps),
               "sequence %zu of query has %" PRId64
               " tokens; allowed: 1 to 4, as far as query has "
               "them",
               b, count);
    check.that(count == 1 || count <= lengths[b],
               "sequence %zu has %" PRId64 " queries and %" PRId64
               " keys; it must have at least "
               "as many keys",
               b, count, lengths[b]);
    x->queries.starts.push_back(x->query.packed ? first : 0);
    x->queries.lengths.push_back(count);
    x->keys.starts.push_back(0);
    x->keys.lengths.push_back(lengths[b]);
    first += count;
  }
  x->query.batch = batch;
  const int64_t rows = x->query.packed ? x->query.tokens : batch * x->query.tokens;
  const int last = topkIndices->rank() - 1;
  check.rank("topkIndices", topkIndices, 3, 4);
  if (!check.ok()) return check.status();
  check.that(topkIndices->shape[static_cast<size_t>(last)] == selectBlockCount &&
                 topkIndices->shape[static_cast<size_t>(last - 1)] == numKeyValueHeads &&
                 topkIndices->numel() == rows * numKeyValueHeads * selectBlockCount,
             "topkIndices has shape %s; it must have (%" PRId64 ", %" PRId64
             ") for each of %" PRId64 " tokens",
             emu::shape_text(emu::layout_of(*topkIndices)).c_str(), numKeyValueHeads,
             selectBlockCount, rows);
  emu::Layout expected = emu::layout_of(*query);
  expected.shape[expected.rank - 1] = hidden ? numHeads * emu::kValueWidth : emu::kValueWidth;
  check.shape("output", output, expected);
  if (!check.ok()) return check.status();
  x->block = selectBlockSize;
  x->count = selectBlockCount;
  x->scale = static_cast<float>(scaleValue);
  x->stepwise = true;
  emu::PlanBuilder plan(x->op);
  x->query_at = plan.input(query);
  x->key_at = plan.input(key);
  x->value_at = plan.input(value);
  x->chosen_at = plan.input(topkIndices);
  plan.unused(attenMaskOptional);
  x->table_at = plan.input(blockTableOptional);
  x->out_at = plan.output(output);
  return emu::finish_selected(x, plan, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NsaSelectedAttentionGrad,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *attentionOut, const aclTensor *attentionOutGrad,
              const aclTensor *softmaxMax, const aclTensor *softmaxSum,
              const aclTensor *topkIndices, const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualSeqKvLenOptional, const aclTensor *attenMaskOptional,
              double scaleValue, int64_t selectedBlockSize, int64_t selectedBlockCount,
              int64_t headNum, const char *inputLayout, int64_t sparseMode, aclTensor *dqOut,
              aclTensor *dkOut, aclTensor *dvOut)) {
  emu::Check check("aclnnNsaSelectedAttentionGrad");
  const std::pair<const char *, const aclTensor *> floats[] = {
      {"query", query},
      {"key", key},
      {"value", value},
      {"attentionOut", attentionOut},
      {"attentionOutGrad", attentionOutGrad},
      {"dqOut", dqOut},
      {"dkOut", dkOut},
      {"dvOut", dvOut}};
  for (const auto &[name, tensor] : floats) check.required(name, tensor);
  check.required("softmaxMax", softmaxMax)
      .required("softmaxSum", softmaxSum)
      .required("topkIndices", topkIndices)
      .optional("attenMaskOptional", attenMaskOptional)
      .optional("actualSeqQLenOptional", actualSeqQLenOptional)
      .optional("actualSeqKvLenOptional", actualSeqKvLenOptional)
      .required_text("inputLayout", inputLayout);
  check.dtype("softmaxMax", softmaxMax)
      .dtype("softmaxSum", softmaxSum)
      .dtype("topkIndices", topkIndices)
      .dtype("attenMaskOptional", attenMaskOptional);
  for (const auto &[name, tensor] : floats) {
    check.dtype(name, tensor);
    if (check.ok()) check.same_dtype(name, tensor->dtype, "query", query->dtype);
  }
  if (!check.ok()) return check.status();
  auto x = std::make_shared<emu::Selected>();
  x->op = "aclnnNsaSelectedAttentionGrad";
  emu::check_selected({query, key, value, topkIndices, attenMaskOptional, actualSeqQLenOptional,
                       actualSeqKvLenOptional, scaleValue, headNum, inputLayout, sparseMode,
                       selectedBlockSize, selectedBlockCount},
                      check, x.get());
  if (!check.ok()) return check.status();
  check.shape("attentionOut", attentionOut, emu::selected_result(*x))
      .shape("attentionOutGrad", attentionOutGrad, emu::selected_result(*x))
      .shape("softmaxMax", softmaxMax, emu::selected_statistics(*x))
      .shape("softmaxSum", softmaxSum, emu::selected_statistics(*x))
      .shape("dqOut", dqOut, emu::layout_of(*query))
      .shape("dkOut", dkOut, emu::layout_of(*key))
      .shape("dvOut", dvOut, emu::layout_of(*value));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(x->op);
  x->query_at = plan.input(query);
  x->key_at = plan.input(key);
  x->value_at = plan.input(value);
  x->out_at = plan.input(attentionOut);
  x->dy_at = plan.input(attentionOutGrad);
  x->highest_at = plan.input(softmaxMax);
  x->sum_at = plan.input(softmaxSum);
  x->chosen_at = plan.input(topkIndices);
  x->mask_at = plan.input(attenMaskOptional);
  x->dq_at = plan.output(dqOut);
  x->dk_at = plan.output(dkOut);
  x->dv_at = plan.output(dvOut);
  const std::shared_ptr<const emu::Selected> kept = x;
  return plan.finish([kept](emu::PlanContext &c) { return emu::run_selected_back(*kept, c); },
                     workspaceSize, executor);
}
EMU_CATCH
