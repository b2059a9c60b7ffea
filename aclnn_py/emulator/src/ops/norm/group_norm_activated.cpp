// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation over groups of channels followed by x / (1 + exp(-scale * x)).
#include <cstring>

#include "aclnnop/norm.h"
#include "ops/norm/group.h"

namespace emu {
namespace {

struct ActivatedArguments {
  const char *op;
  const aclTensor *self, *gamma, *beta;
  int64_t groups;
  double eps;
  bool activate;
  double scale;
  const aclTensor *out, *mean, *rstd;
  const char *self_name, *groups_name, *out_name;
  bool affine;               // gamma and beta are not optional
  bool statistics_as_gamma;  // mean and rstd have the dtype of gamma, else that of the input
};

Check check_activated(const ActivatedArguments &a) {
  Check check(a.op);
  check.required(a.self_name, a.self);
  if (a.affine) check.required("gamma", a.gamma).required("beta", a.beta);
  check.optional("gamma", a.gamma).optional("beta", a.beta);
  check.required(a.out_name, a.out).required("meanOut", a.mean).required("rstdOut", a.rstd);
  check.dtype(a.self_name, a.self).dtype("gamma", a.gamma).dtype("beta", a.beta);
  check.dtype(a.out_name, a.out).dtype("meanOut", a.mean).dtype("rstdOut", a.rstd);
  check.plain_format(a.self_name, a.self).rank(a.self_name, a.self, 2, 8);
  if (!check.ok()) return check;
  const aclDataType own = a.self->dtype;
  if (a.gamma && a.beta) check.same_dtype("beta", a.beta->dtype, "gamma", a.gamma->dtype);
  for (const auto &[name, tensor] : {std::pair{"gamma", a.gamma}, std::pair{"beta", a.beta}}) {
    check.that(tensor == nullptr || tensor->dtype == own || tensor->dtype == ACL_FLOAT,
               "%s has dtype %s; it must be FLOAT or that of %s, %s", name,
               tensor ? dtype_name(tensor->dtype) : "", a.self_name, dtype_name(own));
  }
  check.same_dtype(a.out_name, a.out->dtype, a.self_name, own);
  const aclTensor *model = a.statistics_as_gamma ? a.gamma : a.self;
  const char *model_name = a.statistics_as_gamma ? "gamma" : a.self_name;
  check.same_dtype("meanOut", a.mean->dtype, model_name, model->dtype);
  check.same_dtype("rstdOut", a.rstd->dtype, model_name, model->dtype);
  const int64_t samples = a.self->shape[0], channels = a.self->shape[1];
  check.that(a.groups > 0 && channels > 0 && channels % a.groups == 0,
             "%s is %lld; it must divide the %lld channels of %s", a.groups_name,
             static_cast<long long>(a.groups), static_cast<long long>(channels), a.self_name);
  check.that(a.eps > 0, "eps is %g; it must be positive", a.eps);
  const int64_t statistics[] = {samples, a.groups};
  check.shape("gamma", a.gamma, dense_layout(&channels, 1));
  check.shape("beta", a.beta, dense_layout(&channels, 1));
  check.shape(a.out_name, a.out, layout_of(*a.self));
  check.shape("meanOut", a.mean, dense_layout(statistics, 2));
  return check.shape("rstdOut", a.rstd, dense_layout(statistics, 2));
}

Status plan_activated(const ActivatedArguments &a, uint64_t *workspace_size,
                      aclOpExecutor **executor) {
  const Check check = check_activated(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.self), weight = plan.input(a.gamma), bias = plan.input(a.beta);
  const size_t to = plan.output(a.out), mean = plan.output(a.mean), rstd = plan.output(a.rstd);
  const int64_t inner = count_of(a.self->shape.data() + 2, a.self->rank() - 2);
  const GroupedChannels channels{a.self->shape[0], a.self->shape[1], inner, a.groups};
  const double eps = a.eps;
  const bool activate = a.activate;
  const auto factor = static_cast<float>(a.scale);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {result}));
        const auto scale = read_all<float>(c, weight, channels.channels, 1.0f),
                   shift = read_all<float>(c, bias, channels.channels, 0.0f);
        const auto all = group_normalise(
            channels, from, RowTarget<float>(result), scale, shift, eps, [=](float value) {
              return activate ? value / (1.0f + std::exp(-factor * value)) : value;
            });
        const int64_t rows = channels.rows();
        RowTarget<float>(view_of(c.tensor(mean))).write(0, rows, all.means.data());
        RowTarget<float>(view_of(c.tensor(rstd))).write(0, rows, all.rstds.data());
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupNormSilu,
             (const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, int64_t group,
              double eps, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut)) {
  return emu::plan_activated({"aclnnGroupNormSilu", self, gamma, beta, group, eps, true, 1.0, out,
                              meanOut, rstdOut, "self", "group", "out", false, false},
                             workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupNormSiluV2, (const aclTensor *self, const aclTensor *gamma, const aclTensor *beta,
                               int64_t group, double eps, bool activateSilu, aclTensor *out,
                               aclTensor *meanOut, aclTensor *rstdOut)) {
  return emu::plan_activated({"aclnnGroupNormSiluV2", self, gamma, beta, group, eps, activateSilu,
                              1.0, out, meanOut, rstdOut, "self", "group", "out", false, false},
                             workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupNormSwish,
             (const aclTensor *x, const aclTensor *gamma, const aclTensor *beta, int64_t numGroups,
              const char *dataFormatOptional, double eps, bool activateSwish, double swishScale,
              aclTensor *yOut, aclTensor *meanOut, aclTensor *rstdOut)) {
  constexpr const char *op = "aclnnGroupNormSwish";
  emu::Check check(op);
  check.that(dataFormatOptional == nullptr || std::strcmp(dataFormatOptional, "NCHW") == 0,
             "dataFormatOptional is \"%.40s\"; allowed: \"NCHW\"",
             dataFormatOptional ? dataFormatOptional : "");
  if (!check.ok()) return check.status();
  return emu::plan_activated({op, x, gamma, beta, numGroups, eps, activateSwish, swishScale, yOut,
                              meanOut, rstdOut, "x", "numGroups", "yOut", true, true},
                             workspaceSize, executor);
}
EMU_CATCH
