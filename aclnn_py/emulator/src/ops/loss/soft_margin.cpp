// SPDX-License-Identifier: Apache-2.0
// The logistic loss of two classes, log(1 + exp(-target * self)), its sum or mean, and its
// gradient.
#include <cmath>
#include <vector>

#include "aclnnop/loss.h"
#include "core/pool.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

// Sums are made of pieces of this many elements, whatever the number of threads, so that their
// rounding does not depend on the machine.
constexpr int64_t kPiece = 64 * kBlock;

// log(1 + exp(-y * x)) without an overflow on either side.
template <class T>
T soft_margin(T x, T y) {
  const T z = -y * x;
  return (z > T{} || is_nan(z) ? z : T{}) + std::log1p(std::exp(-std::abs(z)));
}

Check &reduction_known(Check &check, int64_t reduction) {
  return check.that(reduction >= kNone && reduction <= kSum,
                    "reduction is %lld; allowed: 0 (none), 1 (mean), 2 (sum)",
                    static_cast<long long>(reduction));
}

// The losses added up in float64. Elements are rounded to `via`, the dtype both tensors meet in,
// first.
double total_loss(const View &self, const View &target, aclDataType via) {
  const Reader left(self, via), right(target, via);
  const int64_t count = self.count();
  std::vector<double> sums(static_cast<size_t>((count + kPiece - 1) / kPiece));
  parallel_for(static_cast<int64_t>(sums.size()), 1, [&](int64_t begin, int64_t end) {
    alignas(64) float x_scratch[kBlock], y_scratch[kBlock];
    for (int64_t piece = begin; piece < end; ++piece) {
      double sum = 0;
      const int64_t last = std::min(count, (piece + 1) * kPiece);
      for (int64_t start = piece * kPiece; start < last; start += kBlock) {
        const int64_t n = std::min(kBlock, last - start);
        const auto *x = static_cast<const float *>(left.read(start, n, x_scratch));
        const auto *y = static_cast<const float *>(right.read(start, n, y_scratch));
        for (int64_t i = 0; i < n; ++i) {
          sum += soft_margin(static_cast<double>(x[i]), static_cast<double>(y[i]));
        }
      }
      sums[static_cast<size_t>(piece)] = sum;
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

// (self, target, out) reduced to one number: the sum, or the mean, which is NaN of nothing.
Status plan_total(const aclTensor *self, const aclTensor *target, bool mean, aclTensor *out,
                  uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check("aclnnSoftMarginLoss");
  check.dtype("self", self).dtype("target", target).dtype("out", out);
  check.rank("self", self, 0, 8).rank("target", target, 0, 8);
  Layout shape;
  if (check.ok()) {
    const Layout left = layout_of(*self), right = layout_of(*target);
    check.that(broadcast_shapes(left, right, &shape),
               "target has shape %s, which does not broadcast with %s", shape_text(right).c_str(),
               shape_text(left).c_str());
  }
  check.shape("out", out, Layout());
  if (!check.ok()) return check.status();
  const aclDataType meet = promote(self->dtype, target->dtype);
  PlanBuilder plan(check.op());
  const size_t left = plan.input(self), right = plan.input(target), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const aclTensor &x = context.tensor(left), &y = context.tensor(right);
        Layout both;
        broadcast_shapes(layout_of(x), layout_of(y), &both);
        double total = total_loss(view_of(x, both), view_of(y, both), meet);
        if (mean) total /= static_cast<double>(both.count());
        const View result = view_of(context.tensor(to));
        store_as(result.dtype, result.data, 0, 1, Compute::F64, &total);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

EMU_FORMULA_XY(SoftMarginLoss, soft_margin(x, y))
EMU_OPERATOR(SoftMarginLoss,
             (const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnSoftMarginLoss", &block_table<SoftMarginLossFormula, types::bit(Compute::F32), 2, 0>,
      kKeep};
  Check check(row.op);
  check.required("self", self).required("target", target).required("out", out);
  reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  if (reduction == kNone)
    return elementwise(row, {self, target, skipped()}, out, workspaceSize, executor);
  return plan_total(self, target, reduction == kMean, out, workspaceSize, executor);
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
  const auto divisor = reduction == kMean ? static_cast<double>(out->numel()) : 1.0;
  return elementwise(row, {gradOutput, self, target, number(divisor)}, out, workspaceSize,
                     executor);
}
EMU_CATCH

}  // namespace emu
