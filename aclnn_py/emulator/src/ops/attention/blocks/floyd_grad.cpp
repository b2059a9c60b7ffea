// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradient of FusedFloydAttention: by the query, and by both keys and values of each pair.
#include <algorithm>
#include <cmath>

#include "aclnnop/attention.h"
#include "core/pool.h"
#include "ops/attention/blocks/floyd.h"
#include "ops/matmul/gemm.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr size_t kTensors = 6, kResults = 5;  // query, key1, value1, key2, value2, dy

struct FloydBack {
  FloydSizes sizes;
  float scale;
  size_t from[kTensors], to[kResults], mask_at, highest_at, sum_at, out_at;
};

// Rows of a tensor of rank 5, one head of a sequence.
class FloydHead {
 public:
  FloydHead(const View &view, int64_t batch, int64_t head)
      : view_(view), at_(batch * view.layout.stride[0] + head * view.layout.stride[1]) {}

  void load(int64_t i, int64_t j, float *to) const {
    load_f32(view_.data, view_.dtype, at(i, j), view_.layout.stride[4], view_.layout.shape[4], to);
  }
  void store(int64_t i, int64_t j, const float *from) const {
    store_f32(from, view_.data, view_.dtype, at(i, j), view_.layout.stride[4],
              view_.layout.shape[4]);
  }
  std::vector<float> all() const {
    const int64_t *shape = view_.layout.shape;
    std::vector<float> rows(static_cast<size_t>(shape[2] * shape[3] * shape[4]));
    for (int64_t i = 0; i < shape[2]; ++i)
      for (int64_t j = 0; j < shape[3]; ++j)
        load(i, j, rows.data() + (i * shape[3] + j) * shape[4]);
    return rows;
  }
  // Row j of each i, one behind the other.
  std::vector<float> column(int64_t j) const {
    const int64_t *shape = view_.layout.shape;
    std::vector<float> rows(static_cast<size_t>(shape[2] * shape[4]));
    for (int64_t i = 0; i < shape[2]; ++i) load(i, j, rows.data() + i * shape[4]);
    return rows;
  }

 private:
  int64_t at(int64_t i, int64_t j) const {
    return at_ + i * view_.layout.stride[2] + j * view_.layout.stride[3];
  }

  const View &view_;
  const int64_t at_;
};

float dot(const float *a, const float *b, int64_t count) {
  float sum = 0.0f;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

class FloydBackRun {
 public:
  FloydBackRun(const FloydBack &x, PlanContext &c) : x_(x) {
    for (size_t i = 0; i < kResults; ++i) to_[i] = view_of(c.tensor(x.to[i]));
    const auto safe = [&](size_t index) {
      return operands_.safe(view_of(c.tensor(index)), {to_[0], to_[1], to_[2], to_[3], to_[4]});
    };
    for (size_t i = 0; i < kTensors; ++i) from_[i] = safe(x.from[i]);
    out_ = safe(x.out_at);
    highest_ = safe(x.highest_at);
    sum_ = safe(x.sum_at);
    if (c.has(x.mask_at)) mask_ = safe(x.mask_at);
  }

  Status run() const {
    const FloydSizes &s = x_.sizes;
    parallel_for(s.batch * s.heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) head(task / s.heads, task % s.heads);
    });
    return 0;
  }

 private:
  bool hidden(int64_t b, int64_t n, int64_t k) const {
    const int64_t *stride = mask_.layout.stride;
    return mask_.data != nullptr && mask_.data[b * stride[0] + n * stride[2] + k * stride[4]] != 0;
  }

  void head(int64_t b, int64_t h) const {
    const FloydSizes &s = x_.sizes;
    const auto of = [&](const View &view) { return FloydHead(view, b, h); };
    const FloydHead query = of(from_[0]), key2 = of(from_[3]), value2 = of(from_[4]),
                    gradient = of(from_[5]), out = of(out_), highest = of(highest_),
                    sums = of(sum_);
    const std::vector<float> key1 = of(from_[1]).all(), value1 = of(from_[2]).all();
    std::vector<float> key1_sum(key1.size(), 0.0f), value1_sum(value1.size(), 0.0f);
    const int64_t width = s.width;
    const auto w = static_cast<size_t>(width);
    std::vector<float> q(w), dy(w), y(w), key(w), value(w), dq(w), most(kFloydLanes),
        sum(kFloydLanes);
    for (int64_t m = 0; m < s.m; ++m) {
      const std::vector<float> keys = key2.column(m), values = value2.column(m);
      std::vector<float> key2_sum(keys.size(), 0.0f), value2_sum(values.size(), 0.0f);
      for (int64_t n = 0; n < s.n; ++n) {
        query.load(n, m, q.data());
        gradient.load(n, m, dy.data());
        out.load(n, m, y.data());
        highest.load(n, m, most.data());
        sums.load(n, m, sum.data());
        const float along = dot(dy.data(), y.data(), width);
        std::fill(dq.begin(), dq.end(), 0.0f);
        for (int64_t k = 0; k < s.k; ++k) {
          const int64_t first = (n * s.k + k) * width, second = k * width;
          for (int64_t d = 0; d < width; ++d) {
            const auto i = static_cast<size_t>(d);
            key[i] = key1[static_cast<size_t>(first + d)] + keys[static_cast<size_t>(second + d)];
            value[i] =
                value1[static_cast<size_t>(first + d)] + values[static_cast<size_t>(second + d)];
          }
          const bool masked = hidden(b, n, k);
          const float score = masked ? kFloydMasked : dot(q.data(), key.data(), width) * x_.scale;
          const float chance = std::exp(score - most[0]) / sum[0];
          // A score that is hidden does not depend on the query.
          const float slope =
              masked ? 0.0f : chance * (dot(dy.data(), value.data(), width) - along) * x_.scale;
          float *key1_to = key1_sum.data() + first, *value1_to = value1_sum.data() + first,
                *key2_to = key2_sum.data() + second, *value2_to = value2_sum.data() + second;
          for (int64_t d = 0; d < width; ++d) {
            const auto i = static_cast<size_t>(d);
            dq[i] += slope * key[i];
            key1_to[d] += slope * q[i];
            key2_to[d] += slope * q[i];
            value1_to[d] += chance * dy[i];
            value2_to[d] += chance * dy[i];
          }
        }
        of(to_[0]).store(n, m, dq.data());
      }
      for (int64_t k = 0; k < s.k; ++k) {
        of(to_[3]).store(k, m, key2_sum.data() + k * width);
        of(to_[4]).store(k, m, value2_sum.data() + k * width);
      }
    }
    for (int64_t row = 0; row < s.n * s.k; ++row) {
      of(to_[1]).store(row / s.k, row % s.k, key1_sum.data() + row * width);
      of(to_[2]).store(row / s.k, row % s.k, value1_sum.data() + row * width);
    }
  }

  const FloydBack &x_;
  Operands operands_;
  View from_[kTensors], to_[kResults], out_, highest_, sum_, mask_;
};

}  // namespace
}  // namespace emu

EMU_OPERATOR(FusedFloydAttentionGrad,
             (const aclTensor *query, const aclTensor *key1, const aclTensor *value1,
              const aclTensor *key2, const aclTensor *value2, const aclTensor *dy,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMax,
              const aclTensor *softmaxSum, const aclTensor *attentionIn, double scaleValue,
              aclTensor *dqOut, aclTensor *dk1Out, aclTensor *dv1Out, aclTensor *dk2Out,
              aclTensor *dv2Out)) {
  using namespace emu;
  Check check("aclnnFusedFloydAttentionGrad");
  const std::pair<const char *, const aclTensor *> given[kTensors] = {
      {"query", query}, {"key1", key1},     {"value1", value1},
      {"key2", key2},   {"value2", value2}, {"dy", dy}};
  const std::pair<const char *, const aclTensor *> results[kResults] = {{"dqOut", dqOut},
                                                                        {"dk1Out", dk1Out},
                                                                        {"dv1Out", dv1Out},
                                                                        {"dk2Out", dk2Out},
                                                                        {"dv2Out", dv2Out}};
  for (const auto &[name, tensor] : given) check.required(name, tensor);
  check.optional("attenMaskOptional", attenMaskOptional)
      .required("softmaxMax", softmaxMax)
      .required("softmaxSum", softmaxSum)
      .required("attentionIn", attentionIn);
  for (const auto &[name, tensor] : results) check.required(name, tensor);
  check.dtype("attenMaskOptional", attenMaskOptional)
      .dtype("softmaxMax", softmaxMax)
      .dtype("softmaxSum", softmaxSum);
  const auto like_query = [&](const char *name, const aclTensor *tensor) {
    check.dtype(name, tensor);
    if (check.ok()) check.same_dtype(name, tensor->dtype, "query", query->dtype);
  };
  for (const auto &[name, tensor] : given) like_query(name, tensor);
  like_query("attentionIn", attentionIn);
  for (const auto &[name, tensor] : results) like_query(name, tensor);
  FloydBack x{};
  x.sizes = check_floyd(check, query, {key1, value1, key2, value2}, attenMaskOptional);
  if (!check.ok()) return check.status();
  const Layout rows = layout_of(*query), sums = x.sizes.statistics();
  check.shape("dy", dy, rows).shape("attentionIn", attentionIn, rows).shape("dqOut", dqOut, rows);
  check.shape("softmaxMax", softmaxMax, sums).shape("softmaxSum", softmaxSum, sums);
  for (size_t i = 1; i < kResults; ++i)
    check.shape(results[i].first, results[i].second, layout_of(*given[i].second));
  if (!check.ok()) return check.status();
  x.scale = static_cast<float>(scaleValue);
  PlanBuilder plan(check.op());
  for (size_t i = 0; i < kTensors; ++i) x.from[i] = plan.input(given[i].second);
  x.mask_at = plan.input(attenMaskOptional);
  x.highest_at = plan.input(softmaxMax);
  x.sum_at = plan.input(softmaxSum);
  x.out_at = plan.input(attentionIn);
  for (size_t i = 0; i < kResults; ++i) x.to[i] = plan.output(results[i].second);
  return plan.finish([x](PlanContext &c) { return FloydBackRun(x, c).run(); }, workspaceSize,
                     executor);
}
EMU_CATCH
