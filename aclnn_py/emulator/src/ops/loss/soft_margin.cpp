// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// The logistic loss of two classes, log(1 + exp(-target * self)), its sum or mean, and its
// gradient.
#include <algorithm>

#include "aclnnop/loss.h"
#include "ops/elementwise/activation_blocks.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/loss/reduction.h"

namespace emu {
namespace {

// log(1 + exp(-y * x)) without an overflow on either side.
template <class T>
T soft_margin(T x, T y) {
  const T z = -y * x;
  return (z > T{} || is_nan(z) ? z : T{}) + std::log1p(std::exp(-std::abs(z)));
}

void soft_margin_block(void *out, const void *const *in, int64_t count, const void *) {
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  float z[kBlock], loss[kBlock];
  for (int64_t i = 0; i < count; ++i) z[i] = -y[i] * x[i];
  safe_log_of_one_and_power(z, count, loss);
  std::copy(loss, loss + count, static_cast<float *>(out));
}

}  // namespace

EMU_FORMULA_XY(SoftMarginLoss, soft_margin(x, y))
EMU_FLOAT_BLOCK(SoftMarginLoss, types::kFloat, 2, 0, soft_margin_block)
EMU_OPERATOR(SoftMarginLoss,
             (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnSoftMarginLoss", &block_table<SoftMarginLossFormula, types::kFloat, 2, 0>, kKeep};
  Check check(row.op);
  check.required("self", self).required("target", target).required("out", out);
  reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  return plan_loss(row, {self, target, skipped()}, reduction, {}, out, workspaceSize, executor);
}
EMU_CATCH

// x is the incoming gradient, y the argument, z the target, a what the mean divides by.
EMU_FORMULA_XYZA(SoftMarginLossBackward, x * -z * sigmoid(-z * y) / a)
namespace {
void soft_margin_gradient_block(void *out, const void *const *in, int64_t count,
                                const void *scalars) {
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  const auto *z = static_cast<const float *>(in[2]);
  const float divisor = *static_cast<const float *>(scalars);
  auto *to = static_cast<float *>(out);
  float share[kBlock];
  for (int64_t i = 0; i < count; ++i) share[i] = -z[i] * y[i];
  apply(FloatKernel::sigmoid, share, count);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * -z[i] * share[i] / divisor;
}
}  // namespace
EMU_FLOAT_BLOCK(SoftMarginLossBackward, types::bit(Compute::F32), 3, 1, soft_margin_gradient_block)
EMU_OPERATOR(SoftMarginLossBackward, (const aclTensor *gradOutput, const aclTensor *self,
                                      const aclTensor *target, int64_t reduction, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnSoftMarginLossBackward",
      &block_table<SoftMarginLossBackwardFormula, types::bit(Compute::F32), 3, 1>, kKeep};
  Check check(row.op);
  check.required("gradOutput", gradOutput)
      .required("self", self)
      .required("target", target)
      .required("out", out);
  reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  return elementwise(row, {gradOutput, self, target, divisor(reduction, out)}, out, workspaceSize,
                     executor);
}
EMU_CATCH

}  // namespace emu
