// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of a sum by mean and variance: AddLayerNorm and DeepNorm.
#include "aclnnop/norm.h"
#include "ops/norm/layer.h"

namespace emu {
namespace {

struct SumArguments {
  const char *op;
  const aclTensor *x1, *x2, *gamma, *beta, *bias;
  float alpha;  // of x1
  double epsilon;
  const aclTensor *y, *mean, *rstd, *x;  // x null: the sum is not kept
  const char *x1_name, *x2_name;
};

// gamma and beta have the trailing shape of x1; statistics have one value for each row.
void check_shapes(Check &check, const SumArguments &a) {
  if (!check.ok()) return;
  const Layout whole = layout_of(*a.x1), inner = layout_of(*a.gamma);
  bool trails = inner.rank <= whole.rank;
  for (int d = 0; trails && d < inner.rank; ++d)
    trails = inner.shape[d] == whole.shape[whole.rank - inner.rank + d];
  check.that(trails, "gamma %s is not the trailing shape of %s %s", shape_text(inner).c_str(),
             a.x1_name, shape_text(whole).c_str());
  if (!check.ok()) return;
  const Layout outer = statistics_shape(*a.x1, a.gamma->rank());
  check.shape(a.x2_name, a.x2, whole).shape("beta", a.beta, inner).shape("yOut", a.y, whole);
  check.shape("meanOut", a.mean, outer).shape("rstdOut", a.rstd, outer).shape("xOut", a.x, whole);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AddLayerNorm, (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
                            const aclTensor *beta, const aclTensor *biasOptional, double epsilon,
                            bool additionalOutput, aclTensor *yOut, aclTensor *meanOut,
                            aclTensor *rstdOut, aclTensor *xOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnAddLayerNorm";
  Check check(op);
  check.required("x1", x1).required("x2", x2).required("gamma", gamma).required("beta", beta);
  check.optional("biasOptional", biasOptional).required("yOut", yOut);
  check.required("meanOut", meanOut).required("rstdOut", rstdOut).required("xOut", xOut);
  check.dtype("x1", x1).dtype("x2", x2).dtype("gamma", gamma).dtype("beta", beta);
  check.dtype("biasOptional", biasOptional).dtype("yOut", yOut).dtype("meanOut", meanOut);
  check.dtype("rstdOut", rstdOut).dtype("xOut", xOut);
  if (!check.ok()) return check.status();
  // Halves of one kind give that kind; a half beside FLOAT gives FLOAT.
  const bool alike = x1->dtype == x2->dtype;
  const aclDataType result = alike ? x1->dtype : ACL_FLOAT;
  check.that(alike || x1->dtype == ACL_FLOAT || x2->dtype == ACL_FLOAT,
             "x2 has dtype %s; beside x1 of %s it must be FLOAT or the same", dtype_name(x2->dtype),
             dtype_name(x1->dtype));
  check.that(gamma->dtype == result || gamma->dtype == ACL_FLOAT,
             "gamma has dtype %s; it must be FLOAT or that of the sum, %s",
             dtype_name(gamma->dtype), dtype_name(result));
  check.same_dtype("beta", beta->dtype, "gamma", gamma->dtype);
  if (biasOptional) check.same_dtype("biasOptional", biasOptional->dtype, "the sum", result);
  check.same_dtype("yOut", yOut->dtype, "the sum", result);
  check.same_dtype("xOut", xOut->dtype, "the sum", result);
  check.tiling();
  check.rank("x1", x1, 1, 8).rank("gamma", gamma, 1, 8);
  check.that(x1->numel() > 0, "x1 has shape %s; no dimension may be 0",
             shape_text(layout_of(*x1)).c_str());
  const SumArguments a{op,      x1,   x2,      gamma,   beta, biasOptional, 1.0f,
                       epsilon, yOut, meanOut, rstdOut, xOut, "x1",         "x2"};
  check_shapes(check, a);
  if (!check.ok()) return check.status();
  const bool small_bias = biasOptional && same_shape(layout_of(*biasOptional), layout_of(*gamma));
  if (!small_bias) check.shape("biasOptional", biasOptional, layout_of(*x1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t first = plan.input(x1), second = plan.input(x2), weight = plan.input(gamma);
  const size_t shift = plan.input(beta), bias = plan.input(biasOptional), y = plan.output(yOut);
  const size_t mean = plan.output(meanOut), rstd = plan.output(rstdOut);
  const size_t sum = additionalOutput ? plan.output(xOut) : plan.unused(xOut);
  const int64_t width = gamma->numel(), rows = x1->numel() / width;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View to_view = view_of(c.tensor(y));
        const View sum_view = additionalOutput ? view_of(c.tensor(sum)) : View();
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {to_view, sum_view});
        };
        const bool biased = c.has(bias);
        const RowSource<float> left(safe(first)), right(safe(second));
        const RowSource<float> added(safe(biased ? bias : first));
        const RowTarget<float> to(to_view), sum_to(additionalOutput ? sum_view : to_view);
        const RowTarget<float> mean_to(view_of(c.tensor(mean))), rstd_to(view_of(c.tensor(rstd)));
        const auto scale = read_all<float>(c, weight, width, 1.0f),
                   shifts = read_all<float>(c, shift, width, 0.0f);
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *x) {
          float *other = x + width;
          left.read(row * width, width, x);
          right.read(row * width, width, other);
          for (int64_t i = 0; i < width; ++i) x[i] += other[i];
          if (biased) {
            added.read(small_bias ? 0 : row * width, width, other);
            for (int64_t i = 0; i < width; ++i) x[i] += other[i];
          }
          if (additionalOutput) sum_to.write(row * width, width, x);
          const RowStatistics found =
              layer_normalise(x, width, epsilon, scale.data(), shifts.data());
          to.write(row * width, width, x);
          mean_to.write(row, 1, &found.mean);
          rstd_to.write(row, 1, &found.rstd);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DeepNorm, (const aclTensor *x, const aclTensor *gx, const aclTensor *beta,
                        const aclTensor *gamma, double alpha, double epsilon, aclTensor *meanOut,
                        aclTensor *rstdOut, aclTensor *yOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnDeepNorm";
  Check check(op);
  check.required("x", x).required("gx", gx).required("beta", beta).required("gamma", gamma);
  check.required("meanOut", meanOut).required("rstdOut", rstdOut).required("yOut", yOut);
  check.dtype("x", x).dtype("gx", gx).dtype("beta", beta).dtype("gamma", gamma);
  check.dtype("meanOut", meanOut).dtype("rstdOut", rstdOut).dtype("yOut", yOut);
  check.rank("x", x, 2, 8).rank("gamma", gamma, 1, 7);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"gx", gx},
                                     {"beta", beta},
                                     {"gamma", gamma},
                                     {"yOut", yOut}}) {
    check.same_dtype(name, tensor->dtype, "x", x->dtype);
  }
  const SumArguments a{op,      x,    gx,      gamma,   beta,    nullptr, static_cast<float>(alpha),
                       epsilon, yOut, meanOut, rstdOut, nullptr, "x",     "gx"};
  check_shapes(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t first = plan.input(x), second = plan.input(gx), shift = plan.input(beta);
  const size_t weight = plan.input(gamma), mean = plan.output(meanOut);
  const size_t rstd = plan.output(rstdOut), y = plan.output(yOut);
  const int64_t width = gamma->numel(), rows = meanOut->numel();
  const float factor = a.alpha;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View to_view = view_of(c.tensor(y));
        const RowSource<float> left(operands.safe(view_of(c.tensor(first)), {to_view}));
        const RowSource<float> right(operands.safe(view_of(c.tensor(second)), {to_view}));
        const RowTarget<float> to(to_view);
        const RowTarget<float> mean_to(view_of(c.tensor(mean))), rstd_to(view_of(c.tensor(rstd)));
        const auto scale = read_all<float>(c, weight, width, 1.0f),
                   shifts = read_all<float>(c, shift, width, 0.0f);
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *values) {
          float *other = values + width;
          left.read(row * width, width, values);
          right.read(row * width, width, other);
          for (int64_t i = 0; i < width; ++i) values[i] = factor * values[i] + other[i];
          const RowStatistics found =
              layer_normalise(values, width, epsilon, scale.data(), shifts.data());
          to.write(row * width, width, values);
          mean_to.write(row, 1, &found.mean);
          rstd_to.write(row, 1, &found.rstd);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
