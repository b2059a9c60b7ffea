// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of the normalisations of a sum: AddLayerNormGrad and DeepNormGrad.
#include "aclnnop/norm.h"
#include "ops/norm/gradient.h"

namespace emu {
namespace {

struct NamedTensor {
  const char *name;
  const aclTensor *tensor;
};

void check_same_shape(Check &check, std::initializer_list<NamedTensor> tensors,
                      const aclTensor *model) {
  for (const auto &[name, tensor] : tensors) check.shape(name, tensor, layout_of(*model));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AddLayerNormGrad,
             (const aclTensor *dy, const aclTensor *x1, const aclTensor *x2, const aclTensor *rstd,
              const aclTensor *mean, const aclTensor *gamma, const aclTensor *dsumOptional,
              aclTensor *dxOut, aclTensor *dgammaOut, aclTensor *dbetaOut)) {
  using namespace emu;
  Check check("aclnnAddLayerNormGrad");
  check.required("dy", dy).required("x1", x1).required("x2", x2).required("rstd", rstd);
  check.required("mean", mean).required("gamma", gamma).optional("dsumOptional", dsumOptional);
  check.required("dxOut", dxOut).required("dgammaOut", dgammaOut).required("dbetaOut", dbetaOut);
  check.dtype("dy", dy).dtype("x1", x1).dtype("x2", x2).dtype("rstd", rstd).dtype("mean", mean);
  check.dtype("gamma", gamma).dtype("dsumOptional", dsumOptional).dtype("dxOut", dxOut);
  check.dtype("dgammaOut", dgammaOut).dtype("dbetaOut", dbetaOut);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] :
       {NamedTensor{"x1", x1}, {"x2", x2}, {"gamma", gamma}, {"dxOut", dxOut}})
    check.same_dtype(name, tensor->dtype, "dy", dy->dtype);
  if (dsumOptional) check.same_dtype("dsumOptional", dsumOptional->dtype, "dy", dy->dtype);
  check.rank("dy", dy, 1, 8).rank("gamma", gamma, 1, 8).tiling();
  if (!check.ok()) return check.status();
  trailing(check, "gamma", gamma, "dy", dy);
  if (!check.ok()) return check.status();
  const int64_t rows = outer_elements(*dy, gamma->rank()), width = gamma->numel();
  check_same_shape(check,
                   {{"x1", x1}, {"x2", x2}, {"dsumOptional", dsumOptional}, {"dxOut", dxOut}}, dy);
  one_per_row(check, "rstd", rstd, rows);
  one_per_row(check, "mean", mean, rows);
  check_same_shape(check, {{"dgammaOut", dgammaOut}, {"dbetaOut", dbetaOut}}, gamma);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  GradientPlaces at{};
  at.dy = plan.input(dy);
  at.x = plan.input(x1);
  at.other = plan.input(x2);
  at.rstd = plan.input(rstd);
  at.mean = plan.input(mean);
  at.scale = plan.input(gamma);
  at.added = dsumOptional == nullptr ? kAbsent : plan.input(dsumOptional);
  at.dx = plan.output(dxOut);
  at.dscale = plan.output(dgammaOut);
  at.dshift = plan.output(dbetaOut);
  return plan.finish(
      [=](PlanContext &c) {
        write_gradients(c, at, rows, width);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DeepNormGrad,
             (const aclTensor *dy, const aclTensor *x, const aclTensor *gx, const aclTensor *gamma,
              const aclTensor *mean, const aclTensor *rstd, double alpha, aclTensor *dxOut,
              aclTensor *dgxOut, aclTensor *dbetaOut, aclTensor *dgammaOut)) {
  using namespace emu;
  Check check("aclnnDeepNormGrad");
  check.required("dy", dy).required("x", x).required("gx", gx).required("gamma", gamma);
  check.required("mean", mean).required("rstd", rstd).required("dxOut", dxOut);
  check.required("dgxOut", dgxOut).required("dbetaOut", dbetaOut).required("dgammaOut", dgammaOut);
  check.dtype("dy", dy).dtype("x", x).dtype("gx", gx).dtype("gamma", gamma).dtype("mean", mean);
  check.dtype("rstd", rstd).dtype("dxOut", dxOut).dtype("dgxOut", dgxOut);
  check.dtype("dbetaOut", dbetaOut).dtype("dgammaOut", dgammaOut);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] :
       {NamedTensor{"x", x}, {"gx", gx}, {"gamma", gamma}, {"dxOut", dxOut}, {"dgxOut", dgxOut}})
    check.same_dtype(name, tensor->dtype, "dy", dy->dtype);
  check.rank("dy", dy, 2, 8).rank("gamma", gamma, 1, 7);
  if (!check.ok()) return check.status();
  trailing(check, "gamma", gamma, "dy", dy);
  if (!check.ok()) return check.status();
  check_same_shape(check, {{"x", x}, {"gx", gx}, {"dxOut", dxOut}, {"dgxOut", dgxOut}}, dy);
  const Layout outer = statistics_shape(*dy, gamma->rank());
  check.shape("mean", mean, outer).shape("rstd", rstd, outer);
  check_same_shape(check, {{"dbetaOut", dbetaOut}, {"dgammaOut", dgammaOut}}, gamma);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  GradientPlaces at{};
  at.dy = plan.input(dy);
  at.x = plan.input(x);
  at.other = plan.input(gx);
  at.factor = static_cast<float>(alpha);
  at.scale = plan.input(gamma);
  at.mean = plan.input(mean);
  at.rstd = plan.input(rstd);
  at.dx = plan.output(dxOut);
  const size_t dgx = plan.output(dgxOut);
  at.dshift = plan.output(dbetaOut);
  at.dscale = plan.output(dgammaOut);
  const int64_t rows = outer_elements(*dy, gamma->rank()), width = gamma->numel();
  return plan.finish(
      [=](PlanContext &c) {
        const View dx_view = view_of(c.tensor(at.dx)), dgx_view = view_of(c.tensor(dgx));
        const RowTarget<float> dx_to(dx_view), dgx_to(dgx_view);
        NormGradient(c, at, rows, width, dx_view, dgx_view).run([&](int64_t row, float *gradient) {
          dgx_to.write(row * width, width, gradient);
          for (int64_t i = 0; i < width; ++i) gradient[i] *= at.factor;
          dx_to.write(row * width, width, gradient);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
