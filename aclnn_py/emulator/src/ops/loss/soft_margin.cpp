// SPDX-License-Identifier: Apache-2.0
// The logistic loss of two classes, log(1 + exp(-target * self)), its sum or mean, and its
// gradient.
#include "aclnnop/loss.h"
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

}  // namespace

EMU_FORMULA_XY(SoftMarginLoss, soft_margin(x, y))
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
