// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// QuantFlashAttentionScore: attention of training over numbers of HIFLOAT8 with a scale for each
// run of tokens.
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/statuses.h"
#include "ops/attention/kernel.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kQueryRun = 128, kKeyRun = 256, kValueRun = 512;  // tokens that share a scale

struct QuantScore {
  const char *op = "aclnnQuantFlashAttentionScore";
  int64_t batch, queries, keys, heads, kv_heads, width, value_width;
  float scale;
  size_t query_at, key_at, value_at, query_scale_at, key_scale_at, value_scale_at, chance_scale_at,
      highest_at, sum_at, out_at;
};

// Keeps the statistics of (sequences, heads, tokens, 1).
class KeptSums final : public PairTerms {
 public:
  KeptSums(const QuantScore &x, PlanContext &c)
      : x_(x), highest_(view_of(c.tensor(x.highest_at))), sum_(view_of(c.tensor(x.sum_at))) {}
  void shift(int64_t, int64_t, int64_t, int64_t, int64_t, float *) const override {}
  void drop(int64_t, int64_t, int64_t, int64_t, int64_t, float *) const override {}
  void keep_sums(int64_t batch, int64_t head, int64_t token, float highest,
                 double sum) const override {
    const int64_t at = (batch * x_.heads + head) * x_.queries + token;
    const auto rounded = static_cast<float>(sum);
    highest_.write(at, 1, &highest);
    sum_.write(at, 1, &rounded);
  }

 private:
  const QuantScore &x_;
  RowTarget<float> highest_, sum_;
};

// Tokens of one operand as float32: (sequences, tokens, heads, elements).
struct Numbers {
  std::vector<float> values;
  Heads heads;
};

Numbers dequantised(PlanContext &c, size_t at, size_t scale_at, int64_t run, float factor) {
  const aclTensor &tensor = c.tensor(at);
  const int64_t batch = tensor.shape[0], tokens = tensor.shape[1], heads = tensor.shape[2],
                width = tensor.shape[3], runs = (tokens + run - 1) / run;
  const Heads from = heads_of(view_of(tensor), Arrangement::kTokensFirst, width);
  const std::vector<float> scales = read_all<float>(c, scale_at, batch * heads * runs, 1.0f);
  Numbers n{std::vector<float>(static_cast<size_t>(tensor.numel())), {}};
  parallel_for(batch * tokens, 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t b = row / tokens, token = row % tokens;
      for (int64_t h = 0; h < heads; ++h) {
        float *to = n.values.data() + (row * heads + h) * width;
        const float scale =
            factor * scales[static_cast<size_t>((b * heads + h) * runs + token / run)];
        load_head(from, from.at(b, h, token), width, to);
        for (int64_t i = 0; i < width; ++i) to[i] *= scale;
      }
    }
  });
  n.heads.data = reinterpret_cast<const char *>(n.values.data());
  n.heads.batch = tokens * heads * width;
  n.heads.token = heads * width;
  n.heads.head = width;
  n.heads.item = 1;
  return n;
}

Status run_quant_score(const QuantScore &x, PlanContext &c) {
  Attention a{};
  a.op = x.op;
  a.batch = x.batch;
  a.heads = x.heads;
  a.kv_heads = x.kv_heads;
  a.width = x.width;
  a.value_width = x.value_width;
  a.queries = x.queries;
  a.keys = x.keys;
  a.query_form = a.key_form = a.out_form = Arrangement::kTokensFirst;
  const auto batch = static_cast<size_t>(x.batch);
  constexpr int64_t kAny = int64_t{1} << 40;
  a.query_lengths.assign(batch, x.queries);
  a.key_lengths.assign(batch, x.keys);
  a.bands.assign(batch, {kAny, kAny});
  a.scale = x.scale;
  // Chances are scaled in front of the product with the values and back behind it.
  const float chance_scale = read_all<float>(c, x.chance_scale_at, 1, 1.0f)[0];
  Numbers query = dequantised(c, x.query_at, x.query_scale_at, kQueryRun, 1.0f),
          key = dequantised(c, x.key_at, x.key_scale_at, kKeyRun, 1.0f),
          value = dequantised(c, x.value_at, x.value_scale_at, kValueRun,
                              chance_scale * (1.0f / chance_scale));
  const KeptSums sums(x, c);
  AttentionOperand o;
  o.query = query.heads;
  o.out = heads_of(view_of(c.tensor(x.out_at)), Arrangement::kTokensFirst, x.value_width);
  o.key_lengths = a.key_lengths;
  o.terms = &sums;
  const PageTable pages;
  const FactorTable none(a, a.key_factors, c);
  const auto side = [](const Heads &heads, int64_t width) {
    Tokens::Parts parts;
    parts.width = width;
    parts.heads.push_back(heads);
    return parts;
  };
  const Tokens keys(a, side(key.heads, x.width), none, pages, o.key_starts),
      values(a, side(value.heads, x.value_width), none, pages, o.key_starts);
  compute_attention(a, o, keys, values);
  return 0;
}

Layout four(int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t shape[] = {a, b, c, d};
  return dense_layout(shape, 4);
}

void check_sizes(Check &check, const aclTensor *query, const aclTensor *key, const aclTensor *value,
                 int64_t heads, QuantScore *x) {
  for (const auto &[name, tensor] :
       {std::pair{"query", query}, std::pair{"key", key}, std::pair{"value", value}}) {
    check.rank(name, tensor, 4, 4);
    check.that(!check.ok() || tensor->numel() != 0, "%s has shape %s; it must not be empty", name,
               shape_text(layout_of(*tensor)).c_str());
  }
  if (!check.ok()) return;
  const auto size = [](const aclTensor *t, size_t d) { return t->shape[d]; };
  x->batch = size(query, 0);
  x->queries = size(query, 1);
  x->heads = size(query, 2);
  x->width = size(query, 3);
  x->keys = size(key, 1);
  x->kv_heads = size(key, 2);
  x->value_width = size(value, 3);
  check.that(size(key, 0) == x->batch && size(key, 3) == x->width,
             "key has shape %s; it must have the sequences and the elements of query, %s",
             shape_text(layout_of(*key)).c_str(), shape_text(layout_of(*query)).c_str());
  check.that(x->value_width <= x->width,
             "value has heads of %" PRId64 " elements; at most those of key, %" PRId64
             ", are allowed",
             x->value_width, x->width);
  check.shape("value", value, four(x->batch, x->keys, x->kv_heads, x->value_width));
  check.that(x->heads % x->kv_heads == 0,
             "query has %" PRId64 " heads; they must be a multiple of those of key, %" PRId64,
             x->heads, x->kv_heads);
  check.that(heads == x->heads, "headNum is %" PRId64 "; it must be the heads of query, %" PRId64,
             heads, x->heads);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantFlashAttentionScore,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *attenMaskOptional, const aclTensor *dScaleQ,
              const aclTensor *dScaleK, const aclTensor *dScaleV, const aclTensor *pScale,
              double scaleValue, int64_t preTokens, int64_t nextTokens, int64_t headNum,
              const char *inputLayout, int64_t sparseMode, aclTensor *softmaxMaxOut,
              aclTensor *softmaxSumOut, aclTensor *softmaxOutout, aclTensor *attentionOutOut)) {
  // Reserved, as the mask is.
  static_cast<void>(preTokens);
  static_cast<void>(nextTokens);
  static_cast<void>(sparseMode);
  emu::QuantScore x;
  emu::Check check(x.op);
  const std::pair<const char *, const aclTensor *> needed[] = {
      {"query", query},
      {"key", key},
      {"value", value},
      {"dScaleQ", dScaleQ},
      {"dScaleK", dScaleK},
      {"dScaleV", dScaleV},
      {"pScale", pScale},
      {"softmaxMaxOut", softmaxMaxOut},
      {"softmaxSumOut", softmaxSumOut},
      {"attentionOutOut", attentionOutOut}};
  for (const auto &[name, tensor] : needed) check.required(name, tensor);
  check.optional("attenMaskOptional", attenMaskOptional)
      .required_text("inputLayout", inputLayout)
      .optional("softmaxOutout", softmaxOutout);
  if (const emu::Status bad = emu::check_chip(check, emu::kNoKernel)) return bad;
  for (const auto &[name, tensor] : needed) check.dtype(name, tensor);
  check.that(!check.ok() || std::strcmp(inputLayout, "BSND") == 0,
             "inputLayout is \"%.40s\"; allowed: BSND", inputLayout);
  emu::check_sizes(check, query, key, value, headNum, &x);
  if (!check.ok()) return check.status();
  const auto runs = [](int64_t tokens, int64_t run) { return tokens / run + (tokens % run != 0); };
  const emu::Layout sums = emu::four(x.batch, x.heads, x.queries, 1);
  const int64_t one = 1;
  check.shape("dScaleQ", dScaleQ, emu::four(x.batch, x.heads, runs(x.queries, emu::kQueryRun), 1))
      .shape("dScaleK", dScaleK, emu::four(x.batch, x.kv_heads, runs(x.keys, emu::kKeyRun), 1))
      .shape("dScaleV", dScaleV, emu::four(x.batch, x.kv_heads, runs(x.keys, emu::kValueRun), 1))
      .shape("pScale", pScale, emu::dense_layout(&one, 1))
      .shape("softmaxMaxOut", softmaxMaxOut, sums)
      .shape("softmaxSumOut", softmaxSumOut, sums)
      .shape("attentionOutOut", attentionOutOut,
             emu::four(x.batch, x.queries, x.heads, x.value_width));
  if (!check.ok()) return check.status();
  x.scale = static_cast<float>(scaleValue);
  emu::PlanBuilder plan(x.op);
  x.query_at = plan.input(query);
  x.key_at = plan.input(key);
  x.value_at = plan.input(value);
  plan.unused(attenMaskOptional);
  x.query_scale_at = plan.input(dScaleQ);
  x.key_scale_at = plan.input(dScaleK);
  x.value_scale_at = plan.input(dScaleV);
  x.chance_scale_at = plan.input(pScale);
  x.highest_at = plan.output(softmaxMaxOut);
  x.sum_at = plan.output(softmaxSumOut);
  plan.unused(softmaxOutout);
  x.out_at = plan.output(attentionOutOut);
  const auto kept = std::make_shared<const emu::QuantScore>(x);
  return plan.finish([kept](emu::PlanContext &c) { return emu::run_quant_score(*kept, c); },
                     workspaceSize, executor);
}
EMU_CATCH
