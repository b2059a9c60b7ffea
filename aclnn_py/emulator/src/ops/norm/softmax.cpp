// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Softmax and LogSoftmax along any dimension, float32 inside, float64 for float64; their gradients.
#include "aclnnop/activation.h"
#include "ops/block_kernels.h"
#include "ops/float_kernels.h"
#include "ops/shared/rows.h"

#include <cmath>
#include <limits>

namespace emu {
namespace {

// x becomes exp(x - its maximum), or x - its maximum when `keep`; the sum of the powers is
// returned.
double shift_and_sum(double *x, int64_t width, bool keep) {
  double highest = -std::numeric_limits<double>::infinity(), total = 0;
  for (int64_t i = 0; i < width; ++i) highest = x[i] > highest ? x[i] : highest;
  for (int64_t i = 0; i < width; ++i) {
    const double shifted = x[i] - highest, power = std::exp(shifted);
    x[i] = keep ? shifted : power;
    total += power;
  }
  return total;
}
double shift_and_sum(float *x, int64_t width, bool keep) {
  const FloatKernels &kernels = float_kernels();
  return kernels.shifted_powers(x, width, kernels.highest(x, width), keep);
}

template <class T>
void soften(T *x, int64_t width, bool logarithm) {
  // NaN anywhere, +inf, or nothing but -inf make the whole row NaN without being asked for.
  const double total = shift_and_sum(x, width, logarithm);
  if (logarithm) {
    const T log_total = static_cast<T>(std::log(total));
    for (int64_t i = 0; i < width; ++i) x[i] -= log_total;
  } else {
    const T factor = static_cast<T>(1.0 / total);
    for (int64_t i = 0; i < width; ++i) x[i] *= factor;
  }
}

template <class T>
void soften_rows(const View &from, const View &to, bool logarithm) {
  const RowSource<T> source(from);
  const RowTarget<T> target(to);
  const int64_t width = from.layout.rank == 0 ? 1 : from.layout.shape[from.layout.rank - 1];
  if (width == 0) return;
  for_each_row<T>(from.count() / width, width, 1, [&](int64_t row, T *x) {
    source.read(row * width, width, x);
    soften(x, width, logarithm);
    target.write(row * width, width, x);
  });
}

// gradient = x * (g - sum(g * x)), or g - exp(x) * sum(g) for the logarithm x.
void slope_rows(const View &incoming, const View &output, const View &to, bool logarithm) {
  const RowSource<float> gradients(incoming), results(output);
  const RowTarget<float> target(to);
  const int64_t width = output.layout.rank == 0 ? 1 : output.layout.shape[output.layout.rank - 1];
  if (width == 0) return;
  for_each_row<float>(output.count() / width, width, 2, [&](int64_t row, float *scratch) {
    const float *g = gradients.row(row * width, width, scratch);
    const float *x = results.row(row * width, width, scratch + width);
    float *made = target.row(row * width, scratch);
    const auto sum = static_cast<float>(logarithm ? sum_of(g, width)
                                                  : block_kernels().sum_of_products(g, x, width));
    if (logarithm) {
      float *power = scratch + width;
      float_kernel_fn(FloatKernel::exp)(x, width, nullptr, power);
      for (int64_t i = 0; i < width; ++i) made[i] = g[i] - power[i] * sum;
    } else {
      for (int64_t i = 0; i < width; ++i) made[i] = x[i] * (g[i] - sum);
    }
    target.write(row * width, width, made);
  });
}

Status plan_softmax_gradient(const char *op, const aclTensor *gradOutput, const aclTensor *output,
                             int64_t dim, const aclTensor *out, bool logarithm,
                             uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("gradOutput", gradOutput).required("output", output).required("out", out);
  check.dtype("gradOutput", gradOutput).dtype("output", output).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("output", output->dtype, "gradOutput", gradOutput->dtype)
      .rank("gradOutput", gradOutput, 0, 8)
      .shape("output", output, layout_of(*gradOutput))
      .shape("out", out, layout_of(*gradOutput));
  if (!check.ok()) return check.status();
  int axis = 0;
  check.that(wrap_dim(dim, static_cast<int>(output->rank()), &axis),
             "dim is %lld; gradOutput has %zu dimensions", static_cast<long long>(dim),
             output->rank());
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t incoming = plan.input(gradOutput), result = plan.input(output),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View target = view_of(c.tensor(to));
        const View g = operands.safe(view_of(c.tensor(incoming)), {target});
        const View x = operands.safe(view_of(c.tensor(result)), {target});
        slope_rows(rows_along(g, axis), rows_along(x, axis), rows_along(target, axis), logarithm);
        return Status{0};
      },
      workspace_size, executor);
}

Status plan_softmax(const char *op, const aclTensor *self, int64_t dim, const aclTensor *out,
                    bool logarithm, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self)
      .required("out", out)
      .dtype("self", self)
      .dtype("out", out)
      .rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  int axis = 0;
  check.that(wrap_dim(dim, static_cast<int>(self->rank()), &axis),
             "dim is %lld; self has %zu dimensions", static_cast<long long>(dim), self->rank());
  check.shape("out", out, layout_of(*self));
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      op, self, out,
      [=](const View &source, const View &result) {
        const View rows = rows_along(source, axis), target = rows_along(result, axis);
        if (source.dtype == ACL_DOUBLE || result.dtype == ACL_DOUBLE) {
          soften_rows<double>(rows, target, logarithm);
        } else {
          soften_rows<float>(rows, target, logarithm);
        }
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Softmax, (const aclTensor *self, int64_t dim, aclTensor *out)) {
  return emu::plan_softmax("aclnnSoftmax", self, dim, out, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(LogSoftmax, (const aclTensor *self, int64_t dim, aclTensor *out)) {
  return emu::plan_softmax("aclnnLogSoftmax", self, dim, out, true, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SoftmaxBackward,
             (const aclTensor *gradOutput, const aclTensor *output, int64_t dim, aclTensor *out)) {
  return emu::plan_softmax_gradient("aclnnSoftmaxBackward", gradOutput, output, dim, out, false,
                                    workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(LogSoftmaxBackward,
             (const aclTensor *gradOutput, const aclTensor *output, int64_t dim, aclTensor *out)) {
  return emu::plan_softmax_gradient("aclnnLogSoftmaxBackward", gradOutput, output, dim, out, true,
                                    workspaceSize, executor);
}
EMU_CATCH
