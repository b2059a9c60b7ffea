// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/attention/mla/mla_prolog.h"
#include "ops/attention/mla/mla_prolog_low.h"

#include <cmath>

#include "aclnnop/attention.h"
#include "core/float_bits.h"
#include "core/statuses.h"
#include "ops/cache/slot_target.h"
#include "ops/matmul/stack.h"
#include "ops/moe/routing.h"
#include "ops/norm/rms.h"
#include "ops/rotary/rotate.h"
#include "ops/shared/dynamic.h"

namespace emu {
namespace {

constexpr int64_t kChunk = 64;  // tokens worked on at a time

struct Indices {
  size_t x, w_dq, w_uq_qr, w_uk, w_dkv_kr, gamma_cq, gamma_ckv, sin, cos, index, kv, kr;
  size_t scale_x, scale_w_dq, scale_w_uq_qr, scale_w_dkv_kr, quant_ckv, quant_ckr, smooth, ends;
  size_t query, query_rope, query_scale, query_norm, query_norm_scale;
};

struct Prolog {
  const char *op;
  Indices at;
  PrologSizes s;
  double epsilon_cq, epsilon_ckv;
  float query_factor, key_factor;
};

// The length of every sequence of tokens in one dimension.
Status read_lengths(const Prolog &p, const std::vector<int64_t> &ends,
                    std::vector<int64_t> *lengths) {
  int64_t before = 0;
  for (const int64_t end : ends) {
    if (end < before || end > p.s.tokens) {
      return fail(
          kKernelFault,
          "%s: actualSeqLenOptional holds %lld behind %lld; it must not decrease and end at "
          "the %lld tokens",
          p.op, wide(end), wide(before), wide(p.s.tokens));
    }
    lengths->push_back(end - before);
    before = end;
  }
  if (before == p.s.tokens) return 0;
  return fail(kKernelFault, "%s: actualSeqLenOptional ends at %lld; there are %lld tokens", p.op,
              wide(before), wide(p.s.tokens));
}

// The slot of every token.
Status find_slots(PlanContext &c, const Prolog &p, std::vector<int64_t> *slots) {
  const PrologSizes &s = p.s;
  const std::vector<int64_t> index = integers(c, p.at.index);
  const bool blocks = s.by == PrologPlaces::kBlocks;
  if (s.by == PrologPlaces::kOwn) {
    for (int64_t t = 0; t < s.tokens; ++t) slots->push_back(t);
    return 0;
  }
  const int64_t limit = blocks ? s.slots / s.places : s.slots;
  for (const int64_t value : index) {
    if (value >= 0 && value < limit) continue;
    return fail(kKernelFault, "%s: cacheIndex holds %lld; the cache has %lld %s", p.op, wide(value),
                wide(limit), blocks ? "blocks" : "slots");
  }
  if (!blocks) {
    *slots = index;
    return 0;
  }
  std::vector<int64_t> lengths(static_cast<size_t>(s.batches), s.sequence);
  if (c.has(p.at.ends) && s.batches == 0) {
    if (const Status bad = read_lengths(p, integers(c, p.at.ends), &lengths)) return bad;
  }
  size_t next = 0;
  for (const int64_t length : lengths) {
    for (int64_t t = 0; t < length; ++t) {
      const size_t at = next + static_cast<size_t>(t / s.places);
      if (at >= index.size()) {
        return fail(kKernelFault, "%s: cacheIndex has %zu entries; the sequences need more", p.op,
                    index.size());
      }
      slots->push_back(index[at] * s.places + t % s.places);
    }
    next += static_cast<size_t>((length + s.places - 1) / s.places);
  }
  return 0;
}

float as_brain(float value) {
  return float_of(static_cast<uint32_t>(float_to_bfloat16(value)) << 16);
}

Matrix dense(const void *data, aclDataType dtype, int64_t rows, int64_t cols) {
  return {data, dtype, rows, cols, {cols, 0, 0}, {1, 0, 0}};
}

// Symmetric numbers of 8 bits; returns the scale. A row of zeros becomes zeros.
float quantise_row(float *row, int64_t count, int8_t *to) {
  const float scale = scale_symmetric(row, count, quant_range(ACL_INT8)).scale;
  for (int64_t i = 0; i < count; ++i) {
    const float value = std::isnan(row[i]) ? 0.0f : std::nearbyint(row[i]);
    to[i] = static_cast<int8_t>(std::min(std::max(value, -128.0f), 127.0f));
  }
  return scale;
}

class Run {
 public:
  Run(PlanContext &c, const Prolog &p, std::vector<int64_t> slots)
      : c_(c),
        p_(p),
        s_(p.s),
        slots_(std::move(slots)),
        x_(view_of(c.tensor(p.at.x))),
        sin_(view_of(c.tensor(p.at.sin))),
        cos_(view_of(c.tensor(p.at.cos))),
        gamma_cq_(read_all<float>(c, p.at.gamma_cq, s_.query_rank, 1.0f)),
        gamma_ckv_(read_all<float>(c, p.at.gamma_ckv, kKeyRank, 1.0f)),
        smooth_(read_all<float>(c, p.at.smooth, s_.query_rank, 1.0f)),
        quant_ckv_(slot_factors(c, p.at.quant_ckv, 1, kKeyRank, 1.0f)),
        quant_ckr_(slot_factors(c, p.at.quant_ckr, 1, kRotary, 1.0f)),
        scale_x_(read_all<float>(c, p.at.scale_x, s_.whole && !s_.mx ? s_.tokens : 0, 1.0f)),
        down_(c, p.at.w_dq, p.at.scale_w_dq, s_.whole, s_.mx),
        up_(c, p.at.w_uq_qr, p.at.scale_w_uq_qr, s_.part, s_.mx),
        key_(c, p.at.w_dkv_kr, p.at.scale_w_dkv_kr, s_.whole, s_.mx),
        codes_(floats() ? s_.low : ACL_FLOAT8_E4M3FN, s_.hidden),
        latent_codes_(floats() ? s_.low : ACL_FLOAT8_E4M3FN, s_.query_rank),
        query_(c.tensor(p.at.query)),
        query_rope_(c.tensor(p.at.query_rope)) {
    const SlotOrder order = s_.fractal ? SlotOrder::kBlocks : SlotOrder::kPlaces;
    if (c.tensor(p.at.kv).numel() != 0) {
      kv_.emplace(slots_of(c.tensor(p.at.kv), order));
      kr_.emplace(slots_of(c.tensor(p.at.kr), order));
    }
    if (s_.queries) query_scale_.emplace(view_of(c.tensor(p.at.query_scale)));
    if (c.has(p.at.query_norm)) query_norm_.emplace(c.tensor(p.at.query_norm));
    if (s_.mx) powers_x_ = read_powers(c.tensor(p.at.scale_x));
    if (!query_norm_ || !s_.part) return;
    if (s_.mx) norm_powers_.emplace(c.tensor(p.at.query_norm_scale));
    else norm_scale_.emplace(view_of(c.tensor(p.at.query_norm_scale)));
  }

  void tokens(int64_t first, int64_t count) {
    const char *from = x_.data + first * s_.hidden * item_size(x_.dtype);
    Matrix x = dense(from, x_.dtype, count, s_.hidden);
    std::vector<float> values;
    if (floats()) {
      values.resize(static_cast<size_t>(count * s_.hidden));
      const uint8_t *powers = s_.mx ? powers_x_.data() + first * (s_.hidden / kLowBlock) : nullptr;
      codes_.decode(reinterpret_cast<const uint8_t *>(from), powers, count, values.data());
      x = dense(values.data(), ACL_FLOAT, count, s_.hidden);
    }
    const float *by_row = s_.whole && !s_.mx ? scale_x_.data() + first : nullptr;
    keys(x, by_row, first, count);
    queries(x, by_row, first, count);
  }

 private:
  // Whether tokens and weights are floats of 8 bits.
  bool floats() const { return s_.whole && s_.low != ACL_INT8; }

  void keys(const Matrix &x, const float *by_row, int64_t first, int64_t count) {
    constexpr int64_t kJoined = kKeyRank + kRotary;
    std::vector<float> rows(static_cast<size_t>(count * kJoined));
    key_.multiply(x, by_row, rows.data());
    if (!kv_) return;
    for_each_row<float>(count, 3 * kRotary, 1, [&](int64_t i, float *memory) {
      float *row = rows.data() + i * kJoined, *turned = memory + 2 * kRotary;
      const int64_t slot = slots_[static_cast<size_t>(first + i)];
      rms_normalise(row, kKeyRank, p_.epsilon_ckv, gamma_ckv_.data());
      for (int64_t e = 0; e < kKeyRank; ++e)
        row[e] = row[e] * p_.key_factor / quant_ckv_[static_cast<size_t>(e)];
      kv_->write(slot * kKeyRank, kKeyRank, row);
      turn(first + i, row + kKeyRank, memory, turned);
      for (int64_t e = 0; e < kRotary; ++e) turned[e] /= quant_ckr_[static_cast<size_t>(e)];
      kr_->write(slot * kRotary, kRotary, turned);
    });
  }

  void turn(int64_t token, const float *from, float *tables, float *to) const {
    cos_.read(token * kRotary, kRotary, tables);
    sin_.read(token * kRotary, kRotary, tables + kRotary);
    rotate(kInterleaveHalf, from, tables, tables + kRotary, kRotary, to);
  }

  // c = factor * norm(x @ weightDq), rounded to what the next product takes.
  Matrix latent(const Matrix &x, const float *by_row, int64_t first, int64_t count) {
    const int64_t width = s_.query_rank;
    latent_.resize(static_cast<size_t>(count * width));
    down_.multiply(x, by_row, latent_.data());
    low_.resize(s_.part && !floats() ? latent_.size() : 0);
    row_scale_.assign(static_cast<size_t>(count), 1.0f);
    for_each_row<float>(count, width, 1, [&](int64_t i, float *numbers) {
      float *row = latent_.data() + i * width;
      rms_normalise(row, width, p_.epsilon_cq, gamma_cq_.data());
      for (int64_t e = 0; e < width; ++e) row[e] *= p_.query_factor;
      if (!s_.part) {
        for (int64_t e = 0; e < width; ++e) row[e] = as_brain(row[e]);
        if (query_norm_) query_norm_->write((first + i) * width, width, row);
        return;
      }
      for (int64_t e = 0; e < width; ++e) row[e] *= smooth_[static_cast<size_t>(e)];
      if (floats()) return low_floats(first + i, row, &row_scale_[static_cast<size_t>(i)]);
      int8_t *low = low_.data() + i * width;
      row_scale_[static_cast<size_t>(i)] = quantise_row(row, width, low);
      if (!query_norm_) return;
      std::copy_n(low, width, numbers);
      query_norm_->write((first + i) * width, width, numbers);
      norm_scale_->write(first + i, 1, &row_scale_[static_cast<size_t>(i)]);
    });
    return s_.part && !floats() ? dense(low_.data(), ACL_INT8, count, width)
                                : dense(latent_.data(), ACL_FLOAT, count, width);
  }

  // A row becomes floats of 8 bits, which are kept as what they stand for.
  void low_floats(int64_t token, float *row, float *scale) const {
    const int64_t width = s_.query_rank;
    if (!s_.mx) {
      *scale = latent_codes_.quantise(row);
      if (!query_norm_) return;
      query_norm_->write(token * width, width, row);
      norm_scale_->write(token, 1, scale);
      return;
    }
    std::vector<uint8_t> powers(static_cast<size_t>(width / kLowBlock));
    std::vector<float> plain(static_cast<size_t>(width));
    latent_codes_.quantise_mx(row, powers.data(), plain.data());
    if (!query_norm_) return;
    query_norm_->write(token * width, width, plain.data());
    norm_powers_->write(token * (width / kLowBlock), width / kLowBlock, powers.data());
  }

  void queries(const Matrix &x, const float *by_row, int64_t first, int64_t count) {
    const int64_t step = s_.head + kRotary, all = s_.heads * step;
    const Matrix c = latent(x, by_row, first, count);
    std::vector<float> rows(static_cast<size_t>(count * all));
    up_.multiply(c, s_.part && !s_.mx ? row_scale_.data() : nullptr, rows.data());
    const MatrixStack up = matrix_stack(c_.tensor(p_.at.w_uk));
    parallel_for(s_.heads, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> result(static_cast<size_t>(count * kKeyRank));
      float memory[3 * kRotary];
      for (int64_t n = begin; n < end; ++n) {
        float *part = rows.data() + n * step;
        for (int64_t i = 0; i < count; ++i) {
          turn(first + i, part + i * all + s_.head, memory, memory + 2 * kRotary);
          const int64_t at = (first + i) * s_.heads + n;
          query_rope_.write(at * kRotary, kRotary, memory + 2 * kRotary);
          for (int64_t e = 0; e < s_.head; ++e) part[i * all + e] = as_brain(part[i * all + e]);
        }
        const Matrix a{part, ACL_FLOAT, count, s_.head, {all, 0, 0}, {1, 0, 0}};
        gemm(a, up.at(n * up.batch.stride[0]), {result.data(), ACL_FLOAT, kKeyRank, 1});
        for (int64_t i = 0; i < count; ++i) {
          float *row = result.data() + i * kKeyRank;
          const int64_t at = (first + i) * s_.heads + n;
          if (query_scale_) {
            const float scale = scale_symmetric(row, kKeyRank, quant_range(s_.low)).scale;
            query_scale_->write(at, 1, &scale);
          }
          query_.write(at * kKeyRank, kKeyRank, row);
        }
      }
    });
  }

  PlanContext &c_;
  const Prolog &p_;
  const PrologSizes &s_;
  std::vector<int64_t> slots_;
  View x_;
  RowSource<float> sin_, cos_;
  std::vector<float> gamma_cq_, gamma_ckv_, smooth_, quant_ckv_, quant_ckr_, scale_x_;
  PrologWeight down_, up_, key_;
  LowRows codes_, latent_codes_;
  std::vector<uint8_t> powers_x_;
  SlotTarget query_, query_rope_;
  std::optional<SlotTarget> kv_, kr_, query_norm_;
  std::optional<RowTarget<float>> query_scale_, norm_scale_;
  std::optional<LowCodes> norm_powers_;
  std::vector<float> latent_, row_scale_;
  std::vector<int8_t> low_;
};

}  // namespace

Status plan_prolog(const PrologCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  const PrologSizes s = check_prolog(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  Indices at{};
  at.x = plan.input(a.x);
  at.w_dq = plan.input(a.w_dq);
  at.w_uq_qr = plan.input(a.w_uq_qr);
  at.w_uk = plan.input(a.w_uk);
  at.w_dkv_kr = plan.input(a.w_dkv_kr);
  at.gamma_cq = plan.input(a.gamma_cq);
  at.gamma_ckv = plan.input(a.gamma_ckv);
  at.sin = plan.input(a.sin);
  at.cos = plan.input(a.cos);
  if (a.version < 3) at.index = plan.input(a.index);
  at.kv = plan.in_place(a.kv_cache);
  at.kr = plan.in_place(a.kr_cache);
  if (a.version == 3) at.index = plan.input(a.index);
  at.scale_x = plan.input(a.scale_x);
  at.scale_w_dq = plan.input(a.scale_w_dq);
  at.scale_w_uq_qr = plan.input(a.scale_w_uq_qr);
  at.scale_w_dkv_kr = plan.input(a.scale_w_dkv_kr);
  at.quant_ckv = plan.input(a.quant_ckv);
  at.quant_ckr = plan.input(a.quant_ckr);
  at.smooth = plan.input(a.smooth);
  const bool third = a.version == 3;
  at.ends = third ? plan.input(a.ends) : plan.input_if(nullptr);
  if (third) plan.unused(a.clip);
  at.query = plan.output(a.query);
  at.query_rope = plan.output(a.query_rope);
  if (a.version > 1)
    at.query_scale = s.queries ? plan.output(a.query_scale) : plan.unused(a.query_scale);
  at.query_norm = third ? plan.output(a.query_norm) : plan.output_if(nullptr);
  const bool scaled = third && a.query_norm != nullptr && s.part;
  at.query_norm_scale = !third   ? plan.output_if(nullptr)
                        : scaled ? plan.output(a.query_norm_scale)
                                 : plan.unused(a.query_norm_scale);
  const auto prolog = std::make_shared<const Prolog>(
      Prolog{a.op, at, s, a.epsilon_cq, a.epsilon_ckv, static_cast<float>(a.query_factor),
             static_cast<float>(a.key_factor)});
  return plan.finish(
      [prolog](PlanContext &c) {
        const Prolog &p = *prolog;
        std::vector<int64_t> slots;
        const bool keeps = c.tensor(p.at.kv).numel() != 0;
        if (keeps && p.s.tokens > 0) {
          if (const Status bad = find_slots(c, p, &slots)) return bad;
        }
        Run run(c, p, std::move(slots));
        for (int64_t first = 0; first < p.s.tokens; first += kChunk)
          run.tokens(first, std::min(kChunk, p.s.tokens - first));
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace emu

EMU_OPERATOR(MlaProlog,
             (const aclTensor *tokenX, const aclTensor *weightDq, const aclTensor *weightUqQr,
              const aclTensor *weightUk, const aclTensor *weightDkvKr,
              const aclTensor *rmsnormGammaCq, const aclTensor *rmsnormGammaCkv,
              const aclTensor *ropeSin, const aclTensor *ropeCos, const aclTensor *cacheIndex,
              aclTensor *kvCacheRef, aclTensor *krCacheRef, const aclTensor *dequantScaleXOptional,
              const aclTensor *dequantScaleWDqOptional, const aclTensor *dequantScaleWUqQrOptional,
              const aclTensor *dequantScaleWDkvKrOptional, const aclTensor *quantScaleCkvOptional,
              const aclTensor *quantScaleCkrOptional, const aclTensor *smoothScalesCqOptional,
              double rmsnormEpsilonCq, double rmsnormEpsilonCkv, const char *cacheModeOptional,
              aclTensor *queryOut, aclTensor *queryRopeOut)) {
  return emu::plan_prolog({"aclnnMlaProlog",
                           1,
                           tokenX,
                           weightDq,
                           weightUqQr,
                           weightUk,
                           weightDkvKr,
                           rmsnormGammaCq,
                           rmsnormGammaCkv,
                           ropeSin,
                           ropeCos,
                           cacheIndex,
                           kvCacheRef,
                           krCacheRef,
                           dequantScaleXOptional,
                           dequantScaleWDqOptional,
                           dequantScaleWUqQrOptional,
                           dequantScaleWDkvKrOptional,
                           quantScaleCkvOptional,
                           quantScaleCkrOptional,
                           smoothScalesCqOptional,
                           rmsnormEpsilonCq,
                           rmsnormEpsilonCkv,
                           cacheModeOptional,
                           queryOut,
                           queryRopeOut,
                           nullptr},
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MlaPrologV2WeightNz,
             (const aclTensor *tokenX, const aclTensor *weightDq, const aclTensor *weightUqQr,
              const aclTensor *weightUk, const aclTensor *weightDkvKr,
              const aclTensor *rmsnormGammaCq, const aclTensor *rmsnormGammaCkv,
              const aclTensor *ropeSin, const aclTensor *ropeCos, const aclTensor *cacheIndex,
              aclTensor *kvCacheRef, aclTensor *krCacheRef, const aclTensor *dequantScaleXOptional,
              const aclTensor *dequantScaleWDqOptional, const aclTensor *dequantScaleWUqQrOptional,
              const aclTensor *dequantScaleWDkvKrOptional, const aclTensor *quantScaleCkvOptional,
              const aclTensor *quantScaleCkrOptional, const aclTensor *smoothScalesCqOptional,
              double rmsnormEpsilonCq, double rmsnormEpsilonCkv, const char *cacheModeOptional,
              aclTensor *queryOut, aclTensor *queryRopeOut,
              aclTensor *dequantScaleQNopeOutOptional)) {
  return emu::plan_prolog({"aclnnMlaPrologV2WeightNz",
                           2,
                           tokenX,
                           weightDq,
                           weightUqQr,
                           weightUk,
                           weightDkvKr,
                           rmsnormGammaCq,
                           rmsnormGammaCkv,
                           ropeSin,
                           ropeCos,
                           cacheIndex,
                           kvCacheRef,
                           krCacheRef,
                           dequantScaleXOptional,
                           dequantScaleWDqOptional,
                           dequantScaleWUqQrOptional,
                           dequantScaleWDkvKrOptional,
                           quantScaleCkvOptional,
                           quantScaleCkrOptional,
                           smoothScalesCqOptional,
                           rmsnormEpsilonCq,
                           rmsnormEpsilonCkv,
                           cacheModeOptional,
                           queryOut,
                           queryRopeOut,
                           dequantScaleQNopeOutOptional},
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MlaPrologV3WeightNz,
             (const aclTensor *tokenX, const aclTensor *weightDq, const aclTensor *weightUqQr,
              const aclTensor *weightUk, const aclTensor *weightDkvKr,
              const aclTensor *rmsnormGammaCq, const aclTensor *rmsnormGammaCkv,
              const aclTensor *ropeSin, const aclTensor *ropeCos, aclTensor *kvCacheRef,
              aclTensor *krCacheRef, const aclTensor *cacheIndexOptional,
              const aclTensor *dequantScaleXOptional, const aclTensor *dequantScaleWDqOptional,
              const aclTensor *dequantScaleWUqQrOptional,
              const aclTensor *dequantScaleWDkvKrOptional, const aclTensor *quantScaleCkvOptional,
              const aclTensor *quantScaleCkrOptional, const aclTensor *smoothScalesCqOptional,
              const aclTensor *actualSeqLenOptional, const aclTensor *kNopeClipAlphaOptional,
              double rmsnormEpsilonCq, double rmsnormEpsilonCkv, const char *cacheModeOptional,
              int64_t weightQuantMode, int64_t kvCacheQuantMode, int64_t queryQuantMode,
              int64_t ckvkrRepoMode, int64_t quantScaleRepoMode, [[maybe_unused]] int64_t tileSize,
              double qcQrScale, double kcScale, aclTensor *queryOut, aclTensor *queryRopeOut,
              aclTensor *dequantScaleQNopeOutOptional, aclTensor *queryNormOutOptional,
              aclTensor *dequantScaleQNormOutOptional)) {
  emu::PrologCall call{"aclnnMlaPrologV3WeightNz",
                       3,
                       tokenX,
                       weightDq,
                       weightUqQr,
                       weightUk,
                       weightDkvKr,
                       rmsnormGammaCq,
                       rmsnormGammaCkv,
                       ropeSin,
                       ropeCos,
                       cacheIndexOptional,
                       kvCacheRef,
                       krCacheRef,
                       dequantScaleXOptional,
                       dequantScaleWDqOptional,
                       dequantScaleWUqQrOptional,
                       dequantScaleWDkvKrOptional,
                       quantScaleCkvOptional,
                       quantScaleCkrOptional,
                       smoothScalesCqOptional,
                       rmsnormEpsilonCq,
                       rmsnormEpsilonCkv,
                       cacheModeOptional,
                       queryOut,
                       queryRopeOut,
                       dequantScaleQNopeOutOptional};
  call.ends = actualSeqLenOptional;
  call.clip = kNopeClipAlphaOptional;
  call.weight_mode = weightQuantMode;
  call.cache_mode = kvCacheQuantMode;
  call.query_mode = queryQuantMode;
  call.merged = ckvkrRepoMode;
  call.merged_scales = quantScaleRepoMode;
  call.query_factor = qcQrScale;
  call.key_factor = kcScale;
  call.query_norm = queryNormOutOptional;
  call.query_norm_scale = dequantScaleQNormOutOptional;
  return emu::plan_prolog(call, workspaceSize, executor);
}
EMU_CATCH
