// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of the normalisations of trailing dimensions, by mean and variance or by the root of
// the mean square.
#include "aclnnop/norm.h"
#include "ops/norm/gradient.h"

namespace emu {
namespace {

struct LayerArguments {
  const aclTensor *dy, *x;
  const aclIntArray *tail;
  const aclTensor *mean, *rstd, *weight, *bias;
  const aclBoolArray *mask;
  const aclTensor *dx, *dweight, *dbias;  // null where the mask says so
};

Check check_layer(const LayerArguments &a) {
  Check check("aclnnLayerNormBackward");
  check.required("gradOut", a.dy)
      .required("input", a.x)
      .required("normalizedShape", a.tail)
      .required("mean", a.mean)
      .required("rstd", a.rstd)
      .required("outputMask", a.mask)
      .optional("weightOptional", a.weight)
      .optional("biasOptional", a.bias);
  if (!check.ok()) return check;
  check.that(a.mask->values.size() == 3, "outputMask has %zu entries; expected 3",
             a.mask->values.size());
  if (!check.ok()) return check;
  const aclTensor *results[] = {a.dx, a.dweight, a.dbias};
  const char *names[] = {"gradInputOutOptional", "gradWeightOutOptional", "gradBiasOutOptional"};
  for (size_t i = 0; i < 3; ++i) {
    if (a.mask->values[i] != 0) check.required(names[i], results[i]);
  }
  check.dtype("gradOut", a.dy).dtype("input", a.x).dtype("mean", a.mean).dtype("rstd", a.rstd);
  check.dtype("weightOptional", a.weight).dtype("biasOptional", a.bias);
  for (size_t i = 0; i < 3; ++i) {
    if (check.ok() && a.mask->values[i] != 0) check.dtype(names[i], results[i]);
  }
  if (!check.ok()) return check;
  check.same_dtype("gradOut", a.dy->dtype, "input", a.x->dtype)
      .same_dtype("rstd", a.rstd->dtype, "mean", a.mean->dtype)
      .that(own_or_float(a.mean, a.x), "mean has dtype %s; it must be FLOAT or that of input, %s",
            dtype_name(a.mean->dtype), dtype_name(a.x->dtype));
  for (const auto &[name, one] :
       {std::pair{"weightOptional", a.weight}, {"biasOptional", a.bias}}) {
    if (one == nullptr || !check.ok()) continue;
    check.that(own_or_float(one, a.x), "%s has dtype %s; it must be FLOAT or that of input, %s",
               name, dtype_name(one->dtype), dtype_name(a.x->dtype));
  }
  if (check.ok() && a.weight != nullptr && a.bias != nullptr) {
    check.same_dtype("biasOptional", a.bias->dtype, "weightOptional", a.weight->dtype);
  }
  const auto &tail = a.tail->values;
  const size_t rank = a.x->rank();
  check.rank("input", a.x, 1, 8).rank("mean", a.mean, 1, 8).rank("rstd", a.rstd, 1, 8);
  check.that(!tail.empty() && tail.size() <= rank,
             "normalizedShape has %zu entries; allowed: 1 to the rank of input, %zu", tail.size(),
             rank);
  if (!check.ok()) return check;
  Layout inner;
  for (size_t i = 0; i < tail.size() && check.ok(); ++i) {
    const int64_t given = a.x->shape[rank - tail.size() + i];
    check.that(given == tail[i], "normalizedShape asks for %lld where input has %lld",
               static_cast<long long>(tail[i]), static_cast<long long>(given));
    inner.push(given, 0);
  }
  if (!check.ok()) return check;
  check.shape("gradOut", a.dy, layout_of(*a.x));
  const int64_t rows = outer_elements(*a.x, tail.size());
  one_per_row(check, "mean", a.mean, rows);
  one_per_row(check, "rstd", a.rstd, rows);
  check.shape("weightOptional", a.weight, inner).shape("biasOptional", a.bias, inner);
  for (size_t i = 0; i < 3; ++i) {
    if (check.ok() && a.mask->values[i] != 0) {
      check.shape(names[i], results[i], i == 0 ? layout_of(*a.x) : inner);
    }
  }
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(LayerNormBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclIntArray *normalizedShape,
              const aclTensor *mean, const aclTensor *rstd, const aclTensor *weightOptional,
              const aclTensor *biasOptional, const aclBoolArray *outputMask,
              aclTensor *gradInputOutOptional, aclTensor *gradWeightOutOptional,
              aclTensor *gradBiasOutOptional)) {
  const emu::Check check = emu::check_layer(
      {gradOut, input, normalizedShape, mean, rstd, weightOptional, biasOptional, outputMask,
       gradInputOutOptional, gradWeightOutOptional, gradBiasOutOptional});
  if (!check.ok()) return check.status();
  const auto &mask = outputMask->values;
  emu::PlanBuilder plan(check.op(), emu::KernelTime::linear);
  emu::GradientPlaces at{};
  at.dy = plan.input(gradOut);
  at.x = plan.input(input);
  at.mean = plan.input(mean);
  at.rstd = plan.input(rstd);
  at.scale = weightOptional == nullptr ? emu::kAbsent : plan.input(weightOptional);
  if (biasOptional != nullptr) plan.input(biasOptional);
  at.dx = mask[0] != 0 ? plan.output(gradInputOutOptional) : emu::kAbsent;
  at.dscale = mask[1] != 0 ? plan.output(gradWeightOutOptional) : emu::kAbsent;
  at.dshift = mask[2] != 0 ? plan.output(gradBiasOutOptional) : emu::kAbsent;
  const int64_t rows = emu::outer_elements(*input, normalizedShape->values.size());
  int64_t width = 1;
  for (const int64_t extent : normalizedShape->values) width *= extent;
  return plan.finish(
      [=](emu::PlanContext &c) {
        emu::write_gradients(c, at, rows, width);
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RmsNormGrad, (const aclTensor *dy, const aclTensor *x, const aclTensor *rstd,
                           const aclTensor *gamma, aclTensor *dxOut, aclTensor *dgammaOut)) {
  emu::Check check("aclnnRmsNormGrad");
  check.required("dy", dy).required("x", x).required("rstd", rstd).required("gamma", gamma);
  check.required("dxOut", dxOut).required("dgammaOut", dgammaOut);
  check.dtype("dy", dy).dtype("x", x).dtype("rstd", rstd).dtype("gamma", gamma);
  check.dtype("dxOut", dxOut).dtype("dgammaOut", dgammaOut);
  if (!check.ok()) return check.status();
  check.same_dtype("dy", dy->dtype, "x", x->dtype)
      .same_dtype("dxOut", dxOut->dtype, "x", x->dtype)
      .that(emu::own_or_float(gamma, x), "gamma has dtype %s; it must be FLOAT or that of x, %s",
            emu::dtype_name(gamma->dtype), emu::dtype_name(x->dtype));
  check.rank("x", x, 1, 8).rank("gamma", gamma, 1, 8).tiling();
  if (!check.ok()) return check.status();
  emu::trailing(check, "gamma", gamma, "x", x);
  if (!check.ok()) return check.status();
  const int64_t rows = emu::outer_elements(*x, gamma->rank()), width = gamma->numel();
  emu::one_per_row(check, "rstd", rstd, rows);
  check.shape("dy", dy, emu::layout_of(*x))
      .shape("dxOut", dxOut, emu::layout_of(*x))
      .shape("dgammaOut", dgammaOut, emu::layout_of(*gamma));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(check.op(), emu::KernelTime::linear);
  emu::GradientPlaces at{};
  at.dy = plan.input(dy);
  at.x = plan.input(x);
  at.mean = emu::kAbsent;
  at.rstd = plan.input(rstd);
  at.scale = plan.input(gamma);
  at.dx = plan.output(dxOut);
  at.dscale = plan.output(dgammaOut);
  at.dshift = emu::kAbsent;
  return plan.finish(
      [=](emu::PlanContext &c) {
        emu::write_gradients(c, at, rows, width);
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
