// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of rows by mean and variance, and quantisation of the result: with one given scale,
// or after an adaptive scale and shift with a scale found from the row.
#include <cstring>

#include "aclnnop/norm.h"
#include "ops/norm/layer.h"
#include "ops/shared/dynamic.h"

EMU_OPERATOR(LayerNormQuant, (const aclTensor *x, const aclTensor *gammma, const aclTensor *beta,
                              const aclTensor *scale, const aclTensor *zeroPointsOptional,
                              int quantMode, double epsilon, aclTensor *res, aclTensor *scaleOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnLayerNormQuant";
  Check check(op);
  check.required("x", x).required("gammma", gammma).required("beta", beta).required("scale", scale);
  check.optional("zeroPointsOptional", zeroPointsOptional);
  check.required("res", res).required("scaleOut", scaleOut);
  check.dtype("x", x).dtype("gammma", gammma).dtype("beta", beta).dtype("scale", scale);
  check.dtype("zeroPointsOptional", zeroPointsOptional).dtype("res", res);
  check.dtype("scaleOut", scaleOut);
  check.rank("x", x, 1, 8).rank("gammma", gammma, 1, 2);
  if (!check.ok()) return check.status();
  check.same_dtype("gammma", gammma->dtype, "x", x->dtype);
  check.same_dtype("beta", beta->dtype, "x", x->dtype);
  check.same_dtype("scale", scale->dtype, "x", x->dtype);
  check.that(quantMode == 0, "quantMode is %d; allowed: 0, static quantisation", quantMode);
  const Layout whole = layout_of(*x);
  const int64_t width = whole.shape[whole.rank - 1], one = 1, row[] = {1, width};
  check.shape("gammma", gammma,
              gammma->rank() == 1 ? dense_layout(&width, 1) : dense_layout(row, 2));
  check.shape("beta", beta, layout_of(*gammma)).shape("scale", scale, dense_layout(&one, 1));
  check.shape("zeroPointsOptional", zeroPointsOptional, layout_of(*scale));
  check.shape("res", res, whole);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), weight = plan.input(gammma), bias = plan.input(beta);
  const size_t divisor = plan.input(scale), zero = plan.input(zeroPointsOptional);
  const size_t output = plan.output(res);
  plan.unused(scaleOut);
  const int64_t rows = width == 0 ? 0 : x->numel() / width;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &result = c.tensor(output);
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {shared_view(result)}));
        const QuantTarget to(result);
        const auto weights = read_all<float>(c, weight, width, 1.0f),
                   biases = read_all<float>(c, bias, width, 0.0f);
        const float by = read_all<float>(c, divisor, 1, 1.0f)[0],
                    added = read_all<float>(c, zero, 1, 0.0f)[0];
        for_each_row<float>(rows, width, 1, [&](int64_t r, float *values) {
          from.read(r * width, width, values);
          layer_normalise(values, width, epsilon, weights.data(), biases.data());
          for (int64_t i = 0; i < width; ++i) values[i] = values[i] / by + added;
          to.write(r * width, width, values);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdaLayerNormQuant,
             (const aclTensor *x, const aclTensor *scale, const aclTensor *shift,
              const aclTensor *weightOptional, const aclTensor *biasOptional,
              const aclTensor *smoothScalesOptional, double epsilon, const char *quantMode,
              aclTensor *out, aclTensor *quantScale, aclTensor *quantOffsetOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnAdaLayerNormQuant";
  Check check(op);
  const std::pair<const char *, const aclTensor *> vectors[] = {
      {"weightOptional", weightOptional},
      {"biasOptional", biasOptional},
      {"smoothScalesOptional", smoothScalesOptional}};
  check.required("x", x).required("scale", scale).required("shift", shift);
  for (const auto &[name, tensor] : vectors) check.optional(name, tensor);
  check.required_text("quantMode", quantMode).required("out", out);
  check.required("quantScale", quantScale).optional("quantOffsetOptional", quantOffsetOptional);
  check.dtype("x", x).dtype("scale", scale).dtype("shift", shift);
  for (const auto &[name, tensor] : vectors) check.dtype(name, tensor);
  check.dtype("out", out).dtype("quantScale", quantScale);
  check.rank("x", x, 2, 8);
  if (!check.ok()) return check.status();
  check.that(std::strcmp(quantMode, "dynamic") == 0, "quantMode is \"%.40s\"; allowed: \"dynamic\"",
             quantMode);
  check.that(quantOffsetOptional == nullptr,
             "quantOffsetOptional is given; quantisation is symmetric, pass null");
  check.same_dtype("scale", scale->dtype, "x", x->dtype);
  check.same_dtype("shift", shift->dtype, "x", x->dtype);
  const Layout whole = layout_of(*x), outer = dense_layout(whole.shape, whole.rank - 1);
  const int64_t steps = whole.shape[whole.rank - 2], width = whole.shape[whole.rank - 1];
  check.that(whole.count() > 0, "x has shape %s; no dimension may be 0", shape_text(whole).c_str());
  for (const auto &[name, tensor] : vectors) {
    if (tensor == nullptr) continue;
    check.same_dtype(name, tensor->dtype, "x", x->dtype);
    check.shape(name, tensor, dense_layout(&width, 1));
  }
  // One row for all steps of a sample, with or without a dimension for the steps.
  Layout wide = whole, narrow = outer;
  wide.shape[wide.rank - 2] = 1;
  narrow.shape[narrow.rank - 1] = width;
  for (const auto &[name, tensor] : {std::pair{"scale", scale}, std::pair{"shift", shift}}) {
    const bool kept = static_cast<int>(tensor->rank()) == whole.rank;
    check.shape(name, tensor, kept ? wide : narrow);
  }
  check.shape("out", out, whole).shape("quantScale", quantScale, outer);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), factor = plan.input(scale), added = plan.input(shift);
  const size_t weight = plan.input(weightOptional), bias = plan.input(biasOptional);
  const size_t smooth = plan.input(smoothScalesOptional), output = plan.output(out);
  const size_t row_scale = plan.output(quantScale);
  plan.unused(quantOffsetOptional);
  const int64_t rows = outer.count();
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &result = c.tensor(output);
        const View to_view = shared_view(result), scale_view = view_of(c.tensor(row_scale));
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {to_view, scale_view});
        };
        const RowSource<float> from(safe(input)), factors(safe(factor)), shifts(safe(added));
        const QuantTarget to(result);
        const RowTarget<float> scale_to(scale_view);
        const QuantRange range = quant_range(result.dtype);
        const auto weights = read_all<float>(c, weight, width, 1.0f),
                   biases = read_all<float>(c, bias, width, 0.0f),
                   smooths = read_all<float>(c, smooth, width, 1.0f);
        for_each_row<float>(rows, width, 3, [&](int64_t row, float *values) {
          float *by = values + width, *plus = by + width;
          const int64_t sample = row / steps;
          from.read(row * width, width, values);
          factors.read(sample * width, width, by);
          shifts.read(sample * width, width, plus);
          layer_normalise(values, width, epsilon, weights.data(), biases.data());
          for (int64_t i = 0; i < width; ++i)
            values[i] = (values[i] * (1.0f + by[i]) + plus[i]) * smooths[static_cast<size_t>(i)];
          const RowScale found = scale_symmetric(values, width, range);
          to.write(row * width, width, values);
          scale_to.write(row, 1, &found.scale);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
