// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradient of RmsNorm, quantised with one given scale.
#include <cstring>

#include "aclnnop/norm.h"
#include "ops/norm/gradient.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/quantised.h"

EMU_OPERATOR(RmsNormGradQuant,
             (const aclTensor *dy, const aclTensor *x, const aclTensor *rstd,
              const aclTensor *gamma, const aclTensor *scalesX, const aclTensor *offsetXOptional,
              const char *quantMode, bool divMode, aclTensor *dxOut, aclTensor *dgammaOut)) {
  using namespace emu;
  Check check("aclnnRmsNormGradQuant");
  check.required("dy", dy).required("x", x).required("rstd", rstd).required("gamma", gamma);
  check.required("scalesX", scalesX).optional("offsetXOptional", offsetXOptional);
  check.required_text("quantMode", quantMode).required("dxOut", dxOut);
  check.required("dgammaOut", dgammaOut);
  if (const Status s = check_chip(check, kInvalid)) return s;
  check.dtype("dy", dy).dtype("x", x).dtype("rstd", rstd).dtype("gamma", gamma);
  check.dtype("scalesX", scalesX).dtype("offsetXOptional", offsetXOptional);
  check.dtype("dxOut", dxOut).dtype("dgammaOut", dgammaOut);
  if (!check.ok()) return check.status();
  check.same_dtype("x", x->dtype, "dy", dy->dtype);
  for (const auto &[name, tensor] : {std::pair{"gamma", gamma}, std::pair{"scalesX", scalesX}})
    check.that(own_or_float(tensor, dy), "%s has dtype %s; it must be FLOAT or that of dy, %s",
               name, dtype_name(tensor->dtype), dtype_name(dy->dtype));
  check.tiling();
  check.that(std::strcmp(quantMode, "static") == 0, "quantMode is \"%.40s\"; allowed: \"static\"",
             quantMode);
  check.rank("x", x, 2, 8).rank("gamma", gamma, 1, 7);
  if (!check.ok()) return check.status();
  trailing(check, "gamma", gamma, "x", x);
  check.that(gamma->rank() < x->rank(), "gamma has as many dimensions as x, %zu; allowed: fewer",
             x->rank());
  if (!check.ok()) return check.status();
  const int64_t rows = outer_elements(*x, gamma->rank()), width = gamma->numel(), one = 1;
  one_per_row(check, "rstd", rstd, rows);
  check.shape("dy", dy, layout_of(*x)).shape("scalesX", scalesX, dense_layout(&one, 1));
  check.shape("offsetXOptional", offsetXOptional, dense_layout(&one, 1));
  check.shape("dxOut", dxOut, layout_of(*x)).shape("dgammaOut", dgammaOut, layout_of(*gamma));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  GradientPlaces at{};
  at.dy = plan.input(dy);
  at.x = plan.input(x);
  at.mean = kAbsent;
  at.rstd = plan.input(rstd);
  at.scale = plan.input(gamma);
  const size_t scale = plan.input(scalesX), offset = plan.input(offsetXOptional);
  at.dx = plan.output(dxOut);
  at.dscale = plan.output(dgammaOut);
  at.dshift = kAbsent;
  return plan.finish(
      [=](PlanContext &c) {
        const aclTensor &result = c.tensor(at.dx);
        const float by = read_all<float>(c, scale, 1, 1.0f)[0],
                    plus = read_all<float>(c, offset, 1, 0.0f)[0];
        const QuantTarget to(result);
        NormGradient(c, at, rows, width, shared_view(result)).run([&](int64_t row, float *dx) {
          if (divMode)
            for (int64_t i = 0; i < width; ++i) dx[i] = dx[i] / by + plus;
          else
            for (int64_t i = 0; i < width; ++i) dx[i] = dx[i] * by + plus;
          to.write(row * width, width, dx);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
