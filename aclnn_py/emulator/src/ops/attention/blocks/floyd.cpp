// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// FusedFloydAttention: a pair (n, m) meets every k between them, by the key and value of (n, k) and
// those of (k, m).
#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "aclnnop/attention.h"
#include "core/pool.h"
#include "ops/attention/blocks/floyd.h"
#include "ops/float_kernels.h"
#include "ops/matmul/gemm.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostBatches = 2048, kMostHeads = 256, kMost = int64_t{1} << 20;

struct Floyd : FloydSizes {
  float scale;
  size_t query_at, key1_at, value1_at, key2_at, value2_at, mask_at, highest_at, sum_at, out_at;
};

// Element offsets of a tensor of rank 5.
int64_t at(const View &v, int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t *s = v.layout.stride;
  return a * s[0] + b * s[1] + c * s[2] + d * s[3];
}

Status run_floyd(const Floyd &x, PlanContext &c) {
  const View out = view_of(c.tensor(x.out_at)), highest = view_of(c.tensor(x.highest_at)),
             sum = view_of(c.tensor(x.sum_at));
  Operands operands;
  const auto safe = [&](size_t index) {
    return operands.safe(view_of(c.tensor(index)), {out, highest, sum});
  };
  const View q = safe(x.query_at), k1 = safe(x.key1_at), v1 = safe(x.value1_at),
             k2 = safe(x.key2_at), v2 = safe(x.value2_at);
  const View mask = c.has(x.mask_at) ? view_of(c.tensor(x.mask_at)) : View();
  const RowTarget<float> highest_target(highest), sum_target(sum);
  parallel_for(x.batch * x.heads * x.n * x.m, 8, [&](int64_t begin, int64_t end) {
    const auto width = static_cast<size_t>(x.width);
    std::vector<float> query(width), row(width), scores(static_cast<size_t>(x.k));
    std::vector<double> result(width);
    const auto load = [&](const View &v, int64_t offset, float *to) {
      load_f32(v.data, v.dtype, offset, v.layout.stride[4], x.width, to);
    };
    for (int64_t task = begin; task < end; ++task) {
      const int64_t m = task % x.m, n = task / x.m % x.n, h = task / x.m / x.n % x.heads,
                    b = task / x.m / x.n / x.heads;
      load(q, at(q, b, h, n, m), query.data());
      for (int64_t k = 0; k < x.k; ++k) {
        double score = 0.0;
        load(k1, at(k1, b, h, n, k), row.data());
        for (size_t i = 0; i < width; ++i) score += static_cast<double>(query[i]) * row[i];
        load(k2, at(k2, b, h, k, m), row.data());
        for (size_t i = 0; i < width; ++i) score += static_cast<double>(query[i]) * row[i];
        const bool hidden = mask.data != nullptr &&
                            mask.data[b * mask.layout.stride[0] + n * mask.layout.stride[2] +
                                      k * mask.layout.stride[4]] != 0;
        scores[static_cast<size_t>(k)] =
            hidden ? kFloydMasked : static_cast<float>(score * x.scale);
      }
      const FloatKernels &kernels = float_kernels();
      const float most = kernels.highest(scores.data(), x.k);
      const double total = kernels.shifted_powers(scores.data(), x.k, most, false);
      std::fill(result.begin(), result.end(), 0.0);
      for (int64_t k = 0; k < x.k; ++k) {
        const double weight = scores[static_cast<size_t>(k)];
        load(v1, at(v1, b, h, n, k), row.data());
        for (size_t i = 0; i < width; ++i) result[i] += weight * row[i];
        load(v2, at(v2, b, h, k, m), row.data());
        for (size_t i = 0; i < width; ++i) result[i] += weight * row[i];
      }
      for (size_t i = 0; i < width; ++i) row[i] = static_cast<float>(result[i] / total);
      store_f32(row.data(), out.data, out.dtype, at(out, b, h, n, m), out.layout.stride[4],
                x.width);
      float lanes[kFloydLanes];
      std::fill(lanes, lanes + kFloydLanes, most);
      highest_target.write(task * kFloydLanes, kFloydLanes, lanes);
      std::fill(lanes, lanes + kFloydLanes, static_cast<float>(total));
      sum_target.write(task * kFloydLanes, kFloydLanes, lanes);
    }
  });
  return 0;
}

}  // namespace

FloydSizes check_floyd(Check &check, const aclTensor *query, const FloydOperands &operands,
                       const aclTensor *mask) {
  const auto &[key1, value1, key2, value2] = operands;
  FloydSizes x{};
  check.tiling();
  check.rank("query", query, 5, 5).rank("key1", key1, 5, 5).rank("key2", key2, 5, 5);
  if (!check.ok()) return x;
  const auto &q = query->shape;
  x.batch = q[0];
  x.heads = q[1];
  x.n = q[2];
  x.m = q[3];
  x.k = key1->shape[3];
  x.width = q[4];
  check.that(x.batch >= 1 && x.batch <= kMostBatches && x.heads >= 1 && x.heads <= kMostHeads,
             "query has shape %s; its first dimension is 1 to 2048, its second 1 to 256",
             shape_text(layout_of(*query)).c_str());
  check.that(
      x.n >= 16 && x.n % 16 == 0 && x.n <= kMost && x.m >= 128 && x.m % 128 == 0 && x.m <= kMost,
      "query has shape %s; its third dimension is a multiple of 16, its fourth of 128",
      shape_text(layout_of(*query)).c_str());
  check.that(x.k >= 128 && x.k % 128 == 0 && x.k <= kMost,
             "key1 has shape %s; its fourth dimension is a multiple of 128",
             shape_text(layout_of(*key1)).c_str());
  check.that(x.width == 32 || x.width == 64 || x.width == 128,
             "query has heads of %" PRId64 " elements; allowed: 32, 64, 128", x.width);
  const int64_t first[] = {x.batch, x.heads, x.n, x.k, x.width},
                second[] = {x.batch, x.heads, x.k, x.m, x.width},
                masks[] = {x.batch, 1, x.n, 1, x.k};
  const Layout ones = dense_layout(first, 5), twos = dense_layout(second, 5);
  check.shape("key1", key1, ones).shape("value1", value1, ones);
  check.shape("key2", key2, twos).shape("value2", value2, twos);
  if (mask) check.shape("attenMaskOptional", mask, dense_layout(masks, 5));
  return x;
}

}  // namespace emu

EMU_OPERATOR(FusedFloydAttention,
             (const aclTensor *query, const aclTensor *key1, const aclTensor *value1,
              const aclTensor *key2, const aclTensor *value2, const aclTensor *attenMaskOptional,
              double scaleValue, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut,
              aclTensor *attentionOutOut)) {
  emu::Check check("aclnnFusedFloydAttention");
  check.required("query", query)
      .required("key1", key1)
      .required("value1", value1)
      .required("key2", key2)
      .required("value2", value2)
      .optional("attenMaskOptional", attenMaskOptional)
      .required("softmaxMaxOut", softmaxMaxOut)
      .required("softmaxSumOut", softmaxSumOut)
      .required("attentionOutOut", attentionOutOut);
  check.dtype("query", query)
      .dtype("attenMaskOptional", attenMaskOptional)
      .dtype("softmaxMaxOut", softmaxMaxOut)
      .dtype("softmaxSumOut", softmaxSumOut);
  for (const auto &[name, tensor] :
       {std::pair{"key1", key1}, std::pair{"value1", value1}, std::pair{"key2", key2},
        std::pair<const char *, const aclTensor *>{"value2", value2},
        std::pair<const char *, const aclTensor *>{"attentionOutOut", attentionOutOut}}) {
    check.dtype(name, tensor);
    if (check.ok()) check.same_dtype(name, tensor->dtype, "query", query->dtype);
  }
  emu::Floyd x{};
  static_cast<emu::FloydSizes &>(x) =
      emu::check_floyd(check, query, {key1, value1, key2, value2}, attenMaskOptional);
  if (!check.ok()) return check.status();
  const emu::Layout rows = x.statistics();
  check.shape("softmaxMaxOut", softmaxMaxOut, rows).shape("softmaxSumOut", softmaxSumOut, rows);
  check.shape("attentionOutOut", attentionOutOut, emu::layout_of(*query));
  if (!check.ok()) return check.status();
  x.scale = static_cast<float>(scaleValue);
  emu::PlanBuilder plan("aclnnFusedFloydAttention");
  x.query_at = plan.input(query);
  x.key1_at = plan.input(key1);
  x.value1_at = plan.input(value1);
  x.key2_at = plan.input(key2);
  x.value2_at = plan.input(value2);
  x.mask_at = plan.input(attenMaskOptional);
  x.highest_at = plan.output(softmaxMaxOut);
  x.sum_at = plan.output(softmaxSumOut);
  x.out_at = plan.output(attentionOutOut);
  return plan.finish([x](emu::PlanContext &c) { return emu::run_floyd(x, c); }, workspaceSize,
                     executor);
}
EMU_CATCH
