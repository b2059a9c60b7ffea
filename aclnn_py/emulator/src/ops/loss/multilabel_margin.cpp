// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The margin loss of several classes: each label of a row is compared with each class that is none,
// one that stands twice counts twice. The labels of a row stand before its first -1. Losses are
// added in float64.
#include "aclnnop/loss.h"
#include "ops/index/addresses.h"
#include "ops/loss/reduction.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

double margin_loss(const float *x, const int64_t *labels, const float *is_label, int64_t classes) {
  double total = 0;
  for (int64_t j = 0; j < classes && labels[j] >= 0; ++j) {
    for (int64_t i = 0; i < classes; ++i) {
      const float margin = 1.0f - x[labels[j]] + x[i];
      if (is_label[i] == 0.0f && margin > 0.0f) total += static_cast<double>(margin);
    }
  }
  return total / static_cast<double>(classes);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MultilabelMarginLoss, (const aclTensor *self, const aclTensor *target,
                                    int64_t reduction, aclTensor *out, aclTensor *isTarget)) {
  using namespace emu;
  constexpr const char *op = "aclnnMultilabelMarginLoss";
  Check check(op);
  check.required("self", self).required("target", target).required("out", out);
  check.required("isTarget", isTarget).dtype("self", self).dtype("target", target);
  check.dtype("out", out).dtype("isTarget", isTarget);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  check.same_dtype("isTarget", isTarget->dtype, "self", self->dtype);
  reduction_known(check, reduction).rank("self", self, 1, 2);
  if (!check.ok()) return check.status();
  check.that(self->shape.back() > 0, "self has no classes");
  check.shape("target", target, layout_of(*self)).shape("isTarget", isTarget, layout_of(*self));
  const bool many = self->rank() == 2 && reduction == kNone;
  check.shape("out", out, many ? dense_layout(self->shape.data(), 1) : Layout());
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t input = plan.input(self), labels = plan.input(target), to = plan.output(out),
               flags = plan.output(isTarget);
  const int64_t classes = self->shape.back(), rows = self->numel() / classes;
  return plan.finish(
      [=](PlanContext &c) {
        const auto given = read_all<int64_t>(c, labels, rows * classes, 0);
        std::vector<float> marks(given.size());
        IndexFault fault;
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t i = row * classes; i < (row + 1) * classes; ++i) {
            const int64_t label = given[static_cast<size_t>(i)];
            if (label == -1) break;
            if (label < 0 || label >= classes) fault.report(label, classes);
            else marks[static_cast<size_t>(row * classes + label)] = 1.0f;
          }
        }
        if (fault.found) return fault.status(op, "target");
        const View result = view_of(c.tensor(to)), flagged = view_of(c.tensor(flags));
        Operands operands;
        const RowSource<float> source(operands.safe(view_of(c.tensor(input)), {result, flagged}));
        std::vector<double> losses(static_cast<size_t>(rows));
        for_each_row<float>(rows, classes, 1, [&](int64_t row, float *x) {
          source.read(row * classes, classes, x);
          losses[static_cast<size_t>(row)] =
              margin_loss(x, given.data() + row * classes, marks.data() + row * classes, classes);
        });
        RowTarget<float>(flagged).write(0, rows * classes, marks.data());
        double sum = sum_of(losses.data(), rows);
        if (reduction == kMean) sum /= static_cast<double>(rows);
        if (many) RowTarget<double>(result).write(0, rows, losses.data());
        else store_as(result.dtype, result.data, 0, 1, Compute::F64, &sum);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
