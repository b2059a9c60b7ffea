// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/attention/mla/mla_preprocess.h"

#include <cmath>
#include <optional>

#include "aclnnop/attention.h"
#include "core/statuses.h"
#include "ops/convert.h"
#include "ops/matmul/stack.h"
#include "ops/moe/scores.h"
#include "ops/norm/rms.h"
#include "ops/rotary/rotate.h"
#include "ops/shared/packed_scale.h"

namespace emu {
namespace {

constexpr int64_t kChunk = 64;  // tokens worked on at a time

struct StepIndices {
  size_t gamma, beta, scale, offset, weight, factors, bias;
};

struct Preprocess {
  const char *op;
  PreprocessSizes s;
  double epsilon;
  bool norm;
  int64_t cache_mode;
  StepIndices step[2];
  size_t input, gamma, cos, sin, up, slots, query, kv, query_rope, kr;
};

// A quantised product with what stands in front of it.
class Step {
 public:
  Step(PlanContext &c, const StepIndices &at, int64_t width, int64_t rows)
      : width_(width),
        rows_(rows),
        gamma_(read_all<float>(c, at.gamma, width, 1.0f)),
        beta_(read_all<float>(c, at.beta, width, 0.0f)),
        scale_(read_all<float>(c, at.scale, 1, 1.0f)[0]),
        offset_(read_all<float>(c, at.offset, 1, 0.0f)[0]),
        bias_(read_all<int32_t>(c, at.bias, rows, 0)),
        weight_(weight_matrix(c.tensor(at.weight), rows, width)) {
    const aclTensor &factors = c.tensor(at.factors);
    if (factors.dtype == ACL_FLOAT) {
      factors_ = read_all<float>(c, at.factors, rows, 1.0f);
      return;
    }
    for (const int64_t packed : read_all<int64_t>(c, at.factors, rows, 0))
      factors_.push_back(unpack_scale(static_cast<uint64_t>(packed)));
  }

  // Numbers of 8 bits from a row of floats, which is overwritten.
  void quantise(float *row, bool norm, double epsilon, int8_t *to) const {
    if (norm) {
      rms_normalise(row, width_, epsilon, gamma_.data());
      for (int64_t i = 0; i < width_; ++i) row[i] += beta_[static_cast<size_t>(i)];
    }
    for (int64_t i = 0; i < width_; ++i) {
      const float value = row[i] / scale_ + offset_;
      const float nearest = std::isnan(value) ? 0.0f : std::nearbyint(value);
      to[i] = static_cast<int8_t>(std::min(std::max(nearest, -128.0f), 127.0f));
    }
  }

  // (count, width) numbers become (count, rows) floats. Sums are exact and wrap as 32 bits do.
  std::vector<float> multiply(const int8_t *numbers, int64_t count) const {
    std::vector<int32_t> sums(static_cast<size_t>(count * rows_));
    const Matrix a{numbers, ACL_INT8, count, width_, {width_, 0, 0}, {1, 0, 0}};
    gemm(a, matrix_stack(weight_).first.transposed(), {sums.data(), ACL_INT32, rows_, 1});
    std::vector<float> result(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t column = i % static_cast<size_t>(rows_);
      const uint32_t sum = static_cast<uint32_t>(sums[i]) + static_cast<uint32_t>(bias_[column]);
      result[i] = static_cast<float>(static_cast<int32_t>(sum)) * factors_[column];
    }
    return result;
  }

 private:
  int64_t width_, rows_;
  std::vector<float> gamma_, beta_;
  float scale_, offset_;
  std::vector<int32_t> bias_;
  std::vector<float> factors_;
  aclTensor weight_;
};

// The cache with the elements of a slot behind each other.
View slots_of_cache(const aclTensor &cache, bool blocked) {
  View view = view_of(cache);
  Layout &l = view.layout;
  if (!blocked) return view;
  std::swap(l.shape[1], l.shape[2]);
  std::swap(l.stride[1], l.stride[2]);
  return view;
}

class PreprocessRun {
 public:
  PreprocessRun(PlanContext &c, const Preprocess &p)
      : p_(p),
        s_(p.s),
        joined_(p.cache_mode == kJoinedCache),
        dtype_(c.tensor(p.input).dtype),
        slots_(integers(c, p.slots)),
        input_(view_of(c.tensor(p.input))),
        cos_(view_of(c.tensor(p.cos))),
        sin_(view_of(c.tensor(p.sin))),
        gamma_(read_all<float>(c, p.gamma, kKeyRank, 1.0f)),
        down_(c, p.step[0], s_.hidden, kJoinedKey + s_.rank),
        up_(c, p.step[1], s_.rank, s_.heads * (s_.head + kRotary)),
        absorb_(matrix_stack(c.tensor(p.up))),
        query_(view_of(c.tensor(p.query))),
        kv_(slots_of_cache(c.tensor(p.kv), p.cache_mode == kBlockedCache)) {
    if (joined_) return;
    query_rope_.emplace(view_of(c.tensor(p.query_rope)));
    kr_.emplace(slots_of_cache(c.tensor(p.kr), p.cache_mode == kBlockedCache));
  }

  Status run() {
    for (const int64_t slot : slots_) {
      if (slot < s_.slots) continue;
      return fail(kKernelFault, "%s: slotMapping holds %lld; the cache has %lld slots", p_.op,
                  static_cast<long long>(slot), static_cast<long long>(s_.slots));
    }
    for (int64_t first = 0; first < s_.tokens; first += kChunk)
      tokens(first, std::min(kChunk, s_.tokens - first));
    return 0;
  }

 private:
  void tokens(int64_t first, int64_t count) {
    const int64_t width = kJoinedKey + s_.rank;
    std::vector<int8_t> numbers(static_cast<size_t>(count * s_.hidden));
    for_each_row<float>(count, s_.hidden, 1, [&](int64_t i, float *row) {
      input_.read((first + i) * s_.hidden, s_.hidden, row);
      down_.quantise(row, p_.norm, p_.epsilon, numbers.data() + i * s_.hidden);
    });
    std::vector<float> rows = down_.multiply(numbers.data(), count);
    std::vector<int8_t> latent(static_cast<size_t>(count * s_.rank));
    for_each_row<float>(count, 3 * kRotary, 1, [&](int64_t i, float *memory) {
      float *row = rows.data() + i * width;
      key(first + i, row, memory);
      up_.quantise(row + kJoinedKey, true, p_.epsilon, latent.data() + i * s_.rank);
    });
    queries(first, count, latent);
  }

  void key(int64_t token, float *row, float *memory) const {
    const int64_t slot = slots_[static_cast<size_t>(token)];
    if (slot < 0) return;
    rms_normalise(row, static_cast<int64_t>(gamma_.size()), p_.epsilon, gamma_.data());
    float *turned = memory + 2 * kRotary;
    turn(token, row + kKeyRank, memory, turned);
    kv_.write(slot * (joined_ ? kJoinedKey : kKeyRank), kKeyRank, row);
    if (joined_) kv_.write(slot * kJoinedKey + kKeyRank, kRotary, turned);
    else kr_->write(slot * kRotary, kRotary, turned);
  }

  void turn(int64_t token, const float *from, float *tables, float *to) const {
    cos_.read(token * kRotary, kRotary, tables);
    sin_.read(token * kRotary, kRotary, tables + kRotary);
    rotate(kHalf, from, tables, tables + kRotary, kRotary, to);
  }

  void queries(int64_t first, int64_t count, const std::vector<int8_t> &latent) const {
    const int64_t step = s_.head + kRotary, all = s_.heads * step;
    std::vector<float> rows = up_.multiply(latent.data(), count);
    parallel_for(s_.heads, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> result(static_cast<size_t>(count * kKeyRank));
      std::vector<char> low(static_cast<size_t>(s_.head) * sizeof(uint16_t));
      float memory[3 * kRotary];
      for (int64_t n = begin; n < end; ++n) {
        float *part = rows.data() + n * step;
        for (int64_t i = 0; i < count; ++i) {
          float *row = part + i * all;
          const int64_t at = (first + i) * s_.heads + n;
          turn(first + i, row + s_.head, memory, memory + 2 * kRotary);
          if (joined_) query_.write(at * kJoinedKey + kKeyRank, kRotary, memory + 2 * kRotary);
          else query_rope_->write(at * kRotary, kRotary, memory + 2 * kRotary);
          store_f32(row, low.data(), dtype_, 0, 1, s_.head);
          load_f32(low.data(), dtype_, 0, 1, s_.head, row);
        }
        const Matrix a{part, ACL_FLOAT, count, s_.head, {all, 0, 0}, {1, 0, 0}};
        gemm(a, absorb_.at(n * absorb_.batch.stride[0]), {result.data(), ACL_FLOAT, kKeyRank, 1});
        for (int64_t i = 0; i < count; ++i)
          query_.write(((first + i) * s_.heads + n) * (joined_ ? kJoinedKey : kKeyRank), kKeyRank,
                       result.data() + i * kKeyRank);
      }
    });
  }

  const Preprocess &p_;
  const PreprocessSizes &s_;
  bool joined_;
  aclDataType dtype_;
  std::vector<int64_t> slots_;
  RowSource<float> input_, cos_, sin_;
  std::vector<float> gamma_;
  Step down_, up_;
  MatrixStack absorb_;
  RowTarget<float> query_, kv_;
  std::optional<RowTarget<float>> query_rope_, kr_;
};

Status plan_preprocess(const PreprocessCall &a, uint64_t *workspace_size,
                       aclOpExecutor **executor) {
  Check check(a.op);
  Preprocess p{};
  p.op = a.op;
  p.s = check_preprocess(check, a);
  if (!check.ok()) return check.status();
  p.epsilon = a.epsilon;
  p.norm = a.norm;
  p.cache_mode = a.cache_mode;
  const bool joined = a.cache_mode == kJoinedCache;
  PlanBuilder plan(a.op);
  p.input = plan.input(a.input);
  for (int i = 0; i < 2; ++i) {
    const PreprocessStep &s = a.step[i];
    StepIndices &at = p.step[i];
    at.gamma = plan.input(s.gamma);
    at.beta = plan.input(s.beta);
    at.scale = plan.input(s.scale);
    at.offset = plan.input(s.offset);
    at.weight = plan.input(s.weight);
    at.factors = plan.input(s.factors);
    at.bias = plan.input(s.bias);
  }
  p.gamma = plan.input(a.gamma);
  p.cos = plan.input(a.cos);
  p.sin = plan.input(a.sin);
  p.up = plan.input(a.up);
  // The results are the same caches.
  plan.unused(a.kv_cache);
  plan.unused(a.kr_cache);
  p.slots = plan.input(a.slots);
  for (const aclTensor *t : a.unused) plan.unused(t);
  p.query = plan.output(a.query);
  p.kv = plan.output(a.kv_out);
  p.query_rope = joined ? plan.unused(a.query_rope) : plan.output(a.query_rope);
  p.kr = joined ? plan.unused(a.kr_out) : plan.output(a.kr_out);
  if (a.second) plan.unused(a.down);
  return plan.finish(
      [p](PlanContext &c) { return p.s.tokens == 0 ? Status{0} : PreprocessRun(c, p).run(); },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define PREPROCESS_TENSORS                                                                       \
  const aclTensor *input, const aclTensor *gamma0, const aclTensor *beta0,                       \
      const aclTensor *quantScale0, const aclTensor *quantOffset0, const aclTensor *wdqkv,       \
      const aclTensor *deScale0, const aclTensor *bias0, const aclTensor *gamma1,                \
      const aclTensor *beta1, const aclTensor *quantScale1, const aclTensor *quantOffset1,       \
      const aclTensor *wuq, const aclTensor *deScale1, const aclTensor *bias1,                   \
      const aclTensor *gamma2, const aclTensor *cos, const aclTensor *sin, const aclTensor *wuk, \
      const aclTensor *kvCache, const aclTensor *kvCacheRopeOptional,                            \
      const aclTensor *slotMapping, const aclTensor *ctkvScaleOptional,                          \
      const aclTensor *qNopeScaleOptional
// The dimensions and the coefficients of the rotation are reserved: the shapes say them.
#define PREPROCESS_ATTRIBUTES                                                                     \
  int64_t, int64_t, int64_t, double epsilon, int64_t, int64_t, bool transposeWdq,                 \
      bool transposeWuq, bool transposeWuk, int64_t cacheMode, int64_t quantMode, bool doRmsNorm, \
      int64_t wdkvSplitCount
#define PREPROCESS_CALL(c)                                                        \
  c.input = input;                                                                \
  c.step[0] = {gamma0, beta0, quantScale0, quantOffset0, wdqkv, deScale0, bias0}; \
  c.step[1] = {gamma1, beta1, quantScale1, quantOffset1, wuq, deScale1, bias1};   \
  c.gamma = gamma2;                                                               \
  c.cos = cos;                                                                    \
  c.sin = sin;                                                                    \
  c.up = wuk;                                                                     \
  c.kv_cache = kvCache;                                                           \
  c.kr_cache = kvCacheRopeOptional;                                               \
  c.slots = slotMapping;                                                          \
  c.unused[0] = ctkvScaleOptional;                                                \
  c.unused[1] = qNopeScaleOptional;                                               \
  c.epsilon = epsilon;                                                            \
  c.transposed[0] = transposeWdq;                                                 \
  c.transposed[1] = transposeWuq;                                                 \
  c.transposed[2] = transposeWuk;                                                 \
  c.cache_mode = cacheMode;                                                       \
  c.quant_mode = quantMode;                                                       \
  c.norm = doRmsNorm;                                                             \
  c.parts = wdkvSplitCount;                                                       \
  c.query = qOut;                                                                 \
  c.kv_out = kvCacheOut;                                                          \
  c.query_rope = qRopeOutOptional;                                                \
  c.kr_out = krCacheOutOptional

EMU_OPERATOR(MlaPreprocess,
             (PREPROCESS_TENSORS, PREPROCESS_ATTRIBUTES, aclTensor *qOut, aclTensor *kvCacheOut,
              aclTensor *qRopeOutOptional, aclTensor *krCacheOutOptional)) {
  emu::PreprocessCall c{};
  c.op = "aclnnMlaPreprocess";
  PREPROCESS_CALL(c);
  return emu::plan_preprocess(c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MlaPreprocessV2, (PREPROCESS_TENSORS, PREPROCESS_ATTRIBUTES, bool qDownOutFlag,
                               aclTensor *qOut, aclTensor *kvCacheOut, aclTensor *qRopeOutOptional,
                               aclTensor *krCacheOutOptional, aclTensor *qDownOut)) {
  emu::PreprocessCall c{};
  c.op = "aclnnMlaPreprocessV2";
  c.second = true;
  c.with_down = qDownOutFlag;
  c.down = qDownOut;
  PREPROCESS_CALL(c);
  return emu::plan_preprocess(c, workspaceSize, executor);
}
EMU_CATCH
