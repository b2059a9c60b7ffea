// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The input of a layer, joined from its residual streams, and the weights for what follows; also
// with the mixing matrix made doubly stochastic.
#include <optional>

#include "aclnnop/mhc.h"
#include "core/chip.h"
#include "ops/mhc/mixing.h"

namespace emu {
namespace {

constexpr int64_t kStreams = 4, kRounds = 20, kWidest = 100000;

// The projection, its scales and shifts, as both operators have them; sets s->mixes.
void check_projection(Check &check, const aclTensor *phi, const aclTensor *alpha,
                      const aclTensor *bias, StreamSizes *s) {
  check.rank("phi", phi, 2, 2).rank("alpha", alpha, 1, 1).rank("bias", bias, 1, 1);
  if (!check.ok()) return;
  s->mixes = phi->shape[0];
  const int64_t row = check.size("x", Checked(s->streams) * s->width);
  const int64_t matrix[] = {s->mixes, row};
  check.shape("phi", phi, dense_layout(matrix, 2));
  check.shape("bias", bias, dense_layout(&s->mixes, 1));
}

void check_width(Check &check, const StreamSizes &s, int64_t align, int64_t most) {
  check.that(s.width > 0 && s.width <= most && s.width % align == 0,
             "x has a last dimension of %lld; allowed: multiples of %lld up to %lld",
             static_cast<long long>(s.width), static_cast<long long>(align),
             static_cast<long long>(most));
}

struct PreArguments {
  const aclTensor *x, *phi, *alpha, *bias, *gamma;
  const aclTensor *in, *post, *rest, *inverse, *mix, *pre;
};

// How many weights mix the streams: one per pair, one per permutation, or none.
void check_parts(Check &check, const PreArguments &a, const StreamSizes &s) {
  const int64_t n = s.streams, pairs = n * n, orders = 24;
  const int64_t scales = a.alpha->shape[0];
  check.that(scales == 2 || scales == 3, "alpha has %lld values; allowed: 2, 3",
             static_cast<long long>(scales));
  const bool permutes = !chip_is_950() && n == kStreams && s.rest() == orders;
  check.that(scales == 2 ? s.rest() == 0 : s.rest() == pairs || permutes,
             "phi has %lld rows; beside alpha of %lld values and %lld streams it must have %lld",
             static_cast<long long>(s.mixes), static_cast<long long>(scales),
             static_cast<long long>(n), static_cast<long long>(2 * n + (scales == 2 ? 0 : pairs)));
  if (!check.ok()) return;
  if (scales == 3 && a.rest == nullptr) check.required("hResOptional", a.rest);
  if (!check.ok() || a.rest == nullptr) return;
  if (s.rest() == 0 || s.rest() == pairs)
    check.shape("hResOptional", a.rest, per_token(*a.x, {n, n}));
  else check.shape("hResOptional", a.rest, per_token(*a.x, {orders}));
}

Check check_pre(const PreArguments &a, StreamSizes *s) {
  Check check("aclnnMhcPre");
  check.required("x", a.x).required("phi", a.phi).required("alpha", a.alpha);
  check.required("bias", a.bias).optional("gammaOptional", a.gamma);
  check.required("hIn", a.in).required("hPost", a.post).optional("hResOptional", a.rest);
  check.optional("invRmsOptional", a.inverse).optional("hMixOptional", a.mix);
  check.optional("hPreOptional", a.pre);
  check.dtype("x", a.x).dtype("phi", a.phi).dtype("alpha", a.alpha).dtype("bias", a.bias);
  check.dtype("gammaOptional", a.gamma).dtype("hIn", a.in).dtype("hPost", a.post);
  check.dtype("hResOptional", a.rest).dtype("invRmsOptional", a.inverse);
  check.dtype("hMixOptional", a.mix).dtype("hPreOptional", a.pre);
  check.plain_format("x", a.x).rank("x", a.x, 3, 4);
  if (!check.ok()) return check;
  check.same_dtype("hIn", a.in->dtype, "x", a.x->dtype);
  *s = stream_sizes(*a.x);
  const int64_t n = s->streams;
  check.that(n == kStreams || (chip_is_950() && (n == 6 || n == 8)),
             "x has %lld streams; allowed: %s", static_cast<long long>(n),
             chip_is_950() ? "4, 6, 8" : "4");
  if (chip_is_950()) check_width(check, *s, 16, 16384);
  else check_width(check, *s, 128, kWidest);
  check.that(s->tokens > 0, "x is empty: %s", shape_text(layout_of(*a.x)).c_str());
  if (check.ok()) check_projection(check, a.phi, a.alpha, a.bias, s);
  if (check.ok()) check_parts(check, a, *s);
  const int64_t whole[] = {n, s->width};
  check.shape("gammaOptional", a.gamma, dense_layout(whole, 2));
  if (!check.ok()) return check;
  check.shape("hIn", a.in, per_token(*a.x, {s->width}));
  check.shape("hPost", a.post, per_token(*a.x, {n}));
  check.that(
      (a.inverse == nullptr) == (a.mix == nullptr) && (a.inverse == nullptr) == (a.pre == nullptr),
      "%s is null; invRmsOptional, hMixOptional and hPreOptional are given together or not "
      "at all",
      a.inverse == nullptr ? "invRmsOptional"
      : a.mix == nullptr   ? "hMixOptional"
                           : "hPreOptional");
  check.shape("invRmsOptional", a.inverse, per_token(*a.x, {}));
  check.shape("hMixOptional", a.mix, per_token(*a.x, {s->mixes}));
  check.shape("hPreOptional", a.pre, per_token(*a.x, {n}));
  return check;
}

struct PrePlan {
  size_t x, phi, alpha, bias, gamma, in, post, rest, inverse, mix, pre;
  StreamSizes sizes;
  double norm_eps;
  float eps;
};

// A result that may be absent.
struct MaybeTarget {
  std::optional<RowTarget<float>> target;
  MaybeTarget(PlanContext &c, size_t index) {
    if (c.has(index)) target.emplace(view_of(c.tensor(index)));
  }
  void write(int64_t start, int64_t count, const float *from) const {
    if (target) target->write(start, count, from);
  }
};

// The operands of the projection, none of which a result overlaps.
struct Projection {
  Operands operands;
  View x, phi;
  MixGates gates;
  Projection(PlanContext &c, size_t x_index, size_t phi_index, size_t alpha, size_t bias, float eps,
             std::initializer_list<View> results) {
    x = operands.safe(view_of(c.tensor(x_index)), results);
    phi = operands.safe(view_of(c.tensor(phi_index)), results);
    gates.alpha = read_all<float>(c, alpha, c.tensor(alpha).numel(), 0.0f);
    gates.bias = read_all<float>(c, bias, c.tensor(bias).numel(), 0.0f);
    gates.eps = eps;
  }
};

View maybe_view(PlanContext &c, size_t index) {
  return c.has(index) ? view_of(c.tensor(index)) : View();
}

Status run_pre(PlanContext &c, const PrePlan &p) {
  const StreamSizes &s = p.sizes;
  const Projection projection(
      c, p.x, p.phi, p.alpha, p.bias, p.eps,
      {view_of(c.tensor(p.in)), view_of(c.tensor(p.post)), maybe_view(c, p.rest),
       maybe_view(c, p.mix), maybe_view(c, p.pre), maybe_view(c, p.inverse)});
  const auto gamma = read_all<float>(c, p.gamma, c.has(p.gamma) ? s.row() : 0, 1.0f);
  const RowTarget<float> in(view_of(c.tensor(p.in))), post(view_of(c.tensor(p.post)));
  const MaybeTarget rest(c, p.rest), inverse(c, p.inverse), mix(c, p.mix), pre(c, p.pre);
  const int64_t n = s.streams, width_of_rest = s.rest() == 0 ? n * n : s.rest();
  const std::vector<float> zeros(static_cast<size_t>(n * n));
  mix_streams(projection.x, projection.phi, gamma, s, p.norm_eps, projection.gates,
              [&](int64_t token, const TokenMix &m) {
                std::vector<float> joined(static_cast<size_t>(s.width));
                join_streams(m, s, joined.data());
                in.write(token * s.width, s.width, joined.data());
                post.write(token * n, n, m.post);
                rest.write(token * width_of_rest, width_of_rest,
                           s.rest() == 0 ? zeros.data() : m.rest);
                inverse.write(token, 1, &m.inverse);
                mix.write(token * s.mixes, s.mixes, m.before);
                pre.write(token * n, n, m.pre);
              });
  return 0;
}

struct PreSinkhornArguments {
  const aclTensor *x, *phi, *alpha, *bias;
  int64_t multiplicity, rounds;
  bool backward;
  const aclTensor *in, *post, *rest, *pre, *before, *inverse, *sums, *norms;
};

void check_for_backward(Check &check, const PreSinkhornArguments &a, const StreamSizes &s) {
  const int64_t n = s.streams, stages = 2 * kRounds;
  check.required("hPre", a.pre).required("hcBeforeNorm", a.before).required("invRms", a.inverse);
  check.required("sumOut", a.sums).required("normOut", a.norms);
  if (!check.ok()) return;
  check.shape("hPre", a.pre, per_token(*a.x, {n}));
  check.shape("hcBeforeNorm", a.before, per_token(*a.x, {s.mixes}));
  check.shape("invRms", a.inverse, per_token(*a.x, {1}));
  Layout sums, norms;
  sums.push(stages, 0);
  for (size_t d = 0; d + 1 < a.x->rank(); ++d) sums.push(a.x->shape[d], 0);
  norms = sums;
  norms.push(n, 0);
  check.shape("sumOut", a.sums, dense_like(sums)).shape("normOut", a.norms, dense_like(norms));
}

Check check_pre_sinkhorn(const PreSinkhornArguments &a, StreamSizes *s) {
  Check check("aclnnMhcPreSinkhorn");
  check.required("x", a.x).required("phi", a.phi).required("alpha", a.alpha);
  check.required("bias", a.bias).required("hin", a.in).required("hPost", a.post);
  check.required("hRes", a.rest);
  check.optional("hPre", a.pre).optional("hcBeforeNorm", a.before).optional("invRms", a.inverse);
  check.optional("sumOut", a.sums).optional("normOut", a.norms);
  check.dtype("x", a.x).dtype("phi", a.phi).dtype("alpha", a.alpha).dtype("bias", a.bias);
  check.dtype("hin", a.in).dtype("hPost", a.post).dtype("hRes", a.rest).dtype("hPre", a.pre);
  check.dtype("hcBeforeNorm", a.before).dtype("invRms", a.inverse).dtype("sumOut", a.sums);
  check.dtype("normOut", a.norms);
  check.plain_format("x", a.x).rank("x", a.x, chip_is_950() ? 3 : 4, 4);
  if (!check.ok()) return check;
  check.same_dtype("hin", a.in->dtype, "x", a.x->dtype);
  *s = stream_sizes(*a.x);
  const int64_t n = s->streams;
  check.that(a.multiplicity == kStreams, "hcMult is %lld; it must be 4",
             static_cast<long long>(a.multiplicity));
  check.that(a.rounds == kRounds, "numIters is %lld; it must be 20",
             static_cast<long long>(a.rounds));
  check.that(n == kStreams, "x has %lld streams; it must have 4", static_cast<long long>(n));
  if (chip_is_950()) {
    check.that(s->width == 4096 || s->width == 7168,
               "x has a last dimension of %lld; allowed: 4096, 7168",
               static_cast<long long>(s->width));
  } else {
    check_width(check, *s, 128, kWidest);
  }
  if (check.ok()) check_projection(check, a.phi, a.alpha, a.bias, s);
  if (!check.ok()) return check;
  const int64_t three = 3;
  check.that(s->rest() == n * n, "phi has %lld rows; it must have %lld",
             static_cast<long long>(s->mixes), static_cast<long long>(n * n + 2 * n));
  check.shape("alpha", a.alpha, dense_layout(&three, 1));
  check.shape("hin", a.in, per_token(*a.x, {s->width}));
  check.shape("hPost", a.post, per_token(*a.x, {n}));
  check.shape("hRes", a.rest, per_token(*a.x, {n * n}));
  if (check.ok() && a.backward) check_for_backward(check, a, *s);
  return check;
}

struct PreSinkhornPlan {
  size_t x, phi, alpha, bias, in, post, rest, pre, before, inverse, sums, norms;
  StreamSizes sizes;
  double norm_eps;
  float eps;
};

Status run_pre_sinkhorn(PlanContext &c, const PreSinkhornPlan &p) {
  const StreamSizes &s = p.sizes;
  const Projection projection(
      c, p.x, p.phi, p.alpha, p.bias, p.eps,
      {view_of(c.tensor(p.in)), view_of(c.tensor(p.post)), view_of(c.tensor(p.rest)),
       maybe_view(c, p.pre), maybe_view(c, p.before), maybe_view(c, p.inverse),
       maybe_view(c, p.sums), maybe_view(c, p.norms)});
  const RowTarget<float> in(view_of(c.tensor(p.in))), post(view_of(c.tensor(p.post))),
      rest(view_of(c.tensor(p.rest)));
  const MaybeTarget pre(c, p.pre), before(c, p.before), inverse(c, p.inverse), sums(c, p.sums),
      norms(c, p.norms);
  const int64_t n = s.streams, square = n * n;
  mix_streams(projection.x, projection.phi, {}, s, p.norm_eps, projection.gates,
              [&](int64_t token, const TokenMix &m) {
                std::vector<float> joined(static_cast<size_t>(s.width));
                join_streams(m, s, joined.data());
                in.write(token * s.width, s.width, joined.data());
                post.write(token * n, n, m.post);
                pre.write(token * n, n, m.pre);
                before.write(token * s.mixes, s.mixes, m.before);
                inverse.write(token, 1, &m.inverse);
                sinkhorn(m.rest, n, kRounds, p.eps,
                         [&](int64_t stage, const float *sum, const float *matrix) {
                           const int64_t at = stage * s.tokens + token;
                           if (sum != nullptr) sums.write(at * n, n, sum);
                           norms.write(at * square, square, matrix);
                         });
                rest.write(token * square, square, m.rest);
              });
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MhcPre,
             (const aclTensor *x, const aclTensor *phi, const aclTensor *alpha,
              const aclTensor *bias, const aclTensor *gammaOptional, double normEps, double hcEps,
              aclTensor *hIn, aclTensor *hPost, aclTensor *hResOptional, aclTensor *invRmsOptional,
              aclTensor *hMixOptional, aclTensor *hPreOptional)) {
  using namespace emu;
  PrePlan p{};
  const Check check = check_pre({x, phi, alpha, bias, gammaOptional, hIn, hPost, hResOptional,
                                 invRmsOptional, hMixOptional, hPreOptional},
                                &p.sizes);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  p.x = plan.input(x), p.phi = plan.input(phi), p.alpha = plan.input(alpha);
  p.bias = plan.input(bias), p.gamma = plan.input(gammaOptional);
  p.in = plan.output(hIn), p.post = plan.output(hPost), p.rest = plan.output(hResOptional);
  p.inverse = plan.output(invRmsOptional), p.mix = plan.output(hMixOptional);
  p.pre = plan.output(hPreOptional);
  p.norm_eps = normEps, p.eps = static_cast<float>(hcEps);
  const auto kept = std::make_shared<const PrePlan>(p);
  return plan.finish([kept](PlanContext &c) { return run_pre(c, *kept); }, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MhcPreSinkhorn,
             (const aclTensor *x, const aclTensor *phi, const aclTensor *alpha,
              const aclTensor *bias, int64_t hcMult, int64_t numIters, double hcEps, double normEps,
              bool needBackward, aclTensor *hin, aclTensor *hPost, aclTensor *hRes, aclTensor *hPre,
              aclTensor *hcBeforeNorm, aclTensor *invRms, aclTensor *sumOut, aclTensor *normOut)) {
  using namespace emu;
  PreSinkhornPlan p{};
  const Check check = check_pre_sinkhorn({x, phi, alpha, bias, hcMult, numIters, needBackward, hin,
                                          hPost, hRes, hPre, hcBeforeNorm, invRms, sumOut, normOut},
                                         &p.sizes);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const auto for_backward = [&](const aclTensor *tensor) {
    return needBackward ? plan.output(tensor) : plan.unused(tensor);
  };
  p.x = plan.input(x), p.phi = plan.input(phi), p.alpha = plan.input(alpha);
  p.bias = plan.input(bias), p.in = plan.output(hin), p.post = plan.output(hPost);
  p.rest = plan.output(hRes), p.pre = for_backward(hPre), p.before = for_backward(hcBeforeNorm);
  p.inverse = for_backward(invRms), p.sums = for_backward(sumOut), p.norms = for_backward(normOut);
  p.norm_eps = normEps, p.eps = static_cast<float>(hcEps);
  const auto kept = std::make_shared<const PreSinkhornPlan>(p);
  return plan.finish([kept](PlanContext &c) { return run_pre_sinkhorn(c, *kept); }, workspaceSize,
                     executor);
}
EMU_CATCH
