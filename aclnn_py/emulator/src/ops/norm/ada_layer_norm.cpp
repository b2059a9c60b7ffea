// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of rows by mean and variance with a scale and a shift for each sample:
// out = LayerNorm(x) * (1 + scale) + shift, and its gradients.
#include "aclnnop/norm.h"
#include "core/chip.h"
#include "ops/norm/gradient.h"

namespace emu {
namespace {

using Named = std::pair<const char *, const aclTensor *>;

// Both or one of weight and bias: of one dtype, that of the model or FLOAT.
void check_affine(Check &check, const aclTensor *weight, const aclTensor *bias,
                  const char *model_name, const aclTensor *model) {
  for (const auto &[name, one] : {Named{"weightOptional", weight}, {"biasOptional", bias}}) {
    if (one == nullptr || !check.ok()) continue;
    check.that(own_or_float(one, model), "%s has dtype %s; it must be FLOAT or that of %s, %s",
               name, dtype_name(one->dtype), model_name, dtype_name(model->dtype));
  }
  if (check.ok() && weight != nullptr && bias != nullptr)
    check.same_dtype("biasOptional", bias->dtype, "weightOptional", weight->dtype);
}

// One row for all steps of a sample, with or without a dimension for the steps.
void check_sample_rows(Check &check, const char *name, const aclTensor *given, const aclTensor &x) {
  if (given == nullptr || !check.ok()) return;
  Layout wide = layout_of(x), narrow = dense_layout(wide.shape, wide.rank - 1);
  wide.shape[wide.rank - 2] = 1;
  narrow.shape[narrow.rank - 1] = wide.shape[wide.rank - 1];
  const bool kept = static_cast<int>(given->rank()) == wide.rank;
  check.shape(name, given, kept ? wide : narrow);
}

struct AdaArguments {
  const char *op;
  const aclTensor *x, *scale, *shift, *weight, *bias;
  double epsilon;
  const aclTensor *out, *mean, *rstd;
  bool newer;  // the second version, which has statistics
};

Check check_ada(const AdaArguments &a) {
  Check check(a.op);
  check.required("x", a.x).required("scale", a.scale).required("shift", a.shift);
  check.optional("weightOptional", a.weight).optional("biasOptional", a.bias);
  check.required("out", a.out).optional("meanOutOptional", a.mean);
  check.optional("rstdOutOptional", a.rstd);
  check.that(a.newer || !chip_is_950(), "this chip does not have the operator");
  check.dtype("x", a.x).dtype("scale", a.scale).dtype("shift", a.shift);
  check.dtype("weightOptional", a.weight).dtype("biasOptional", a.bias).dtype("out", a.out);
  check.dtype("meanOutOptional", a.mean).dtype("rstdOutOptional", a.rstd);
  if (!check.ok()) return check;
  for (const auto &[name, tensor] : {Named{"scale", a.scale},
                                     {"shift", a.shift},
                                     {"out", a.out},
                                     {"meanOutOptional", a.mean},
                                     {"rstdOutOptional", a.rstd}}) {
    if (tensor) check.same_dtype(name, tensor->dtype, "x", a.x->dtype);
  }
  check_affine(check, a.weight, a.bias, "x", a.x);
  check.rank("x", a.x, 2, 8);
  if (!check.ok()) return check;
  const Layout whole = layout_of(*a.x);
  const int64_t width = whole.shape[whole.rank - 1];
  check.that(width > 0, "x has shape %s; the last dimension must not be 0",
             shape_text(whole).c_str());
  check_sample_rows(check, "scale", a.scale, *a.x);
  check_sample_rows(check, "shift", a.shift, *a.x);
  check.shape("weightOptional", a.weight, dense_layout(&width, 1));
  check.shape("biasOptional", a.bias, dense_layout(&width, 1)).shape("out", a.out, whole);
  const Layout outer = statistics_shape(*a.x, 1);
  check.shape("meanOutOptional", a.mean, outer).shape("rstdOutOptional", a.rstd, outer);
  return check;
}

Status plan_ada(const AdaArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const Check check = check_ada(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const bool statistics = a.newer;
  const size_t input = plan.input(a.x), factor = plan.input(a.scale), added = plan.input(a.shift);
  const size_t weight = plan.input(a.weight), bias = plan.input(a.bias), to = plan.output(a.out);
  const size_t mean = statistics ? plan.output(a.mean) : 0,
               rstd = statistics ? plan.output(a.rstd) : 0;
  const int64_t rows = outer_elements(*a.x, 1), width = a.x->shape.back(),
                steps = a.x->shape[a.x->rank() - 2];
  return plan.finish(
      [=, epsilon = a.epsilon](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const auto target = [&](size_t index) {
          const bool given = statistics && c.has(index);
          return given ? view_of(c.tensor(index)) : View();
        };
        const View mean_view = target(mean), rstd_view = target(rstd);
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {result, mean_view, rstd_view});
        };
        const RowSource<float> from(safe(input)), factors(safe(factor)), shifts(safe(added));
        const RowTarget<float> target_rows(result);
        const auto weights = read_all<float>(c, weight, width, 1.0f),
                   biases = read_all<float>(c, bias, width, 0.0f);
        for_each_row<float>(rows, width, 3, [&](int64_t row, float *values) {
          float *by = values + width, *plus = by + width;
          const int64_t sample = row / steps;
          from.read(row * width, width, values);
          factors.read(sample * width, width, by);
          shifts.read(sample * width, width, plus);
          const RowStatistics found =
              layer_normalise(values, width, epsilon, weights.data(), biases.data());
          for (int64_t i = 0; i < width; ++i) values[i] = values[i] * (1.0f + by[i]) + plus[i];
          target_rows.write(row * width, width, values);
          if (mean_view.data) RowTarget<float>(mean_view).write(row, 1, &found.mean);
          if (rstd_view.data) RowTarget<float>(rstd_view).write(row, 1, &found.rstd);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AdaLayerNorm, (const aclTensor *x, const aclTensor *scale, const aclTensor *shift,
                            const aclTensor *weightOptional, const aclTensor *biasOptional,
                            double epsilon, aclTensor *out)) {
  return emu::plan_ada({"aclnnAdaLayerNorm", x, scale, shift, weightOptional, biasOptional, epsilon,
                        out, nullptr, nullptr, false},
                       workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdaLayerNormV2,
             (const aclTensor *x, const aclTensor *scale, const aclTensor *shift,
              const aclTensor *weightOptional, const aclTensor *biasOptional, double epsilon,
              aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional)) {
  return emu::plan_ada({"aclnnAdaLayerNormV2", x, scale, shift, weightOptional, biasOptional,
                        epsilon, out, meanOutOptional, rstdOutOptional, true},
                       workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdaLayerNormBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclIntArray *normalizedShape,
              const aclTensor *rstd, const aclTensor *mean, const aclTensor *scale,
              const aclTensor *shift, const aclTensor *weightOptional,
              const aclTensor *biasOptional, aclTensor *gradInputOutOptional,
              aclTensor *gradScaleOutOptional, aclTensor *gradShiftOutOptional,
              aclTensor *gradWeightOutOptional, aclTensor *gradBiasOutOptional)) {
  using namespace emu;
  Check check("aclnnAdaLayerNormBackward");
  check.required("gradOut", gradOut).required("input", input);
  check.required("normalizedShape", normalizedShape).required("rstd", rstd);
  check.required("mean", mean).required("scale", scale).required("shift", shift);
  check.optional("weightOptional", weightOptional).optional("biasOptional", biasOptional);
  const Named results[] = {{"gradInputOutOptional", gradInputOutOptional},
                           {"gradScaleOutOptional", gradScaleOutOptional},
                           {"gradShiftOutOptional", gradShiftOutOptional},
                           {"gradWeightOutOptional", gradWeightOutOptional},
                           {"gradBiasOutOptional", gradBiasOutOptional}};
  for (const auto &[name, tensor] : results) check.optional(name, tensor);
  check.that(!chip_is_950(), "this chip does not have the operator");
  check.dtype("gradOut", gradOut).dtype("input", input).dtype("rstd", rstd).dtype("mean", mean);
  check.dtype("scale", scale).dtype("shift", shift).dtype("weightOptional", weightOptional);
  check.dtype("biasOptional", biasOptional);
  for (const auto &[name, tensor] : results) check.dtype(name, tensor);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] :
       {Named{"input", input}, {"rstd", rstd}, {"mean", mean}, {"scale", scale}, {"shift", shift}})
    check.same_dtype(name, tensor->dtype, "gradOut", gradOut->dtype);
  check_affine(check, weightOptional, biasOptional, "input", input);
  const aclTensor *affine = weightOptional ? weightOptional : biasOptional ? biasOptional : input;
  for (int i = 0; i < 5; ++i) {
    const auto &[name, tensor] = results[i];
    if (tensor == nullptr || !check.ok()) continue;
    check.same_dtype(name, tensor->dtype, i < 3 ? "input" : "the weight",
                     (i < 3 ? input : affine)->dtype);
  }
  check.rank("input", input, 2, 8);
  const auto &tail = normalizedShape->values;
  check.that(tail.size() == 1, "normalizedShape has %zu entries; expected 1", tail.size());
  if (!check.ok()) return check.status();
  const Layout whole = layout_of(*input);
  const int64_t width = whole.shape[whole.rank - 1], steps = whole.shape[whole.rank - 2];
  check.that(tail[0] == width, "normalizedShape asks for %lld where input has %lld",
             static_cast<long long>(tail[0]), static_cast<long long>(width));
  check.that(width > 0, "input has shape %s; the last dimension must not be 0",
             shape_text(whole).c_str());
  if (!check.ok()) return check.status();
  const int64_t rows = outer_elements(*input, 1), samples = outer_elements(*input, 2);
  check.shape("gradOut", gradOut, whole);
  one_per_row(check, "rstd", rstd, rows);
  one_per_row(check, "mean", mean, rows);
  check_sample_rows(check, "scale", scale, *input);
  check_sample_rows(check, "shift", shift, *input);
  const Layout line = dense_layout(&width, 1);
  check.shape("weightOptional", weightOptional, line).shape("biasOptional", biasOptional, line);
  check.shape("gradInputOutOptional", gradInputOutOptional, whole);
  check.shape("gradScaleOutOptional", gradScaleOutOptional, layout_of(*scale));
  check.shape("gradShiftOutOptional", gradShiftOutOptional, layout_of(*shift));
  check.shape("gradWeightOutOptional", gradWeightOutOptional, line);
  check.shape("gradBiasOutOptional", gradBiasOutOptional, line);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t dy = plan.input(gradOut), x = plan.input(input), inverse = plan.input(rstd);
  const size_t centre = plan.input(mean), factor = plan.input(scale);
  plan.input(shift);
  const size_t weight = plan.input(weightOptional), bias = plan.input(biasOptional);
  const size_t dx = plan.output(gradInputOutOptional), dscale = plan.output(gradScaleOutOptional);
  const size_t dshift = plan.output(gradShiftOutOptional),
               dweight = plan.output(gradWeightOutOptional),
               dbias = plan.output(gradBiasOutOptional);
  return plan.finish(
      [=](PlanContext &c) {
        const auto target = [&](size_t index) {
          return c.has(index) ? view_of(c.tensor(index)) : View();
        };
        const View dx_view = target(dx), dscale_view = target(dscale), dshift_view = target(dshift);
        Operands operands;
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {dx_view, dscale_view, dshift_view});
        };
        const RowSource<float> gradients(safe(dy)), values(safe(x)), factors(safe(factor));
        const auto means = read_all<float>(c, centre, rows, 0.0f),
                   rstds = read_all<float>(c, inverse, rows, 1.0f);
        const auto weights = read_all<float>(c, weight, width, 1.0f),
                   biases = read_all<float>(c, bias, width, 0.0f);
        // What each sample adds to the gradients of scale and shift in front of the affine part.
        std::vector<ColumnSums> sums(static_cast<size_t>(samples), ColumnSums(width));
        for_each_row<float>(samples, steps * width, 0, [&](int64_t sample, float *) {
          const auto count = static_cast<size_t>(width);
          std::vector<float> by(count), scaled(count), g(count), row_x(count);
          std::vector<double> line_of(count);
          factors.read(sample * width, width, by.data());
          for (size_t i = 0; i < count; ++i) scaled[i] = weights[i] * (1.0f + by[i]);
          ColumnSums &own = sums[static_cast<size_t>(sample)];
          for (int64_t row = sample * steps; row < (sample + 1) * steps; ++row) {
            gradients.read(row * width, width, g.data());
            values.read(row * width, width, row_x.data());
            const auto at = static_cast<size_t>(row);
            gradient_of_row(g.data(), row_x.data(), width, means[at], rstds[at], scaled.data(),
                            true, &own);
            if (dx_view.data) RowTarget<float>(dx_view).write(row * width, width, g.data());
          }
          for (size_t i = 0; i < count; ++i)
            line_of[i] = own.scale[i] * static_cast<double>(weights[i]) +
                         own.shift[i] * static_cast<double>(biases[i]);
          if (dscale_view.data)
            RowTarget<double>(dscale_view).write(sample * width, width, line_of.data());
          if (dshift_view.data)
            RowTarget<double>(dshift_view).write(sample * width, width, own.shift.data());
          for (size_t i = 0; i < count; ++i) {
            own.scale[i] *= 1.0 + static_cast<double>(by[i]);
            own.shift[i] *= 1.0 + static_cast<double>(by[i]);
          }
        });
        const auto write = [&](size_t place, std::vector<double> ColumnSums::*which) {
          if (!c.has(place)) return;
          std::vector<double> whole_sum(static_cast<size_t>(width));
          for (const ColumnSums &one : sums)
            for (size_t i = 0; i < whole_sum.size(); ++i) whole_sum[i] += (one.*which)[i];
          RowTarget<double>(view_of(c.tensor(place))).write(0, width, whole_sum.data());
        };
        write(dweight, &ColumnSums::scale);
        write(dbias, &ColumnSums::shift);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
