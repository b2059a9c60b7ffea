// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// SwinAttentionScoreQuant, which the 310P has: attention of int8 within windows. Sums are exact;
// scores, softmax and the scaling of the result are float32, rounded once. Probabilities become
// int8: round(p * scale + bias).
#include <cmath>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "ops/moe/routing.h"
#include "ops/shared/packed_scale.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostTokens = 1024;

struct SwinCall {
  const aclTensor *query, *key, *value, *scale, *score_scale, *out_scale, *bias, *score_bias,
      *out_bias, *mask, *second_mask;
  bool transposes[3];
  int64_t axis;
  const aclTensor *out;
};

Check check_swin(const char *op, const SwinCall &a) {
  Check check(op);
  check.required("query", a.query).required("key", a.key).required("value", a.value);
  check.required("scaleQuant", a.scale).required("scaleDequant1", a.score_scale);
  check.required("scaleDequant2", a.out_scale).optional("biasQuantOptional", a.bias);
  check.optional("biasDequant1Optional", a.score_bias);
  check.optional("biasDequant2Optional", a.out_bias).optional("paddingMask1Optional", a.mask);
  check.optional("paddingMask2Optional", a.second_mask).required("out", a.out);
  check.that(chip_is_310p(),
             "the chip is %s; only the 310P has this operator, which "
             "ACLNN_PY_EMULATOR_SOC=Ascend310P3 emulates",
             soc_name());
  check.dtype("query", a.query).dtype("key", a.key).dtype("value", a.value);
  check.dtype("scaleQuant", a.scale).dtype("scaleDequant1", a.score_scale);
  check.dtype("scaleDequant2", a.out_scale).dtype("biasQuantOptional", a.bias);
  check.dtype("biasDequant1Optional", a.score_bias).dtype("biasDequant2Optional", a.out_bias);
  check.dtype("paddingMask1Optional", a.mask).dtype("out", a.out);
  check.that(a.second_mask == nullptr, "paddingMask2Optional is given; it must be null");
  check.tiling();
  constexpr const char *kTransposes[] = {"queryTranspose", "keyTranspose", "valueTranspose"};
  for (int i = 0; i < 3; ++i)
    check.that(!a.transposes[i], "%s is true; only false is supported", kTransposes[i]);
  check.that(a.axis == -1, "softmaxAxes is %lld; allowed: -1", wide(a.axis));
  check.rank("query", a.query, 4, 4);
  if (!check.ok()) return check;
  const Layout whole = layout_of(*a.query);
  const int64_t tokens = whole.shape[2], width = whole.shape[3];
  check.that(tokens >= 1 && tokens <= kMostTokens,
             "query has %lld tokens in a window; allowed: 1 to %lld", wide(tokens),
             wide(kMostTokens));
  check.that(width == 32 || width == 64, "query has heads of %lld elements; allowed: 32, 64",
             wide(width));
  const int64_t by_token[] = {1, tokens}, by_column[] = {1, width};
  const int64_t mask[] = {1, whole.shape[1], tokens, tokens};
  check.shape("key", a.key, whole).shape("value", a.value, whole).shape("out", a.out, whole);
  check.shape("scaleQuant", a.scale, dense_layout(by_token, 2));
  check.shape("scaleDequant1", a.score_scale, dense_layout(by_token, 2));
  check.shape("scaleDequant2", a.out_scale, dense_layout(by_column, 2));
  check.shape("biasQuantOptional", a.bias, dense_layout(by_token, 2));
  check.shape("biasDequant1Optional", a.score_bias, dense_layout(by_token, 2));
  check.shape("biasDequant2Optional", a.out_bias, dense_layout(by_column, 2));
  check.shape("paddingMask1Optional", a.mask, dense_layout(mask, 4));
  return check;
}

struct SwinJob {
  size_t query, key, value, scale, score_scale, out_scale, bias, score_bias, out_bias, mask, out;
  int64_t windows, heads, tokens, width;
};

std::vector<float> unpacked(PlanContext &c, size_t at, int64_t count) {
  const std::vector<uint64_t> packed = read_all<uint64_t>(c, at, count, 0);
  std::vector<float> values;
  for (const uint64_t one : packed) values.push_back(unpack_scale(one));
  return values;
}

// The sum wraps around as that of the hardware does.
int32_t plus(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

void soften(float *scores, int64_t count) {
  float most = scores[0];
  for (int64_t j = 1; j < count; ++j) most = std::max(most, scores[j]);
  double sum = 0;
  for (int64_t j = 0; j < count; ++j) {
    scores[j] = std::exp(scores[j] - most);
    sum += scores[j];
  }
  const auto factor = static_cast<float>(1.0 / sum);
  for (int64_t j = 0; j < count; ++j) scores[j] *= factor;
}

int32_t code_of(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int32_t>(std::clamp(std::nearbyint(value), -128.0f, 127.0f));
}

Status run_swin(PlanContext &c, const SwinJob &k) {
  const View out = view_of(c.tensor(k.out));
  Apart apart;
  const auto bytes = [&](size_t at) { return apart.from(view_of(c.tensor(at)), {out}); };
  const DenseSource query(bytes(k.query)), key(bytes(k.key)), value(bytes(k.value));
  const auto *q = reinterpret_cast<const int8_t *>(query.data()),
             *keys = reinterpret_cast<const int8_t *>(key.data()),
             *values = reinterpret_cast<const int8_t *>(value.data());
  const int64_t tokens = k.tokens, width = k.width;
  const std::vector<float> scale = read_all<float>(c, k.scale, tokens, 0.0f),
                           bias = read_all<float>(c, k.bias, tokens, 0.0f),
                           score_scale = unpacked(c, k.score_scale, tokens),
                           out_scale = unpacked(c, k.out_scale, width);
  const std::vector<int32_t> score_bias = read_all<int32_t>(c, k.score_bias, tokens, 0),
                             out_bias = read_all<int32_t>(c, k.out_bias, width, 0);
  const std::vector<float> mask = c.has(k.mask)
                                      ? read_all<float>(c, k.mask, k.heads * tokens * tokens, 0.0f)
                                      : std::vector<float>();
  const RowTarget<float> to(out);
  for_each_row<float>(k.windows * k.heads * tokens, tokens + width, 1, [&](int64_t row, float *p) {
    const int64_t window = row / tokens, token = row % tokens, head = window % k.heads;
    const int8_t *own = q + row * width, *k_rows = keys + window * tokens * width,
                 *v_rows = values + window * tokens * width;
    for (int64_t j = 0; j < tokens; ++j) {
      int32_t sum = score_bias[static_cast<size_t>(j)];
      for (int64_t h = 0; h < width; ++h) sum = plus(sum, own[h] * k_rows[j * width + h]);
      p[j] = static_cast<float>(sum) * score_scale[static_cast<size_t>(j)];
      if (!mask.empty()) p[j] += mask[static_cast<size_t>((head * tokens + token) * tokens + j)];
    }
    soften(p, tokens);
    std::vector<int32_t> sums(out_bias);
    for (int64_t j = 0; j < tokens; ++j) {
      const auto at = static_cast<size_t>(j);
      const int32_t code = code_of(p[j] * scale[at] + bias[at]);
      for (int64_t h = 0; h < width; ++h)
        sums[static_cast<size_t>(h)] =
            plus(sums[static_cast<size_t>(h)], code * v_rows[j * width + h]);
    }
    float *result = p + tokens;
    for (int64_t h = 0; h < width; ++h)
      result[h] =
          static_cast<float>(sums[static_cast<size_t>(h)]) * out_scale[static_cast<size_t>(h)];
    to.write(row * width, width, result);
  });
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwinAttentionScoreQuant,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *scaleQuant, const aclTensor *scaleDequant1,
              const aclTensor *scaleDequant2, const aclTensor *biasQuantOptional,
              const aclTensor *biasDequant1Optional, const aclTensor *biasDequant2Optional,
              const aclTensor *paddingMask1Optional, const aclTensor *paddingMask2Optional,
              bool queryTranspose, bool keyTranspose, bool valueTranspose, int64_t softmaxAxes,
              aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnSwinAttentionScoreQuant";
  const SwinCall a{query,
                   key,
                   value,
                   scaleQuant,
                   scaleDequant1,
                   scaleDequant2,
                   biasQuantOptional,
                   biasDequant1Optional,
                   biasDequant2Optional,
                   paddingMask1Optional,
                   paddingMask2Optional,
                   {queryTranspose, keyTranspose, valueTranspose},
                   softmaxAxes,
                   out};
  const Check check = check_swin(op, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  SwinJob k{};
  k.query = plan.input(query), k.key = plan.input(key), k.value = plan.input(value);
  k.scale = plan.input(scaleQuant), k.score_scale = plan.input(scaleDequant1);
  k.out_scale = plan.input(scaleDequant2), k.bias = plan.input(biasQuantOptional);
  k.score_bias = plan.input(biasDequant1Optional), k.out_bias = plan.input(biasDequant2Optional);
  k.mask = plan.input(paddingMask1Optional);
  plan.unused(paddingMask2Optional);
  k.out = plan.output(out);
  k.windows = query->shape[0], k.heads = query->shape[1];
  k.tokens = query->shape[2], k.width = query->shape[3];
  const auto kept = std::make_shared<const SwinJob>(k);
  return plan.finish([kept](PlanContext &c) { return run_swin(c, *kept); }, workspaceSize,
                     executor);
}
EMU_CATCH
