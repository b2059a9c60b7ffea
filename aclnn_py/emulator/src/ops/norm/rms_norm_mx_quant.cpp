// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation by the root mean square, of one tensor or of a sum, quantised in blocks of 32.
#include <optional>

#include "aclnnop/norm.h"
#include "core/refusal.h"
#include "core/statuses.h"
#include "ops/norm/rms.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

struct RmsMxArguments {
  const char *op, *x_name;
  const aclTensor *x, *other;  // other null: no sum
  const aclTensor *gamma, *beta;
  double epsilon;
  MxAttributes attributes;
  bool output_rstd;
  const aclTensor *y, *sum, *scale, *rstd;
};

Check check_given(const RmsMxArguments &a, bool added) {
  Check check(a.op);
  check.required(a.x_name, a.x);
  if (added) check.required("x2", a.other);
  check.required("gamma", a.gamma).optional("betaOptional", a.beta).required("yOut", a.y);
  if (added) check.required("xOut", a.sum);
  check.required("mxscaleOut", a.scale);
  if (a.output_rstd) check.required("rstdOut", a.rstd);
  return check.optional("rstdOut", a.rstd);
}

Check check_rms_mx(const RmsMxArguments &a, bool added, MxFormat *format) {
  Check check(a.op);
  check.tiling();
  check.dtype(a.x_name, a.x).dtype("x2", a.other).dtype("gamma", a.gamma);
  check.dtype("betaOptional", a.beta).dtype("yOut", a.y).dtype("xOut", a.sum);
  check.dtype("mxscaleOut", a.scale).dtype("rstdOut", a.rstd);
  check.rank(a.x_name, a.x, 1, 7).plain_format(a.x_name, a.x);
  if (!check.ok()) return check;
  check.that(a.attributes.rounding != nullptr,
             "roundMode is null; allowed: \"rint\", \"floor\", \"round\"");
  *format = check_mx_format(check, a.attributes, "yOut", a.y);
  const Layout values = layout_of(*a.x);
  const int last = values.rank - 1;
  const int64_t width = values.shape[last];
  const Layout vector = dense_layout(&width, 1);
  if (added) {
    check.same_dtype("x2", a.other->dtype, a.x_name, a.x->dtype);
    check.same_dtype("xOut", a.sum->dtype, a.x_name, a.x->dtype);
    check.shape("x2", a.other, values).shape("xOut", a.sum, values);
  }
  check.that(a.gamma->dtype == a.x->dtype || a.gamma->dtype == ACL_FLOAT,
             "gamma has dtype %s; it must be that of %s, %s, or FLOAT", dtype_name(a.gamma->dtype),
             a.x_name, dtype_name(a.x->dtype));
  check.shape("gamma", a.gamma, vector);
  if (a.beta) check.same_dtype("betaOptional", a.beta->dtype, "gamma", a.gamma->dtype);
  check.shape("betaOptional", a.beta, vector);
  check_mx_results(check, values, last, kMxBlock, "yOut", a.y, "mxscaleOut", a.scale);
  if (a.output_rstd) {
    Layout means = values;
    means.shape[last] = 1;
    check.shape("rstdOut", a.rstd, means);
  }
  return check;
}

Status plan_rms_mx(const RmsMxArguments &a, bool added, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  MxFormat format;
  if (const Status s = check_chip(check_given(a, added), kInnerNull)) return s;
  // Whatever is wrong but a null pointer has one status.
  if (!check_rms_mx(a, added, &format).ok()) return reported_as(kInnerNull);
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t first = plan.input(a.x), second = added ? plan.input(a.other) : first;
  const size_t gamma = plan.input(a.gamma), beta = plan.input(a.beta);
  const size_t y = plan.output(a.y), sum = added ? plan.output(a.sum) : y;
  const size_t scale = plan.output(a.scale);
  const size_t rstd = a.output_rstd ? plan.output(a.rstd) : plan.unused(a.rstd);
  const int64_t width = a.gamma->numel(), rows = outer_count(*a.x, 1);
  const int64_t pairs =
      mx_plan(layout_of(*a.x), static_cast<int>(a.x->rank()) - 1, kMxBlock).pairs();
  const double epsilon = a.epsilon;
  return plan.finish(
      [=](PlanContext &c) {
        if (rows == 0 || width == 0) return Status{0};
        Operands operands;
        const View sum_view = added ? view_of(c.tensor(sum)) : View();
        const View rstd_view = c.has(rstd) ? view_of(c.tensor(rstd)) : View();
        const auto safe = [&](size_t index) {
          return operands.safe(
              view_of(c.tensor(index)),
              {sum_view, rstd_view, code_view(c.tensor(y)), code_view(c.tensor(scale))});
        };
        const RowSource<float> left(safe(first)), right(safe(second));
        std::optional<RowTarget<float>> sum_to, rstd_to;
        if (added) sum_to.emplace(sum_view);
        if (c.has(rstd)) rstd_to.emplace(rstd_view);
        const auto weights = read_all<float>(c, gamma, width, 1.0f);
        const auto biases = read_all<float>(c, beta, width, 0.0f);
        const LowCodes to(c.tensor(y)), scales(c.tensor(scale));
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *values) {
          left.read(row * width, width, values);
          if (added) {
            float *other = values + width;
            right.read(row * width, width, other);
            for (int64_t i = 0; i < width; ++i) values[i] += other[i];
            sum_to->write(row * width, width, values);
          }
          const float factor = rms_normalise(values, width, epsilon, weights.data());
          if (rstd_to) rstd_to->write(row, 1, &factor);
          for (int64_t i = 0; i < width; ++i) values[i] += biases[static_cast<size_t>(i)];
          uint8_t codes[2 * kMxBlock], pair[2];
          for (int64_t p = 0; p < pairs; ++p) {
            const int64_t at = 2 * kMxBlock * p, n = std::min(2 * kMxBlock, width - at);
            mx_quantise_pair(format, values + at, n, 1, kMxBlock, codes, pair);
            to.write(row * width + at, n, codes);
            scales.write((row * pairs + p) * 2, 2, pair);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RmsNormDynamicMxQuant,
             (const aclTensor *x, const aclTensor *gamma, const aclTensor *betaOptional,
              double epsilon, int64_t scaleAlg, const char *roundMode, int64_t dstType,
              bool outputRstd, aclTensor *yOut, aclTensor *mxscaleOut, aclTensor *rstdOut)) {
  return emu::plan_rms_mx(
      {"aclnnRmsNormDynamicMxQuant",
       "x",
       x,
       nullptr,
       gamma,
       betaOptional,
       epsilon,
       {"roundMode", roundMode, "dstType", dstType, scaleAlg, emu::kTwoAlgorithms},
       outputRstd,
       yOut,
       nullptr,
       mxscaleOut,
       rstdOut},
      false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AddRmsNormDynamicMxQuant,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *betaOptional, double epsilon, int64_t scaleAlg,
              const char *roundMode, int64_t dstType, bool outputRstd, aclTensor *yOut,
              aclTensor *xOut, aclTensor *mxscaleOut, aclTensor *rstdOut)) {
  return emu::plan_rms_mx(
      {"aclnnAddRmsNormDynamicMxQuant",
       "x1",
       x1,
       x2,
       gamma,
       betaOptional,
       epsilon,
       {"roundMode", roundMode, "dstType", dstType, scaleAlg, emu::kTwoAlgorithms},
       outputRstd,
       yOut,
       xOut,
       mxscaleOut,
       rstdOut},
      true, workspaceSize, executor);
}
EMU_CATCH
