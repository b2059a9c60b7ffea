// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of the trailing dimensions by mean and variance. Statistics are taken in float64
// and rounded once.
#include "aclnnop/norm.h"
#include "ops/norm/layer.h"

namespace emu {
namespace {

struct LayerNormArguments {
  const char *op;
  const aclTensor *input;
  const aclIntArray *normalized_shape;
  const aclTensor *weight, *bias;
  double eps;
  const aclTensor *out, *mean, *rstd;
  int64_t widest = kUncountable;  // elements that are normalised together
};

Status plan_layer_norm(const LayerNormArguments &a, uint64_t *workspace_size,
                       aclOpExecutor **executor) {
  Check check(a.op);
  check.required("input", a.input)
      .required("normalizedShape", a.normalized_shape)
      .required("out", a.out);
  check.optional("weightOptional", a.weight).optional("biasOptional", a.bias);
  check.optional("meanOutOptional", a.mean).optional("rstdOutOptional", a.rstd);
  check.dtype("input", a.input).dtype("weightOptional", a.weight).dtype("biasOptional", a.bias);
  check.dtype("out", a.out).dtype("meanOutOptional", a.mean).dtype("rstdOutOptional", a.rstd);
  if (check.ok() && a.weight) {
    check.that(a.weight->dtype == a.input->dtype || a.weight->dtype == ACL_FLOAT,
               "weightOptional has dtype %s; it must be FLOAT or that of input, %s",
               dtype_name(a.weight->dtype), dtype_name(a.input->dtype));
  }
  if (check.ok() && a.bias) {
    check.that(a.bias->dtype == a.input->dtype || a.bias->dtype == ACL_FLOAT,
               "biasOptional has dtype %s; it must be FLOAT or that of input, %s",
               dtype_name(a.bias->dtype), dtype_name(a.input->dtype));
    if (a.weight)
      check.same_dtype("biasOptional", a.bias->dtype, "weightOptional", a.weight->dtype);
  }
  check.rank("input", a.input, 1, 8);
  if (!check.ok()) return check.status();
  const auto &tail = a.normalized_shape->values;
  const size_t rank = a.input->rank();
  check.that(!tail.empty() && tail.size() <= rank,
             "normalizedShape has %zu entries; allowed: 1 to the rank of input, %zu", tail.size(),
             rank);
  if (!check.ok()) return check.status();
  Layout inner, outer;
  for (size_t d = 0; d < rank; ++d) {
    const bool normalized = d >= rank - tail.size();
    if (normalized) {
      const int64_t wanted = tail[d - (rank - tail.size())];
      check.that(a.input->shape[d] == wanted, "normalizedShape asks for %lld where input has %lld",
                 static_cast<long long>(wanted), static_cast<long long>(a.input->shape[d]));
      inner.push(a.input->shape[d], 0);
    }
    outer.push(normalized ? 1 : a.input->shape[d], 0);
  }
  check.shape("weightOptional", a.weight, inner).shape("biasOptional", a.bias, inner);
  check.shape("out", a.out, layout_of(*a.input));
  check.shape("meanOutOptional", a.mean, outer).shape("rstdOutOptional", a.rstd, outer);
  if (!check.ok()) return check.status();
  if (inner.count() > a.widest) {
    return fail(kInnerNull, "%s: normalizedShape has %lld elements; allowed: at most %lld", a.op,
                static_cast<long long>(inner.count()), static_cast<long long>(a.widest));
  }
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.input), weight = plan.input(a.weight),
               bias = plan.input(a.bias);
  const size_t out = plan.output(a.out), mean = plan.output(a.mean), rstd = plan.output(a.rstd);
  const int64_t width = inner.count(), rows = outer.count();
  const double eps = a.eps;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(out));
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {result}));
        const RowTarget<float> to(result);
        const auto scale = read_all<float>(c, weight, width, 1.0f),
                   shift = read_all<float>(c, bias, width, 0.0f);
        std::vector<float> means(static_cast<size_t>(rows)), inverses(static_cast<size_t>(rows));
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          from.read(row * width, width, x);
          const RowStatistics found = layer_normalise(x, width, eps, scale.data(), shift.data());
          to.write(row * width, width, x);
          means[static_cast<size_t>(row)] = found.mean;
          inverses[static_cast<size_t>(row)] = found.rstd;
        });
        if (c.has(mean)) RowTarget<float>(view_of(c.tensor(mean))).write(0, rows, means.data());
        if (c.has(rstd)) RowTarget<float>(view_of(c.tensor(rstd))).write(0, rows, inverses.data());
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(LayerNorm, (const aclTensor *input, const aclIntArray *normalizedShape,
                         const aclTensor *weightOptional, const aclTensor *biasOptional, double eps,
                         aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional)) {
  emu::LayerNormArguments call{};
  call.op = "aclnnLayerNorm";
  call.input = input;
  call.normalized_shape = normalizedShape;
  call.weight = weightOptional;
  call.bias = biasOptional;
  call.eps = eps;
  call.out = out;
  call.mean = meanOutOptional;
  call.rstd = rstdOutOptional;
  return emu::plan_layer_norm(call, workspaceSize, executor);
}
EMU_CATCH

// implMode trades precision for speed on the hardware (0 high precision, 1 high performance, 2 keep
// float16); here all are precise.
EMU_OPERATOR(LayerNormWithImplMode, (const aclTensor *input, const aclIntArray *normalizedShape,
                                     const aclTensor *weightOptional, const aclTensor *biasOptional,
                                     double eps, aclTensor *out, aclTensor *meanOutOptional,
                                     aclTensor *rstdOutOptional, int32_t implMode)) {
  emu::Check check("aclnnLayerNormWithImplMode");
  check.that(implMode >= 0 && implMode <= 2, "implMode is %d; allowed: 0, 1, 2", implMode);
  if (!check.ok()) return check.status();
  emu::LayerNormArguments call{};
  call.op = "aclnnLayerNormWithImplMode";
  call.input = input;
  call.normalized_shape = normalizedShape;
  call.weight = weightOptional;
  call.bias = biasOptional;
  call.eps = eps;
  call.out = out;
  call.mean = meanOutOptional;
  call.rstd = rstdOutOptional;
  return emu::plan_layer_norm(call, workspaceSize, executor);
}
EMU_CATCH

// It adds in another order than LayerNorm on the hardware; here both are the same.
EMU_OPERATOR(FastLayerNorm,
             (const aclTensor *input, const aclIntArray *normalizedShape,
              const aclTensor *weightOptional, const aclTensor *biasOptional, double eps,
              aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional)) {
  emu::LayerNormArguments call{};
  call.op = "aclnnFastLayerNorm";
  call.input = input;
  call.normalized_shape = normalizedShape;
  call.weight = weightOptional;
  call.bias = biasOptional;
  call.eps = eps;
  call.out = out;
  call.mean = meanOutOptional;
  call.rstd = rstdOutOptional;
  call.widest = 583705600;
  return emu::plan_layer_norm(call, workspaceSize, executor);
}
EMU_CATCH
