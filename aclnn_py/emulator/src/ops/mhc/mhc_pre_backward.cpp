// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradients of MhcPre and MhcPreSinkhorn: through the joined input, the gates, the projection
// and the norm of the streams.
#include <cmath>

#include "aclnnop/mhc.h"
#include "core/chip.h"
#include "ops/matmul/gemm.h"
#include "ops/mhc/mixing.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

using Number = long long;

// Sums over the tokens are made of this many pieces, whatever the number of threads.
constexpr int64_t kPieces = 8, kTokensAtOnce = 16, kRounds = 20;

struct PreGradientAt {
  size_t x, phi, alpha, bias, in, post, rest, inverse, before, pre, written, gamma, more;
  size_t sums, norms;
  size_t dx, dphi, dalpha, dbias, dgamma;
};

struct PreGradient {
  StreamSizes sizes;
  PreGradientAt at{};
  float eps = 0.0f;
  bool sinkhorn = false;
};

class AddTo final : public RowSink<float> {
 public:
  AddTo(float *to, int64_t stride) : to_(to), stride_(stride) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *to = to_ + row * stride_ + col;
    for (int64_t i = 0; i < count; ++i) to[i] += values[i];
  }

 private:
  float *to_;
  const int64_t stride_;
};

class PreGradientRun {
 public:
  PreGradientRun(const PreGradient &p, PlanContext &c) : p_(p), s_(p.sizes), at_(p.at), c_(c) {}

  Status run() {
    results_ = {view(at_.dx), view(at_.dphi), view(at_.dalpha), view(at_.dbias), view(at_.dgamma)};
    const View x = safe(at_.x), in = safe(at_.in), more = safe(at_.more);
    const RowSource<float> source(x), joined(in);
    std::vector<RowSource<float>> added;
    if (more.data) added.emplace_back(more);
    const RowTarget<float> dx(view(at_.dx));
    read();
    const int64_t row = s_.row(), mixes = s_.mixes;
    phi_ = read_all<float>(c_, at_.phi, mixes * row, 0.0f);
    gamma_ = read_all<float>(c_, at_.gamma, row, 1.0f);
    const int64_t pieces = std::min(kPieces, s_.tokens);
    std::vector<Sums> sums(static_cast<size_t>(pieces));
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        Sums &sum = sums[static_cast<size_t>(piece)];
        sum.phi.assign(static_cast<size_t>(mixes * row), 0.0f);
        sum.bias.assign(static_cast<size_t>(mixes), 0.0);
        if (view(at_.dgamma).data) sum.gamma.assign(static_cast<size_t>(row), 0.0);
        const int64_t last = s_.tokens * (piece + 1) / pieces;
        for (int64_t t = s_.tokens * piece / pieces; t < last; t += kTokensAtOnce)
          some(source, joined, added, t, std::min(kTokensAtOnce, last - t), dx, &sum);
      }
    });
    store(sums);
    return 0;
  }

 private:
  struct Sums {
    std::vector<float> phi;
    std::vector<double> bias, gamma;
    double alpha[3] = {0.0, 0.0, 0.0};
  };

  View view(size_t at) const { return c_.has(at) ? view_of(c_.tensor(at)) : View(); }
  View safe(size_t at) {
    View seen = view(at);
    for (const View &result : results_) {
      if (seen.data) seen = operands_.safe(seen, {result});
    }
    return seen;
  }

  void read() {
    const int64_t n = s_.streams, tokens = s_.tokens;
    alpha_ = read_all<float>(c_, at_.alpha, 3, 0.0f);
    bias_ = read_all<float>(c_, at_.bias, s_.mixes, 0.0f);
    post_ = read_all<float>(c_, at_.post, tokens * n, 0.0f);
    rest_ = read_all<float>(c_, at_.rest, tokens * n * n, 0.0f);
    inverse_ = read_all<float>(c_, at_.inverse, tokens, 0.0f);
    before_ = read_all<float>(c_, at_.before, tokens * s_.mixes, 0.0f);
    pre_ = read_all<float>(c_, at_.pre, tokens * n, 0.0f);
    if (!p_.sinkhorn) {
      written_ = read_all<float>(c_, at_.written, tokens * n, 0.0f);
      return;
    }
    sums_ = read_all<float>(c_, at_.sums, 2 * kRounds * tokens * n, 1.0f);
    norms_ = read_all<float>(c_, at_.norms, 2 * kRounds * tokens * n * n, 0.0f);
  }

  // The gradients of the gates before their scales; `slopes` gets those of the projection.
  void gates(int64_t token, const float *x, const float *in, float *slopes, Sums *sum) const {
    const int64_t n = s_.streams, width = s_.width, mixes = s_.mixes;
    const float inverse = inverse_[static_cast<size_t>(token)];
    const float *before = before_.data() + token * mixes, *pre = pre_.data() + token * n;
    for (int64_t i = 0; i < n; ++i) {
      double along = 0.0;
      for (int64_t d = 0; d < width; ++d) along += static_cast<double>(in[d]) * x[i * width + d];
      const float s = pre[i] - p_.eps;
      slopes[i] = static_cast<float>(along) * s * (1.0f - s);
    }
    for (int64_t i = 0; i < n; ++i) {
      float gate;
      if (p_.sinkhorn) {
        const float x1 = before[n + i] * inverse * alpha_[1] + bias_[static_cast<size_t>(n + i)];
        gate = 2.0f / (1.0f + std::exp(-x1));
      } else {
        gate = written_[static_cast<size_t>(token * n + i)];
      }
      slopes[n + i] = post_[static_cast<size_t>(token * n + i)] * gate * (1.0f - gate / 2.0f);
    }
    float *rest = slopes + 2 * n;
    std::copy_n(rest_.data() + token * n * n, n * n, rest);
    if (p_.sinkhorn) {
      std::vector<float> stage_sums, stage_norms;
      for (int64_t stage = 0; stage < 2 * kRounds; ++stage) {
        const int64_t at = stage * s_.tokens + token;
        stage_sums.insert(stage_sums.end(), sums_.data() + at * n, sums_.data() + (at + 1) * n);
        stage_norms.insert(stage_norms.end(), norms_.data() + at * n * n,
                           norms_.data() + (at + 1) * n * n);
      }
      sinkhorn_back(rest, n, kRounds, stage_sums.data(), stage_norms.data());
    }
    for (int64_t i = 0; i < mixes; ++i) {
      const int part = i < n ? 0 : i < 2 * n ? 1 : 2;
      sum->alpha[part] += static_cast<double>(slopes[i]) * before[i] * inverse;
      sum->bias[static_cast<size_t>(i)] += static_cast<double>(slopes[i]);
      slopes[i] *= alpha_[static_cast<size_t>(part)];
    }
  }

  void some(const RowSource<float> &source, const RowSource<float> &joined,
            const std::vector<RowSource<float>> &added, int64_t first, int64_t count,
            const RowTarget<float> &to, Sums *sum) const {
    const int64_t row = s_.row(), mixes = s_.mixes, width = s_.width;
    std::vector<float> x(static_cast<size_t>(count * row)), scaled(x.size()), dx(x.size(), 0.0f),
        in(static_cast<size_t>(count * width)), slopes(static_cast<size_t>(count * mixes)),
        along(static_cast<size_t>(count)), more(static_cast<size_t>(row));
    source.read(first * row, count * row, x.data());
    joined.read(first * width, count * width, in.data());
    for (size_t i = 0; i < x.size(); ++i) scaled[i] = x[i] * gamma_[i % static_cast<size_t>(row)];
    for (int64_t t = 0; t < count; ++t) {
      const int64_t token = first + t;
      float *slope = slopes.data() + t * mixes;
      gates(token, x.data() + t * row, in.data() + t * width, slope, sum);
      double total = 0.0;
      for (int64_t i = 0; i < mixes; ++i) {
        total += static_cast<double>(slope[i]) * before_[static_cast<size_t>(token * mixes + i)];
        slope[i] *= inverse_[static_cast<size_t>(token)];
      }
      along[static_cast<size_t>(t)] = static_cast<float>(total);
    }
    const Matrix g{slopes.data(), ACL_FLOAT, count, mixes, {mixes}, {1}},
        phi{phi_.data(), ACL_FLOAT, mixes, row, {row}, {1}},
        rows{scaled.data(), ACL_FLOAT, count, row, {row}, {1}};
    gemm_f32(g.transposed(), rows, AddTo(sum->phi.data(), row));
    gemm_f32(g, phi, AddTo(dx.data(), row));
    for (int64_t t = 0; t < count; ++t) {
      const int64_t token = first + t;
      float *slope = dx.data() + t * row;
      const float *values = x.data() + t * row, *pre = pre_.data() + token * s_.streams;
      const double inverse = inverse_[static_cast<size_t>(token)];
      const auto share = static_cast<float>(along[static_cast<size_t>(t)] * inverse * inverse *
                                            inverse / static_cast<double>(row));
      if (!added.empty()) added[0].read(token * row, row, more.data());
      for (int64_t i = 0; i < row; ++i) {
        const auto k = static_cast<size_t>(i);
        if (!sum->gamma.empty()) sum->gamma[k] += static_cast<double>(values[i]) * slope[i];
        slope[i] = slope[i] * gamma_[k] - share * values[i] +
                   in[static_cast<size_t>(t * width + i % width)] * pre[i / width] + more[k];
      }
      to.write(token * row, row, slope);
    }
  }

  template <class Member>
  void total(size_t at, const std::vector<Sums> &sums, Member member) const {
    if (!c_.has(at)) return;
    const size_t count = (sums[0].*member).size();
    std::vector<float> whole(count);
    for (size_t i = 0; i < count; ++i) {
      double value = 0.0;
      for (const Sums &sum : sums) value += static_cast<double>((sum.*member)[i]);
      whole[i] = static_cast<float>(value);
    }
    RowTarget<float>(view(at)).write(0, static_cast<int64_t>(count), whole.data());
  }

  void store(const std::vector<Sums> &sums) const {
    total(at_.dphi, sums, &Sums::phi);
    total(at_.dbias, sums, &Sums::bias);
    total(at_.dgamma, sums, &Sums::gamma);
    float alpha[3];
    for (int i = 0; i < 3; ++i) {
      double value = 0.0;
      for (const Sums &sum : sums) value += sum.alpha[i];
      alpha[i] = static_cast<float>(value);
    }
    RowTarget<float>(view(at_.dalpha)).write(0, 3, alpha);
  }

  const PreGradient &p_;
  const StreamSizes &s_;
  const PreGradientAt &at_;
  PlanContext &c_;
  Operands operands_;
  std::vector<View> results_;
  std::vector<float> alpha_, bias_, post_, rest_, inverse_, before_, pre_, written_, sums_, norms_,
      phi_, gamma_;
};

struct NamedTensor {
  const char *name;
  const aclTensor *tensor;
};

// Nulls, dtypes, and the shapes that both operators have; sets the sizes.
void check_pre_gradient(Check &check, const aclTensor *x, const aclTensor *phi,
                        const aclTensor *alpha, const aclTensor *in, const aclTensor *dx,
                        std::initializer_list<NamedTensor> needed,
                        std::initializer_list<NamedTensor> optional, PreGradient *p) {
  for (const auto &t : needed) check.required(t.name, t.tensor);
  for (const auto &t : optional) check.optional(t.name, t.tensor);
  for (const auto &t : needed) check.dtype(t.name, t.tensor);
  for (const auto &t : optional) check.dtype(t.name, t.tensor);
  check.plain_format("x", x).rank("x", x, 3, 4).rank("phi", phi, 2, 2);
  if (!check.ok()) return;
  check.same_dtype("gradX", dx->dtype, "x", x->dtype);
  StreamSizes &s = p->sizes;
  s = stream_sizes(*x);
  const int64_t n = s.streams, three = 3;
  check.that(n == 4 || (chip_is_950() && (n == 6 || n == 8)), "x has %lld streams; allowed: %s",
             Number{n}, chip_is_950() ? "4, 6, 8" : "4");
  check.that(s.tokens > 0 && s.width > 0, "x is empty: %s", shape_text(layout_of(*x)).c_str());
  if (!check.ok()) return;
  s.mixes = 2 * n + n * n;
  const int64_t matrix[] = {s.mixes, check.size("x", Checked(n) * s.width)};
  check.shape("phi", phi, dense_layout(matrix, 2)).shape("alpha", alpha, dense_layout(&three, 1));
  check.shape("gradX", dx, layout_of(*x));
  for (const auto &t : needed) {
    if (t.tensor == in) {
      check.same_dtype(t.name, in->dtype, "x", x->dtype);
      check.shape(t.name, in, per_token(*x, {s.width}));
    }
  }
}

}  // namespace
}  // namespace emu

#define EMU_NAMED(NAME) \
  emu::NamedTensor { #NAME, NAME }

EMU_OPERATOR(MhcPreBackward,
             (const aclTensor *x, const aclTensor *phi, const aclTensor *alpha,
              const aclTensor *gradHIn, const aclTensor *gradHPost, const aclTensor *gradHRes,
              const aclTensor *invRms, const aclTensor *hMix, const aclTensor *hPre,
              const aclTensor *hPost, const aclTensor *gammaOptional,
              const aclTensor *gradXPostOptional, float hcEps, aclTensor *gradX, aclTensor *gradPhi,
              aclTensor *gradAlpha, aclTensor *gradBias, aclTensor *gradGammaOptional)) {
  using namespace emu;
  constexpr int64_t kWidest = 16384, kUnit = 64;
  Check check("aclnnMhcPreBackward");
  check.required("x", x);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  PreGradient p;
  check_pre_gradient(
      check, x, phi, alpha, gradHIn, gradX,
      {EMU_NAMED(x), EMU_NAMED(phi), EMU_NAMED(alpha), EMU_NAMED(gradHIn), EMU_NAMED(gradHPost),
       EMU_NAMED(gradHRes), EMU_NAMED(invRms), EMU_NAMED(hMix), EMU_NAMED(hPre), EMU_NAMED(hPost),
       EMU_NAMED(gradX), EMU_NAMED(gradPhi), EMU_NAMED(gradAlpha), EMU_NAMED(gradBias)},
      {EMU_NAMED(gammaOptional), EMU_NAMED(gradXPostOptional), EMU_NAMED(gradGammaOptional)}, &p);
  if (!check.ok()) return check.status();
  const StreamSizes &s = p.sizes;
  const int64_t n = s.streams, whole[] = {n, s.width};
  check.that(s.width <= kWidest && s.width % kUnit == 0,
             "x has a last dimension of %lld; allowed: multiples of 64 up to 16384",
             Number{s.width});
  check.shape("gradHPost", gradHPost, per_token(*x, {n}));
  check.shape("gradHRes", gradHRes, per_token(*x, {n, n}));
  check.shape("invRms", invRms, per_token(*x, {}));
  check.shape("hMix", hMix, per_token(*x, {s.mixes}));
  check.shape("hPre", hPre, per_token(*x, {n})).shape("hPost", hPost, per_token(*x, {n}));
  check.shape("gammaOptional", gammaOptional, dense_layout(whole, 2));
  check.shape("gradXPostOptional", gradXPostOptional, layout_of(*x));
  check.shape("gradPhi", gradPhi, layout_of(*phi));
  check.shape("gradAlpha", gradAlpha, layout_of(*alpha));
  check.shape("gradBias", gradBias, dense_layout(&s.mixes, 1));
  if (gammaOptional) check.required("gradGammaOptional", gradGammaOptional);
  if (gammaOptional && check.ok())
    check.shape("gradGammaOptional", gradGammaOptional, dense_layout(whole, 2));
  if (gradXPostOptional && check.ok())
    check.same_dtype("gradXPostOptional", gradXPostOptional->dtype, "x", x->dtype);
  if (!check.ok()) return check.status();
  p.eps = hcEps;
  PlanBuilder plan(check.op());
  PreGradientAt &at = p.at;
  at.x = plan.input(x), at.phi = plan.input(phi), at.alpha = plan.input(alpha);
  at.in = plan.input(gradHIn), at.post = plan.input(gradHPost), at.rest = plan.input(gradHRes);
  at.inverse = plan.input(invRms), at.before = plan.input(hMix), at.pre = plan.input(hPre);
  at.written = plan.input(hPost), at.gamma = plan.input(gammaOptional);
  at.more = plan.input(gradXPostOptional);
  at.dx = plan.output(gradX), at.dphi = plan.output(gradPhi), at.dalpha = plan.output(gradAlpha);
  at.dbias = plan.output(gradBias);
  at.dgamma = gammaOptional ? plan.output(gradGammaOptional) : plan.unused(gradGammaOptional);
  at.bias = at.sums = at.norms = plan.input_if(nullptr);
  const auto kept = std::make_shared<const PreGradient>(p);
  return plan.finish([kept](PlanContext &c) { return PreGradientRun(*kept, c).run(); },
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MhcPreSinkhornBackward,
             (const aclTensor *gradHin, const aclTensor *gradHPost, const aclTensor *gradHRes,
              const aclTensor *x, const aclTensor *phi, const aclTensor *alpha,
              const aclTensor *bias, const aclTensor *hPre, const aclTensor *hcBeforeNorm,
              const aclTensor *invRms, const aclTensor *sumOut, const aclTensor *normOut,
              double hcEps, aclTensor *gradX, aclTensor *gradPhi, aclTensor *gradAlpha,
              aclTensor *gradBias)) {
  using namespace emu;
  constexpr int64_t kWidest = 100000, kUnit = 128;
  Check check("aclnnMhcPreSinkhornBackward");
  PreGradient p;
  check_pre_gradient(
      check, x, phi, alpha, gradHin, gradX,
      {EMU_NAMED(gradHin), EMU_NAMED(gradHPost), EMU_NAMED(gradHRes), EMU_NAMED(x), EMU_NAMED(phi),
       EMU_NAMED(alpha), EMU_NAMED(bias), EMU_NAMED(hPre), EMU_NAMED(hcBeforeNorm),
       EMU_NAMED(invRms), EMU_NAMED(sumOut), EMU_NAMED(normOut), EMU_NAMED(gradX),
       EMU_NAMED(gradPhi), EMU_NAMED(gradAlpha), EMU_NAMED(gradBias)},
      {}, &p);
  if (!check.ok()) return check.status();
  const StreamSizes &s = p.sizes;
  const int64_t n = s.streams, stages = 2 * kRounds;
  check.that(n == 4, "x has %lld streams; it must have 4", Number{n});
  check.that(s.width <= kWidest && s.width % kUnit == 0,
             "x has a last dimension of %lld; allowed: multiples of 128 up to 100000",
             Number{s.width});
  check.shape("gradHPost", gradHPost, per_token(*x, {n}));
  if (gradHRes->rank() == x->rank()) check.shape("gradHRes", gradHRes, per_token(*x, {n, n}));
  else check.shape("gradHRes", gradHRes, per_token(*x, {n * n}));
  check.shape("bias", bias, dense_layout(&s.mixes, 1)).shape("hPre", hPre, per_token(*x, {n}));
  check.shape("hcBeforeNorm", hcBeforeNorm, per_token(*x, {s.mixes}));
  check.shape("invRms", invRms, per_token(*x, {1}));
  Layout sums, norms;
  sums.push(stages, 0);
  for (size_t d = 0; d + 1 < x->rank(); ++d) sums.push(x->shape[d], 0);
  norms = sums;
  norms.push(n, 0);
  check.shape("sumOut", sumOut, dense_like(sums)).shape("normOut", normOut, dense_like(norms));
  check.shape("gradPhi", gradPhi, layout_of(*phi));
  check.shape("gradAlpha", gradAlpha, layout_of(*alpha));
  check.shape("gradBias", gradBias, layout_of(*bias));
  if (!check.ok()) return check.status();
  p.eps = static_cast<float>(hcEps);
  p.sinkhorn = true;
  PlanBuilder plan(check.op());
  PreGradientAt &at = p.at;
  at.in = plan.input(gradHin), at.post = plan.input(gradHPost), at.rest = plan.input(gradHRes);
  at.x = plan.input(x), at.phi = plan.input(phi), at.alpha = plan.input(alpha);
  at.bias = plan.input(bias), at.pre = plan.input(hPre), at.before = plan.input(hcBeforeNorm);
  at.inverse = plan.input(invRms), at.sums = plan.input(sumOut), at.norms = plan.input(normOut);
  at.dx = plan.output(gradX), at.dphi = plan.output(gradPhi), at.dalpha = plan.output(gradAlpha);
  at.dbias = plan.output(gradBias);
  at.written = at.gamma = at.more = at.dgamma = plan.input_if(nullptr);
  const auto kept = std::make_shared<const PreGradient>(p);
  return plan.finish([kept](PlanContext &c) { return PreGradientRun(*kept, c).run(); },
                     workspaceSize, executor);
}
EMU_CATCH
