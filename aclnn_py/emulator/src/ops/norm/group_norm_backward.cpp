// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of GroupNorm, and of GroupNormSwish, whose activation comes after it.
#include <cmath>

#include "aclnnop/norm.h"
#include "core/chip.h"
#include "ops/norm/gradient.h"
#include "ops/norm/group.h"

namespace emu {
namespace {

struct GroupPlaces {
  size_t dy, x, mean, rstd, gamma, beta;  // gamma and beta may be absent
  size_t dx, dgamma, dbeta;               // each may be absent
};

constexpr int64_t kMostChannels = 240000, kWidestGroup = 8000, kWidestSwishGroup = 4000;

// activation(normalised, shift, gradient) is the gradient in front of the activation.
template <class F>
void group_gradient(PlanContext &c, const GroupPlaces &at, const GroupedChannels &all,
                    F activation) {
  const int64_t each = all.channels / all.groups, width = each * all.inner, rows = all.rows();
  const View result = NormGradient::optional(c, at.dx);
  Operands operands;
  const RowSource<float> gradients(operands.safe(view_of(c.tensor(at.dy)), {result}));
  const RowSource<float> values(operands.safe(view_of(c.tensor(at.x)), {result}));
  const auto means = read_all<float>(c, at.mean, rows, 0.0f),
             rstds = read_all<float>(c, at.rstd, rows, 1.0f);
  const auto scale = at.gamma == kAbsent
                         ? std::vector<float>(static_cast<size_t>(all.channels), 1.0f)
                         : read_all<float>(c, at.gamma, all.channels, 1.0f);
  const auto shift = at.beta == kAbsent ? std::vector<float>(static_cast<size_t>(all.channels))
                                        : read_all<float>(c, at.beta, all.channels, 0.0f);
  // What each channel of each sample adds to the gradients of its scale and shift.
  const auto count = static_cast<size_t>(all.samples * all.channels);
  std::vector<double> scales(count), shifts(count);
  for_each_row<float>(rows, width, 2, [&](int64_t row, float *g) {
    float *x = g + width;
    gradients.read(row * width, width, g);
    values.read(row * width, width, x);
    const float mean = means[static_cast<size_t>(row)], rstd = rstds[static_cast<size_t>(row)];
    double total = 0, along = 0;
    for (int64_t channel = 0; channel < each; ++channel) {
      const auto of_all = static_cast<size_t>(row * each + channel);
      const auto number = static_cast<size_t>(row % all.groups * each + channel);
      const float a = scale[number], b = shift[number];
      float *gs = g + channel * all.inner, *xs = x + channel * all.inner;
      double by_scale = 0, by_shift = 0;
      for (int64_t i = 0; i < all.inner; ++i) {
        xs[i] = (xs[i] - mean) * rstd;
        gs[i] = activation(xs[i] * a + b, gs[i]);
        by_scale += static_cast<double>(gs[i]) * static_cast<double>(xs[i]);
        by_shift += static_cast<double>(gs[i]);
        gs[i] *= a;
      }
      scales[of_all] = by_scale;
      shifts[of_all] = by_shift;
      total += by_shift * static_cast<double>(a);
      along += by_scale * static_cast<double>(a);
    }
    if (result.data == nullptr) return;
    const auto level = static_cast<float>(total / static_cast<double>(width)),
               slope = static_cast<float>(along / static_cast<double>(width));
    for (int64_t i = 0; i < width; ++i) g[i] = (g[i] - level - x[i] * slope) * rstd;
    RowTarget<float>(result).write(row * width, width, g);
  });
  const auto write = [&](size_t place, const std::vector<double> &parts) {
    if (place == kAbsent) return;
    std::vector<double> sums(static_cast<size_t>(all.channels));
    for (size_t i = 0; i < parts.size(); ++i) sums[i % sums.size()] += parts[i];
    RowTarget<double>(view_of(c.tensor(place))).write(0, all.channels, sums.data());
  };
  write(at.dgamma, scales);
  write(at.dbeta, shifts);
}

void check_groups(Check &check, const char *name, int64_t groups, int64_t channels,
                  int64_t widest) {
  check.that(groups > 0, "%s is %lld; it must be positive", name, static_cast<long long>(groups));
  if (!check.ok()) return;
  check.that(channels % groups == 0, "the %lld channels are not a multiple of %s %lld",
             static_cast<long long>(channels), name, static_cast<long long>(groups));
  check.that(channels / groups <= widest,
             "%s is %lld, with %lld channels in each group; allowed: at most %lld", name,
             static_cast<long long>(groups), static_cast<long long>(channels / groups),
             static_cast<long long>(widest));
}

Check &check_count(Check &check, const char *name, const aclTensor *given, int64_t expected) {
  if (given == nullptr || !check.ok()) return check;
  return check.that(given->numel() == expected, "%s has %lld elements; expected %lld", name,
                    static_cast<long long>(given->numel()), static_cast<long long>(expected));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupNormBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
              const aclTensor *rstd, const aclTensor *gamma, int64_t N, int64_t C, int64_t HxW,
              int64_t group, const aclBoolArray *outputMask, aclTensor *gradInput,
              aclTensor *gradGammaOut, aclTensor *gradBetaOut)) {
  using namespace emu;
  Check check("aclnnGroupNormBackward");
  check.required("gradOut", gradOut).required("input", input).required("mean", mean);
  check.required("rstd", rstd).optional("gamma", gamma).required("outputMask", outputMask);
  if (!check.ok()) return check.status();
  check.that(outputMask->values.size() == 3, "outputMask has %zu entries; expected 3",
             outputMask->values.size());
  if (!check.ok()) return check.status();
  const aclTensor *results[] = {gradInput, gradGammaOut, gradBetaOut};
  const char *names[] = {"gradInput", "gradGammaOut", "gradBetaOut"};
  const auto &mask = outputMask->values;
  for (size_t i = 0; i < 3; ++i) {
    if (mask[i] != 0) check.required(names[i], results[i]);
  }
  check.dtype("gradOut", gradOut).dtype("input", input).dtype("mean", mean).dtype("rstd", rstd);
  check.dtype("gamma", gamma);
  for (size_t i = 0; i < 3; ++i) {
    if (check.ok() && mask[i] != 0) check.dtype(names[i], results[i]);
  }
  if (!check.ok()) return check.status();
  check.same_dtype("input", input->dtype, "gradOut", gradOut->dtype);
  if (!chip_is_950()) check.same_dtype("mean", mean->dtype, "gradOut", gradOut->dtype);
  check.that(own_or_float(mean, gradOut),
             "mean has dtype %s; it must be FLOAT or that of gradOut, %s", dtype_name(mean->dtype),
             dtype_name(gradOut->dtype));
  check.same_dtype("rstd", rstd->dtype, "mean", mean->dtype);
  if (gamma) check.same_dtype("gamma", gamma->dtype, "mean", mean->dtype);
  for (size_t i = 0; i < 3; ++i) {
    const aclTensor *model = i == 0 ? gradOut : mean;
    if (check.ok() && mask[i] != 0)
      check.same_dtype(names[i], results[i]->dtype, i == 0 ? "gradOut" : "mean", model->dtype);
  }
  check.rank("gradOut", gradOut, 0, 8).rank("input", input, 0, 8);
  check.that(N >= 0 && C > 0 && HxW >= 0,
             "N, C and HxW are %lld, %lld and %lld; C must be positive, the others not negative",
             static_cast<long long>(N), static_cast<long long>(C), static_cast<long long>(HxW));
  check.that(C <= kMostChannels, "C is %lld; allowed: at most %lld", static_cast<long long>(C),
             static_cast<long long>(kMostChannels));
  check_groups(check, "group", group, C, kWidestGroup);
  if (!check.ok()) return check.status();
  const int64_t elements = check.size("N, C and HxW", Checked(N) * C * HxW);
  const int64_t rows = check.size("N and group", Checked(N) * group);
  check_count(check, "gradOut", gradOut, elements);
  check_count(check, "input", input, elements);
  check_count(check, "mean", mean, rows);
  check_count(check, "rstd", rstd, rows);
  check_count(check, "gamma", gamma, C);
  if (mask[0] != 0 && check.ok()) check.shape("gradInput", gradInput, layout_of(*input));
  for (size_t i = 1; i < 3; ++i) {
    if (mask[i] == 0 || !check.ok()) continue;
    if (gamma) check.shape(names[i], results[i], layout_of(*gamma));
    else check_count(check, names[i], results[i], C);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  GroupPlaces at{};
  at.dy = plan.input(gradOut);
  at.x = plan.input(input);
  at.mean = plan.input(mean);
  at.rstd = plan.input(rstd);
  at.gamma = gamma == nullptr ? kAbsent : plan.input(gamma);
  at.beta = kAbsent;
  at.dx = mask[0] != 0 ? plan.output(gradInput) : kAbsent;
  at.dgamma = mask[1] != 0 ? plan.output(gradGammaOut) : kAbsent;
  at.dbeta = mask[2] != 0 ? plan.output(gradBetaOut) : kAbsent;
  const GroupedChannels all{N, C, HxW, group};
  return plan.finish(
      [=](PlanContext &c) {
        group_gradient(c, at, all, [](float, float gradient) { return gradient; });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupNormSwishGrad,
             (const aclTensor *dy, const aclTensor *mean, const aclTensor *rstd, const aclTensor *x,
              const aclTensor *gamma, const aclTensor *beta, int64_t numGroups,
              [[maybe_unused]] const char *dataFormatOptional, double swishScale,
              bool dgammaIsRequire, bool dbetaIsRequire, aclTensor *dxOut, aclTensor *dgammaOut,
              aclTensor *dbetaOut)) {
  using namespace emu;
  Check check("aclnnGroupNormSwishGrad");
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"dy", dy},       {"mean", mean},           {"rstd", rstd},
      {"x", x},         {"gamma", gamma},         {"beta", beta},
      {"dxOut", dxOut}, {"dgammaOut", dgammaOut}, {"dbetaOut", dbetaOut}};
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  check.that(!chip_is_950(), "this chip does not have the operator");
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : tensors) check.same_dtype(name, tensor->dtype, "dy", dy->dtype);
  check.rank("dy", dy, 2, 8);
  if (!check.ok()) return check.status();
  const Layout whole = layout_of(*dy);
  check.that(whole.count() > 0, "dy has shape %s; no dimension may be 0",
             shape_text(whole).c_str());
  if (!check.ok()) return check.status();
  const int64_t N = whole.shape[0], C = whole.shape[1];
  check_groups(check, "numGroups", numGroups, C, kWidestSwishGroup);
  const int64_t pair[] = {N, numGroups};
  check.shape("mean", mean, dense_layout(pair, 2)).shape("rstd", rstd, dense_layout(pair, 2));
  check.shape("x", x, whole).shape("dxOut", dxOut, whole);
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"gamma", gamma},
                                     {"beta", beta},
                                     {"dgammaOut", dgammaOut},
                                     {"dbetaOut", dbetaOut}})
    check.shape(name, tensor, dense_layout(&C, 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  GroupPlaces at{};
  at.dy = plan.input(dy);
  at.mean = plan.input(mean);
  at.rstd = plan.input(rstd);
  at.x = plan.input(x);
  at.gamma = plan.input(gamma);
  at.beta = plan.input(beta);
  at.dx = plan.output(dxOut);
  at.dgamma = dgammaIsRequire ? plan.output(dgammaOut) : (plan.unused(dgammaOut), kAbsent);
  at.dbeta = dbetaIsRequire ? plan.output(dbetaOut) : (plan.unused(dbetaOut), kAbsent);
  const GroupedChannels all{N, C, whole.count() / (N * C), numGroups};
  const auto slope = static_cast<float>(swishScale);
  return plan.finish(
      [=](PlanContext &c) {
        // The derivative of z / (1 + exp(-slope * z)).
        group_gradient(c, at, all, [slope](float z, float gradient) {
          const float share = 1.0f / (1.0f + std::exp(-slope * z));
          return gradient * (share + slope * z * share * (1.0f - share));
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
