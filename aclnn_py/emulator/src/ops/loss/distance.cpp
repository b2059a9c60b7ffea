// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Losses of the distance between two tensors, their sum or mean, and their gradients: absolute,
// squared, and squared near zero but absolute elsewhere.
#include "aclnnop/loss.h"
#include "core/isa.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/loss/reduction.h"

namespace emu {

EMU_DECLARE_ISA(void scaled_difference(const float *slopes, const float *x, const float *y,
                                       int64_t count, float factor, float *to);
                void limited_difference(const float *slopes, const float *x, const float *y,
                                        int64_t count, float beta, float divisor, float *to);)

namespace {

// Without branches: the compiler makes vectors of these.
// 0 where neither is above the other: of NaN and of equal infinities too.
template <class T>
T direction(T x, T y) {
  const T upwards = x > y ? T(1) : T{};
  return x < y ? T(-1) : upwards;
}
// The square of what lies below beta, and the rest as it is.
template <class T>
T smooth(T d, T beta) {
  const T size = std::abs(d), near = size > beta ? beta : size;
  return near * near * (T(0.5) / (beta > T{} ? beta : T(1))) + (size - near);
}
template <class T>
T smooth_slope(T d, T beta) {
  // Any distance is large beside a beta of 0.
  const T slope = d / (beta > T{} ? beta : std::numeric_limits<T>::denorm_min());
  return maximum(minimum(slope, T(1)), T(-1));
}

Check &operands_given(Check &check, const aclTensor *self, const aclTensor *target,
                      const char *out_name, const aclTensor *out) {
  return check.required("self", self).required("target", target).required(out_name, out);
}

Check &beta_known(Check &check, float beta) {
  return check.that(beta >= 0, "beta is %g; it must not be negative", static_cast<double>(beta));
}

}  // namespace

EMU_FORMULA_XY(L1Loss, absolute(minus(x, y)))
EMU_OPERATOR(L1Loss,
             (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnL1Loss", &block_table<L1LossFormula, types::kFloat | types::bit(Compute::I64), 2, 0>,
      kKeep};
  Check check(row.op);
  operands_given(check, self, target, "out", out);
  if (!check.ok()) return check.status();
  check.dtype("self", self).dtype("target", target).dtype("out", out);
  reduction_known(check, reduction);
  const bool whole = is_integer(self->dtype), whole_target = is_integer(target->dtype);
  check.that(
      reduction != kNone || !whole || whole_target,
      "target is a float beside integers in self; without a reduction both must be integers");
  check.that(reduction != kMean || !whole || !whole_target,
             "self and target hold integers, which have no mean; one of them must be a float");
  if (!check.ok()) return check.status();
  const Fold fold = {Fold::kAll, false, false, true};
  return plan_loss(row, {self, target, skipped()}, reduction, fold, out, workspaceSize, executor);
}
EMU_CATCH

// In gradients x is the incoming gradient, y the argument, z the target, the last scalar what the
// mean divides by: the elements of the gradient, but those of `self`, before it is broadcast, for
// squared and smooth losses.
EMU_FORMULA_XYZA(L1LossBackward, x *direction(y, z) / a)
EMU_OPERATOR(L1LossBackward, (const aclTensor *gradOutput, const aclTensor *self,
                              const aclTensor *target, int64_t reduction, aclTensor *gradInput)) {
  static constexpr ElementwiseRow row = {
      "aclnnL1LossBackward", &block_table<L1LossBackwardFormula, types::bit(Compute::F32), 3, 1>,
      kKeep};
  Check check(row.op);
  check.required("gradOutput", gradOutput);
  operands_given(check, self, target, "gradInput", gradInput);
  reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  return elementwise(row, {gradOutput, self, target, divisor(reduction, gradInput)}, gradInput,
                     workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XY(MseLoss, (x - y) * (x - y))
EMU_OPERATOR(MseLoss,
             (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnMseLoss",
                                         &block_table<MseLossFormula, types::kFloat, 2, 0>, kKeep};
  Check check(row.op);
  operands_given(check, self, target, "out", out);
  reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  return plan_loss(row, {self, target, skipped()}, reduction, {}, out, workspaceSize, executor);
}
EMU_CATCH

// Sums and means run over the first dimension only.
EMU_OPERATOR(MseLossOut,
             (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnMseLossOut",
                                         &block_table<MseLossFormula, types::kFloat, 2, 0>, kKeep};
  Check check(row.op);
  operands_given(check, self, target, "out", out);
  reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  return plan_loss(row, {self, target, skipped()}, reduction, {Fold::kFirstDimension}, out,
                   workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XYZA(MseLossBackward, x *(y - z) * (T(2) / a))
namespace {
void scaled_differences(void *out, const void *const *in, int64_t count, const void *divisor) {
  static const auto kernel = EMU_PICK_ISA(scaled_difference);
  const auto block = [in](int i) { return static_cast<const float *>(in[i]); };
  kernel(block(0), block(1), block(2), count, 2.0f / *static_cast<const float *>(divisor),
         static_cast<float *>(out));
}
}  // namespace
template <>
inline constexpr BlockTable block_table<MseLossBackwardFormula, types::bit(Compute::F32), 3, 1> =
    with_floats(make_blocks<MseLossBackwardFormula, types::bit(Compute::F32), 3, 1>(),
                scaled_differences);
EMU_OPERATOR(MseLossBackward, (const aclTensor *gradOutput, const aclTensor *self,
                               const aclTensor *target, int64_t reduction, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnMseLossBackward", &block_table<MseLossBackwardFormula, types::bit(Compute::F32), 3, 1>,
      kOneDtype};
  Check check(row.op);
  check.required("gradOutput", gradOutput);
  operands_given(check, self, target, "out", out);
  reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  return elementwise(row, {gradOutput, self, target, divisor(reduction, self)}, out, workspaceSize,
                     executor);
}
EMU_CATCH

EMU_FORMULA_XYA(SmoothL1Loss, smooth(x - y, a))
EMU_OPERATOR(SmoothL1Loss, (const aclTensor *self, const aclTensor *target, int64_t reduction,
                            float beta, aclTensor *result)) {
  static constexpr ElementwiseRow row = {
      "aclnnSmoothL1Loss", &block_table<SmoothL1LossFormula, types::kFloat, 2, 1>, kKeep};
  Check check(row.op);
  operands_given(check, self, target, "result", result);
  reduction_known(check, reduction);
  beta_known(check, beta);
  if (!check.ok()) return check.status();
  const Fold fold = {Fold::kAll, false, true};
  return plan_loss(row, {self, target, skipped(), number(static_cast<double>(beta))}, reduction,
                   fold, result, workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA(SmoothL1LossBackward, (T x, T y, T z, T a, T b), x *smooth_slope(y - z, b) / a)
namespace {
void smooth_slopes(void *out, const void *const *in, int64_t count, const void *scalars) {
  static const auto kernel = EMU_PICK_ISA(limited_difference);
  const auto block = [in](int i) { return static_cast<const float *>(in[i]); };
  const float divisor = static_cast<const float *>(scalars)[0],
              beta = static_cast<const float *>(scalars)[1];
  kernel(block(0), block(1), block(2), count,
         beta > 0.0f ? beta : std::numeric_limits<float>::denorm_min(), divisor,
         static_cast<float *>(out));
}
}  // namespace
template <>
inline constexpr BlockTable
    block_table<SmoothL1LossBackwardFormula, types::bit(Compute::F32), 3, 2> = with_floats(
        make_blocks<SmoothL1LossBackwardFormula, types::bit(Compute::F32), 3, 2>(), smooth_slopes);
EMU_OPERATOR(SmoothL1LossBackward,
             (const aclTensor *gradOut, const aclTensor *self, const aclTensor *target,
              int64_t reduction, float beta, aclTensor *gradInput)) {
  static constexpr ElementwiseRow row = {
      "aclnnSmoothL1LossBackward",
      &block_table<SmoothL1LossBackwardFormula, types::bit(Compute::F32), 3, 2>, kKeep};
  Check check(row.op);
  check.required("gradOut", gradOut);
  operands_given(check, self, target, "gradInput", gradInput);
  reduction_known(check, reduction);
  beta_known(check, beta);
  if (!check.ok()) return check.status();
  return elementwise(
      row, {gradOut, self, target, divisor(reduction, self), number(static_cast<double>(beta))},
      gradInput, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
